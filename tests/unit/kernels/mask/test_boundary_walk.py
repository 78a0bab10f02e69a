"""Parts of the trie that the store knows: they change no bit of a mask, however small they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import llmask
from llmask import Compiler
from tests.reference.definition import read_mask

NEVER = 2**31 - 1  # nodes
TEXTS = {
    "sql": b'SELECT a.b, 3 AS "c d" FROM t -- x\n /* y */ LEFT JOIN u ON a = 1\nWHERE x IN (1, 2) ORDER BY x',
    "c": b"// x\nint main ( void ) { return a [ 3 ] / 2 ; } /* y */\n",
    "python": b"def f ( a,\n      b = 3 ) :\n    # x\n    if a :\n        return [ a + b ]\n",
}


@pytest.mark.long
@pytest.mark.parametrize("name", TEXTS)
def test_parts_change_no_mask(default_tokenizer: Any, name: str) -> None:
    masks, n_parts = [], []
    for least in (NEVER, 512, 4):
        compiler = Compiler(default_tokenizer)
        store = compiler._newest_store()
        before = store.table.view.part_ids.count
        store.table.view.least_part = least
        matcher = compiler.grammar(name).matcher()
        found = []
        for token in default_tokenizer.encode(TEXTS[name].decode()):
            bitmask = llmask.allocate_bitmask(1, default_tokenizer.vocab_size)
            is_some = matcher.fill_bitmask(bitmask)
            found.append((is_some, bitmask))
            matcher.accept_token(token)
        masks.append(found)
        n_parts.append(int(store.table.view.part_ids.count - before))
    for other in masks[1:]:
        for (is_some, one), (is_some_too, two) in zip(masks[0], other, strict=True):
            assert is_some == is_some_too
            assert np.array_equal(one, two)
    assert n_parts[0] == 0
    assert 0 < n_parts[1] < n_parts[2]


def test_what_follows_many_exits_changes_no_mask(default_tokenizer: Any) -> None:
    """The second schema finds known states behind its strings and keys, and so parts."""
    text = '{"NAME": "x, y", "a": ["p", "q"], "other": {"z": "\\u0041"}}'
    masks, n_parts = [], []
    for least in (NEVER, 512):
        compiler = Compiler(default_tokenizer)
        view = compiler._newest_store().table.view
        view.least_part = least
        found = []
        for name in "bc":
            before = view.part_ids.count
            matcher = compiler.json_schema({"properties": {name: True, "a": {"type": "array"}}}).matcher()
            for byte in text.replace("NAME", name).encode():
                bitmask = llmask.allocate_bitmask(1, default_tokenizer.vocab_size)
                matcher.fill_bitmask(bitmask)
                found.append(bitmask)
                matcher.accept_bytes(bytes([byte]))
            n_parts.append(int(view.part_ids.count - before))
        masks.append(found)
    assert np.array_equal(masks[0], masks[1])
    assert n_parts[:2] == [0, 0]
    assert min(n_parts[2:]) > 0


@pytest.mark.parametrize("least", [1, NEVER])
def test_a_lexeme_that_may_end_is_left_for_no_byte_with_which_it_goes_on(least: int) -> None:
    """`aab` is two letters and a `b`, with which no word begins, and not a letter and the word `ab`."""
    tokens = [b"</s>", b"a", b"b", b"c", b"aa", b"ab", b"aab", b"aaab", b"ac", b"aac"]
    compiler = Compiler(llmask.Tokenizer.from_bytes(tokens, eos=0))
    compiler._newest_store().table.view.least_part = least
    matcher = compiler.lark("start: LETTERS WORD\nLETTERS: /a+/\nWORD: /ab|c/", lexer="greedy").matcher()
    assert read_mask(matcher, len(tokens)) == {tokens.index(token) for token in (b"a", b"aa", b"ac", b"aac")}
    matcher.accept_bytes(b"a")
    assert read_mask(matcher, len(tokens)) == {tokens.index(token) for token in (b"a", b"c", b"aa", b"ac", b"aac")}
