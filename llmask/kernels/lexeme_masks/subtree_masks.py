"""Masks of parts: which tokens below a node of the trie stay inside the lexeme that is read there (boundary_walk.py).

As the mask of a lexer state (state_masks.py), which is that of the part below the root: a function of a state and a
node, computed once by a walk and shared by all grammars of a tokenizer. So is what follows the exits of a lexeme, all
of them, in the state in which the next one begins: the ends of strings, behind which commas and braces may come, lead
to a few hundred children, of which a few dozen go on.

In: a lexer state and a node, or exits. Out: number of the part, its mask, token count and exits. Cost: the walk's.
"""

from __future__ import annotations

from ..lexer.dense_transitions import HOT_DEAD, HOT_FIRST, hot_row, hot_state, hot_step, is_wide
from ..lexer.states import DEAD, S_ACCEPTS, S_FINISHED, S_MASK_KIND, S_TWIN, state_field
from ..machine.constants import TRIE_END_MASK, TRIE_END_SHIFT, TRIE_TOKEN_SHIFT
from ..machine.jit import kernel, never_inline
from ..tables.interning import MAP_COUNT, map_get, map_put
from ..tables.memory import EXCEEDED, block, ensure, fill_bytes, get_i32, get_i64, get_u8, put_i32, spend
from ..tables.store_layout import (
    CHILD_BYTE,
    CHILD_NODE,
    EXITS,
    LEAST_PART,
    N_EXITS,
    N_WORDS,
    PART_IDS,
    PART_MASKS,
    TRIE,
    WALKED,
    WORDS,
    WORDS_MARGIN,
)
from .exits import X_END, X_FIRST, X_STATE, X_TOKEN, add_exit, exit_field
from .state_masks import MASK_LIST, MASK_NONE, MASK_WORDS, allow_duplicates, list_tokens, store_mask
from .trie_walk import narrow_walk, set_bit, wide_walk

M_KIND = 0  # MASK_LIST or MASK_WORDS
M_MASK = 1  # where its list begins, or the number of its bitmask
M_N_TOKENS = 2
M_FIRST_EXIT = 3
M_N_EXITS = 4
M_N_BEHIND = 5  # of how many exits it is what follows; 0: it is below a node, or too large for a list
MASK_FIELDS = 6
NODE_BITS = 32
BEHIND = 1 << 31  # the number of an exit in place of a node
EXIT_NODES = 32  # nodes that an exit stands for when it is asked whether what follows is large enough to be a part
MOST_LISTED = 1024  # tokens of a part that is a list; what follows exits is none where it has more


@kernel
def part_field(store, part, name):
    return get_i32(block(store, PART_MASKS), part * MASK_FIELDS + name)


@kernel
def part_mask(store, state, node):
    """Number of the part below a node that was reached in a lexer state; -1 where a limit is reached."""
    never_inline()
    twin = state_field(store, state, S_TWIN)
    key = (twin << NODE_BITS) | node
    known = map_get(store, PART_IDS, key)
    if known >= 0:
        return known
    first_exit = _begin(store)
    if is_wide(store, twin):
        end = (get_i64(block(store, TRIE), node) >> TRIE_END_SHIFT) & TRIE_END_MASK
        n_tokens = wide_walk(store, block(store, TRIE), 0, node, end, twin)
    else:
        n_tokens = narrow_walk(store, node, twin)
    return _keep(store, key, first_exit, n_tokens, 0)


