"""Tokens of a configuration that nothing canonical can follow, if they are compatible with the token before.

Tokens that cross a lexeme's end lie in listings with the ends to which they lead (listings.py), so that another split
state asks a table for every token and little more. What holds for a bare row holds for all its records.

In: tables, a configuration with a mask, a split state. Out: lists in TOKENS. Cost: 5 ns a token and split state, 60 ns
an end; tokens without a quick answer as canonical_search.py says.
"""

from __future__ import annotations

from .canonical_chains import NO_CHAIN, chain_after, look_up
from .canonical_descent import CUT, FOLLOWS_ON, NEEDS_STATE, NOTHING_FOLLOWS
from .canonical_ends import NO_NUMBER, forget_ends, has_stopped, is_bare, is_certain, is_safe, names_ordinary, safe_byte
from .canonical_exits import exit_of, first_that_holds
from .canonical_fill import REFUSED_SPLIT
from .canonical_groups import GROUP_HEAD, HEAD, N_ASKED, TEXT_BYTES, find_groups
from .canonical_inside import (
    ALL_BYTES,
    keep_found,
    key_of_byte,
    key_of_part,
    review_inside,
    review_part,
)
from .canonical_live import NO_BYTE, live_word
from .canonical_search import has_own_witness, leads_on, searched_verdict
from .canonical_slots import ANSWERED, ANSWERS, DOUBTFUL, FOLLOWS, FOUND, N_DOUBTFUL, N_FOUND, ROOT_CHILD, SHARED_BYTES
from .canonical_wide import MANY, review_wide
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
from .constants import TRIE_DEPTH_MASK, TRIE_DEPTH_SHIFT
from .crossed import NO_END
from .grammar_slots import CROSSINGS, N_TOKENS, OF_BARE, REMOVED, TOKENS
from .hot_rows import is_wide
from .interning import POOL, map_get, map_put
from .jit import kernel, never_inline
from .lexer_states import DEAD, S_MASK_KIND, S_SINGLE, S_TWIN, state_field
from .listings import PART_BYTES, after_first, end_at, has_bytes, listing_of, parts_of, tokens_of
from .memory import BYTES_USED, block, ensure, get_i32, get_i64, load_i32, load_i64, store_i32, store_i64
from .raw import load_u32
from .state_masks import MASK_WORDS
from .store_slots import TRIE
from .token_lists import append

ANSWER_BYTES = 32


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
def _look_at_groups(store, grammar, canon, configuration, split, place, single, groups):
    """As `_look_at` for the tokens of groups at an address, inside of a lexeme of a place: the worst verdict.

    `single` is the lexeme of all groups, 0: they say so.
    """
    never_inline()
    texts, group = groups + 4 * HEAD, groups + 4 * HEAD + load_i32(groups) * TEXT_BYTES
    lexemes, behind, hold, asked = 0, REFUSED, 0, 0
    result = FOLLOWS_ON
    for _ in range(load_i32(groups + 4)):
        n, bits = load_i32(group), load_u32(group + 8) | load_i32(group + 12) << 32
        if load_i32(group + 4) != lexemes:
            lexemes = load_i32(group + 4)
            behind = exit_of(store, grammar, place, lexemes if single == 0 else single)
            hold, asked = 0, 0
        if bits & hold == 0 and behind != REFUSED:
            number = first_that_holds(store, grammar, canon, behind, texts, bits & ~asked)
            asked |= bits if number < 0 else bits & ((1 << number) - 1)
            hold |= 0 if number < 0 else 1 << number
        if bits & hold == 0:
            store_i32(groups + 4 * N_ASKED, load_i32(groups + 4 * N_ASKED) + n)
        for i in range(n if bits & hold == 0 else 0):
            token = load_i32(group + 4 * (GROUP_HEAD + i))
            found = _look_at_token(store, grammar, canon, configuration, split, token)
            result = max(result, found)
            if has_stopped(store, grammar):
                return NEEDS_STATE
        group += 4 * (GROUP_HEAD + n)
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
        if packed != NO_END and is_certain(grammar, packed):
            if is_safe(store, grammar, canon, number, packed, after):
                continue
            found = _look_at(store, grammar, canon, packed, number, split, token, after)
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
    """As `_look_at` for the tokens of the bare row, of which an address has what all records answer.

    `is_named`: that need not hold.
    """
    never_inline()
    n, n_dead = load_i32(of_bare), load_i32(of_bare + 4)
    result = FOLLOWS_ON
    for i in range(0 if is_named else n_dead):
        append(canon, FOUND, N_FOUND, load_i32(of_bare + 8 + i * 4))
    for i in range(n_dead, n_dead + n):
        found = _look_at_token(store, grammar, canon, configuration, split, load_i32(of_bare + 8 + i * 4))
        result = max(result, found)
        if has_stopped(store, grammar):
            return NEEDS_STATE
    return result


