"""Whole masks of small grammars against brute force: ambiguous, nullable, recursive, counted, with white space."""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import llmask
from llmask.compiling.made_grammar import MadeGrammar
from llmask.grammar.kinds import CALL, EDGE_FIELDS, SCAN, SKIP
from tests.exhaustive.grammars import (
    World,
    guarded_worlds,
    hard_worlds,
    one_rule_worlds,
    random_world,
    ranked_world,
    set_worlds,
    with_ends,
)
from tests.reference.definition import Language, all_strings, read_mask
from tests.reference.derivations import Derivations, guards_never_strand
from tests.reference.engine import regex
from tests.reference.engine.rules import read_rules

TOKENS = [
    *(b"</s>", b"a", b"b", b"c", b" ", b"ab", b"ba", b"aab", b" a", b"a ", b"  ", b"b b", b"ca", b"bc", b"", b"ab"),
    b"abc",
]
EOS, SPECIAL = 0, [16]
LONGEST = 3


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return llmask.Tokenizer.from_bytes(TOKENS, eos=EOS, special=SPECIAL)


@pytest.fixture(scope="module", params=["no parts", "every node a part"])
def store(tokenizer: Any, request: pytest.FixtureRequest) -> Any:
    """Parts of the trie (kernels/mask/crossing.py) are larger than these worlds unless it is said otherwise."""
    from llmask.store.store import Store

    store = Store(tokenizer, llmask.Limits())
    if request.param == "every node a part":
        store.table.view.least_part = 1
    return store


def compiled(store: Any, world: World, rng: random.Random) -> Any:
    """The grammar; with parts also with as many links (leo_items.py) as there can be, some or all taken apart."""
    store.table.view.quick_work = rng.choice((0, 64, 2000))  # ticks
    if store.table.view.least_part != 1:
        return MadeGrammar(store, world.rules)
    world.rules.chained = array("i", range(len(world.rules.names)))
    grammar = MadeGrammar(store, world.rules)
    grammar.generation.table.view.few_items = rng.choice((0, 0, 1))
    grammar.generation.table.view.most_leo_items = rng.choice((0, 1, 2, 99))
    return grammar


def described(world: World) -> str:
    """The grammar in full, for the message of a failing test."""
    rules = world.rules
    rows = [rules.edges[first : first + 5].tolist() for first in range(0, len(rules.edges), 5)]
    return (
        f"{world.name}\nrule starts {rules.rule_starts.tolist()}\nedges (state kind symbol next guard) {rows}\n"
        f"finals {rules.finals.tolist()}\nguards {rules.guards.tolist()}\nlexemes {world.lexemes}\n"
        f"ignored {rules.ignored}"
    )


def language(world: World, max_prefix: int) -> Language | None:
    return Derivations(world.rules, world.lexemes, max_prefix + LONGEST).language()


def check_world(store: Any, world: World, max_prefix: int, rng: random.Random) -> None:
    """Masks, acceptance and refusals at every live prefix of at most `max_prefix` bytes."""
    known = language(world, max_prefix)
    if known is None:
        with pytest.raises(llmask.GrammarError):
            compiled(store, world, rng)
        return
    grammar = compiled(store, world, rng)
    for prefix in sorted(known.live, key=lambda string: (len(string), string)):
        if len(prefix) > max_prefix:
            break
        matcher = grammar.matcher()
        matcher.accept_bytes(prefix)
        wanted = known.allowed_tokens(prefix, TOKENS, SPECIAL, EOS)
        found = read_mask(matcher, len(TOKENS))
        assert found == wanted, f"after {prefix!r}: {found} instead of {wanted}\n{described(world)}"
        assert matcher.is_accepting() == (prefix in known.sentences), f"after {prefix!r}\n{described(world)}"
        forced, is_whole = forced_bytes(known, prefix)
        found_forced = matcher.forced_bytes()
        assert found_forced.startswith(forced), f"after {prefix!r}: forced {found_forced!r}\n{described(world)}"
        assert found_forced == forced or not is_whole, f"after {prefix!r}: forced {found_forced!r}\n{described(world)}"
        refused = rng.choice([token for token in range(len(TOKENS)) if token not in wanted] or [-1])
        if refused >= 0:
            with pytest.raises(llmask.TokenRejected):
                matcher.accept_token(refused)
            assert read_mask(matcher, len(TOKENS)) == wanted, f"after a refusal\n{described(world)}"


def forced_bytes(known: Language, prefix: bytes) -> tuple[bytes, bool]:
    """The bytes that all continuations share, and whether they end within what is known of the language."""
    forced = b""
    while prefix + forced not in known.sentences:
        if len(prefix + forced) == known.max_bytes:
            return forced, False
        following = [byte for byte in b"abc " if prefix + forced + bytes([byte]) in known.live]
        if len(following) > 1:
            break
        forced += bytes(following)
    return forced, True


def all_hard_worlds(nodes: Any) -> Iterator[World]:
    for with_spaces in (False, True):
        yield from hard_worlds(nodes, with_spaces)
        yield from guarded_worlds(nodes, with_spaces)
        yield from set_worlds(nodes, with_spaces)


@pytest.mark.slow
def test_hard_grammars_give_the_masks_of_the_definition(store: Any, rng: random.Random) -> None:
    for world in all_hard_worlds(store.nodes):
        check_world(store, world, 5, rng)


