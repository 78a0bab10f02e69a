"""Exact lexing against the definition: random grammars over two letters, every string, whole masks, fused and not."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

import llmask
from llmask.compiling.made_grammar import MadeGrammar
from llmask.errors import UnsatisfiableSchema
from llmask.frontends.bnf import compile_gbnf
from llmask.grammar import overlaps
from llmask.grammar.rules import Rules
from llmask.store.store import Store
from tests.reference.bnf import Texts, Tree, gbnf, random_rules
from tests.reference.definition import all_strings, read_mask

TOKENS = [b"</s>", *(bytes(letters) for n in (1, 2, 3) for letters in product(b"ab", repeat=n))]
MOST_BYTES = 8
FUSED = [True, False]

HARD: dict[str, dict[str, Tree]] = {
    "left": {"root": ("either", ("row", ("rule", "root"), ("text", "a")), ("text", "b"))},
    "right": {"root": ("either", ("row", ("text", "a"), ("rule", "root")), ("text", "b"))},
    "both": {"root": ("either", ("row", ("rule", "root"), ("rule", "root")), ("text", "a"), ("text", ""))},
    "right in a circle": {
        "root": ("either", ("row", ("text", "a"), ("rule", "one")), ("text", "b")),
        "one": ("either", ("row", ("text", "b"), ("rule", "root")), ("rule", "root"), ("text", "")),
    },
    "right, and nothing behind": {
        "root": ("either", ("row", ("text", "a"), ("rule", "root"), ("rule", "one")), ("text", "b")),
        "one": ("either", ("text", ""), ("text", "")),
    },
    "palindromes": {
        "root": (
            "either",
            ("row", ("text", "a"), ("rule", "root"), ("text", "a")),
            ("row", ("text", "b"), ("rule", "root"), ("text", "b")),
            ("text", ""),
        )
    },
    "one lexeme begins another": {
        "root": ("row", ("either", ("text", "a"), ("text", "ab")), ("either", ("text", "ba"), ("rule", "root")))
    },
    "letters and then letters": {
        "root": ("row", ("times", ("class", "ab"), 0, None), ("text", "ab"), ("times", ("rule", "root"), 0, 1))
    },
    "cycle": {"root": ("either", ("rule", "one"), ("text", "a")), "one": ("either", ("rule", "root"), ("text", "ab"))},
    "counted": {"root": ("times", ("either", ("text", "a"), ("row", ("text", "b"), ("rule", "root"))), 2, 3)},
    "counted nothing": {"root": ("row", ("times", ("times", ("text", "a"), 0, 2), 2, 3), ("text", "b"))},
}


@pytest.fixture(scope="module")
def store() -> Store:
    return Store(llmask.Tokenizer.from_bytes(TOKENS, eos=0), llmask.Limits())


def compiled(store: Store, text: str, fuse: bool) -> Rules:
    """Rules of a grammar; not fused, as one that is too large to look at, they have lexemes of one byte only."""
    with pytest.MonkeyPatch.context() as patch:
        if not fuse:
            patch.setattr(overlaps, "MOST_EDGES", 0)
        return compile_gbnf(store.nodes, text).rules


def check(store: Store, rules: dict[str, Tree], fuse: bool) -> bool:
    """Compare everything; False where the grammar derives nothing, which compiling has to find, too."""
    text = gbnf(rules)
    known = Texts(rules, MOST_BYTES).language()
    if known is None:
        with pytest.raises(UnsatisfiableSchema):
            compiled(store, text, fuse)
        return False
    grammar = MadeGrammar(store, compiled(store, text, fuse))
    for string in all_strings(b"ab", MOST_BYTES):
        matcher = grammar.matcher()
        if string not in known.live:
            with pytest.raises(llmask.TokenRejected):
                matcher.accept_bytes(string)
            continue
        matcher.accept_bytes(string)
        assert matcher.is_accepting() == (string in known.sentences), f"after {string!r}\n{text}"
        if len(string) <= MOST_BYTES - 3:
            wanted = known.allowed_tokens(string, TOKENS, (), 0)
            assert read_mask(matcher, len(TOKENS)) == wanted, f"after {string!r}\n{text}"
    return True


@pytest.mark.long
@pytest.mark.parametrize("fuse", FUSED)
@pytest.mark.parametrize("name", HARD)
def test_hard_grammars_are_what_they_derive(store: Store, name: str, fuse: bool) -> None:
    assert check(store, HARD[name], fuse)


@pytest.mark.parametrize("fuse", FUSED)
def test_random_grammars_are_what_they_derive(
    store: Store, rng: random.Random, costly: Callable[[int], int], fuse: bool
) -> None:
    n_checked = 0
    while n_checked < costly(16):
        n_checked += check(store, random_rules(rng), fuse)


def test_fusing_changes_no_mask(rng: random.Random, scaled: Callable[[int], int], tiny_tokenizer: Any) -> None:
    """Also over letters that several bytes spell, with tokens that end inside them."""
    store = Store(tiny_tokenizer, llmask.Limits())
    for _ in range(scaled(60)):
        text = gbnf(random_rules(rng, 'aeé日{"'))
        try:
            grammars = [MadeGrammar(store, compiled(store, text, fuse)) for fuse in FUSED]
        except UnsatisfiableSchema:
            continue
        for _ in range(5):
            matchers = [grammar.matcher() for grammar in grammars]
            for _ in range(8):
                masks = [read_mask(matcher, tiny_tokenizer.vocab_size) for matcher in matchers]
                assert masks[0] == masks[1], text
                token = rng.choice(sorted(masks[0]))
                if token == 1:
                    break
                for matcher in matchers:
                    matcher.accept_token(token)
