"""Tokens whose texts are not spelled as their vocabulary spells texts are not found in one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import llmask
from llmask.encoders.misspelled import misspelled
from llmask.vocabulary.strings import BYTE_ALPHABET, make_table
from llmask.vocabulary.vocabulary import EncoderData, TokenType, Vocabulary, find_special, freeze_vocabulary
from tests.unit.vocabulary.gguf_files import CONTROL, NORMAL, write_gguf

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
