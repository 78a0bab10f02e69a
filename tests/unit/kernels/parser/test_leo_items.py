"""Long chains of runs that wait for each other: rows and what they hold grow by the same amount with every element."""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable
from copy import copy
from typing import Any

import pytest

import llmask
from llmask import debug
from llmask.compiling.made_grammar import MadeGrammar
from llmask.store.store import Store
from tests.exhaustive.grammars import random_world
from tests.exhaustive.test_grammars import EOS, SPECIAL, TOKENS
from tests.reference.definition import read_mask
from tests.reference.derivations import guards_never_strand
from tests.unit.kernels.values.test_texts import takes

# A grammar, what a list begins with, an element, and what may follow many of them.
LISTS = {
    "plain": ('start: list\nlist: "a" list | "a"', "", "a", ""),
    "separated": ('start: list\nlist: "a" "," list | "a"', "a", ",a", ""),
    "rules": ('start: list\nlist: item list | item\nitem: "a" | "(" list ")"', "", "a", ""),
    "optional tail": ('start: list\nlist: item list tail? | item\nitem: "a" | "(" list ")"\ntail: "!"', "", "a", "!!!"),
    "empty tail": ('start: list\nlist: item list empty | item\nitem: "a" | "(" list ")"\nempty:', "", "a", ""),
    "tail of two": ('start: list\nlist: "a" list ("!" "?")? | "a"', "", "a", "!?!?!?"),
    "tail of rules": ('start: list\nlist: "a" list t? | "a"\nt: "(" u ")" t?\nu: "x" | "(" u ")"', "", "a", "((x))(x)"),
    "many tails": ('start: list\nlist: "a" list "!"* | "a"', "", "a", "!!!!!"),
    "two kinds of tails": ('start: list\nlist: "a" list "!"* "?"* | "a"', "", "a", "!!??!?"),
    "no element": ('start: list\nlist: "a" list? "!"?', "", "a", "!!"),
    "two rules": ('start: x\nx: "a" y | "a"\ny: x opt\nopt: "!" |', "", "a", "!!"),
    "two tails": ('start: x\nx: "a" y "!"? | "a"\ny: "b" x "?"?', "a", "ba", "!?!"),
    "three rules": ('start: x\nx: "a" y "!"? | "."\ny: "a" z "?"?\nz: "a" x ":"?', "", "aaa", ".!:?:!?!?"),
    "three kinds": ('start: x\nx: "a" x "!"? | "b" x "?"? | "c"', "", "ab", "c?!!?"),
    "deep inside": ('start: x\nx: "(" x "!"? | "c"', "", "(", "c!!!"),
    "else": ('start: s\ns: "if" s ("else" s)? | "{" s* "}" | "x"', "", "if", "xelsexelseifx"),
    "two kinds of else": ('start: s\ns: "a" s ("b" s)? ("c" s)? | "x"', "", "a", "xbxcxbxbxcxcx"),
    "operators": ('start: e\ne: t ("=" e)?\nt: u ("+" t)?\nu: /[0-9]/ | "(" e ")"', "1", "=1+2", "+3"),
    "priorities": ('start: x\nx: NAME x "!"? | "let" x "?"? | "."\nNAME: /[a-z]/', "", "a", ".!!"),
    "ignored": ('start: x\nx: "a" x "!"? | "a"\n%ignore " "', "", "a ", "!! !"),
    "parameter": ('start: x::0\nx::_ : "a" x::incr(_) | "a"', "", "a", ""),
    "parameter and tail": ('start: x::0\nx::_ : "a" x::incr(_) tail? | "a"\ntail: "!"', "", "a", "!!!"),
    "parameter of 64 bits": (
        'start: x::0xfffffffffffff000\nx::_ : "a" x::incr(_) tail::bit_and(1) | "a" %if ge(_, 5)\n'
        'tail::_ : "!" %if bit_set(0) | ""',
        "",
        "a",
        "!!!",
    ),
}
EXACT = [name for name in LISTS if not name.startswith("parameter") and name != "priorities"]
LETTERS = [b"a", b"b", b"c", b" "]
TAILS = {  # what may follow twice behind a long list
    "optional tail": "!!",
    "tail of two": "!?!?",
    "tail of rules": "((x))(x)",
    "two kinds of tails": "!!??!?",
    "two rules": "!!",
    "two tails": "!?!",
    "two kinds of else": "bxcxbxbxcxcx",
    "else": "elsexelseifx",
    "ignored": "!! !",
    "parameter of 64 bits": "!!!",
}
CASES = [(name, "greedy") for name in LISTS] + [(name, "exact") for name in EXACT]


def sizes(grammar: Any) -> tuple[int, int]:
    """Rows, links included; and the numbers that stand in them: items, scans and waits."""
    view, n_rows = grammar.generation.table.view, debug.n_rows(grammar)
    n_items = sum(view.kernels.records[row].length for row in range(n_rows))
    return n_rows, n_items + view.n_row_entries


def read(tokenizer: Any, name: str, lexer: str, n: int) -> tuple[Any, tuple[int, int]]:
    """A matcher behind n elements and what follows, with a mask before it, and the sizes of the tables then."""
    text, first, element, rest = LISTS[name]
    matcher = llmask.Compiler(tokenizer, cache_bytes=0).lark(text, lexer=lexer).matcher()
    matcher.accept_bytes(first.encode() + element.encode() * n)
    read_mask(matcher, tokenizer.vocab_size)
    matcher.accept_bytes(rest.encode())
    return matcher, sizes(matcher.grammar)


