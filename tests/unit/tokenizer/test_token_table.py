"""Tokens without an encoder: bytes, names, text of ids. More of it: tests/unit/test_tokenizer.py."""

from __future__ import annotations

import pytest

from llmask.errors import VocabularyError
from llmask.tokenizer.token_table import TokenTable
from llmask.vocabulary.vocabulary import from_bytes


def test_ids_become_bytes_names_and_text():
    table = TokenTable(from_bytes([b"a", b"\xc3\xa9", b"<s>"], eos=2))
    assert (table.vocab_size, table.eos_ids, table.special_ids) == (3, [2], [2])
    assert [table.token_bytes(token) for token in range(3)] == [b"a", b"\xc3\xa9", b""]
    assert table.token_name(2) == "<s>"
    assert table.decode([0, 1, 2]) == "aé"
    assert table.trie.n_nodes == 4
    with pytest.raises(VocabularyError):
        table.token_bytes(3)
