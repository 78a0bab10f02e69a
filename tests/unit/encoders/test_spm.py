"""SentencePiece ids equal those that llama.cpp gives; bytes, unknown characters, special names."""

from __future__ import annotations

import re
import time
from itertools import pairwise

import numpy as np
import pytest

from llmask.encoders.spm import SpmEncoder
from llmask.errors import VocabularyError
from llmask.tokenizer.tokenizer import Tokenizer
from llmask.vocabulary.strings import make_table
from llmask.vocabulary.vocabulary import EncoderData, TokenType, freeze_vocabulary, from_bytes
from tests.reference.sentencepiece_models import merge, merge_long

from .samples import llama_cpp_samples


@pytest.mark.parametrize("name", ["llama-spm", "phi-3"])
def test_ids_equal_those_of_llama_cpp(shared_dir, name):
    tok = Tokenizer.from_gguf(shared_dir / "data" / "vocab" / f"{name}.gguf")
    assert tok.encoder_name == "spm"
    for text, expected in llama_cpp_samples(shared_dir, name):
        assert tok.encode(text) == expected, text
        assert tok.decode(expected) == text


def test_special_names_stay_text(llama_spm_tokenizer):
    assert 2 not in llama_spm_tokenizer.encode("a</s>")
    assert llama_spm_tokenizer.encode("a</s>b", parse_special=True)[1] == 2


def encoder(tokens: list[bytes], scores: list[float], unknown_id: int = -1) -> SpmEncoder:
    data = EncoderData(kind="spm", scores=np.array([*scores, 0.0], np.float32), unknown_id=unknown_id)
    return SpmEncoder(from_bytes([*tokens, b"<end>"], eos=len(tokens), encoder=data))


def test_the_highest_score_goes_first():
    tokens = [b"a", b"b", b"c", b"ab", b"bc"]
    assert encoder(tokens, [0, 0, 0, -2, -1]).encode("abc") == [0, 4]
    assert encoder(tokens, [0, 0, 0, -1, -2]).encode("abc") == [3, 2]
    assert encoder(tokens, [0, 0, 0, -1, -1]).encode("abc") == [3, 2]  # leftmost among equals


def test_what_no_token_spells_is_unknown_or_an_error():
    assert encoder([b"a", b"?"], [0, 0], unknown_id=1).encode("aé") == [0, 1]
    with pytest.raises(VocabularyError) as error:
        encoder([b"a"], [0]).encode("aé")
    assert str(error.value) == (
        "no token spells '\xe9', so the text cannot be encoded\n"
        "  at character 1 of the text\n"
        "  take it out of the text, or use a vocabulary with a token for every byte"
    )


def test_merging_equals_the_definition(rng, scaled):
    for _ in range(scaled(200)):
        letters = rng.choice(["ab", "abc ", "aé日"])
        names = {"".join(rng.choices(letters, k=rng.randrange(2, 6))) for _ in range(rng.randrange(1, 12))}
        tokens = {name: -float(rng.randrange(8)) for name in [*letters, *sorted(names - {*letters})]}
        model = encoder([name.encode() for name in tokens], [*tokens.values()])
        for length in (3, 10, 30, 70):  # short words are merged in another way than long ones
            text = "".join(rng.choices(letters, k=length))
            assert [[*tokens][token] for token in model.encode(text)] == merge(text, tokens), (text, tokens)


def test_words_of_thousands_of_characters_are_merged_as_the_definition_says(rng, scaled):
    # up to 4,096 symbols all pairs wait in one heap, of longer words those that come in order in lists
    for _ in range(scaled(12)):
        letters = rng.choice(["ab", "abc", "aé日x"])
        names = {"".join(rng.choices(letters, k=rng.randrange(2, 7))) for _ in range(rng.randrange(3, 60))}
        n_scores = rng.choice([1, 8, 1000])
        tokens = {name: -float(rng.randrange(n_scores)) for name in [*letters, *sorted(names - {*letters})]}
        model = encoder([name.encode() for name in tokens], [*tokens.values()])
        parts = ["".join(rng.choices(letters, k=rng.randrange(1, 9))) for _ in range(5)]
        for length in (1000, 4000, 4200, 9000):
            text = "".join(rng.choices(rng.choice([letters, parts, parts[:2]]), k=length))[:length]
            assert merge(text[:60], tokens) == merge_long(text[:60], tokens)
            assert [[*tokens][token] for token in model.encode(text)] == merge_long(text, tokens), tokens