@pytest.mark.long
@pytest.mark.parametrize(("name", "lexer"), CASES)
def test_rows_grow_by_the_same_with_every_element(byte_tokenizer: Any, name: str, lexer: str) -> None:
    rows, held = zip(*(read(byte_tokenizer, name, lexer, n)[1] for n in (100, 200, 300, 600)), strict=True)
    for found in (rows, held):
        assert found[2] - found[1] <= found[1] - found[0] + 20
        assert found[3] - found[2] <= 3 * (found[1] - found[0]) + 60


@pytest.mark.long
@pytest.mark.parametrize(("name", "lexer"), [("optional tail", "greedy"), ("two tails", "exact"), ("else", "greedy")])
def test_ten_thousand_elements_take_some_items_each(byte_tokenizer: Any, name: str, lexer: str) -> None:
    n_rows, n_held = read(byte_tokenizer, name, lexer, 10_000)[1]
    assert n_rows < 150_000
    assert n_held < 3_000_000


@pytest.mark.long
@pytest.mark.parametrize("name", TAILS)
def test_tails_know_what_stands_behind_them_after_the_first_ones(byte_tokenizer: Any, name: str) -> None:
    added = []
    for n in (100, 600):
        text, first, element, rest = LISTS[name]
        matcher = llmask.Compiler(byte_tokenizer, cache_bytes=0).lark(text).matcher()
        matcher.accept_bytes((first + element * n + rest + TAILS[name]).encode())
        before = sizes(matcher.grammar)
        matcher.accept_bytes(TAILS[name].encode())
        added.append([after - then for after, then in zip(sizes(matcher.grammar), before, strict=True)])
    assert added[1][0] <= added[0][0] + 2
    assert added[1][1] <= added[0][1] + 60


@pytest.mark.long
def test_links_change_no_mask(rng: random.Random, scaled: Callable[[int], int]) -> None:
    # Random grammars, followed for some letters, with as many links as can be and without any.
    tokenizer = llmask.Tokenizer.from_bytes(TOKENS, eos=EOS, special=SPECIAL)
    n_links = 0
    for number in range(scaled(150)):
        store = Store(tokenizer, llmask.Limits())
        with_guards = number % 3 == 0
        world = random_world(store.nodes, rng, with_guards)
        if with_guards and not guards_never_strand(world.rules, world.lexemes):
            continue
        try:
            plain = MadeGrammar(store, world.rules)
        except llmask.GrammarError:
            continue  # it derives nothing
        world.rules.chained = array("i", range(len(world.rules.names)))
        linked = MadeGrammar(store, world.rules)
        linked.generation.table.view.few_items = rng.choice((0, 1, 2))
        linked.generation.table.view.most_leo_items = rng.choice((1, 2, 99))
        for _ in range(3):
            one, other = plain.matcher(), linked.matcher()
            for _ in range(14):
                allowed = read_mask(one, tokenizer.vocab_size)
                assert read_mask(other, tokenizer.vocab_size) == allowed, (
                    f"{world.name} after {one.text()!r}\n{debug.row(one)}\n{debug.row(other)}"
                )
                assert one.is_accepting() == other.is_accepting()
                letter = next((letter for letter in rng.sample(LETTERS, 4) if takes(one, letter)), None)
                if letter is None:
                    break
                assert takes(other, letter)
        n_links += sum(row.is_leo for row in debug.rows(linked))
    assert n_links > 30


@pytest.mark.parametrize(("name", "lexer"), [case for case in CASES if case[0] in EXACT])
def test_links_change_no_mask_of_long_lists(byte_tokenizer: Any, name: str, lexer: str, rng: random.Random) -> None:
    linked = llmask.Compiler(byte_tokenizer, cache_bytes=0).lark(LISTS[name][0], lexer=lexer)
    rules = copy(linked._loaded.own_rules)
    rules.chained = array("i")
    plain = MadeGrammar(linked._loaded.store, rules)
    for _ in range(8):
        one, other = plain.matcher(), linked.matcher()
        element = LISTS[name][2].encode()
        n = rng.choice((0, 3, 12))
        for matcher in (one, other):
            matcher.accept_bytes(LISTS[name][1].encode() + element * n)
        for _ in range(30):
            allowed = read_mask(one, byte_tokenizer.vocab_size)
            assert read_mask(other, byte_tokenizer.vocab_size) == allowed, one.text()
            allowed -= set(byte_tokenizer.eos_ids)
            if not allowed:
                break
            token = rng.choice(sorted(allowed))
            one.accept_token(token)
            other.accept_token(token)


def test_every_run_has_one_tail(byte_tokenizer: Any) -> None:
    # The chain is not shorter or longer than the list: a run for each element, and each but the last may have a tail.
    grammar = llmask.Compiler(byte_tokenizer).lark('start: x\nx: "a" x "!"? | "a"')
    for n in (2, 3, 7, 50):
        matcher = grammar.matcher()
        matcher.accept_bytes(b"a" * n + b"!" * (n - 1))
        assert matcher.is_accepting()
        assert read_mask(matcher, byte_tokenizer.vocab_size) == set(byte_tokenizer.eos_ids)
