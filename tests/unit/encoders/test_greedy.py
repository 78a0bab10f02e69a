"""Longest match against its definition."""

from __future__ import annotations

import random

import pytest

from llmask.encoders.greedy import GreedyEncoder
from llmask.errors import VocabularyError
from llmask.vocabulary.charsmap import read_charsmap
from llmask.vocabulary.vocabulary import EncoderData, from_bytes
from tests.unit.vocabulary.charsmap_files import charsmap_bytes


def test_random_vocabularies_give_the_longest_tokens():
    rng = random.Random(5)
    for _ in range(150):
        tokens = [b"a", b"b"] + [
            "".join(rng.choices("ab", k=rng.randint(1, 6))).encode() for _ in range(rng.randint(0, 9))
        ]
        encoder = GreedyEncoder(from_bytes([*tokens, b""], eos=len(tokens)))
        text = "".join(rng.choices("ab", k=rng.randint(0, 30)))
        expected, rest = [], text.encode()
        while rest:
            best = max((token for token in tokens if rest.startswith(token)), key=len)
            expected.append(tokens.index(best))
            rest = rest[len(best) :]
        assert encoder.encode(text) == expected


def test_a_byte_without_a_token_is_named():
    vocabulary = from_bytes([b"a", b"bcd", b"<end>"], eos=2)
    with pytest.raises(VocabularyError) as error:
        GreedyEncoder(vocabulary).encode("abc")
    assert str(error.value) == (
        "no token spells byte 0x62, so the text cannot be encoded\n"
        "  at byte 1 of the text\n"
        "  take it out of the text, or use a vocabulary with a token for every byte"
    )


def test_an_unknown_character_is_one_token():
    vocabulary = from_bytes([b"a", b"?", b"<end>"], eos=2, encoder=EncoderData(unknown_id=1))
    assert GreedyEncoder(vocabulary).encode("a日é a"[:3]) == [0, 1, 1]


def test_texts_are_normalized_as_the_vocabulary_says():
    data = EncoderData(kind="ugm", charsmap=read_charsmap(charsmap_bytes({"ａ".encode(): b"a"})), add_space_prefix=True,
                       remove_extra_whitespaces=True, unknown_id=3)  # fmt: skip
    encoder = GreedyEncoder(from_bytes([b"a", b" a", b" ", b"?", b"<end>"], eos=4, encoder=data))
    assert encoder.encode("ａａ   a ") == [1, 0, 1]
    assert encoder.encode_fewest("ａａ   é") == [1, 0, 2, 3]
    assert encoder.encode("") == []
