"""Tokens of a configuration that nothing canonical can follow, if they are compatible with the token before.

Tokens that cross a lexeme's end lie in listings with the ends to which they lead (listings.py), so that another split
state asks a table for every token and little more. What holds for a bare row holds for all its records.

In: tables, a configuration with a mask, a split state. Out: lists in TOKENS. Cost: 5 ns a token and split state, 60 ns
an end; tokens without a quick answer as canonical/search.py says.
"""

from __future__ import annotations

from ..lexeme_masks.state_masks import MASK_WORDS
from ..lexer.dense_transitions import is_wide
from ..lexer.states import DEAD, S_MASK_KIND, S_TWIN, next_state, state_field
from ..machine.constants import TRIE_DEPTH_MASK, TRIE_DEPTH_SHIFT
from ..machine.jit import kernel, never_inline
from ..machine.raw import load_u32
from ..mask.boundary_walk import NO_END
from ..mask.configurations import C_BASE, C_FIRST_NAMED, C_N_NAMED, C_PLACE, C_STATE, configuration_field, pack
from ..tables.grammar_layout import CROSSINGS, N_TOKENS, OF_BARE, REMOVED, TOKENS
from ..tables.int_lists import append
from ..tables.interning import POOL, map_get, map_put
from ..tables.memory import BYTES_USED, block, ensure, get_i32, get_i64, load_i32, load_i64, store_i64
from ..tables.store_layout import TRIE
from .alike import shape_of
from .chains import look_up
from .check_tokens import inside_state, look_at, look_at_groups, look_at_token
from .descent import CUT, FOLLOWS_ON, NEEDS_STATE
from .ends import forget_ends, has_stopped, is_bare, is_certain, is_safe, names_ordinary
from .groups import find_groups
from .inside import ALL_BYTES, keep_found, key_of_byte, key_of_part, review_inside, review_part
from .listings import PART_BYTES, end_at, has_bytes, listing_of, parts_of, tokens_of
from .live import live_word
from .slots import (
    ANSWERED,
    ANSWERS,
    DOUBTFUL,
    FOLLOWS,
    FOUND,
    N_DOUBTFUL,
    N_FOUND,
    REFUSED_SPLIT,
    ROOT_CHILD,
    SHARED_BYTES,
)
from .wide import MANY, review_wide

ANSWER_BYTES = 32


@kernel
def append_special(store, grammar, canon, configuration):
    """Append to FOUND the special tokens that are named here; masks of many are none of these."""
    first = configuration_field(grammar, configuration, C_FIRST_NAMED)
    for i in range(first, first + configuration_field(grammar, configuration, C_N_NAMED)):
        token = get_i32(block(grammar, CROSSINGS + POOL), i)
        if not has_bytes(store, token):
            append(canon, FOUND, N_FOUND, token)


@kernel
def _look_at_listing(store, grammar, canon, configuration, split):
    """As `look_at` for the tokens of a listing."""
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
            found = look_at_token(store, grammar, canon, configuration, split, token)
        else:
            found = look_at(store, grammar, canon, packed, number, split, token, after)
        result = max(result, found)
        if has_stopped(store, grammar):
            return NEEDS_STATE
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
    is_missing = False
    for i in range(load_i32(listing)):
        token, number = load_i32(tokens + i * 8), load_i32(tokens + i * 8 + 4)
        after = look_up(canon, FOLLOWS, split, token)
        if after == REFUSED_SPLIT:
            continue
        packed = end_at(listing, number)
        found = CUT
        if packed != NO_END and is_safe(store, grammar, canon, number, packed, after):
            continue
        if packed != NO_END and is_certain(grammar, packed):
            found = look_at(store, grammar, canon, packed, number, split, token, after)
        if found == CUT:
            append(canon, DOUBTFUL, N_DOUBTFUL, token)
        is_missing = is_missing or found == NEEDS_STATE
    if is_missing or has_stopped(store, grammar):
        return 0
    n, position = canon[N_DOUBTFUL], grammar[N_TOKENS]
    keep_found(grammar, n, canon)
    for i in range(n):
        append(grammar, TOKENS, N_TOKENS, load_i32(block(canon, DOUBTFUL) + i * 4))
    map_put(grammar, OF_BARE, key, position)
    return block(grammar, TOKENS) + position * 4


