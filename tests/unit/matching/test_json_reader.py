"""A document is read the same in pieces of any length; the twin reads every beginning anew."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from llmask.matching.json_reader import MISSING, JsonSoFar
from tests.reference.partial_json import NO_VALUE, so_far

DOCUMENTS = [
    *('""', "0", "-0", "-1.5e+10", "1E400", "true", "false", "null", "[]", "{}", " {} ", "[[],{},[[]]]", ' \n"a"\t'),
    *("[1,2 , 3]", "[true,false,null]", "[-0.0, 1e5]", '{"a":{"b":[{"c":null}]}}', '{"": {"": ""}}', " 12 "),
    *('{"a": 1, "a": "x", "b": 2, "a": [3]}', '{"a/b": {"~": [1, {"~1": 2}]}}', '{"k\\u0065y": "v"}'),
    *('"\\"\\\\\\/\\b\\f\\n\\r\\t"', '"\\\\u0041"', '"\\\\\\ud83d"', '"\\\\\\\\ud83d\\\\"', '"\\u00e9é日本😀"'),
    *('"\\ud83d\\ude00"', '"\\uD83D\\uDE00\\uD83D"', '"\\ud83d\\ud83d\\ude00"', '"\\ude00\\ud83d"', '"\\ud83dx"'),
    *('"\\ud83d\\n"', '"\\ud83d\\u0041"', '"\\ud83dé"', '["\\ud83d", "\\ud83d"]', '{"\\ud83d\\ude00": "\\udbff"}'),
    *('[" ,]}", "{", "["]', '{"a": "}", "]": [",:"]}', '["tfn", true, "0"]'),
]


def check(state: JsonSoFar, data: bytes) -> None:
    """That what is known is what the twin says."""
    expected = so_far(data)
    value = state.value()
    if value is MISSING:
        value = NO_VALUE
    assert repr(value) == repr(expected.value) or value is expected.value, data
    assert (state.n_bytes, state.depth) == (len(data), expected.depth), data
    if expected.kind != "end":
        assert state.pointer() == expected.pointer, data


@pytest.mark.long
@pytest.mark.parametrize("text", DOCUMENTS)
def test_every_beginning_in_all_splits_in_two(text: str) -> None:
    data = text.encode()
    for end in range(len(data) + 1):
        for middle in range(end + 1):
            check(JsonSoFar().after(data[:middle]).after(data[middle:end]), data[:end])
    whole = JsonSoFar().after(data)
    assert repr((whole if whole.root is not MISSING else whole.ended()).root) == repr(json.loads(text))


def test_pieces_of_any_length(rng: random.Random, scaled: Callable[[int], int]) -> None:
    for _ in range(scaled(300)):
        data = ("[" + ",".join(rng.choices(DOCUMENTS, k=rng.randrange(1, 5))) + "]").encode()
        state, at = JsonSoFar(), 0
        while at < len(data):
            length = rng.choice([0, 1, 1, 2, 3, 7, 40])
            state = state.after(data[at : at + length])
            at = min(at + length, len(data))
            check(state, data[:at])


def test_what_is_kept_never_changes() -> None:
    data = b'{"a": [1, 2, {"b": "text"}], "c": [[], {}]}'
    states = [JsonSoFar()]
    for at in range(len(data)):
        states.append(states[-1].after(data[at : at + 1]))
        states[at].after(b'"]} another way, [1, {"')
    for at, state in enumerate(states):
        check(state, data[:at])


def test_a_change_is_counted_exactly_where_the_value_changes() -> None:
    for text in DOCUMENTS:
        state, data = JsonSoFar(), text.encode()
        for at in range(len(data)):
            before, state = state, state.after(data[at : at + 1])
            if repr(state.value()) != repr(before.value()):
                assert state.n_changes > before.n_changes, data[: at + 1]
            elif '"a": 1, "a"' not in text:
                assert state.n_changes == before.n_changes, data[: at + 1]


def events_of(value: Any, kind: str, pointer: str = "") -> list[tuple[str, str, Any]]:
    """What a whole value becomes complete with, in the order of a text without repeated keys."""
    found: list[tuple[str, str, Any]] = []
    if isinstance(value, dict):
        for key, item in value.items():
            below = pointer + "/" + key.replace("~", "~0").replace("/", "~1")
            found += [("key", below, key), *events_of(item, "value", below)]
    elif isinstance(value, list):
        for number, item in enumerate(value):
            found += events_of(item, "item", f"{pointer}/{number}")
    return [*found, (kind, pointer, value)]


@pytest.mark.parametrize("text", [text for text in DOCUMENTS if '"a": 1, "a"' not in text])
def test_events_are_the_parts_of_a_document_in_its_order(text: str) -> None:
    data, expected = text.encode(), events_of(json.loads(text), "end")
    for length in (1, 2, 3, len(data)):
        state, found = JsonSoFar(), []
        for at in range(0, len(data), length):
            piece = data[at : at + length]
            after = state.after(piece)
            state, events = state.events(piece)
            assert repr(state) == repr(after)
            found += events
        state, events = state.events(b"", has_ended=True)
        assert repr([tuple(event) for event in found + events]) == repr(expected)
    assert state.events(b"", has_ended=True) == (state, [])


def test_complete_parts_are_the_same_objects() -> None:
    state = JsonSoFar().after(b'{"a": [1, 2], "b": [3')
    later = state.after(b', 4], "c": {"d": "')
    assert state.value()["a"] is later.value()["a"]
    assert state.value()["b"] == []
    assert later.value() == {"a": [1, 2], "b": [3, 4], "c": {"d": ""}}


@pytest.mark.long
def test_documents_that_are_deep_and_long() -> None:
    deep = 50_000
    state = JsonSoFar().after(b'{"a":[' * deep)
    assert state.depth == 2 * deep
    assert state.pointer() == "/a/0" * (deep - 1) + "/a"
    value: Any = state.after(b"1]}").value()
    for _ in range(deep - 1):
        value = value["a"][0]
    assert value == {"a": [1]}  # the innermost
    state = JsonSoFar().after(b"[")
    for number in range(20_000):
        state = state.after(f"{number},".encode())
    assert state.value() == list(range(20_000))
    state = JsonSoFar().after(b'"')
    for _ in range(20_000):
        state = state.after("é\\n".encode())
    assert state.value() == "é\n" * 20_000


def test_integers_of_more_digits_than_python_converts() -> None:
    digits = "7" * (sys.get_int_max_str_digits() + 1 if hasattr(sys, "get_int_max_str_digits") else 5000)
    value = JsonSoFar().after(f"[{digits}]".encode()).value()
    assert value[0] == Decimal(digits)


@pytest.mark.parametrize(
    "data", [b"}{", b"]]", b'{"a"]}', b"tru]", b'"\\x\\u12 "', b"[1-.e]", b"- ", b'\xff"\xff"', b"nil,"]
)
def test_what_is_no_json_harms_nobody(data: bytes) -> None:
    for end in range(len(data) + 1):
        state = JsonSoFar().after(data[:end])
        state.value()
        state.pointer()
        assert state.n_bytes == end
