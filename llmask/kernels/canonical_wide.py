"""Tokens that stay inside of a lexeme and may have no canonical continuation, where a lexer state takes most bytes.

A string takes 100,000 tokens, and nearly all of them are answered by what may come behind any token of some length
(canonical_sure.py): of a kind of tokens (llmask/canonical/neighbours.py) all lead to one split state, and where a
character ends the word there that may come behind tokens of up to 24 bytes, the longer ones are left. Of those that end
inside of a character the ones are left for which single bytes do not complete it (canonical_guess.py). Those in the
middle of escapes are few. What is left and in the mask is led through the lexer token by token.

In: tables, a lexer state with a mask, a split state. Out: as canonical_inside.py. Cost: 10 us; 0.1 us a token that is
left.
"""

from __future__ import annotations

from .canonical_chains import look_up
from .canonical_ends import INSIDE_PLACE, NO_BYTE, go_token, safe_byte
from .canonical_fill import REFUSED_SPLIT
from .canonical_guess import NO_WITNESS, guess_witness, split_behind
from .canonical_inside import MEMO_ENTRIES, consider, keep_answer, keep_found
from .canonical_slots import (
    CANDIDATES,
    ENDS,
    FOLLOWS,
    FOUND,
    HALF,
    HARD,
    INSIDE,
    KEYS,
    KIND_FIRST,
    KIND_TOKENS,
    LONGEST,
    N_CANDIDATES,
    N_CONTINUING,
    N_DOUBTFUL,
    N_FOUND,
    N_HALF,
    N_KINDS,
    N_NOT_PLAIN,
    N_OPEN,
    NOT_PLAIN,
    OPEN,
    TOKEN_SORTS,
    WALK_MEMO,
)
from .canonical_split import N_PARTIAL, STATE_FIELDS
from .canonical_sure import FEW_BYTES, find_sure, full_length, is_plain, known_length, room_of, sure_length
from .configurations import pack
from .grammar_slots import N_TOKENS, TOKENS
from .interning import map_get, map_put
from .jit import kernel, never_inline
from .lexer_states import S_MASK, state_field
from .memory import block, ensure, fill_bytes, get_i64, load_i32, load_i64, load_u8, store_i64
from .raw import load_u16, load_u32
from .store_slots import MASKS, TOKEN_OFFSETS
from .token_lists import append
from .trie_walk import has_bit

MOST_CANDIDATES = 8_000  # walking the trie takes as long
REST_BYTES = 3  # of a character
MANY = 1  # in place of an answer: too many tokens are left
PLAIN, ENTIRE = range(2)  # of TOKEN_SORTS
OF_STATE = 1 << 59  # in a key: the answer is that of the lexer state alone, not of all with its mask


@kernel
def _length(store, token):
    offsets = block(store, TOKEN_OFFSETS) + token * 4
    return load_i32(offsets + 4) - load_i32(offsets)


@kernel
def key_of_all(store, canon, state, split):
    """Key of what holds for all tokens of a lexer state.

    With room behind the longest one it is the same for all lexer states that take the same tokens.
    """
    if room_of(store, state) > canon[LONGEST]:
        return state_field(store, state, S_MASK) << 16 | split
    return OF_STATE | state << 16 | split


@kernel
def is_half(canon, split):
    """Whether a split state is inside of a character."""
    return load_i64(canon[KEYS] + (split * STATE_FIELDS + N_PARTIAL) * 8) != 0


@kernel
def _add(canon, mask, token):
    """Enter a token in CANDIDATES if it is in a mask."""
    if has_bit(mask, token):
        append(canon, CANDIDATES, N_CANDIDATES, token)


@kernel
def _collect_whole(store, canon, mask, sure, split):
    """Enter the tokens of a mask that end between characters in CANDIDATES, if they are not answered."""
    never_inline()
    after, last_sort = load_i64(canon[FOLLOWS] + split * 8), PLAIN if is_plain(canon, sure) else ENTIRE
    for kind in range(canon[N_CONTINUING], canon[N_KINDS]):
        reached = load_u16(after + kind * 2)
        if reached == REFUSED_SPLIT or is_half(canon, reached):
            continue
        ends = canon[ENDS] + reached * 16
        most = sure_length(canon, sure, load_i64(ends), load_i64(ends + 8))
        if most >= canon[LONGEST] or canon[N_CANDIDATES] > MOST_CANDIDATES:
            continue
        first = load_i32(canon[KIND_FIRST] + kind * 4)
        for i in range(load_i32(canon[KIND_FIRST] + kind * 4 + 4) - 1, first - 1, -1):  # the longest first
            token = load_i32(canon[KIND_TOKENS] + i * 4)
            if _length(store, token) <= most:
                break
            if has_bit(mask, token) and load_u8(canon[TOKEN_SORTS] + token) <= last_sort:
                append(canon, CANDIDATES, N_CANDIDATES, token)


