"""Bounds of small worlds beside the true minimum of tokens, found by a search of whole automata and languages."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

import llmask
from llmask.matching.finish import ends_of
from tests.exhaustive.worlds import EOS, SPECIAL, TOKENS, expressions, prefixes, rules_of_node, to_dfa, to_node
from tests.reference.automata import Dfa
from tests.reference.definition import all_strings, read_mask

TOKENIZER = "tokenizer"  # of `store`
USABLE = [token for token in range(len(TOKENS)) if TOKENS[token] and token not in (EOS, *SPECIAL)]
MAX_SIZE = 4
BUDGETS = (1, 2, 3, 5, 50)


def minima(dfa: Dfa) -> dict[int, int]:
    """Of each live state the least number of tokens that end the text there, end of sequence included."""
    found = {state: 1 for state, accepts in enumerate(dfa.accepting) if accepts}
    changed = True
    while changed:
        changed = False
        for state in range(len(dfa.step)):
            for text in (TOKENS[token] for token in USABLE):
                behind = found.get(after(dfa, state, text), 10**9) + 1
                if behind < found.get(state, 10**9):
                    found[state] = behind
                    changed = True
    return found


def after(dfa: Dfa, state: int, text: bytes) -> int:
    for letter in text.replace(b"d", b"c"):  # no expression tells them apart
        state = dfa.step[state][dfa.alphabet.index(letter)]
    return state


@pytest.mark.long
def test_every_bound_is_the_minimum_after_a_search_and_every_mask_keeps_it(
    store: Any, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    from llmask.compiling.made_grammar import MadeGrammar

    cases = [expression for size in range(1, MAX_SIZE + 1) for expression in expressions(size)]
    n_points = n_exact = 0
    for expression in rng.sample(cases, min(len(cases), scaled(150))):
        dfa = to_dfa(expression)
        live = dfa.live_states()
        if 0 not in live:
            continue
        grammar = MadeGrammar(store, rules_of_node(store.nodes, to_node(store.nodes, expression)))
        least = minima(dfa)
        for prefix in prefixes(dfa, 2, 1):
            state = dfa.state_after(prefix)
            matcher = grammar.matcher()
            matcher.accept_bytes(prefix)
            n_points += 1
            bound = ends_of(matcher._sequence.generation).bound(matcher._sequence.configuration)
            assert bound >= least[state], (expression, prefix)
            n_exact += bound == least[state]
            plain = read_mask(matcher, len(TOKENS))
            for budget in BUDGETS:
                if budget < bound and not prefix:
                    continue
                allowed = read_mask(matcher, len(TOKENS), budget)
                assert allowed <= plain, (expression, prefix, budget)
                if budget >= bound:
                    for token in allowed - {EOS}:
                        behind = least[after(dfa, state, TOKENS[token])]
                        assert behind + 1 <= budget, (expression, prefix, budget, token)
            assert read_mask(matcher, len(TOKENS), 50) == plain
            assert matcher.least_budget(exact=True) == least[state], (expression, prefix)
    assert n_points > 500 * scaled(150) // 150
    assert n_exact > 0.9 * n_points


DYCK = 'root ::= "a" root "b" | "c"'
LISTS = 'root ::= item ("b" item)*\nitem ::= "a" | "c" root "c"'
TAIL = 'root ::= root "a" "b" | "c" "c" | "b" root'
GRAMMARS = {"dyck": DYCK, "lists": LISTS, "tail": TAIL}
CFG_TOKENS = [b"", b"a", b"b", b"c", b"aa", b"bb", b"cb", b"ab", b"ba", b"acb", b"cc", b"bab"]
LONGEST = 9


def sentences(name: str) -> set[bytes]:
    """All sentences up to LONGEST, by rewriting."""
    found: set[bytes] = {b"c"} if name == "dyck" else {b"a"} if name == "lists" else {b"cc"}
    while True:
        if name == "dyck":
            more = {b"a" + text + b"b" for text in found}
        elif name == "tail":
            more = {text + b"ab" for text in found} | {b"b" + text for text in found}
        else:
            items = {b"a"} | {b"c" + text + b"c" for text in found}
            more = items | {text + b"b" + item for text, item in product(found, items)}
        more = {text for text in more if len(text) <= LONGEST} - found
        if not more:
            return found
        found |= more


@pytest.mark.parametrize("name", GRAMMARS)
def test_bounds_of_recursive_grammars_beside_all_short_sentences(name: str) -> None:
    tokenizer = llmask.Tokenizer.from_bytes(CFG_TOKENS, eos=0)
    grammar = llmask.Compiler(tokenizer).gbnf(GRAMMARS[name])
    language = sentences(name)
    live = {text[:end] for text in language for end in range(len(text) + 1)}
    least = dict.fromkeys(language, 1)
    changed = True
    while changed:
        changed = False
        for text in live:
            for piece in CFG_TOKENS[1:]:
                behind = least.get(text + piece, 10**9) + 1
                if behind < least.get(text, 10**9):
                    least[text] = behind
                    changed = True
    n_points = 0
    for text in all_strings(b"abc", 4):
        if text not in live:
            continue
        matcher = grammar.matcher()
        matcher.accept_bytes(text)
        n_points += 1
        assert ends_of(matcher._sequence.generation).bound(matcher._sequence.configuration) >= least[text], text
        assert matcher.least_budget(exact=True) == least[text], text
    assert n_points > 10
