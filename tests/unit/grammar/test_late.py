"""Rules with a parameter, as sequences are read: the languages of the dialect's documentation, and long lists."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import permutations, product
from typing import Any

import pytest

import llmask
from llmask.errors import LimitExceeded, LlmaskError
from llmask.frontends.lark.tokens import read_change, read_condition
from llmask.frontends.places import Source
from llmask.grammar import late
from llmask.grammar.expressions import Call, Conditional, Expression, Lexeme, Reference, Repeat, choice, sequence
from llmask.grammar.late import Provable, instance_name, instance_of, written_out
from tests.reference.definition import all_strings, read_mask

LETTERS = b"abcde"
EOS = len(LETTERS)
TOKENS = [bytes([letter]) for letter in LETTERS] + [b"<eos>"]


@pytest.fixture(scope="module")
def compiler() -> llmask.Compiler:
    return llmask.Compiler(llmask.Tokenizer.from_bytes(TOKENS, eos=EOS))


PERMUTATION = """start: perm::0x0
perm::_: "" %if is_ones([0:3])
       | "a" perm::set_bit(0) %if bit_clear(0)
       | "b" perm::set_bit(1) %if bit_clear(1)
       | "c" perm::set_bit(2) %if bit_clear(2)
"""
EACH = PERMUTATION.replace("%if bit_clear(0)", "").replace("%if bit_clear(1)", "").replace("%if bit_clear(2)", "")
COUNTED = """start: aa::0
aa::_: "b" aa::incr(_) %if lt(_, 3)
     | bb::_
bb::_: "a" bb::incr(_) %if lt(_, 3)
     | ""
"""
AT_MOST = """start: lst::0x0
lst::_: "a" lst::incr([0:3]) %if lt([0:3], 1)
      | "b" lst::incr([3:6]) %if lt([3:6], 2)
      | ""
"""
PICK = 'start: perm::0x0 "e"\nperm::_: "" %if bit_count_ge(_, 1)\n' + "".join(
    f' | "{letter}" perm::set_bit({n}) %if and(bit_clear({n}), bit_count_lt(_, 2))\n' for n, letter in enumerate("abc")
)
NESTED = """start: x::0
x::_: "a" x::incr([0:2]) "b" %if lt([0:2], 2)
    | "c" y "c" | y
