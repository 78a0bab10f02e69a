"""The tokens that may come next in a search for continuations: a walk over the trie that visits live children only.

Few bytes are live as a rule, in a name one, where a node of the trie has up to 200 children. So the children of a node
with many are compared with the live bytes of the lexer state, 1 ns each, before one is stepped to, 10 ns.

In: tables, an entry of the queue. Out: entries. Cost: 20 ns a live node, 50 to 100 ns a token.
"""

from __future__ import annotations

from .canonical_chains import NO_CHAIN, chain_after, split_after
from .canonical_ends import (
    INSIDE_PLACE,
    MAY_STOP,
    NO_BYTE,
    end_of,
    go,
    has_stopped,
    is_bare,
    live_word,
    safe_byte,
    state_behind,
)
from .canonical_fill import REFUSED_SPLIT
from .canonical_queue import ENTRY, MOST_ENTRIES, note_witness, verdict_key, write_entry
from .canonical_slots import ENDS, IS_OPEN, QUEUE, SEARCH_WALK, STARTS
from .constants import TRIE_TOKEN_SHIFT
from .grammar_slots import VERDICTS
from .interning import map_get
from .jit import kernel, never_inline
from .lexer_states import S_ACCEPTS, S_FINISHED, state_field
from .memory import block, get_i32, get_i64, get_u8, load_i64, store_i64
from .store_slots import CHILD_BYTE, CHILD_FIRST, CHILD_NODE, TRIE

# verdicts
NOTHING_FOLLOWS = 0
FOLLOWS_ON = 1
CUT = 2  # the search was given up
NEEDS_STATE = 3  # tables of a split state that is in MISSING; or a limit was reached

FOUND_ONE = 0xFFFF
WAS_CUT = 0x100
FRAME = 7  # int64 of SEARCH_WALK: an end, the next child of its node, the end of these, the bytes that are looked at
FEW_CHILDREN = 8


@kernel
def may_leave(store, canon, state, split):
    """Whether a lexeme that could go on may end in a lexer state, where some character ends the word."""
    if state_field(store, state, S_ACCEPTS) == 0 or state_field(store, state, S_FINISHED) != 0:
        return False
    return load_i64(canon[ENDS] + split * 16) | load_i64(canon[ENDS] + split * 16 + 8) != 0


@kernel
def _write_frame(store, grammar, canon, frame, packed, node):
    """Write the frame of a node that was reached."""
    never_inline()
    first, end = get_i32(block(store, CHILD_FIRST), node), get_i32(block(store, CHILD_FIRST), node + 1)
    store_i64(frame, packed)
    store_i64(frame + 8, first)
    store_i64(frame + 16, end)
    for word in range(4):
        store_i64(frame + 24 + 8 * word, -1)
    if node == 0 or (end - first > FEW_CHILDREN and not is_bare(packed)):
        state, behind = packed & 0xFFFFFFFF, state_behind(store, grammar, packed)
        for word in range(4 if node == 0 else 2):  # below the root children that are not ASCII are few
            store_i64(frame + 24 + 8 * word, live_word(store, canon, state, behind, word))


@kernel
def _next_child(store, frame):
    """The next child of a frame whose byte is looked at, or -1."""
    child, end, bytes_ = load_i64(frame + 8), load_i64(frame + 16), block(store, CHILD_BYTE)
    while child < end:
        byte = get_u8(bytes_, child)
        if load_i64(frame + 24 + 8 * (byte >> 6)) >> (byte & 63) & 1 != 0:
            store_i64(frame + 8, child + 1)
            return child
        child += 1
    return -1


@kernel
def look_at_tokens(store, grammar, canon, memo, entry, n_entries, budget):
    """Look at the tokens behind an entry: budget << 16 | WAS_CUT | entries, or FOUND_ONE; -1: stop."""
    never_inline()
    at = block(canon, QUEUE) + entry * ENTRY * 8
    packed, split, before, chain = load_i64(at), load_i64(at + 8), load_i64(at + 16), load_i64(at + 24)
    is_inside = packed >> 32 == INSIDE_PLACE
    frame = block(canon, SEARCH_WALK)
    _write_frame(store, grammar, canon, frame, packed, 0)
    for word in range(4 if chain & 1 == 0 else 0):  # behind the last of the blanks a splitter lets no other byte follow
        starts = load_i64(canon[STARTS] + split * 32 + word * 8)
        store_i64(frame + 24 + 8 * word, load_i64(frame + 24 + 8 * word) & starts)
    depth, cut = 0, 0
    while depth >= 0:
        child = _next_child(store, frame)
        if child < 0:
            frame -= FRAME * 8
            depth -= 1
            continue
        budget -= 1
        if budget <= 0:
            return n_entries | WAS_CUT
        reached = go(store, grammar, load_i64(frame), get_u8(block(store, CHILD_BYTE), child))
        if reached < 0:
            if has_stopped(store, grammar):
                return -1
            continue
        if is_inside and state_field(store, reached & 0xFFFFFFFF, S_ACCEPTS) != 0:
            canon[IS_OPEN] = 1
        node = get_i32(block(store, CHILD_NODE), child)
        if get_i32(block(store, CHILD_FIRST), node) != get_i32(block(store, CHILD_FIRST), node + 1):
            frame += FRAME * 8
            depth += 1
            _write_frame(store, grammar, canon, frame, reached, node)
        token = (get_i64(block(store, TRIE), node) >> TRIE_TOKEN_SHIFT) - 1
        if token < 0:
            continue
        after = split_after(canon, split, before, chain, token)
        if after == REFUSED_SPLIT:
            continue
        following = chain_after(canon, split, chain, token)
        found = NO_BYTE
        if following & 1 == 0:
            found = safe_byte(store, grammar, canon, reached, after)
        if found != NO_BYTE:
            if found != MAY_STOP:
                note_witness(store, canon, entry, token, after)
            return budget << 16 | FOUND_ONE
        if is_inside and following & 1 == 0 and may_leave(store, canon, reached & 0xFFFFFFFF, after):
            note_witness(store, canon, entry, token, after)
            return n_entries | WAS_CUT  # what follows the lexeme decides, so looking further here is of no use
        end = end_of(memo, reached)
        known = -1
        if following == NO_CHAIN:
            known = map_get(memo, VERDICTS, verdict_key(end, after, token))
        if known == FOLLOWS_ON:
            return budget << 16 | FOUND_ONE
        if known == NOTHING_FOLLOWS:
            continue
        if known == CUT or n_entries == MOST_ENTRIES:
            cut = WAS_CUT
            continue
        write_entry(canon, n_entries, reached, after, token, following, entry, end)
        n_entries += 1
    return budget << 16 | cut | n_entries
