"""Addresses are those of the contents, lists of ids are plain, and a double array holds the tokens."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import llmask
from llmask.encoders.tables import SHORT_LIST, EncoderTable, address_of, build_double_array, double_array, misspelled
from llmask.kernels.encoders import double_array as layout
from llmask.kernels.encoders.encoder_slots import MAX_PATTERNS, N_ENCODER_SLOTS, EncoderSlot
from llmask.trie.layout import build_trie
from llmask.vocabulary.strings import BYTE_ALPHABET, make_table
from llmask.vocabulary.vocabulary import EncoderData, TokenType, Vocabulary, find_special, freeze_vocabulary
from tests.unit.vocabulary.gguf_files import CONTROL, NORMAL, write_gguf


def test_the_address_is_that_of_the_contents():
    data = bytes(range(256))
    assert ctypes.string_at(address_of(data), len(data)) == data


def test_ids_become_plain_integers():
    table = EncoderTable(None)
    table.put(EncoderSlot.OFFSETS, np.zeros(5001, np.int32))
    for n_ids in (0, 1, SHORT_LIST, SHORT_LIST + 1, 5000):
        ids = np.arange(n_ids, dtype=np.int32)[::-1].copy()
        assert table.listed(ids) == list(range(n_ids))[::-1]
        assert all(type(token) is int for token in table.listed(ids))


def test_slots_do_not_overlap():
    assert len(set(map(int, EncoderSlot))) == len(EncoderSlot.__members__)  # no two names of one slot
    assert EncoderSlot.OFFSETS == EncoderSlot.TRANSITIONS + MAX_PATTERNS
    assert max(EncoderSlot) < N_ENCODER_SLOTS


def test_the_double_array_holds_the_tokens(rng):
    tokens = sorted({bytes(rng.choices(b"abc\x00\xff", k=rng.randint(1, 6))) for _ in range(300)})
    table = make_table(tokens)
    entries = double_array(build_trie(table.offsets, table.data))
    for token, data in enumerate(tokens):
        base, found = layout.ROOT_BASE, -1
        for byte in data:
            entry = int(entries[base + byte])
            assert entry & layout.LABEL_MASK == byte + 1
            base, found = entry >> layout.BASE_SHIFT, (entry >> layout.ENDING_SHIFT & layout.ENDING_MASK) - 1
        assert found == token
    n_nodes = build_trie(table.offsets, table.data).n_nodes
    assert np.count_nonzero(entries) == n_nodes - 1


def test_of_equal_strings_the_last_counts() -> None:
    strings = make_table([b"a", b"b", b"a", b"", b"a", b"b", b"c"])
    endings = build_double_array(strings)[layout.ROOT_BASE :] >> layout.ENDING_SHIFT & layout.ENDING_MASK
    assert sorted(endings[endings > 0].tolist()) == [4 + 1, 5 + 1, 6 + 1]


JOINER = "\u200d"
SPELLED = "".join(BYTE_ALPHABET[byte] for byte in JOINER.encode())


def vocabulary(texts: list[str], tokens: list[bytes], user_defined: list[int], **fields: Any) -> Vocabulary:
    types = np.full(len(texts) + 1, TokenType.NORMAL, np.uint8)
    types[user_defined] = TokenType.USER_DEFINED
    types[-1] = TokenType.CONTROL
    parts = make_table([*tokens, b""]), make_table([*(text.encode() for text in texts), b"</s>"])
    return freeze_vocabulary(*parts, types, find_special(types, ()), (len(texts),), EncoderData(**fields))


def test_every_character_outside_of_the_byte_alphabet_is_seen() -> None:
    characters = [chr(code) for code in (*range(0x20, 0xD800, 7), *range(0x20, 0x200), 0xFFFD, 0x1F600)]
    texts = ["Ġ", *characters, *(f"a{character}b" for character in characters)]
    found = misspelled(vocabulary(texts, [b" ", *(text.encode() for text in texts[1:])], [], kind="bpe"))
    assert found.tolist() == [any(c not in BYTE_ALPHABET for c in text) for text in texts] + [False]


@pytest.mark.parametrize("kind", ["spm", "ugm", "wpm"])
def test_blanks_in_place_of_space_marks(kind: str) -> None:
    texts, tokens = ["▁a", " a", "b c", "  ", "d"], [b" a", b" a", b"b c", b"  ", b"d"]
    assert misspelled(vocabulary(texts, tokens, [3], kind=kind)).nonzero()[0].tolist() == [1, 2, 3]
    found = misspelled(vocabulary(texts, tokens, [3], kind=kind, rules="sentencepiece"))
    assert found.nonzero()[0].tolist() == [1, 2]  # user-defined ones are found there in the course of the text
    assert not misspelled(vocabulary(texts, tokens, [3], kind=kind, escape_whitespaces=False)).any()


@pytest.mark.parametrize("kind", ["bpe", "spm", "greedy"])
def test_a_vocabulary_of_bytes_has_no_spelling(kind: str) -> None:
    texts = [" a", "\n", JOINER, "a"]
    assert not misspelled(vocabulary(texts, [text.encode() for text in texts], [], kind=kind)).any()


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> llmask.Tokenizer:
    """A joiner (id 1) and " a" (id 2) as they are, and in the byte alphabet (the last two); "…" as it is."""
    first, second, third = SPELLED
    texts = ["</s>", JOINER, " a", "…", *BYTE_ALPHABET, first + second, SPELLED, "Ġa"]
    merges = [f"{first} {second}", f"{first + second} {third}", "Ġ a"]
    path: Path = tmp_path_factory.mktemp("spelled") / "v.gguf"
    types = [CONTROL] + [NORMAL] * (len(texts) - 1)
    tokens = [text.encode() for text in texts]
    return llmask.Tokenizer.from_gguf(
        write_gguf(path, "gpt2", tokens, types, merges=merges, eos_token_id=0, pre="gpt-2")
    )


def test_the_token_in_the_byte_alphabet_is_taken(tokenizer: llmask.Tokenizer) -> None:
    """Of Command R's two tokens of U+200D the one was taken that no text becomes, because it has the lower id."""
    n = tokenizer.vocab_size
    for method in ("exact", "table", "heap", "greedy", "minimal"):
        assert tokenizer.encode(f"{JOINER} a", method=method) == [n - 2, n - 1], method
    assert tokenizer.encode("…") == [n - 3, 4 + 0xA6]  # two of its bytes are a token
    assert tokenizer.decode([1, 2, 3]) == f"{JOINER} a…"
    assert tokenizer.is_canonical([n - 2])
    assert not tokenizer.is_canonical([1])


def test_masks_allow_both_and_canonical_ones_what_is_written(tokenizer: llmask.Tokenizer) -> None:
    def allowed(compiler: llmask.Compiler) -> set[int]:
        matcher = compiler.choice([JOINER, " a"]).matcher()
        mask = llmask.allocate_bitmask(1, tokenizer.vocab_size)
        matcher.fill_bitmask(mask)
        return {token for token in range(tokenizer.vocab_size) if mask[0, token // 32] >> (token % 32) & 1}

    n = tokenizer.vocab_size
    assert {1, 2, n - 1, n - 2} <= allowed(llmask.Compiler(tokenizer))
    assert allowed(llmask.Compiler(tokenizer, canonical=True)) == {n - 1, n - 2}
