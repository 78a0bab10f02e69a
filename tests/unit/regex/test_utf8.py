"""UTF-8 of sets of code points, against `str.encode` for every code point there is."""

from __future__ import annotations

import random
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from llmask.regex.code_points import MAX_CODE_POINT, NO_TEXT, TEXT, CodePointSet
from llmask.regex.utf8 import Position, digits_node, utf8_char


def accepted(nodes: Any, node: int) -> set[int]:
    """Every code point whose bytes the node accepts, found by walking the node; asserts that they are well-formed."""
    found = set()
    waiting = [(node, b"")]
    while waiting:
        state, data = waiting.pop()
        if nodes.is_nullable(state):
            found.add(ord(data.decode()))
        if len(data) < 5:
            for byte in range(256):
                after = nodes.derivative(state, byte)
                if after != nodes.EMPTY:
                    waiting.append((after, data + bytes([byte])))
    return found


def members_by_prefix(nodes: Any, node: int) -> int:
    """Number of code points accepted, by walking each prefix of up to three bytes once."""
    total = 0
    counts: dict[int, int] = {}

    def count(state: int) -> int:
        if state not in counts:
            after = [nodes.derivative(state, byte) for byte in range(256)]
            counts[state] = int(nodes.is_nullable(state)) + sum(count(next_state) for next_state in after if next_state)
        return counts[state]

    total += count(node)
    return total


@pytest.mark.slow
def test_every_code_point_is_spelled_as_python_spells_it(nodes: Any) -> None:
    """All 1,112,064: each encoding is accepted, and nothing else, because so many strings are accepted."""
    node = utf8_char(nodes, TEXT)
    states = {b"": node}
    for code_point in TEXT:
        data = chr(code_point).encode()
        head, last = data[:-1], data[-1]
        if head not in states:
            state = node
            for byte in head:
                state = nodes.derivative(state, byte)
            states = {head: state}
            row = {byte: nodes.derivative(state, byte) for byte in range(0x80, 0xC0)}
        if head:
            assert row[last] == nodes.EPSILON, hex(code_point)
        else:
            assert nodes.derivative(node, last) == nodes.EPSILON
            states = {}
    assert members_by_prefix(nodes, node) == len(TEXT)


def test_a_set_is_spelled_exactly(nodes: Any, rng: Random, scaled: Callable[[int], int]) -> None:
    edges = [0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, MAX_CODE_POINT]
    for _ in range(scaled(20)):
        ranges = []
        for _ in range(rng.randrange(1, 4)):
            low = rng.choice([*edges, rng.randrange(MAX_CODE_POINT)])
            ranges.append((max(0, low - rng.randrange(20)), min(MAX_CODE_POINT, low + rng.randrange(20))))
        members = CodePointSet.from_ranges(ranges)
        assert accepted(nodes, utf8_char(nodes, members)) == set(members)


def test_ill_formed_bytes_are_refused(nodes: Any) -> None:
    node = utf8_char(nodes, TEXT)
    overlong = (b"\xc0\x80", b"\xc1\xbf", b"\xe0\x9f\xbf", b"\xf0\x8f\xbf\xbf")
    for data in (*overlong, b"", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xff", b"\x80", b"ab"):
        assert not nodes.matches(node, data), data
    assert utf8_char(nodes, NO_TEXT) == nodes.EMPTY


def test_no_byte_leads_to_two_places(nodes: Any) -> None:
    """A derivative is again one of the shared endings: the node of all text has few states."""
    node = utf8_char(nodes, TEXT)
    seen, waiting = {node}, [node]
    while waiting:
        state = waiting.pop()
        for byte in range(256):
            after = nodes.derivative(state, byte)
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    assert len(seen) == 10  # start, done, dead; 1, 2 or 3 bytes to come; after E0, ED, F0 and F4


TERNARY = Position(tuple(1 << byte for byte in b"012"))
LETTERS = Position((1 << ord("a") | 1 << ord("A"), 1 << ord("b") | 1 << ord("B")), before=(1 << ord("."),))


def test_exactly_the_numbers_of_the_ranges_are_spelled(
    nodes: Any, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    for _ in range(scaled(60)):
        members = {number for number in range(27) if rng.random() < 0.5}
        starts = sorted(n for n in members if n - 1 not in members)
        ends = sorted(n for n in members if n + 1 not in members)
        node = digits_node(nodes, tuple(zip(starts, ends, strict=True)), (TERNARY, TERNARY, TERNARY))
        for number in range(27):
            spelled = f"{number // 9}{number // 3 % 3}{number % 3}".encode()
            assert nodes.matches(node, spelled) == (number in members)


def test_a_digit_may_have_several_spellings_and_bytes_before_it(nodes: Any) -> None:
    node = digits_node(nodes, ((1, 1), (4, 5)), (TERNARY, LETTERS))
    assert [s for s in ("0.a", "0.b", "0.B", "1.b", "2.a", "2.A", "2.B", "2b") if nodes.matches(node, s.encode())] == [
        "0.b", "0.B", "2.a", "2.A", "2.B",
    ]  # fmt: skip


def test_no_range_is_the_empty_language(nodes: Any) -> None:
    assert digits_node(nodes, (), (TERNARY,)) == nodes.EMPTY
