"""Healed prompts, forced tokens and prefixes equal their definitions, on vocabularies small enough to try all texts."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import llmask
from llmask.encoders.certain import certain_tokens
from llmask.trie.layout import build_trie
from llmask.vocabulary.strings import make_table
from llmask.vocabulary.vocabulary import EncoderData, TokenType, from_bytes
from tests.properties.test_bpe import merge_encoder, random_merges
from tests.reference.definition import read_mask

FAR = (  # what comes two characters later decides where words end
    (r"aab|1", r"\s+(?!\S)|\s+|b1?"),
    (r"abb|b1b|\s+(?!\S)|\s+|[^\s]",),
    (r"\s?b+", r"[0-9]+|aa1"),
)
CUT = (  # a blank at the end of what is left between words and names is cut off
    (r"\s?b+", r"\s+$", r"[0-9]+"),
    (r"[0-9]+", r"\s+$"),
    (r"\s+$", r"\s?b+"),
    (r"\s?b+|\s+$|[0-9]+",),
    (r"\s?1+", r"\s+$", r"b+"),
)
SPACED = (r" ?[^\s]+|\s+(?!\S)|\s+",)  # of two blanks before a letter the second belongs to the letter's word


def continuations(letters: str, longest: int) -> list[str]:
    return ["".join(parts) for n in range(longest + 1) for parts in itertools.product(letters, repeat=n)]


def common(ids: list[int], others: list[list[int]]) -> list[int]:
    """The first ids that all lists share."""
    n = len(ids)
    for other in others:
        n = min(n, next((i for i in range(n) if i >= len(other) or other[i] != ids[i]), n))
    return ids[:n]


def spaced_tokenizer(rng: random.Random, letters: str, patterns: tuple[str, ...] = SPACED) -> llmask.Tokenizer:
    """A tokenizer with merges at random, blanks among the letters."""
    merges = random_merges(rng, letters)
    tokens = sorted({letter.encode() for letter in letters} | {left + right for left, right in merges})
    table = make_table(
        [left.replace(b" ", "Ġ".encode()) + b" " + right.replace(b" ", "Ġ".encode()) for left, right in merges]
    )
    data = EncoderData(kind="bpe", merges=table, patterns=patterns, ignore_merges=rng.random() < 0.5)
    return llmask.Tokenizer(from_bytes([*tokens, b"<end>"], eos=len(tokens), encoder=data))


def with_names(tokenizer: llmask.Tokenizer, names: list[str]) -> llmask.Tokenizer:
    """The same vocabulary with user-defined tokens, which are cut out of texts."""
    old = tokenizer._parts.vocabulary
    tokens = sorted({*old.tokens.strings(), *(name.encode() for name in names)} - {b""})
    made = from_bytes([*tokens, b"<end>"], eos=len(tokens), encoder=old.encoder)
    types = made.types.copy()
    types[[tokens.index(name.encode()) for name in names]] = TokenType.USER_DEFINED
    return llmask.Tokenizer(replace(made, types=types))


def test_certain_tokens_are_those_of_all_longer_texts(scaled: Any, rng: random.Random) -> None:
    n_kept = 0
    for _ in range(scaled(150)):
        encoder = merge_encoder(rng, "ab", random_merges(rng, "ab"), ignore=rng.random() < 0.2)
        tokens = encoder._vocabulary.tokens
        trie = build_trie(tokens.offsets, tokens.data)
        texts = continuations("ab", 7)
        for _ in range(3):
            text = "".join(rng.choices("ab", k=rng.randint(1, 9)))
            expected = common(encoder.encode(text), [encoder.encode(text + more) for more in texts])
            assert certain_tokens(encoder, trie, text.encode(), first_bytes=flags("ab")) == expected
            n_kept += len(expected)
    assert n_kept > 0


def flags(letters: str) -> Any:
    found = np.zeros(256, bool)
    found[list(letters.encode())] = True
    return found


def test_healing_with_words_and_blanks(costly: Any, rng: random.Random) -> None:
    texts = continuations("ab ", 7)  # tokens have up to seven letters
    for _ in range(costly(32)):
        tokenizer = spaced_tokenizer(rng, "ab ")
        for _ in range(3):
            text = "".join(rng.choices("ab  ", k=rng.randint(1, 8)))
            ids = tokenizer.encode(text)
            longest = common(ids, [tokenizer.encode(text + more) for more in texts])
            found = tokenizer._parts.certain_tokens(text.encode(), first_bytes=flags("ab "))
            assert found == longest, (text, ids)


@pytest.mark.parametrize(("patterns", "n_more", "n_names"), [(FAR, 3, 0), (CUT, 4, 2)], ids=["far ahead", "cut out"])
def test_certain_tokens_where_patterns_look_far_ahead_or_words_and_names_are_cut_out(
    scaled: Any, rng: random.Random, patterns: Any, n_more: int, n_names: int
) -> None:
    texts = continuations("ab 1", n_more)
    n_found = n_longest = 0
    for _ in range(scaled(50)):
        tokenizer = spaced_tokenizer(rng, "ab 1", rng.choice(patterns))
        names = ["".join(rng.choices("ab1", k=rng.randint(1, 3))) for _ in range(rng.randint(0, n_names))]
        tokenizer = with_names(tokenizer, names)
        for _ in range(4):
            text = "".join(rng.choices("ab 1 ", k=rng.randint(1, 8)))
            ids = tokenizer.encode(text)
            longest = common(ids, [tokenizer.encode(text + more) for more in texts])
            found = tokenizer._parts.certain_tokens(text.encode(), first_bytes=flags("ab 1"))
            assert found == longest[: len(found or [])], (text, ids)
            n_found += len(found or [])
            n_longest += len(longest)
    assert n_found > 0.9 * n_longest


def test_forced_tokens_begin_every_encoding(scaled: Any, rng: random.Random) -> None:
    n_forced = 0
    for _ in range(scaled(60)):
        tokenizer = spaced_tokenizer(rng, "ab ")
        compiler = llmask.Compiler(tokenizer)
        forced = "".join(rng.choices("ab ", k=rng.randint(2, 8)))
        endings = sorted({"".join(rng.choices("ab ", k=rng.randint(0, 4))) for _ in range(rng.randint(1, 3))})
        matcher = compiler.choice([forced + ending for ending in endings]).matcher()
        documents = [tokenizer.encode(forced + ending) for ending in endings]
        for _ in range(12):
            written = matcher.tokens
            tokens = matcher.forced_tokens()
            left = [ids for ids in documents if ids[: len(written)] == written]
            n_forced += len(tokens)
            assert all(ids[: len(written) + len(tokens)] == written + tokens for ids in left)
            matcher.accept_tokens(tokens)
            allowed = sorted(read_mask(matcher, tokenizer.vocab_size))
            token = rng.choice(allowed)
            if token in tokenizer.eos_ids:
                break
            matcher.accept_token(token)
    assert n_forced > 50


def test_forced_tokens_where_only_a_long_text_shows_that_they_change() -> None:
    """Behind "a" may come nothing, or two blanks and a digit: then "a " is a token, as "a  " is no match."""
    merges = make_table(["a Ġ".encode(), "Ġ a".encode()])
    data = EncoderData(kind="bpe", merges=merges, patterns=(r"\s?b+", r"\s+$", r"[0-9]+"))
    tokenizer = llmask.Tokenizer(from_bytes([b"a", b"b", b" ", b"1", b"a ", b" a", b"<end>"], eos=6, encoder=data))
    assert tokenizer.encode("  a") == [2, 5]
    assert tokenizer.encode("  a  1") == [2, 2, 4, 2, 3]
    compiler = llmask.Compiler(tokenizer)
    assert compiler.choice(["  a", "  a  1", "  aab11"]).matcher().forced_tokens() == [2]
    assert compiler.choice(["  a"]).matcher().forced_tokens() == [2, 5]


def test_masks_of_a_prefix_are_those_of_the_longer_grammar(scaled: Any, rng: random.Random) -> None:
    for _ in range(scaled(60)):
        tokenizer = spaced_tokenizer(rng, "ab ")
        compiler = llmask.Compiler(tokenizer)
        choices = sorted({"".join(rng.choices("ab ", k=rng.randint(1, 5))) for _ in range(rng.randint(1, 4))})
        prefix = "".join(rng.choices("ab ", k=rng.randint(1, 5)))
        prefixed = compiler.choice(choices).matcher(prefix=prefix.encode())
        plain = compiler.choice([prefix + choice for choice in choices]).matcher()
        for _ in range(12):
            allowed = read_mask(plain, tokenizer.vocab_size)
            assert read_mask(prefixed, tokenizer.vocab_size) == allowed
            assert prefixed.is_accepting() == plain.is_accepting()
            assert prefixed.text() == plain.text()
            assert prefixed.forced_bytes() == plain.forced_bytes()
            every = range(tokenizer.vocab_size)
            assert {token for token in every if prefixed.validate_tokens([token])} == allowed
            twin = prefixed.fork()
            token = rng.choice(sorted(allowed))
            twin.accept_token(token)
            twin.rollback(1)
            assert read_mask(twin, tokenizer.vocab_size) == allowed
            for matcher in (prefixed, plain):
                matcher.accept_token(token)
            if prefixed.is_terminated():
                break
        prefixed.reset()
        plain.reset()
        assert read_mask(prefixed, tokenizer.vocab_size) == read_mask(plain, tokenizer.vocab_size)
