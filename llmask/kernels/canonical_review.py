"""The mask of a position: which grammatical tokens the tokenizer itself would have written, and can go on from.

Masks of few tokens, and those inside of a character, are found token by token (canonical_short.py). Masks of many are
taken out of the grammatical one:

    grammatical
    & what the splitter lets follow, less what would merge with the token before     canonical_following.py
    - what nothing canonical can follow, if it is compatible with the token before   canonical_lists.py

A position without any canonical token (the search for continuations was given up before) has the grammatical mask, and
the text is taken to begin anew behind it.

In: tables, a position. Out: its fields. Cost: 0.1 us a token of a short mask; a long one
1 us where its parts are known.
"""

from __future__ import annotations

from .canonical_chains import NO_CHAIN, goes_on
from .canonical_consider import consider_again
from .canonical_descent import CUT, NEEDS_STATE
from .canonical_ends import has_stopped, note_missing
from .canonical_fill import (
    ASK,
    CELL_IS_CUT,
    CELL_MAY_END,
    CELL_N_PAIRS,
    CELL_N_RANGES,
    CELL_N_REMOVED,
    CELL_PAIRS,
    CELL_RANGES,
    CELL_RANKED,
    CELL_REMOVED,
    CELL_WORDS,
    FILTER,
    LIST,
    NO_FILTER,
    REFUSED_SPLIT,
)
from .canonical_following import HEAD_BYTES, base_of, find_following, ranked_of
from .canonical_inside import keep_found
from .canonical_lists import append_special, find_removed
from .canonical_look import inside_state
from .canonical_positions import (
    P_BEFORE,
    P_CHAIN,
    P_CONFIGURATION,
    P_FILTER,
    P_SPLIT,
    POSITION_FIELDS,
    position_field,
    position_of,
    put_position_field,
)
from .canonical_short import find_short
from .canonical_slots import (
    BREAKS,
    CHAIN_FIRST,
    CHAIN_TOKENS,
    DOUBTFUL,
    FOLLOWING,
    FOLLOWS,
    FOUND,
    IS_PARTIAL,
    KIND_FIRST,
    KIND_TOKENS,
    LONE_FOLLOWING,
    MAY_END,
    N_CONTINUING,
    N_DOUBTFUL,
    N_FOUND,
    N_KINDS,
    N_MISSING,
    RANKS,
    REACHABLE,
    REPORT,
    START,
)
from .configurations import (
    C_ACCEPTS,
    C_MASK_KIND,
    C_N_NAMED,
    ENDED,
    OWN_MASK,
    configuration_field,
)
from .constants import NO_TOKEN
from .grammar_slots import POSITIONS
from .jit import kernel, never_inline
from .lexer_states import DEAD, S_MASK_KIND, state_field
from .masks import KIND_BITS, build_mask
from .memory import block, get_i32, load_i32, load_i64, load_u8, store_release
from .raw import load_u16
from .shared_batch import CELL_CONFIGURATION
from .state_masks import MASK_WORDS
from .store_slots import EOS, N_EOS
from .token_lists import append

# what the review answers
DONE = 0
STATE_MISSING = -201  # tables of the split states in MISSING
FOLLOWING_MISSING = -202  # the masks of what may follow the split state in REPORT
RANKS_MISSING = -203  # the tokens that may not follow it if they are incompatible with the one before
STOPPED = -204  # a limit was reached


@kernel
def _missing(store, grammar):
    """Why a search stopped."""
    return STOPPED if has_stopped(store, grammar) else STATE_MISSING


@kernel
def _put(grammar, position, field, value):
    put_position_field(grammar, position, field - CELL_CONFIGURATION, value)


@kernel
def _finish(grammar, position, kind, may_end, is_cut):
    """Write the last fields of a position, which other threads may look at from now on."""
    _put(grammar, position, CELL_MAY_END, may_end)
    _put(grammar, position, CELL_IS_CUT, is_cut)
    store_release(block(grammar, POSITIONS) + (position * POSITION_FIELDS + P_FILTER) * 8, kind)


@kernel
def review(store, grammar, canon, position):
    """Find the mask of a position: DONE, or what is missing."""
    never_inline()
    if position_field(grammar, position, P_FILTER) != ASK:
        return DONE
    canon[N_MISSING] = 0
    configuration = position_field(grammar, position, P_CONFIGURATION)
    build_mask(store, grammar, configuration)
    if has_stopped(store, grammar):
        return STOPPED
    if configuration == ENDED:
        _finish(grammar, position, NO_FILTER, 1, 0)
        return DONE
    split = position_field(grammar, position, P_SPLIT)
    if load_i64(canon[FOLLOWS] + split * 8) == 0:
        note_missing(canon, split)
        return STATE_MISSING
    twin = inside_state(store, grammar, configuration)
    is_long = configuration_field(grammar, configuration, C_MASK_KIND) & KIND_BITS == MASK_WORDS
    if configuration_field(grammar, configuration, C_N_NAMED) == OWN_MASK:
        is_long = True
    if twin != DEAD and state_field(store, twin, S_MASK_KIND) == MASK_WORDS:
        is_long = True
    is_partial = load_u8(canon[IS_PARTIAL] + split) != 0
    must_go_on = position_field(grammar, position, P_CHAIN) & 1 != 0
    if is_long and not is_partial and not must_go_on:
        return _review_long(store, grammar, canon, position)
    canon[N_DOUBTFUL] = 0
    if is_long:
        for kind in range(canon[N_CONTINUING] if is_partial else canon[N_KINDS]):
            for i in range(load_i32(canon[KIND_FIRST] + kind * 4), load_i32(canon[KIND_FIRST] + kind * 4 + 4)):
                token = load_i32(canon[KIND_TOKENS] + i * 4)
                if is_partial or goes_on(canon, split, token):
                    append(canon, DOUBTFUL, N_DOUBTFUL, token)
    return _review_each(store, grammar, canon, position, is_long)


