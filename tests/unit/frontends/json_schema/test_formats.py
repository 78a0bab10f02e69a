"""Formats: examples of the RFCs, and `jsonschema`'s checkers where they are strict."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from llmask.frontends.json_schema.formats import FORMATS

EXAMPLES: dict[str, tuple[list[str], list[str]]] = {
    "date": (
        ["2024-02-29", "2000-02-29", "1999-12-31", "2023-04-30"],
        ["2023-02-29", "1900-02-29", "2023-04-31", "2023-13-01", "2023-00-10", "2023-1-1", "20230101", ""],
    ),
    "time": (
        ["12:00:00Z", "23:59:59.123+01:30", "00:00:00z", "23:59:60Z"],
        ["24:00:00Z", "12:60:00Z", "12:00:60Z", "12:00:00", "12:00Z", "12:00:00+24:00", "12:00:00.Z"],
    ),
    "date-time": (
        ["2024-02-29T12:00:00Z", "1998-12-31T23:59:60Z", "2020-01-01t00:00:00.5-08:00"],
        ["2023-02-29T12:00:00Z", "2020-01-01 00:00:00Z", "2020-01-01T00:00:00", "2020-01-01"],
    ),
    "duration": (
        ["P4DT12H30M5S", "P4Y", "PT0S", "P1M", "PT1M", "P1Y2M3D", "P2W"],
        ["P", "PT", "P1", "4D", "P1D2H", "P2D1Y", "P1YT", "P1Y2W"],
    ),
    "email": (
        ["a@b.example", "first.last+tag@x-y.org", '"a b"@c.de', "a@[127.0.0.1]", "a@[IPv6:::1]"],
        ["a", "@b", "a@", ".a@b", "a.@b", "a..b@c", "a b@c", "a@-b", "a@[300.0.0.1]"],
    ),
    "hostname": (
        ["example.com", "a", "x-y.z1", "1host", "a" * 63],
        ["", ".a", "a.", "-a", "a-", "a_b", "a b", "a" * 64, "xn--X", ".".join(["a" * 60] * 5)],
    ),
    "ipv4": (["127.0.0.1", "255.255.255.255"], ["256.0.0.1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.", ""]),
    "ipv6": (
        [
            "::",
            "::1",
            "1:2:3:4:5:6:7:8",
            "1::8",
            "::ffff:1.2.3.4",
            "1:2:3:4:5:6:1.2.3.4",
            "fe80::a:b",
            "1:2:3:4:5:6:7::",
        ],
        [
            "",
            ":",
            ":::",
            "1:2:3:4:5:6:7",
            "1::2::3",
            "12345::",
            "1:2:3:4:5:6:7:8:9",
            "::1.2.3",
            "::%1",
            "1:2:3:4:5:6:7:1.2.3.4",
        ],
    ),
    "uuid": (
        ["123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000"],
        [
            "123e4567e89b12d3a456426614174000",
            "123e4567-e89b-12d3-a456-42661417400",
            "g23e4567-e89b-12d3-a456-426614174000",
        ],
    ),
    "uri": (
        [
            "https://a.example/b?c=d#e",
            "mailto:x@y.z",
            "urn:a:b",
            "http://[::1]:80/",
            "file:///etc",
            "a:",
            "http://a:b@c",
        ],
        ["/a", "a", "//a/b", "http://a b", "http://[::1", "1a:b", "http://a/%zz", "http://a/\\", "http://[v.x]", ""],
    ),
    "uri-reference": (["", "/a", "a/b?c#d", "//h/p", "https://a", "#x", "?q"], ["a b", "\\a", "%", ":a", "a#b#c"]),
    "json-pointer": (["", "/", "/a~0b~1c/0", "/é"], ["a", "/~", "/~2", "#/a"]),
    "relative-json-pointer": (["0", "1/a", "12#"], ["", "/a", "01", "-1", "0##", "1a"]),
}


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_examples_of_the_rfc(judge: Any, name: str) -> None:
    grammar = judge.grammar({"type": "string", "format": name})
    valid, invalid = EXAMPLES[name]
    assert [text for text in valid if not judge.accepts(grammar, text)] == []
    assert [text for text in invalid if judge.accepts(grammar, text)] == []


# jsonschema takes the 0 in the relative JSON pointer 107 for a leading one
@pytest.mark.parametrize("name", sorted(set(FORMATS) - {"relative-json-pointer"}))
def test_what_is_written_under_a_format_is_valid_to_jsonschema(
    judge: Any, name: str, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    schema = {"type": "string", "format": name}
    grammar = judge.grammar({**schema, "maxLength": 60, "pattern": "^[!-~]*$"})
    for _ in range(scaled(30)):
        text = judge.walk(grammar, rng)
        if b":60" not in text:  # jsonschema knows no leap seconds
            assert judge.is_valid(schema, json.loads(text), formats=True), text
