"""The table of formats: what the specification names is there, `jsonschema` agrees, supersets are supersets."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from llmask.frontends.json_schema.formats import AT_MOST, FORMATS
from llmask.frontends.regex import compile_pattern

# JSON Schema 2020-12, validation, section 7.3
NAMES = {
    "date-time", "date", "time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6", "uri",
    "uri-reference", "iri", "iri-reference", "uuid", "uri-template", "json-pointer", "relative-json-pointer", "regex",
}  # fmt: skip


def test_every_format_of_the_specification_is_known() -> None:
    assert set(FORMATS) == NAMES
    assert len(FORMATS) == len(NAMES)
    assert set(AT_MOST) < NAMES
    assert "color" not in FORMATS
    with pytest.raises(KeyError):
        FORMATS["color"]


# jsonschema takes the 0 in the relative JSON pointer 107 for a leading one; patterns it reads with `re`
@pytest.mark.parametrize("name", sorted(NAMES - {"relative-json-pointer", "regex"}))
def test_what_is_written_under_a_format_is_valid_to_jsonschema(
    judge: Any, name: str, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    schema = {"type": "string", "format": name}
    grammar = judge.grammar({**schema, "maxLength": 60, "pattern": "^[!-~]*$"})
    for _ in range(scaled(30)):
        text = judge.walk(grammar, rng)
        if b":60" not in text:  # jsonschema knows no leap seconds
            assert judge.is_valid(schema, json.loads(text), formats=True), text


@pytest.mark.parametrize("name", sorted(AT_MOST))
def test_a_superset_holds_what_is_written_under_the_format_and_more(
    judge: Any, name: str, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    nodes, inside = judge.nodes, FORMATS[name]
    outside = compile_pattern(nodes, AT_MOST[name], "ecma")
    if isinstance(inside, str):
        larger, smaller = outside, compile_pattern(nodes, inside, "ecma")
    else:
        larger, smaller = compile_pattern(nodes, AT_MOST[name], "ecma", json_string=True), inside(nodes)
    assert not nodes.is_empty(nodes.intersect([larger, nodes.complement(smaller)]))
    grammar = judge.grammar({"type": "string", "format": name})
    for _ in range(scaled(30)):
        text = json.loads(judge.walk(grammar, rng, 300) or b'""')
        assert not text or nodes.matches(outside, text.encode()), text
