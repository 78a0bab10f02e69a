"""The mask of a position: which grammatical tokens the tokenizer itself would have written, and can go on from.

Masks of few tokens, and those inside of a character, are found token by token (canonical/short.py). Masks of many are
put together from parts (canonical/parts.py), and tokens whose verdict depends on the token before are looked at again.

A position without any canonical token (the search for continuations was given up before) has the grammatical mask, and
the text is taken to begin anew behind it.

In: tables, a position. Out: its fields. Cost: 0.1 us a token of a short mask; a long one
1 us where its parts are known.
"""

from ..machine.atomics import store_release
from ..machine.constants import NO_TOKEN
from ..machine.jit import inline, kernel
from ..machine.raw import load_u16
from ..mask.cell import ASK, FILTER, LIST, NO_FILTER, CellField
from ..mask.configurations import ENDED
from ..tables.int_lists import append
from ..tables.memory import load_i32, load_i64, load_u8
from .broken import find_broken
from .chains import NO_CHAIN, goes_on
from .check_tokens import consider_again
from .descent import CUT, NEEDS_STATE
from .ends import has_stopped, note_missing
from .following import HEAD_BYTES, find_following, known_following
from .inside import keep_found
from .listings import build_listed_mask
from .lists import append_special, find_removed
from .parts import has_long_mask, may_have_parts, show_parts, write_parts
from .positions import (
    P_CONFIGURATION,
    P_CONTEXT,
    P_FILTER,
    before_at,
    before_of,
    cell_of,
    chain_at,
    position_field,
    position_of,
    put_position_field,
    show,
    split_at,
    split_of,
)
from .short import find_short
from .slots import (
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
    REACHABLE,
    REFUSED_SPLIT,
    REPORT,
    SHARED_BYTES,
)

# what the review answers
DONE = 0
STATE_MISSING = -201  # tables of the split states in MISSING
FOLLOWING_MISSING = -202  # the masks of what may follow the split state in REPORT
RANKS_MISSING = -203  # the tokens that may not follow it if they are incompatible with the one before
STOPPED = -204  # a limit was reached


@inline
def _missing(store, grammar):
    """Why a search stopped."""
    return STOPPED if has_stopped(store, grammar) else STATE_MISSING


@inline
def _put(grammar, position, field, value):
    put_position_field(grammar, position, field - CellField.CONFIGURATION, value)


@inline
def _finish(grammar, position, kind):
    """Write the last field of a position, which other threads may look at from now on."""
    store_release(cell_of(grammar, position) + CellField.FILTER * 8, kind)


@kernel
def review(store, grammar, canon, position):
    """Find the mask of a position: DONE, or what is missing."""
    if position_field(grammar, position, P_FILTER) != ASK:
        return DONE
    canon[N_MISSING] = 0
    configuration = position_field(grammar, position, P_CONFIGURATION)
    build_listed_mask(store, grammar, configuration)
    if has_stopped(store, grammar):
        return STOPPED
    if configuration == ENDED:
        _put(grammar, position, CellField.MAY_END, 1)
        _finish(grammar, position, NO_FILTER)
        return DONE
    split = split_at(grammar, position)
    if load_i64(canon[FOLLOWS] + split * 8) == 0:
        note_missing(canon, split)
        return STATE_MISSING
    is_long = has_long_mask(store, grammar, configuration)
    is_partial = load_u8(canon[IS_PARTIAL] + split) != 0
    must_go_on = chain_at(grammar, position) & 1 != 0
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
    configuration = position_field(grammar, position, P_CONFIGURATION)
    split, chain = split_at(grammar, position), chain_at(grammar, position)
    found = find_short(store, grammar, canon, position, is_long)
    if found == NEEDS_STATE:
        return _missing(store, grammar)
    is_cut = 1 if found == CUT else 0
    if has_stopped(store, grammar):
        return STOPPED
    may_end = load_i64(canon[MAY_END] + split * 8) != 0 and chain & 1 == 0
    if may_end and grammar.configurations[configuration].accepts != 0:
        for i in range(store.n_eos):
            append(canon, FOUND, N_FOUND, store.eos[i])
    if may_end:
        append_special(store, grammar, canon, configuration)
    n = canon[N_FOUND]
    if n == 0:
        _put(grammar, position, CellField.MAY_END, 1)
        _put(grammar, position, CellField.IS_CUT, 1)
        _finish(grammar, position, NO_FILTER)
        return DONE
    address = keep_found(grammar, 0, canon)
    _put(grammar, position, CellField.PAIRS, address + 8)
    _put(grammar, position, CellField.N_PAIRS, n)
    _put(grammar, position, CellField.MAY_END, may_end)
    _put(grammar, position, CellField.IS_CUT, is_cut)
    _finish(grammar, position, LIST)
    return DONE


