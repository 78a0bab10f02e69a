"""Strings of nodes: every one is a string of its node, and the shortest one is."""

from __future__ import annotations

import random

import pytest

from llmask.errors import LimitExceeded
from llmask.frontends.regex import compile_pattern
from llmask.regex.strings import Strings
from llmask.store.store import Store


@pytest.mark.long
@pytest.mark.parametrize(
    ("pattern", "shortest"),
    [
        ("a", 1),
        ("ab|cde", 2),
        ("[a-z]{5}x?", 5),
        ("(ab){3,}", 6),
        (".", 1),
        ("[é-ü]{2}", 4),
        ("a*", 1),
        ("(?=.*x)(?=.*y).*", 2),
        ("(?!a|b).{3}", 3),
        (r"(?=[0-9a]{4})[a-f]+(?!b)", 4),
        (".{2000}", 2000),
    ],
)
def test_strings_belong_to_their_node(store: Store, rng: random.Random, pattern: str, shortest: int) -> None:
    node = compile_pattern(store.nodes, pattern)
    found = Strings(store.nodes, store.table, store.lock)
    text = found.shortest(node)
    assert len(text) == shortest
    assert store.nodes.matches(node, text)
    for n_bytes in (0, 3, 40):
        for _ in range(10):
            text = found.sample(node, rng, n_bytes)
            assert text
            assert store.nodes.matches(node, text), text
            assert len(text) <= n_bytes + shortest + 8


def test_samples_are_many(store: Store, rng: random.Random) -> None:
    node = compile_pattern(store.nodes, "[a-z]{1,8}|[0-9]+")
    found = Strings(store.nodes, store.table, store.lock)
    assert len({found.sample(node, rng, 20) for _ in range(100)}) > 50


def test_the_search_is_bounded(store: Store) -> None:
    found = Strings(store.nodes, store.table, store.lock, most_searched=5)
    with pytest.raises(LimitExceeded, match="visits more than 5 places"):
        found.shortest(compile_pattern(store.nodes, "(?=(aa)+x)(aaa){4,}x"))
    long = store.nodes.repeat(compile_pattern(store.nodes, "[a-z]"), 2 * 10**6)
    with pytest.raises(LimitExceeded, match="has no short string"):
        found.length(long)


@pytest.mark.parametrize(
    "pattern",
    ["(?=.*x)(?=.*y)[a-z]{2,9}", "(?=(ab|a)*c)(?=(a|ba)*[bc])[a-d]*", r"(?!a|bc)(?=([a-z][0-9])+$)(c1|d3){2,}.*[a-z]7"],
)
def test_lengths_that_are_noted_on_the_way_are_right(store: Store, rng: random.Random, pattern: str) -> None:
    """Whatever is asked for first: a search notes what is certain of the nodes that it comes by."""
    root = compile_pattern(store.nodes, pattern)
    walker = Strings(store.nodes, store.table, store.lock)
    seen, waiting = {root}, [root]
    while waiting and len(seen) < 150:
        targets = {way.target for way in walker.ways(waiting.pop(0))} - seen
        seen |= targets
        waiting += sorted(targets)
    alone = {node: Strings(store.nodes, store.table, store.lock).length(node) for node in seen}
    for _ in range(5):
        found = Strings(store.nodes, store.table, store.lock)
        nodes = rng.sample(sorted(seen), len(seen))
        assert {node: found.length(node) for node in nodes} == alone
    for node, length in alone.items():  # by what follows: one byte more than the nearest
        if not store.nodes.is_nullable(node):
            targets = [way.target for way in walker.ways(node)]
            assert length == 1 + min(alone.get(one, length) for one in targets)
