"""Sets of numbers as digit sequences, in a small numeral system in full."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from llmask.regex.digits import Position, digits_node

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
