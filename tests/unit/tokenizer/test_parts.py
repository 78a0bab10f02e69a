"""Bytes, names and text of ids; what the engine takes of a tokenizer. More of it: test_tokenizer.py."""

from __future__ import annotations

import numpy as np
import pytest

from llmask.errors import VocabularyError
from llmask.tokenizer.parts import TokenizerParts
from llmask.tokenizer.tokenizer import Tokenizer
from llmask.vocabulary.strings import make_table
from llmask.vocabulary.vocabulary import EncoderData, find_special, freeze_vocabulary, from_bytes


def test_ids_become_bytes_names_and_text():
    tokenizer = Tokenizer(from_bytes([b"a", b"\xc3\xa9", b"<s>"], eos=2))
    assert (tokenizer.vocab_size, tokenizer.eos_ids, tokenizer.special_ids) == (3, [2], [2])
    assert [tokenizer.token_bytes(token) for token in range(3)] == [b"a", b"\xc3\xa9", b""]
    assert tokenizer.token_name(2) == "<s>"
    assert tokenizer.decode([0, 1, 2]) == "aé"
    assert tokenizer._parts.trie.n_nodes == 4
    with pytest.raises(VocabularyError):
        tokenizer.token_bytes(3)


def test_names_of_special_tokens_are_shown_where_they_are_asked_for():
    tokenizer = Tokenizer(from_bytes([b"a", b" b", b"<s>", b"</s>", b"\xc3"], eos=3, special=[2]))
    assert tokenizer.decode([2, 0, 1, 3]) == tokenizer.decode([2, 0, 1, 3], skip_special=True) == "a b"
    assert tokenizer.decode([2, 0, 1, 3], skip_special=False) == "<s>a b</s>"
    assert tokenizer.decode([4, 2], False) == "\ufffd<s>"
    for call in (lambda: tokenizer.decode([5], skip_special=False), lambda: tokenizer._parts.bytes_or_name(5)):
        with pytest.raises(VocabularyError, match="token ids are 0 to 4"):
            call()


def test_one_blank_is_dropped_at_the_beginning_of_a_text_with_names(llama_spm_tokenizer):
    ids = llama_spm_tokenizer.encode("hi", add_special=True)
    assert llama_spm_tokenizer.decode(ids) == "hi"
    assert llama_spm_tokenizer.decode(ids, skip_special=False) == "<s> hi"
    assert llama_spm_tokenizer.decode(ids[1:], skip_special=False) == "hi"


def test_absent_ids_are_those_that_no_token_has():
    types = np.array([1, 5, 5, 1, 5, 3], np.uint8)
    texts = make_table([b"a", b"", b"", b"", b"<unused>", b"</s>"])
    vocabulary = freeze_vocabulary(texts, texts, types, find_special(types, [5]), (5,), EncoderData())
    assert TokenizerParts(vocabulary).absent_ids == ((1, 2),)
    assert TokenizerParts(from_bytes([b"a", b""], 1)).absent_ids == ()