@kernel
def _enter_answer(store, canon, n, answer, groups, place, state):
    """Enter an answer for a place and a lexer state in ANSWERS, number n; how many there are then."""
    at = ensure(canon, ANSWERS, (n + 1) * ANSWER_BYTES) + n * ANSWER_BYTES
    store_i64(at, answer)
    store_i64(at + 8, groups)
    store_i64(at + 16, place)
    single = state_field(store, state, S_SINGLE) if state_field(store, state, S_TWIN) != state else 0
    store_i64(at + 24, single)
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
            return 0 if _is_empty(answer) else _enter_answer(store, canon, 0, answer, ALL_BYTES, 0, twin)
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
                n = _enter_answer(store, canon, n, answer, byte, 0, twin)
    return -1 if is_missing else n


@kernel
def _recall_answers(store, grammar, canon, twin, split):
    """As `_list_answers`; what was listed before is not listed again."""
    never_inline()
    key = (twin << 16) | split
    known = map_get(canon, ANSWERED, key)
    if known >= 0:
        n, entry = get_i32(block(canon, TOKENS), known), block(canon, TOKENS) + known * 4 + 4
        for i in range(n):
            answer = load_u32(entry + i * 12) | load_i32(entry + i * 12 + 4) << 32
            _enter_answer(store, canon, i, answer, load_i32(entry + i * 12 + 8), 0, twin)
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
def _groups_of(store, grammar, canon, state, depth, split, key, answer):
    """Address of the groups of the tokens that an answer leaves open, 0: there are none."""
    n, n_dead = load_i32(answer), load_i32(answer + 4)
    if n == 0:
        return 0
    return find_groups(store, grammar, canon, state, depth, split, key, answer + 8 + n_dead * 4, n)


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
        key = twin << 16 | split if byte == ALL_BYTES else key_of_byte(store, twin, split, byte)
        groups = _groups_of(store, grammar, canon, twin, 0, split, key, answer)
        _enter_answer(store, canon, i, answer, groups, place, state)
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
            groups = _groups_of(store, grammar, canon, twin, depth, split, key, answer)
            n = _enter_answer(store, canon, n, answer, groups, place, state)
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
            place, single = load_i64(entry + 16), load_i64(entry + 24)
            found = _look_at_groups(store, grammar, canon, configuration, split, place, single, groups)
            result = max(result, found)
            if has_stopped(store, grammar):
                return NEEDS_STATE
    return result


@kernel
def find_dead(store, grammar, canon, configuration, split, tokens, n):
    """Put those of int32[n] tokens at an address in FOUND that nothing follows: NEEDS_STATE, CUT or FOLLOWS_ON.

    The tokens are those of a short mask that stay inside of the lexeme, and may follow if they are compatible.
    """
    never_inline()
    twin = inside_state(store, grammar, configuration)
    place = configuration_field(grammar, configuration, C_PLACE)
    state = configuration_field(grammar, configuration, C_STATE)
    groups = find_groups(store, grammar, canon, twin, 0, split, twin << 16 | split, tokens, n)
    single = state_field(store, state, S_SINGLE) if twin != state else 0
    canon[N_FOUND] = 0
    return _look_at_groups(store, grammar, canon, configuration, split, place, single, groups)


@kernel
def find_removed(store, grammar, canon, configuration, split):
    """Address of (whether one was cut, n, tokens without a continuation if they are compatible), or 0: stop."""
    never_inline()
    key = (configuration << 16) | split
    known = map_get(grammar, REMOVED, key)
    if known >= 0:
        return block(grammar, TOKENS) + known * 4
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
    map_put(grammar, REMOVED, key, position)
    return address
