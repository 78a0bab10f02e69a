"""Grammars as rules: small worlds against the definition, counting, what is left out, and what is refused."""

from __future__ import annotations

import random
import sys
from itertools import product
from typing import Any

import pytest

import llmask
from llmask.compiling.compiled_grammar import CompiledGrammar
from llmask.compiling.made_grammar import MadeGrammar
from llmask.errors import GrammarError, LlmaskError, UnsatisfiableSchema
from llmask.grammar.expressions import EMPTY, Expression, Grammar, Lexeme, Reference, Repeat, choice, optional, sequence
from llmask.grammar.late import lower
from llmask.grammar.lowering import as_repetition, folded, provable_rules
from llmask.store.store import Store
from tests.reference.definition import read_mask
from tests.reference.expressions import derives

EOS = 256
R = Reference


@pytest.fixture(scope="module")
def store() -> Store:
    tokens = [bytes([byte]) for byte in range(256)] + [b"<eos>"]
    return llmask.Compiler(llmask.Tokenizer.from_bytes(tokens, eos=EOS, special=[EOS]))._newest_store()


def lexeme(store: Store, text: str) -> Lexeme:
    return Lexeme(store.nodes.literal(text.encode()), f'"{text}"')


def drawn(random: random.Random, letters: list[Lexeme], names: list[str], depth: int = 0) -> Expression:
    """A small expression; lexemes are single letters, so that greedy lexing is exact."""
    kind = random.random()
    if depth > 3 or kind < 0.3:
        return random.choice(letters)
    if kind < 0.5:
        return R(random.choice(names))
    if kind < 0.55:
        return EMPTY
    if kind < 0.75:
        return sequence(drawn(random, letters, names, depth + 1) for _ in range(random.randrange(2, 4)))
    if kind < 0.88:
        return choice(drawn(random, letters, names, depth + 1) for _ in range(random.randrange(2, 4)))
    low = random.choice([0, 0, 1, 2, 3])
    high = random.choice([None, low, low + 1, low + 2, 100_000])
    return Repeat(drawn(random, letters, names, depth + 1), low, high)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(60))
def test_small_worlds_agree_with_the_definition(store: Store, seed: int) -> None:
    """Ambiguous, left, right and mutually recursive, nullable and cyclic grammars over two letters."""
    draw = random.Random(seed)
    letters = [lexeme(store, "a"), lexeme(store, "b"), Lexeme(store.nodes.repeat(ord("a") + 3, 0, 1), "/a?/")]
    names = ["start", "x", "y"][: draw.randrange(1, 4)]
    grammar = Grammar({name: drawn(draw, letters, names) for name in names})
    texts = [bytes(text) for n in range(7) for text in product(b"ab", repeat=n)]
    wanted = {text for text in texts if derives(grammar, store.nodes.matches, text)}
    try:
        compiled = CompiledGrammar(MadeGrammar(store, lower(store.nodes, grammar).rules))
    except UnsatisfiableSchema:
        assert not wanted, str(grammar)
        return
    assert {text for text in texts if compiled.accepts(text)} == wanted, str(grammar)


def allowed_after(grammar: CompiledGrammar, text: bytes) -> set[int]:
    matcher = grammar.matcher()
    matcher.accept_bytes(text)
    return read_mask(matcher, 257)


def compiled(store: Store, rules: dict[str, Expression], *ignored: Lexeme) -> CompiledGrammar:
    return CompiledGrammar(MadeGrammar(store, lower(store.nodes, Grammar(rules, "start", ignored)).rules))


@pytest.mark.long
def test_a_long_bounded_repetition_is_two_states(store: Store) -> None:
    a, b = lexeme(store, "a"), lexeme(store, "b")
    rules = lower(store.nodes, Grammar({"start": Repeat(choice([a, b]), 3, 100_000)})).rules
    assert len(rules.state_rules) <= 5
    grammar = CompiledGrammar(MadeGrammar(store, rules))
    assert EOS not in allowed_after(grammar, b"ab")
    assert EOS in allowed_after(grammar, b"aba")
    assert allowed_after(grammar, b"a" * 99_999) == {ord("a"), ord("b"), EOS}
    assert allowed_after(grammar, b"b" * 100_000) == {EOS}


