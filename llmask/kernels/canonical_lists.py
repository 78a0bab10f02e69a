"""Tokens of a configuration that nothing canonical can follow, if they are compatible with the token before.

The tokens that a mask has in lists (those that cross a lexeme's end, and all of a short mask) are kept with the end to
which each leads, so that another split state asks a table for every token and little more.

In: tables, a configuration with a mask, a split state. Out: lists in TOKENS. Cost: 50 ns a token once a configuration,
then 5 ns a token and split state; tokens without a quick answer as canonical_search.py says.
"""

from __future__ import annotations

from .canonical_chains import NO_CHAIN, chain_after, look_up
from .canonical_ends import NO_BYTE, end_of, go_token, has_stopped, names_ordinary, safe_byte
from .canonical_fill import REFUSED_SPLIT
from .canonical_inside import append, keep_found, review_inside
from .canonical_search import CUT, NEEDS_STATE, NOTHING_FOLLOWS, verdict
from .canonical_slots import FOLLOWS, FOUND, N_FOUND
from .configurations import (
    C_FIRST,
    C_FIRST_NAMED,
    C_MASK,
    C_MASK_KIND,
    C_N,
    C_N_NAMED,
    C_NAMING,
    C_PLACE,
    C_STATE,
    REFUSED,
    configuration_field,
    pack,
)
from .earley_rows import R_START, row_field
from .grammar_slots import CROSSINGS, ENDS_OF_TEXT, LISTED, N_TOKENS, NAMES_TOKENS, OWN_MASKS, REMOVED, TOKENS
from .interning import POOL, map_get, map_key, map_put
from .jit import kernel, never_inline
from .lexer_states import DEAD, S_MASK, S_MASK_KIND, S_N_TOKENS, S_TWIN, state_field
from .masks import KIND_BITS
from .memory import block, ensure, get_i32, get_i64, load_i32, put_i32
from .records import row_of
from .state_masks import MASK_LIST, MASK_WORDS
from .store_slots import MASKS, N_WORDS, TOKEN_LISTS, TOKEN_OFFSETS
from .token_sets import NAMES_ORDINARY, token_goto


@kernel
def inside_state(store, grammar, configuration):
    """The lexer state that carries the mask of tokens inside of the lexeme, or DEAD."""
    state = configuration_field(grammar, configuration, C_STATE)
    return DEAD if state == DEAD else state_field(store, state, S_TWIN)


@kernel
def has_bytes(store, token):
    offsets = block(store, TOKEN_OFFSETS)
    return load_i32(offsets + token * 4) != load_i32(offsets + token * 4 + 4)


@kernel
def after_first(store, grammar, configuration, token):
    """Place and state after a token with bytes, by its name if the grammar names it; or REFUSED."""
    never_inline()
    place = configuration_field(grammar, configuration, C_PLACE)
    state = configuration_field(grammar, configuration, C_STATE)
    if not has_bytes(store, token):
        return REFUSED
    naming = configuration_field(grammar, configuration, C_NAMING)
    if naming != 0 and grammar[NAMES_TOKENS] == NAMES_ORDINARY:
        target = token_goto(store, grammar, naming - 1, token)
        if target >= 0:
            return pack(target, row_field(grammar, row_of(grammar, target), R_START))
    return go_token(store, grammar, pack(place, state), token)


@kernel
def append_special(store, grammar, canon, configuration):
    """Append to FOUND the special tokens that are named here; masks of many are none of these."""
    first = configuration_field(grammar, configuration, C_FIRST_NAMED)
    for i in range(first, first + configuration_field(grammar, configuration, C_N_NAMED)):
        token = get_i32(block(grammar, CROSSINGS + POOL), i)
        if not has_bytes(store, token):
            append(canon, FOUND, N_FOUND, token)


