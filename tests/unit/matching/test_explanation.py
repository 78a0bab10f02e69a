"""Explanations as texts: of values of any size, of every keyword."""

from __future__ import annotations

from typing import Any

import pytest

from llmask.frontends.json_schema.reading.keywords import KEYWORDS
from llmask.matching.explanation import PHRASES, Reason, sentence


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (
            Reason("/a/0", "#/items/maxLength", "maxLength", 3),
            "/a/0: too many characters (maxLength 3), #/items/maxLength",
        ),
        (Reason("", "#", "", False), "the document: nothing is allowed here, #"),
        (Reason("", "#/const", "const", "é\n"), 'the document: another value (const "é\\n"), #/const'),
        (
            Reason("", "#/enum", "enum", [*range(100)]),
            "the document: none of the listed values (enum "
            "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 1...), #/enum",
        ),
        (
            Reason("/a", "#/oneOf", "oneOf", [{}, {}], (0, 1)),
            "/a: more than one alternative allows it: 0, 1 (oneOf [{}, {}]), #/oneOf",
        ),
        (Reason("", "#/x", "x", {1: 2}), 'the document: refused (x {"1": 2}), #/x'),
    ],
)
def test_a_reason_is_a_sentence(reason: Reason, text: str) -> None:
    assert sentence(reason) == text


def test_values_that_cannot_be_written_are_left_out() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert "const ..." in sentence(Reason("", "#/const", "const", deep))
    assert "const ..." in sentence(Reason("", "#/const", "const", 10**5000))


def test_every_keyword_that_refuses_has_a_phrase() -> None:
    applying = {"$ref", "$dynamicRef", "$recursiveRef", "allOf", "if", "then", "else", "dependentSchemas"}
    applying |= {"$defs", "definitions"}
    assert {keyword for keyword in KEYWORDS if isinstance(keyword, str)} - applying <= set(PHRASES)
