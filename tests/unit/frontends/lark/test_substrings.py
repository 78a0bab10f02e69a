"""Parts of a text as one expression."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

import llmask
from llmask.errors import GrammarError
from llmask.frontends.lark.substrings import structured_node
from llmask.frontends.places import Spot


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
    "value",
    [[], {}, {"substring": "a"}, {"substring_chunks": "a"}, {"substring_chars": 1}, {"substring_chunks": [1]}],
)
def test_other_values_are_refused(compiler: llmask.Compiler, value: Any) -> None:
    with pytest.raises(GrammarError):
        structured_node(compiler._newest_store().nodes, value, Spot.nowhere())
