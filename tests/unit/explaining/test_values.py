"""Values of a text: which are open at a byte, where they end, all of them; numbers without exponents."""

from __future__ import annotations

import json

import pytest

from llmask.explaining.values import Text, Value, pointer_of, with_plain_numbers

DOCUMENT = b'{"a": [1, {"b/": "x\\"]"}], "c": null}'


@pytest.mark.parametrize(
    ("n", "open_values"),
    [
        (0, [Value((), 0)]),
        (1, [Value((), 0)]),  # a key comes
        (3, [Value((), 0)]),  # within a key
        (5, [Value(("a",), 6), Value((), 0)]),  # white space, then a value begins
        (7, [Value(("a", 0), 7), Value(("a",), 6), Value((), 0)]),
        (8, [Value(("a", 0), 7), Value(("a",), 6), Value((), 0)]),  # a number may go on
        (20, [Value(("a", 1, "b/"), 17), Value(("a", 1), 10), Value(("a",), 6), Value((), 0)]),
        (24, [Value(("a",), 6), Value((), 0)]),
        (35, [Value(("c",), 32), Value((), 0)]),
    ],
)
def test_open_values(n: int, open_values: list[Value]) -> None:
    assert Text(DOCUMENT, True).open_at(n) == open_values


def test_every_value_and_its_end() -> None:
    text = Text(DOCUMENT, True)
    found = {pointer_of(value.keys): DOCUMENT[value.begin : text.end(value.begin)] for value in text.values()}
    assert [*found] == ["", "/a", "/a/0", "/a/1", "/a/1/b~1", "/c"]
    assert {pointer: json.loads(piece) for pointer, piece in found.items()} == {
        "": json.loads(DOCUMENT),
        "/a": [1, {"b/": 'x"]'}],
        "/a/0": 1,
        "/a/1": {"b/": 'x"]'},
        "/a/1/b~1": 'x"]',
        "/c": None,
    }
    assert text.is_whole
    assert not Text(DOCUMENT[:-1], True).is_whole
    assert not Text(DOCUMENT, False).is_whole


def test_characters_of_several_bytes_are_counted_as_bytes() -> None:
    data = '["é日😀", 1]'.encode()
    text = Text(data, True)
    assert [data[value.begin : text.end(value.begin)].decode() for value in text.values()] == [
        '["é日😀", 1]',
        '"é日😀"',
        "1",
    ]


def test_a_number_at_the_end_may_go_on() -> None:
    assert Text(b"12", True).end(0) == 2
    assert Text(b"12", False).end(0) is None
    assert Text(b'"12"', False).end(0) == 4
    assert (Text(b"[12", False).piece(1).data, Text(b"[12", False).piece(1).has_ended) == (b"12", False)


def test_values_that_nest_deeper_than_python_do_not_end() -> None:
    assert Text(b"[" * 100_000 + b"]" * 100_000, True).end(0) is None


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        (b"[1e2, 1.50E-3, -2.5e1]", b"[100, 0.00150, -25]"),
        (b'{"1e2": "3e4"}', b'{"1e2": "3e4"}'),
        (b"[1e", b"[1"),
        (b"[1.5e+", b"[1.5"),
        (b"1e99999", b"1"),  # in progress
        (b"[1e99999]", b"[1e99999]"),
        (b"[true, false]", b"[true, false]"),
        (b"[1e99999999999999999999, 1.2.3e4]", b"[1e99999999999999999999, 1.2.3e4]"),
    ],
)
def test_numbers_without_exponents(given: bytes, plain: bytes) -> None:
    assert with_plain_numbers(given) == plain


def test_where_a_key_begins() -> None:
    assert Text(b'{"a": 1, "bc', False).key_at(12) == 9
    assert Text(b'{"a": 1,  "bc"', False).key_at(8) == 10
