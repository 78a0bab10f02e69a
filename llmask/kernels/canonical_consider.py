"""Tokens that are looked at one by one: whether the splitter and the token before let them follow, and what can follow
them.

Those of short masks, those inside of a character, and of long masks the few whose verdict depends on the token before.

In: tables, a position. Out: tokens in FOUND. Cost: 0.1 us a token.
"""

from __future__ import annotations

from .canonical_chains import chain_after, look_up, split_after
from .canonical_descent import CUT, FOLLOWS_ON, NEEDS_STATE, NOTHING_FOLLOWS
from .canonical_ends import (
    INSIDE_PLACE,
    NO_NUMBER,
    forget_ends,
    go_token,
    has_stopped,
    is_bare,
    is_safe,
    names_ordinary,
    safe_byte,
)
from .canonical_fill import REFUSED_SPLIT, clear_bit
from .canonical_inside import verdict_inside
from .canonical_lists import inside_state
from .canonical_live import NO_BYTE
from .canonical_pairs import find_fitting
from .canonical_positions import (
    P_BEFORE,
    P_CHAIN,
    P_CONFIGURATION,
    P_SPLIT,
    position_field,
)
from .canonical_search import late_verdict, verdict
from .canonical_slots import (
    AGAIN,
    BREAKS,
    DOUBTFUL,
    FOLLOWS,
    FOUND,
    IS_PARTIAL,
    KINDS,
    MOST_CANDIDATES,
    N_CONTINUING,
    N_DOUBTFUL,
    N_FOUND,
)
from .canonical_sure import find_sure
from .canonical_wide import is_sure
from .configurations import (
    C_BASE,
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
from .crossed import NO_END
from .grammar_slots import CROSSINGS, NAMES_TOKENS, OWN_MASKS
from .hot_rows import is_wide
from .interning import POOL
from .jit import kernel, never_inline
from .lexer_states import DEAD, S_FINISHED, S_MASK, S_MASK_KIND, S_N_TOKENS, state_field
from .listings import after_first, end_at, listing_of, tokens_of
from .masks import KIND_BITS
from .memory import block, ensure, get_i32, get_i64, load_i32, load_i64, load_u8
from .raw import load_u16
from .records import FIRST_PLACE
from .state_masks import MASK_WORDS
from .store_slots import MASKS, N_WORDS, TOKEN_LISTS
from .token_lists import append
from .token_sets import NAMES_ORDINARY
from .trie_walk import has_bit, set_bit

NOT_ASKED = -1  # in place of what certainly may come
MANY_PARTS = 20  # tokens; for fewer those that are incompatible need not be listed


@kernel
def _look_inside(store, grammar, canon, twin, after, token, chain):
    """The verdict of a token that stays inside of the lexeme of a lexer state, CUT where that does not tell."""
    inside = go_token(store, grammar, pack(INSIDE_PLACE, twin), token)
    if inside < 0 or state_field(store, inside & 0xFFFFFFFF, S_FINISHED) != 0:
        return CUT
    return verdict_inside(store, grammar, canon, inside & 0xFFFFFFFF, after, token, chain)


@kernel
def _consider(store, grammar, canon, position, token, end, number, twin):
    """Enter a grammatical token in FOUND unless nothing canonical follows it; its verdict.

    `end` is where it leads, or NO_END; `number` is that of the end in the memo. `twin` is a lexer state that is asked
    first, or DEAD.
    """
    never_inline()
    split, before = position_field(grammar, position, P_SPLIT), position_field(grammar, position, P_BEFORE)
    chain = position_field(grammar, position, P_CHAIN)
    after = split_after(canon, split, before, chain, token)
    if after == REFUSED_SPLIT:
        return NOTHING_FOLLOWS
    following = chain_after(canon, split, chain, token)
    found = CUT if twin == DEAD else _look_inside(store, grammar, canon, twin, after, token, following)
    if found == CUT:
        found = FOLLOWS_ON
        if end == NO_END or following & 1 != 0 or not is_safe(store, grammar, canon, number, end, after):
            if end == NO_END or is_bare(end):
                end = after_first(store, grammar, position_field(grammar, position, P_CONFIGURATION), token)
                if end < 0:
                    return NOTHING_FOLLOWS
            found = verdict(store, grammar, canon, grammar, end, after, token, following)
    if found != NOTHING_FOLLOWS and found != NEEDS_STATE:
        append(canon, FOUND, N_FOUND, token)
    return found


@kernel
def _consider_listing(store, grammar, canon, position, configuration):
    """Consider the tokens of a listing: NEEDS_STATE if there is one, or CUT, or FOLLOWS_ON."""
    never_inline()
    listing = listing_of(grammar, configuration)
    tokens, result = tokens_of(listing), FOLLOWS_ON
    forget_ends(canon, load_i32(listing + 4))
    for i in range(load_i32(listing)):
        token, number = load_i32(tokens + i * 8), load_i32(tokens + i * 8 + 4)
        found = _consider(store, grammar, canon, position, token, end_at(listing, number), number, DEAD)
        result = max(result, found)
        if has_stopped(store, grammar):
            return NEEDS_STATE
    return result


@kernel
def _consider_continuing(store, grammar, canon, position, tokens, n):
    """As `_consider_tokens` behind a part of a character, which only tokens go on from that begin inside of one."""
    never_inline()
    split, before = position_field(grammar, position, P_SPLIT), position_field(grammar, position, P_BEFORE)
    configuration = position_field(grammar, position, P_CONFIGURATION)
    fits, result = find_fitting(canon, before), FOLLOWS_ON
    follows, breaks = load_i64(canon[FOLLOWS] + split * 8), load_i64(canon[BREAKS] + split * 8)
    safe_end, safe_after = REFUSED, 0  # most lead where the last one did
    for i in range(n):
        token = load_i32(tokens + i * 4)
        kind = load_u16(canon[KINDS] + token * 2)
        if kind >= canon[N_CONTINUING]:
            continue
        after = load_u16((follows if load_u8(fits + kind) != 0 else breaks) + kind * 2)
        if after == REFUSED_SPLIT:
            continue
        end = after_first(store, grammar, configuration, token)
        if end < 0:
            continue
        chain = chain_after(canon, split, position_field(grammar, position, P_CHAIN), token)
        found = FOLLOWS_ON
        if chain & 1 != 0 or end != safe_end or after != safe_after:
            if chain & 1 == 0 and safe_byte(store, grammar, canon, end, after) != NO_BYTE:
                safe_end, safe_after = end, after
            else:
                found = late_verdict(store, grammar, canon, grammar, end, after, token, chain)
        if found != NOTHING_FOLLOWS and found != NEEDS_STATE:
            append(canon, FOUND, N_FOUND, token)
        result = max(result, found)
        if has_stopped(store, grammar):
            return NEEDS_STATE
    return result


@kernel
def _consider_tokens(store, grammar, canon, position, tokens, n, twin):
    """Consider int32[n] tokens at an address; as `_consider_listing`. `twin` see `_consider`."""
    never_inline()
    is_part = load_u8(canon[IS_PARTIAL] + position_field(grammar, position, P_SPLIT)) != 0
    if is_part and n >= MANY_PARTS and position_field(grammar, position, P_CHAIN) & 1 == 0:
        return _consider_continuing(store, grammar, canon, position, tokens, n)
    result = FOLLOWS_ON
    for i in range(n):
        found = _consider(store, grammar, canon, position, load_i32(tokens + i * 4), NO_END, NO_NUMBER, twin)
        result = max(result, found)
        if has_stopped(store, grammar):
            return NEEDS_STATE
    return result


@kernel
def consider_all(store, grammar, canon, position, is_long):
    """Consider the tokens in DOUBTFUL, or those of a short mask; as `_consider_listing`."""
    never_inline()
    if is_long:
        return _consider_tokens(store, grammar, canon, position, block(canon, DOUBTFUL), canon[N_DOUBTFUL], DEAD)
    configuration = position_field(grammar, position, P_CONFIGURATION)
    twin, base = inside_state(store, grammar, configuration), configuration_field(grammar, configuration, C_BASE)
    first = _consider_listing(store, grammar, canon, position, configuration)
    second, third = FOLLOWS_ON, FOLLOWS_ON
    if base != 0:
        second = _consider_listing(store, grammar, canon, position, base)
    if twin != DEAD:
        tokens, n = (
            block(store, TOKEN_LISTS) + state_field(store, twin, S_MASK) * 4,
            state_field(store, twin, S_N_TOKENS),
        )
        if (
            configuration_field(grammar, configuration, C_PLACE) < FIRST_PLACE
            or grammar[NAMES_TOKENS] == NAMES_ORDINARY
        ):
            twin = DEAD  # otherwise what is read is recorded, which takes longer than to ask twice
        third = _consider_tokens(store, grammar, canon, position, tokens, n, twin)
    return max(first, second, third)


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
def consider_again(store, grammar, canon, position, removed, n_mixed):
    """Put the removed tokens in FOUND, those in DOUBTFUL looked at anew: NEEDS_STATE, CUT or FOLLOWS_ON.

    The first `n_mixed` in DOUBTFUL are incompatible with the token before.
    """
    never_inline()
    configuration = position_field(grammar, position, P_CONFIGURATION)
    split, before = position_field(grammar, position, P_SPLIT), position_field(grammar, position, P_BEFORE)
    chain = position_field(grammar, position, P_CHAIN)
    canon[N_FOUND] = 0
    again, n_again = ensure(canon, DOUBTFUL, 4), canon[N_DOUBTFUL]
    bits = ensure(canon, AGAIN, store[N_WORDS] * 4)  # none are set
    for j in range(n_again):
        set_bit(bits, load_i32(again + j * 4))
    for i in range(load_i32(removed + 4)):
        token = load_i32(removed + 8 + i * 4)
        if not has_bit(bits, token):
            append(canon, FOUND, N_FOUND, token)
    own = _clear_crossing(grammar, configuration, bits)
    result = CUT if load_i32(removed) != 0 else FOLLOWS_ON
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
            continue
        following = chain_after(canon, split, chain, token)
        if is_inside and sure >= 0 and following & 1 == 0 and is_sure(canon, sure, token, after):
            continue
        found = CUT
        if is_inside or (twin != DEAD and mask == 0):
            found = _look_inside(store, grammar, canon, twin, after, token, following)
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
