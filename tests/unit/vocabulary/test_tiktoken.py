"""tiktoken encodings, made from the shipped vocabulary so that nothing is downloaded."""

from __future__ import annotations

import base64
import inspect
import re

import pytest

from llmask.errors import VocabularyError
from llmask.tokenizer.tokenizer import Tokenizer
from llmask.vocabulary.patterns import CL100K, GPT2, LLAMA3, O200K, PATTERNS
from llmask.vocabulary.tiktoken import read_tiktoken

tiktoken = pytest.importorskip("tiktoken", reason="the judge of token ids is not installed")


@pytest.fixture(scope="module", params=[GPT2, LLAMA3, r"\p{L}++|\P{L}"], ids=["gpt-2", "llama-3", "possessive"])
def encoding(request, default_tokenizer):
    n_text = default_tokenizer.vocab_size - 1
    ranks = {default_tokenizer.token_bytes(token): token for token in range(n_text)}
    specials = {"<|endoftext|>": n_text, "<|endofprompt|>": n_text + 5}
    return tiktoken.Encoding("test", pat_str=request.param, mergeable_ranks=ranks, special_tokens=specials)


@pytest.mark.long
def test_ids_equal_those_of_tiktoken(encoding):
    tok = Tokenizer.from_tiktoken(encoding)
    assert tok.vocab_size == encoding.n_vocab
    assert tok.eos_ids == [encoding.eot_token]
    assert tok.special_ids == list(range(encoding.eot_token, encoding.n_vocab))
    for text in ("Hello world's", ' {"a": [1, 23456, null]}\n\n', "日本語 😀 Zoë", "", "<|endoftext|>", "a" * 300):
        assert tok.decode(tok.encode(text)) == text
        assert tok.encode(text) == encoding.encode(text, disallowed_special=()), text
    assert tok.encoder_name == "bpe"
    text = "a<|endoftext|>b<|endofprompt|>"
    assert tok.encode(text, parse_special=True) == encoding.encode(text, allowed_special="all")


def test_wrong_objects_and_missing_ends_are_named():
    with pytest.raises(VocabularyError) as error:
        read_tiktoken(5)
    assert str(error.value) == ('int is not a tiktoken encoding\n  pass tiktoken.get_encoding("o200k_base")')
    nameless = tiktoken.Encoding(
        "x", pat_str=".", mergeable_ranks={bytes([b]): b for b in range(256)}, special_tokens={}
    )
    with pytest.raises(VocabularyError) as error:
        read_tiktoken(nameless)
    assert str(error.value) == ("the encoding names no end-of-sequence token\n  pass eos=ID or eos=[ID, ...]")
    assert read_tiktoken(nameless, eos=3).eos_ids == (3,)


def test_files_go_by_their_name(tmp_path):
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b"abc": 257}
    lines = [f"{base64.b64encode(data).decode()} {rank}" for data, rank in ranks.items()]
    path = tmp_path / "r50k_base.tiktoken"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    tok = Tokenizer.from_tiktoken(path)
    assert tok.eos_ids == [50256]
    assert tok.encode("abc ab<|endoftext|>", parse_special=True) == [257, 32, 256, 50256]
    tok = Tokenizer.from_tiktoken(path, pattern="abc?|.", special={"<|endoftext|>": 300})
    assert tok.eos_ids == [300]
    assert tok.encode("aab") == [97, 256]
    path.write_bytes(b"!!!! 0\n")
    with pytest.raises(VocabularyError, match="not a token in base64 and its rank\n  at line 1"):
        Tokenizer.from_tiktoken(path)
    with pytest.raises(VocabularyError, match=r"name the file as tiktoken does: r50k_base\.tiktoken, "):
        Tokenizer.from_tiktoken(tmp_path / "other.tiktoken")
    with pytest.raises(VocabularyError, match="pattern is int, not a string"):
        Tokenizer.from_tiktoken(path, pattern=5)


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_patterns_are_those_of_tiktoken(name):
    public = pytest.importorskip("tiktoken_ext.openai_public", reason="tiktoken is not installed")
    source = inspect.getsource(getattr(public, name))
    expected = {"cl100k_base": CL100K, "o200k_base": O200K}[name]
    assert PATTERNS[name] == (expected,)
    assert "|".join(re.findall(r'r"""(.+?)"""', source)) == expected


@pytest.mark.long
def test_a_file_is_read_with_a_pattern_and_special_tokens(encoding, tmp_path):
    path = tmp_path / "ranks.tiktoken"
    lines = [base64.b64encode(token) + b" %d" % rank for token, rank in encoding._mergeable_ranks.items()]
    path.write_bytes(b"\n".join(lines) + b"\n")
    tok = Tokenizer.from_tiktoken(path, pattern=encoding._pat_str, special=encoding._special_tokens)
    same = Tokenizer.from_tiktoken(encoding)
    assert [*tok._parts.vocabulary.tokens.strings()] == [*same._parts.vocabulary.tokens.strings()]
    assert tok.eos_ids == same.eos_ids
    assert tok.encode("Hello world's 12345") == same.encode("Hello world's 12345")


BAD_FILES = [
    (b"YQ== 0\nYg==\n", {}, "not a token in base64 and its rank\n  at line 2"),
    (b"YQ== 0\n!!!! 1\n", {}, "not a token in base64 and its rank\n  at line 2"),
    (b"YQ== x\n", {}, "not a token in base64 and its rank\n  at line 1"),
    (b"YQ== 0\n\nYQ== 1\n", {}, "token b'a' of rank 1 is not new\n  at line 3"),
    (b"YQ== 0\nYg== 0\n", {}, "token b'b' of rank 0 is not new\n  at line 2"),
    (b"YQ== 1152921504606846976\n", {}, "token b'a' of rank 1152921504606846976 is not new\n  at line 1"),
    (b"YQ== 0\n", {"special": {"<|endoftext|>": 0}}, 'the special token "<|endoftext|>" has the id of another token'),
    (b"YQ== 0\n", {"special": {"<s>": -1}}, "special contains -1, but token ids are 0 to 2097149"),
    (b"YQ== 0\n", {"pattern": None}, "such a file does not say how text is split into words\n  pass pattern="),
]


@pytest.mark.parametrize(("block", "options", "message"), BAD_FILES, ids=range(len(BAD_FILES)))
def test_bad_files_are_named(tmp_path, block, options, message):
    path = tmp_path / "ranks.tiktoken"
    path.write_bytes(block)
    with pytest.raises(VocabularyError) as error:
        Tokenizer.from_tiktoken(path, **{"pattern": ".", "special": {"<|endoftext|>": 9}, **options})
    assert str(error.value).removeprefix(f"{path}: ").startswith(message)


def test_an_encoding_has_its_own_pattern(encoding):
    with pytest.raises(VocabularyError, match=r"pattern and special belong to a \.tiktoken file"):
        Tokenizer.from_tiktoken(encoding, pattern=".")
