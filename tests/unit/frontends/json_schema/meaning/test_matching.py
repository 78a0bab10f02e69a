"""Which values later items need: beside every choice of values, on small cases; and how little is looked at."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence, Set
from itertools import combinations
from typing import Any

import pytest

from llmask.frontends.json_schema.meaning.matching import Matching

Items = list[tuple[int, Set[Any], int]]


def find_each(lists: Sequence[Set[Any]], used: Set[Any]) -> bool:
    """Whether a value can be chosen from each list, no two of them equal and none used: by trying all."""
    return not lists or any(find_each(lists[1:], used | {value}) for value in lists[0] - used)


def lists_after(items: Items, position: int) -> list[Set[Any]]:
    return [values for first, values, n in items if first > position for _ in range(n)]


def random_items(rng: random.Random) -> Items:
    """Some of the first items, lists that are shared by several, and a tail of equal ones."""
    some = [frozenset(rng.sample(range(6), rng.randint(0 if rng.random() < 0.05 else 1, 4))) for _ in range(3)]
    items: Items = [(position, rng.choice(some), 1) for position in range(rng.randint(0, 4)) if rng.random() < 0.8]
    if rng.random() < 0.6:
        items.append((4, rng.choice(some), rng.randint(1, 3)))
    return items


def test_it_is_complete_exactly_when_all_items_find_a_value(rng: random.Random, scaled: Callable[[int], int]) -> None:
    found = []
    for _ in range(scaled(1500)):
        items = random_items(rng)
        found.append(Matching(items).is_complete)
        assert found[-1] == find_each(lists_after(items, -1), frozenset()), items
    assert 0.2 < sum(found) / len(found) < 0.95


def test_needed_values_are_those_without_which_items_find_none(
    rng: random.Random, scaled: Callable[[int], int]
) -> None:
    n_needed = n_others = 0
    for _ in range(scaled(120)):
        items = random_items(rng)
        matching = Matching(items)
        if not matching.is_complete:
            continue
        questions = [
            (position, frozenset(used))
            for position in range(-1, 5)
            for n in range(5)
            for used in combinations(range(6), n)
            if position < 4 or not any(n > 1 for _, _, n in items)
        ]
        rng.shuffle(questions)  # what one sequence asked says nothing about the next question
        for position, used in questions[:60]:
            after = lists_after(items, position)
            if not find_each(after, used):
                continue
            wanted = {value for value in range(6) if value not in used and not find_each(after, used | {value})}
            assert matching.needed(position, used, range(6)) == wanted, (items, position, used)
            asked = rng.sample(range(6), 2)
            assert matching.needed(position, used, asked) == wanted.intersection(asked)
            n_needed += len(wanted)
            n_others += 6 - len(wanted) - len(used)
    assert n_needed > 500 < n_others


def test_a_tail_of_equal_items_is_one_node_however_long_it_is() -> None:
    values = frozenset(range(3000))
    assert Matching([(0, frozenset([0, -1]), 1), (1, values, 3000)]).needed(0, frozenset(), [0, -1]) == {0}
    assert not Matching([(0, values, 1), (1, values, 3000)]).is_complete
    assert not Matching([(1, values, 10**12)]).is_complete
    assert not Matching([(0, values, 1), (1, frozenset(), 1)]).is_complete
    assert Matching([]).is_complete
    assert [Matching(items).last_position for items in ([], [(2, values, 2)])] == [-1, 2]


def chain(n: int) -> Items:
    """{0, 1}, {1, 2}, ...: the value of one item decides those of all."""
    return [(at, frozenset((at, at + 1)), 1) for at in range(n)]


def ring(n: int) -> Items:
    return [(at, frozenset((at, (at + 1) % n)), 1) for at in range(n)]


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Nodes visited in each search for an augmenting path."""
    visited: list[int] = []
    search = Matching._search

    def counted(*arguments: Any) -> tuple[dict[int, Any], int]:
        ways, end = search(*arguments)
        visited.append(len(ways))
        return ways, end

    monkeypatch.setattr(Matching, "_search", counted)
    return visited


@pytest.mark.parametrize("shape", [chain, ring])
@pytest.mark.parametrize("step", [0, 1])
def test_one_more_item_read_costs_an_augmenting_path(
    searches: list[int], shape: Callable[[int], Items], step: int
) -> None:
    """Each question began a matching of all items from nothing: 600 items of two values took 27 s to compile."""
    n = 600
    matching = Matching(shape(n))
    assert matching.is_complete
    assert sum(searches) <= 3 * n
    values = [(at + step) % n if shape is ring else at + step for at in range(n)]
    for position in range(1, n):
        searches.clear()
        used = frozenset(values[:position])
        needed = matching.needed(position, used, (position, position + 1))
        assert len(searches) <= 3
        assert sum(searches) <= 3 * n
        assert values[position] not in needed


def test_sequences_in_turn_do_not_begin_from_nothing(searches: list[int]) -> None:
    n = 200
    matching = Matching(chain(n))
    for position in range(1, n):
        for step in (0, 1):
            searches.clear()
            used = frozenset(at + step for at in range(position))
            assert position + step not in matching.needed(position, used, (position, position + 1))
            assert len(searches) <= 4
