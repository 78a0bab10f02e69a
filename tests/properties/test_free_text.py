"""Inside free text most tokens are allowed: slices say so, and the trie is not walked for it; they never change a bit.

Free text is what stands before a trigger, in comments, string literals, and in Markdown. Walks are counted, not timed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import llmask
from llmask.kernels.tables import store_layout
from tests.properties.free_texts import BEGIN, END, FREE_TEXTS, SAID, lark, tags

CLASSES = [
    *("[a-z]", "[^a]", r"[^\n]", "[^<]", "[é日😀 a-e]", ".", r"[\s\S]", '[^"\\\\]', "e", r"\w", "[^A-Z<]", r"[^*/]"),
]
LAZY = {  # texts have no end
    "a letter ends it": ('start: t "!"+\nt[lazy]: /[^x]*[a-m]/\n', "QRST"),
    "two that are lazy": (
        "start: (a | b)+\na[lazy]: /[^<]*<a>/\nb[lazy]: /[^<]*<bc?>/\n",
        "some text <b>more <a> and <bc",
    ),
    "one that is not": ("start: (a | B)+\na[lazy]: /[^<\\n]*<a>/\nB: /[^<]*\\n/\n", "some text <a>more\n and more"),
    "one ends behind a blank": ("start: (a B)+\na[lazy]: /[^<]* /\nB: /[a-z]+/\n", "some text and "),
}


def masks_of(
    grammar: llmask.CompiledGrammar, text: str, chosen: Callable[[int], bool]
) -> Iterator[tuple[int, bool, np.ndarray, int]]:
    """Masks at some places of a text, with their place, whether it is in free text, and how many nodes were walked."""
    bitmask = llmask.allocate_bitmask(1, grammar.tokenizer.vocab_size)
    slots = grammar._loaded.store.table.slots
    matcher = grammar.matcher()
    is_free = False
    for place, letter in enumerate(text):
        if letter in (BEGIN, END):
            is_free = letter == BEGIN
            continue
        if chosen(place):
            slots[store_layout.STORE.walked] = 0
            matcher.fill_bitmask(bitmask)
            yield place, is_free, bitmask.copy(), int(slots[store_layout.STORE.walked])
        matcher.accept_bytes(letter.encode())


@pytest.mark.parametrize("name", FREE_TEXTS)
def test_no_mask_in_free_text_walks_the_whole_trie(llama3_tokenizer: llmask.Tokenizer, name: str) -> None:
    compiled, text, most = FREE_TEXTS[name]
    grammar = compiled(llmask.Compiler(llama3_tokenizer, cache_bytes=0))
    n_trie = grammar._loaded.store.table.view.n_trie
    n_nodes = {place: n for place, is_free, _, n in masks_of(grammar, text, lambda _: True) if is_free}
    worst = max(n_nodes, key=n_nodes.__getitem__)
    assert n_nodes[worst] <= most * n_trie, f"{n_nodes[worst]} of {n_trie} nodes behind {text[: worst + 1][-30:]!r}"
    assert len(n_nodes) > 100
    assert sum(n_nodes.values()) > 0, "the counter stands still"


@pytest.mark.long
@pytest.mark.parametrize("name", FREE_TEXTS)
def test_slices_change_no_mask_of_free_text(
    default_tokenizer: llmask.Tokenizer, rng: random.Random, scaled: Callable[[int], int], name: str
) -> None:
    compiled, text, _ = FREE_TEXTS[name]
    places = {place for place in range(len(text)) if rng.random() < 0.3}
    plain = compiled(llmask.Compiler(default_tokenizer, cache_bytes=0))
    plain._loaded.store.table.view.n_slices = 0
    expected = [mask for _, _, mask, _ in masks_of(plain, text, places.__contains__)]
    for number in range(scaled(3)):
        users = [f"{rng.choice(CLASSES)}{rng.choice(['+', '{1,1}', '{1,3}', '{1,20}'])}" for _ in range(number)]
        grammar = compiled(llmask.Compiler(default_tokenizer, cache_bytes=0, slices=users))
        assert grammar._loaded.store.table.view.n_slices > number
        found = masks_of(grammar, text, places.__contains__)
        for (place, _, mask, _), wanted in zip(found, expected, strict=True):
            assert np.array_equal(mask, wanted), (users, text[: place + 1][-30:])


@pytest.mark.parametrize("name", LAZY)
def test_slices_change_no_mask_where_a_lazy_lexeme_may_end_inside_a_token(
    default_tokenizer: llmask.Tokenizer, name: str
) -> None:
    grammar_text, text = LAZY[name]
    masks = []
    for users in ((), ("[^<x]+", "[a-z]+", "[^<]+", "[n-z]{1,4}", "[^ ]+"), None):
        grammar = lark(grammar_text)(llmask.Compiler(default_tokenizer, cache_bytes=0, slices=users or ()))
        if users is None:
            grammar._loaded.store.table.view.n_slices = 0
        masks.append([mask for _, _, mask, _ in masks_of(grammar, text, lambda _: True)])
    for place in range(len(text)):
        assert np.array_equal(masks[0][place], masks[2][place]), text[:place]
        assert np.array_equal(masks[1][place], masks[2][place]), text[:place]


def test_a_trigger_of_small_letters_costs_one_walk(llama3_tokenizer: llmask.Tokenizer) -> None:
    grammar = tags("to=", excludes=("the end",))(llmask.Compiler(llama3_tokenizer, cache_bytes=0))
    n_trie = grammar._loaded.store.table.view.n_trie
    walked = [n for _, _, _, n in masks_of(grammar, f"{SAID} to the en, to th to", lambda _: True)]
    assert sum(walked) <= 1.1 * n_trie
