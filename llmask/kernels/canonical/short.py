"""Masks of few tokens, and those inside of a character: what follows each token, if it may stand behind the last one.

The token before matters in one way only: the splitter leads a token to one split state if both are compatible, and to
another one, or none, if they are not. So tokens are searched once for a configuration and a split state, for both, and
listed with what holds:

    0, n, entries int32[n]: token, and above it bits: IF_FITS, IF_BREAKS, CUT_IF_FITS, CUT_IF_BREAKS

Behind blanks more blanks may come: some hundred positions that differ in the last token, with one list.

In: tables, a position. Out: tokens in FOUND. Cost: 0.1 us a token the first time, then up to 50 ns.
"""

from ..lexeme_masks.trie_walk import has_bit, set_bit
from ..lexer.states import DEAD
from ..machine.constants import NO_TOKEN
from ..machine.jit import inline, kernel
from ..machine.raw import load_u16
from ..machine.raw import take_bit as clear_bit
from ..mask.configurations import pack
from ..mask.crossing import NO_END
from ..parser.token_terminals import NAMES_ORDINARY
from ..tables.int_lists import append, is_in
from ..tables.interning import map_get, map_put
from ..tables.memory import block, ensure, load_i32, load_i64, load_u8, store_i64
from ..values.parse_states import FIRST_TRACKED
from .chains import NO_CHAIN, after_breaking, after_fitting, chain_after, look_up
from .check_tokens import find_dead, inside_state, look_inside
from .descent import CUT, FOLLOWS_ON, NEEDS_STATE, NOTHING_FOLLOWS
from .ends import NO_NUMBER, forget_ends, go_on_from_last, has_stopped, is_bare, is_safe
from .following import HEAD_BYTES, find_following, may_follow
from .inside import keep_found
from .listings import after_first, end_at, has_bytes, listing_of, tokens_of
from .pairs import find_fitting, is_fitting
from .positions import P_CONFIGURATION, before_at, chain_at, position_field, split_at
from .search import late_verdict, leads_on, verdict
from .slots import (
    AGAIN,
    BREAKS,
    CANDIDATES,
    DOUBTFUL,
    FOLLOWS,
    FOUND,
    IS_PARTIAL,
    KINDS,
    N_CANDIDATES,
    N_DOUBTFUL,
    N_FOUND,
    REACHABLE,
    REFUSED_SPLIT,
    WALK,
)

MANY = 20  # tokens; for fewer those that are incompatible need not be listed, nor are there groups
TOKEN_MASK = (1 << 24) - 1
IF_FITS, IF_BREAKS, CUT_IF_FITS, CUT_IF_BREAKS = 1 << 24, 1 << 25, 1 << 26, 1 << 27


@kernel
def _verdict_after(store, grammar, canon, position, token, end, number, anonymous, after, chain):
    """The verdict of a grammatical token that leads to a split state and chain; arguments see `_enter`."""
    if after == REFUSED_SPLIT:
        return NOTHING_FOLLOWS
    found = CUT if anonymous == DEAD else look_inside(store, grammar, canon, anonymous, after, token, chain)
    if found != CUT:
        return found
    if end != NO_END and chain & 1 == 0 and is_safe(store, grammar, canon, number, end, after):
        return FOLLOWS_ON
    if end == NO_END or is_bare(end):
        end = after_first(store, grammar, position_field(grammar, position, P_CONFIGURATION), token)
        if end < 0:
            return NOTHING_FOLLOWS
        return verdict(store, grammar, canon, grammar, end, after, token, chain)
    if chain == NO_CHAIN and leads_on(store, grammar, canon, number, end, after):
        return FOLLOWS_ON
    return late_verdict(store, grammar, canon, grammar, end, after, token, chain)


@kernel
def _enter(store, grammar, canon, position, token, end, number, anonymous):
    """Enter a grammatical token with what holds in FOUND unless nothing canonical follows it: NEEDS_STATE, FOLLOWS_ON.

    `end` is where it leads, or NO_END; `number` is that of the end in the memo. `anonymous` is a lexer state that is
    asked first, or DEAD.
    """
    split, chain = split_at(grammar, position), chain_at(grammar, position)
    fitting, breaking = after_fitting(canon, split, chain, token), after_breaking(canon, split, chain, token)
    following = chain_after(canon, split, fitting, chain, token)
    one = _verdict_after(store, grammar, canon, position, token, end, number, anonymous, fitting, following)
    other = one
    if breaking != fitting:
        following = chain_after(canon, split, breaking, chain, token)
        other = _verdict_after(store, grammar, canon, position, token, end, number, anonymous, breaking, following)
    if one == NEEDS_STATE or other == NEEDS_STATE:
        return NEEDS_STATE
    entry = token
    if one != NOTHING_FOLLOWS:
        entry |= IF_FITS | CUT_IF_FITS if one == CUT else IF_FITS
    if other != NOTHING_FOLLOWS:
        entry |= IF_BREAKS | CUT_IF_BREAKS if other == CUT else IF_BREAKS
    if entry != token:
        append(canon, FOUND, N_FOUND, entry)
    return FOLLOWS_ON


