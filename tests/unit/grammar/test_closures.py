"""Components and closures against reachability by brute force."""

from __future__ import annotations

import random
from collections.abc import Callable

from llmask.grammar.closures import closure, components


def reachable(successors: list[list[int]], vertex: int) -> set[int]:
    found, waiting = {vertex}, [vertex]
    while waiting:
        new = set(successors[waiting.pop()]) - found
        found |= new
        waiting += new
    return found


def test_random_graphs_agree_with_reachability(rng: random.Random, scaled: Callable[[int], int]) -> None:
    for _ in range(scaled(300)):
        n = rng.randint(1, 9)
        successors = [rng.choices(range(n), k=rng.choice((0, 1, 1, 2, 3))) for _ in range(n)]
        reached = [reachable(successors, vertex) for vertex in range(n)]
        found = components(successors)
        assert sorted(vertex for members in found for vertex in members) == list(range(n))
        place = {vertex: number for number, members in enumerate(found) for vertex in members}
        for one in range(n):
            for other in range(n):
                assert (place[one] == place[other]) == (one in reached[other] and other in reached[one])
                assert other not in reached[one] or place[other] <= place[one]
        bits = closure(successors, [1 << vertex for vertex in range(n)])
        assert bits == [sum(1 << vertex for vertex in reached[one]) for one in range(n)]


def test_long_chains_are_no_recursion() -> None:
    n = 50_000
    found = components([[vertex + 1] for vertex in range(n)] + [[]])
    assert len(found) == n + 1
    assert found[0] == [n]