@pytest.mark.parametrize(("low", "high"), [(0, 100_000), (5, None), (100_000, 100_000), (2, 3)])
def test_what_is_counted_may_be_empty(store: Store, low: int, high: int | None) -> None:
    """Each empty run would be a count of its own, 100,000 items in one place."""
    a, b = lexeme(store, "a"), lexeme(store, "b")
    grammar = compiled(
        store,
        {
            "start": sequence([Repeat(sequence([optional(a), R("bs")]), low, high), lexeme(store, ";")]),
            "bs": choice([EMPTY, sequence([b, R("bs")])]),
        },
    )
    assert allowed_after(grammar, b"") == {ord("a"), ord("b"), ord(";")}
    assert grammar.accepts(b"abbab;")
    assert grammar.accepts(b"aaa;")
    assert grammar.accepts(b"aaaa;") == (high != 3)


def test_equal_repetitions_share_a_rule(store: Store) -> None:
    twice = Repeat(lexeme(store, "a"), 2, 7)
    rules = lower(store.nodes, Grammar({"start": sequence([twice, lexeme(store, ","), twice])})).rules
    assert rules.names == ["start", "repetition 0"]


def test_rules_without_use_are_left_out_with_a_warning(store: Store) -> None:
    a, nothing = lexeme(store, "a"), Lexeme(store.nodes.EMPTY, "/[^\\s\\S]/")
    rules = {
        "start": choice([a, R("loop"), sequence([a, R("none")]), sequence([a, Repeat(nothing), a])]),
        "loop": sequence([a, R("loop")]),
        "none": nothing,
        "unused": a,
    }
    found = lower(store.nodes, Grammar(rules, places={"loop": "line 2, column 1"}))
    assert found.warnings == [
        'rule "loop" (line 2, column 1) derives nothing and is left out',
        'rule "none" derives nothing and is left out',
        'rule "unused" is never used',
    ]
    assert found.rules.names == ["start"]
    grammar = CompiledGrammar(MadeGrammar(store, found.rules))
    assert [grammar.accepts(b"a" * n) for n in range(4)] == [False, True, True, False]


def test_what_is_ignored_gives_way_to_every_lexeme_of_a_rule(store: Store) -> None:
    """The lexeme of priority 0 as well, beside one of priority 1."""
    blank = lexeme(store, " ")
    spaces = Lexeme(store.nodes.repeat(blank.node, 1, None), "/ +/")
    other = Lexeme(lexeme(store, "a").node, '"a"', None, 1)
    found = lower(store.nodes, Grammar({"start": sequence([other, blank, other])}, ignored=(spaces,))).rules
    assert found.ignored_priority == -1
    grammar = CompiledGrammar(MadeGrammar(store, found))
    assert allowed_after(grammar, b"a ") == {ord(" "), ord("a")}
    assert allowed_after(grammar, b"a  ") == {ord(" ")}  # two blanks are ignored, and one is still to come


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"other": EMPTY}, 'the start rule "start" is not defined\n  define it'),
    ({"start": R("x")}, 'rule "start" uses "x", which is not defined\n  at line 1, column 1\n  define it'),
    (
        {"start": R("x"), "x": sequence([EMPTY, R("start")])},
        'the grammar derives nothing: rule "start" needs itself without end\n  at line 1, column 1\n'
        "  give it an alternative that ends",
    ),
    (
        {"start": R("x"), "x": Lexeme(0, "/[^\\s\\S]/", "X")},
        'the grammar derives nothing: rule "x" needs X, which matches no text\n'
        "  mend the pattern, or give an alternative to it",
    ),
]


@pytest.mark.parametrize(("rules", "message"), REFUSED)
def test_grammars_that_derive_nothing_say_why(store: Store, rules: dict[str, Expression], message: str) -> None:
    with pytest.raises(LlmaskError) as caught:
        lower(store.nodes, Grammar(rules, places={"start": "line 1, column 1"}))
    assert str(caught.value) == message
    assert isinstance(caught.value, GrammarError)


def calls_in(act: Any) -> int:
    """Functions of Python that are called."""
    n = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal n
        n += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        act()
    finally:
        sys.setprofile(before)
    return n


def test_parts_in_each_other_are_looked_at_once(store: Store) -> None:
    # whether a part derives something was asked again at each level: the square of the levels
    def nested(depth: int) -> Grammar:
        found: Expression = lexeme(store, "a")
        for _ in range(depth):
            found = Repeat(sequence([lexeme(store, "b"), found]), 1, None)
        return Grammar({"start": found})

    few, many = (calls_in(lambda depth=depth: lower(store.nodes, nested(depth))) for depth in (20, 80))
    assert many < 6 * few


