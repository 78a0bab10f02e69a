"""Tokens of a configuration that nothing canonical can follow, if they are compatible with the token before.

Tokens that cross a lexeme's end lie in listings with the ends to which they lead (listings.py), so that another split
state asks a table for every token and little more. What holds for a bare row holds for all its records.

In: tables, a configuration with a mask, a split state. Out: lists in TOKENS. Cost: 5 ns a token and split state, 60 ns
an end; tokens without a quick answer as canonical/search.py says.
"""

from ..lexer.dense_transitions import is_wide
from ..lexer.states import DEAD, next_state
from ..machine.jit import inline, kernel
from ..machine.numba_names import map_at
from ..machine.raw import load_u32
from ..mask.configurations import pack
from ..mask.crossing import NO_END
from ..tables.grammar_layout import GRAMMAR
from ..tables.int_lists import append
from ..tables.interning import map_get, map_put
from ..tables.kinds import MaskKind
from ..tables.memory import block, ensure, load_i32, load_i64, store_i64
from ..vocabulary.trie_words import depth_of
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


@inline
def append_special(store, grammar, canon, configuration):
    """Append to FOUND the special tokens that are named here; masks of many are none of these."""
    first = grammar.configurations[configuration].first_named
    for i in range(first, first + grammar.configurations[configuration].n_named):
        token = grammar.crossings.pool[i]
        if not has_bytes(store, token):
            append(canon, FOUND, N_FOUND, token)


@kernel
def _look_at_listing(store, grammar, canon, configuration, split):
    """As `look_at` for the tokens of a listing."""
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
    key = (base << 16) | split
    known = map_get(grammar.of_untracked, key)
    if known >= 0:
        return grammar.tokens.address + known * 4
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
    n, position = canon[N_DOUBTFUL], grammar.n_tokens
    keep_found(grammar, n, canon)
    for i in range(n):
        append(grammar, GRAMMAR.tokens, GRAMMAR.n_tokens, load_i32(block(canon, DOUBTFUL) + i * 4))
    map_put(grammar.of_untracked, key, position)
    return grammar.tokens.address + position * 4


@kernel
def _look_at_base(store, grammar, canon, configuration, split, of_untracked, is_named):
    """As `look_at` for the tokens of the bare row, of which an address has what all records answer.

    `is_named`: that need not hold.
    """
    n, n_dead = load_i32(of_untracked), load_i32(of_untracked + 4)
    result = FOLLOWS_ON
    for i in range(0 if is_named else n_dead):
        append(canon, FOUND, N_FOUND, load_i32(of_untracked + 8 + i * 4))
    for i in range(n_dead, n_dead + n):
        found = look_at_token(store, grammar, canon, configuration, split, load_i32(of_untracked + 8 + i * 4))
        result = max(result, found)
        if has_stopped(store, grammar):
            return NEEDS_STATE
    return result


@inline
def _enter_answer(canon, n, answer, groups, place, named):
    """Enter an answer for a place in ANSWERS, number n; how many there are then. `named`: see `find_groups`."""
    at = ensure(canon, ANSWERS, (n + 1) * ANSWER_BYTES) + n * ANSWER_BYTES
    store_i64(at, answer)
    store_i64(at + 8, groups)
    store_i64(at + 16, place)
    store_i64(at + 24, named)
    return n + 1


@inline
def _is_empty(answer):
    return load_i32(answer) == 0 and load_i32(answer + 4) == 0


@kernel
def _list_answers(store, grammar, canon, anonymous, split):
    """List in ANSWERS what a lexer state answers, and in place of the groups the first byte; how many, or -1: stop."""
    if is_wide(store, anonymous):
        answer = review_wide(store, grammar, canon, anonymous, split)
        if answer == 0:
            return -1
        if answer != MANY:
            return 0 if _is_empty(answer) else _enter_answer(canon, 0, answer, ALL_BYTES, 0, DEAD)
    n, live, is_missing = 0, 0, False
    for byte in range(256):
        if byte & 63 == 0:
            live = live_word(store, canon, anonymous, anonymous, byte >> 6)
        if live >> (byte & 63) & 1 != 0 and load_i32(canon[ROOT_CHILD] + byte * 4) != 0:
            answer = review_inside(store, grammar, canon, anonymous, split, byte)
            if answer == 0 and has_stopped(store, grammar):
                return -1
            is_missing = is_missing or answer == 0  # the others note what they miss, to have it all made at once
            if answer != 0 and not _is_empty(answer):
                n = _enter_answer(canon, n, answer, byte, 0, DEAD)
    return -1 if is_missing else n


