"""Certain tokens of real texts, and the prompts that are healed with them."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

import llmask
from llmask.encoders.certain import find_node, last_restart
from llmask.vocabulary.patterns import PATTERNS
from llmask.vocabulary.strings import make_table
from llmask.vocabulary.vocabulary import EncoderData, TokenType, from_bytes


@pytest.mark.parametrize(
    ("prompt", "kept"),
    [("The name", "The"), ("http:", "http"), ("Hello world ", "Hello world"), ("a  ", "a"), ("", ""), ("don'", "don")],
)
def test_the_last_word_is_given_back(default_tokenizer: llmask.Tokenizer, prompt: str, kept: str) -> None:
    ids, prefix = default_tokenizer.heal(default_tokenizer.encode(prompt))
    assert default_tokenizer.decode(ids) == kept
    assert kept.encode() + prefix == prompt.encode()


def test_every_later_text_keeps_what_is_kept(default_tokenizer: llmask.Tokenizer) -> None:
    for prompt in ("if x:\n    ", "1234", "日本", "naïve caf", '{"a": ', "  \n ", "it'", "...", "x\u00a0"):
        ids, prefix = default_tokenizer.heal(default_tokenizer.encode(prompt))
        for later in ("", "a", " b", "'s", "s", "\n", "  c", '"', "12", "é", "語", "\n\n", ".", "ll", " \n"):
            assert default_tokenizer.encode(prompt + later)[: len(ids)] == ids, (prompt, later)
        assert default_tokenizer.decode_bytes(ids) + prefix == prompt.encode()


def test_special_tokens_are_kept(default_tokenizer: llmask.Tokenizer) -> None:
    special = default_tokenizer.special_ids[0]
    assert default_tokenizer.heal([*default_tokenizer.encode("a"), special]) == (
        [*default_tokenizer.encode("a"), special],
        b"",
    )
    ids, prefix = default_tokenizer.heal([special, *default_tokenizer.encode("name")])
    assert (ids, prefix) == ([special], b"name")


def test_tokens_that_are_no_encoding_are_given_back(default_tokenizer: llmask.Tokenizer) -> None:
    letters = [default_tokenizer.encode(letter)[0] for letter in "name"]
    assert default_tokenizer.heal(letters) == ([], b"name")


def test_half_a_character(default_tokenizer: llmask.Tokenizer) -> None:
    data = "x = 語".encode()[:-1]
    found = default_tokenizer._parts.certain_tokens(data)
    assert found is not None
    for later in ("\u8a9e", "\u8a9f", "\u8a80"):
        text = data + later.encode()[2:]
        assert default_tokenizer.encode(text.decode())[: len(found)] == found


def test_other_encoders_say_so() -> None:
    tokenizer = llmask.Tokenizer.from_bytes([b"a", b"b", b"<end>"], eos=2)
    with pytest.raises(llmask.VocabularyError, match="healed with byte-pair encoding only"):
        tokenizer.heal([0])


def test_words_that_are_final_are_not_looked_at(default_tokenizer: llmask.Tokenizer) -> None:
    encoder = default_tokenizer._parts.word_encoder
    assert encoder is not None
    assert last_restart(encoder, b"some text, more te") == len("some text, more")
    assert last_restart(encoder, b"word") == 0


def test_nodes_of_the_trie(default_tokenizer: llmask.Tokenizer) -> None:
    trie = default_tokenizer._parts.trie
    node = find_node(trie, b"the")
    assert default_tokenizer.token_bytes(int(trie.token[node])) == b"the"
    assert find_node(trie, b"\x00\x01qqqq") == -1


def test_long_runs_of_blanks_are_given_back(default_tokenizer: llmask.Tokenizer) -> None:
    """Thousands of tokens begin with a blank: 3,000 blanks were encoded in front of each, for minutes."""
    ids = default_tokenizer.encode("a" + " " * 3000)
    kept, prefix = default_tokenizer.heal(ids)
    assert kept == default_tokenizer.encode("a")
    assert prefix == b" " * 3000
    assert len(default_tokenizer.heal(default_tokenizer.encode("a" * 400))[0]) > 150


@pytest.mark.parametrize("names", [[], ["[x]"], ["b", "[x]"]])
def test_words_that_are_final_are_split_as_in_their_text(
    names: list[str], rng: random.Random, costly: Callable[[int], int]
) -> None:
    r"""Of " \n\n:" the last line end is a word; " \n\n" is one by itself, and was taken for certain."""
    merges = make_table(["Ġ Ċ".encode(), "ĠĊ Ċ".encode(), "Ċ Ċ".encode(), b"a b", b"[ x"])
    data = EncoderData(kind="bpe", merges=merges, patterns=PATTERNS["gpt-2"])
    tokens = [*(bytes([byte]) for byte in range(128)), b" \n", b" \n\n", b"\n\n", b"ab", b"[x", b"[x]", b"<end>"]
    made = from_bytes(tokens, eos=len(tokens) - 1, encoder=data)
    types = made.types.copy()
    for name in names:
        types[tokens.index(name.encode())] = TokenType.USER_DEFINED
    tok = llmask.Tokenizer(replace(made, types=types))
    assert tok._parts.certain_tokens(b"a \n\n:") == [ord("a"), 128, ord("\n"), ord(":")]
    n_certain, n_cases = 0, max(costly(100), 10)
    for _ in range(n_cases):
        text = "".join(rng.choices(["a", "b", " ", "\n", ":", "[x]", "["], k=rng.randint(1, 8)))
        certain = tok._parts.certain_tokens(text.encode(), may_end=False)
        assert certain is not None
        for more in ("a", "b", " ", "\n", ": x", "x]", " [x]", "'s"):
            assert tok.encode(text + more)[: len(certain)] == certain, (text, more)
        n_certain += len(certain)
    assert n_certain > 1.5 * n_cases


def test_a_character_that_breaks_off_may_be_completed_by_any_byte() -> None:
    """U+7300 is E7 and "8C 80", but its neighbours are "E7 8C" and one byte: E7 was taken for certain."""
    tokens = [*(bytes([byte]) for byte in range(256)), b"\x8c\x80", b"\xe7\x8c", b"<end>"]
    tok = llmask.Tokenizer(from_bytes(tokens, eos=258, encoder=EncoderData(kind="ranks", patterns=PATTERNS["gpt-2"])))
    assert tok.encode("\u7300") == [0xE7, 256]
    assert tok.encode("\u7301") == [257, 0x81]
    assert tok._parts.certain_tokens(b"a\xe7\x8c", may_end=False) == [ord("a")]


def test_a_blank_that_is_cut_off_at_an_end_may_stay_before_another_one() -> None:
    r"""Of "1  " the second blank may begin "  a ", whose last blank `\s+$` cuts off unless " a" follows.

    Every single character behind it merges with the blank ("a"), takes it into its word ("b"), or is a name ("1").
    """
    merges = make_table(["Ġ a".encode(), "Ġa Ġ".encode(), "Ġ ĠaĠ".encode()])
    data = EncoderData(kind="bpe", merges=merges, patterns=(r"\s?b+", r"\s+$", r"[0-9]+"))
    tokens = [b" ", b"1", b"a", b"b", b" a", b" a ", b"  a ", b"aab", b"<end>"]
    made = from_bytes(tokens, eos=8, encoder=data)
    types = made.types.copy()
    types[[tokens.index(b"1"), tokens.index(b"aab")]] = TokenType.USER_DEFINED
    tok = llmask.Tokenizer(replace(made, types=types))
    for follower in ("", "a", "b", "1", " "):
        assert tok.encode("1  a " + follower)[:3] == [1, 0, 4]
    assert tok.encode("1  a  a") == [1, 6, 4]
    assert tok._parts.certain_tokens(b"1  ") == [1]  # the first blank was taken for certain, too
