"""Regex nodes, compiled and twin, against sets of words and against each other."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np

LENGTH = 5
WORDS = {"".join(letters) for length in range(LENGTH + 1) for letters in itertools.product("ab", repeat=length)}


def random_node(nodes: Any, rng: random.Random, depth: int) -> tuple[int, set[str]]:
    """A node and the words of at most LENGTH letters "a" and "b" that it matches by definition."""
    if depth == 0:
        letters = rng.choice(["a", "b", "ab"])
        return nodes.byte_set(sum(1 << ord(letter) for letter in letters)), set(letters)
    kind = rng.choice(["complement", "repeat", "concat", "union", "intersect"])
    one, mine = random_node(nodes, rng, depth - 1)
    if kind == "complement":
        return nodes.complement(one), WORDS - mine
    if kind == "repeat":
        low = rng.randrange(3)
        high = rng.choice([None, low, low + 1, low + 3])
        times = {""}
        found: set[str] = set()
        for n_times in range(LENGTH + low + 4):
            if low <= n_times and (high is None or n_times <= high):
                found |= times
            times = {u + v for u in times for v in mine if len(u + v) <= LENGTH}
        return nodes.repeat(one, low, high), found
    other, theirs = random_node(nodes, rng, depth - 1)
    if kind == "concat":
        return nodes.concat([one, other]), {u + v for u in mine for v in theirs if len(u + v) <= LENGTH}
    if kind == "union":
        return nodes.union([one, other]), mine | theirs
    return nodes.intersect([one, other]), mine & theirs


def test_nodes_match_the_words_of_their_definition(
    nodes: Any, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    for _ in range(scaled(600)):
        node, expected = random_node(nodes, rng, rng.randrange(1, 5))
        assert {word for word in WORDS if nodes.matches(node, word.encode())} == expected
        assert nodes.is_nullable(node) == ("" in expected)
        assert not (expected and nodes.is_empty(node))


def test_emptiness_is_exact(nodes: Any, rng: random.Random, scaled: Callable[[int], int]) -> None:
    """A node is empty when it is a part of its own complement, whatever it looks like."""
    for _ in range(scaled(150)):
        node, _ = random_node(nodes, rng, rng.randrange(1, 4))
        other, _ = random_node(nodes, rng, rng.randrange(1, 4))
        outside = nodes.complement(nodes.union([node, other]))
        assert nodes.is_empty(nodes.intersect([node, outside]))
        both = nodes.intersect([node, other])
        only = nodes.intersect([node, nodes.complement(other)])
        assert nodes.is_empty(node) == (nodes.is_empty(both) and nodes.is_empty(only))


def test_long_counters_meet_only_where_their_lengths_do(nodes: Any) -> None:
    letters = nodes.byte_set(1 << 97 | 1 << 98)
    assert nodes.is_empty(nodes.intersect([nodes.repeat(letters, 0, 500), nodes.repeat(letters, 501, None)]))
    meeting = nodes.intersect([nodes.repeat(letters, 0, 500), nodes.repeat(letters, 500, None)])
    assert not nodes.is_empty(meeting)
    assert nodes.matches(meeting, b"ab" * 250)
    assert not nodes.matches(meeting, b"a" * 499)


def test_equal_expressions_have_equal_ids(nodes: Any) -> None:
    a, b = nodes.literal(b"a"), nodes.literal(b"b")
    assert nodes.union([a, nodes.repeat(b, 2)]) == nodes.union([nodes.repeat(b, 2), a, a])
    assert nodes.intersect([nodes.repeat(a, 1), nodes.repeat(b, 0)]) == nodes.intersect(
        [nodes.repeat(b, 0), nodes.repeat(a, 1)]
    )
    assert nodes.complement(nodes.complement(a)) == a
    assert nodes.union([]) == nodes.byte_set(0) == nodes.EMPTY
    assert nodes.concat([]) == nodes.literal(b"") == nodes.repeat(a, 0, 0) == nodes.EPSILON
    assert nodes.union([a, b]) == nodes.byte_set(1 << 97 | 1 << 98)


def test_an_automaton_steps_as_its_table_says(nodes: Any) -> None:
    """Words over "a" and "b" whose number of "a" is odd; "c" leads to a state from which nothing is accepted."""
    class_of_byte = np.full(256, 3, np.uint8)
    class_of_byte[list(b"abc")] = [0, 1, 2]
    table = np.array([[1, 0, 2, -1], [0, 1, 2, -1], [2, 2, 2, -1]], np.int32)
    node = nodes.dfa(class_of_byte, table, np.array([False, True, False]))
    for word in sorted(WORDS):
        assert nodes.matches(node, word.encode()) == (word.count("a") % 2 == 1)
    assert nodes.derivative(node, ord("c")) == nodes.derivative(node, ord("x")) == nodes.EMPTY
    assert nodes.dfa(class_of_byte, table, np.array([False, False, True])) != nodes.EMPTY
    assert nodes.dfa(class_of_byte, table, np.array([False, False, False])) == nodes.EMPTY
