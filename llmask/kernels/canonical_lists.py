"""Tokens of a configuration that nothing canonical can follow, if they are compatible with the token before.

The tokens that a mask has in lists (those that cross a lexeme's end, and all of a short mask) are kept with the place
and lexer state to which each leads, so that another split state asks a table for every token and little more.

In: tables, a configuration with a mask, a split state. Out: lists in TOKENS. Cost: 30 ns a token once a configuration,
then 30 ns a token and split state; tokens without a quick answer as canonical_search.py says.
"""

from __future__ import annotations

from .canonical_chains import NO_CHAIN, chain_after, look_up
from .canonical_ends import (
    NO_BYTE,
    forget_ends,
    go_on_from_last,
    go_token,
    has_stopped,
    is_safe,
    names_ordinary,
    order_by_end,
    safe_byte,
)
from .canonical_fill import REFUSED_SPLIT
from .canonical_groups import GROUP_HEAD, MIXED, append, find_groups
from .canonical_inside import keep_found, review_inside
from .canonical_search import CUT, FOLLOWS_ON, NEEDS_STATE, NOTHING_FOLLOWS, holds, late_verdict
from .canonical_slots import FOLLOWS, FOUND, N_FOUND, SAFE_MEMO, WALK
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
from .grammar_slots import CROSSINGS, LISTED, N_TOKENS, NAMES_TOKENS, OWN_MASKS, REMOVED, TOKENS
from .interning import POOL, map_get, map_put
from .jit import kernel, never_inline
from .lexer_states import DEAD, S_MASK, S_MASK_KIND, S_N_TOKENS, S_TWIN, state_field
from .masks import KIND_BITS
from .memory import block, ensure, get_i32, get_i64, load_i32, load_i64, put_i32, store_i64
from .records import row_of
from .state_masks import MASK_LIST, MASK_WORDS
from .store_slots import MASKS, N_WORDS, TOKEN_LISTS, TOKEN_OFFSETS
from .token_sets import NAMES_ORDINARY, token_goto

LISTED_FIELDS = 3


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
    """Address of (n, (token, place, lexer state) * n): the tokens of a mask that are kept as lists."""
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
            token = word * 32
            while bits != 0:
                if bits & 1 != 0:
                    append(canon, FOUND, N_FOUND, token)
                bits >>= 1
                token += 1
    first = configuration_field(grammar, configuration, C_FIRST_NAMED)
    for i in range(first, first + configuration_field(grammar, configuration, C_N_NAMED)):
        append(canon, FOUND, N_FOUND, get_i32(block(grammar, CROSSINGS + POOL), i))
    n = canon[N_FOUND]
    start = pack(
        configuration_field(grammar, configuration, C_PLACE), configuration_field(grammar, configuration, C_STATE)
    )
    is_named = names_ordinary(store, grammar, start)
    stack = block(canon, WALK)
    store_i64(stack, start)
    last, n_valid = 0, 0
    position = grammar[N_TOKENS]
    ensure(grammar, TOKENS, (position + 1 + LISTED_FIELDS * n) * 4)
    kept = 0
    for i in range(n):
        token = load_i32(block(canon, FOUND) + i * 4)
        if is_named or not has_bytes(store, token):
            reached = after_first(store, grammar, configuration, token)
        else:
            went_on = go_on_from_last(store, grammar, stack, last, n_valid, token)
            last, n_valid = token, went_on >> 1
            reached = load_i64(stack + n_valid * 8) if went_on & 1 != 0 else REFUSED
        if reached >= 0:
            at = position + 1 + LISTED_FIELDS * kept
            put_i32(block(grammar, TOKENS), at, token)
            put_i32(block(grammar, TOKENS), at + 1, reached >> 32)
            put_i32(block(grammar, TOKENS), at + 2, reached & 0xFFFFFFFF)
            kept += 1
    put_i32(block(grammar, TOKENS), position, kept)
    if has_stopped(store, grammar):
        return 0
    order_by_end(block(grammar, TOKENS) + (position + 1) * 4, kept)
    grammar[N_TOKENS] = position + 1 + LISTED_FIELDS * kept
    map_put(grammar, LISTED, configuration, position)
    return block(grammar, TOKENS) + position * 4


