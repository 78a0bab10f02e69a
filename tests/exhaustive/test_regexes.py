"""Whole masks of all expressions up to a size, against textbook automata; every token at every kind of prefix."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import llmask
from tests.exhaustive.worlds import (
    ALPHABET,
    EOS,
    PLAIN,
    SPECIAL,
    TOKENS,
    Expression,
    allowed_tokens,
    expressions,
    prefixes,
    rules_of_node,
    to_dfa,
    to_node,
    to_pattern,
)
from tests.reference.definition import all_strings, read_mask

TOKENIZER = "tokenizer"  # of `store`
MAX_SIZE = 5


def spelled(data: bytes, rng: random.Random) -> list[int]:
    """Some tokens whose bytes are `data`."""
    ids: list[int] = []
    while data:
        usable = [t for t, piece in enumerate(TOKENS) if piece and t not in (EOS, *SPECIAL) and data.startswith(piece)]
        ids.append(rng.choice(usable))
        data = data[len(TOKENS[ids[-1]]) :]
    return ids


def check_masks(expression: Expression, grammar: Any, rng: random.Random, all_to: int, each_state: int) -> int:
    """Compare the mask after every prefix with the definition; the number of prefixes."""
    dfa = to_dfa(expression)
    wanted = {state: allowed_tokens(dfa, state) for state in dfa.live_states()}
    n_prefixes = 0
    for prefix in prefixes(dfa, all_to, each_state):
        n_prefixes += 1
        matcher = grammar.matcher()
        if n_prefixes % 2:
            matcher.accept_bytes(prefix)
        else:
            matcher.accept_tokens(spelled(prefix, rng))
        state = dfa.state_after(prefix)
        assert read_mask(matcher, len(TOKENS)) == wanted[state], (expression, prefix)
        assert matcher.is_accepting() == dfa.accepting[state], (expression, prefix)
    return n_prefixes


def check_refusals(expression: Expression, grammar: Any) -> None:
    """A token outside the mask is rejected and changes nothing; one inside is accepted."""
    dfa = to_dfa(expression)
    matcher = grammar.matcher()
    allowed = allowed_tokens(dfa, 0)
    for token in range(len(TOKENS)):
        if token in allowed:
            matcher.accept_token(token)
            matcher.rollback(1)
        else:
            with pytest.raises(llmask.TokenRejected):
                matcher.accept_token(token)
        assert read_mask(matcher, len(TOKENS)) == allowed, (expression, token)


def step(size: int, effort: float) -> int:
    """All expressions below the largest size; of those every fourth, or all with an effort of 4 and more."""
    return 1 if size < MAX_SIZE or effort >= 4 else 4


@pytest.mark.long
@pytest.mark.parametrize("size", range(1, MAX_SIZE + 1))
def test_nodes_give_the_masks_of_the_definition(store: Any, size: int, rng: random.Random, effort: float) -> None:
    from llmask.compiling.made_grammar import MadeGrammar

    for number, expression in enumerate(expressions(size)[:: step(size, effort)]):
        node = to_node(store.nodes, expression)
        is_empty = not to_dfa(expression).live_states()
        assert store.nodes.is_empty(node) == is_empty, expression
        if is_empty:
            with pytest.raises(llmask.GrammarError):
                MadeGrammar(store, rules_of_node(store.nodes, node))
            continue
        grammar = MadeGrammar(store, rules_of_node(store.nodes, node))
        check_masks(expression, grammar, rng, all_to=2, each_state=2)
        if number % 7 == 0:
            check_refusals(expression, grammar)


def test_larger_nodes_drawn_at_random_give_the_masks_of_the_definition(
    store: Any, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    from llmask.compiling.made_grammar import MadeGrammar

    def draw(size: int) -> Expression:
        if size <= 2:
            return rng.choice(expressions(size))
        kind = rng.choice(("cat", "cat", "or", "and", "and", "rep", "not"))
        if kind == "not":
            return ("not", draw(size - 1))
        if kind == "rep":
            return ("rep", draw(size - 1), *rng.choice([(0, None), (0, 2), (1, 3), (2, 2), (3, None), (0, 5), (4, 9)]))
        left = rng.randint(1, size - 2)
        return (kind, draw(left), draw(size - 1 - left))

    for _ in range(scaled(400)):
        expression = draw(rng.randint(5, 9))
        node = to_node(store.nodes, expression)
        is_empty = not to_dfa(expression).live_states()
        assert store.nodes.is_empty(node) == is_empty, expression
        if not is_empty:
            grammar = MadeGrammar(store, rules_of_node(store.nodes, node))
            check_masks(expression, grammar, rng, all_to=2, each_state=2)


@pytest.mark.long
@pytest.mark.parametrize("size", range(1, MAX_SIZE + 1))
def test_patterns_give_the_masks_of_the_definition(
    tokenizer: Any, size: int, rng: random.Random, effort: float
) -> None:
    compiler = llmask.Compiler(tokenizer)
    for expression in expressions(size, PLAIN)[:: step(size, effort)]:
        if b"c"[0] in b"".join(atoms(expression)):
            continue  # [^a] is a class of code points, not of bytes: test_utf8.py
        check_masks(expression, compiler.regex(to_pattern(expression)), rng, all_to=3, each_state=2)


def atoms(expression: Expression) -> list[bytes]:
    """The letter sets of an expression."""
    kind, *parts = expression
    if kind == "set":
        return [parts[0]]
    return [letters for part in parts if isinstance(part, tuple) for letters in atoms(part)]


def test_compiled_nodes_match_the_strings_of_the_automata(store: Any) -> None:
    nodes, strings = store.nodes, all_strings(ALPHABET, 3)
    for size in range(1, 4):
        for expression in expressions(size):
            dfa, node = to_dfa(expression), to_node(nodes, expression)
            assert nodes.is_nullable(node) == dfa.accepting[0], expression
            for string in strings:
                assert nodes.matches(node, string) == dfa.accepting[dfa.state_after(string)], (expression, string)
