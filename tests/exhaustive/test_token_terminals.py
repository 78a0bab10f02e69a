"""Tokens that a grammar names are terminals: as if each special token were a letter of its own that nothing else has.

Two vocabularies over the letters a and b are compared. In one S and T are special tokens, named by the grammar; in the
other they are ordinary letters, which no other token holds, and the grammar has them as texts. All that can be asked of
a matcher must be the same in both.
"""

from __future__ import annotations

import random
from itertools import product

import pytest

import llmask
from llmask.errors import GrammarError
from tests.reference.definition import all_strings, read_mask

WORDS = [word for word in all_strings(b"ab", 3) if word]
N_TEXT = len(WORDS)
S, T, EOS = N_TEXT, N_TEXT + 1, N_TEXT + 2
NAMED = llmask.Tokenizer.from_bytes([*WORDS, b"<s>", b"<t>", b"<eos>"], eos=EOS, special=[S, T])
LETTERS = llmask.Tokenizer.from_bytes([*WORDS, b"S", b"T", b"<eos>"], eos=EOS)
N_TOKENS = EOS + 1
# what stands in the grammar over special tokens, and in the one over letters
SPELLINGS = {
    "s": ("<s>", '"S"'),
    "t": (f"<[{T}]>", '"T"'),
    "either": (f"<[{S}-{T}]>", '("S" | "T")'),
    "a": ('"a"', '"a"'),
    "b": ('"b"', '"b"'),
    "ab": ('"ab"', '"ab"'),
}


def random_rule(generator: random.Random, names: list[str], depth: int) -> list[str]:
    """Words of an expression."""
    kind = generator.choice(("leaf", "leaf", "row", "row", "choice", "repeat")) if depth else "leaf"
    if kind == "leaf":
        return [generator.choice([*SPELLINGS, *names])]
    if kind == "repeat":
        return ["(", *random_rule(generator, names, depth - 1), ")", generator.choice("?*+")]
    parts = [random_rule(generator, names, depth - 1) for _ in range(2)]
    return ["(", *parts[0], *(["|"] if kind == "choice" else []), *parts[1], ")"]


def spelled(rules: dict[str, list[str]], side: int, sign: str, terminals: str = "") -> str:
    lines = [
        f"{name}{sign} " + " ".join(SPELLINGS[word][side] if word in SPELLINGS else word for word in words)
        for name, words in rules.items()
    ]
    return "\n".join(lines) + terminals


def sequences(length: int) -> list[tuple[int, ...]]:
    """Tokens that are one byte, in all orders."""
    return [
        order for n in range(length + 1) for order in product((WORDS.index(b"a"), WORDS.index(b"b"), S, T), repeat=n)
    ]


def assert_same(one: llmask.CompiledGrammar, other: llmask.CompiledGrammar, length: int) -> int:
    """Compare all that is live, and return how many places that were."""
    n_live = 0
    for tokens in sequences(length):
        mine, theirs = one.matcher(), other.matcher()
        n = mine.validate_tokens(tokens)
        assert n == theirs.validate_tokens(tokens), tokens
        if n < len(tokens):
            continue
        n_live += 1
        mine.accept_tokens(tokens)
        theirs.accept_tokens(tokens)
        assert read_mask(mine, N_TOKENS) == read_mask(theirs, N_TOKENS), tokens
        assert mine.is_accepting() == theirs.is_accepting()
        allowed = read_mask(mine, N_TOKENS)
        assert allowed == {token for token in range(N_TOKENS) if mine.validate_tokens([token]) == 1}, tokens
    return n_live


@pytest.mark.long
@pytest.mark.parametrize("language", ["gbnf", "lark"])
def test_a_named_token_is_a_letter_of_its_own(language: str) -> None:
    named, letters = llmask.Compiler(NAMED), llmask.Compiler(LETTERS)
    n_live = n_compared = 0
    start, sign, terminals = ("root", " ::=", "") if language == "gbnf" else ("start", ":", "")
    for seed in range(60):
        generator = random.Random(seed)
        rules = {start: random_rule(generator, ["x"], 3), "x": random_rule(generator, [start, "x"], 2)}
        text = spelled(rules, 0, sign, terminals)
        if language == "gbnf":
            text = text.replace(f"<[{S}-{T}]>", "(<s> | <t>)")
        try:
            one = getattr(named, language)(text)
        except GrammarError:
            continue  # derives nothing
        other = getattr(letters, language)(spelled(rules, 1, sign, terminals))
        n_compared += 1
        n_live += assert_same(one, other, 4)
    assert n_compared > 30
    assert n_live > 500


def test_what_is_ignored_may_stand_around_a_named_token() -> None:
    rules = {"start": ["(", "A", "s", ")", "*", "(", "B", "|", "t", ")"], "A": ["/a+/"], "B": ["/[ab]*a/"]}
    ignored = '\n%ignore "b"'
    one = llmask.Compiler(NAMED).lark(spelled(rules, 0, ":", ignored))
    other = llmask.Compiler(LETTERS).lark(spelled(rules, 1, ":", ignored))
    assert assert_same(one, other, 5) > 50


def test_a_grammar_inside_a_grammar_may_name_tokens() -> None:
    text = 'start: "a" %lark {{\n start: ({} "b")+ {}\n %ignore "a"\n }} "a"?\n'
    one = llmask.Compiler(NAMED).lark(text.format("<s>", "<t>"))
    other = llmask.Compiler(LETTERS).lark(text.format('"S"', '"T"'))
    assert assert_same(one, other, 6) > 20