def test_characters_that_are_no_token_may_be_part_of_one():
    assert encoder([b"a", b"xy", b"?"], [0, -1, 0], unknown_id=2).encode("axyax") == [0, 1, 0, 2]


def test_listed_merges_go_by_their_rank_and_make_tokens():
    tokens = [b"a", b"b", b"c", b"ab", b"bc"]
    for merges, expected in (([b"a b", b"b c"], [3, 2]), ([b"b c", b"a b"], [0, 4]), ([b"b c"], [0, 4])):
        data = EncoderData(kind="spm", merges=make_table(merges))
        assert SpmEncoder(from_bytes([*tokens, b"<end>"], eos=5, encoder=data)).encode("abc") == expected
    data = EncoderData(kind="spm", merges=make_table([b"a c"]))
    with pytest.raises(VocabularyError, match="merge 0, b'a c', makes what is no token"):
        SpmEncoder(from_bytes([*tokens, b"<end>"], eos=5, encoder=data)).encode("abc")


def test_a_megabyte_without_a_cut_takes_little_more_than_many_short_texts(llama_spm_tokenizer):
    text = "ab" * 500_000
    llama_spm_tokenizer.encode(text[:1000])
    started = time.perf_counter()
    ids = llama_spm_tokenizer.encode(text)
    assert time.perf_counter() - started < 5.0
    assert llama_spm_tokenizer.decode(ids) == text


def split_and_merge(text: str, tokens: list[str], merges: list[tuple[str, str]]) -> list[str]:
    """Pieces of Gemma 4: runs of line breaks and what is between them, each merged by rank; bytes as <0xNN>."""
    ranks = {pair: rank for rank, pair in reversed([*enumerate(merges)])}
    pieces: list[str] = []
    for word in re.findall("\n+|[^\n]+", text):
        symbols = [word] if word in tokens and word[0] == "\n" else [*word]
        while True:
            found = [(ranks[pair], i) for i, pair in enumerate(pairwise(symbols)) if pair in ranks]
            if not found:
                break
            place = min(found)[1]
            symbols[place : place + 2] = [symbols[place] + symbols[place + 1]]
        for symbol in symbols:
            pieces += [symbol] if symbol in tokens else [f"<0x{byte:02X}>" for byte in symbol.encode()]
    return pieces


def test_gemma_merges_characters_between_runs_of_line_breaks(rng, scaled):
    for _ in range(scaled(60)):
        tokens, merges = ["a", "b", "\u2581", "\n"], []
        for _ in range(rng.randrange(1, 14)):
            left, right = rng.choice(tokens), rng.choice(tokens)
            merges.append((left, right))
            if left + right not in tokens:
                tokens.append(left + right)
        tokens += [run for run in ("\n" * 3, "\n" * 5) if run not in tokens]  # merges need not make them
        bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
        texts = make_table([text.encode() for text in ["</s>", *bytes_, *tokens]])
        types = np.array([TokenType.CONTROL] + [TokenType.BYTE] * 256 + [TokenType.NORMAL] * len(tokens), np.uint8)
        strings = [b"", *(bytes([byte]) for byte in range(256)), *(t.replace("\u2581", " ").encode() for t in tokens)]
        listed = make_table([f"{left} {right}".encode() for left, right in merges])
        data = EncoderData(kind="spm", pretokenizer="gemma4", merges=listed)
        model = SpmEncoder(freeze_vocabulary(make_table(strings), texts, types, types == TokenType.CONTROL, (0,), data))
        for _ in range(8):
            text = "".join(rng.choices("aab \n\n\n\u00e9", k=rng.randrange(30)))
            expected = split_and_merge(text.replace(" ", "\u2581"), tokens, merges)
            assert [texts.get(token).decode() for token in model.encode(text)] == expected, (text, merges)
