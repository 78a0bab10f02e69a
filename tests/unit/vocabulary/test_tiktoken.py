"""tiktoken encodings, made from the shipped vocabulary so that nothing is downloaded."""

from __future__ import annotations

import pytest

from llmask.errors import VocabularyError
from llmask.tokenizer import Tokenizer
from llmask.vocabulary.patterns import GPT2, LLAMA3
from llmask.vocabulary.tiktoken import read_tiktoken

tiktoken = pytest.importorskip("tiktoken", reason="the judge of token ids is not installed")


@pytest.fixture(scope="module", params=[GPT2, LLAMA3, r"\p{L}++|\P{L}"], ids=["gpt-2", "llama-3", "possessive"])
def encoding(request, default_tokenizer):
    n_text = default_tokenizer.vocab_size - 1
    ranks = {default_tokenizer.token_bytes(token): token for token in range(n_text)}
    specials = {"<|endoftext|>": n_text, "<|endofprompt|>": n_text + 5}
    return tiktoken.Encoding("test", pat_str=request.param, mergeable_ranks=ranks, special_tokens=specials)


def test_ids_equal_those_of_tiktoken(encoding):
    tok = Tokenizer.from_tiktoken(encoding)
    assert tok.vocab_size == encoding.n_vocab
    assert tok.eos_ids == [encoding.eot_token]
    assert tok.special_ids == list(range(encoding.eot_token, encoding.n_vocab))
    for text in ("Hello world's", ' {"a": [1, 23456, null]}\n\n', "日本語 😀 Zoë", "", "<|endoftext|>", "a" * 300):
        assert tok.decode(tok.encode(text)) == text
        if tok.encoder_name == "bpe":  # Python 3.10 has no possessive quantifiers: longest match is used there
            assert tok.encode(text) == encoding.encode(text, disallowed_special=()), text
    if encoding._pat_str in (GPT2, LLAMA3):
        assert tok.encoder_name == "bpe"
        text = "a<|endoftext|>b<|endofprompt|>"
        assert tok.encode(text, parse_special=True) == encoding.encode(text, allowed_special="all")


def test_wrong_objects_and_missing_ends_are_named():
    with pytest.raises(VocabularyError) as error:
        read_tiktoken("gpt2")
    assert str(error.value) == ('str is not a tiktoken encoding\n  pass tiktoken.get_encoding("o200k_base")')
    nameless = tiktoken.Encoding(
        "x", pat_str=".", mergeable_ranks={bytes([b]): b for b in range(256)}, special_tokens={}
    )
    with pytest.raises(VocabularyError) as error:
        read_tiktoken(nameless)
    assert str(error.value) == ("the encoding names no end-of-sequence token\n  pass eos=ID or eos=[ID, ...]")
    assert read_tiktoken(nameless, eos=3).eos_ids == (3,)
