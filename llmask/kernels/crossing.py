"""Masks of configurations: tokens inside the lexeme (trie_walk.py) and tokens that cross its end, found here.

From each exit of the lexer state the parser takes the lexeme (one look-up of `goto`) and the walk goes on in the new
row's lexer state, over lexemes and rows, through the children of the trie. What it finds is kept as a short list in the
grammar: 91 exits of a string body give a few hundred tokens.

    mask(configuration) = mask(lexer state) | crossing tokens | ends of sequence where the document may end

In: the tables and a configuration. Out: the configuration's record; `fill` writes the words.
Cost: 20 ns an exit and node; filling copies 16 KB (0.3 us) and sets 1 ns a listed token.
"""

from __future__ import annotations

from .configurations import (
    C_ACCEPTS,
    C_FIRST,
    C_MASK,
    C_MASK_KIND,
    C_N,
    C_ROW,
    C_STATE,
    C_TOTAL,
    CONFIGURATION_FIELDS,
    ENDED,
    configuration_field,
    put_configuration_field,
    start_after,
)
from .constants import TRIE_TOKEN_SHIFT
from .earley_rows import goto
from .grammar_slots import CONFIGURATIONS, CROSSING, CROSSINGS, N_CROSSING, N_OWN_MASKS, OWN_MASKS, WALK_FRAMES
from .hot_rows import HOT_DEAD, HOT_FIRST, hot_row, hot_state, hot_step
from .interning import POOL, intern_list, list_offset
from .jit import kernel, never_inline
from .lexer_states import (
    DEAD,
    S_ACCEPTS,
    S_FINISHED,
    S_FIRST_EXIT,
    S_MASK,
    S_MASK_KIND,
    S_N_EXITS,
    S_N_TOKENS,
    S_SINGLE,
    S_TWIN,
    state_field,
)
from .memory import (
    EXCEEDED,
    block,
    copy_bytes,
    ensure,
    exceed,
    fill_bytes,
    get_i32,
    get_i64,
    get_u8,
    load_acquire_i32,
    new_block,
    publish_i32,
    put_i32,
    put_i64,
)
from .state_masks import MASK_LIST, MASK_NONE, MASK_WORDS, build_state_mask
from .store_slots import (
    CHILD_BYTE,
    CHILD_FIRST,
    CHILD_NODE,
    DUPLICATES,
    EOS,
    EXITS,
    LIMIT_WALKED,
    MASKS,
    MAX_WALKED,
    N_DUPLICATES,
    N_EOS,
    N_VOCAB,
    N_WORDS,
    TOKEN_LISTS,
    TRIE,
    WALKED,
)
from .trie_walk import set_bit

OWN_AT_LEAST = 2048  # more crossing tokens than this are kept as a bitmask: 16 KB against 4 bytes a token
NO_EXIT = -1
NOT_TAKEN = -2

# a frame of the walk
F_CHILD = 0  # next child
F_END = 1  # end of the children
F_ROW = 2
F_HOT = 3  # hot row of the lexer state
F_EXIT_ROW = 4  # row after the lexemes that may end here, NO_EXIT, or NOT_TAKEN as long as nobody asked
F_EXIT_HOT = 5  # hot row of its start state
F_INSIDE = 6  # 1: children that stay inside the lexeme are left out (the lexer state's mask has them)
FRAME_FIELDS = 7


@kernel
def _allow(store, grammar, node):
    """List the token that ends at a trie node, and those with the same bytes."""
    never_inline()
    token = (get_i64(block(store, TRIE), node) >> TRIE_TOKEN_SHIFT) - 1
    if token < 0:
        return
    n = grammar[N_CROSSING]
    put_i32(ensure(grammar, CROSSING, (n + 1) * 4), n, token)
    n += 1
    if store[N_DUPLICATES] != 0:
        other = get_i32(block(store, DUPLICATES), token)
        while other != 0:
            put_i32(ensure(grammar, CROSSING, (n + 1) * 4), n, other)
            n += 1
            other = get_i32(block(store, DUPLICATES), other)
    grammar[N_CROSSING] = n


@kernel
def _push_frame(store, grammar, depth, node, row, state, inside):
    never_inline()
    first = block(store, CHILD_FIRST)
    frames = ensure(grammar, WALK_FRAMES, (depth + 1) * FRAME_FIELDS * 4)
    at = depth * FRAME_FIELDS
    put_i32(frames, at + F_CHILD, get_i32(first, node))
    put_i32(frames, at + F_END, get_i32(first, node + 1))
    put_i32(frames, at + F_ROW, row)
    put_i32(frames, at + F_HOT, hot_row(store, state))
    put_i32(frames, at + F_EXIT_ROW, NO_EXIT if state_field(store, state, S_ACCEPTS) == 0 else NOT_TAKEN)
    put_i32(frames, at + F_INSIDE, inside)