y: "d" z::3?
z::_: "e" %if eq(_, 3)
"""


def within(text: str, letters: str) -> bool:
    return set(text) <= set(letters)


LANGUAGES: dict[str, tuple[str, Callable[[str], bool]]] = {
    "permutation": (PERMUTATION, lambda s: s in {"".join(p) for p in permutations("abc")}),
    "each": (EACH, lambda s: set(s) == set("abc")),
    "counted": (COUNTED, lambda s: len(s) <= 3 and s == "b" * s.count("b") + "a" * s.count("a")),
    "at most": (AT_MOST, lambda s: within(s, "ab") and s.count("a") <= 1 and s.count("b") <= 2),
    "pick": (PICK, lambda s: s[-1:] == "e" and within(s[:-1], "abc") and 1 <= len(set(s[:-1])) == len(s[:-1]) <= 2),
    "nested": (NESTED, lambda s: s in {"a" * n + y + "b" * n for n in range(3) for y in ("d", "de", "cdc", "cdec")}),
}


@pytest.mark.parametrize("name", LANGUAGES)
def test_masks_are_those_of_the_language(compiler: llmask.Compiler, name: str) -> None:
    text, holds = LANGUAGES[name]
    longest = 8 if name == "nested" else 5
    letters = "abcde" if name in ("pick", "nested") else "abc"
    words = (
        ["a" * n + y + "b" * n for n in range(4) for y in ("d", "de", "cdc", "cdec", "e", "c")]
        if name == "nested"
        else ["".join(word) for n in range(longest + 1) for word in product(letters, repeat=n)]
    )
    sentences = {word for word in words if holds(word)}
    assert sentences
    live = {word[:end] for word in sentences for end in range(len(word) + 1)}
    grammar = compiler.lark(text)
    tried = [word.decode() for word in all_strings(letters.encode(), 4)]
    for word in tried:
        matcher = grammar.matcher()
        if word not in live:
            if name != "each":  # whose sentences go on for ever
                with pytest.raises(LlmaskError):
                    matcher.accept_bytes(word.encode())
            continue
        matcher.accept_bytes(word.encode())
        expected = {n for n, letter in enumerate(LETTERS.decode()) if word + letter in live}
        expected |= {EOS} if word in sentences else set()
        if name != "each":
            assert read_mask(matcher, EOS + 1) == expected, word
        assert matcher.is_accepting() == (word in sentences)


@pytest.mark.long
def test_a_list_of_ten_thousand_elements_stays_flat(compiler: llmask.Compiler) -> None:
    grammar = compiler.lark('start: lst::0\nlst::_: "a" lst::incr(_) %if lt(_, 20000) | ""')
    matcher = grammar.matcher()
    items = []
    for n in range(10_000):
        matcher.accept_token(0)
        if n in (100, 9_999):
            items.append(grammar._loaded.generation.table.view.n_items)
    assert items[0] == items[1] < 10
    assert matcher.is_accepting()
    assert matcher.validate_tokens([0, 0, EOS]) == 3


def test_the_highest_of_64_bits_are_read(compiler: llmask.Compiler) -> None:
    rules = "".join(f' | "{"abcd"[n]}" p::set_bit({60 + n}) %if bit_clear({60 + n})\n' for n in range(4))
    matcher = compiler.lark(f'start: p::0x1\np::_: "" %if eq(_, 0xf000000000000001)\n{rules}').matcher()
    matcher.accept_tokens([2, 0, 3])
    assert read_mask(matcher, EOS + 1) == {1}
    matcher.accept_token(1)
    assert matcher.is_accepting()


def test_tables_are_begun_anew(compiler: llmask.Compiler) -> None:
    tokenizer = llmask.Tokenizer.from_bytes(TOKENS, eos=EOS)
    small = llmask.Compiler(tokenizer, limits=llmask.Limits(renew_grammar_bytes=1))
    grammar = small.lark(PERMUTATION.replace('"c"', "/[cd]+/"))
    first = grammar._loaded.generation
    matcher = grammar.matcher()
    matcher.accept_token(0)
    matcher._sequence.move(grammar._loaded.generation_after(first))
    assert read_mask(matcher, EOS + 1) == {1, 2, 3}
    matcher.accept_tokens([2, 3, 1])
    assert matcher.is_accepting()


def test_priorities_hold_in_rules_that_are_written_late(compiler: llmask.Compiler) -> None:
    text = 'start: x::0\nx::_: "a" x::incr(_) %if lt(_, 1) | NAME "c" | "ab" "d"\nNAME: /[ab]+/'
    matcher = compiler.lark(text).matcher()
    matcher.accept_bytes(b"ab")
    assert read_mask(matcher, EOS + 1) == {0, 1, 3}, "the string comes before the pattern"
    matcher = compiler.lark(text, ties="all").matcher()
    matcher.accept_bytes(b"ab")
    assert read_mask(matcher, EOS + 1) == {0, 1, 2, 3}


def test_captures_around_rules_with_a_parameter(compiler: llmask.Compiler) -> None:
    text = PERMUTATION.replace("start: perm::0x0", "start: whole\nwhole[capture]: perm::0")
    matcher = compiler.lark(text).matcher()
    matcher.accept_bytes(b"bca")
    assert matcher.captures() == {"whole": b"bca"}


@pytest.mark.long
def test_unbounded_use_without_text_meets_a_limit(compiler: llmask.Compiler) -> None:
    grammar = 'start: a::0\na::_: a::incr(_) | "a" %if lt(_, 5)'
    with pytest.raises(LimitExceeded):
        compiler.lark(grammar).matcher().accept_bytes(b"a")


def test_exact_lexing_refuses_parameters(compiler: llmask.Compiler) -> None:
    with pytest.raises(llmask.GrammarError, match="exact lexing has to know all rules"):
        compiler.lark(PERMUTATION, lexer="exact")


A = Lexeme(5, "a")


def call(name: str, change: str) -> Call:
    return Call(name, read_change(Source(change), 0)[0])


def where(condition: str, part: Expression) -> Conditional:
    return Conditional(read_condition(Source(condition), 0)[0], part)


def provable(rules: dict[str, Expression]) -> Provable:
    return Provable(rules, lambda lexeme: True, True)


def test_a_rule_is_written_out_for_a_value() -> None:
    rule = choice([where("bit_set(0)", A), sequence([A, call("r", "incr(_)")]), where("bit_clear(0)", Repeat(A))])
    assert written_out(rule, 1) == choice([A, sequence([A, Reference("r::2")])])
    assert written_out(where("bit_set(0)", A), 0) is None
    assert written_out(Repeat(where("bit_set(0)", A)), 0) == sequence(())
    assert instance_of(instance_name("r", 7)) == ("r", 7)
    assert instance_of("plain") == ("plain", 0)


def test_circles_derive_nothing_and_ways_out_are_found() -> None:
    rules = {
        "down": choice([where("is_zeros(_)", A), where("gt(_, 0)", call("down", "decr(_)"))]),
        "circle": call("circle", "_"),
        "maybe": choice([call("circle", "3"), call("down", "_"), call("maybe", "_")]),
    }
    found = provable(rules)
    assert "down::10000" in found
    assert "circle::1" not in found
    assert "maybe::5" in found


@pytest.mark.long
def test_what_takes_too_long_is_refused() -> None:
    with pytest.raises(LimitExceeded):
        assert "up::0" in provable({"up": where("bit_clear(63)", call("up", "incr(_)"))})


def test_wide_rules_count_with_all_their_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty options of 200,000 values: the steps alone allowed seven seconds."""
    wide = choice([*(where(f"bit_clear({at})", sequence([A, call("up", "incr(_)")])) for at in range(2, 62))])
    monkeypatch.setattr(late, "MOST_PARTS", 10_000)
    looked_at = 0

    def of_lexeme(lexeme: Lexeme) -> bool:
        nonlocal looked_at
        looked_at += 1
        return True

    with pytest.raises(LimitExceeded, match="10000 parts of rules"):
        assert "up::0" in Provable({"up": wide}, of_lexeme, True)
    assert 1000 < looked_at < 11_000


