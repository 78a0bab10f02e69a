"""Which encoder a vocabulary gets, and how names of special tokens are cut out of a text."""

from __future__ import annotations

import pickle
import random

import numpy as np
import pytest

from llmask.encoders.select import FEW, LONGEST, GreedyEncoder, NameFinder, SpecialTokens, select_encoder
from llmask.errors import VocabularyError
from llmask.vocabulary.strings import make_table, read_charsmap
from llmask.vocabulary.vocabulary import EncoderData, TokenType, freeze_vocabulary, from_bytes
from tests.unit.vocabulary.charsmap_files import charsmap_bytes

MERGES = make_table([b"a b"])
SCORES = np.zeros(2, np.float32)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (EncoderData(), "greedy"),
        (EncoderData(kind="bpe", pretokenizer="llama-bpe", merges=MERGES), "bpe"),
        (EncoderData(kind="bpe", pretokenizer="never heard of", merges=MERGES), "greedy"),
        (EncoderData(kind="bpe", pretokenizer="llama-bpe"), "greedy"),
        (EncoderData(kind="bpe", patterns=(r"\p{L}+",), merges=MERGES), "bpe"),
        (EncoderData(kind="bpe", patterns=(r"(?<=",), merges=MERGES), "greedy"),
        (EncoderData(kind="ranks", patterns=(r"\p{L}+",)), "bpe"),
        (EncoderData(kind="spm", scores=SCORES), "spm"),
        (EncoderData(kind="spm", merges=MERGES), "spm"),
        (EncoderData(kind="spm"), "greedy"),
        (EncoderData(kind="ugm", scores=SCORES), "ugm"),
        (EncoderData(kind="ugm"), "greedy"),
        (EncoderData(kind="wpm"), "wpm"),
    ],
)
def test_encoders_by_kind(data, name):
    assert select_encoder(from_bytes([b"a", b"<end>"], eos=1, encoder=data)).name == name


@pytest.fixture
def special() -> SpecialTokens:
    texts = [b"a", b"<s>", b"<s>>", b"<tool>", b"<unused>", b"", b"<unk>"]
    types = np.array([1, 3, 3, 4, 5, 3, 2], np.uint8)
    is_special = np.isin(types, [TokenType.CONTROL, TokenType.UNUSED, TokenType.UNKNOWN])
    return SpecialTokens(
        freeze_vocabulary(make_table(texts), make_table(texts), types, is_special, (1,), EncoderData())
    )


def test_user_defined_tokens_are_always_cut_out_and_special_ones_on_demand(special):
    text = "x<s><tool><unused><unk>"
    assert special.cut(text, parse_special=False) == ["x<s>", 3, "<unused><unk>"]
    assert special.cut(text, parse_special=True) == ["x", 1, 3, "<unused>", 6]


@pytest.mark.parametrize(
    ("before", "is_word"),
    [
        ("", False),
        ("a", True),
        ("_", True),
        ("9", True),
        ("\u0940", True),
        ("\u200d", True),
        ("\u00bd", False),
        ("-", False),
    ],
)
def test_whole_words_stand_beside_no_character_of_a_word(before, is_word):
    # a vowel sign belongs to the word, a fraction does not
    texts, types = [b"a", b"<s>", b"12"], np.array([1, 3, 4], np.uint8)
    data = EncoderData(whole_words=(2,))
    table = make_table(texts)
    special = SpecialTokens(freeze_vocabulary(table, table, types, types == TokenType.CONTROL, (1,), data))
    assert special.cut(before + "12 ", parse_special=False) == (
        [before + "12 "] if is_word else [*filter(None, [before]), 2, " "]
    )


@pytest.mark.parametrize("n_names", [0, 1, FEW, FEW + 1, 60])
def test_names_are_those_that_the_text_contains(n_names, rng, scaled):
    names: list[str] = []
    while len(names) < n_names:
        name = "".join(rng.choices("ab<é日", k=rng.randint(1, 5)))
        if name not in names:
            names.append(name)
    finder = NameFinder(names)
    for copy in (finder, pickle.loads(pickle.dumps(finder))):
        for _ in range(scaled(100)):
            text = "".join(rng.choices("abc<>é日", k=rng.randrange(8)))
            expected = [number for number, name in enumerate(names) if name in text]
            assert copy.find(text.encode()) == expected, (names, text)
            assert copy.occur_in(text.encode()) == bool(expected), (names, text)


def test_names_that_are_very_long_are_found_too():
    long = "x" * (LONGEST + 1)
    finder = NameFinder([*(f"<{i}>" for i in range(2 * FEW)), long])
    assert finder.longest == LONGEST + 1
    assert finder.find(f"a {long} <3>".encode()) == [3, 2 * FEW]
    assert finder.find(long.encode()) == [2 * FEW]
    assert finder.occur_in(long.encode())
    assert not finder.occur_in(long[1:].encode())


def test_bytes_that_are_no_text_name_nothing():
    finder = NameFinder([chr(0xC0 + i) for i in range(2 * FEW)])
    assert finder.find(b"\xc3\xff\x80") == []
    assert finder.find(b"\xff\xc3\x80") == [0]


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
