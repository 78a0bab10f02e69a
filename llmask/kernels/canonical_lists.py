"""Tokens of a configuration that nothing canonical can follow, if they are compatible with the token before.

Tokens that cross a lexeme's end lie in listings with the ends to which they lead (listings.py), so that another split
state asks a table for every token and little more. What holds for a bare row holds for all its records.

In: tables, a configuration with a mask, a split state. Out: lists in TOKENS. Cost: 5 ns a token and split state, 60 ns
an end; tokens without a quick answer as canonical_search.py says.
"""

from __future__ import annotations

from .canonical_chains import NO_CHAIN, chain_after, look_up
from .canonical_ends import (
    NO_BYTE,
    NO_NUMBER,
    forget_ends,
    has_stopped,
    is_bare,
    is_certain,
    is_safe,
    live_word,
    names_ordinary,
    safe_byte,
)
from .canonical_exits import ALL_BYTES, exit_of, goes_on_inside
from .canonical_fill import REFUSED_SPLIT
from .canonical_groups import GROUP_HEAD, MIXED, append, find_groups
from .canonical_inside import keep_found, key_of_byte, review_inside, review_part, slice_below
from .canonical_search import CUT, FOLLOWS_ON, NEEDS_STATE, NOTHING_FOLLOWS, has_own_witness, leads_on, searched_verdict
from .canonical_slots import ANSWERS, DOUBTFUL, FOLLOWS, FOUND, N_DOUBTFUL, N_FOUND, ROOT_CHILD
from .configurations import (
    C_BASE,
    C_FIRST_NAMED,
    C_N_NAMED,
    C_PLACE,
    C_STATE,
    REFUSED,
    configuration_field,
    pack,
)
from .crossed import NO_END, PART_FIELDS
from .grammar_slots import CROSSINGS, N_TOKENS, OF_BARE, REMOVED, TOKENS
from .interning import POOL, map_get, map_put
from .jit import kernel, never_inline
from .lexer_states import DEAD, S_MASK_KIND, S_TWIN, state_field
from .listings import after_first, end_at, has_bytes, listing_of, parts_of, tokens_of
from .memory import block, ensure, get_i32, load_i32, load_i64, store_i64
from .state_masks import MASK_WORDS

ANSWER_BYTES = 24


@kernel
def inside_state(store, grammar, configuration):
    """The lexer state that carries the mask of tokens inside of the lexeme, or DEAD."""
    state = configuration_field(grammar, configuration, C_STATE)
    return DEAD if state == DEAD else state_field(store, state, S_TWIN)


@kernel
def append_special(store, grammar, canon, configuration):
    """Append to FOUND the special tokens that are named here; masks of many are none of these."""
    first = configuration_field(grammar, configuration, C_FIRST_NAMED)
    for i in range(first, first + configuration_field(grammar, configuration, C_N_NAMED)):
        token = get_i32(block(grammar, CROSSINGS + POOL), i)
        if not has_bytes(store, token):
            append(canon, FOUND, N_FOUND, token)


@kernel
def _look_at(store, grammar, canon, packed, number, split, token, after):
    """Enter a token that led to an end where nothing is safe in FOUND if nothing follows it; its verdict.

    `number` is that of the end in the memo.
    """
    chain = chain_after(canon, split, NO_CHAIN, token)  # one that begins with the token is no whole word yet
    if chain == NO_CHAIN:
        if has_own_witness(store, grammar, canon, packed, after, token):
            return FOLLOWS_ON
        if leads_on(store, grammar, canon, number, packed, after):
            return FOLLOWS_ON
    found = searched_verdict(store, grammar, canon, grammar, packed, after, token, chain)
    if found == NOTHING_FOLLOWS:
        append(canon, FOUND, N_FOUND, token)
    return found


@kernel
def _look_at_token(store, grammar, canon, configuration, split, token):
    """As `_look_at` for a token of a configuration."""
    never_inline()
    after = look_up(canon, FOLLOWS, split, token)
    if after == REFUSED_SPLIT:
        return FOLLOWS_ON
    packed = after_first(store, grammar, configuration, token)
    if packed < 0 or safe_byte(store, grammar, canon, packed, after) != NO_BYTE:
        return FOLLOWS_ON
    return _look_at(store, grammar, canon, packed, NO_NUMBER, split, token, after)


@kernel
def _look_at_doubtful(store, grammar, canon, configuration, split, answer):
    """As `_look_at` for the tokens that an answer at an address leaves open: the worst verdict."""
    never_inline()
    n, n_dead = load_i32(answer), load_i32(answer + 4)
    result = FOLLOWS_ON
    for i in range(n_dead, n_dead + n):
        found = _look_at_token(store, grammar, canon, configuration, split, load_i32(answer + 8 + i * 4))
        if found == NEEDS_STATE:
            return found
        if found == CUT:
            result = CUT
    return result