@kernel
def part_behind(store, state, first, n):
    """Number of the part of all that follows exits in a state in which the next lexeme begins, or -1.

    There is one where exits are many, and the state is narrow and was come to before: it will be again. The tokens that
    end at an exit are among its own.
    """
    never_inline()
    twin = state_field(store, state, S_TWIN)
    if n * EXIT_NODES < store[LEAST_PART] or state_field(store, twin, S_MASK_KIND) == MASK_NONE:
        return -1
    if state_field(store, twin, S_ACCEPTS) != 0 or is_wide(store, twin):
        return -1
    key = (twin << NODE_BITS) | BEHIND | first
    part = map_get(store, PART_IDS, key)
    if part < 0:
        first_exit = _begin(store)
        n_tokens = 0
        for exit in range(first, first + n):
            if exit_field(store, exit, X_STATE) != DEAD:
                n_tokens += _walk_behind(store, exit, hot_row(store, twin))
        part = _keep(store, key, first_exit, n_tokens, n)
    return part if part >= 0 and part_field(store, part, M_N_BEHIND) == n else -1


@kernel
def _walk_behind(store, exit, hot):
    """Allow the tokens that end at an exit, or below it inside the next lexeme, whose first expanded row is `hot`."""
    there = exit_field(store, exit, X_STATE)
    words = block(store, WORDS) + WORDS_MARGIN
    is_finished = state_field(store, there, S_FINISHED) != 0
    ending = hot if is_finished else hot_row(store, there)
    n_tokens = 0
    if is_finished and exit_field(store, exit, X_TOKEN) >= 0:
        set_bit(words, exit_field(store, exit, X_TOKEN))
        n_tokens += 1
    first, end = exit_field(store, exit, X_FIRST), exit_field(store, exit, X_END)
    spend(store, 2 + ((end - first) >> 2))
    store[WALKED] += end - first
    for child in range(first, end):
        byte = get_u8(block(store, CHILD_BYTE), child)
        if not is_finished and hot_step(store, ending, byte) != HOT_DEAD:
            continue  # the lexeme goes on
        entry = hot_step(store, hot, byte)
        node = get_i32(block(store, CHILD_NODE), child)
        if entry < 0:
            add_exit(store, node, -entry)
        elif entry != HOT_DEAD:
            token = (get_i64(block(store, TRIE), node) >> TRIE_TOKEN_SHIFT) - 1
            if token >= 0:
                set_bit(words, token)
                n_tokens += 1
            n_tokens += narrow_walk(store, node, hot_state(store, entry - HOT_FIRST))
    return n_tokens


@kernel
def _begin(store):
    """Clear the mask in progress; returns the number of the next exit."""
    n_bytes = store[N_WORDS] * 4
    words = ensure(store, WORDS, n_bytes + WORDS_MARGIN + 8) + WORDS_MARGIN
    ensure(store, EXITS, 8)
    fill_bytes(words, n_bytes, 0)
    return store[N_EXITS]


@kernel
def _keep(store, key, first_exit, n_tokens, n_behind):
    """Keep the mask in progress as that of a part; returns its number, or -1 where a limit is reached."""
    words = block(store, WORDS) + WORDS_MARGIN
    if store[EXCEEDED] != 0:
        store[N_EXITS] = first_exit
        return -1
    n_tokens += allow_duplicates(store, words)
    part = store[PART_IDS + MAP_COUNT]
    fields = ensure(store, PART_MASKS, (part + 1) * MASK_FIELDS * 4)
    is_list = n_tokens <= MOST_LISTED
    if n_behind != 0 and not is_list:
        store[N_EXITS] = first_exit
        n_tokens = n_behind = mask = 0
    else:
        mask = list_tokens(store, words, n_tokens) if is_list else store_mask(store, words)
    put_i32(fields, part * MASK_FIELDS + M_KIND, MASK_LIST if is_list else MASK_WORDS)
    put_i32(fields, part * MASK_FIELDS + M_MASK, mask)
    put_i32(fields, part * MASK_FIELDS + M_N_TOKENS, n_tokens)
    put_i32(fields, part * MASK_FIELDS + M_FIRST_EXIT, first_exit)
    put_i32(fields, part * MASK_FIELDS + M_N_EXITS, store[N_EXITS] - first_exit)
    put_i32(fields, part * MASK_FIELDS + M_N_BEHIND, n_behind)
    map_put(store, PART_IDS, key, part)
    return part