@kernel
def _review_each(store, grammar, canon, position, is_long):
    """Find the mask of a position token by token: those in DOUBTFUL, or those of a short mask."""
    never_inline()
    configuration = position_field(grammar, position, P_CONFIGURATION)
    split, chain = position_field(grammar, position, P_SPLIT), position_field(grammar, position, P_CHAIN)
    found = find_short(store, grammar, canon, position, is_long)
    if found == NEEDS_STATE:
        return _missing(store, grammar)
    is_cut = 1 if found == CUT else 0
    if has_stopped(store, grammar):
        return STOPPED
    may_end = load_i64(canon[MAY_END] + split * 8) != 0 and chain & 1 == 0
    if may_end and configuration_field(grammar, configuration, C_ACCEPTS) != 0:
        for i in range(store[N_EOS]):
            append(canon, FOUND, N_FOUND, get_i32(block(store, EOS), i))
    if may_end:
        append_special(store, grammar, canon, configuration)
    n = canon[N_FOUND]
    if n == 0:
        _finish(grammar, position, NO_FILTER, 1, 1)
        return DONE
    address = keep_found(grammar, 0, canon)
    _put(grammar, position, CELL_PAIRS, address + 8)
    _put(grammar, position, CELL_N_PAIRS, n)
    _finish(grammar, position, LIST, may_end, is_cut)
    return DONE


@kernel
def _list_again(canon, split, before, chain, mixed, n_mixed):
    """List in DOUBTFUL the tokens whose verdict depends on the token before, or on the chain."""
    never_inline()
    canon[N_DOUBTFUL] = 0
    for i in range(n_mixed):
        append(canon, DOUBTFUL, N_DOUBTFUL, load_i32(mixed + i * 4))
    if before != NO_TOKEN and load_u8(canon[REACHABLE] + before) == 0:
        fits, breaks = load_i64(canon[FOLLOWS] + split * 8), load_i64(canon[BREAKS] + split * 8)
        for kind in range(canon[N_CONTINUING], canon[N_KINDS]):
            broken = load_u16(breaks + kind * 2)
            if broken != REFUSED_SPLIT and broken != load_u16(fits + kind * 2):
                for i in range(load_i32(canon[KIND_FIRST] + kind * 4), load_i32(canon[KIND_FIRST] + kind * 4 + 4)):
                    append(canon, DOUBTFUL, N_DOUBTFUL, load_i32(canon[KIND_TOKENS] + i * 4))
    if chain != NO_CHAIN:
        node = chain >> 1
        for i in range(load_i32(canon[CHAIN_FIRST] + node * 4), load_i32(canon[CHAIN_FIRST] + node * 4 + 4)):
            append(canon, DOUBTFUL, N_DOUBTFUL, load_i32(canon[CHAIN_TOKENS] + i * 4))


@kernel
def _review_long(store, grammar, canon, position):
    """Find what is taken out of a mask of many tokens."""
    never_inline()
    configuration = position_field(grammar, position, P_CONFIGURATION)
    split, before = position_field(grammar, position, P_SPLIT), position_field(grammar, position, P_BEFORE)
    chain = position_field(grammar, position, P_CHAIN)
    words = load_i64(canon[FOLLOWING] + split * 8)
    mixed, n_mixed, pairs, n_pairs, ranges, n_ranges = 0, 0, 0, 0, 0, 0
    if words == 0:
        canon[REPORT] = split
        return FOLLOWING_MISSING
    if before != NO_TOKEN and load_u8(canon[REACHABLE] + before) == 0:
        words = load_i64(canon[LONE_FOLLOWING] + split * 8)
    elif before != NO_TOKEN:
        following = find_following(store, grammar, canon, split, before)
        if following == 0:
            return RANKS_MISSING
        n_mixed, n_pairs, n_ranges = load_i32(following), load_i32(following + 4), load_i32(following + 8)
        mixed = following + HEAD_BYTES
        pairs = mixed + n_mixed * 4
        ranges = pairs + n_pairs * 4
        words = base_of(canon, split, following)
    removed = find_removed(store, grammar, canon, configuration, split)
    if removed == 0:
        return _missing(store, grammar)
    is_cut = load_i32(removed)
    _list_again(canon, split, before, chain, mixed, n_mixed)
    if canon[N_DOUBTFUL] != 0:
        found = consider_again(store, grammar, canon, position, removed, n_mixed)
        if found == NEEDS_STATE or has_stopped(store, grammar):
            return _missing(store, grammar)
        is_cut = 1 if found == CUT else 0
        removed = keep_found(grammar, is_cut, canon)
    _put(grammar, position, CELL_WORDS, words)
    _put(grammar, position, CELL_PAIRS, pairs)
    _put(grammar, position, CELL_N_PAIRS, n_pairs)
    _put(grammar, position, CELL_RANGES, ranges)
    _put(grammar, position, CELL_N_RANGES, n_ranges)
    _put(grammar, position, CELL_RANKED, ranked_of(canon, load_i64(canon[RANKS] + split * 8)))
    _put(grammar, position, CELL_REMOVED, removed + 8)
    _put(grammar, position, CELL_N_REMOVED, load_i32(removed + 4))
    _finish(grammar, position, FILTER, load_i64(canon[MAY_END] + split * 8), is_cut)
    return DONE


@kernel
def first_position(grammar, canon, configuration):
    """The position in a configuration behind a special token."""
    return position_of(grammar, configuration, canon[START], NO_TOKEN, NO_CHAIN)