def test_answers_are_those_of_a_fixed_point() -> None:
    """Random rules over three bits, against rounds until nothing changes."""
    generator = random.Random(8)
    changes = ["_", "set_bit(0)", "set_bit(1)", "clear_bit(0)", "incr([0:3])", "decr([0:3])", "bit_and(5)", "3"]
    conditions = ["bit_set(0)", "bit_clear(1)", "eq([0:3], 6)", "lt([0:3], 3)", "true", "not(bit_set(2))"]
    names = ["x", "y", "z"]

    def expression(depth: int) -> Any:
        kind = generator.choice(("call", "call", "row", "choice", "where", "lexeme") if depth else ("call",))
        if kind == "lexeme":
            return where(generator.choice(conditions), A) if generator.random() < 0.8 else A
        if kind == "call":
            return call(generator.choice(names), generator.choice(changes))
        if kind == "where":
            return where(generator.choice(conditions), expression(depth - 1))
        parts = [expression(depth - 1) for _ in range(2)]
        return sequence(parts) if kind == "row" else choice(parts)

    n_true = n_false = 0
    for _ in range(300):
        rules = {name: expression(3) for name in names}
        every = [instance_name(name, value) for name in names for value in range(8)]
        proven: set[str] = set()
        grown = True
        while grown:
            grown = False
            for name in every:
                rule, value = instance_of(name)
                found = Provable(rules, lambda lexeme: True, True)
                found._known = {other: other in proven for other in every}
                if name not in proven and found._holds(rules[rule], value):
                    proven.add(name)
                    grown = True
        asked = provable(rules)
        order = generator.sample(every, len(every))
        assert {name for name in order if name in asked} == proven, rules
        n_true += len(proven)
        n_false += len(every) - len(proven)
    assert min(n_true, n_false) > 500