@pytest.mark.long
@pytest.mark.parametrize("repeats", [False, True])
def test_what_is_ignored_at_the_ends_gives_the_masks_of_the_definition(
    store: Any, repeats: bool, rng: random.Random
) -> None:
    nodes = store.nodes
    worlds = [*hard_worlds(nodes, True), *guarded_worlds(nodes, True), *set_worlds(nodes, True)]
    for world in list(with_ends(worlds, repeats))[::4]:
        check_world(store, world, 2, rng)


@pytest.mark.long
@pytest.mark.parametrize("n_edges", [1, 2, 3])
def test_all_grammars_of_one_rule_give_the_masks_of_the_definition(
    store: Any, n_edges: int, rng: random.Random
) -> None:
    for world in one_rule_worlds(store.nodes, n_edges):
        check_world(store, world, 2, rng)


@pytest.mark.parametrize("with_guards", [False, True])
def test_random_grammars_give_the_masks_of_the_definition(
    store: Any, with_guards: bool, rng: random.Random, costly: Callable[[int], int]
) -> None:
    n_checked = 0
    while n_checked < costly(80):
        world = random_world(store.nodes, rng, with_guards)
        if not with_guards or guards_never_strand(world.rules, world.lexemes):
            check_world(store, world, 3, rng)
            n_checked += 1


class Ranked:
    """Masks of a world of ranked letters from the definition: all runs at once, each with the state it returns to."""

    def __init__(self, world: World) -> None:
        self.rules, self.lexemes = world.rules, world.lexemes
        network = read_rules(
            world.rules, {node: regex.byte_set(map(ord, words)) for node, words in world.lexemes.items()}
        )
        self.network, self.start = network, frozenset()
        if network is not None:
            self.check_priorities()
            self.start = self.closed({(network.starts[network.start], None)})

    def check_priorities(self) -> None:
        """The engine's reading of rules gives each edge its own priority."""
        columns = [self.rules.edges[field::EDGE_FIELDS] for field in range(EDGE_FIELDS)]
        numbers, *told = (self.rules.priorities[field::3] for field in range(3))
        ranks = dict(zip(numbers, zip(*told, strict=True), strict=True))
        written = {(*edge, *ranks.get(number, (0, 0))) for number, edge in enumerate(zip(*columns, strict=True))}
        for state, edges in self.network.edges.items():
            assert {(state, *edge) for edge in edges} <= written

    def closed(self, runs: set[Any]) -> frozenset[Any]:
        """Runs, and those that are reached without a letter."""
        size = -1
        while size != len(runs):
            size = len(runs)
            for state, back in list(runs):
                for edge in self.network.edges.get(state, ()):
                    if edge.kind == SKIP:
                        runs.add((edge.target, back))
                    if edge.kind == CALL:
                        runs.add((self.network.starts[edge.symbol], edge.target))
                if back is not None and state in self.network.finals:
                    runs.add((back, None))
        return frozenset(runs)

    def is_document(self, runs: frozenset[Any]) -> bool:
        return any(back is None and state in self.network.finals for state, back in runs)

    def step(self, runs: frozenset[Any], letter: bytes) -> frozenset[Any]:
        every = [
            (edge, back) for state, back in runs for edge in self.network.edges.get(state, ()) if edge.kind == SCAN
        ]
        scans = [(edge, back) for edge, back in every if letter in self.lexemes[edge.symbol]]
        may_stand = self.is_document(runs) or not every or not all(edge.is_bare for edge, _ in every)
        is_ignored = self.rules.ignored is not None and may_stand and letter in self.lexemes[self.rules.ignored]
        after: set[Any] = set()
        for is_bare in (False, True):
            priorities = [edge.priority for edge, _ in scans if edge.is_bare == is_bare]
            most = max(priorities + [self.rules.ignored_priority] * is_ignored, default=0)
            after |= {(e.target, back) for e, back in scans if e.is_bare == is_bare and e.priority == most}
        if is_ignored and all(edge.priority <= self.rules.ignored_priority for edge, _ in scans):
            after |= runs
        return self.closed(after)


def check_ranks(store: Any, rng: random.Random, n_worlds: int) -> None:
    """Masks of worlds of ranked letters are those of the definition."""
    n_live = n_stay = 0
    for _ in range(n_worlds):
        world = ranked_world(store.nodes, rng)
        ranked = Ranked(world)
        if ranked.network is None:
            with pytest.raises(llmask.GrammarError):
                MadeGrammar(store, world.rules)
            continue
        grammar = MadeGrammar(store, world.rules)
        for data in all_strings(b"abc ", 3):
            runs, matcher = ranked.start, grammar.matcher()
            for number in range(len(data)):
                runs = ranked.step(runs, data[number : number + 1])
            if not runs:
                with pytest.raises(llmask.TokenRejected):
                    matcher.accept_bytes(data)
                continue
            matcher.accept_bytes(data)
            letters = [token for token, text in enumerate(TOKENS) if len(text) == 1 and token not in {EOS, *SPECIAL}]
            wanted = {token for token in letters if ranked.step(runs, TOKENS[token])}
            found = read_mask(matcher, len(TOKENS))
            assert found & {*letters} == wanted, (data, described(world), world.rules.priorities)
            assert matcher.is_accepting() == ranked.is_document(runs), (data, described(world), world.rules.priorities)
            n_live += 1
            n_stay += data.endswith(b"c")
    assert n_live > n_worlds * 10
    assert n_stay > n_worlds


def test_of_lexemes_that_end_together_the_highest_are_taken(
    store: Any, rng: random.Random, costly: Callable[[int], int]
) -> None:
    check_ranks(store, rng, costly(80))
