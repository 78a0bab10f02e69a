"""Masks against the definition, one small world a stage: expressions, lexer, parser, values, budgets, sequences.

Checks and worlds are those of `tests/exhaustive` and `tests/properties`, which go through many more of them.
"""

from __future__ import annotations

import random
from itertools import islice
from typing import Any

import pytest

import llmask
from llmask.compiling.made_grammar import MadeGrammar
from llmask.store.store import Store
from tests.exhaustive import test_exact, test_grammars, test_regexes, test_unique
from tests.exhaustive.grammars import guarded_worlds, hard_worlds, one_rule_worlds, random_world, set_worlds
from tests.exhaustive.worlds import PLAIN, expressions, rules_of_node, to_dfa, to_node, to_pattern
from tests.properties.test_matchers import SCHEMAS, Walker, observed
from tests.reference.derivations import guards_never_strand

# whole tests of other files, which are run here, too
# isort: split
from tests.exhaustive.test_budgets import test_bounds_of_recursive_grammars_beside_all_short_sentences  # noqa: F401
from tests.exhaustive.test_reference_engine import test_canonical_masks_are_those_of_all_encodings  # noqa: F401
from tests.exhaustive.test_token_terminals import (
    test_a_grammar_inside_a_grammar_may_name_tokens,  # noqa: F401
    test_what_is_ignored_may_stand_around_a_named_token,  # noqa: F401
)

WORLDS = {
    "hard": hard_worlds,
    "guarded": guarded_worlds,
    "sets": set_worlds,
    "one rule": lambda nodes, with_spaces: one_rule_worlds(nodes, 1 + with_spaces),
}
EVERY = {"hard": 9, "guarded": 5, "sets": 3, "one rule": 11}  # worlds that are tried: one of so many


def store_of(tokens: list[bytes], special: list[int], least_part: int | None = None) -> Store:
    store = Store(llmask.Tokenizer.from_bytes(tokens, eos=0, special=special), llmask.Limits())
    if least_part is not None:
        store.table.view.least_part = least_part
    return store


@pytest.mark.parametrize("size", [1, 2, 3])
def test_all_small_expressions(size: int, rng: random.Random) -> None:
    store = store_of(test_regexes.TOKENS, test_regexes.SPECIAL)
    for expression in expressions(size):
        node = to_node(store.nodes, expression)
        if to_dfa(expression).live_states():
            grammar = MadeGrammar(store, rules_of_node(store.nodes, node))
            test_regexes.check_masks(expression, grammar, rng, all_to=2, each_state=2)
            test_regexes.check_refusals(expression, grammar)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_all_small_patterns(size: int, rng: random.Random) -> None:
    store = store_of(test_regexes.TOKENS, test_regexes.SPECIAL)
    compiler = llmask.Compiler(store.tokenizer)
    for expression in expressions(size, PLAIN):
        if b"c"[0] not in b"".join(test_regexes.atoms(expression)):
            grammar = compiler.regex(to_pattern(expression))
            test_regexes.check_masks(expression, grammar, rng, all_to=3, each_state=2)


@pytest.mark.parametrize("least_part", [None, 1], ids=["no parts", "every node a part"])
@pytest.mark.parametrize("with_spaces", [False, True], ids=["dense", "with spaces"])
@pytest.mark.parametrize("kind", WORLDS)
def test_small_grammars(kind: str, with_spaces: bool, least_part: int | None, rng: random.Random) -> None:
    store = store_of(test_grammars.TOKENS, test_grammars.SPECIAL, least_part)
    for world in islice(WORLDS[kind](store.nodes, with_spaces), 0, None, EVERY[kind]):
        test_grammars.check_world(store, world, 2, rng)


@pytest.mark.parametrize("with_guards", [False, True])
def test_random_grammars(with_guards: bool, rng: random.Random) -> None:
    store = store_of(test_grammars.TOKENS, test_grammars.SPECIAL, 1)
    for _ in range(12):
        world = random_world(store.nodes, rng, with_guards)
        if not with_guards or guards_never_strand(world.rules, world.lexemes):
            test_grammars.check_world(store, world, 2, rng)


@pytest.mark.parametrize("name", test_exact.HARD)
def test_exact_lexing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_exact, "MOST_BYTES", 6)
    assert test_exact.check(store_of(test_exact.TOKENS, []), test_exact.HARD[name], True)


@pytest.mark.parametrize("shape", range(5))
def test_values_that_differ(shape: int, rng: random.Random) -> None:
    store = store_of(test_unique.TOKENS, [])
    test_unique.test_masks_are_those_of_the_reference_engine(store, shape, rng, lambda n: n // 4)


@pytest.mark.parametrize("number", range(len(SCHEMAS)))
def test_tokens_bytes_forks_and_rollback_lead_to_the_same_masks(
    tiny_tokenizer: Any, number: int, rng: random.Random
) -> None:
    grammar = llmask.Compiler(tiny_tokenizer).json_schema(SCHEMAS[number])
    walker = Walker(grammar, tiny_tokenizer)
    for _ in range(10):
        tokens = [token for token in walker.continued(rng, [], 6) if token not in tiny_tokenizer.eos_ids]
        by_bytes, by_tokens = grammar.matcher(), grammar.matcher()
        by_bytes.accept_bytes(b"".join(map(tiny_tokenizer.token_bytes, tokens)))
        n_back = rng.randint(0, len(tokens))
        by_tokens.accept_tokens(tokens)
        fork = by_tokens.fork()
        by_tokens.rollback(n_back)
        assert observed(by_bytes, tiny_tokenizer) == observed(fork, tiny_tokenizer) == walker.state(tokens)
        assert observed(by_tokens, tiny_tokenizer) == walker.state(tokens[: len(tokens) - n_back])
