"""Counting, splitting, growing texts and intervals equal their definition: encode from scratch."""

from __future__ import annotations

import random

import numpy as np
import pytest

from llmask import AppendableEncoder, IntervalCounter, PrependableEncoder, Tokenizer
from llmask.errors import VocabularyError
from llmask.kernels.encoders.bpe_intervals import NEVER
from llmask.vocabulary.strings import make_table
from llmask.vocabulary.vocabulary import EncoderData, TokenType, freeze_vocabulary, from_bytes
from tests.contract.strange_texts import strange_text

PIECES = (
    "a", "b", "ab", " a", "  ", "   ", "\n", "\r\n", "\n \n", "'s", "'LL", "1", "23", "4567", "!", "..", ",", "\u00e9",
    "\u65e5\u672c", "\U0001f600", "e\u0301", "\u3000", "-", "$", "`", "the", " the", "x" * 70, "ab" * 40, " " * 70,
)  # fmt: skip
NAMES = ("llama-bpe", "gpt-2", "qwen2", "starcoder", "falcon", "deepseek-llm", "deepseek-v3", "gpt-4o", "bloom")


def random_text(rng: random.Random, longest: int = 12) -> str:
    return "".join(rng.choice(PIECES) for _ in range(rng.randrange(longest)))


def random_tokenizer(rng: random.Random, name: str) -> Tokenizer:
    """All bytes, and some parts of random texts, ranked at random."""
    parts = set()
    while len(parts) < 60:
        text = random_text(rng, 5).encode()
        first = rng.randrange(len(text) + 1)
        parts.add(text[first : first + rng.randint(2, 6)])
    parts = sorted(part for part in parts if len(part) > 1)
    rng.shuffle(parts)
    tokens = [bytes([byte]) for byte in range(256)] + parts
    encoder = EncoderData(kind="ranks", pretokenizer=name, ignore_merges=rng.random() < 0.5)
    return Tokenizer(from_bytes([*tokens, b"<end>"], eos=len(tokens), encoder=encoder))


@pytest.fixture(params=NAMES)
def tok(request, rng) -> Tokenizer:
    tokenizer = random_tokenizer(rng, request.param)
    assert tokenizer._parts.word_encoder is not None
    return tokenizer


def test_counting_and_limits(tok, scaled, rng):
    for _ in range(scaled(60)):
        text = random_text(rng)
        n_tokens = len(tok.encode(text))
        assert tok.count(text) == n_tokens
        for n in (0, 1, n_tokens - 1, n_tokens, n_tokens + 1, rng.randrange(40)):
            assert tok.count_till_limit(text, n) == (n_tokens if n_tokens <= n else None)


def test_chunks_are_the_text_and_have_no_more_tokens(tok, scaled, rng):
    for _ in range(scaled(60)):
        text, n = random_text(rng, 30), rng.randint(4, 12)
        chunks = tok.split(text, n)
        assert "".join(chunks) == text
        assert all(0 < len(tok.encode(chunk)) <= n for chunk in chunks)
        assert tok.split(text, 10_000) == ([text] if text else [])


@pytest.mark.parametrize("name", ["llama-spm", "nomic-bert-moe", "bert-bge", "phi-3"])
def test_chunks_of_texts_that_are_normalized(shared_dir, name, scaled, rng):
    tok = Tokenizer.from_gguf(shared_dir / "data" / "vocab" / f"{name}.gguf")
    for _ in range(scaled(150)):
        text = strange_text(rng, 30)
        n = rng.choice([5, 8, 20, 100])
        try:
            chunks = tok.split(text, n)
        except VocabularyError as error:  # "ﷺ" becomes a sentence
            place = int(error.where.removeprefix("character "))
            assert tok.count(text[place]) > n
            continue
        assert "".join(chunks) == text
        assert all(chunk and len(tok.encode(chunk)) <= n for chunk in chunks)


@pytest.mark.parametrize("name", ["llama-spm", "nomic-bert-moe"])
def test_chunks_are_nearly_full(shared_dir, name, project_root):
    tok = Tokenizer.from_gguf(shared_dir / "data" / "vocab" / f"{name}.gguf")
    text = (project_root / "README.md").read_text("utf-8")
    for n in (10, 100, 1000):
        counts = [tok.count(chunk) for chunk in tok.split(text, n)]
        assert max(counts) <= n
        assert sum(counts[:-1]) >= 0.9 * n * (len(counts) - 1)


