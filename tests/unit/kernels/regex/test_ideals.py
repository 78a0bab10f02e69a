"""Texts that may be anywhere: masks are those of the definition, and no search is needed for their intersections."""

from __future__ import annotations

import itertools
import random
import re
from typing import Any

import pytest

import llmask
from tests.reference.definition import read_mask

LETTERS = "abx"
TOKENS = [*LETTERS, "ab", "xa", "xx", "bxa", "abab", "xxxx", "bbxxxx", '"']
_PARTS = ".*a .*a.b .*a.{3}b .*b.{4} .*[ab]x .*b.{2,3}a .*x.*b .*(?:xa|b.x) .+b{2} [ab]*x x*b .*abx.* .*(?:ba){2}.*"
PARTS = tuple(_PARTS.split())
LONG = ["^(?=.*a.{64}b)(?=.*c.{64}d)(?=.*e.{64}f).*$", "^(?=.*[a-z].{64})(?=.*[A-Z].{64})(?=.*[0-9].{64}).*$"]


def may_begin(words: set[str]) -> set[str]:
    """All beginnings of words, the words included."""
    return {word[:n] for word in words for n in range(len(word) + 1)}


@pytest.mark.parametrize("seed", range(12))
def test_masks_are_those_of_the_definition(seed: int) -> None:
    choose = random.Random(seed)
    tokenizer = llmask.Tokenizer.from_bytes([one.encode() for one in [*TOKENS, ""]], eos=len(TOKENS))
    low = choose.randint(0, 4)
    high = choose.randint(6, 9)
    looks = "".join(f"(?={part})" for part in choose.sample(PARTS, choose.randint(2, 3)))
    pattern = f"^{looks}.{{{low},{high}}}$"
    fits = re.compile(pattern)
    texts = ("".join(one) for n in range(low, high + 1) for one in itertools.product(LETTERS, repeat=n))
    words = {text for text in texts if fits.match(text)}
    compiler = llmask.Compiler(tokenizer)
    if not words:
        with pytest.raises(llmask.GrammarError):
            compiler.regex(pattern)
        return
    beginnings = may_begin(words)
    grammar = compiler.regex(pattern)
    for _ in range(20):
        matcher, text = grammar.matcher(), ""
        while not matcher.is_terminated():
            found = read_mask(matcher, tokenizer.vocab_size)
            plain = {i for i, token in enumerate(TOKENS[:-1]) if text + token in beginnings}
            assert found - {len(TOKENS) - 1, len(TOKENS)} == plain, (pattern, text)
            assert (len(TOKENS) in found) == (text in words), (pattern, text)
            token = choose.choice(sorted(found - {len(TOKENS) - 1}))
            matcher.accept_token(token)
            text += "" if token == len(TOKENS) else TOKENS[token]


@pytest.mark.parametrize("pattern", LONG)
@pytest.mark.parametrize("kind", ["regex", "json"])
def test_no_text_asks_for_a_search(kind: str, pattern: str, default_tokenizer: Any) -> None:
    """Each had 2^192 derivatives to look through, and the second mask met `max_emptiness_steps`."""
    limits = llmask.Limits(max_emptiness_steps=20_000)
    compiler = llmask.Compiler(default_tokenizer, limits=limits)
    schema = {"type": "string", "pattern": pattern}
    matcher = (compiler.regex(pattern) if kind == "regex" else compiler.json_schema(schema)).matcher()
    matcher.accept_bytes(b'"' if kind == "json" else b"x")
    choose = random.Random(1)
    for _ in range(20):
        tokens = sorted(read_mask(matcher, default_tokenizer.vocab_size))
        assert len(tokens) > 20_000
        matcher.accept_token(choose.choice(tokens))