@kernel
def _look_at(store, grammar, canon, packed, split, token):
    """Enter a token that led to an end in FOUND if nothing follows it; its verdict."""
    never_inline()
    after = look_up(canon, FOLLOWS, split, token)
    if after == REFUSED_SPLIT or packed < 0 or is_safe(store, grammar, canon, block(canon, SAFE_MEMO), packed, after):
        return FOLLOWS_ON  # a chain that begins with the token is no whole word yet
    chain = chain_after(canon, split, NO_CHAIN, token)
    found = late_verdict(store, grammar, canon, grammar, packed, after, token, chain)
    if found == NOTHING_FOLLOWS:
        append(canon, FOUND, N_FOUND, token)
    return found


@kernel
def _look_at_group(store, grammar, canon, configuration, split, group):
    """As `_look_at` for the tokens of a group at an address: the last verdict that is not FOLLOWS_ON, or that."""
    never_inline()
    n, text = load_i32(group), load_i32(group + 4)
    place = configuration_field(grammar, configuration, C_PLACE)
    if text != MIXED:
        packed = after_first(store, grammar, configuration, load_i32(group + 4 * GROUP_HEAD))
        if packed >> 32 == place:  # nothing of the text is recorded
            if safe_byte(store, grammar, canon, packed, load_i32(group + 12)) != NO_BYTE:
                return FOLLOWS_ON
            if text != 0 and holds(store, grammar, canon, packed, text, load_i32(group + 8)):
                return FOLLOWS_ON
    result = FOLLOWS_ON
    for i in range(n):
        token = load_i32(group + 4 * (GROUP_HEAD + i))
        packed = after_first(store, grammar, configuration, token)
        found = _look_at(store, grammar, canon, packed, split, token)
        if found == NEEDS_STATE:
            return found
        if found == CUT:
            result = CUT
    return result


@kernel
def find_removed(store, grammar, canon, configuration, split):
    """Address of (whether one was cut, n, tokens without a continuation if they are compatible), or 0: stop."""
    never_inline()
    key = (configuration << 16) | split
    known = map_get(grammar, REMOVED, key)
    if known >= 0:
        return block(grammar, TOKENS) + known * 4
    twin = inside_state(store, grammar, configuration)
    group, n_groups, dead, n_dead = 0, 0, 0, 0
    if twin != DEAD and state_field(store, twin, S_MASK_KIND) == MASK_WORDS:
        inside = review_inside(store, grammar, canon, twin, split)
        if inside == 0:
            return 0
        n_doubtful, n_dead, dead = load_i32(inside), load_i32(inside + 4), inside + 8
        if n_doubtful != 0:
            group = find_groups(store, grammar, canon, twin, split, dead + n_dead * 4, n_doubtful)
            n_groups = load_i32(group)
            group += 4
    listed = list_tokens(store, grammar, canon, configuration)
    if listed == 0:
        return 0
    canon[N_FOUND] = 0
    forget_ends(canon)
    is_cut = 0
    start = pack(
        configuration_field(grammar, configuration, C_PLACE), configuration_field(grammar, configuration, C_STATE)
    )
    if names_ordinary(store, grammar, start):  # which lead elsewhere than their bytes
        is_cut, n_dead = 1, 0
    for i in range(n_dead):
        append(canon, FOUND, N_FOUND, load_i32(dead + i * 4))
    for _ in range(n_groups):
        found = _look_at_group(store, grammar, canon, configuration, split, group)
        if found == NEEDS_STATE:
            return 0
        if found == CUT:
            is_cut = 1
        group += 4 * (GROUP_HEAD + load_i32(group))
    for i in range(load_i32(listed)):
        at = listed + 4 + i * 4 * LISTED_FIELDS
        packed = pack(load_i32(at + 4), load_i32(at + 8))
        found = _look_at(store, grammar, canon, packed, split, load_i32(at))
        if found == NEEDS_STATE:
            return 0
        if found == CUT:
            is_cut = 1
    if has_stopped(store, grammar):
        return 0
    position = grammar[N_TOKENS]
    address = keep_found(grammar, is_cut, canon)
    map_put(grammar, REMOVED, key, position)
    return address
