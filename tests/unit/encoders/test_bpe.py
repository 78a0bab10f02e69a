"""BPE ids equal those that llama.cpp gives for the vocabularies beside the project."""

from __future__ import annotations

import pytest

from llmask.encoders.bpe import BYTE_OF_CHARACTER, BpeEncoder, BpeTables, spelled_bytes
from llmask.errors import VocabularyError
from llmask.kernels.encoders import bpe_pairs
from llmask.tokenizer.tokenizer import Tokenizer
from llmask.vocabulary.patterns import LLAMA3
from llmask.vocabulary.strings import make_table
from llmask.vocabulary.vocabulary import EncoderData, Vocabulary, from_bytes
from tests.unit.encoders.samples import llama_cpp_samples


@pytest.mark.parametrize("name", ["llama-bpe", "gpt-2", "qwen2", "falcon", "starcoder", "deepseek-llm"])
def test_ids_equal_those_of_llama_cpp(shared_dir, name):
    tok = Tokenizer.from_gguf(shared_dir / "data" / "vocab" / f"{name}.gguf")
    assert tok.encoder_name == "bpe"
    for text, expected in llama_cpp_samples(shared_dir, name):
        assert tok.encode(text) == expected, text
        assert tok.decode(expected) == text


def ranks_encoder(tokens: list[bytes]) -> BpeEncoder:
    vocabulary = from_bytes([*tokens, b"<end>"], eos=len(tokens), encoder=EncoderData(kind="ranks"))
    return BpeEncoder(vocabulary, (LLAMA3,))


def test_words_of_any_length():
    encoder = ranks_encoder([b"a", b"b", b"ab"])
    assert encoder.encode("ab") == encoder.encode("ab") == [2]
    assert encoder.encode("b" * 100) == [1] * 100


def test_a_byte_without_a_token_is_named():
    with pytest.raises(VocabularyError) as error:
        ranks_encoder([b"a", b"b"]).encode("abé")
    assert str(error.value) == (
        "no token spells byte 0xC3, so the text cannot be encoded\n"
        "  take it out of the text, or use a vocabulary with a token for every byte"
    )


def test_every_text_comes_back(default_tokenizer, rng):
    for _ in range(200):
        text = "".join(
            chr(rng.choice((rng.randrange(0xD800), rng.randrange(128), 0x1F600))) for _ in range(rng.randrange(40))
        )
        assert default_tokenizer.decode(default_tokenizer.encode(text)) == text


def vocabulary(tokens: list[bytes], merges: list[bytes]) -> Vocabulary:
    data = EncoderData(kind="bpe", merges=make_table(merges))
    return from_bytes([*tokens, b"<end>"], eos=len(tokens), encoder=data)


def test_a_token_that_is_made_after_a_later_merge_is_found():
    # "abc" (rank 0) is made of "a" and "bc" (rank 1)
    tokens = [b"a", b"b", b"c", b"bc", b"abc"]
    tables = BpeTables(vocabulary(tokens, [b"a bc", b"b c"]), None)
    made_of = tables._made_of.tolist()
    assert made_of[4][:3] == [0, 3, 0]
    assert made_of[4][bpe_pairs.MADE.places["time"]] == 1
    assert tables.is_reachable.tolist() == [True] * 5 + [False]


def test_a_token_that_merging_never_makes_is_known():
    tables = BpeTables(vocabulary([b"a", b"b", b"c", b"ab", b"bc", b"abc"], [b"a b", b"b c", b"a bc"]), None)
    assert tables.is_reachable.tolist()[:6] == [True, True, True, True, True, False]


def test_merges_of_strings_that_are_no_tokens_are_spelled_by_bytes():
    encoder = BpeEncoder(vocabulary([b"a", b"b", b"c", b"abc"], [b"a b", b"ab c"]), ())
    assert encoder.tables.extra == [b"ab"]
    assert encoder.encode("abcab") == [3, 0, 1]
    assert encoder.encode_otherwise("abcab", "heap") == [3, 0, 1]
    assert encoder.count("abcab") == 3


@pytest.mark.parametrize("method", ["exact", "table", "heap"])
def test_a_half_that_was_merged_waits_for_the_rank_of_its_new_pair(method):
    # "b" is in "bc" when the turn of "a", "b" comes; "a", "bc" comes after "bc", "d"
    encoder = BpeEncoder(
        vocabulary([b"a", b"b", b"c", b"d", b"bc", b"ab", b"bcd", b"abc"], [b"b c", b"a b", b"bc d", b"a bc"]), ()
    )
    assert (encoder.encode("abcd") if method == "exact" else encoder.encode_otherwise("abcd", method)) == [0, 6]


def test_merges_with_an_empty_half_never_apply():
    encoder = BpeEncoder(vocabulary([b"a", b"b"], [b" a", b"a ", b"", b"a b c"]), ())
    assert encoder.encode("aab") == [0, 0, 1]


def test_every_byte_has_one_printable_character():
    assert sorted(BYTE_OF_CHARACTER.values()) == list(range(256))
    assert all(chr(code).isprintable() and not chr(code).isspace() for code in BYTE_OF_CHARACTER)


def test_texts_stand_for_bytes_or_for_themselves():
    assert spelled_bytes("\u0120caf\u00c3\u00a9\u010a") == " café\n".encode()
    assert spelled_bytes("日 x") == "日 x".encode()