@kernel
def list_tokens(store, grammar, canon, configuration):
    """Address of (n, (token, end) * n): the tokens of a mask that are kept as lists, with where they lead."""
    never_inline()
    known = map_get(grammar, LISTED, configuration)
    if known >= 0:
        return block(grammar, TOKENS) + known * 4
    canon[N_FOUND] = 0
    twin = inside_state(store, grammar, configuration)
    inside = 0
    if twin != DEAD and state_field(store, twin, S_MASK_KIND) == MASK_WORDS:
        inside = get_i64(block(store, MASKS), state_field(store, twin, S_MASK))
    elif twin != DEAD:
        first = state_field(store, twin, S_MASK)
        for i in range(first, first + state_field(store, twin, S_N_TOKENS)):
            append(canon, FOUND, N_FOUND, get_i32(block(store, TOKEN_LISTS), i))
    if configuration_field(grammar, configuration, C_MASK_KIND) & KIND_BITS == MASK_LIST:
        first = configuration_field(grammar, configuration, C_FIRST)
        for i in range(first, first + configuration_field(grammar, configuration, C_N)):
            append(canon, FOUND, N_FOUND, get_i32(block(grammar, CROSSINGS + POOL), i))
    else:
        own = get_i64(block(grammar, OWN_MASKS), configuration_field(grammar, configuration, C_MASK))
        for word in range(store[N_WORDS]):
            bits = load_i32(own + word * 4) & 0xFFFFFFFF
            if inside != 0:
                bits &= ~load_i32(inside + word * 4)
            for bit in range(32):
                if bits >> bit & 1 != 0:
                    append(canon, FOUND, N_FOUND, word * 32 + bit)
    first = configuration_field(grammar, configuration, C_FIRST_NAMED)
    for i in range(first, first + configuration_field(grammar, configuration, C_N_NAMED)):
        append(canon, FOUND, N_FOUND, get_i32(block(grammar, CROSSINGS + POOL), i))
    n = canon[N_FOUND]
    position = grammar[N_TOKENS]
    ensure(grammar, TOKENS, (position + 1 + 2 * n) * 4)
    kept = 0
    for i in range(n):
        token = load_i32(block(canon, FOUND) + i * 4)
        reached = after_first(store, grammar, configuration, token)
        if reached >= 0:
            put_i32(block(grammar, TOKENS), position + 1 + 2 * kept, token)
            put_i32(block(grammar, TOKENS), position + 2 + 2 * kept, end_of(grammar, reached))
            kept += 1
    put_i32(block(grammar, TOKENS), position, kept)
    if has_stopped(store, grammar):
        return 0
    grammar[N_TOKENS] = position + 1 + 2 * kept
    map_put(grammar, LISTED, configuration, position)
    return block(grammar, TOKENS) + position * 4


@kernel
def _verdict_of(store, grammar, canon, end, split, chain, token, after):
    """The verdict of a token that leads from a split state and chain to an end and split state."""
    packed = map_key(grammar, ENDS_OF_TEXT, end)
    return verdict(store, grammar, canon, grammar, packed, after, token, chain_after(canon, split, chain, token))


@kernel
def find_removed(store, grammar, canon, configuration, split):
    """Address of (whether one was cut, n, tokens without a continuation if they are compatible), or 0: stop."""
    never_inline()
    key = (configuration << 16) | split
    known = map_get(grammar, REMOVED, key)
    if known >= 0:
        return block(grammar, TOKENS) + known * 4
    twin = inside_state(store, grammar, configuration)
    doubtful, n_doubtful, dead, n_dead = 0, 0, 0, 0
    if twin != DEAD and state_field(store, twin, S_MASK_KIND) == MASK_WORDS:
        inside = review_inside(store, grammar, canon, twin, split)
        if inside == 0:
            return 0
        n_doubtful, n_dead, dead = load_i32(inside), load_i32(inside + 4), inside + 8
        doubtful = dead + n_dead * 4
    listed = list_tokens(store, grammar, canon, configuration)
    if listed == 0:
        return 0
    canon[N_FOUND] = 0
    is_cut = 0
    start = pack(
        configuration_field(grammar, configuration, C_PLACE), configuration_field(grammar, configuration, C_STATE)
    )
    if names_ordinary(store, grammar, start):  # which lead elsewhere than their bytes
        is_cut, n_dead = 1, 0
    for i in range(n_dead):
        append(canon, FOUND, N_FOUND, load_i32(dead + i * 4))
    last, last_after, is_safe = -1, -1, False
    for i in range(n_doubtful + load_i32(listed)):
        if i < n_doubtful:
            token = load_i32(doubtful + i * 4)
            packed = after_first(store, grammar, configuration, token)
            if packed < 0:
                continue
            end = end_of(grammar, packed)
        else:
            at = listed + 4 + (i - n_doubtful) * 8
            token, end = load_i32(at), load_i32(at + 4)
        after = look_up(canon, FOLLOWS, split, token)
        if after == REFUSED_SPLIT:
            continue
        if end != last or after != last_after:
            last, last_after = end, after
            packed = map_key(grammar, ENDS_OF_TEXT, end)
            is_safe = safe_byte(store, grammar, canon, grammar, packed, end, after) != NO_BYTE
        if is_safe:
            continue
        found = _verdict_of(store, grammar, canon, end, split, NO_CHAIN, token, after)
        if found == NEEDS_STATE:
            return 0
        if found == NOTHING_FOLLOWS:
            append(canon, FOUND, N_FOUND, token)
        elif found == CUT:
            is_cut = 1
    if has_stopped(store, grammar):
        return 0
    position = grammar[N_TOKENS]
    address = keep_found(grammar, is_cut, canon)
    map_put(grammar, REMOVED, key, position)
    return address