@kernel
def _list_hard(canon, split):
    """Position in TOKENS of what holds for tokens that end inside of a character: characters all of which end the word
    behind the guessed end of the character, 128 bits; n, n tokens for which none is guessed.
    """
    never_inline()
    known = map_get(canon, HARD, split)
    if known >= 0:
        return known
    canon[N_FOUND] = 0
    low, high = -1, -1
    for i in range(canon[N_HALF]):
        token = load_i32(canon[HALF] + i * 4)
        reached = look_up(canon, FOLLOWS, split, token)
        if reached == REFUSED_SPLIT:
            continue
        witness = NO_WITNESS
        if is_half(canon, reached):
            witness = guess_witness(canon, reached, token)
        if witness == NO_WITNESS:
            append(canon, FOUND, N_FOUND, token)
        else:
            ends = canon[ENDS] + split_behind(canon, witness) * 16
            low &= load_i64(ends)
            high &= load_i64(ends + 8)
    position = canon[N_TOKENS]
    for bits in (low, low >> 32, high, high >> 32):
        append(canon, TOKENS, N_TOKENS, bits)
    keep_found(canon, 0, canon)
    map_put(canon, HARD, split, position)
    return position


@kernel
def _collect_half(store, canon, mask, sure, split):
    """As `_collect_whole` for tokens that end inside of a character."""
    never_inline()
    position = _list_hard(canon, split)
    hard = block(canon, TOKENS) + position * 4
    low = load_u32(hard) | load_i32(hard + 4) << 32
    high = load_u32(hard + 8) | load_i32(hard + 12) << 32
    most = min(sure_length(canon, sure, low, high), full_length(canon, sure)) - REST_BYTES
    n_hard, at = load_i32(hard + 20), 0
    if most >= canon[LONGEST]:
        for i in range(n_hard):
            _add(canon, mask, load_i32(hard + 24 + i * 4))
        return
    for i in range(canon[N_HALF]):
        token = load_i32(canon[HALF] + i * 4)
        is_hard = at < n_hard and load_i32(hard + 24 + at * 4) == token
        at += 1 if is_hard else 0
        if is_hard or _length(store, token) > most:
            _add(canon, mask, token)


@kernel
def _consider_candidates(store, grammar, canon, state, split):
    """Consider the tokens in CANDIDATES."""
    never_inline()
    memo = ensure(canon, WALK_MEMO, MEMO_ENTRIES * 8)
    fill_bytes(memo, MEMO_ENTRIES * 8, 0)
    for i in range(canon[N_CANDIDATES]):
        token = load_i32(block(canon, CANDIDATES) + i * 4)
        after = look_up(canon, FOLLOWS, split, token)
        packed = go_token(store, grammar, pack(INSIDE_PLACE, state), token)
        if after == REFUSED_SPLIT or packed < 0:
            continue
        reached = packed & 0xFFFFFFFF
        key, at = (reached + 1) << 17 | after << 1, memo + ((reached * 7 + after) & (MEMO_ENTRIES - 1)) * 8
        known = load_i64(at)
        if known & -2 != key:
            known = key | (1 if safe_byte(store, grammar, canon, packed, after) != NO_BYTE else 0)
            store_i64(at, known)
        if known & 1 == 0:
            consider(store, grammar, canon, split, token, reached, after)


@kernel
def review_wide(store, grammar, canon, state, split):
    """As `review_inside` for all tokens of a lexer state, or MANY."""
    never_inline()
    key = key_of_all(store, canon, state, split)
    known = map_get(canon, INSIDE, key)
    if known >= 0:
        return block(canon, TOKENS) + known * 4
    sure = find_sure(store, grammar, canon, state)
    if sure < 0:
        return 0
    if known_length(canon, sure) < FEW_BYTES:
        return MANY
    canon[N_CANDIDATES] = 0
    mask = get_i64(block(store, MASKS), state_field(store, state, S_MASK))
    _collect_whole(store, canon, mask, sure, split)
    if canon[N_CANDIDATES] > MOST_CANDIDATES:
        return MANY
    _collect_half(store, canon, mask, sure, split)
    for i in range(canon[N_NOT_PLAIN] if is_plain(canon, sure) else 0):
        _add(canon, mask, load_i32(canon[NOT_PLAIN] + i * 4))
    for i in range(canon[N_OPEN]):
        _add(canon, mask, load_i32(canon[OPEN] + i * 4))
    canon[N_FOUND] = canon[N_DOUBTFUL] = 0
    _consider_candidates(store, grammar, canon, state, split)
    return keep_answer(store, grammar, canon, key)
