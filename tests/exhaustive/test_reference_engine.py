"""Stages of the product beside those of the engine in plain Python (tests/reference/engine), on small grammars."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import pytest

import llmask
from llmask.compiling.made_grammar import MadeGrammar
from llmask.debug import configuration
from llmask.frontends.regex import compile_pattern
from llmask.grammar.rules import one_lexeme
from llmask.store.store import Store
from llmask.vocabulary.strings import make_table
from llmask.vocabulary.vocabulary import EncoderData, from_bytes
from tests.exhaustive.grammars import random_world
from tests.exhaustive.test_grammars import EOS, SPECIAL, TOKENS
from tests.reference.bpe import merge_bytes, ranks_of_tokens
from tests.reference.definition import all_strings, read_mask
from tests.reference.engine.canonical import Encodings, documents
from tests.reference.engine.mask import Engine
from tests.reference.engine.trie import make_trie
from tests.reference.regex_nodes import RegexNodes

BYTES_OF = [data if token not in {EOS, *SPECIAL} else b"" for token, data in enumerate(TOKENS)]


def test_the_tokens_inside_a_lexeme_are_those_of_the_product(rng: random.Random, scaled: Callable[[int], int]) -> None:
    store = Store(llmask.Tokenizer.from_bytes(TOKENS, eos=EOS, special=SPECIAL), llmask.Limits())
    n_inside = 0
    for _ in range(scaled(20)):
        seed, nodes = rng.random(), RegexNodes()
        engine = Engine(random_world(nodes, random.Random(seed), False).rules, nodes.expressions, BYTES_OF)
        if engine.start() is None:
            continue
        matcher = MadeGrammar(store, random_world(store.nodes, random.Random(seed), False).rules).matcher()
        for _ in range(6):
            allowed = read_mask(matcher, len(TOKENS))
            at, mask = engine.read(matcher.text()), configuration(matcher).mask
            assert at is not None
            assert mask is not None
            assert set(mask.inside) == engine.inside(at), matcher.text()
            assert {*mask.inside, *mask.crossing} == engine.allowed(at), matcher.text()
            n_inside += len(mask.inside)
            if allowed == {EOS}:
                break
            matcher.accept_token(rng.choice(sorted(allowed - {EOS})))
    assert n_inside > scaled(20)


SMALL_PATTERNS = ("(ab|ba){1,3}", "a{0,4}b?", "(a|b) ?(ab|a)?", "[ab ]{2,4}", "(aab|ab)+a")
SMALL_TOKENS = [b"a", b"b", b" ", b"ab", b"aa", b"aab", b" a", b"ba", b"</s>"]


@pytest.mark.parametrize("pattern", SMALL_PATTERNS)
def test_canonical_masks_are_those_of_all_encodings(pattern: str) -> None:
    """Merges of pairs by the rank of what they make, in words that a pattern cuts out; every document to 9 bytes."""
    ranks = ranks_of_tokens(SMALL_TOKENS[:-1])
    merges = make_table([b" ".join(half.replace(b" ", "Ġ".encode()) for half in pair) for pair in ranks])
    encoder = EncoderData(kind="bpe", merges=merges, patterns=(r" ?[ab]+| ",))
    tokenizer = llmask.Tokenizer(from_bytes(SMALL_TOKENS, eos=8, encoder=encoder))
    numbers = {data: token for token, data in enumerate(SMALL_TOKENS)}

    def encode(text: bytes) -> list[int]:
        words = re.findall(rb" ?[ab]+| ", text)
        return [numbers[symbol] for word in words for symbol in merge_bytes(word, ranks)]

    nodes: Any = RegexNodes()
    node = compile_pattern(nodes, pattern)
    engine = Engine(one_lexeme(node, nodes.is_nullable(node)), nodes.expressions)
    texts = list(documents(engine, b"ab ", 9))
    assert sorted(texts) == [text for text in sorted(all_strings(b"ab ", 9)) if re.fullmatch(pattern.encode(), text)]
    encodings = Encodings(texts, encode, 8)
    grammar, waiting, n_ends = llmask.Compiler(tokenizer, canonical=True).regex(pattern), [()], 0
    while waiting:
        tokens: tuple[int, ...] = waiting.pop()
        matcher = grammar.matcher()
        matcher.accept_tokens(tokens)
        if len(matcher.text()) > 4:
            continue  # in an endless grammar the longest documents are cut off
        allowed = encodings.allowed(tokens)
        assert read_mask(matcher, len(SMALL_TOKENS)) == allowed, matcher.text()
        n_ends += 8 in allowed
        waiting += [(*tokens, token) for token in allowed - {8}]
    assert n_ends > 1


def test_the_trie_is_that_of_the_product() -> None:
    trie = llmask.Tokenizer.from_bytes(TOKENS, eos=EOS, special=SPECIAL)._parts.trie
    found = make_trie(BYTES_OF)
    assert [node.byte for node in found] == [int(word) & 0xFF for word in trie.node]
    assert [node.end for node in found] == [int(word) >> 20 & 0x3FFFFF for word in trie.node]
    assert [min(node.tokens, default=-1) for node in found] == [(int(word) >> 42) - 1 for word in trie.node]