def test_a_character_that_does_not_fit_is_named():
    tok = Tokenizer.from_bytes([*(bytes([byte]) for byte in range(256)), b""], eos=256)
    with pytest.raises(VocabularyError) as error:
        tok.split("ab\u65e5", 2)
    assert error.value.message == "the character '\u65e5' alone has more than 2 tokens"
    assert (error.value.where, error.value.help) == ("character 2", "give a larger n")


@pytest.mark.parametrize("kind", [AppendableEncoder, PrependableEncoder])
def test_growing_is_encoding_from_scratch(tok, scaled, rng, kind):
    for _ in range(scaled(25)):
        encoder, texts = kind(tok), [b""]
        for _ in range(40):
            if rng.random() < 0.3 and len(texts) > 1:
                n = rng.randrange(len(texts))
                encoder.rollback(n)
                texts = texts[: len(texts) - n]
            else:
                piece = rng.choice(PIECES).encode()
                if kind is AppendableEncoder and rng.random() < 0.3:
                    piece = piece[: rng.randint(1, len(piece))]
                encoder.push(piece)
                texts.append(texts[-1] + piece if kind is AppendableEncoder else piece + texts[-1])
            assert encoder.text() == texts[-1]
            if rng.random() < 0.7:
                expected = tok._parts.word_encoder.encode_bytes(texts[-1])
                assert encoder.count() == len(expected), texts[-1]
                assert encoder.tokens() == expected


def test_intervals_are_encoded_from_scratch(tok, scaled, rng):
    for _ in range(scaled(25)):
        text = random_text(rng, 40)
        counter = IntervalCounter(tok, text)
        for _ in range(60):
            start, end = sorted(rng.randrange(len(text) + 1) for _ in range(2))
            assert counter.count(start, end) == len(tok.encode(text[start:end])), (text, start, end)
    for _ in range(scaled(3)):
        text = random_text(rng, 12)[:60]
        counter = IntervalCounter(tok, text)
        for start in range(len(text) + 1):
            for end in range(start, len(text) + 1):
                assert counter.count(start, end) == len(tok.encode(text[start:end])), (text, start, end)
    with pytest.raises(VocabularyError):
        counter.count(0, len(text) + 1)


def test_canonical_is_encoding_what_was_decoded(tok, scaled, rng):
    for _ in range(scaled(200)):
        ids = tok.encode(random_text(rng, 5))
        if rng.random() < 0.6 and ids:
            ids[rng.randrange(len(ids))] = rng.randrange(tok.vocab_size)
        special = tok.vocab_size - 1
        runs: list[list[int]] = [[]]
        for token in ids:
            if token == special:
                runs.append([])
            else:
                runs[-1].append(token)
        assert tok.is_canonical(ids) == all(tok.encode(tok.decode(run)) == run for run in runs)
        left, right = rng.randrange(special), rng.randrange(special)
        spelled = tok.decode_bytes([left, right])
        assert tok.compatible(left, right) == (tok._parts.word_encoder.encode_bytes(spelled) == [left, right])
    assert tok.compatible(special, special)


def test_texts_are_encoded_anew_where_words_do_not_suffice(llama_spm_tokenizer, rng):
    tok = llama_spm_tokenizer
    assert tok._parts.word_encoder is None
    appended, prepended = AppendableEncoder(tok), PrependableEncoder(tok)
    text = ""
    for piece in ("the ", "\u65e5", " x", "  ", "e"):
        appended.push(piece)
        text += piece
        assert appended.count() == tok.count(text)
    for piece in ("e", "  ", " x", "\u65e5", "the "):
        prepended.push(piece)
    assert prepended.tokens() == tok.encode(text)
    assert IntervalCounter(tok, text).count(2, 7) == tok.count(text[2:7])
    assert "".join(tok.split(text, 3)) == text
    assert tok.is_canonical(tok.encode(text))


def test_appending_long_runs_takes_no_quadratic_time(rng):
    # every blank could begin a match of "\\s+$", and none does: seconds, where searching anew takes minutes
    tok = random_tokenizer(rng, "deepseek-llm")
    encoder, text = AppendableEncoder(tok), " " * 200_000 + "1"
    for part in (text[:-1], text[-1:], " "):
        encoder.push(part)
        encoder.count()
    assert encoder.count() == tok.count(text + " ")


def test_appending_to_one_word_takes_linear_time(llama3_tokenizer):
    text = "ab" * 100_000
    encoder = AppendableEncoder(llama3_tokenizer)
    counts = encoder.push_counts(text)
    assert counts[-1] == llama3_tokenizer.count(text)
    assert counts[999] == llama3_tokenizer.count(text[:1000])
    for _ in range(2000):
        encoder.push("a")
        encoder.count()
    assert encoder.count() == llama3_tokenizer.count(text + "a" * 2000)