@kernel
def _recall_answers(store, grammar, canon, anonymous, split):
    """As `_list_answers`; what was listed before is not listed again."""
    key = shape_of(store, canon, anonymous) << 16 | split
    known = map_get(map_at(canon, ANSWERED), key)
    if known >= 0:
        n, entry = canon.tokens[known], canon.tokens.address + known * 4 + 4
        for i in range(n):
            answer = load_u32(entry + i * 12) | load_i32(entry + i * 12 + 4) << 32
            _enter_answer(canon, i, answer, load_i32(entry + i * 12 + 8), 0, DEAD)
        return n
    n = _list_answers(store, grammar, canon, anonymous, split)
    if n >= 0 and canon.bytes_used <= canon[SHARED_BYTES] and not has_stopped(store, grammar):
        position = canon.n_tokens
        append(canon, GRAMMAR.tokens, GRAMMAR.n_tokens, n)
        for i in range(n):
            entry = block(canon, ANSWERS) + i * ANSWER_BYTES
            append(canon, GRAMMAR.tokens, GRAMMAR.n_tokens, load_i64(entry))
            append(canon, GRAMMAR.tokens, GRAMMAR.n_tokens, load_i64(entry) >> 32)
            append(canon, GRAMMAR.tokens, GRAMMAR.n_tokens, load_i64(entry + 8))
        map_put(map_at(canon, ANSWERED), key, position)
    return n


@inline
def _groups_of(store, grammar, canon, state, depth, split, key, named, answer):
    """Address of the groups of the tokens that an answer leaves open, 0: there are none."""
    n, n_dead = load_i32(answer), load_i32(answer + 4)
    if n == 0:
        return 0
    return find_groups(store, grammar, canon, state, depth, split, key, named, answer + 8 + n_dead * 4, n)


@kernel
def _find_answers(store, grammar, canon, configuration, split):
    """Enter in ANSWERS what is known of tokens that stay inside of the lexeme; how many answers, or -1: stop."""
    anonymous = inside_state(store, grammar, configuration)
    if anonymous == DEAD or store.states[anonymous].mask_kind != MaskKind.WORDS:
        return 0
    n = _recall_answers(store, grammar, canon, anonymous, split)
    place = grammar.configurations[configuration].parse_state
    state = grammar.configurations[configuration].state
    for i in range(n):
        entry = block(canon, ANSWERS) + i * ANSWER_BYTES
        answer, byte = load_i64(entry), load_i64(entry + 8)
        key, named, there = shape_of(store, canon, anonymous) << 16 | split, anonymous, state
        if byte != ALL_BYTES:
            key, named = key_of_byte(store, canon, anonymous, split, byte), next_state(store, anonymous, byte)
        if byte != ALL_BYTES and anonymous == state:
            there = named
        groups = _groups_of(store, grammar, canon, anonymous, 0, split, key, named, answer)
        _enter_answer(canon, i, answer, groups, place, there)
    return n


@kernel
def _find_parts(store, grammar, canon, configuration, split, n):
    """As `_find_answers` for the tokens of parts, from number n on."""
    for i in range(load_i32(listing_of(grammar, configuration) + 8)):
        part = parts_of(listing_of(grammar, configuration)) + i * PART_BYTES
        number, place = load_i32(part), load_i32(part + 4)
        state, node = load_i32(part + 8), load_i32(part + 12)
        answer = review_part(store, grammar, canon, number, state, node, split)
        if answer == 0:
            return -1
        if not _is_empty(answer):
            depth = depth_of(store.trie[node])
            key = key_of_part(number, split)
            anonymous = store.states[state].anonymous
            groups = _groups_of(store, grammar, canon, anonymous, depth, split, key, anonymous, answer)
            n = _enter_answer(canon, n, answer, groups, place, state)
    return n


@kernel
def _look_at_answers(store, grammar, canon, configuration, split, n, is_named):
    """Enter tokens inside of the lexeme and of parts in FOUND if nothing follows them: NEEDS_STATE, CUT or FOLLOWS_ON.

    `is_named`: what the lexer state says of them need not hold.
    """
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


@inline
def known_removed(grammar, configuration, split):
    """What `find_removed` found before, or 0."""
    known = map_get(grammar.removed, (configuration << 16) | split)
    return grammar.tokens.address + known * 4 if known >= 0 else 0


@kernel
def find_removed(store, grammar, canon, configuration, split):
    """Address of (whether one was cut, n, tokens without a continuation if they are compatible), or 0: stop."""
    known = known_removed(grammar, configuration, split)
    if known != 0:
        return known
    n_answers = _find_answers(store, grammar, canon, configuration, split)
    if n_answers >= 0:
        n_answers = _find_parts(store, grammar, canon, configuration, split, n_answers)
    if n_answers < 0:
        return 0
    base, of_untracked = grammar.configurations[configuration].base, 0
    if base != 0:
        of_untracked = _review_bare(store, grammar, canon, base, split)
        if of_untracked == 0:
            return 0
    canon[N_FOUND] = 0
    start = pack(grammar.configurations[configuration].parse_state, grammar.configurations[configuration].state)
    is_named = names_ordinary(store, grammar, start)  # such tokens lead elsewhere than their bytes
    inside = _look_at_answers(store, grammar, canon, configuration, split, n_answers, is_named)
    crossing = _look_at_listing(store, grammar, canon, configuration, split)
    shared = FOLLOWS_ON
    if of_untracked != 0:
        shared = _look_at_base(store, grammar, canon, configuration, split, of_untracked, is_named)
    worst = max(inside, crossing, shared)
    if worst == NEEDS_STATE:
        return 0
    is_cut = 1 if is_named or worst == CUT else 0
    if has_stopped(store, grammar):
        return 0
    position = grammar.n_tokens
    address = keep_found(grammar, is_cut, canon)
    map_put(grammar.removed, (configuration << 16) | split, position)
    return address
