"""Lexemes that all grammars share: what they match, and that they are made once."""

from __future__ import annotations

from typing import Any

import pytest

from llmask.frontends.json_schema.lexical.lexemes import lexemes_of_types, punctuation_of, white_space


def test_lexemes_are_made_once(judge: Any) -> None:
    assert punctuation_of(judge.nodes) is punctuation_of(judge.nodes)
    assert lexemes_of_types(judge.nodes) is lexemes_of_types(judge.nodes)


@pytest.mark.parametrize(
    ("kind", "member", "other"),
    [
        ("string", b'"a\\n"', b'"a'),
        ("number", b"-1.5e3", b"01"),
        ("integer", b"-10.0", b"1.5"),
        ("boolean", b"false", b"False"),
        ("null", b"null", b"nul"),
    ],
)
def test_lexemes_of_types(judge: Any, kind: str, member: bytes, other: bytes) -> None:
    node = lexemes_of_types(judge.nodes)[kind]
    assert judge.nodes.matches(node, member)
    assert not judge.nodes.matches(node, other)


def test_white_space_is_bounded(judge: Any) -> None:
    node = white_space(judge.nodes, 3)
    for text, belongs in ((b" \t\n", True), (b"\r", True), (b"", False), (b"    ", False), (b"\f", False)):
        assert judge.nodes.matches(node, text) == belongs
