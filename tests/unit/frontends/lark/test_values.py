"""Strings, patterns and ranges: how they are written as patterns, and where errors stand."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

import llmask
from llmask.errors import GrammarError
from llmask.frontends.lark.tree import Pattern, Range, Text
from llmask.frontends.lark.values import escaped, pattern_value, range_value, read_string, structured_node, text_value
from llmask.frontends.places import Source, Spot
from llmask.frontends.regex.shapes import Chars, Sequence


def spot(text: str) -> Spot:
    return Spot(Source(text), 0, len(text))


def test_strings_and_ranges() -> None:
    value = text_value(Text(spot('"a.é"'), "a.é", False))
    assert isinstance(value.tree, Sequence)
    assert (value.regexp, value.is_string, escaped(value)) == ('"a.é"', True, "a\\.é")
    assert escaped(text_value(Text(spot('"a"i'), "a", True))) == "(?i:a)"
    assert isinstance(range_value(Range(spot('"a".."c"'), "a", "c")).tree, Chars)


def test_patterns_with_flags() -> None:
    assert pattern_value(Pattern(spot("/a/si"), "a", "si")).regexp == "(?is:a)"
    assert pattern_value(Pattern(spot("/a/u"), "a", "u")).regexp == "a"


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("", ""),
        ("plain é日", "plain é日"),
        (r"\\\"\n\r\t\f", '\\"\n\r\t\f'),
        (r"\x41\u00e9\U0001F600", "Aé😀"),
        (r"\ud83d\ude00", "😀"),
        (r"\\n", r"\n"),
    ],
)
def test_escapes(written: str, text: str) -> None:
    assert read_string(written, Spot.nowhere()) == text


@pytest.mark.parametrize(
    ("value", "chunks"),
    [
        ({"substring_chunks": ["ab", "a", "b"]}, ["ab", "a", "b"]),
        ({"substring_chars": "aab"}, ["a", "a", "b"]),
        ({"substring_words": "a ab,b"}, ["a", " ", "ab", ",", "b"]),
        ({"substring_chunks": []}, []),
    ],
)
def test_substrings_are_runs_of_chunks(compiler: llmask.Compiler, value: Any, chunks: list[str]) -> None:
    nodes = compiler._newest_store().nodes
    node = structured_node(nodes, value, Spot.nowhere())
    wanted = {"".join(chunks[first:end]) for first in range(len(chunks) + 1) for end in range(first, len(chunks) + 1)}
    for text in {"".join(letters) for n in range(6) for letters in product("ab ,", repeat=n)} | wanted:
        assert nodes.matches(node, text.encode()) == (text in wanted), text


@pytest.mark.parametrize(
    "value", [[], {}, {"substring": "a"}, {"substring_chunks": "a"}, {"substring_chars": 1}, {"substring_chunks": [1]}]
)
def test_other_values_are_refused(compiler: llmask.Compiler, value: Any) -> None:
    with pytest.raises(GrammarError):
        structured_node(compiler._newest_store().nodes, value, Spot.nowhere())
