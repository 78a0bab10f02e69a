"""The engine in plain Python (tests/reference/engine) against the definition, on small grammars."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import reduce
from typing import Any

import pytest

import llmask
from tests.exhaustive.grammars import World, guarded_worlds, hard_worlds, random_world, set_worlds
from tests.exhaustive.test_grammars import EOS, SPECIAL, TOKENS, described, language
from tests.exhaustive.worlds import ALPHABET, expressions, to_dfa, to_node
from tests.reference.definition import Language, all_strings
from tests.reference.derivations import guards_never_strand
from tests.reference.engine import regex
from tests.reference.engine.mask import Configuration, Engine
from tests.reference.engine.trie import make_trie
from tests.reference.regex_nodes import RegexNodes

BYTES_OF = [data if token not in {EOS, *SPECIAL} else b"" for token, data in enumerate(TOKENS)]


def check(world: World, nodes: RegexNodes, max_prefix: int) -> int:
    """Every place after at most so many bytes; how many there were."""
    known = language(world, max_prefix)
    engine = Engine(world.rules, nodes.expressions, BYTES_OF)
    start = engine.start()
    assert (start is None) == (known is None), described(world)
    if start is None or known is None:
        return 0
    return sum(check_place(world, engine, known, prefix, max_prefix) for prefix in sorted(known.live))


def check_place(world: World, engine: Engine, known: Language, prefix: bytes, max_prefix: int) -> int:
    if len(prefix) > max_prefix:
        return 0
    at: Any = engine.start()
    for byte in prefix:
        at = engine.step(at, byte)
        assert isinstance(at, Configuration), f"{prefix!r}\n{described(world)}"
    wanted = known.allowed_tokens(prefix, TOKENS, SPECIAL, EOS)
    found = engine.allowed(at) | ({EOS} if engine.may_end(at) else set())
    assert found == wanted, f"after {prefix!r}: {found} instead of {wanted}\n{described(world)}"
    assert engine.inside(at) <= found, f"after {prefix!r}\n{described(world)}"
    return 1


@pytest.mark.parametrize("with_spaces", [False, True])
def test_hard_grammars_give_the_masks_of_the_definition(with_spaces: bool) -> None:
    nodes = RegexNodes()
    worlds = [*hard_worlds(nodes, with_spaces), *guarded_worlds(nodes, with_spaces), *set_worlds(nodes, with_spaces)]
    assert sum(check(world, nodes, 4) for world in worlds) > 300


@pytest.mark.parametrize("with_guards", [False, True])
def test_random_grammars_give_the_masks_of_the_definition(
    with_guards: bool, rng: random.Random, costly: Callable[[int], int]
) -> None:
    n_checked = 0
    while n_checked < costly(40):
        nodes = RegexNodes()
        world = random_world(nodes, rng, with_guards)
        if not with_guards or guards_never_strand(world.rules, world.lexemes):
            check(world, nodes, 3)
            n_checked += 1


def test_the_trie_is_that_of_the_product() -> None:
    trie = llmask.Tokenizer.from_bytes(TOKENS, eos=EOS, special=SPECIAL).trie
    found = make_trie(BYTES_OF)
    assert [node.byte for node in found] == [int(word) & 0xFF for word in trie.node]
    assert [node.end for node in found] == [int(word) >> 20 & 0x3FFFFF for word in trie.node]
    assert [min(node.tokens, default=-1) for node in found] == [(int(word) >> 42) - 1 for word in trie.node]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_expressions_have_the_language_of_the_automata(size: int) -> None:
    nodes = RegexNodes()
    strings = all_strings(ALPHABET, 3)
    for expression in expressions(size):
        dfa, made = to_dfa(expression), nodes.expressions[to_node(nodes, expression)]
        assert regex.is_nullable(made) == dfa.accepting[0], expression
        assert regex.is_empty(made) == (not dfa.live_states()), expression
        for string in strings:
            left = reduce(regex.derivative, string, made)
            assert regex.is_nullable(left) == dfa.accepting[dfa.state_after(string)], (expression, string)
