"""The engine in plain Python (tests/reference/engine) against the definition, on small grammars."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import reduce
from itertools import permutations, product
from typing import Any

import pytest

import llmask
from llmask.compiling.made_grammar import MadeGrammar
from llmask.debug import configuration
from llmask.frontends.regex import compile_pattern
from llmask.grammar.kinds import CALL, CALL_NEW, CALL_OPEN, CALL_PLAIN, EDGE_FIELDS, SCAN, SKIP
from llmask.grammar.rules import one_lexeme
from llmask.store.store import Store
from llmask.vocabulary.strings import make_table
from llmask.vocabulary.vocabulary import EncoderData, from_bytes
from tests.conftest import FULL
from tests.exhaustive.grammars import (
    World,
    guarded_worlds,
    hard_worlds,
    random_world,
    ranked_world,
    set_worlds,
    with_ends,
)
from tests.exhaustive.test_grammars import EOS, SPECIAL, TOKENS, described, language
from tests.exhaustive.test_unique import TOKENS as UNIQUE_TOKENS
from tests.exhaustive.test_unique import arrays_of, joined
from tests.exhaustive.unique import UniqueWorld
from tests.exhaustive.worlds import ALPHABET, expressions, to_dfa, to_node
from tests.reference.bpe import merge_bytes, ranks_of_tokens
from tests.reference.definition import Language, all_strings, finite_language, read_mask
from tests.reference.derivations import guards_never_strand
from tests.reference.engine import regex
from tests.reference.engine.canonical import Encodings, documents
from tests.reference.engine.mask import Configuration, Engine
from tests.reference.engine.rules import read_rules
from tests.reference.engine.trie import make_trie
from tests.reference.regex_nodes import RegexNodes

BYTES_OF = [data if token not in {EOS, *SPECIAL} else b"" for token, data in enumerate(TOKENS)]


def check_values(world: UniqueWorld, nodes: RegexNodes, known: Language) -> None:
    """Every place of a finite language."""
    tokens = [b"", *UNIQUE_TOKENS[1:]]
    engine = Engine(world.rules, nodes.expressions, tokens, world.make_variant)
    for prefix in sorted(known.live):
        at = engine.read(prefix)
        assert at is not None, prefix
        found = engine.allowed(at) | ({EOS} if engine.may_end(at) else set())
        if world.rules.ignored is None:
            assert found == known.allowed_tokens(prefix, UNIQUE_TOKENS, [], EOS), prefix
        else:
            spaced = {token for token in found if b" " not in tokens[token]}
            wanted = known.allowed_tokens(prefix, UNIQUE_TOKENS, [], EOS)
            assert spaced == {token for token in wanted if b" " not in tokens[token]}, prefix


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


def test_the_tokens_inside_a_lexeme_are_those_of_the_product(rng: random.Random, scaled: Callable[[int], int]) -> None:
    store = Store(llmask.Tokenizer.from_bytes(TOKENS, eos=EOS, special=SPECIAL), llmask.Limits())
    n_inside = 0
    for _ in range(scaled(20)):
        seed, nodes = rng.random(), RegexNodes()
        engine = Engine(random_world(nodes, random.Random(seed), False).rules, nodes.expressions, BYTES_OF)
        if engine.start() is None:
            continue
        matcher = MadeGrammar(store, random_world(store.nodes, random.Random(seed), False).rules).matcher()
        for _ in range(6):
            allowed = read_mask(matcher, len(TOKENS))
            at, mask = engine.read(matcher.text()), configuration(matcher).mask
            assert at is not None
            assert mask is not None
            assert set(mask.inside) == engine.inside(at), matcher.text()
            assert {*mask.inside, *mask.crossing} == engine.allowed(at), matcher.text()
            n_inside += len(mask.inside)
            if allowed == {EOS}:
                break
            matcher.accept_token(rng.choice(sorted(allowed - {EOS})))
    assert n_inside > scaled(20)


@pytest.mark.parametrize("spaces", [b"", b" "])
@pytest.mark.parametrize("kind", [CALL_NEW, CALL_PLAIN])
@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 2), (1, 2), (1, 9)])
def test_values_that_differ_give_the_masks_of_the_definition(kind: int, low: int, high: int, spaces: bytes) -> None:
    nodes = RegexNodes()
    world = UniqueWorld(nodes, spaces)
    item = world.value(world.words(b"a", b"ab", b"b"))
    world.start_with(world.array(item, kind, low, high, is_finite=True))
    documents = [text for text in arrays_of((b"a", b"ab", b"b"), min(high, 3)) if low == 0 or text != b"[]"]
    check_values(world, nodes, finite_language(documents, 40))


def test_lists_of_lists_that_differ_give_the_masks_of_the_definition() -> None:
    """Values of several lexemes, open and not; and the ones that are there already, beside new ones."""
    inner = [b"(" + b",".join(items) + b")" for n in (1, 2) for items in permutations((b"a", b"b"), n)]
    for outer in (CALL_NEW, CALL_OPEN):
        nodes = RegexNodes()
        world = UniqueWorld(nodes)
        values = world.array(
            world.value(world.words(b"a", b"b")), CALL_NEW, 1, marks=(b"(", b",", b")"), is_finite=True
        )
        world._lexemes[values] = world.words(*inner)
        world.start_with(world.array(values, outer, high=2, is_finite=outer == CALL_NEW))
        known = finite_language(arrays_of(inner, 2), 40)
        if outer == CALL_NEW:
            check_values(world, nodes, known)
            continue
        engine = Engine(world.rules, nodes.expressions, make_variant=world.make_variant)
        for items in product(inner, repeat=2):
            assert engine.accepts(joined(items)) == (items[0] != items[1])
            assert (engine.read(b"[" + b",".join(items)) is None) == (items[0] == items[1])


def test_a_value_that_is_there_again_changes_no_set() -> None:
    """`[x,x*,...]`: a star is written behind a value that is in the set, and behind no other."""
    nodes = RegexNodes()
    world = UniqueWorld(nodes)
    item, rules = world.value(world.words(b"a", b"b")), world.rules
    rule = rules.rule("list")
    start, behind, again = rules.start_state(rule), rules.state(rule), rules.state(rule)
    rules.call_new(start, item, behind, kind=CALL_OPEN)
    rules.call_again(start, item, again)
    rules.scan(again, nodes.literal(b"*"), behind)
    rules.scan(behind, nodes.literal(b","), start)
    rules.final(behind)
    rules.start = rule
    engine = Engine(rules, nodes.expressions)
    for length in range(1, 5):
        for items in product((b"a", b"b"), repeat=length):
            for stars in product((b"", b"*"), repeat=length):
                text = b",".join(map(b"".join, zip(items, stars, strict=True)))
                wanted = all((item in items[:at]) == (stars[at] == b"*") for at, item in enumerate(items))
                assert engine.accepts(text) == wanted, text


SMALL_PATTERNS = ("(ab|ba){1,3}", "a{0,4}b?", "(a|b) ?(ab|a)?", "[ab ]{2,4}", "(aab|ab)+a")
SMALL_TOKENS = [b"a", b"b", b" ", b"ab", b"aa", b"aab", b" a", b"ba", b"</s>"]


@pytest.mark.parametrize("pattern", SMALL_PATTERNS)
def test_canonical_masks_are_those_of_all_encodings(pattern: str) -> None:
    """Merges of pairs by the rank of what they make, in words that a pattern cuts out; every document to 9 bytes."""
    ranks = ranks_of_tokens(SMALL_TOKENS[:-1])
    merges = make_table([b" ".join(half.replace(b" ", "Ġ".encode()) for half in pair) for pair in ranks])
    encoder = EncoderData(kind="bpe", merges=merges, patterns=(r" ?[ab]+| ",))
    tokenizer = llmask.Tokenizer(from_bytes(SMALL_TOKENS, eos=8, encoder=encoder))
    numbers = {data: token for token, data in enumerate(SMALL_TOKENS)}

    def encode(text: bytes) -> list[int]:
        words = re.findall(rb" ?[ab]+| ", text)
        return [numbers[symbol] for word in words for symbol in merge_bytes(word, ranks)]

    nodes: Any = RegexNodes()
    node = compile_pattern(nodes, pattern)
    engine = Engine(one_lexeme(node, nodes.is_nullable(node)), nodes.expressions)
    texts = list(documents(engine, b"ab ", 9))
    assert sorted(texts) == [text for text in sorted(all_strings(b"ab ", 9)) if re.fullmatch(pattern.encode(), text)]
    encodings = Encodings(texts, encode, 8)
    grammar, waiting, n_ends = llmask.Compiler(tokenizer, canonical=True).regex(pattern), [()], 0
    while waiting:
        tokens: tuple[int, ...] = waiting.pop()
        matcher = grammar.matcher()
        matcher.accept_tokens(tokens)
        if len(matcher.text()) > 4:
            continue  # in an endless grammar the longest documents are cut off
        allowed = encodings.allowed(tokens)
        assert read_mask(matcher, len(SMALL_TOKENS)) == allowed, matcher.text()
        n_ends += 8 in allowed
        waiting += [(*tokens, token) for token in allowed - {8}]
    assert n_ends > 1


def test_the_trie_is_that_of_the_product() -> None:
    trie = llmask.Tokenizer.from_bytes(TOKENS, eos=EOS, special=SPECIAL)._parts.trie
    found = make_trie(BYTES_OF)
    assert [node.byte for node in found] == [int(word) & 0xFF for word in trie.node]
    assert [node.end for node in found] == [int(word) >> 20 & 0x3FFFFF for word in trie.node]
    assert [min(node.tokens, default=-1) for node in found] == [(int(word) >> 42) - 1 for word in trie.node]


@pytest.mark.parametrize("size", [1, 2, 3, 4])
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


@pytest.mark.parametrize("size", [1, 2, 3])
def test_automata_among_expressions_are_the_expressions_they_were_made_of(size: int) -> None:
    nodes = RegexNodes()
    class_of_byte = [ALPHABET.find(byte) if byte in ALPHABET else ALPHABET.find(b"c") for byte in range(256)]
    for expression in expressions(size):
        dfa, made = to_dfa(expression), nodes.expressions[to_node(nodes, expression)]
        live = dfa.live_states()
        after = [[state if state in live else -1 for state in row] for row in dfa.step]
        numbers = regex.Automaton(class_of_byte, after, dfa.accepting)
        read = regex.automaton(numbers, 0 if live else -1)
        assert regex.is_empty(read) == (not live), expression
        assert regex.is_empty(regex.both([read, regex.negated(made)])), expression
        assert regex.is_empty(regex.both([made, regex.negated(read)])), expression


@pytest.mark.parametrize("one", [regex.EMPTY, regex.EPSILON, regex.byte_set(b"a"), regex.ALL])
@pytest.mark.parametrize(("low", "high"), [(0, 0), (0, 1), (0, None), (1, 1), (1, 2), (2, None)])
def test_what_is_repeated_may_be_nothing(one: regex.Regex, low: int, high: int | None) -> None:
    made = regex.repeated(one, low, high)
    assert regex.is_nullable(made) == (low == 0 or regex.is_nullable(one))
    assert regex.is_empty(made) == (low > 0 and one == regex.EMPTY)


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


def test_of_lexemes_that_end_together_the_highest_are_taken(rng: random.Random, costly: Callable[[int], int]) -> None:
    n_live = n_stay = 0
    for _ in range(costly(80)):
        nodes = RegexNodes()
        world = ranked_world(nodes, rng)
        ranked, engine = Ranked(world), Engine(world.rules, nodes.expressions, [b"a", b"b", b"c", b" "])
        assert (engine.start() is None) == (ranked.network is None)
        for data in all_strings(b"abc ", 3) if ranked.network is not None else ():
            runs, at = ranked.start, engine.read(data)
            for number in range(len(data)):
                runs = ranked.step(runs, data[number : number + 1])
            assert (at is not None) == (runs != frozenset()), (data, described(world), world.rules.priorities)
            if at is not None:
                wanted = {token for token in range(4) if ranked.step(runs, b"abc "[token : token + 1])}
                assert engine.allowed(at) == wanted, (data, described(world), world.rules.priorities)
                assert engine.may_end(at) == ranked.is_document(runs), (data, described(world), world.rules.priorities)
                n_live += 1
                n_stay += data.endswith(b"c")
    assert n_live > costly(80) * 10
    assert n_stay > costly(80)


@pytest.mark.parametrize("spaces", ["none", "between", "at ends", "at ends, repeated"])
def test_hard_grammars_give_the_masks_of_the_definition(spaces: str, effort: float) -> None:
    every = 1 if effort >= FULL else 4  # worlds; planted faults are found so, too
    nodes = RegexNodes()
    has = spaces != "none"
    worlds = [*hard_worlds(nodes, has), *guarded_worlds(nodes, has), *set_worlds(nodes, has)]
    if "at ends" in spaces:
        worlds = list(with_ends(worlds, "repeated" in spaces))
    assert sum(check(world, nodes, 4 - 2 * ("ends" in spaces)) for world in worlds[::every]) > 300 // every
