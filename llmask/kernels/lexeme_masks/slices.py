"""Making a slice: which tokens it holds, their mask, and the trie of all others (see trie_walk.py for the use).

In: the node of one code point and a largest number of code points. Out: token_flags of the tokens it holds; Python
builds the trie of the rest with the usual builder and registers it.
Cost: a walk of the trie with one derivative step a node, about 3 ms for 128,000 tokens.
"""

from __future__ import annotations

from ..machine.constants import (
    TRIE_BYTE_MASK,
    TRIE_DEPTH_MASK,
    TRIE_DEPTH_SHIFT,
    TRIE_END_MASK,
    TRIE_END_SHIFT,
    TRIE_TOKEN_SHIFT,
)
from ..machine.jit import kernel, never_inline
from ..regex.constructors import make_repeat
from ..regex.derivatives import derivative
from ..regex.nodes import EMPTY, NULLABLE, has_flag
from ..tables.memory import block, ensure, get_i32, get_i64, get_u8, load_i64, put_i32
from ..tables.store_layout import (
    CHILD_BYTE,
    CHILD_FIRST,
    CHILD_NODE,
    DUPLICATES,
    N_DUPLICATES,
    N_TRIE,
    SCRATCH,
    SCRATCH_TOP,
    TRIE,
)


@kernel
def flag_slice(store, char, most, token_flags):
    """Set `token_flags[token] = 1` for every token that is 1 to `most` strings of `char`; returns how many."""
    never_inline()
    trie = block(store, TRIE)
    first = store[SCRATCH_TOP]
    ensure(store, SCRATCH, (first + TRIE_DEPTH_MASK + 2) * 4)
    store[SCRATCH_TOP] = first + TRIE_DEPTH_MASK + 2
    put_i32(block(store, SCRATCH), first, make_repeat(store, char, 0, most))
    n = 0
    node = 1
    while node < store[N_TRIE]:
        word = get_i64(trie, node)
        depth = (word >> TRIE_DEPTH_SHIFT) & TRIE_DEPTH_MASK
        rest = derivative(store, get_i32(block(store, SCRATCH), first + depth - 1), word & TRIE_BYTE_MASK)
        if rest == EMPTY:
            node = (word >> TRIE_END_SHIFT) & TRIE_END_MASK
            continue
        put_i32(block(store, SCRATCH), first + depth, rest)
        token = (word >> TRIE_TOKEN_SHIFT) - 1
        if token >= 0 and has_flag(store, rest, NULLABLE):
            token_flags[token] = 1
            n += 1
            if store[N_DUPLICATES] != 0:
                other = get_i32(block(store, DUPLICATES), token)
                while other != 0:
                    token_flags[other] = 1
                    n += 1
                    other = get_i32(block(store, DUPLICATES), other)
        node += 1
    store[SCRATCH_TOP] = first
    return n


@kernel
def match_nodes(store, trie, main_nodes):
    """Write to `main_nodes`, for each node of a trie of some of the tokens (address `trie`), the whole trie's node."""
    never_inline()
    child_first = block(store, CHILD_FIRST)
    child_byte = block(store, CHILD_BYTE)
    child_node = block(store, CHILD_NODE)
    first = store[SCRATCH_TOP]
    at_depth = ensure(store, SCRATCH, (first + TRIE_DEPTH_MASK + 2) * 4)
    put_i32(at_depth, first, 0)
    main_nodes[0] = 0
    for node in range(1, main_nodes.shape[0]):
        word = load_i64(trie + node * 8)
        depth = (word >> TRIE_DEPTH_SHIFT) & TRIE_DEPTH_MASK
        parent = get_i32(at_depth, first + depth - 1)
        child = get_i32(child_first, parent)
        while get_u8(child_byte, child) != word & TRIE_BYTE_MASK:
            child += 1
        main_nodes[node] = get_i32(child_node, child)
        put_i32(at_depth, first + depth, main_nodes[node])
