"""Certain tokens of real texts, and the prompts that are healed with them."""

from __future__ import annotations

import pytest

import llmask
from llmask.encoders.certain import find_node, last_restart


@pytest.fixture(scope="module")
def tokenizer() -> llmask.Tokenizer:
    return llmask.Tokenizer.default()


@pytest.mark.parametrize(
    ("prompt", "kept"),
    [("The name", "The"), ("http:", "http"), ("Hello world ", "Hello world"), ("a  ", "a"), ("", ""), ("don'", "don")],
)
def test_the_last_word_is_given_back(tokenizer: llmask.Tokenizer, prompt: str, kept: str) -> None:
    ids, prefix = tokenizer.heal(tokenizer.encode(prompt))
    assert tokenizer.decode(ids) == kept
    assert kept.encode() + prefix == prompt.encode()


def test_every_later_text_keeps_what_is_kept(tokenizer: llmask.Tokenizer) -> None:
    for prompt in ("if x:\n    ", "1234", "日本", "naïve caf", '{"a": ', "  \n ", "it'", "...", "x\u00a0"):
        ids, prefix = tokenizer.heal(tokenizer.encode(prompt))
        for later in ("", "a", " b", "'s", "s", "\n", "  c", '"', "12", "é", "語", "\n\n", ".", "ll", " \n"):
            assert tokenizer.encode(prompt + later)[: len(ids)] == ids, (prompt, later)
        assert tokenizer.decode_bytes(ids) + prefix == prompt.encode()


def test_special_tokens_are_kept(tokenizer: llmask.Tokenizer) -> None:
    special = tokenizer.special_ids[0]
    assert tokenizer.heal([*tokenizer.encode("a"), special]) == ([*tokenizer.encode("a"), special], b"")
    ids, prefix = tokenizer.heal([special, *tokenizer.encode("name")])
    assert (ids, prefix) == ([special], b"name")


def test_tokens_that_are_no_encoding_are_given_back(tokenizer: llmask.Tokenizer) -> None:
    letters = [tokenizer.encode(letter)[0] for letter in "name"]
    assert tokenizer.heal(letters) == ([], b"name")


def test_half_a_character(tokenizer: llmask.Tokenizer) -> None:
    data = "x = 語".encode()[:-1]
    found = tokenizer.certain_tokens(data)
    assert found is not None
    for later in ("\u8a9e", "\u8a9f", "\u8a80"):
        text = data + later.encode()[2:]
        assert tokenizer.encode(text.decode())[: len(found)] == found


def test_other_encoders_say_so() -> None:
    tokenizer = llmask.Tokenizer.from_bytes([b"a", b"b", b"<end>"], eos=2)
    with pytest.raises(llmask.VocabularyError, match="healed with byte-pair encoding only"):
        tokenizer.heal([0])


def test_words_that_are_final_are_not_looked_at(tokenizer: llmask.Tokenizer) -> None:
    encoder = tokenizer.word_encoder
    assert encoder is not None
    assert last_restart(encoder, b"some text, more te") == len("some text, more")
    assert last_restart(encoder, b"word") == 0


def test_nodes_of_the_trie(tokenizer: llmask.Tokenizer) -> None:
    trie = tokenizer.trie
    node = find_node(trie, b"the")
    assert tokenizer.token_bytes(int(trie.token[node])) == b"the"
    assert find_node(trie, b"\x00\x01qqqq") == -1


def test_long_runs_of_blanks_are_given_back(tokenizer: llmask.Tokenizer) -> None:
    """Thousands of tokens begin with a blank: 3,000 blanks were encoded in front of each, for minutes."""
    ids = tokenizer.encode("a" + " " * 3000)
    kept, prefix = tokenizer.heal(ids)
    assert kept == tokenizer.encode("a")
    assert prefix == b" " * 3000
    assert len(tokenizer.heal(tokenizer.encode("a" * 400))[0]) > 150