@kernel
def _look_at_group(store, grammar, canon, configuration, split, behind, group):
    """As `_look_at` for the tokens of a group at an address: the last verdict that is not FOLLOWS_ON, or that.

    `behind` is the exit of the lexeme in which they stay, or REFUSED.
    """
    never_inline()
    n, witness = load_i32(group), load_i32(group + 4)
    if behind != REFUSED and witness != MIXED:
        split_of, state_of = load_i32(group + 8), load_i32(group + 12)
        if goes_on_inside(store, grammar, canon, behind, state_of, split_of, witness):
            return FOLLOWS_ON
    result = FOLLOWS_ON
    for i in range(n):
        token = load_i32(group + 4 * (GROUP_HEAD + i))
        found = _look_at_token(store, grammar, canon, configuration, split, token)
        if found == NEEDS_STATE:
            return found
        if found == CUT:
            result = CUT
    return result


@kernel
def _look_at_listing(store, grammar, canon, configuration, split):
    """As `_look_at` for the tokens of a listing."""
    never_inline()
    listing = listing_of(grammar, configuration)
    n, tokens = load_i32(listing), tokens_of(listing)
    forget_ends(canon, load_i32(listing + 4))
    result = FOLLOWS_ON
    for i in range(n):
        token, number = load_i32(tokens + i * 8), load_i32(tokens + i * 8 + 4)
        after = look_up(canon, FOLLOWS, split, token)
        if after == REFUSED_SPLIT:
            continue
        packed = end_at(listing, number)
        if packed != NO_END and is_safe(store, grammar, canon, number, packed, after):
            continue
        if packed == NO_END or is_bare(packed):
            found = _look_at_token(store, grammar, canon, configuration, split, token)
        else:
            found = _look_at(store, grammar, canon, packed, number, split, token, after)
        if found == NEEDS_STATE:
            return found
        if found == CUT:
            result = CUT
    return result


@kernel
def _review_bare(store, grammar, canon, base, split):
    """Address of (n, m, m tokens of a bare row that nothing can follow, n that not all records answer); 0: stop."""
    never_inline()
    key = (base << 16) | split
    known = map_get(grammar, OF_BARE, key)
    if known >= 0:
        return block(grammar, TOKENS) + known * 4
    listing = listing_of(grammar, base)
    tokens = tokens_of(listing)
    forget_ends(canon, load_i32(listing + 4))
    canon[N_FOUND] = canon[N_DOUBTFUL] = 0
    for i in range(load_i32(listing)):
        token, number = load_i32(tokens + i * 8), load_i32(tokens + i * 8 + 4)
        after = look_up(canon, FOLLOWS, split, token)
        if after == REFUSED_SPLIT:
            continue
        packed = end_at(listing, number)
        found = CUT
        if packed != NO_END and is_certain(grammar, packed):
            if is_safe(store, grammar, canon, number, packed, after):
                continue
            found = _look_at(store, grammar, canon, packed, number, split, token, after)
        if found == NEEDS_STATE:
            return 0
        if found == CUT:
            append(canon, DOUBTFUL, N_DOUBTFUL, token)
    if has_stopped(store, grammar):
        return 0
    n, position = canon[N_DOUBTFUL], grammar[N_TOKENS]
    keep_found(grammar, n, canon)
    for i in range(n):
        append(grammar, TOKENS, N_TOKENS, load_i32(block(canon, DOUBTFUL) + i * 4))
    map_put(grammar, OF_BARE, key, position)
    return block(grammar, TOKENS) + position * 4


@kernel
def _look_at_base(store, grammar, canon, configuration, split, of_bare, is_named):
    """As `_look_at` for the tokens of the bare row, of which an address has what all records answer.

    `is_named`: that need not hold.
    """
    never_inline()
    for i in range(0 if is_named else load_i32(of_bare + 4)):
        append(canon, FOUND, N_FOUND, load_i32(of_bare + 8 + i * 4))
    return _look_at_doubtful(store, grammar, canon, configuration, split, of_bare)


@kernel
def _find_answer(store, grammar, canon, state, split, byte, n):
    """Enter what a lexer state answers in ANSWERS, from number n on; how many there are then, or -1: stop."""
    never_inline()
    inside = review_inside(store, grammar, canon, state, split, byte)
    if inside == 0:
        return -1
    n_doubtful, n_dead = load_i32(inside), load_i32(inside + 4)
    if n_doubtful == 0 and n_dead == 0:
        return n
    groups = 0
    if n_doubtful != 0:
        key = state << 16 | split if byte == ALL_BYTES else key_of_byte(store, state, split, byte)
        groups = find_groups(store, grammar, canon, state, split, key, inside + 8 + n_dead * 4, n_doubtful)
    at = ensure(canon, ANSWERS, (n + 1) * ANSWER_BYTES) + n * ANSWER_BYTES
    store_i64(at, inside)
    store_i64(at + 8, groups)
    store_i64(at + 16, byte)
    return n + 1


