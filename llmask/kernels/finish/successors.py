"""The configurations that the tokens of a mask lead to.

Tokens that stay inside the lexeme in hand lead to the same place and another lexer state, whatever the grammar: they
are listed once for a lexer state (`list_inside`). The others are found as for masks (mask/boundary_walk.py), from the
exits of the lexer state, but by real steps, so that records are kept: `list_crossing`.

Where something is recorded no two tokens lead to the same configuration; whoever asks takes one for all that stay
inside the lexeme in the same lexer state.

In: tables, a configuration whose mask is built. Out: pairs (token, configuration). Cost: 30 ns a trie node, inside a
lexeme 5 ns.
"""

from __future__ import annotations

from ..lexeme_masks.exits import X_NODE, X_STATE, exit_field
from ..lexer.dense_transitions import HOT_DEAD, HOT_FIRST, hot_row, hot_state, hot_step
from ..lexer.states import (
    DEAD,
    S_BASE,
    S_FINISHED,
    S_FIRST_EXIT,
    S_N_EXITS,
    S_TWIN,
    next_state,
    state_field,
    token_set_of,
)
from ..machine.constants import TRIE_TOKEN_SHIFT
from ..machine.jit import kernel, never_inline
from ..mask.assemble import bare_configuration, build_mask
from ..mask.configurations import (
    C_NAMING,
    C_PLACE,
    C_STATE,
    REFUSED,
    after_token,
    configuration_field,
    configuration_of,
    pack,
    step,
)
from ..mask.repeated_values import path_to
from ..parser.rows import R_N_SCANS, R_SCANS, row_field
from ..tables.grammar_layout import PATH, ROW_POOL, WALK_FRAMES
from ..tables.interning import list_item, list_length
from ..tables.memory import EXCEEDED, block, ensure, exceed, get_i32, get_i64, get_u8, put_i32, spend
from ..tables.store_layout import (
    CHILD_BYTE,
    CHILD_FIRST,
    CHILD_NODE,
    DUPLICATES,
    LIMIT_WALKED,
    MAX_WALKED,
    N_DUPLICATES,
    TOKEN_SETS,
    TRIE,
    WALKED,
)
from ..values.transcripts import FIRST_PLACE, row_of

FRAME = 4  # next child, end of the children, place, lexer state


@kernel
def _emit(store, data, n, node, value):
    """Write the token that ends at a trie node, and those with the same bytes, each with a value."""
    token = (get_i64(block(store, TRIE), node) >> TRIE_TOKEN_SHIFT) - 1
    if token < 0:
        return n
    while True:
        if n + 2 <= data.shape[0]:
            data[n] = token
            data[n + 1] = value
        n += 2
        token = get_i32(block(store, DUPLICATES), token) if store[N_DUPLICATES] != 0 else 0
        if token == 0:
            return n


@kernel
def twin_of(store, grammar, configuration):
    """The lexer state whose tokens inside the lexeme are those of a configuration."""
    return state_field(store, configuration_field(grammar, configuration, C_STATE), S_TWIN)


@kernel
def without_record(store, grammar, configuration):
    """The configuration of the same row where nothing is recorded; itself, where nothing is."""
    is_recorded = configuration_field(grammar, configuration, C_PLACE) >= FIRST_PLACE
    return bare_configuration(store, grammar, configuration) if is_recorded else configuration


@kernel
def list_inside(store, grammar, state, data):
    """Write the tokens that stay inside the lexeme of a state, each with the state behind it; returns how many numbers.

    The frames of this walk are next child, end of the children, hot row.
    """
    never_inline()
    n = 0
    if state == DEAD:
        return n
    first = block(store, CHILD_FIRST)
    frames = ensure(grammar, WALK_FRAMES, FRAME * 4)
    put_i32(frames, 0, get_i32(first, 0))
    put_i32(frames, 1, get_i32(first, 1))
    put_i32(frames, 2, hot_row(store, state))
    depth = 0
    while depth >= 0 and store[EXCEEDED] == 0:
        at = depth * FRAME
        child = get_i32(frames, at)
        end = get_i32(frames, at + 1)
        hot = get_i32(frames, at + 2)
        entry = HOT_DEAD
        while child < end and entry < HOT_FIRST:
            entry = hot_step(store, hot, get_u8(block(store, CHILD_BYTE), child))
            child += 1
        spend(store, 1 + ((child - get_i32(frames, at)) >> 2))
        store[WALKED] += child - get_i32(frames, at)
        put_i32(frames, at, child)
        if entry < HOT_FIRST:
            depth -= 1
            continue
        node = get_i32(block(store, CHILD_NODE), child - 1)
        n = _emit(store, data, n, node, hot_state(store, entry - HOT_FIRST))
        if get_i32(first, node) < get_i32(first, node + 1):
            depth += 1
            frames = ensure(grammar, WALK_FRAMES, (depth + 1) * FRAME * 4)
            put_i32(frames, depth * FRAME, get_i32(first, node))
            put_i32(frames, depth * FRAME + 1, get_i32(first, node + 1))
            put_i32(frames, depth * FRAME + 2, entry - HOT_FIRST)
    if store[WALKED] > store[MAX_WALKED]:
        exceed(store, LIMIT_WALKED)
    return n


