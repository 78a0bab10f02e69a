"""What a walk over the ends of lexemes finds (boundary_walk.py): tokens, points, and parts of the trie left to others.

A *part* is a node with a large subtree: which of its tokens stay inside the lexeme that is read there, and where it
ends, depends on the lexer state and the node alone, so the store knows it (lexeme_masks/subtree_masks.py), and only the
ends are walked from, in the part's row. Behind an operator the 60,000 tokens that begin with a blank are such a part:
0.3 ms in place of 10.

Canonical masks have to know where every token leads: to a place and a lexer state, or, where something is recorded that
the walk does not look at, to a *bare* row, of which only is taken what holds for all records.

In: trie nodes. Out: CROSSING, CROSSING_ENDS, POINTS, PARTS. Cost: nanoseconds.
"""

from __future__ import annotations

from ..lexer.dense_transitions import HOT_DEAD, hot_row, hot_step
from ..machine.constants import TRIE_END_MASK, TRIE_END_SHIFT, TRIE_TOKEN_SHIFT
from ..machine.jit import kernel, never_inline
from ..tables.grammar_layout import (
    CANON,
    CROSSING,
    CROSSING_ENDS,
    LISTS_PARTS,
    N_CROSSING,
    N_PARTS,
    N_POINTS,
    PARTS,
    POINTS,
)
from ..tables.memory import block, ensure, get_i32, get_i64, get_u8, put_i32, put_i64
from ..tables.store_layout import CHILD_BYTE, CHILD_FIRST, DUPLICATES, LEAST_PART, N_DUPLICATES, TRIE
from ..values.transcripts import MOST_ROWS

WHOLE = 0  # kinds of points
BELOW = 1
ENDING = 2
POINT_KINDS = 4  # a point is node * POINT_KINDS + kind

P_PART = 0  # fields of a part; its number, see lexeme_masks/subtree_masks.py
P_ROW = 1
P_STATE = 2
P_NODE = 3
PART_FIELDS = 4
NO_HOT_ROW = -1

# where a token leads: a packed place and lexer state, with BARE where the place is a bare row, or
NO_END = -1  # it has to be read to know
IN_PART = -2  # so is one that a part lists
BARE = MOST_ROWS << 32


@kernel
def allow(store, grammar, node, end):
    """List the token that ends at a trie node, and those with the same bytes; they lead to `end`."""
    never_inline()
    token = (get_i64(block(store, TRIE), node) >> TRIE_TOKEN_SHIFT) - 1
    if token < 0:
        return
    allow_token(grammar, token, end)
    if store[N_DUPLICATES] != 0:
        other = get_i32(block(store, DUPLICATES), token)
        while other != 0:
            allow_token(grammar, other, end)
            other = get_i32(block(store, DUPLICATES), other)


@kernel
def allow_token(grammar, token, end):
    """List a token."""
    n = grammar[N_CROSSING]
    put_i32(ensure(grammar, CROSSING, (n + 1) * 4), n, token)
    if grammar[CANON] != 0:
        put_i64(ensure(grammar, CROSSING_ENDS, (n + 1) * 8), n, end)
    grammar[N_CROSSING] = n + 1


@kernel
def note_point(store, grammar, node, kind):
    """Note what has to be walked again with the text known."""
    never_inline()
    first = block(store, CHILD_FIRST)
    if kind != WHOLE and get_i32(first, node) == get_i32(first, node + 1):
        return
    n = grammar[N_POINTS]
    put_i32(ensure(grammar, POINTS, (n + 1) * 4), n, node * POINT_KINDS + kind)
    grammar[N_POINTS] = n + 1


@kernel
def is_part(store, grammar, node, state, ending):
    """Whether what is below a node, reached in a lexer state, is large enough to be a part.

    `ending`: hot row of the state in which a lexeme ends at the node; `state` begins the next one then. Children that
    go on in the former must not begin the latter, or the part would have both. NO_HOT_ROW: nothing ends here.
    """
    if grammar[LISTS_PARTS] == 0:
        return False
    end = (get_i64(block(store, TRIE), node) >> TRIE_END_SHIFT) & TRIE_END_MASK
    if end - node < store[LEAST_PART]:
        return False
    return ending == NO_HOT_ROW or _are_apart(store, node, hot_row(store, state), ending)


@kernel
def _are_apart(store, node, one, other):
    """Whether no child of a node leads on from both expanded rows."""
    never_inline()
    first = block(store, CHILD_FIRST)
    for child in range(get_i32(first, node), get_i32(first, node + 1)):
        byte = get_u8(block(store, CHILD_BYTE), child)
        if hot_step(store, one, byte) != HOT_DEAD and hot_step(store, other, byte) != HOT_DEAD:
            return False
    return True


@kernel
def note_part(grammar, row, state, node):
    """Leave what is below a node, reached in a row and a lexer state, to lexeme_masks/subtree_masks.py."""
    never_inline()
    n = grammar[N_PARTS]
    parts = ensure(grammar, PARTS, (n + 1) * PART_FIELDS * 4)
    put_i32(parts, n * PART_FIELDS + P_PART, 0)
    put_i32(parts, n * PART_FIELDS + P_ROW, row)
    put_i32(parts, n * PART_FIELDS + P_STATE, state)
    put_i32(parts, n * PART_FIELDS + P_NODE, node)
    grammar[N_PARTS] = n + 1
