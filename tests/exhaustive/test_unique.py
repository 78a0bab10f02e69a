"""Values that must differ: whole masks against definition and reference engine, with tokens that cross values."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from itertools import permutations, product
from typing import Any

import pytest

import llmask
from llmask.compiling.made_grammar import MadeGrammar
from llmask.grammar.kinds import CALL_NEW, CALL_OPEN, CALL_PLAIN, UNBOUNDED
from llmask.store.store import Store
from tests.exhaustive.unique import UniqueWorld
from tests.reference.definition import Language, finite_language, read_mask
from tests.reference.engine.mask import Engine
from tests.reference.regex_nodes import RegexNodes

PIECES = """[ ] , a b { } ! ( ) " x y [[ ]] ], ,[ [a ,a a, ,b b, a] b] a,b a,b, ,a,b ,ab [a,b [a,b] ab ba aa ,aa, a,aa
    ],[ ],[a ],[a] [[a] ,[a],[b "," "x" "," ",", ","" "x","y" "x"," x","y "," "," ["x ["x"," "" {a {a,"x" "x", ,"x","y
    (a a) ),( (a),(b (a,b),( b,a ,b] ,a] ,( a),"""
TOKENS = [b"</s>", *dict.fromkeys(piece.encode() for piece in PIECES.split()), b" ", b", ", b' "', b"a, b", b'x", "x"']
TOKENS += [b'","x', b'","y', b'x","x', b'"x","x', b'","xy', b'"",""']
EOS = 0
LONGEST = max(map(len, TOKENS[1:]))


@pytest.fixture(scope="module")
def store() -> Any:
    return Store(llmask.Tokenizer.from_bytes(TOKENS, eos=EOS, special=[]), llmask.Limits())


def check_definition(store: Store, world: UniqueWorld, known: Language, n_walks: int, rng: random.Random) -> None:
    """Masks on random ways through the grammar are those of the definition."""
    grammar = MadeGrammar(store, world.rules, make_variant=world.make_variant)
    for _ in range(n_walks):
        matcher = grammar.matcher()
        while len(matcher.text()) + LONGEST <= known.max_bytes:
            text = matcher.text()
            wanted = known.allowed_tokens(text, TOKENS, [], EOS)
            found = read_mask(matcher, len(TOKENS))
            assert found == wanted, (
                text,
                sorted(TOKENS[token] for token in found - wanted),
                sorted(TOKENS[token] for token in wanted - found),
            )
            assert matcher.is_accepting() == (text in known.sentences)
            token = rng.choice(sorted(wanted))
            if token == EOS:
                break
            matcher.accept_token(token)


def joined(items: Iterable[bytes]) -> bytes:
    return b"[" + b",".join(items) + b"]"


def arrays_of(values: Iterable[bytes], most: int) -> Iterator[bytes]:
    """All arrays of different values."""
    for n in range(most + 1):
        yield from map(joined, permutations(values, n))


@pytest.mark.parametrize("kind", [CALL_NEW, CALL_PLAIN])
@pytest.mark.parametrize("high", [1, 2, 3, UNBOUNDED])
@pytest.mark.parametrize("values", [(b"a",), (b"a", b"b"), (b"a", b"ab", b"b", b"ba"), (b"a", b"aa", b"aaa")])
def test_arrays_of_few_values(
    store: Store, values: tuple[bytes, ...], high: int, kind: int, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    world = UniqueWorld(store.nodes)
    item = world.value(world.words(*values))
    world.start_with(world.array(item, kind, high=high, is_finite=True))
    check_definition(store, world, finite_language(arrays_of(values, min(high, len(values))), 40), scaled(30), rng)


def test_arrays_in_arrays(store: Store, rng: random.Random, scaled: Callable[[int], int]) -> None:
    # ((a,b),(b)): inner values differ, and so do the inner lists; in a variant an inner list is one lexeme
    inner = [b"(" + b",".join(items) + b")" for n in (1, 2) for items in permutations((b"a", b"b"), n)]
    world = UniqueWorld(store.nodes)
    values = world.array(world.value(world.words(b"a", b"b")), CALL_NEW, 1, marks=(b"(", b",", b")"), is_finite=True)
    world._lexemes[values] = world.words(*inner)
    world.start_with(world.array(values, CALL_NEW, is_finite=True))
    check_definition(store, world, finite_language(arrays_of(inner, 4), 40), scaled(60), rng)


def test_one_branch_tracks_and_the_other_does_not(
    store: Store, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    world = UniqueWorld(store.nodes)
    tracked = world.array(world.value(world.words(b"a", b"b", b"ab")), CALL_NEW, is_finite=True)
    free = world.plain_array(world.value(world.words(b"a", b"ba")), marks=(b"[", b",", b"]!"))
    world.start_with(tracked, free)
    plain = [joined(items) + b"!" for n in range(1, 6) for items in product((b"a", b"ba"), repeat=n)]
    known = finite_language([*arrays_of((b"a", b"b", b"ab"), 3), *plain], 10)
    check_definition(store, world, known, scaled(60), rng)


def strings(most: int) -> list[bytes]:
    return [b'"' + bytes(word) + b'"' for n in range(most + 1) for word in product(b"xy", repeat=n)]


def unique_strings(most_bytes: int) -> list[bytes]:
    """All arrays of different strings over x and y of at most so many bytes."""
    found, waiting = [b"[]"], [[string] for string in strings(most_bytes - 4)]
    while waiting:
        items = waiting.pop()
        found.append(joined(items))
        room = most_bytes - len(found[-1]) - 1
        waiting += [[*items, string] for string in strings(room - 2) if string not in items]
    return found


def test_arrays_of_any_strings(store: Store, rng: random.Random, scaled: Callable[[int], int]) -> None:
    # whatever can go on can be completed within 6 bytes more: `"xyx"]` at worst
    everything = unique_strings(15)
    live = {text[:end] for text in everything for end in range(len(text) + 1)}
    known = Language(
        frozenset(text for text in live if len(text) <= 9), frozenset(text for text in everything if len(text) <= 9), 9
    )
    n_asked = []
    for kind in (CALL_NEW, CALL_PLAIN, CALL_OPEN):
        world = UniqueWorld(store.nodes)
        item = world.value(string_lexeme(store.nodes))
        world.start_with(world.array(item, kind))
        check_definition(store, world, known._replace(max_bytes=9 + LONGEST), 0, rng)
        grammar = MadeGrammar(store, world.rules, make_variant=world.make_variant)
        for _ in range(scaled(150)):
            matcher = grammar.matcher()
            while True:
                text = matcher.text()
                short = [token for token, data in enumerate(TOKENS) if token != EOS and len(text + data) <= 9]
                wanted = {token for token in short if text + TOKENS[token] in known.live}
                found = read_mask(matcher, len(TOKENS))
                assert found & set(short) == wanted, (text, found, wanted)
                assert matcher.is_accepting() == (EOS in found) == (text in known.sentences)
                if not wanted:
                    break
                matcher.accept_token(rng.choice(sorted(wanted)))
        n_asked.append(len(world.asked))
    assert n_asked[0] > n_asked[1] > 0 == n_asked[2]


@pytest.mark.parametrize("kind", [CALL_NEW, CALL_PLAIN])
@pytest.mark.parametrize(("most", "high"), [(0, 1), (1, 2), (1, 3), (2, 3)])
def test_arrays_of_short_strings_that_are_never_used_up(
    store: Store, kind: int, most: int, high: int, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    world = UniqueWorld(store.nodes)
    world.start_with(world.array(world.value(string_lexeme(store.nodes, most)), kind, high=high))
    check_definition(store, world, finite_language(arrays_of(strings(most), high), 40), scaled(60), rng)


def string_lexeme(nodes: Any, most: int | None = None) -> int:
    letters = nodes.union([nodes.literal(b"x"), nodes.literal(b"y")])
    return int(nodes.concat([nodes.literal(b'"'), nodes.repeat(letters, 0, most), nodes.literal(b'"')]))


def unique_world(nodes: Any, rng: random.Random, shape: int) -> UniqueWorld:
    """Arrays in arrays, alternatives, objects: what `shape` and chance say."""
    world = UniqueWorld(nodes, rng.choice([b"", b" "]))
    few = world.value(world.words(b"a", b"ab", b"b"))
    many = world.value(nodes.repeat(world.words(b"a", b"b"), 1, rng.choice([2, None])))
    text = world.value(string_lexeme(nodes))
    short = world.value(string_lexeme(nodes, 1))
    closed = rng.choice([CALL_NEW, CALL_PLAIN])
    either = rng.choice([closed, CALL_OPEN])
    item, kind, is_finite = rng.choice([(few, closed, True), (many, closed, True), (text, either, False)])
    if shape == 0 and rng.random() < 0.4:  # never used up
        return world.start_with(world.array(short, closed, rng.choice([0, 1]), rng.choice([2, 3])))
    if shape == 0:
        low, high = rng.choice([0, 1]), rng.choice([1, 2, 5, UNBOUNDED])
        return world.start_with(world.array(item, kind, low, high, is_finite=is_finite))
    if shape == 1:
        inner = world.array(text, either, marks=(b"(", b",", b")"))
        return world.start_with(world.array(inner, CALL_OPEN))
    if shape == 2:
        return world.start_with(
            world.array(few, closed, is_finite=True), world.array(text, either), world.plain_array(item)
        )
    if shape == 3:
        names = rng.sample([b"a", b"b", b"ba"], 2)
        high = rng.choice([2, 3, UNBOUNDED])
        return world.start_with(world.members(names, text, either, high, rng.choice([[], [0], [0, 1]])))
    inner = world.plain_array(world.array(text, either, marks=(b"(", b",", b")")))
    return world.start_with(inner, world.array(few, closed, is_finite=True))


@pytest.mark.parametrize("shape", range(5))
def test_masks_are_those_of_the_reference_engine(
    store: Store, shape: int, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    n_refused = 0
    for _ in range(scaled(8)):
        seed = rng.random()
        world = unique_world(store.nodes, random.Random(seed), shape)
        nodes = RegexNodes()
        copy = unique_world(nodes, random.Random(seed), shape)
        grammar = MadeGrammar(store, world.rules, make_variant=world.make_variant)
        engine = Engine(copy.rules, nodes.expressions, [b"", *TOKENS[1:]], copy.make_variant)
        for _ in range(3):
            matcher, at = grammar.matcher(), engine.start()
            for _ in range(14):
                assert at is not None
                wanted = engine.allowed(at) | ({EOS} if engine.may_end(at) else set())
                found = read_mask(matcher, len(TOKENS))
                assert found == wanted, (
                    matcher.text(),
                    [TOKENS[token] for token in found - wanted],
                    [TOKENS[token] for token in wanted - found],
                )
                assert matcher.is_accepting() == (EOS in wanted)
                n_refused += len(TOKENS) - len(wanted)
                choices = sorted(wanted - {EOS})
                if not choices:
                    break
                token = rng.choice(choices)
                matcher.accept_token(token)
                at = engine.read(matcher.text())
    assert n_refused > 0
