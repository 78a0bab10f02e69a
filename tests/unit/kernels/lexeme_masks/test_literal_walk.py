"""Masks inside of literals: beginnings of words, whatever the lexemes are that they belong to."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import llmask
from llmask.kernels.tables import store_layout
from llmask.matching.sequence import ALL_TAKEN
from tests.reference.definition import read_mask


def grammar_of(rng: random.Random, compiler: Any, words: list[str]) -> Any:
    """The words as one lexeme, as one each, and with a letter behind that only some of them may have."""
    kind = rng.choice(["choice", "enum", "lark", "greedy", "gbnf"])
    if kind == "choice":
        return compiler.choice(words)
    if kind == "enum":
        return compiler.json_schema({"enum": words})
    if kind == "gbnf":
        return compiler.gbnf("root ::= " + " | ".join(f'"{word}" "{rng.choice("aZ")}"?' for word in words))
    rules = " | ".join(f'"{word}" {rng.choice(["", "LAST"])}' for word in words)
    return compiler.lark(f'start: {rules}\nLAST: "aZ" | "b"', lexer="exact" if kind == "lark" else "greedy")


@pytest.mark.long
def test_tokens_are_allowed_whose_bytes_are(rng: random.Random, scaled: Callable[[int], int]) -> None:
    n_places = 0
    for _ in range(scaled(40)):
        words = ["".join(rng.choices("abé", k=rng.randrange(1, 7))) for _ in range(rng.randrange(2, 9))]
        words += [word + rng.choice("abé") for word in words[:3]]  # words that begin with others
        data = [(word + rng.choice(["", '"', "a", "Z"])).encode() for word in words]
        pieces = {text[rng.randrange(2) : rng.randrange(2, 9)] for text in data for _ in range(6)}
        tokens = [bytes([byte]) for byte in range(256)] + sorted(piece for piece in pieces if len(piece) > 1)
        tokenizer = llmask.Tokenizer.from_bytes([*tokens, b""], eos=len(tokens), special=[])
        matcher = grammar_of(rng, llmask.Compiler(tokenizer), list(dict.fromkeys(words))).matcher()
        for _ in range(6):
            allowed = read_mask(matcher, tokenizer.vocab_size)
            for token, text in enumerate(tokens):
                assert (token in allowed) == (matcher._sequence.fork().take_bytes(text) == ALL_TAKEN), (
                    matcher.text(),
                    text,
                )
            matcher.accept_token(rng.choice(sorted(allowed)))
            if matcher.is_terminated():
                break
            n_places += 1
    assert n_places > 40


def test_no_state_is_made_for_the_mask_behind_a_quote(default_tokenizer: Any) -> None:
    names = [f"{first}{rest}" for first in "abc" for rest in ("verylongname", "otherlongname", "nothing else")]
    schema = {"properties": dict.fromkeys(names, True), "additionalProperties": False}
    grammar = llmask.Compiler(default_tokenizer).json_schema(schema)
    slots, matcher = grammar.store.table.slots, grammar.matcher()
    matcher.accept_bytes(b'{"')
    before = slots[store_layout.STORE.state_keys + 3]
    matcher.fill_bitmask(llmask.allocate_bitmask(1, default_tokenizer.vocab_size))
    assert slots[store_layout.STORE.state_keys + 3] == before
