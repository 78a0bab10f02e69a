"""Values that must differ: laws of matchers, new tables, threads, limits, and who makes variants."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import llmask
from llmask.compiling.made_grammar import MadeGrammar
from llmask.grammar.kinds import CALL_NEW, RuleId
from llmask.grammar.rules import Rules
from llmask.store.store import Store
from tests.exhaustive.test_unique import EOS, TOKENS, unique_world
from tests.exhaustive.unique import UniqueWorld
from tests.properties.test_threads import N_THREADS, in_threads
from tests.reference.definition import read_mask

ROOM = 40_000


def new_store(**limits: int) -> Store:
    return Store(llmask.Tokenizer.from_bytes(TOKENS, eos=EOS, special=[]), llmask.Limits(**limits))


@pytest.fixture(scope="module")
def store() -> Store:
    return new_store()


def compiled(store: Store, world: UniqueWorld) -> MadeGrammar:
    return MadeGrammar(store, world.rules, make_variant=world.make_variant)


def any_world(nodes: Any, rng: random.Random) -> UniqueWorld:
    return unique_world(nodes, rng, rng.randrange(5))


def masks_along(matcher: Any, tokens: list[int]) -> list[set[int]]:
    masks = []
    for token in tokens:
        masks.append(read_mask(matcher, len(TOKENS)))
        matcher.accept_token(token)
    return masks


def some_tokens(matcher: Any, rng: random.Random, n: int) -> list[int]:
    """Tokens that the matcher takes."""
    tokens: list[int] = []
    while len(tokens) < n:
        allowed = sorted(read_mask(matcher, len(TOKENS)) - {EOS})
        if not allowed:
            break
        tokens.append(rng.choice(allowed))
        matcher.accept_token(tokens[-1])
    return tokens


def test_no_sequence_notices_new_tables(rng: random.Random, scaled: Callable[[int], int]) -> None:
    small, large = new_store(renew_grammar_bytes=ROOM), new_store()
    n_moves = 0
    for shape in range(5):
        seed = rng.random()
        grammar = compiled(small, unique_world(small.nodes, random.Random(seed), shape))
        plain = compiled(large, unique_world(large.nodes, random.Random(seed), shape))
        for _ in range(scaled(12)):
            ours, oracle = grammar.matcher(), plain.matcher()
            for _ in range(14):
                before = ours._sequence.generation
                allowed = read_mask(oracle, len(TOKENS))
                assert read_mask(ours, len(TOKENS)) == allowed
                if not allowed - {EOS}:
                    break
                token = rng.choice(sorted(allowed - {EOS}))
                ours.accept_token(token)
                oracle.accept_token(token)
                assert ours.is_accepting() == oracle.is_accepting()
                n_moves += ours._sequence.generation is not before
    assert n_moves > 0


def test_threads_share_a_grammar_and_its_variants(rng: random.Random, scaled: Callable[[int], int]) -> None:
    for _ in range(scaled(6)):
        seed = rng.random()
        alone, shared = new_store(), new_store(renew_grammar_bytes=ROOM)
        plain = compiled(alone, any_world(alone.nodes, random.Random(seed)))
        jobs = []
        for _ in range(12):
            tokens = some_tokens(plain.matcher(), rng, 10)
            jobs.append((tokens, masks_along(plain.matcher(), tokens)))
        grammar = compiled(shared, any_world(shared.nodes, random.Random(seed)))

        def work(number: int, jobs: Any = jobs, grammar: Any = grammar) -> None:
            for tokens, masks in jobs[number % 3 :]:
                assert masks_along(grammar.matcher(), tokens) == masks

        in_threads(work)
    assert N_THREADS > 1


def test_batches_make_variants_on_the_way(store: Store, rng: random.Random) -> None:
    world = any_world(store.nodes, rng)
    grammar = compiled(store, world)
    matchers = [grammar.matcher() for _ in range(20)]
    for matcher in matchers:
        some_tokens(matcher, rng, rng.randint(0, 8))
    fresh = compiled(store, world)
    copies = [fresh.matcher() for _ in matchers]
    for copy, matcher in zip(copies, matchers, strict=True):
        copy.accept_tokens(matcher.tokens)
    bitmask = llmask.allocate_bitmask(len(copies), len(TOKENS))
    llmask.fill_bitmasks(copies, bitmask, threads=2)
    for row, matcher in enumerate(matchers):
        bits = np.unpackbits(bitmask[row].view(np.uint8), bitorder="little")
        assert set(np.flatnonzero(bits).tolist()) == read_mask(matcher, len(TOKENS))


def test_what_goes_wrong_in_make_variant_is_told_and_can_be_tried_again(store: Store) -> None:
    world = UniqueWorld(store.nodes)
    world.start_with(world.array(world.value(world.words(b"a", b"b")), CALL_NEW, is_finite=True))
    failures = [llmask.LimitExceeded("enough"), ValueError("a bug")]

    def make_variant(rule: RuleId, texts: list[bytes]) -> RuleId | None:
        world.rules.state(world.rules.rule("half a rule"))
        if failures:
            raise failures.pop()
        return world.make_variant(rule, texts)

    matcher = MadeGrammar(store, world.rules, make_variant=make_variant).matcher()
    matcher.accept_bytes(b"[")
    for error in (ValueError, llmask.LimitExceeded):
        with pytest.raises(error):
            matcher.accept_bytes(b"a,")
        assert matcher.text() == b"["
    matcher.accept_bytes(b"a,")
    assert matcher.forced_bytes() == b"b]"


def test_new_values_need_somebody_who_makes_variants(store: Store) -> None:
    world = UniqueWorld(store.nodes)
    world.start_with(world.array(world.value(world.words(b"a")), CALL_NEW))
    with pytest.raises(llmask.GrammarError) as caught:
        MadeGrammar(store, world.rules)
    assert str(caught.value) == (
        "the rules call for new values, but nothing makes variants of rules\n  give make_variant"
    )


def nested_pairs(nodes: Any) -> tuple[Rules, Callable[[RuleId, list[bytes]], RuleId | None]]:
    """[value,...] where a value is a, b or a pair (value value) of one level, and all are different.

    A variant calls the rules of letters that are there and others that are written with it, some of which derive
    nothing.
    """
    rules = Rules()
    values = [b"a", b"b", b"(aa)", b"(ab)", b"(ba)", b"(bb)"]

    def letter(allowed: bytes) -> RuleId:
        rule = rules.rule("letter")
        end = rules.state(rule)
        for byte in allowed:
            rules.scan(rules.start_state(rule), nodes.literal(bytes([byte])), end)
        rules.final(end)
        return rule

    letters = {allowed: letter(allowed) for allowed in (b"a", b"b", b"ab", b"")}

    def value(allowed: frozenset[bytes]) -> RuleId:
        rule, end = rules.rule("value"), 0
        end = rules.state(rule)
        rules.final(end)
        rules.call(rules.start_state(rule), letters[b"".join(sorted({b"a", b"b"} & allowed))], end)
        for first in (b"a", b"b"):
            second = letter(bytes(text[2] for text in sorted(allowed) if text[:2] == b"(" + first))
            states = [rules.state(rule) for _ in range(3)]
            rules.scan(rules.start_state(rule), nodes.literal(b"("), states[0])
            rules.scan(states[0], nodes.literal(first), states[1])
            rules.call(states[1], second, states[2])
            rules.scan(states[2], nodes.literal(b")"), end)
        return rule

    whole = value(frozenset(values))
    made: dict[frozenset[bytes], RuleId] = {}

    def make_variant(rule: RuleId, texts: list[bytes]) -> RuleId | None:
        assert rule == whole
        key = frozenset(texts)
        if key not in made:
            made[key] = value(frozenset(values) - key)
        return made[key]

    array = rules.start = rules.rule("array")
    first, after, following, end = (rules.state(array) for _ in range(4))
    rules.scan(rules.start_state(array), nodes.literal(b"["), first)
    rules.call_new(first, whole, after)
    rules.scan(after, nodes.literal(b","), following, rules.check_guard(another_of=whole))
    rules.call_new(following, whole, after)
    rules.scan(after, nodes.literal(b"]"), end)
    rules.final(end)
    return rules, make_variant


def test_variants_call_rules_that_are_there_and_rules_written_with_them(
    store: Store, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    values = [b"a", b"b", b"(aa)", b"(ab)", b"(ba)", b"(bb)"]
    rules, make_variant = nested_pairs(store.nodes)
    grammar = MadeGrammar(store, rules, make_variant=make_variant)
    for _ in range(scaled(40)):
        order = rng.sample(values, 6)
        matcher = grammar.matcher()
        matcher.accept_bytes(b"[")
        for place, value in enumerate(order):
            for used in order[:place]:
                with pytest.raises(llmask.TokenRejected):
                    matcher.accept_bytes(used + b",")
            matcher.accept_bytes(value)
            read_mask(matcher, len(TOKENS))
            if place < 5:
                matcher.accept_bytes(b",")
        assert matcher.forced_bytes() == b"]"
