"""From token bytes to the flat trie.

Three kinds of tokens need a word:

- *Duplicates*: several ids with the same bytes (SPM vocabularies have "a" and <0x61>). The lowest id is stored at the
  node; the others are listed in `duplicates`, and whoever writes a mask copies the bit of the first to the second.
- *Empty tokens* have no node: a token without bytes would end at the root and could be repeated for ever. A grammar
  never allows them.
- *Special tokens* have no bytes in a `Vocabulary`, hence no node either; grammars name them by id.

In: `token_offsets`, `token_data` of a vocabulary. Out: `TokenTrie`. Cost: 15 ms for 128,256 tokens.
"""

from __future__ import annotations

import numpy as np

from ..errors import VocabularyError
from ..kernels.machine.constants import MAX_TOKEN_BYTES, MAX_TRIE_NODES, MAX_VOCAB_SIZE
from .layout import TokenTrie


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
    # copies: the doors take writable arrays only, and those of a vocabulary are frozen
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
