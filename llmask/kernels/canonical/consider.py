"""Tokens of long masks that are looked at one by one, as their verdict depends on the token before.

In: tables, a configuration and a context. Out: tokens in FOUND. Cost: 0.1 us a token.
"""

from __future__ import annotations

from ..lexeme_masks.state_masks import MASK_WORDS
from ..lexeme_masks.trie_walk import has_bit, set_bit
from ..lexer.dense_transitions import is_wide
from ..lexer.states import DEAD, S_FINISHED, S_MASK, S_MASK_KIND, state_field
from ..machine.jit import kernel, never_inline
from ..mask.assemble import KIND_BITS
from ..mask.configurations import (
    C_FIRST,
    C_MASK,
    C_MASK_KIND,
    C_N,
    C_PLACE,
    C_STATE,
    REFUSED,
    configuration_field,
    pack,
)
from ..tables.grammar_layout import CROSSINGS, OWN_MASKS
from ..tables.int_lists import append
from ..tables.interning import POOL
from ..tables.memory import block, ensure, get_i32, get_i64, load_i32
from ..tables.store_layout import MASKS, N_WORDS
from .chains import chain_after, look_up, split_after
from .descent import CUT, FOLLOWS_ON, NEEDS_STATE, NOTHING_FOLLOWS
from .ends import INSIDE_PLACE, go_token, has_stopped, names_ordinary
from .fill import REFUSED_SPLIT, clear_bit
from .inside import verdict_inside
from .listings import after_first
from .look import inside_state
from .positions import before_of, chain_of, split_of
from .search import verdict
from .slots import AGAIN, BREAKS, DOUBTFUL, FOUND, MOST_CANDIDATES, N_DOUBTFUL, N_FOUND
from .sure import find_sure
from .wide import is_sure

NOT_ASKED = -1  # in place of what certainly may come


@kernel
def look_inside(store, grammar, canon, twin, after, token, chain):
    """The verdict of a token that stays inside of the lexeme of a lexer state, CUT where that does not tell."""
    inside = go_token(store, grammar, pack(INSIDE_PLACE, twin), token)
    if inside < 0 or state_field(store, inside & 0xFFFFFFFF, S_FINISHED) != 0:
        return CUT
    return verdict_inside(store, grammar, canon, inside & 0xFFFFFFFF, after, token, chain)


@kernel
def _clear_crossing(grammar, configuration, bits):
    """Clear the bits of the crossing tokens of a configuration; or the address of its own mask, which has them all."""
    if configuration_field(grammar, configuration, C_MASK_KIND) & KIND_BITS == MASK_WORDS:
        return get_i64(block(grammar, OWN_MASKS), configuration_field(grammar, configuration, C_MASK))
    first = configuration_field(grammar, configuration, C_FIRST)
    for i in range(first, first + configuration_field(grammar, configuration, C_N)):
        clear_bit(bits, get_i32(block(grammar, CROSSINGS + POOL), i))
    return 0


@kernel
def consider_again(store, grammar, canon, configuration, context, removed, n_mixed):
    """Put removed tokens in FOUND, those in DOUBTFUL looked at anew: NEEDS_STATE, CUT or FOLLOWS_ON.

    `removed` see `find_removed`, 0: there are none. The first `n_mixed` in DOUBTFUL are incompatible with the token
    before.
    """
    never_inline()
    split, before, chain = split_of(context), before_of(context), chain_of(context)
    canon[N_FOUND] = 0
    again, n_again = ensure(canon, DOUBTFUL, 4), canon[N_DOUBTFUL]
    bits = ensure(canon, AGAIN, store[N_WORDS] * 4)  # none are set
    for j in range(n_again):
        set_bit(bits, load_i32(again + j * 4))
    for i in range(load_i32(removed + 4) if removed != 0 else 0):
        token = load_i32(removed + 8 + i * 4)
        if not has_bit(bits, token):
            append(canon, FOUND, N_FOUND, token)
    own = _clear_crossing(grammar, configuration, bits)
    result = CUT if removed != 0 and load_i32(removed) != 0 else FOLLOWS_ON
    twin = inside_state(store, grammar, configuration)
    start = pack(
        configuration_field(grammar, configuration, C_PLACE), configuration_field(grammar, configuration, C_STATE)
    )
    is_named = names_ordinary(store, grammar, start)
    mask = 0  # of the tokens that stay inside of the lexeme
    if twin != DEAD and state_field(store, twin, S_MASK_KIND) == MASK_WORDS:
        mask = get_i64(block(store, MASKS), state_field(store, twin, S_MASK))
    sure = NOT_ASKED
    if mask != 0 and canon[MOST_CANDIDATES] >= 0 and is_wide(store, twin):
        sure = find_sure(store, grammar, canon, twin)
    for j in range(n_again):
        token = load_i32(block(canon, DOUBTFUL) + j * 4)
        packed = REFUSED
        is_inside = mask != 0 and has_bit(mask, token)
        if not is_inside:
            is_crossing = has_bit(own, token) if own != 0 else not has_bit(bits, token)
            if is_crossing or is_named or mask == 0:
                packed = after_first(store, grammar, configuration, token)
            if packed < 0:
                continue
        after = look_up(canon, BREAKS, split, token) if j < n_mixed else split_after(canon, split, before, chain, token)
        if after == REFUSED_SPLIT:
            append(canon, FOUND, N_FOUND, token)
            continue
        following = chain_after(canon, split, after, chain, token)
        if is_inside and sure >= 0 and following & 1 == 0 and is_sure(canon, sure, token, after):
            continue
        found = CUT
        if is_inside or (twin != DEAD and mask == 0):
            found = look_inside(store, grammar, canon, twin, after, token, following)
        if found == CUT and packed < 0:
            packed = after_first(store, grammar, configuration, token)
            if packed < 0:
                continue
        if found == CUT:
            found = verdict(store, grammar, canon, grammar, packed, after, token, following)
        if found == NOTHING_FOLLOWS:
            append(canon, FOUND, N_FOUND, token)
        result = max(result, found)
        if has_stopped(store, grammar):
            result = NEEDS_STATE
            break
    for j in range(n_again):
        clear_bit(bits, load_i32(block(canon, DOUBTFUL) + j * 4))
    return result
