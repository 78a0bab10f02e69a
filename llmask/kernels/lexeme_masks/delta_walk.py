"""The mask of a lexer state as that of another one, changed where the two differ.

    free text until "<f=":   after `<`, all is as at the beginning, but for the tokens that begin with `f`

The trie is walked by both states at once. Where a byte leads both to the same state, all below is as in the known mask
and is passed over; so states that soon meet again, as those inside the beginning of a trigger or behind an asterisk in
a comment do with the others, cost some hundred steps in place of the whole trie.

In: a lexer state and one whose mask is known. Out: its mask, token count and exits. Cost: 5 ns a child of a node that
both reach in different states; it is given up behind MOST_CHANGED.
"""

from __future__ import annotations

from ..lexer.dense_transitions import DENSE_BYTES, DenseEntry, dense_row, dense_state, expand
from ..machine.jit import inline, kernel
from ..regex.nodes import push
from ..tables.memory import load_i32, spend, store_i32
from ..tables.store_layout import WORDS_MARGIN
from ..vocabulary.trie_words import token_of
from .exits import add_exit
from .trie_walk import has_bit, set_bit, write_frame

MOST_CHANGED = 2048  # children looked at; a whole walk of 128,000 tokens is worth 50,000
GIVEN_UP = -1
NO_ROW = -1  # in place of an expanded row: nothing leads on


@inline
def _write_frame(store, depth, node, here, there):
    """Put a node on the stack whose children are to be compared; its expanded rows share one field."""
    write_frame(store, depth, node, (here + 1) << 32 | (there + 1))


@inline
def _entry(store, dense, byte):
    if dense == NO_ROW:
        return DenseEntry.DEAD
    entry = load_i32(store.dense_rows.address + dense * DENSE_BYTES + byte * 4)
    return expand(store, dense, byte) if entry == DenseEntry.UNKNOWN else entry


@kernel
def _refuse(store, words, token):
    """Clear the bits of a token and of those with the same bytes; returns how many were set."""
    n = 0
    while True:
        if has_bit(words, token):
            at = words + (token >> 5) * 4
            store_i32(at, load_i32(at) & ~(1 << (token & 31)))
            n += 1
        token = store.duplicates[token] if store.n_duplicates != 0 else 0
        if token == 0:
            return n


@kernel
def changed_walk(store, state, base):
    """Make the mask of `state` of that of `base`, which lies in `words`; returns its number of tokens, or GIVEN_UP."""
    words = store.words.address + WORDS_MARGIN
    frames = store.narrow_frames
    n_tokens = store.states[base].n_tokens
    first_changed = store.scratch_top
    push(store, 0)
    _write_frame(store, 0, 0, dense_row(store, state), dense_row(store, base))
    depth = 0
    visited = 0
    while depth >= 0 and visited <= MOST_CHANGED and store.exceeded == 0:
        frame = frames[depth]
        child = frame.child
        here = (frame.dense >> 32) - 1
        if child == frame.end:  # all children are done
            if frame.was_dead != 0 and here != NO_ROW:
                own = dense_state(store, here)
                if store.states[own].accepts != 0:
                    add_exit(store, frame.node, own)
            depth -= 1
            continue
        frame.child = child + 1
        visited += 1
        byte = store.child_byte[child]
        entry = _entry(store, here, byte)
        other = _entry(store, (frame.dense & 0xFFFFFFFF) - 1, byte)
        if entry == DenseEntry.DEAD:
            frame.was_dead = 1
        if entry == other:
            continue
        node = store.child_node[child]
        push(store, node)
        token = token_of(store.trie[node])
        if token >= 0:
            if entry < DenseEntry.FIRST:
                n_tokens -= _refuse(store, words, token)
            elif not has_bit(words, token):
                set_bit(words, token)
                n_tokens += 1
        if entry < 0:
            add_exit(store, node, -entry)
        if entry >= DenseEntry.FIRST or other >= DenseEntry.FIRST:
            depth += 1
            _write_frame(
                store,
                depth,
                node,
                entry - DenseEntry.FIRST if entry >= DenseEntry.FIRST else NO_ROW,
                other - DenseEntry.FIRST if other >= DenseEntry.FIRST else NO_ROW,
            )
    spend(store, visited)
    store.walked += visited
    if depth >= 0:
        n_tokens = GIVEN_UP
    else:
        _keep_exits(store, base, first_changed)
    store.scratch_top = first_changed
    return n_tokens


@kernel
def _keep_exits(store, base, first_changed):
    """Add the exits of `base` at nodes that are not among the changed ones, which lie in the scratch, ascending."""
    first = store.states[base].first_exit
    for i in range(first, first + store.states[base].n_exits):
        node = store.exits[i].node
        low = first_changed
        high = store.scratch_top
        while low < high:
            middle = (low + high) // 2
            if store.scratch[middle] < node:
                low = middle + 1
            else:
                high = middle
        if low == store.scratch_top or store.scratch[low] != node:
            add_exit(store, node, store.exits[i].state)
