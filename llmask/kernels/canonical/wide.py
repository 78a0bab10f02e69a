"""Tokens that stay inside of a lexeme and may have no canonical continuation, where a lexer state takes most bytes.

A string takes 100,000 tokens, and nearly all of them are answered by what may come behind any token of some length
(canonical/sure.py): of a kind of tokens (llmask/canonical/neighbours.py) all lead to one split state, and where a
character ends the word there that may come behind tokens of up to 24 characters, the longer ones are left. Of those
that end inside of a character the ones are left for which single bytes do not complete it (canonical/guess.py). Those
in the middle of escapes are few, too. What is left and in the mask is led through the lexer token by token.

In: tables, a lexer state with a mask, a split state. Out: as canonical/inside.py. Cost: 10 us; 0.1 us a token that is
left.
"""

from ..lexeme_masks.trie_walk import has_bit
from ..lexer.dense_transitions import DenseEntry, dense_row, dense_state, dense_step
from ..machine.jit import inline, kernel
from ..machine.numba_names import map_at
from ..machine.raw import load_u16
from ..tables.grammar_layout import GRAMMAR
from ..tables.int_lists import append
from ..tables.interning import map_get, map_put
from ..tables.memory import block, ensure, get_i32, load_i32, load_i64, load_u8, put_i32, store_i64
from .alike import shape_of
from .chains import look_up
from .guess import NO_WITNESS, guess_witness, is_half, split_behind
from .inside import consider, keep_answer
from .slots import (
    CANDIDATES,
    ENDS,
    FOLLOWS,
    GROUP_OF,
    HALF,
    HALVES,
    INSIDE,
    KIND_FIRST,
    KIND_TOKENS,
    LONGEST,
    MOST_CANDIDATES,
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
    REFUSED_SPLIT,
    TOKEN_CHARACTERS,
    TOKEN_SORTS,
    WALK,
)
from .sure import ANY_LENGTH, FEW, FIRST_LEAD, find_sure, full_length, is_plain, known_length, room_of, sure_length

NO_GUESS, LISTED = -1, -2  # in place of a split state
MANY = 1  # in place of an answer: too many tokens are left
PLAIN, ENTIRE, OTHER_SORT = range(3)  # of TOKEN_SORTS; those inside of a character have its first byte
OF_STATE = 1 << 59  # in a key: the answer is that of the lexer state alone, not of all with its mask


@inline
def is_sure(canon, sure, token, split):
    """Whether something certainly may come behind a token that leads to a split state."""
    sort, most = load_u8(canon[TOKEN_SORTS] + token), ANY_LENGTH
    if sort >= FIRST_LEAD and is_half(canon, split):
        witness = guess_witness(canon, split, token)
        if witness == NO_WITNESS:
            return False
        split, most = split_behind(canon, witness), full_length(canon, sure, sort)
    elif sort > (PLAIN if is_plain(canon, sure) else ENTIRE):
        return False
    ends = canon[ENDS] + split * 16
    return length_of(canon, token) <= min(most, sure_length(canon, sure, load_i64(ends), load_i64(ends + 8)))


@inline
def length_of(canon, token):
    """Characters of a token."""
    return load_u16(canon[TOKEN_CHARACTERS] + token * 2)


@inline
def key_of_all(store, canon, state, split):
    """Key of what holds for all tokens of a lexer state.

    With room behind the longest one it is the same for all lexer states that take the same tokens.
    """
    if room_of(store, state) > canon[LONGEST]:
        return store.states[state].mask << 16 | split
    return OF_STATE | shape_of(store, canon, state) << 16 | split


@inline
def _add(canon, mask, token):
    """Enter a token in CANDIDATES if it is in a mask."""
    if has_bit(mask, token):
        append(canon, CANDIDATES, N_CANDIDATES, token)


@kernel
def _collect_whole(canon, mask, sure, split):
    """Enter the tokens of a mask that end between characters in CANDIDATES, if they are not answered."""
    after, last_sort = load_i64(canon[FOLLOWS] + split * 8), PLAIN if is_plain(canon, sure) else ENTIRE
    for kind in range(canon[N_CONTINUING], canon[N_KINDS]):
        reached = load_u16(after + kind * 2)
        if reached == REFUSED_SPLIT or is_half(canon, reached):
            continue
        ends = canon[ENDS] + reached * 16
        most = sure_length(canon, sure, load_i64(ends), load_i64(ends + 8))
        if most >= canon[LONGEST] or canon[N_CANDIDATES] > canon[MOST_CANDIDATES]:
            continue
        first = load_i32(canon[KIND_FIRST] + kind * 4)
        for i in range(load_i32(canon[KIND_FIRST] + kind * 4 + 4) - 1, first - 1, -1):  # the longest first
            token = load_i32(canon[KIND_TOKENS] + i * 4)
            if length_of(canon, token) <= most:
                break
            if has_bit(mask, token) and load_u8(canon[TOKEN_SORTS] + token) <= last_sort:
                append(canon, CANDIDATES, N_CANDIDATES, token)


