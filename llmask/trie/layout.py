"""The token trie as flat arrays: what a mask walk reads.

Depth-first order puts a subtree into one range of nodes, so refusing a byte is one jump to `subtree_end`, and allowing
it is "the next node". One 64-bit word a node keeps the walk at one cache line for eight nodes. The side table of
children serves narrow lexer states, which look up one byte of the root instead of hopping over its 256 subtrees.

Five tokens 0 "a", 1 "ab", 2 "b", 3 "abc", 4 "ab" (the same bytes as token 1) make five nodes:

    node  byte  depth  subtree_end  token        root 0 ─┬─ a 1 ─── b 2 ─── c 3
     0     -      0        5         -                   │  tok 0   tok 1   tok 3
     1    "a"     1        4         0                   └─ b 4
     2    "b"     2        4         1                      tok 2
     3    "c"     3        4         3
     4    "b"     1        5         2           duplicates = [[1, 4]]

    child_first = [0, 2, 3, 4, 4, 4]   child_byte = "a" "b" | "b" | "c"   child_node = 1 4 | 2 | 3

Three kinds of tokens need a word:

- *Duplicates*: several ids with the same bytes (SPM vocabularies have "a" and <0x61>). The lowest id is stored at the
  node; the others are listed in `duplicates`, and whoever writes a mask copies the bit of the first to the second.
- *Empty tokens* have no node: a token without bytes would end at the root and could be repeated for ever. A grammar
  never allows them.
- *Special tokens* have no bytes in a `Vocabulary`, hence no node either; grammars name them by id.

In: `token_offsets`, `token_data` of a vocabulary. Out: `TokenTrie`, its accessors and `check`. Cost: 15 ms for 128,256
tokens; 8 bytes a node for `node`, 9 for the children; such a vocabulary has 274,520 nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from llmask.errors import VocabularyError
from llmask.kernels.machine.constants import (
    MAX_TOKEN_BYTES,
    MAX_TRIE_NODES,
    MAX_VOCAB_SIZE,
    NO_TOKEN,
    ROOT,
    TRIE_BYTE_MASK,
    TRIE_DEPTH_MASK,
    TRIE_DEPTH_SHIFT,
    TRIE_END_MASK,
    TRIE_END_SHIFT,
    TRIE_TOKEN_MASK,
    TRIE_TOKEN_SHIFT,
)


class TokenTrie(NamedTuple):
    """Prefix trie of token bytes, nodes in depth-first order; node 0 is the root. All arrays are read-only.

    node         int64[n_nodes]      packed word, see below
    child_first  int32[n_nodes + 1]  children of node n are entries child_first[n] up to child_first[n + 1]
    child_byte   uint8[n_nodes - 1]  byte of a child, ascending within a node
    child_node   int32[n_nodes - 1]  node of a child
    duplicates   int32[n, 2]         (token in the trie, another id with the same bytes), sorted

    Fields of a word (positions in `llmask/kernels/machine/constants.py`):

    byte         bits 0-7    byte on the edge into the node; 0 for the root
    depth        bits 8-19   bytes from the root
    subtree_end  bits 20-41  first node after this subtree: the place to jump when the byte is refused
    token        bits 42-62  id + 1 of the token ending here, 0 when none does
    """

    node: np.ndarray
    child_first: np.ndarray
    child_byte: np.ndarray
    child_node: np.ndarray
    duplicates: np.ndarray

    @property
    def n_nodes(self) -> int:
        """Nodes, the root included."""
        return len(self.node)

    @property
    def byte(self) -> np.ndarray:
        """uint8[n_nodes], unpacked copy."""
        return (self.node & TRIE_BYTE_MASK).astype(np.uint8)

    @property
    def depth(self) -> np.ndarray:
        """int32[n_nodes], unpacked copy."""
        return ((self.node >> TRIE_DEPTH_SHIFT) & TRIE_DEPTH_MASK).astype(np.int32)

    @property
    def subtree_end(self) -> np.ndarray:
        """int32[n_nodes], unpacked copy."""
        return ((self.node >> TRIE_END_SHIFT) & TRIE_END_MASK).astype(np.int32)

    @property
    def token(self) -> np.ndarray:
        """int32[n_nodes], unpacked copy; NO_TOKEN where none ends."""
        return (((self.node >> TRIE_TOKEN_SHIFT) & TRIE_TOKEN_MASK) - 1).astype(np.int32)

    def path(self, data: bytes) -> list[int]:
        """The nodes that some bytes lead to, the root first; they end before a byte that no token goes on with."""
        nodes = [0]
        for byte in data:
            first, end = self.child_first[nodes[-1] : nodes[-1] + 2].tolist()
            at = first + int(np.searchsorted(self.child_byte[first:end], byte))
            if at == end or self.child_byte[at] != byte:
                break
            nodes.append(int(self.child_node[at]))
        return nodes


def check(trie: TokenTrie) -> None:
    """Assert every invariant of the layout.

    node < subtree_end[node] <= n_nodes; depth[node] <= depth[node - 1] + 1; a child lies inside its parent's subtree,
    one byte deeper; siblings ascend strictly; leaves end a token; every token appears once; duplicates name stored
    tokens.

    Raises
    ------
    AssertionError : when an invariant is broken, which is a bug in the builder.
    """
    node, byte, depth, end, token = trie.node, trie.byte, trie.depth, trie.subtree_end, trie.token
    n_nodes = trie.n_nodes
    assert node.dtype == np.int64
    assert (node >= 0).all()
    assert trie.child_first.dtype == np.int32
    assert trie.child_node.dtype == np.int32
    assert trie.child_byte.dtype == np.uint8
    assert trie.duplicates.dtype == np.int32
    assert depth[ROOT] == 0
    assert byte[ROOT] == 0
    assert token[ROOT] == NO_TOKEN
    assert end[ROOT] == n_nodes
    numbers = np.arange(n_nodes)
    assert (end > numbers).all()
    assert (end <= n_nodes).all()
    assert (depth[1:] >= 1).all()
    assert (depth[1:] <= depth[:-1] + 1).all()
    n_children = np.diff(trie.child_first)
    assert trie.child_first[0] == 0
    assert trie.child_first[-1] == n_nodes - 1
    assert (n_children >= 0).all()
    assert len(trie.child_byte) == len(trie.child_node) == n_nodes - 1
    parent = np.repeat(numbers, n_children)
    child = trie.child_node
    assert np.array_equal(np.sort(child), numbers[1:])
    assert (trie.child_byte == byte[child]).all()
    assert (depth[child] == depth[parent] + 1).all()
    assert (parent < child).all()
    assert (end[child] <= end[parent]).all()
    is_sibling = parent[1:] == parent[:-1]
    assert (trie.child_byte[1:][is_sibling] > trie.child_byte[:-1][is_sibling]).all()
    assert (child[1:][is_sibling] == end[child[:-1]][is_sibling]).all()
    has_children = n_children > 0
    assert (child[trie.child_first[:-1][has_children]] == numbers[has_children] + 1).all()
    assert (token[~has_children & (numbers > ROOT)] != NO_TOKEN).all()
    stored = token[token != NO_TOKEN]
    assert len(np.unique(stored)) == len(stored)
    assert trie.duplicates.ndim == 2
    assert trie.duplicates.shape[1] == 2
    assert np.isin(trie.duplicates[:, 0], stored).all()
    assert not np.isin(trie.duplicates[:, 1], stored).any()
    assert (trie.duplicates[:, 0] < trie.duplicates[:, 1]).all()
    assert trie.duplicates.tolist() == sorted(trie.duplicates.tolist())
    assert not any(array.flags.writeable for array in trie)


def build_trie(token_offsets: np.ndarray, token_data: np.ndarray, include: np.ndarray | None = None) -> TokenTrie:
    """Trie of all tokens that have bytes.

    Parameters
    ----------
    token_offsets : int32[n_tokens + 1], ascending; token t is `token_data[token_offsets[t] : token_offsets[t + 1]]`.
    token_data : uint8[n_bytes], all token bytes back to back.
    include : bool[n_tokens]; only these tokens are taken. None: all.

    Returns
    -------
    A trie whose arrays are read-only and belong to the caller. Without any token it is the root alone.

    Raises
    ------
    VocabularyError : a token longer than 4,095 bytes, more than 2,097,150 tokens or 4,194,303 nodes.

    Examples
    --------
    >>> trie = build_trie(np.array([0, 1, 3], np.int32), np.frombuffer(b"aab", np.uint8))
    >>> trie.token.tolist()
    [-1, 0, 1]
    """
    from ..kernels.machine import jit
    from ..kernels.vocabulary import trie_build

    jit.make_ready("trie")
    lengths = np.diff(token_offsets)
    _check_sizes(lengths)
    chosen = lengths > 0 if include is None else (lengths > 0) & include
    # copies: the doors take writable arrays only, and a vocabulary's arrays are frozen
    offsets = np.array(token_offsets, dtype=np.int32)
    data = np.array(token_data, dtype=np.uint8)
    ids = np.flatnonzero(chosen).astype(np.int32)
    keys, other_keys = np.empty(len(ids), np.int64), np.empty(len(ids), np.int64)
    shared = np.empty(len(ids), np.int32)
    trie_build.sort_by_keys(offsets, data, ids, keys, shared, other_keys, np.empty(trie_build.N_DIGITS, np.int32))
    n_nodes = trie_build.finish_order(offsets, data, keys, ids, shared)
    if n_nodes > MAX_TRIE_NODES:
        raise VocabularyError(
            f"the tokens need {n_nodes} trie nodes, the limit is {MAX_TRIE_NODES}",
            help="use a vocabulary with fewer or shorter tokens",
        )
    trie = TokenTrie(
        node=np.empty(n_nodes, np.int64),
        child_first=np.zeros(n_nodes + 1, np.int32),
        child_byte=np.empty(n_nodes - 1, np.uint8),
        child_node=np.empty(n_nodes - 1, np.int32),
        duplicates=_list_duplicates(ids, shared),
    )
    trie_build.write_nodes(
        offsets, data, ids, shared, np.empty(n_nodes, np.int32),
        trie.node, trie.child_first, trie.child_byte, trie.child_node,
    )  # fmt: skip
    for array in trie:
        array.flags.writeable = False
    return trie


def _check_sizes(lengths: np.ndarray) -> None:
    if len(lengths) > MAX_VOCAB_SIZE:
        raise VocabularyError(
            f"the vocabulary has {len(lengths)} tokens, the limit is {MAX_VOCAB_SIZE}", help="use a smaller vocabulary"
        )
    if len(lengths) and lengths.max() > MAX_TOKEN_BYTES:
        token = int(lengths.argmax())
        raise VocabularyError(
            f"token {token} has {lengths[token]} bytes, the limit is {MAX_TOKEN_BYTES}",
            help="mark it as special if text never contains it",
        )


def _list_duplicates(ids: np.ndarray, shared: np.ndarray) -> np.ndarray:
    """int32[n, 2] pairs, sorted; `ids` is sorted by (bytes, id), `shared` is -1 where bytes repeat."""
    is_repeat = shared < 0
    first_of_run = np.maximum.accumulate(np.where(is_repeat, 0, np.arange(len(ids))))
    pairs = np.stack([ids[first_of_run[is_repeat]], ids[is_repeat]], axis=1)
    return np.ascontiguousarray(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))])