@kernel
def _find_answers(store, grammar, canon, twin, split):
    """Enter in ANSWERS what a lexer state answers for tokens that stay inside of the lexeme; how many there are."""
    never_inline()
    if twin == DEAD or state_field(store, twin, S_MASK_KIND) != MASK_WORDS:
        return 0
    if slice_below(store, canon, twin) != 0:
        return _find_answer(store, grammar, canon, twin, split, ALL_BYTES, 0)
    n, live = 0, 0
    for byte in range(256):
        if byte & 63 == 0:
            live = live_word(store, canon, twin, twin, byte >> 6)
        if live >> (byte & 63) & 1 != 0 and load_i32(canon[ROOT_CHILD] + byte * 4) != 0:
            n = _find_answer(store, grammar, canon, twin, split, byte, n)
            if n < 0:
                return n
    return n


@kernel
def _find_parts(store, grammar, canon, configuration, split, n):
    """As `_find_answers` for the tokens of parts, from number n on."""
    never_inline()
    listing = listing_of(grammar, configuration)
    for i in range(load_i32(listing + 8)):
        part = parts_of(listing) + i * PART_FIELDS * 4
        found = review_part(store, grammar, canon, load_i32(part), load_i32(part + 4), load_i32(part + 8), split)
        if found == 0:
            return -1
        if load_i32(found) != 0 or load_i32(found + 4) != 0:
            at = ensure(canon, ANSWERS, (n + 1) * ANSWER_BYTES) + n * ANSWER_BYTES
            store_i64(at, found)
            store_i64(at + 8, 0)
            n += 1
        listing = listing_of(grammar, configuration)  # what was found may lie in the same block
    return n


@kernel
def _look_at_answers(store, grammar, canon, configuration, split, n, is_named):
    """Enter tokens inside of the lexeme and of parts in FOUND if nothing follows them: NEEDS_STATE, CUT or FOLLOWS_ON.

    `is_named`: what the lexer state says of them need not hold.
    """
    never_inline()
    result = FOLLOWS_ON
    for i in range(n):
        answer = block(canon, ANSWERS) + i * ANSWER_BYTES
        inside, groups = load_i64(answer), load_i64(answer + 8)
        for j in range(0 if is_named else load_i32(inside + 4)):
            append(canon, FOUND, N_FOUND, load_i32(inside + 8 + j * 4))
        if groups == 0:
            worst = _look_at_doubtful(store, grammar, canon, configuration, split, inside)
            if worst == NEEDS_STATE:
                return worst
            result = max(result, worst)
            continue
        behind = exit_of(store, grammar, canon, configuration, load_i64(answer + 16))
        group = groups + 4
        for _ in range(load_i32(groups)):
            found = _look_at_group(store, grammar, canon, configuration, split, behind, group)
            if found == NEEDS_STATE:
                return found
            if found == CUT:
                result = CUT
            group += 4 * (GROUP_HEAD + load_i32(group))
    return result


@kernel
def find_removed(store, grammar, canon, configuration, split):
    """Address of (whether one was cut, n, tokens without a continuation if they are compatible), or 0: stop."""
    never_inline()
    key = (configuration << 16) | split
    known = map_get(grammar, REMOVED, key)
    if known >= 0:
        return block(grammar, TOKENS) + known * 4
    n_answers = _find_answers(store, grammar, canon, inside_state(store, grammar, configuration), split)
    if n_answers >= 0:
        n_answers = _find_parts(store, grammar, canon, configuration, split, n_answers)
    if n_answers < 0:
        return 0
    base, of_bare = configuration_field(grammar, configuration, C_BASE), 0
    if base != 0:
        of_bare = _review_bare(store, grammar, canon, base, split)
        if of_bare == 0:
            return 0
    canon[N_FOUND] = 0
    start = pack(
        configuration_field(grammar, configuration, C_PLACE), configuration_field(grammar, configuration, C_STATE)
    )
    is_named = names_ordinary(store, grammar, start)  # such tokens lead elsewhere than their bytes
    inside = _look_at_answers(store, grammar, canon, configuration, split, n_answers, is_named)
    crossing = _look_at_listing(store, grammar, canon, configuration, split)
    shared = FOLLOWS_ON
    if of_bare != 0:
        shared = _look_at_base(store, grammar, canon, configuration, split, of_bare, is_named)
    worst = max(inside, crossing, shared)
    if worst == NEEDS_STATE:
        return 0
    is_cut = 1 if is_named or worst == CUT else 0
    if has_stopped(store, grammar):
        return 0
    position = grammar[N_TOKENS]
    address = keep_found(grammar, is_cut, canon)
    map_put(grammar, REMOVED, key, position)
    return address
