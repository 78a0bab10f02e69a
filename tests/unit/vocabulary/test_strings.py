"""Tables of byte strings."""

from __future__ import annotations

import numpy as np
import pytest

from llmask.errors import VocabularyError
from llmask.vocabulary.strings import freeze, make_table


@pytest.mark.parametrize("strings", [[], [b""], [b"a", b"", b"bc", b"", b""], [b"\0", b"\xff" * 300]])
def test_a_table_gives_back_its_strings(strings):
    table = make_table(strings)
    assert table.n_strings == len(strings)
    assert list(table.strings()) == strings
    assert [table.get(i) for i in range(len(strings))] == strings


def test_find_wants_whole_strings():
    table = make_table([b"", b"xab", b"a", b"", b"ab", b"abc", b"ab"])
    assert table.find(b"ab") == 4
    assert table.find(b"a") == 2
    assert table.find(b"abc") == 5
    assert table.find(b"b") == -1
    assert table.find(b"nothing") == -1


def test_tables_are_read_only():
    table = freeze(np.array([0, 1], np.int32), np.array([97], np.uint8))
    with pytest.raises(ValueError, match="read-only"):
        table.data[0] = 1


def test_two_gigabytes_are_too_much():
    megabyte = bytes(2**20)
    message = "the strings have 2147483648 bytes together, the limit is 2147483647\n  use a smaller vocabulary"
    with pytest.raises(VocabularyError, match=f"^{message}$"):
        make_table([megabyte] * 2048)
