"""Whole masks of small grammars against brute force: ambiguous, nullable, recursive, counted, with white space."""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import llmask
from tests.exhaustive.grammars import World, guarded_worlds, hard_worlds, one_rule_worlds, random_world, set_worlds
from tests.reference.definition import Language, read_mask
from tests.reference.derivations import Derivations, guards_never_strand
from tests.reference.engine.mask import Engine
from tests.reference.regex_nodes import RegexNodes

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
    from llmask.compiling.made_grammar import MadeGrammar

    store.table.view.quick_work = rng.choice((0, 64, 2000))  # ticks
    if store.table.view.least_part != 1:
        return MadeGrammar(store, world.rules)
    world.rules.chained = array("i", range(len(world.rules.names)))
    grammar = MadeGrammar(store, world.rules)
    grammar.table.view.few_items = rng.choice((0, 0, 1))
    grammar.table.view.most_leo_items = rng.choice((0, 1, 2, 99))
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


@pytest.mark.long
def test_the_reference_engine_derives_what_brute_force_derives() -> None:
    nodes = RegexNodes()
    for world in all_hard_worlds(nodes):
        known = language(world, 1)
        if known is not None:
            engine = Engine(world.rules, nodes.expressions)
            for string in sorted({s + t for s in known.live for t in (b"", b"a", b"b", b"c") if len(s + t) <= 4}):
                wanted = string in known.sentences
                assert engine.accepts(string) == wanted, f"{string!r}\n{described(world)}"


@pytest.mark.slow
def test_hard_grammars_give_the_masks_of_the_definition(store: Any, rng: random.Random) -> None:
    for world in all_hard_worlds(store.nodes):
        check_world(store, world, 5, rng)


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