@kernel
def _look_at_base(store, grammar, canon, configuration, split, of_bare, is_named):
    """As `look_at` for the tokens of the bare row, of which an address has what all records answer.

    `is_named`: that need not hold.
    """
    never_inline()
    n, n_dead = load_i32(of_bare), load_i32(of_bare + 4)
    result = FOLLOWS_ON
    for i in range(0 if is_named else n_dead):
        append(canon, FOUND, N_FOUND, load_i32(of_bare + 8 + i * 4))
    for i in range(n_dead, n_dead + n):
        found = look_at_token(store, grammar, canon, configuration, split, load_i32(of_bare + 8 + i * 4))
        result = max(result, found)
        if has_stopped(store, grammar):
            return NEEDS_STATE
    return result


@kernel
def _enter_answer(canon, n, answer, groups, place, named):
    """Enter an answer for a place in ANSWERS, number n; how many there are then. `named`: see `find_groups`."""
    at = ensure(canon, ANSWERS, (n + 1) * ANSWER_BYTES) + n * ANSWER_BYTES
    store_i64(at, answer)
    store_i64(at + 8, groups)
    store_i64(at + 16, place)
    store_i64(at + 24, named)
    return n + 1


@kernel
def _is_empty(answer):
    return load_i32(answer) == 0 and load_i32(answer + 4) == 0


@kernel
def _list_answers(store, grammar, canon, twin, split):
    """List in ANSWERS what a lexer state answers, and in place of the groups the first byte; how many, or -1: stop."""
    never_inline()
    if is_wide(store, twin):
        answer = review_wide(store, grammar, canon, twin, split)
        if answer == 0:
            return -1
        if answer != MANY:
            return 0 if _is_empty(answer) else _enter_answer(canon, 0, answer, ALL_BYTES, 0, DEAD)
    n, live, is_missing = 0, 0, False
    for byte in range(256):
        if byte & 63 == 0:
            live = live_word(store, canon, twin, twin, byte >> 6)
        if live >> (byte & 63) & 1 != 0 and load_i32(canon[ROOT_CHILD] + byte * 4) != 0:
            answer = review_inside(store, grammar, canon, twin, split, byte)
            if answer == 0 and has_stopped(store, grammar):
                return -1
            is_missing = is_missing or answer == 0  # the others note what they miss, to have it all made at once
            if answer != 0 and not _is_empty(answer):
                n = _enter_answer(canon, n, answer, byte, 0, DEAD)
    return -1 if is_missing else n


@kernel
def _recall_answers(store, grammar, canon, twin, split):
    """As `_list_answers`; what was listed before is not listed again."""
    never_inline()
    key = shape_of(store, canon, twin) << 16 | split
    known = map_get(canon, ANSWERED, key)
    if known >= 0:
        n, entry = get_i32(block(canon, TOKENS), known), block(canon, TOKENS) + known * 4 + 4
        for i in range(n):
            answer = load_u32(entry + i * 12) | load_i32(entry + i * 12 + 4) << 32
            _enter_answer(canon, i, answer, load_i32(entry + i * 12 + 8), 0, DEAD)
        return n
    n = _list_answers(store, grammar, canon, twin, split)
    if n >= 0 and canon[BYTES_USED] <= canon[SHARED_BYTES] and not has_stopped(store, grammar):
        position = canon[N_TOKENS]
        append(canon, TOKENS, N_TOKENS, n)
        for i in range(n):
            entry = block(canon, ANSWERS) + i * ANSWER_BYTES
            append(canon, TOKENS, N_TOKENS, load_i64(entry))
            append(canon, TOKENS, N_TOKENS, load_i64(entry) >> 32)
            append(canon, TOKENS, N_TOKENS, load_i64(entry + 8))
        map_put(canon, ANSWERED, key, position)
    return n


