"""Masks of parts: which tokens below a node of the trie stay inside the lexeme that is read there (boundary_walk.py).

As the mask of a lexer state (state_masks.py), which is that of the part below the root: a function of a state and a
node, computed once by a walk and shared by all grammars of a tokenizer.

In: a lexer state and a node. Out: number of the part, its mask, token count and exits. Cost: the walk's.
"""

from __future__ import annotations

from ..lexer.dense_transitions import is_wide
from ..lexer.states import S_TWIN, state_field
from ..machine.constants import TRIE_END_MASK, TRIE_END_SHIFT
from ..machine.jit import kernel, never_inline
from ..tables.interning import MAP_COUNT, map_get, map_put
from ..tables.memory import EXCEEDED, block, ensure, fill_bytes, get_i32, get_i64, put_i32
from ..tables.store_layout import EXITS, N_EXITS, N_WORDS, PART_IDS, PART_MASKS, TRIE, WORDS
from .state_masks import LIST_AT_MOST, MASK_LIST, MASK_WORDS, allow_duplicates, list_tokens, store_mask
from .trie_walk import WORDS_MARGIN, narrow_walk, wide_walk

M_KIND = 0  # MASK_LIST or MASK_WORDS
M_MASK = 1  # where its list begins, or the number of its bitmask
M_N_TOKENS = 2
M_FIRST_EXIT = 3
M_N_EXITS = 4
MASK_FIELDS = 5
NODE_BITS = 32


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
    n_bytes = store[N_WORDS] * 4
    words = ensure(store, WORDS, n_bytes + WORDS_MARGIN + 8) + WORDS_MARGIN
    first_exit = store[N_EXITS]
    ensure(store, EXITS, 8)
    fill_bytes(words, n_bytes, 0)
    if is_wide(store, twin):
        end = (get_i64(block(store, TRIE), node) >> TRIE_END_SHIFT) & TRIE_END_MASK
        n_tokens = wide_walk(store, block(store, TRIE), 0, node, end, twin)
    else:
        n_tokens = narrow_walk(store, node, twin)
    if store[EXCEEDED] != 0:
        store[N_EXITS] = first_exit
        return -1
    n_tokens += allow_duplicates(store, words)
    part = store[PART_IDS + MAP_COUNT]
    fields = ensure(store, PART_MASKS, (part + 1) * MASK_FIELDS * 4)
    is_list = n_tokens <= LIST_AT_MOST
    mask = list_tokens(store, words, n_tokens) if is_list else store_mask(store, words)
    put_i32(fields, part * MASK_FIELDS + M_KIND, MASK_LIST if is_list else MASK_WORDS)
    put_i32(fields, part * MASK_FIELDS + M_MASK, mask)
    put_i32(fields, part * MASK_FIELDS + M_N_TOKENS, n_tokens)
    put_i32(fields, part * MASK_FIELDS + M_FIRST_EXIT, first_exit)
    put_i32(fields, part * MASK_FIELDS + M_N_EXITS, store[N_EXITS] - first_exit)
    map_put(store, PART_IDS, key, part)
    return part
