"""The public tokenizer: properties, encoding, decoding, and the messages of wrong arguments."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from llmask.compiling.compiler import Compiler
from llmask.errors import VocabularyError
from llmask.tokenizer.tokenizer import Tokenizer
from llmask.trie.layout import check
from llmask.vocabulary.vocabulary import EncoderData, from_bytes


@pytest.fixture
def tok() -> Tokenizer:
    return Tokenizer.from_bytes([b"<end>", b"a", b"ab", b"b", b"<s>", b"", b"\xc3", b"a"], eos=[0], special=[4])


def test_properties(tok):
    assert tok.vocab_size == 8
    assert tok.eos_ids == [0]
    assert tok.special_ids == [0, 4]
    assert [tok.token_bytes(t) for t in range(8)] == [b"", b"a", b"ab", b"b", b"", b"", b"\xc3", b"a"]
    assert tok.token_name(4) == "<s>"
    assert tok.encoder_name == "greedy"
    assert repr(tok) == "Tokenizer(8 tokens, eos_ids=[0], encoder='greedy')"
    assert tok._parts.token_offsets.dtype == np.int32
    assert tok._parts.token_offsets.tolist() == [0, 0, 1, 3, 4, 4, 4, 5, 6]
    assert tok._parts.token_data.tobytes() == b"aabb\xc3a"
    assert not tok._parts.token_data.flags.writeable
    assert not tok._parts.token_offsets.flags.writeable


def test_the_trie_is_built_once(tok):
    assert tok._parts.trie is tok._parts.trie
    check(tok._parts.trie)
    assert tok._parts.trie.duplicates.tolist() == [[1, 7]]


def test_lists_are_copies(tok):
    tok.eos_ids.append(3)
    tok.special_ids.clear()
    assert tok.eos_ids == [0]
    assert tok.special_ids == [0, 4]


def test_encode_and_decode(tok):
    assert tok.encode("abba<s>".removesuffix("<s>")) == [2, 3, 1]
    assert tok.encode("ab<s>", parse_special=True) == [2, 4]
    assert tok.encode("aba", method="greedy") == [2, 1]
    assert tok.count("abba") == 3
    assert tok.decode([2, 4, 3, 0]) == "abb"
    assert tok.decode_bytes(np.array([2, 6])) == b"ab\xc3"
    assert tok.decode([1, 6]) == "a\ufffd"
    assert tok.decode([]) == ""


def test_the_two_methods_differ_where_merges_say_so(default_tokenizer):
    text = "unbelievable tokenization"
    exact, greedy = default_tokenizer.encode(text), default_tokenizer.encode(text, method="greedy")
    assert default_tokenizer.decode(exact) == default_tokenizer.decode(greedy) == text


def test_the_blank_that_encoding_adds_is_dropped_by_decode_only(llama_spm_tokenizer):
    ids = llama_spm_tokenizer.encode("hi there")
    assert llama_spm_tokenizer.decode_bytes(ids) == b" hi there"
    assert llama_spm_tokenizer.decode(ids) == "hi there"
    assert llama_spm_tokenizer.decode(llama_spm_tokenizer.encode("  hi")) == "  hi"


@pytest.mark.parametrize("kind", ["spm", "ugm"])
def test_every_method_puts_one_blank_before_a_text(kind):
    scores = np.zeros(5, np.float32)
    data = EncoderData(kind=kind, scores=scores, add_space_prefix=True)
    tok = Tokenizer(from_bytes([b"</s>", b"a", b" a", b" ", b"b"], eos=0, encoder=data))
    assert tok.encoder_name == kind
    for method in ("exact", "greedy", "minimal"):
        assert tok.encode("aab", method=method) == [2, 1, 4], method
        assert tok.decode(tok.encode(" ab", method=method)) == " ab", method
    assert tok.encode_batch(["a", "aab"]) == [[2], [2, 1, 4]]
    assert tok.count("aab") == 3
    assert "".join(tok.split("aabba", 2)) == "aabba"
    assert tok.is_canonical([2, 1, 4])
    assert not tok.is_canonical([3, 1])


BAD_CALLS = [
    (lambda tok: tok.token_bytes(8), "the argument contains 8, but token ids are 0 to 7\n  give an id in this range"),
    (
        lambda tok: tok.token_name("a"),
        "the argument contains 'a', which is not a token id\n  give the id of the token, an int",
    ),
    (
        lambda tok: tok.decode_bytes([1.0]),
        "ids contains 1.0, which is not a token id\n  give the id of the token, an int",
    ),
    (lambda tok: tok.decode(5), "ids is int, not an id or a list of ids\n  give an int, or a list of ints"),
    (
        lambda tok: tok.encode("a\ud83d"),
        "the text contains the lone surrogate U+D83D\n"
        '  replace it: text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")',
    ),
    (
        lambda tok: tok.encode("abc"),
        "no token spells byte 0x63, so the text cannot be encoded\n"
        "  at byte 2 of the text\n"
        "  take it out of the text, or use a vocabulary with a token for every byte",
    ),
]


@pytest.mark.parametrize(("call", "message"), BAD_CALLS, ids=range(len(BAD_CALLS)))
def test_bad_arguments_are_named(tok, call, message):
    with pytest.raises(VocabularyError) as error:
        call(tok)
    assert str(error.value) == message


def test_every_gguf_vocabulary_encodes_its_own_tokens(shared_dir):
    for name, encoder in (("deepseek-llm", "bpe"), ("nomic-bert-moe", "ugm")):
        tok = Tokenizer.from_gguf(shared_dir / "data" / "vocab" / f"{name}.gguf")
        assert tok.encoder_name == encoder
        text = 'a plain text, {"with": [1, 2]} numbers'
        assert tok.decode(tok.encode(text)) == text


def test_a_tokenizer_in_use_can_be_copied_and_pickled() -> None:
    tokenizer = Tokenizer.from_bytes([b"a", b"b", b""], eos=2)
    compiler = Compiler(tokenizer)
    assert compiler.regex("ab").matcher().forced_bytes() == b"ab"
    assert tokenizer.store_bytes == compiler._newest_store().bytes_used
    for twin in (copy.copy(tokenizer), pickle.loads(pickle.dumps(tokenizer))):
        assert twin.store_bytes == 0
        assert Compiler(twin).regex("ab").matcher().forced_bytes() == b"ab"


def test_copies_encode_with_tables_of_their_own(default_tokenizer):
    text = "Copies of a tokenizer, used after it is gone."
    tokenizer = Tokenizer.default()
    expected = [tokenizer.encode(text, method=method) for method in ("exact", "heap", "greedy")]
    twins = [copy.copy(tokenizer), copy.deepcopy(tokenizer), pickle.loads(pickle.dumps(tokenizer))]
    del tokenizer
    for twin in twins:
        assert [twin.encode(text, method=method) for method in ("exact", "heap", "greedy")] == expected


def test_batches_are_encoded_as_single_texts(default_tokenizer):
    texts = [f"text number {number}, {'x' * number}" for number in range(50)]
    expected = [default_tokenizer.encode(text) for text in texts]
    for threads in (None, 1, 2, 5):
        assert default_tokenizer.encode_batch(texts, threads=threads) == expected
    assert default_tokenizer.encode_batch([]) == []
    long = [text * 2000 for text in texts] + ["", "é😀"]
    assert default_tokenizer.encode_batch(long, threads=3) == [default_tokenizer.encode(text) for text in long]
    assert default_tokenizer.encode_batch(["a", "b"], parse_special=True) == [default_tokenizer.encode(c) for c in "ab"]
    with pytest.raises(VocabularyError, match="lone surrogate"):
        default_tokenizer.encode_batch(["a", "\ud83d"])
    with pytest.raises(VocabularyError, match="only strings can be encoded, not int"):
        default_tokenizer.encode_batch(["a", 1])
    with pytest.raises(VocabularyError, match="a batch is a sequence of texts"):
        default_tokenizer.encode_batch("text")


def test_methods_of_byte_pair_encoding(default_tokenizer):
    text = "Several ways to encode encodings."
    exact = default_tokenizer.encode(text)
    assert default_tokenizer.encode(text, method="table") == default_tokenizer.encode(text, method="heap") == exact
    assert default_tokenizer.decode(default_tokenizer.encode(text, method="dropout", dropout=0.5, seed=2)) == text
    assert len(default_tokenizer.encode(text, method="minimal")) <= len(exact)
    with pytest.raises(VocabularyError, match='use "exact", "greedy", "minimal", "table", "heap" or "dropout"'):
        default_tokenizer.encode(text, method="fast")
    with pytest.raises(VocabularyError, match="a probability and a number of 64 bits"):
        default_tokenizer.encode(text, method="dropout", dropout=1.5)


def test_lists_and_arrays_that_their_owner_changes_later_change_no_tokenizer():
    tokens, eos, special = [b"a", b"b", b"</s>", b"<pad>"], np.array([2]), np.array([3], np.int32)
    tokenizer = Tokenizer.from_bytes(tokens, eos=eos, special=special)
    tokens[0], eos[0], special[0] = b"evil", 0, 1
    tokenizer.eos_ids.append(1)
    tokenizer.special_ids.clear()
    assert (tokenizer.eos_ids, tokenizer.special_ids) == ([2], [2, 3])
    assert [tokenizer.token_bytes(token) for token in range(4)] == [b"a", b"b", b"", b""]
