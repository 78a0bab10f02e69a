"""Texts of the tokenizer benchmark, and what longest match changes."""

from __future__ import annotations

import random

from bench.tokenizers import __main__ as bench
from bench.tokenizers import texts
from llmask import Tokenizer


def test_texts_have_their_size_and_stay_the_same():
    assert len(texts.mixed(50_000)) == 50_000
    assert texts.many_kinds(20_000, 3) == texts.many_kinds(20_000, 3) != texts.many_kinds(20_000, 4)
    assert texts.random_text(random.Random(1), 5) == texts.random_text(random.Random(1), 5)
    for make in texts.WORST.values():
        assert 990 <= len(make(1000).encode()) <= 1000


def test_differing_tokens_are_counted_by_place():
    tok = Tokenizer.from_bytes([b"a", b"b", b"ab", b""], eos=3)
    assert bench.differing_share([0, 1, 2, 0], [2, 2, 0], tok) == 0.5
    assert bench.differing_share([2, 0], [2, 0], tok) == 0