@kernel
def _enter_listing(store, grammar, canon, position, configuration):
    """Enter the tokens of a listing: NEEDS_STATE if one does, or FOLLOWS_ON."""
    listing = listing_of(grammar, configuration)
    tokens, result = tokens_of(listing), FOLLOWS_ON
    forget_ends(canon, load_i32(listing + 4))
    for i in range(load_i32(listing)):
        token, number = load_i32(tokens + i * 8), load_i32(tokens + i * 8 + 4)
        found = _enter(store, grammar, canon, position, token, end_at(listing, number), number, DEAD)
        result = max(result, found)
        if has_stopped(store, grammar):
            return NEEDS_STATE
    return result


@kernel
def _enter_tokens(store, grammar, canon, position, tokens, n, anonymous):
    """Enter int32[n] tokens at an address; as `_enter_listing`. `anonymous` see `_enter`.

    Most have their first bytes from the one before, and lead to the same end.
    """
    configuration = position_field(grammar, position, P_CONFIGURATION)
    stack, last, n_valid, result = block(canon, WALK), 0, 0, FOLLOWS_ON
    place = grammar.configurations[configuration].parse_state
    store_i64(stack, pack(place, grammar.configurations[configuration].state))
    is_spelled, end_before = anonymous == DEAD and grammar.names_tokens != NAMES_ORDINARY, NO_END
    for i in range(n):
        token, end, number = load_i32(tokens + i * 4), NO_END, NO_NUMBER
        if is_spelled and has_bytes(store, token):
            went_on = go_on_from_last(store, grammar, stack, last, n_valid, token)
            last, n_valid = token, went_on >> 1
            if went_on & 1 == 0:
                continue
            end, number = load_i64(stack + n_valid * 8), 0
            if end != end_before:
                forget_ends(canon, 1)
            end_before = end
        found = _enter(store, grammar, canon, position, token, end, number, anonymous)
        result = max(result, found)
        if has_stopped(store, grammar):
            return NEEDS_STATE
    return result


@kernel
def _enter_inside(store, grammar, canon, position, tokens, n):
    """As `_enter_tokens` for tokens that stay inside of a lexeme; FOUND is empty before.

    Where lexemes go on alike these are grouped by what may follow them (canonical/groups.py), once for all grammars.
    """
    configuration = position_field(grammar, position, P_CONFIGURATION)
    split = split_at(grammar, position)
    canon[N_CANDIDATES] = canon[N_DOUBTFUL] = 0
    for i in range(n):
        if look_up(canon, FOLLOWS, split, load_i32(tokens + i * 4)) != REFUSED_SPLIT:
            append(canon, CANDIDATES, N_CANDIDATES, load_i32(tokens + i * 4))
    fitting = ensure(canon, CANDIDATES, 4)
    result = find_dead(store, grammar, canon, configuration, split, fitting, canon[N_CANDIDATES])
    if result == NEEDS_STATE or has_stopped(store, grammar):
        return NEEDS_STATE
    for i in range(canon[N_FOUND]):
        append(canon, DOUBTFUL, N_DOUBTFUL, load_i32(block(canon, FOUND) + i * 4))
    canon[N_FOUND] = 0
    cut_if_fits = CUT_IF_FITS if result == CUT else 0
    for i in range(n):
        token = load_i32(tokens + i * 4)
        fitting, breaking = look_up(canon, FOLLOWS, split, token), look_up(canon, BREAKS, split, token)
        holds = 0
        if fitting != REFUSED_SPLIT and not is_in(block(canon, DOUBTFUL), canon[N_DOUBTFUL], token):
            holds = IF_FITS | cut_if_fits
        if breaking == fitting:
            holds |= holds << 1
        elif breaking != REFUSED_SPLIT:
            chain = chain_after(canon, split, breaking, NO_CHAIN, token)
            found = _verdict_after(store, grammar, canon, position, token, NO_END, NO_NUMBER, DEAD, breaking, chain)
            if found == NEEDS_STATE or has_stopped(store, grammar):
                return NEEDS_STATE
            if found != NOTHING_FOLLOWS:
                holds |= IF_BREAKS | CUT_IF_BREAKS if found == CUT else IF_BREAKS
        if holds != 0:
            append(canon, FOUND, N_FOUND, token | holds)
    return FOLLOWS_ON