def named_tokenizer(rng: random.Random, name: str) -> Tokenizer:
    """As `random_tokenizer`, with user-defined tokens, some of which overlap."""
    plain = random_tokenizer(rng, name)._parts.vocabulary
    names = [b"<t>", b"<t><u>", b"ab<", b"\n\n", "<\u00e9".encode(), *(b"[PAD%d]" % i for i in range(9))]
    strings = [*plain.texts.strings(), *names]
    types = np.append(plain.types, np.full(len(names), TokenType.USER_DEFINED, np.uint8))
    is_special = np.isin(np.arange(len(strings)), plain.special_ids)
    tokens = make_table([*plain.tokens.strings(), *names])
    return Tokenizer(freeze_vocabulary(tokens, make_table(strings), types, is_special, plain.eos_ids, plain.encoder))


@pytest.mark.parametrize("name", ["llama-bpe", "starcoder"])
def test_texts_that_name_tokens(name, scaled, rng):
    tok = named_tokenizer(rng, name)
    pieces = (*PIECES, "<t>", "<u>", "<", "t>", "[PAD1]", "<\u00e9", "\n")
    for _ in range(scaled(30)):
        appended, prepended, pushed = AppendableEncoder(tok), PrependableEncoder(tok), [[], []]
        for _ in range(12):
            for encoder, done in zip((appended, prepended), pushed, strict=True):
                if rng.random() < 0.25 and done:
                    n = rng.randrange(len(done))
                    encoder.rollback(n)
                    del done[len(done) - n :]
                else:
                    done.append(rng.choice(pieces))
                    encoder.push(done[-1])
                text = "".join(done if encoder is appended else reversed(done))
                assert encoder.count() == len(tok.encode(text)), text
                assert encoder.tokens() == tok.encode(text)
        text = "".join(rng.choices(pieces, k=6))
        counts = AppendableEncoder(tok).push_counts(text)
        ends = [len(text[:end].encode()) for end in range(1, len(text) + 1)]
        assert [counts[end - 1] for end in ends] == [len(tok.encode(text[:end])) for end in range(1, len(text) + 1)]
        counter, (start, end) = IntervalCounter(tok, text), sorted(rng.choices(range(len(text) + 1), k=2))
        assert counter.count(start, end) == tok.count(text[start:end]) == len(tok.encode(text[start:end]))
        assert tok.count_till_limit(text, 5) == (tok.count(text) if tok.count(text) <= 5 else None)


def test_a_count_after_every_byte_is_that_of_the_text_so_far(tok, scaled, rng):
    for _ in range(scaled(10)):
        encoder, text = AppendableEncoder(tok), b""
        for _ in range(4):
            part = random_text(rng, 25).encode()
            counts = encoder.push_counts(part)
            text += part
            ends = range(len(text) - len(part) + 1, len(text) + 1)
            assert counts.tolist() == [len(tok._parts.word_encoder.encode_bytes(text[:end])) for end in ends]
        encoder.rollback(2)
        encoder.push(text[len(encoder.text()) :])
        assert encoder.count() == len(tok._parts.word_encoder.encode_bytes(text))


def test_what_is_remembered_of_growing_texts_may_be_lost(llama3_tokenizer):
    # more tails than there is room for: they take the place of others
    text = "".join(chr(97 + i % 23) + chr(97 + i // 23 % 26) + (" " if i % 3 else "") for i in range(60_000))
    counts = AppendableEncoder(llama3_tokenizer).push_counts(text)
    for end in range(1, len(text), 3001):
        assert counts[end - 1] == llama3_tokenizer.count(text[:end])


def test_intervals_are_quick_where_one_pattern_splits_the_words_of_another(shared_dir, scaled, rng):
    # no digit for 40 KB: the outer word of starcoder's first pattern is that long, and was read anew for each count
    tok = Tokenizer.from_gguf(shared_dir / "data" / "vocab" / "starcoder.gguf")
    text = "the quick brown fox " * 2000 + "1"
    counter = IntervalCounter(tok, text)
    assert (counter._arrays["begins"] >> 32 != NEVER).mean() > 0.9
    for _ in range(scaled(50)):
        start, end = sorted(rng.choices(range(len(text) + 1), k=2))
        assert counter.count(start, end) == tok.count(text[start:end])