@kernel
def _groups_of(store, grammar, canon, state, depth, split, key, named, answer):
    """Address of the groups of the tokens that an answer leaves open, 0: there are none."""
    n, n_dead = load_i32(answer), load_i32(answer + 4)
    if n == 0:
        return 0
    return find_groups(store, grammar, canon, state, depth, split, key, named, answer + 8 + n_dead * 4, n)


@kernel
def _find_answers(store, grammar, canon, configuration, split):
    """Enter in ANSWERS what is known of tokens that stay inside of the lexeme; how many answers, or -1: stop."""
    never_inline()
    twin = inside_state(store, grammar, configuration)
    if twin == DEAD or state_field(store, twin, S_MASK_KIND) != MASK_WORDS:
        return 0
    n = _recall_answers(store, grammar, canon, twin, split)
    place = configuration_field(grammar, configuration, C_PLACE)
    state = configuration_field(grammar, configuration, C_STATE)
    for i in range(n):
        entry = block(canon, ANSWERS) + i * ANSWER_BYTES
        answer, byte = load_i64(entry), load_i64(entry + 8)
        key, named, there = shape_of(store, canon, twin) << 16 | split, twin, state
        if byte != ALL_BYTES:
            key, named = key_of_byte(store, canon, twin, split, byte), next_state(store, twin, byte)
        if byte != ALL_BYTES and twin == state:
            there = named
        groups = _groups_of(store, grammar, canon, twin, 0, split, key, named, answer)
        _enter_answer(canon, i, answer, groups, place, there)
    return n


@kernel
def _find_parts(store, grammar, canon, configuration, split, n):
    """As `_find_answers` for the tokens of parts, from number n on."""
    never_inline()
    for i in range(load_i32(listing_of(grammar, configuration) + 8)):
        part = parts_of(listing_of(grammar, configuration)) + i * PART_BYTES
        number, place = load_i32(part), load_i32(part + 4)
        state, node = load_i32(part + 8), load_i32(part + 12)
        answer = review_part(store, grammar, canon, number, state, node, split)
        if answer == 0:
            return -1
        if not _is_empty(answer):
            depth = (get_i64(block(store, TRIE), node) >> TRIE_DEPTH_SHIFT) & TRIE_DEPTH_MASK
            key = key_of_part(number, split)
            twin = state_field(store, state, S_TWIN)
            groups = _groups_of(store, grammar, canon, twin, depth, split, key, twin, answer)
            n = _enter_answer(canon, n, answer, groups, place, state)
    return n


@kernel
def _look_at_answers(store, grammar, canon, configuration, split, n, is_named):
    """Enter tokens inside of the lexeme and of parts in FOUND if nothing follows them: NEEDS_STATE, CUT or FOLLOWS_ON.

    `is_named`: what the lexer state says of them need not hold.
    """
    never_inline()
    result = FOLLOWS_ON
    for i in range(n):
        entry = block(canon, ANSWERS) + i * ANSWER_BYTES
        answer, groups = load_i64(entry), load_i64(entry + 8)
        for j in range(0 if is_named else load_i32(answer + 4)):
            append(canon, FOUND, N_FOUND, load_i32(answer + 8 + j * 4))
        if groups != 0:
            place, named = load_i64(entry + 16), load_i64(entry + 24)
            found = look_at_groups(store, grammar, canon, configuration, split, place, named, groups)
            result = max(result, found)
            if has_stopped(store, grammar):
                return NEEDS_STATE
    return result


@kernel
def known_removed(grammar, configuration, split):
    """What `find_removed` found before, or 0."""
    known = map_get(grammar, REMOVED, (configuration << 16) | split)
    return block(grammar, TOKENS) + known * 4 if known >= 0 else 0


@kernel
def find_removed(store, grammar, canon, configuration, split):
    """Address of (whether one was cut, n, tokens without a continuation if they are compatible), or 0: stop."""
    never_inline()
    known = known_removed(grammar, configuration, split)
    if known != 0:
        return known
    n_answers = _find_answers(store, grammar, canon, configuration, split)
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
    map_put(grammar, REMOVED, (configuration << 16) | split, position)
    return address
