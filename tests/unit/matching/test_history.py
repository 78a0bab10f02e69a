"""A history is a list of pairs, whatever chunks it is kept in."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from llmask.matching.history import CHUNK, History
from tests.unit.interrupted import interrupted

Pairs = list[tuple[int, int]]


def assert_equal(history: History, pairs: Pairs) -> None:
    tokens = [token for token, _ in pairs]
    assert (len(history), history.tokens()) == (len(pairs), tokens)
    for position in {0, 1, CHUNK - 1, CHUNK, len(pairs) // 2, len(pairs) - 1, len(pairs)} - {-1}:
        assert all(history.since(position, n) == tokens[position:][:n] for n in (1, CHUNK, CHUNK + 1, len(pairs) + 1))
    assert history.last_configuration() == (pairs[-1][1] if pairs else None)


@pytest.mark.long
def test_random_pushes_drops_and_forks_equal_lists(rng: random.Random, scaled: Callable[[int], int]) -> None:
    for _ in range(scaled(20)):
        family: list[tuple[History, Pairs]] = [(History(), [])]
        for _ in range(40):
            history, pairs = rng.choice(family)
            action = rng.random()
            if action < 0.5:
                for _ in range(rng.choice([1, 2, CHUNK - 1, CHUNK, CHUNK + 1])):
                    pair = rng.randrange(100_000), rng.randrange(100_000)
                    history.push(*pair)
                    pairs.append(pair)
            elif action < 0.8:
                n = rng.choice([0, len(pairs), min(1, len(pairs)), rng.randint(0, len(pairs))])
                history.drop(n)
                del pairs[len(pairs) - n :]
            else:
                family.append((history.fork(), pairs.copy()))
            for other, others in family:
                assert_equal(other, others)


@pytest.mark.parametrize("n_tokens", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 1])
@pytest.mark.parametrize("n_dropped", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK])
def test_the_ends_of_chunks_are_places_like_others(n_tokens: int, n_dropped: int) -> None:
    history = History()
    pairs = [(number, number + 7) for number in range(n_tokens)]
    for pair in pairs:
        history.push(*pair)
    history.drop(min(n_dropped, n_tokens))
    assert_equal(history, pairs[: max(0, n_tokens - n_dropped)])
    history.push(5, 6)
    assert_equal(history, [*pairs[: max(0, n_tokens - n_dropped)], (5, 6)])


def test_forks_share_full_chunks() -> None:
    history = History()
    for number in range(3 * CHUNK + 5):
        history.push(number, number)
    twin = history.fork()
    assert all(mine is its for mine, its in zip(history._chunks, twin._chunks, strict=True))
    twin.drop(CHUNK)
    twin.push(-1, 0)
    assert history.tokens() == list(range(3 * CHUNK + 5))


@pytest.mark.parametrize("n_tokens", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK - 1])
@pytest.mark.parametrize("n_dropped", [0, 1, 2, CHUNK])
def test_what_an_interrupt_leaves_by_half_is_settled(n_tokens: int, n_dropped: int) -> None:
    """An interrupt between the two columns of a pair left one longer than the other."""
    before = [(number, number + 7) for number in range(n_tokens)]
    n_kept = max(0, n_tokens - n_dropped)

    def make() -> History:
        history = History()
        for pair in before:
            history.push(*pair)
        return history

    def change(history: History) -> None:
        history.drop(n_tokens - n_kept) if n_dropped else history.push(-5, -6)

    after = before[:n_kept] if n_dropped else [*before, (-5, -6)]
    for history in interrupted(make, change):
        history.settle()
        assert history.tokens() in ([token for token, _ in before], [token for token, _ in after])
        assert_equal(history, before if len(history) == len(before) else after)
        history.push(8, 9)
        assert (history.tokens()[-1], history.last_configuration()) == (8, 9)
