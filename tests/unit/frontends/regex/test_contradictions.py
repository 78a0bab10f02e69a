"""Patterns that no text matches, and what is said of them."""

from __future__ import annotations

import re
from typing import Any

import pytest

import llmask
from llmask.frontends.regex import compile_pattern
from llmask.frontends.regex.contradictions import MEANT, no_match_help, posix_class


@pytest.mark.parametrize("pattern", [r"a\bb", r"\w\b\d", r"[a-z]\b[0-9]", r"x\\\\\\a\bb"])
def test_boundaries_between_letters_are_found(pattern: str) -> None:
    assert no_match_help(pattern).startswith(r"\b is between two letters")


@pytest.mark.parametrize("pattern", ["a$b", "a^b", "(a)^b"])
def test_anchors_in_the_middle_are_found(pattern: str) -> None:
    assert no_match_help(pattern).startswith("^ and $ hold at the ends")


@pytest.mark.parametrize("pattern", [r"(?=b)a", r"a\B", "[^\\s\\S]", "(?!)", r"\^(?!)", r"\$(?!)", "", "[^a](?!)"])
def test_of_others_nothing_certain_is_said(pattern: str) -> None:
    assert no_match_help(pattern).startswith("look for a look-around")


@pytest.mark.parametrize("name", MEANT)
@pytest.mark.parametrize("pattern", ["[[:{}:]]", "^[a-z[:{}:]-]+$", "[:{}:]", "[^[:^{}:]]", r"\\[[:{}:]]"])
def test_posix_classes_are_found(name: str, pattern: str) -> None:
    said = posix_class(pattern.format(name))
    assert said is not None
    assert f'did you mean "{MEANT[name]}"?' in said


@pytest.mark.parametrize(
    "pattern", ["", "[a:]", r"\[:alpha:\]", r"\[:alpha:]", "[:name:]", "alpha:]", "[[:alpha]]", ":]"]
)
def test_other_patterns_are_none(pattern: str) -> None:
    assert posix_class(pattern) is None


@pytest.mark.parametrize("name", MEANT)
def test_what_is_meant_can_be_written_instead(name: str, byte_tokenizer: Any) -> None:
    nodes = llmask.Compiler(byte_tokenizer)._newest_store().nodes
    for dialect in ("python", "ecma"):
        assert not nodes.is_empty(compile_pattern(nodes, f"^[{MEANT[name]}]$", dialect))  # type: ignore[arg-type]


def test_the_pattern_means_what_it_meant(byte_tokenizer: Any) -> None:
    grammar = llmask.Compiler(byte_tokenizer).regex("[[:digit:]]")
    with pytest.warns(FutureWarning):
        judge = re.compile("[[:digit:]]")
    for text in ("[]", ":]", "d]", "1]", "1", "x]"):
        assert grammar.accepts(text) == bool(judge.fullmatch(text)), text


def test_every_door_warns(byte_tokenizer: Any) -> None:
    compiler = llmask.Compiler(byte_tokenizer)
    said = 'reads "[:digit:]" as single characters, did you mean "\\d"?'
    pattern = "[[:digit:]]"
    assert compiler.regex(pattern).warnings == [f"the pattern {said}"]
    assert compiler.regex("a").warnings == []
    for _ in range(2):  # the node of a pattern is remembered, what is said of it is not
        schema = {"type": "object", "properties": {"a": {"pattern": pattern}}, "patternProperties": {pattern: {}}}
        assert compiler.json_schema(schema, unique_keys=True).warnings == [
            f'"patternProperties" at #/patternProperties/{pattern} {said}',
            f'"pattern" at #/properties/a/pattern {said}',
        ]
        compiler = llmask.Compiler(byte_tokenizer)
    lark = compiler.lark(f"start: A /{pattern}/ A\nA: /x{pattern}/")
    assert [said for said in lark.warnings if "[:digit:]" in said] == [
        f"the pattern at line 2, column 4 {said}",
        f"the pattern at line 1, column 10 {said}",
    ]
    tag = compiler.structural_tag({"format": {"type": "regex", "pattern": pattern}})
    assert tag.warnings == [f"#/format/pattern: the pattern {said}"]
