"""The builder against its twin: duplicates, empty tokens, sub-tries, long common prefixes, limits."""

from __future__ import annotations

import random

import numpy as np
import pytest

from llmask.errors import VocabularyError
from llmask.trie.layout import TokenTrie, build_trie, check
from tests.reference import trie_build as twin


def pack(tokens: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    lengths = [len(token) for token in tokens]
    return np.cumsum([0, *lengths], dtype=np.int32), np.frombuffer(b"".join(tokens), np.uint8)


def assert_equals_twin(tokens: list[bytes], include: list[bool] | None = None) -> TokenTrie:
    trie = build_trie(*pack(tokens), None if include is None else np.array(include))
    check(trie)
    expected = twin.build_trie(tokens, include)
    for name in ("byte", "depth", "token", "subtree_end"):
        assert getattr(trie, name).tolist() == expected[name], name
    starts = trie.child_first
    children = [trie.child_node[starts[n] : starts[n + 1]].tolist() for n in range(trie.n_nodes)]
    assert children == expected["children"]
    assert trie.duplicates.tolist() == expected["duplicates"]
    return trie


def test_the_drawing_in_the_layout_is_what_is_built():
    trie = assert_equals_twin([b"a", b"ab", b"b", b"abc", b"ab"])
    assert trie.subtree_end.tolist() == [5, 4, 4, 4, 5]
    assert trie.token.tolist() == [-1, 0, 1, 3, 2]
    assert trie.duplicates.tolist() == [[1, 4]]
    assert trie.child_first.tolist() == [0, 2, 3, 4, 4, 4]


@pytest.mark.parametrize("tokens", [[], [b""], [b"", b"a", b""], [b"\0"], [b"\0" * 3, b"\0", b"\0\0"], [b"\xff"]])
def test_small_vocabularies(tokens):
    assert_equals_twin(tokens)


@pytest.mark.parametrize("seed", range(150))
def test_random_vocabularies_equal_the_twin(seed):
    rng = random.Random(seed)
    alphabet = rng.choice([b"ab", b"\0\1", bytes(range(256)), b"\xc3\xa9 a"])
    prefix = rng.choice([b"", b"a long common prefix", b"\0" * 9])
    longest = rng.choice([2, 5, 12])
    tokens = [
        prefix * (rng.random() < 0.9) + bytes(rng.choices(alphabet, k=rng.randint(0, longest)))
        for _ in range(rng.randint(1, 60))
    ]
    include = [rng.random() < 0.6 for _ in tokens] if seed % 3 == 0 else None
    assert_equals_twin(tokens, include)


def test_many_tokens_with_one_key_are_sorted_by_merging():
    rng = random.Random(7)
    tokens = [b"same key" + str(rng.randrange(3000)).encode() for _ in range(2000)]
    trie = build_trie(*pack(tokens))
    check(trie)
    assert len(trie.duplicates) + (trie.token >= 0).sum() == len(tokens)
    in_order = [tokens[token] for token in trie.token if token >= 0]
    assert in_order == sorted(set(tokens))


def test_the_longest_token_fits_and_a_longer_one_is_refused():
    assert_equals_twin([b"a" * 40, b"b"])
    trie = build_trie(*pack([b"a" * 4095]))
    check(trie)
    assert trie.depth[-1] == 4095
    with pytest.raises(VocabularyError) as error:
        build_trie(*pack([b"b", b"a" * 4096]))
    assert str(error.value) == (
        "token 1 has 4096 bytes, the limit is 4095\n  mark it as special if text never contains it"
    )


def test_too_many_nodes_are_refused():
    rng = random.Random(3)
    tokens = [rng.randbytes(4000) for _ in range(1100)]
    with pytest.raises(VocabularyError, match=r"^the tokens need \d+ trie nodes, the limit is 4194303\n"):
        build_trie(*pack(tokens))


def test_too_many_tokens_are_refused():
    with pytest.raises(VocabularyError, match=r"^the vocabulary has 2097151 tokens, the limit is 2097150\n"):
        build_trie(np.zeros(2097152, np.int32), np.empty(0, np.uint8))


def test_inputs_may_be_frozen_and_arrays_are_read_only():
    offsets, data = pack([b"a", b"b"])
    offsets.flags.writeable = False
    trie = build_trie(offsets, data)
    with pytest.raises(ValueError, match="read-only"):
        trie.node[0] = 1


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
