"""`check` finds broken invariants."""

from __future__ import annotations

import numpy as np
import pytest

from llmask.trie.build import build_trie
from llmask.trie.layout import check


@pytest.fixture
def trie():
    return build_trie(np.array([0, 1, 3, 4, 7, 9], np.int32), np.frombuffer(b"aabbabcab", np.uint8))


def test_the_path_of_bytes_ends_where_no_token_goes_on(trie):
    for data in (b"", b"a", b"ab", b"abb", b"abx", b"x", b"abca"):
        path = trie.path(data)
        assert path[0] == 0
        assert trie.byte[path[1:]].tobytes() == data[: len(path) - 1]
        if len(path) <= len(data):
            here = trie.child_byte[trie.child_first[path[-1]] : trie.child_first[path[-1] + 1]]
            assert data[len(path) - 1] not in here


@pytest.mark.parametrize(
    ("field", "index", "value"),
    [
        ("node", 1, 0),
        ("node", 3, 97 | 3 << 8 | 4 << 20),  # a leaf without a token
        ("child_first", 1, 1),
        ("child_byte", 0, 98),
        ("child_node", 0, 4),
        ("duplicates", (0, 1), 0),
    ],
)
def test_a_broken_field_is_noticed(trie, field, index, value):
    check(trie)
    broken = getattr(trie, field).copy()
    broken[index] = value
    broken.flags.writeable = False
    with pytest.raises(AssertionError):
        check(trie._replace(**{field: broken}))


def test_a_writable_array_is_noticed(trie):
    with pytest.raises(AssertionError):
        check(trie._replace(node=trie.node.copy()))
