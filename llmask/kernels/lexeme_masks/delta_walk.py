"""The mask of a lexer state as that of another one, changed where the two differ.

    free text until "<f=":   after `<`, all is as at the beginning, but for the tokens that begin with `f`

The trie is walked by both states at once. Where a byte leads both to the same state, all below is as in the known mask
and is passed over; so states that soon meet again, as those inside the beginning of a trigger or behind an asterisk in
a comment do with the others, cost some hundred steps in place of the whole trie.

In: a lexer state and one whose mask is known. Out: its mask, token count and exits. Cost: 5 ns a child of a node that
both reach in different states; it is given up behind MOST_CHANGED.
"""

from __future__ import annotations

from ..lexer.dense_transitions import HOT_BYTES, HOT_DEAD, HOT_FIRST, HOT_UNKNOWN, expand, hot_row, hot_state
from ..lexer.states import S_ACCEPTS, S_FIRST_EXIT, S_N_EXITS, S_N_TOKENS, state_field
from ..machine.constants import (
    TRIE_TOKEN_SHIFT,
)
from ..machine.jit import kernel, never_inline
from ..regex.nodes import push, scratch
from ..tables.memory import EXCEEDED, block, get_i32, get_i64, get_u8, load_i32, load_i64, spend, store_i32, store_i64
from ..tables.store_layout import (
    CHILD_BYTE,
    CHILD_FIRST,
    CHILD_NODE,
    DUPLICATES,
    HOT_ROWS,
    N_DUPLICATES,
    NARROW_FRAMES,
    SCRATCH_TOP,
    TRIE,
    WALKED,
    WORDS,
    WORDS_MARGIN,
)
from .exits import X_NODE, X_STATE, add_exit, exit_field
from .trie_walk import FRAME, has_bit, set_bit

MOST_CHANGED = 2048  # children looked at; a whole walk of 128,000 tokens is worth 50,000
GIVEN_UP = -1
NO_ROW = -1  # in place of an expanded row: nothing leads on


@kernel
def _frame(store, frame, node, here, there):
    """A node whose children are to be compared; see trie_walk.FRAME. The expanded rows share one field."""
    first = block(store, CHILD_FIRST)
    store_i64(frame, node)
    store_i64(frame + 8, get_i32(first, node))
    store_i64(frame + 16, get_i32(first, node + 1))
    store_i64(frame + 24, (here + 1) << 32 | (there + 1))
    store_i64(frame + 32, 0)


@kernel
def _entry(store, hot, byte):
    if hot == NO_ROW:
        return HOT_DEAD
    entry = load_i32(block(store, HOT_ROWS) + hot * HOT_BYTES + byte * 4)
    return expand(store, hot, byte) if entry == HOT_UNKNOWN else entry


@kernel
def _refuse(store, words, token):
    """Clear the bits of a token and of those with the same bytes; returns how many were set."""
    never_inline()
    n = 0
    while True:
        if has_bit(words, token):
            at = words + (token >> 5) * 4
            store_i32(at, load_i32(at) & ~(1 << (token & 31)))
            n += 1
        token = get_i32(block(store, DUPLICATES), token) if store[N_DUPLICATES] != 0 else 0
        if token == 0:
            return n


@kernel
def changed_walk(store, state, base):
    """Make the mask of `state` of that of `base`, which lies in WORDS; returns how many tokens it has, or GIVEN_UP."""
    never_inline()
    words = block(store, WORDS) + WORDS_MARGIN
    frame = block(store, NARROW_FRAMES)
    n_tokens = state_field(store, base, S_N_TOKENS)
    first_changed = store[SCRATCH_TOP]
    push(store, 0)
    _frame(store, frame, 0, hot_row(store, state), hot_row(store, base))
    depth = 0
    visited = 0
    while depth >= 0 and visited <= MOST_CHANGED and store[EXCEEDED] == 0:
        child = load_i64(frame + 8)
        rows = load_i64(frame + 24)
        here = (rows >> 32) - 1
        if child == load_i64(frame + 16):  # all children are done
            if load_i64(frame + 32) != 0 and here != NO_ROW:
                own = hot_state(store, here)
                if state_field(store, own, S_ACCEPTS) != 0:
                    add_exit(store, load_i64(frame), own)
            frame -= FRAME * 8
            depth -= 1
            continue
        store_i64(frame + 8, child + 1)
        visited += 1
        byte = get_u8(block(store, CHILD_BYTE), child)
        entry = _entry(store, here, byte)
        other = _entry(store, (rows & 0xFFFFFFFF) - 1, byte)
        if entry == HOT_DEAD:
            store_i64(frame + 32, 1)
        if entry == other:
            continue
        node = get_i32(block(store, CHILD_NODE), child)
        push(store, node)
        token = (get_i64(block(store, TRIE), node) >> TRIE_TOKEN_SHIFT) - 1
        if token >= 0:
            if entry < HOT_FIRST:
                n_tokens -= _refuse(store, words, token)
            elif not has_bit(words, token):
                set_bit(words, token)
                n_tokens += 1
        if entry < 0:
            add_exit(store, node, -entry)
        if entry >= HOT_FIRST or other >= HOT_FIRST:
            frame += FRAME * 8
            depth += 1
            _frame(
                store,
                frame,
                node,
                entry - HOT_FIRST if entry >= HOT_FIRST else NO_ROW,
                other - HOT_FIRST if other >= HOT_FIRST else NO_ROW,
            )
    spend(store, visited)
    store[WALKED] += visited
    if depth >= 0:
        n_tokens = GIVEN_UP
    else:
        _keep_exits(store, base, first_changed)
    store[SCRATCH_TOP] = first_changed
    return n_tokens


@kernel
def _keep_exits(store, base, first_changed):
    """Add the exits of `base` at nodes that are not among the changed ones, which lie in the scratch, ascending."""
    never_inline()
    first = state_field(store, base, S_FIRST_EXIT)
    for i in range(first, first + state_field(store, base, S_N_EXITS)):
        node = exit_field(store, i, X_NODE)
        low = first_changed
        high = store[SCRATCH_TOP]
        while low < high:
            middle = (low + high) // 2
            if scratch(store, middle) < node:
                low = middle + 1
            else:
                high = middle
        if low == store[SCRATCH_TOP] or scratch(store, low) != node:
            add_exit(store, node, exit_field(store, i, X_STATE))