@kernel
def _push_node(store, grammar, depth, node, packed):
    first = block(store, CHILD_FIRST)
    frames = ensure(grammar, WALK_FRAMES, (depth + 1) * FRAME * 4)
    put_i32(frames, depth * FRAME, get_i32(first, node))
    put_i32(frames, depth * FRAME + 1, get_i32(first, node + 1))
    put_i32(frames, depth * FRAME + 2, packed >> 32)
    put_i32(frames, depth * FRAME + 3, packed & 0xFFFFFFFF)


@kernel
def _list_below(store, grammar, root, packed, only_ends, data, n):
    """Write the tokens below a trie node that was reached; `only_ends`: those that end the lexeme there."""
    never_inline()
    _push_node(store, grammar, 0, root, packed)
    depth = 0
    while depth >= 0 and store[EXCEEDED] == 0 and grammar[EXCEEDED] == 0:
        frames = block(grammar, WALK_FRAMES)
        child = get_i32(frames, depth * FRAME)
        if child == get_i32(frames, depth * FRAME + 1):
            depth -= 1
            continue
        put_i32(frames, depth * FRAME, child + 1)
        spend(store, 2)
        store[WALKED] += 1
        place = get_i32(frames, depth * FRAME + 2)
        state = get_i32(frames, depth * FRAME + 3)
        byte = get_u8(block(store, CHILD_BYTE), child)
        if depth == 0 and only_ends != 0 and next_state(store, state, byte) != DEAD:
            continue
        reached = step(store, grammar, place, state, byte)
        if reached == REFUSED:
            continue
        node = get_i32(block(store, CHILD_NODE), child)
        if get_i64(block(store, TRIE), node) >> TRIE_TOKEN_SHIFT != 0:
            n = _emit(store, data, n, node, configuration_of(store, grammar, reached))
        depth += 1
        _push_node(store, grammar, depth, node, reached)
    if store[WALKED] > store[MAX_WALKED]:
        exceed(store, LIMIT_WALKED)
    return n


@kernel
def list_crossing(store, grammar, configuration, data):
    """Write the tokens that cross the lexeme's end or are named, each with its configuration; returns how many numbers.

    A token that is named comes behind the same one that could be read.
    """
    never_inline()
    build_mask(store, grammar, configuration)
    place = configuration_field(grammar, configuration, C_PLACE)
    state = configuration_field(grammar, configuration, C_STATE)
    n = 0
    n_exits = 0
    twin = DEAD
    if state != DEAD:
        twin = state_field(store, state, S_TWIN)
        base = state_field(store, twin, S_BASE)
        if base != 0:  # whose exits lie at the same nodes and more
            twin = state_field(store, base, S_TWIN)
        n_exits = state_field(store, twin, S_N_EXITS)
    for i in range(n_exits):
        if store[EXCEEDED] != 0 or grammar[EXCEEDED] != 0:
            return 0
        at = state_field(store, twin, S_FIRST_EXIT) + i
        node = exit_field(store, at, X_NODE)
        ends_here = state_field(store, exit_field(store, at, X_STATE), S_FINISHED) != 0
        packed = _behind_path(store, grammar, pack(place, state), node)
        if packed == REFUSED:
            continue
        if ends_here and get_i64(block(store, TRIE), node) >> TRIE_TOKEN_SHIFT != 0:
            n = _emit(store, data, n, node, configuration_of(store, grammar, packed))
        n = _list_below(store, grammar, node, packed, 0 if ends_here else 1, data, n)
    return _list_named(store, grammar, configuration, data, n)


@kernel
def _behind_path(store, grammar, packed, node):
    """pack(place, state) behind the bytes of a trie node, or REFUSED."""
    for i in range(path_to(store, grammar, node)):
        packed = step(store, grammar, packed >> 32, packed & 0xFFFFFFFF, get_i32(block(grammar, PATH), i))
        if packed == REFUSED:
            return REFUSED
    return packed


@kernel
def _list_named(store, grammar, configuration, data, n):
    """Write the tokens that the grammar names."""
    never_inline()
    place = configuration_field(grammar, configuration, C_NAMING) - 1
    if place < 0:
        return n
    row = row_of(grammar, place)
    scans = row_field(grammar, row, R_SCANS)
    for i in range(row_field(grammar, row, R_N_SCANS)):
        tokens = token_set_of(store, get_i32(block(grammar, ROW_POOL), scans + 4 * i))
        if tokens < 0:
            continue
        for at in range(1, list_length(store, TOKEN_SETS, tokens), 2):
            high = list_item(store, TOKEN_SETS, tokens, at + 1)
            for token in range(list_item(store, TOKEN_SETS, tokens, at), high + 1):
                reached = after_token(store, grammar, configuration, token)
                if reached != REFUSED:
                    if n + 2 <= data.shape[0]:
                        data[n] = token
                        data[n + 1] = reached
                    n += 2
    return n