@kernel
def _take_exit(store, grammar, at, scanned):
    """Fill in where a frame's lexer state leads when its lexeme ends."""
    never_inline()
    row = goto(store, grammar, get_i32(block(grammar, WALK_FRAMES), at + F_ROW), scanned)
    start = start_after(store, grammar, row, scanned)
    frames = block(grammar, WALK_FRAMES)
    if start == DEAD:
        put_i32(frames, at + F_EXIT_ROW, NO_EXIT)
    else:
        put_i32(frames, at + F_EXIT_ROW, row)
        put_i32(frames, at + F_EXIT_HOT, hot_row(store, start))


@kernel
def _walk(store, grammar, root, root_row, root_state, scanned, inside):
    """List the tokens below `root`, reached in (root_row, root_state).

    `inside`: 1 when `root_state` is the state in which the lexeme ends, and only children on which it ends are wanted;
    `scanned` is then the set of lexemes that end (the state may be an anonymous twin, which does not know it).
    """
    never_inline()
    child_first = block(store, CHILD_FIRST)
    child_byte = block(store, CHILD_BYTE)
    child_node = block(store, CHILD_NODE)
    _push_frame(store, grammar, 0, root, root_row, root_state, inside)
    if inside != 0:
        _take_exit(store, grammar, 0, scanned)
    depth = 0
    while depth >= 0 and store[EXCEEDED] == 0 and grammar[EXCEEDED] == 0:
        at = depth * FRAME_FIELDS
        frames = block(grammar, WALK_FRAMES)
        child = get_i32(frames, at + F_CHILD)
        end = get_i32(frames, at + F_END)
        row = get_i32(frames, at + F_ROW)
        hot = get_i32(frames, at + F_HOT)
        exit_row = get_i32(frames, at + F_EXIT_ROW)
        exit_hot = get_i32(frames, at + F_EXIT_HOT)
        inside = get_i32(frames, at + F_INSIDE)
        entry = HOT_DEAD
        first = child
        while child < end:
            byte = get_u8(child_byte, child)
            child += 1
            entry = hot_step(store, hot, byte)
            if entry != HOT_DEAD:
                if inside == 0:
                    break
                entry = HOT_DEAD
                continue
            if exit_row == NOT_TAKEN:
                _take_exit(store, grammar, at, state_field(store, hot_state(store, hot), S_ACCEPTS))
                frames = block(grammar, WALK_FRAMES)
                exit_row = get_i32(frames, at + F_EXIT_ROW)
                exit_hot = get_i32(frames, at + F_EXIT_HOT)
            if exit_row == NO_EXIT:
                if inside != 0:
                    child = end
                continue
            entry = hot_step(store, exit_hot, byte)
            if entry != HOT_DEAD:
                row = exit_row
                break
        store[WALKED] += child - first
        put_i32(block(grammar, WALK_FRAMES), at + F_CHILD, child)
        if entry == HOT_DEAD:
            depth -= 1
            continue
        node = get_i32(child_node, child - 1)
        _allow(store, grammar, node)
        if get_i32(child_first, node) == get_i32(child_first, node + 1):
            continue
        if entry < 0:
            ended = state_field(store, -entry, S_ACCEPTS)
            row = goto(store, grammar, row, ended)
            state = start_after(store, grammar, row, ended)
            if state == DEAD:
                continue
        else:
            state = hot_state(store, entry - HOT_FIRST)
        depth += 1
        _push_frame(store, grammar, depth, node, row, state, 0)
    if store[WALKED] > store[MAX_WALKED]:
        exceed(store, LIMIT_WALKED)


@kernel
def build_mask(store, grammar, configuration):
    """Compute the mask of a configuration."""
    never_inline()
    if configuration_field(grammar, configuration, C_MASK_KIND) != MASK_NONE:
        return
    grammar[N_CROSSING] = 0
    n_tokens = 0
    accepts = configuration_field(grammar, configuration, C_ACCEPTS)
    state = DEAD
    if configuration != ENDED:
        row = configuration_field(grammar, configuration, C_ROW)
        state = configuration_field(grammar, configuration, C_STATE)
        if state != DEAD:
            build_state_mask(store, state)
            if store[EXCEEDED] != 0:
                return
            twin = state_field(store, state, S_TWIN)
            n_tokens = state_field(store, twin, S_N_TOKENS)
            _cross_exits(store, grammar, row, state, twin)
    if store[EXCEEDED] != 0 or grammar[EXCEEDED] != 0:
        return
    n = grammar[N_CROSSING]
    total = n_tokens + n
    if accepts:
        total += store[N_EOS]
    put_configuration_field(grammar, configuration, C_N, n)
    put_configuration_field(grammar, configuration, C_TOTAL, total)
    crossing = ensure(grammar, CROSSING, 4)
    kind = MASK_LIST
    if n <= OWN_AT_LEAST:
        number = intern_list(grammar, CROSSINGS, crossing, 0, n)
        put_configuration_field(grammar, configuration, C_FIRST, list_offset(grammar, CROSSINGS, number))
    else:
        mask = new_block(grammar, store[N_WORDS] * 4)
        _write(store, state, crossing, 0, n, mask)
        number = grammar[N_OWN_MASKS]
        put_i64(ensure(grammar, OWN_MASKS, (number + 1) * 8), number, mask)
        grammar[N_OWN_MASKS] = number + 1
        put_configuration_field(grammar, configuration, C_MASK, number)
        kind = MASK_WORDS
    at = (configuration * CONFIGURATION_FIELDS + C_MASK_KIND) * 4
    publish_i32(block(grammar, CONFIGURATIONS) + at, kind)


