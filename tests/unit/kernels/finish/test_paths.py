"""Bounds of configurations: the tokens of a known way, which fall by one along it."""

from __future__ import annotations

from typing import Any

import pytest

import llmask
from llmask.matching.finish import ends_of

SCHEMA = {"type": "object", "properties": {"ab": {"enum": ["xyz", "xy"]}}, "required": ["ab"]}


@pytest.mark.parametrize("prefix", [b"", b"{", b'{"ab', b'{"ab": "x', b'{"ab": "xyz"}'])
def test_a_bound_falls_by_one_with_each_token_of_its_way(byte_tokenizer: Any, prefix: bytes) -> None:
    matcher = llmask.Compiler(byte_tokenizer).json_schema(SCHEMA).matcher()
    matcher.accept_bytes(prefix)
    ends = ends_of(matcher._sequence.generation)
    bound = ends.bound(matcher._sequence.configuration)
    for token in ends.path(matcher._sequence.configuration):
        matcher.accept_token(token)
        bound -= 1
        assert ends.bound(matcher._sequence.configuration) <= bound
    assert bound == 1  # the end of the sequence
    assert matcher.is_accepting()


def test_the_bound_of_a_text_of_known_length_is_its_length(byte_tokenizer: Any) -> None:
    matcher = llmask.Compiler(byte_tokenizer).regex("a{7}").matcher()
    assert ends_of(matcher._sequence.generation).bound(matcher._sequence.configuration) == 8