def test_optional_parts_that_derive_nothing_are_left_out(store: Store) -> None:
    nothing, some = Lexeme(0, "/[^\\s\\S]/", "X"), lexeme(store, "a")
    rules = {
        "start": sequence(
            [optional(nothing), choice([sequence([some, nothing]), some]), optional(Repeat(nothing, 1, 2))]
        )
    }
    grammar = CompiledGrammar(MadeGrammar(store, lower(store.nodes, Grammar(rules)).rules))
    assert allowed_after(grammar, b"") == {ord("a")}
    assert allowed_after(grammar, b"a") == {EOS}


A, NOTHING, MAYBE = Lexeme(1, '"a"'), Lexeme(0, "/[]/"), Lexeme(2, "/a?/")


def test_a_long_chain_of_rules_takes_no_time() -> None:
    rules = {f"r{n}": R(f"r{n + 1}") for n in range(20_000)} | {"r20000": A}
    assert len(provable_rules(rules, lambda _: True, True)) == 20_001
    assert provable_rules(rules, lambda _: False, False) == set()


def test_recursion_at_the_ends_is_repetition() -> None:
    me, a, b, c, d = Reference("me"), *(Lexeme(number, letter) for number, letter in enumerate("abcd", 10))
    assert as_repetition("me", choice([sequence([a, me]), b])) == sequence([Repeat(a), b])
    assert as_repetition("me", choice([sequence([me, a]), b])) == sequence([b, Repeat(a)])
    both = choice([sequence([me, a, me]), sequence([b, me]), sequence([me, c]), d])
    one = [Repeat(b), d, Repeat(c)]
    assert as_repetition("me", both) == sequence([*one, Repeat(sequence([a, *one]))])
    assert as_repetition("me", choice([me, a])) == choice([me, a])
    assert as_repetition("me", sequence([a, me])) == sequence([a, me])
    assert as_repetition("me", sequence([a, me, b])) == sequence([a, me, b])


def test_repetitions_of_repetitions_are_one_where_no_count_is_left_out() -> None:
    letter = Lexeme(10, "a")

    def counts(low: int, high: int | None) -> set[int]:
        return set(range(low, 30 if high is None else min(high, 29) + 1))

    bounds = [(low, high) for low in range(4) for high in (*range(max(low, 1), 5), None)]
    n_folded = 0
    for inner in bounds:
        for outer in bounds:
            found = folded(Repeat(Repeat(letter, *inner), *outer))
            assert isinstance(found, Repeat)
            if found.part == letter:
                n_folded += 1
                wanted = {0} if outer[0] == 0 else set()
                for copies in counts(*outer):
                    low, high = copies * inner[0], None if inner[1] is None else copies * inner[1]
                    wanted |= counts(low, high) if copies else {0}
                assert {n for n in wanted if n < 12} == {n for n in counts(found.low, found.high) if n < 12}, (
                    inner,
                    outer,
                )
    assert n_folded > len(bounds) ** 2 / 2


def test_counts_beyond_every_text_are_open() -> None:
    """Fifty counters {0,100} in each other took two seconds a mask."""
    letter = Lexeme(10, "a")
    nested: Repeat = Repeat(letter, 0, 100)
    for _ in range(49):
        nested = Repeat(nested, 0, 100)
    assert folded(nested) == Repeat(letter, 0, None)
    assert folded(Repeat(Repeat(letter, 0, 1000), 0, 1000)) == Repeat(letter, 0, 10**6)
    assert folded(Repeat(Repeat(letter, 1, 10**5), 1, 10**5)) == Repeat(letter, 1, None)


def test_copies_of_a_rule_are_copies_of_what_it_repeats() -> None:
    part = Reference("a")
    rules = {
        "blanks": Repeat(part),
        "few": Repeat(part, 0, 3),
        "pairs": Repeat(part, 2, 2),
        "self": Repeat(Reference("self")),
    }
    assert folded(Repeat(Reference("blanks"), 0, 99_999), rules) == Repeat(part)
    assert folded(Repeat(Reference("blanks"), 2, 5), rules) == Repeat(part)
    assert folded(Repeat(Reference("few"), 0, 4), rules) == Repeat(part, 0, 12)
    assert folded(Repeat(Reference("pairs"), 0, 4), rules) == Repeat(Reference("pairs"), 0, 4)  # even numbers only
    assert folded(Repeat(Reference("self"), 0, 2), rules) == Repeat(Reference("self"))
    assert folded(Repeat(Reference("few"), 0, 4), {}) == Repeat(Reference("few"), 0, 4)
