"""Where the parts of a mask lie that is built: what a review of its tokens begins with.

In: tables, a configuration. Out: addresses and numbers. Cost: 0.1 us.
"""

from __future__ import annotations

from .configurations import C_ACCEPTS, C_FIRST, C_MASK, C_MASK_KIND, C_N, C_STATE, ENDED, configuration_field
from .grammar_slots import CROSSINGS, OWN_MASKS
from .interning import POOL
from .jit import door
from .lexer_states import DEAD, S_MASK, S_MASK_KIND, S_N_TOKENS, S_TWIN, state_field
from .masks import HAS_NAMED, KIND_BITS
from .memory import as_table, block, get_i64
from .state_masks import MASK_LIST, MASK_NONE, MASK_WORDS
from .store_slots import MASKS, TOKEN_LISTS

# what `describe` says
D_KIND = 0  # MASK_LIST: the configuration has a list of crossing tokens; MASK_WORDS: a mask of its own
D_ACCEPTS = 1
D_CROSSING = 2  # address of int32[n] or of the mask
D_N_CROSSING = 3
D_STATE = 4  # the lexer state that carries the mask of what stays inside the lexeme
D_STATE_KIND = 5
D_INSIDE = 6  # address of int32[n] or of the mask
D_N_INSIDE = 7
D_NAMES = 8  # 1: tokens are named, see token_sets.py
D_FIELDS = 9


@door("void(int64, int64, int64, int64[::1])", group="canonical")
def describe(store_address, grammar_address, configuration, out):
    """Where the parts of a mask lie that is built: `out` gets what the D_ names say."""
    store, grammar = as_table(store_address), as_table(grammar_address)
    state = DEAD
    if configuration != ENDED:
        state = configuration_field(grammar, configuration, C_STATE)
    kind = configuration_field(grammar, configuration, C_MASK_KIND)
    out[D_KIND] = kind & KIND_BITS
    out[D_NAMES] = 1 if kind & HAS_NAMED != 0 else 0
    out[D_ACCEPTS] = configuration_field(grammar, configuration, C_ACCEPTS)
    out[D_N_CROSSING] = configuration_field(grammar, configuration, C_N)
    out[D_CROSSING] = block(grammar, CROSSINGS + POOL) + configuration_field(grammar, configuration, C_FIRST) * 4
    if out[D_KIND] == MASK_WORDS:
        out[D_CROSSING] = get_i64(block(grammar, OWN_MASKS), configuration_field(grammar, configuration, C_MASK))
    out[D_STATE_KIND] = MASK_NONE
    if state == DEAD:
        return
    twin = state_field(store, state, S_TWIN)
    out[D_STATE] = twin
    out[D_STATE_KIND] = state_field(store, twin, S_MASK_KIND)
    out[D_N_INSIDE] = state_field(store, twin, S_N_TOKENS)
    mask = state_field(store, twin, S_MASK)
    if out[D_STATE_KIND] == MASK_WORDS:
        out[D_INSIDE] = get_i64(block(store, MASKS), mask)
    elif out[D_STATE_KIND] == MASK_LIST:
        out[D_INSIDE] = block(store, TOKEN_LISTS) + mask * 4