@kernel
def _enter_all(store, grammar, canon, position, is_long):
    """Enter the tokens in DOUBTFUL, or those of a short mask; as `_enter_listing`."""
    canon[N_FOUND] = 0
    if is_long:
        return _enter_tokens(store, grammar, canon, position, block(canon, DOUBTFUL), canon[N_DOUBTFUL], DEAD)
    configuration = position_field(grammar, position, P_CONFIGURATION)
    anonymous, base = inside_state(store, grammar, configuration), grammar.configurations[configuration].base
    first, second, third = FOLLOWS_ON, FOLLOWS_ON, FOLLOWS_ON
    if anonymous != DEAD:
        tokens = store.token_lists.address + store.states[anonymous].mask * 4
        n = store.states[anonymous].n_tokens
        is_recorded = grammar.configurations[configuration].parse_state >= FIRST_TRACKED
        is_named = grammar.names_tokens == NAMES_ORDINARY
        is_part = load_u8(canon[IS_PARTIAL] + split_at(grammar, position)) != 0
        if n >= MANY and not is_part and not is_named and chain_at(grammar, position) == NO_CHAIN:
            first = _enter_inside(store, grammar, canon, position, tokens, n)
        else:  # recording what is read takes longer than to ask the lexer state first
            anonymous = anonymous if is_recorded and not is_named else DEAD
            first = _enter_tokens(store, grammar, canon, position, tokens, n, anonymous)
    second = _enter_listing(store, grammar, canon, position, configuration)
    if base != 0:
        third = _enter_listing(store, grammar, canon, position, base)
    return max(first, second, third)


@kernel
def _find_entries(store, grammar, canon, position, is_long):
    """Address of the list of a position, or 0: something is missing."""
    configuration, split = (
        position_field(grammar, position, P_CONFIGURATION),
        split_at(grammar, position),
    )
    is_shared = chain_at(grammar, position) == NO_CHAIN
    known = map_get(grammar.removed, configuration << 16 | split) if is_shared else -1
    if known >= 0:
        return grammar.tokens.address + known * 4
    found = _enter_all(store, grammar, canon, position, is_long)
    if found == NEEDS_STATE or has_stopped(store, grammar):
        return 0
    place = grammar.n_tokens
    address = keep_found(grammar, 0, canon)
    if is_shared:
        map_put(grammar.removed, configuration << 16 | split, place)
    return address


@inline
def _fits(canon, split, following, marks, before, token):
    """Whether a token is compatible with the one before.

    `following` is what was found for that one, or 0; its mixed tokens are marked.
    """
    if (
        following == 0
        or load_u8(canon[REACHABLE] + token) == 0
        or look_up(canon, FOLLOWS, split, token) == REFUSED_SPLIT
    ):
        return is_fitting(canon, before, token)
    if look_up(canon, BREAKS, split, token) != REFUSED_SPLIT:
        return not has_bit(marks, token)
    return may_follow(canon, split, following, token)


@kernel
def find_short(store, grammar, canon, position, is_long):
    """Put the tokens of a short mask, or those in DOUBTFUL, in FOUND if they may follow: NEEDS_STATE, CUT, FOLLOWS_ON.

    Which tokens these are is a matter of the configuration and the split state.
    """
    entries = _find_entries(store, grammar, canon, position, is_long)
    if entries == 0:
        return NEEDS_STATE
    n, split, before = load_i32(entries + 4), split_at(grammar, position), before_at(grammar, position)
    fits_behind, following, mixed, n_mixed, result = 0, 0, 0, 0, FOLLOWS_ON
    marks = ensure(canon, AGAIN, store.n_words * 4)  # none are set
    if n >= MANY and load_u8(canon[IS_PARTIAL] + split) != 0:
        fits_behind = find_fitting(canon, before)
    elif n >= MANY and before != NO_TOKEN and load_u8(canon[REACHABLE] + before) != 0:
        following = find_following(store, grammar, canon, split, before)
        if following != 0:
            mixed, n_mixed = following + HEAD_BYTES, load_i32(following)
    for i in range(n_mixed):
        set_bit(marks, load_i32(mixed + i * 4))
    canon[N_FOUND] = 0
    for i in range(n):
        entry = load_i32(entries + 8 + i * 4)
        token, bits = entry & TOKEN_MASK, entry & ~TOKEN_MASK
        fits = True
        if bits != IF_FITS | IF_BREAKS:
            if fits_behind != 0:
                fits = load_u8(fits_behind + load_u16(canon[KINDS] + token * 2)) != 0
            else:
                fits = _fits(canon, split, following, marks, before, token)
        if bits & (IF_FITS if fits else IF_BREAKS) != 0:
            append(canon, FOUND, N_FOUND, token)
            if bits & (CUT_IF_FITS if fits else CUT_IF_BREAKS) != 0:
                result = CUT
    for i in range(n_mixed):
        clear_bit(marks, load_i32(mixed + i * 4))
    return result
