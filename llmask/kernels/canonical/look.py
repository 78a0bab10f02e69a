"""Tokens whose continuation is looked for: one that led to an end, one of a configuration, or groups of such.

In: tables, tokens that may follow if they are compatible with the one before. Out: those that nothing follows, in
FOUND. Cost: 50 ns where it is known; 0.2 us a text of a group.
"""

from __future__ import annotations

from ..lexer.states import DEAD, S_TWIN, state_field
from ..machine.jit import kernel, never_inline
from ..machine.raw import load_u32
from ..mask.configurations import C_PLACE, C_STATE, REFUSED, configuration_field
from ..tables.int_lists import append
from ..tables.memory import load_i32, store_i32
from .alike import lexemes_by_number, shape_of
from .chains import NO_CHAIN, chain_after, look_up
from .descent import FOLLOWS_ON, NEEDS_STATE, NOTHING_FOLLOWS
from .ends import NO_NUMBER, has_stopped, safe_byte
from .exits import exit_of, first_that_holds
from .fill import REFUSED_SPLIT
from .groups import GROUP_HEAD, HEAD, N_ASKED, TEXT_BYTES, find_groups
from .listings import after_first
from .live import NO_BYTE
from .search import has_own_witness, leads_on, searched_verdict
from .slots import FOLLOWS, FOUND, N_FOUND


@kernel
def inside_state(store, grammar, configuration):
    """The lexer state that carries the mask of tokens inside of the lexeme, or DEAD."""
    state = configuration_field(grammar, configuration, C_STATE)
    return DEAD if state == DEAD else state_field(store, state, S_TWIN)


@kernel
def look_at(store, grammar, canon, packed, number, split, token, after):
    """Enter a token that led to an end where nothing is safe in FOUND if nothing follows it; its verdict.

    `number` is that of the end in the memo.
    """
    chain = chain_after(canon, split, after, NO_CHAIN, token)  # one that begins with the token is no whole word yet
    if has_own_witness(store, grammar, canon, packed, after, token, chain):
        return FOLLOWS_ON
    if chain == NO_CHAIN and leads_on(store, grammar, canon, number, packed, after):
        return FOLLOWS_ON
    found = searched_verdict(store, grammar, canon, grammar, packed, after, token, chain)
    if found == NOTHING_FOLLOWS:
        append(canon, FOUND, N_FOUND, token)
    return found


@kernel
def look_at_token(store, grammar, canon, configuration, split, token):
    """As `look_at` for a token of a configuration."""
    never_inline()
    after = look_up(canon, FOLLOWS, split, token)
    if after == REFUSED_SPLIT:
        return FOLLOWS_ON
    packed = after_first(store, grammar, configuration, token)
    if packed < 0 or safe_byte(store, grammar, canon, packed, after) != NO_BYTE:
        return FOLLOWS_ON
    return look_at(store, grammar, canon, packed, NO_NUMBER, split, token, after)


@kernel
def look_at_groups(store, grammar, canon, configuration, split, place, named, groups):
    """As `look_at` for the tokens of groups at an address, inside of a lexeme of a place: the worst verdict.

    `named` is the state whose lexemes are numbered in the groups.
    """
    never_inline()
    texts, group = groups + 4 * HEAD, groups + 4 * HEAD + load_i32(groups) * TEXT_BYTES
    lexemes, behind, hold, asked = 0, REFUSED, 0, 0
    result = FOLLOWS_ON
    for _ in range(load_i32(groups + 4)):
        n, bits = load_i32(group), load_u32(group + 8) | load_i32(group + 12) << 32
        if load_i32(group + 4) != lexemes:
            lexemes = load_i32(group + 4)
            behind = exit_of(store, grammar, place, lexemes_by_number(store, named, lexemes))
            hold, asked = 0, 0
        if bits & hold == 0 and behind != REFUSED:
            number = first_that_holds(store, grammar, canon, behind, texts, bits & ~asked)
            asked |= bits if number < 0 else bits & ((1 << number) - 1)
            hold |= 0 if number < 0 else 1 << number
        if bits & hold == 0:
            store_i32(groups + 4 * N_ASKED, load_i32(groups + 4 * N_ASKED) + n)
        for i in range(n if bits & hold == 0 else 0):
            token = load_i32(group + 4 * (GROUP_HEAD + i))
            found = look_at_token(store, grammar, canon, configuration, split, token)
            result = max(result, found)
            if has_stopped(store, grammar):
                return NEEDS_STATE
        group += 4 * (GROUP_HEAD + n)
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
    groups = find_groups(
        store, grammar, canon, twin, 0, split, shape_of(store, canon, twin) << 16 | split, twin, tokens, n
    )
    canon[N_FOUND] = 0
    return look_at_groups(store, grammar, canon, configuration, split, place, state, groups)