@kernel
def _cross_exits(store, grammar, row, state, twin):
    """List the tokens behind every exit of a lexer state."""
    never_inline()
    single = state_field(store, state, S_SINGLE)
    child_first = block(store, CHILD_FIRST)
    first = state_field(store, twin, S_FIRST_EXIT)
    last_scanned = 0
    target = 0
    for i in range(first, first + state_field(store, twin, S_N_EXITS)):
        exits = block(store, EXITS)
        node = get_i32(exits, 2 * i)
        there = get_i32(exits, 2 * i + 1)
        scanned = single if single != 0 else state_field(store, there, S_ACCEPTS)
        if scanned != last_scanned:
            target = goto(store, grammar, row, scanned)
            last_scanned = scanned
            if grammar[EXCEEDED] != 0 or store[EXCEEDED] != 0:
                return
        start = start_after(store, grammar, target, scanned)
        finished = state_field(store, there, S_FINISHED) != 0
        if finished:
            _allow(store, grammar, node)
        if start == DEAD or get_i32(child_first, node) == get_i32(child_first, node + 1):
            continue
        if finished:
            _walk(store, grammar, node, target, start, 0, 0)
        else:
            _walk(store, grammar, node, row, there, scanned, 1)
        if grammar[EXCEEDED] != 0 or store[EXCEEDED] != 0:
            return


@kernel
def _write(store, state, crossing, first, n, words):
    """Write the mask of a lexer state and the tokens int32 `crossing[first : first + n]`."""
    never_inline()
    n_bytes = store[N_WORDS] * 4
    if state == DEAD:
        fill_bytes(words, n_bytes, 0)
    else:
        twin = state_field(store, state, S_TWIN)
        mask = state_field(store, twin, S_MASK)
        if state_field(store, twin, S_MASK_KIND) == MASK_WORDS:
            copy_bytes(words, get_i64(block(store, MASKS), mask), n_bytes)
        else:
            fill_bytes(words, n_bytes, 0)
            tokens = block(store, TOKEN_LISTS)
            for i in range(mask, mask + state_field(store, twin, S_N_TOKENS)):
                set_bit(words, get_i32(tokens, i))
    for i in range(first, first + n):
        set_bit(words, get_i32(crossing, i))


FILL_SHAPE = -3  # the caller's array has no such row, or too few words
FILL_MISS = -2
FILL_EMPTY = -1  # the grammar goes on, but no token of the vocabulary spells the next byte
FILL_SOME = 0
FILL_ALL = 1  # every token is allowed


@kernel
def fill(store, grammar, configuration, words):
    """Write the mask of a configuration to the address `words`; reads only."""
    record = block(grammar, CONFIGURATIONS) + configuration * CONFIGURATION_FIELDS * 4
    kind = load_acquire_i32(record + C_MASK_KIND * 4)
    if kind == MASK_NONE:
        return FILL_MISS
    if kind == MASK_WORDS:
        mask = get_i64(block(grammar, OWN_MASKS), configuration_field(grammar, configuration, C_MASK))
        copy_bytes(words, mask, store[N_WORDS] * 4)
    else:
        first = configuration_field(grammar, configuration, C_FIRST)
        n = configuration_field(grammar, configuration, C_N)
        state = DEAD
        if configuration != ENDED:
            state = configuration_field(grammar, configuration, C_STATE)
        _write(store, state, block(grammar, CROSSINGS + POOL), first, n, words)
    if configuration_field(grammar, configuration, C_ACCEPTS) != 0:
        eos = block(store, EOS)
        for i in range(store[N_EOS]):
            set_bit(words, get_i32(eos, i))
    total = configuration_field(grammar, configuration, C_TOTAL)
    if total == 0:
        return FILL_EMPTY
    return FILL_ALL if total == store[N_VOCAB] else FILL_SOME