@inline
def _list_group(canon, behind, first):
    """Append to TOKENS those of HALF, from one on, that lead to a split state by GROUP_OF: it, how many, the tokens."""
    append(canon, GRAMMAR.tokens, GRAMMAR.n_tokens, behind)
    position, n = canon.n_tokens, 0
    append(canon, GRAMMAR.tokens, GRAMMAR.n_tokens, 0)
    for i in range(first, canon[N_HALF]):
        if get_i32(block(canon, GROUP_OF), i) == behind:
            put_i32(block(canon, GROUP_OF), i, LISTED)
            append(canon, GRAMMAR.tokens, GRAMMAR.n_tokens, load_i32(canon[HALF] + i * 4))
            n += 1
    canon.tokens[position] = n


@kernel
def _list_half(canon, split):
    """Position in TOKENS of the tokens that end inside of a character, grouped by the split state behind the guessed
    end of the character: it, how many, the tokens; last, with NO_GUESS, those for which none is guessed.
    """
    known = map_get(map_at(canon, HALVES), split)
    if known >= 0:
        return known
    ensure(canon, GROUP_OF, (canon[N_HALF] + 1) * 4)
    for i in range(canon[N_HALF]):
        token = load_i32(canon[HALF] + i * 4)
        reached, behind = look_up(canon, FOLLOWS, split, token), LISTED
        if reached != REFUSED_SPLIT:
            witness = guess_witness(canon, reached, token) if is_half(canon, reached) else NO_WITNESS
            behind = NO_GUESS if witness == NO_WITNESS else split_behind(canon, witness)
        put_i32(block(canon, GROUP_OF), i, behind)
    position = canon.n_tokens
    for i in range(canon[N_HALF]):
        behind = get_i32(block(canon, GROUP_OF), i)
        if behind >= 0:
            _list_group(canon, behind, i)
    _list_group(canon, NO_GUESS, 0)
    map_put(map_at(canon, HALVES), split, position)
    return position


@kernel
def _collect_half(canon, mask, sure, split):
    """As `_collect_whole` for tokens that end inside of a character."""
    group, behind = _list_half(canon, split), 0
    while behind != NO_GUESS:
        at = canon.tokens.address + group * 4
        behind, n, most = load_i32(at), load_i32(at + 4), 0
        if behind != NO_GUESS:
            ends = canon[ENDS] + behind * 16
            most = sure_length(canon, sure, load_i64(ends), load_i64(ends + 8))
        for i in range(n):
            token = load_i32(at + 8 + i * 4)
            full = full_length(canon, sure, load_u8(canon[TOKEN_SORTS] + token))
            if has_bit(mask, token) and length_of(canon, token) > min(most, full):
                append(canon, CANDIDATES, N_CANDIDATES, token)
        group += 2 + n


@inline
def _dense_rows_after(store, stack, last, n_valid, token):
    """As `go_on_from_last`, where `stack` has hot rows and the token stays inside of the lexeme."""
    offsets, data = store.token_offsets.address, store.token_data.address
    first, end = load_i32(offsets + token * 4), load_i32(offsets + token * 4 + 4)
    before = load_i32(offsets + last * 4)
    n = 0
    while n < n_valid and first + n < end and load_u8(data + first + n) == load_u8(data + before + n):
        n += 1
    dense = load_i64(stack + n * 8)
    while first + n < end:
        entry = dense_step(store, dense, load_u8(data + first + n))
        if entry < DenseEntry.FIRST:
            return n << 1
        dense = entry - DenseEntry.FIRST
        n += 1
        store_i64(stack + n * 8, dense)
    return n << 1 | 1


@kernel
def _consider_candidates(store, grammar, canon, state, split):
    """Consider the tokens in CANDIDATES. Of many the first bytes are those of the one before."""
    stack, last, n_valid = block(canon, WALK), 0, 0
    store_i64(stack, dense_row(store, state))
    for i in range(canon[N_CANDIDATES]):
        token = load_i32(block(canon, CANDIDATES) + i * 4)
        after = look_up(canon, FOLLOWS, split, token)
        if after == REFUSED_SPLIT:
            continue
        went_on = _dense_rows_after(store, stack, last, n_valid, token)
        last, n_valid = token, went_on >> 1
        if went_on & 1 != 0:
            consider(store, grammar, canon, split, token, dense_state(store, load_i64(stack + n_valid * 8)), after)


@kernel
def review_wide(store, grammar, canon, state, split):
    """As `review_inside` for all tokens of a lexer state, or MANY."""
    key = key_of_all(store, canon, state, split)
    known = map_get(map_at(canon, INSIDE), key)
    if known >= 0:
        return canon.tokens.address + known * 4
    sure = find_sure(store, grammar, canon, state)
    if sure < 0:
        return 0
    if known_length(canon, sure) < FEW:
        return MANY
    canon[N_CANDIDATES] = 0
    mask = store.masks[store.states[state].mask]
    _collect_whole(canon, mask, sure, split)
    if canon[N_CANDIDATES] > canon[MOST_CANDIDATES]:
        return MANY
    _collect_half(canon, mask, sure, split)
    for i in range(canon[N_NOT_PLAIN] if is_plain(canon, sure) else 0):
        _add(canon, mask, load_i32(canon[NOT_PLAIN] + i * 4))
    for i in range(canon[N_OPEN]):
        _add(canon, mask, load_i32(canon[OPEN] + i * 4))
    canon[N_FOUND] = canon[N_DOUBTFUL] = 0
    _consider_candidates(store, grammar, canon, state, split)
    return keep_answer(store, grammar, canon, key)
