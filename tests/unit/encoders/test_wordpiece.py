"""WordPiece ids equal those that llama.cpp gives for an uncased BERT; words, unknown ones, long ones."""

from __future__ import annotations

import pickle

import pytest

from llmask.encoders.wordpiece import (
    END_OF_WORD,
    OPTIONS,
    WordPieceEncoder,
    bert_character,
    is_chinese,
    llama_cpp_character,
)
from llmask.errors import VocabularyError
from llmask.tokenizer.tokenizer import Tokenizer
from llmask.vocabulary.vocabulary import EncoderData, from_bytes
from tests.unit.encoders.samples import llama_cpp_samples


def test_ids_equal_those_of_llama_cpp(shared_dir):
    tok = Tokenizer.from_gguf(shared_dir / "data" / "vocab" / "bert-bge.gguf")
    assert tok.encoder_name == "wpm"
    for text, expected in llama_cpp_samples(shared_dir, "bert-bge"):
        assert tok.encode(text) == expected, text
    assert tok.decode(tok.encode("hello world")) == "hello world"


def encoder(tokens: list[bytes], **fields: object) -> WordPieceEncoder:
    data = EncoderData(**{"kind": "wpm", "unknown_id": len(tokens), **fields})
    return WordPieceEncoder(from_bytes([*tokens, b"<unk>", b"<end>"], eos=len(tokens) + 1, encoder=data))


def test_a_word_with_an_unknown_part_is_unknown_as_a_whole():
    tokens = [b" un", b"able"]
    model = encoder(tokens)
    assert model.encode("Unable unx able") == [0, 1, 2, 2]
    assert model.encode("") == []
    assert model.encode(" \t") == []
    assert pickle.loads(pickle.dumps(model)).encode("unable") == [0, 1]
    with pytest.raises(VocabularyError) as error:
        encoder(tokens, unknown_id=-1).encode("unable unx")
    assert str(error.value) == (
        'no tokens spell "unx", so the text cannot be encoded\n'
        "  take it out of the text, or use a vocabulary with a token for every byte"
    )


def test_words_that_are_too_long_are_unknown():
    tokens = [b" a", b"a", "é".encode()]
    assert encoder(tokens, max_word_characters=3).encode("aaa aaaa") == [0, 1, 1, 3]
    assert encoder(tokens, max_word_characters=3, bert_options=()).encode("aéé aééa") == [0, 2, 2, 3]
    assert encoder(tokens).encode("a" * 1000) == [0] + [1] * 999


def test_the_longest_token_is_taken_at_each_place(rng, scaled):
    for _ in range(scaled(200)):
        words = {"".join(rng.choices("ab", k=rng.randrange(1, 4))) for _ in range(rng.randrange(1, 6))}
        tokens = [rng.choice([b"", b" "]) + word.encode() for word in sorted(words)]
        tokens = sorted(set(tokens))
        text = "".join(rng.choices("ab", k=rng.randrange(1, 9)))
        assert encoder(tokens).encode(text) == longest(tokens, text)


def longest(tokens: list[bytes], word: str) -> list[int]:
    """Tokens of one word by definition."""
    rest = b" " + word.encode()
    found = []
    while rest:
        # the blank alone begins no word
        fitting = [token for token in tokens if rest.startswith(token) and token != b" "]
        if not fitting:
            return [len(tokens)]
        best = max(fitting, key=len)
        found.append(tokens.index(best))
        rest = rest[len(best) :]
    return found


def test_texts_in_all_scripts_in_two_threads_at_once(shared_dir):
    from concurrent.futures import ThreadPoolExecutor

    tok = Tokenizer.from_gguf(shared_dir / "data" / "vocab" / "bert-bge.gguf")
    texts = ["".join(chr(c) for c in range(start, start + 300, 7)) for start in range(0x20, 0xD000, 300)]
    expected = [
        Tokenizer.from_gguf(shared_dir / "data" / "vocab" / "bert-bge.gguf").encode(text) for text in texts[:20]
    ]
    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(tok.encode, texts)][:20] == expected


ALL = frozenset(OPTIONS)


@pytest.mark.parametrize(
    ("character", "expected"),
    [
        ("A", "a"), ("É", "e"), ("ß", "ß"), ("ﬁ", "ﬁ"), ("№", "№"), (" ", "|"), ("\u00a0", "|"), ("\n", "|"),
        ("!", "|!|"), ("$", "|$|"), ("日", "|日|"), ("\0", ""), ("\ufffd", ""), ("\u200b", ""), ("\x1f", ""),
        ("경", "ᄀ"), ("\u0301", "\u0301"), ("\u2581", " "), ("\x0b", "|"),
    ],
)  # fmt: skip
def test_llama_cpp(character, expected):
    assert llama_cpp_character(character).replace(END_OF_WORD, "|") == expected


@pytest.mark.parametrize(
    ("character", "options", "expected"),
    [
        ("É", ALL, "e"), ("É", {"lowercase"}, "é"), ("É", {"strip_accents"}, "E"), ("É", set(), "É"),
        ("日", ALL, "|日|"), ("日", set(), "日"), ("\u0301", ALL, ""), ("경", ALL, "경"),
        ("\x00", ALL, ""), ("\x00", set(), "\x00"), ("\x0b", ALL, ""), ("\x0b", set(), "|"), ("+", ALL, "|+|"),
        ("¿", ALL, "|¿|"), ("\ufb19", ALL, "\ufb19"), ("\ue000", ALL, ""),
    ],
)  # fmt: skip
def test_bert(character, options, expected):
    import unicodedata

    found = bert_character(character, frozenset(options)).replace(END_OF_WORD, "|")
    assert unicodedata.normalize("NFC", found) == unicodedata.normalize("NFC", expected)


def test_chinese_characters():
    assert is_chinese("日")
    assert not is_chinese("あ")