@kernel
def _list_again(canon, split, before, chain, mixed, n_mixed):
    """List in DOUBTFUL the tokens whose verdict depends on the token before, or on the chain."""
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
def _find_parts(store, grammar, canon, configuration, split, before):
    """Find the parts of a mask of many tokens: DONE, or what is missing."""
    if load_i64(canon[FOLLOWING] + split * 8) == 0:
        canon[REPORT] = split
        return FOLLOWING_MISSING
    if before != NO_TOKEN and load_u8(canon[REACHABLE] + before) != 0:
        if find_following(store, grammar, canon, split, before) == 0:
            return RANKS_MISSING
    return DONE if find_removed(store, grammar, canon, configuration, split) != 0 else _missing(store, grammar)


@kernel
def _review_long(store, grammar, canon, position):
    """Find what is taken out of a mask of many tokens."""
    configuration = position_field(grammar, position, P_CONFIGURATION)
    split, before, chain = split_at(grammar, position), before_at(grammar, position), chain_at(grammar, position)
    missing = _find_parts(store, grammar, canon, configuration, split, before)
    if missing != DONE:
        return missing
    is_lone = before != NO_TOKEN and load_u8(canon[REACHABLE] + before) == 0
    following, mixed, n_mixed = 0, 0, 0
    if before != NO_TOKEN and not is_lone:
        following = find_following(store, grammar, canon, split, before)
        mixed, n_mixed = following + HEAD_BYTES, load_i32(following)
    removed = find_removed(store, grammar, canon, configuration, split)
    _list_again(canon, split, before, chain, mixed, n_mixed)
    if canon[N_DOUBTFUL] != 0:
        context = position_field(grammar, position, P_CONTEXT)
        found = consider_again(store, grammar, canon, configuration, context, removed, n_mixed)
        if found == NEEDS_STATE or has_stopped(store, grammar):
            return _missing(store, grammar)
        removed = keep_found(grammar, 1 if found == CUT else 0, canon)
    write_parts(canon, cell_of(grammar, position), split, following, removed)
    if is_lone:
        _put(grammar, position, CellField.WORDS, load_i64(canon[LONE_FOLLOWING] + split * 8))
    _finish(grammar, position, FILTER)
    return DONE


@kernel
def review_cell(store, grammar, canon, cell):
    """Have a cell show the mask of its configuration behind its context: DONE, or what is missing."""
    configuration, context = load_i64(cell + 8 * CellField.CONFIGURATION), load_i64(cell + 8 * CellField.CONTEXT)
    build_listed_mask(store, grammar, configuration)
    if has_stopped(store, grammar):
        return STOPPED
    is_shared = canon.bytes_used <= canon[SHARED_BYTES]  # otherwise parts are not remembered, but positions are
    if is_shared and may_have_parts(store, grammar, canon, configuration, context):
        canon[N_MISSING] = 0
        split, before = split_of(context), before_of(context)
        missing = _find_parts(store, grammar, canon, configuration, split, before)
        if missing != DONE:
            return missing
        following = known_following(canon, split, before)
        if (
            following != 0
            and load_i32(following) != 0
            and find_broken(store, grammar, canon, configuration, split) == 0
        ):
            return _missing(store, grammar)
        if show_parts(store, grammar, canon, cell, configuration, context):
            return DONE
    position = position_of(grammar, configuration, context)
    if has_stopped(store, grammar):
        return STOPPED
    missing = review(store, grammar, canon, position)
    show(grammar, cell, position)
    return missing
