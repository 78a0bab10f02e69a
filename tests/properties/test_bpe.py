"""All exact encoders equal the definition of byte-pair encoding, on vocabularies no trainer would make."""

from __future__ import annotations

import random

import pytest

from llmask.encoders.bpe import BpeEncoder
from llmask.vocabulary.strings import make_table
from llmask.vocabulary.vocabulary import EncoderData, from_bytes
from tests.reference.bpe import merge_bytes, ranks_of_tokens


def random_merges(rng: random.Random, letters: str) -> list[tuple[bytes, bytes]]:
    """Merges in any order: parts may be made later than what they make, results may have several histories."""
    known = [letter.encode() for letter in letters]
    merges: list[tuple[bytes, bytes]] = []
    for _ in range(rng.randrange(1, 14)):
        pair = rng.choice(known), rng.choice(known)
        if pair not in merges and len(pair[0] + pair[1]) <= 7:
            merges.append(pair)
            if pair[0] + pair[1] not in known:
                known.append(pair[0] + pair[1])
    if rng.random() < 0.6:
        rng.shuffle(merges)
    return merges


def merge_encoder(rng: random.Random, letters: str, merges: list[tuple[bytes, bytes]], ignore: bool) -> BpeEncoder:
    tokens = sorted({letter.encode() for letter in letters} | {left + right for left, right in merges})
    rng.shuffle(tokens)
    table = make_table([left + b" " + right for left, right in merges])
    data = EncoderData(kind="bpe", merges=table, ignore_merges=ignore)
    return BpeEncoder(from_bytes([*tokens, b"<end>"], eos=len(tokens), encoder=data), ())


@pytest.mark.long
def test_merge_lists_in_any_order(scaled, rng):
    for _ in range(scaled(1500)):
        letters = "abc"[: rng.randint(1, 3)]
        merges = random_merges(rng, letters)
        encoder = merge_encoder(rng, letters, merges, ignore=rng.random() < 0.2)
        ranks = {pair: rank for rank, pair in enumerate(merges)}
        tokens = encoder._vocabulary.tokens
        for _ in range(12):
            text = "".join(rng.choices(letters, k=rng.randint(1, 24)))
            expected = merge_bytes(text.encode(), ranks)
            if encoder._vocabulary.encoder.ignore_merges and tokens.find(text.encode()) >= 0:
                expected = [text.encode()]
            for ids in (encoder.encode(text), *(encoder.encode_otherwise(text, name) for name in ("table", "heap"))):
                assert [tokens.get(token) for token in ids] == expected, (text, merges)
            assert encoder.count(text) == len(expected)


@pytest.mark.long
def test_vocabularies_by_rank_in_any_order(scaled, rng):
    for _ in range(scaled(1500)):
        letters = "abc"[: rng.randint(1, 3)]
        words = {"".join(rng.choices(letters, k=rng.randint(2, 6))).encode() for _ in range(rng.randrange(1, 16))}
        tokens = sorted(words | {letter.encode() for letter in letters})
        rng.shuffle(tokens)
        data = EncoderData(kind="ranks", ignore_merges=True)
        encoder = BpeEncoder(from_bytes([*tokens, b"<end>"], eos=len(tokens), encoder=data), ())
        ranks = ranks_of_tokens(tokens)
        for _ in range(12):
            text = "".join(rng.choices(letters, k=rng.randint(1, 24)))
            word = text.encode()
            expected = [word] if word in tokens else merge_bytes(word, ranks)
            for ids in (encoder.encode(text), *(encoder.encode_otherwise(text, name) for name in ("table", "heap"))):
                assert [tokens[token] for token in ids] == expected, (text, tokens)
