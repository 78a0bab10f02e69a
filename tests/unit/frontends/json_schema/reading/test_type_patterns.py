"""Patterns of texts that types are read from."""

from __future__ import annotations

import ipaddress
import json
import random
import re
from typing import Any

import pytest

from llmask.frontends.json_schema.reading import type_patterns as patterns
from llmask.frontends.json_schema.reading.type_patterns import NotRegular, Whole, fixed_within, json_text


def test_networks_have_no_bits_beyond_their_prefix() -> None:
    for text in ("10.0.0.0/8", "10.1.0.0/8", "172.16.0.0/12", "172.16.0.0/11", "1.2.3.4/32", "1.2.3.4/31", "0.0.0.0/0"):
        try:
            ipaddress.IPv4Network(text)
        except ValueError:
            assert not re.fullmatch(patterns.IPV4_NETWORK, text), text
        else:
            assert re.fullmatch(patterns.IPV4_NETWORK, text), text
    assert re.fullmatch(patterns.IPV6_NETWORK, "2001:db8::/32")
    assert not re.fullmatch(patterns.IPV6_NETWORK, "2001:db8:1::/32")


@pytest.mark.parametrize("bound", ["2024-02-29", "2000-01-01", "1999-12-31", "0999-09-09"])
def test_dates_within_bounds(bound: str) -> None:
    days = ["0001-01-01", "0999-09-08", "0999-09-09", "1999-12-30", "1999-12-31", "2000-01-01", "2000-01-02",
            "2024-02-28", "2024-02-29", "2024-03-01", "9999-12-31"]  # fmt: skip
    for day in days:
        for is_above, is_strict in ((True, True), (True, False), (False, True), (False, False)):
            holds = (day > bound if is_above else day < bound) or (day == bound and not is_strict)
            pattern = fixed_within([(bound, is_above, is_strict)]) + patterns.DATE
            assert bool(re.fullmatch(pattern, day)) == holds, (day, bound, is_above, is_strict)


def test_a_fraction_of_a_second_is_beyond_a_bound_without_one() -> None:
    pattern = fixed_within([("12:00:00", True, False)]) + patterns.FULL_CLOCK
    assert re.fullmatch(pattern, "12:00:00")
    assert re.fullmatch(pattern, "12:00:01.5")
    assert not re.fullmatch(pattern, "11:59:59.999999")


TREE = {
    "type": "object",
    "properties": {"v": {"type": "integer"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/T"}}},
    "required": ["v"],
}


@pytest.mark.parametrize(
    ("schema", "taken", "refused"),
    [
        ({}, [None, 1.5, "a", [1, [2]], {"a": {"b": [True]}}], []),
        ({"type": "integer", "minimum": 3, "maximum": 12}, [3, 12, 7], [2, 13, -5]),
        ({"type": "number", "exclusiveMinimum": 0}, [0.5, 3], [0, -1]),
        ({"enum": ['a"b', 1]}, ['a"b', 1], ["a", 2]),
        ({"anyOf": [{"type": "null"}, {"type": "string", "maxLength": 2}]}, [None, "ab"], ["abc", 1]),
        ({"type": "string", "pattern": Whole("a+")}, ["aa"], ["b", ""]),
        ({"type": "array", "prefixItems": [{"type": "null"}, {}]}, [[None, 1]], [[1, 1], [None]]),
        ({"type": "object", "additionalProperties": {"type": "boolean"}}, [{}, {"a": True, "b": False}], [{"a": 1}]),
        ({"type": "array", "items": {"type": "null"}, "minItems": 1, "maxItems": 2}, [[None]], [[], [None] * 3]),
        ({"type": "array", "items": {"type": "null"}, "uniqueItems": True}, [[], [None]], [[None] * 2]),
        ({"type": "string", "pattern": r"^a?\d+-[a-c]*$", "minLength": 3}, ["1-b", "12-"], ["1-", "1-d", "b-a"]),
        ({"type": "string", "allOf": [{"pattern": patterns.STRIPPED}], "minLength": 1}, ["a", "a b"], ["", " a", "a "]),
        ({"const": "é"}, ["é"], ["e"]),
        ({"type": "object", "additionalProperties": {}, "propertyNames": {"enum": ["a"]}}, [{}, {"a": 1}], [{"c": 1}]),
        ({"oneOf": [{"type": "null"}], "discriminator": {"propertyName": "a"}}, [None], [1]),
        (TREE, [{"v": 1}, {"v": 1, "kids": [{"v": 2, "kids": []}]}], [{}, {"kids": []}, {"v": 1, "kids": [1]}]),
    ],
)  # fmt: skip
def test_json_in_a_string(schema: Any, taken: list[Any], refused: list[Any]) -> None:
    pattern = json_text(schema, {"T": schema}, [])
    for value in taken:
        assert re.fullmatch(pattern, json.dumps(value)), value
        assert re.fullmatch(pattern, json.dumps(value, separators=(",", ":"))), value
    for value in refused:
        assert not re.fullmatch(pattern, json.dumps(value)), value


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": '^(?:a"b)$'},
        {"type": "string", "pattern": "^a|b$"},
        {"type": "string", "not": {}},
        {"type": "string", "pattern": "^a.b$"},
        {"type": "string", "pattern": "^[!-~]$"},
        {"type": "array", "items": {}, "minItems": 2, "uniqueItems": True},
        {"type": "object", "additionalProperties": {}, "minProperties": 2},
        {"type": "string", "contentMediaType": "application/json"},
        {"$ref": "#/$defs/missing"},
        {"type": "integer", "multipleOf": 2},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/T"}}, "required": ["a"]},
    ],
)
def test_what_is_not_regular_is_left_to_the_caller(schema: Any) -> None:
    with pytest.raises(NotRegular):
        json_text(schema, {"T": schema}, [])


def test_what_is_not_checked_is_told() -> None:
    found: list[str] = []
    json_text({"type": "array", "items": {"type": "integer", "x-unchecked": ["f"]}}, {}, found)
    assert found == ["f"]


def test_networks_of_ipv6_are_those_that_python_reads(rng: random.Random, scaled: Any) -> None:
    pattern = re.compile(patterns.IPV6_NETWORK)
    for _ in range(scaled(300)):
        address = ipaddress.IPv6Address(sum(rng.choice((0, rng.getrandbits(16))) << 16 * n for n in range(1, 8)))
        length = rng.randrange(129)
        assert pattern.fullmatch(str(ipaddress.IPv6Network((int(address), length), strict=False)))
        is_one = int(address) % 2 ** (128 - length) == 0
        assert is_one or not pattern.fullmatch(f"{address}/{length}"), (address, length)
