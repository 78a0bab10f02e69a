"""Tokens that nothing canonical can follow if they are incompatible with the token before.

Most incompatible tokens may not follow at all, others (*mixed* ones, see canonical/pairs.py) may: two runs of blanks
are split before the last blank of the second. Which of them are dead then is a matter of the configuration and the
split state, as it is if they are compatible (canonical/lists.py). Lexer states answer for most, once for all grammars.

In: tables, a configuration with a mask of many tokens, a split state. Out: lists in TOKENS. Cost: 0.1 us a mixed token
for a lexer state and a split state; some microseconds for a configuration.
"""

from ..lexeme_masks.trie_walk import has_bit
from ..lexer.states import DEAD
from ..machine.constants import NO_TOKEN
from ..machine.jit import inline, kernel
from ..machine.numba_names import map_at
from ..machine.raw import load_u16
from ..mask.assemble import KIND_BITS
from ..parser.token_terminals import NAMES_ORDINARY
from ..tables.int_lists import append
from ..tables.interning import map_get, map_put
from ..tables.kinds import MaskKind
from ..tables.memory import block, load_i32, load_u8
from .chains import NO_CHAIN, look_up
from .check_tokens import consider_again, inside_state, look_inside
from .descent import CUT, FOLLOWS_ON, NEEDS_STATE
from .ends import has_stopped
from .inside import keep_found
from .pairs import MIXED, effect_of
from .positions import context_of
from .slots import (
    BREAKS,
    DOUBTFUL,
    FOUND,
    KIND_FIRST,
    KIND_TOKENS,
    KINDS,
    MIXED_TOKENS,
    N_CONTINUING,
    N_DOUBTFUL,
    N_FOUND,
    N_KINDS,
    REACHABLE,
)


@inline
def _is_mixed(canon, split, token):
    """Whether a token may follow a split state, in another way, if it is incompatible with the token before."""
    kind = load_u16(canon[KINDS] + token * 2)
    if kind < canon[N_CONTINUING] or load_u8(canon[REACHABLE] + token) == 0:
        return False
    return effect_of(canon, split, kind) == MIXED


@kernel
def _mixed_tokens(canon, split):
    """Address of (0, n, the tokens that are mixed behind a split state)."""
    known = map_get(map_at(canon, MIXED_TOKENS), split)
    if known >= 0:
        return canon.tokens.address + known * 4
    canon[N_FOUND] = 0
    for kind in range(canon[N_CONTINUING], canon[N_KINDS]):
        if effect_of(canon, split, kind) == MIXED:
            for i in range(load_i32(canon[KIND_FIRST] + kind * 4), load_i32(canon[KIND_FIRST] + kind * 4 + 4)):
                token = load_i32(canon[KIND_TOKENS] + i * 4)
                if load_u8(canon[REACHABLE] + token) != 0:
                    append(canon, FOUND, N_FOUND, token)
    position = canon.n_tokens
    address = keep_found(canon, 0, canon)
    map_put(map_at(canon, MIXED_TOKENS), split, position)
    return address


@kernel
def _left_open(store, grammar, canon, anonymous, split):
    """Address of (m, n, mixed tokens that a lexer state, or DEAD, does not know to be followed), or 0: stop.

    The first m are in the mask of the lexer state, if that is one of many tokens.
    """
    key = (anonymous + 1) << 16 | split
    known = map_get(map_at(canon, MIXED_TOKENS), key)
    if known >= 0:
        return canon.tokens.address + known * 4
    mixed, mask = _mixed_tokens(canon, split), 0
    if anonymous != DEAD and store.states[anonymous].mask_kind == MaskKind.WORDS:
        mask = store.masks[store.states[anonymous].mask]
    canon[N_FOUND] = canon[N_DOUBTFUL] = 0
    for i in range(load_i32(mixed + 4)):
        token = load_i32(mixed + 8 + i * 4)
        if mask == 0 or not has_bit(mask, token):
            append(canon, DOUBTFUL, N_DOUBTFUL, token)
            continue
        after = look_up(canon, BREAKS, split, token)
        found = look_inside(store, grammar, canon, anonymous, after, token, NO_CHAIN)
        if found == NEEDS_STATE or has_stopped(store, grammar):
            return 0
        if found != FOLLOWS_ON:
            append(canon, FOUND, N_FOUND, token)
    n, position = canon[N_FOUND], canon.n_tokens
    for i in range(canon[N_DOUBTFUL]):
        append(canon, FOUND, N_FOUND, load_i32(block(canon, DOUBTFUL) + i * 4))
    address = keep_found(canon, n, canon)
    map_put(map_at(canon, MIXED_TOKENS), key, position)
    return address


@kernel
def _list_left(store, grammar, canon, configuration, split, anonymous, left):
    """List in DOUBTFUL what is left open: of tokens that are not in the mask of the lexer state the crossing ones."""
    has_many = anonymous != DEAD and store.states[anonymous].mask_kind == MaskKind.WORDS
    are_listed = grammar.configurations[configuration].mask_kind & KIND_BITS != MaskKind.WORDS
    is_short = has_many and are_listed and grammar.names_tokens != NAMES_ORDINARY
    canon[N_DOUBTFUL] = 0
    for i in range(load_i32(left) if is_short else load_i32(left + 4)):
        append(canon, DOUBTFUL, N_DOUBTFUL, load_i32(left + 8 + i * 4))
    first = grammar.configurations[configuration].first
    for i in range(first, first + (grammar.configurations[configuration].n if is_short else 0)):
        token = grammar.crossings.pool[i]
        if _is_mixed(canon, split, token):
            append(canon, DOUBTFUL, N_DOUBTFUL, token)


@inline
def known_broken(grammar, configuration, split):
    """What `find_broken` found before, or 0."""
    known = map_get(grammar.broken, configuration << 16 | split)
    return grammar.tokens.address + known * 4 if known >= 0 else 0


@kernel
def find_broken(store, grammar, canon, configuration, split):
    """Address of (whether one was cut, n, mixed tokens without a continuation if they are incompatible), or 0: stop."""
    known = known_broken(grammar, configuration, split)
    if known != 0:
        return known
    anonymous = inside_state(store, grammar, configuration)
    left = _left_open(store, grammar, canon, anonymous, split)
    if left == 0:
        return 0
    _list_left(store, grammar, canon, configuration, split, anonymous, left)
    context = context_of(split, NO_TOKEN, NO_CHAIN)
    found = consider_again(store, grammar, canon, configuration, context, 0, canon[N_DOUBTFUL])
    if found == NEEDS_STATE or has_stopped(store, grammar):
        return 0
    position = grammar.n_tokens
    address = keep_found(grammar, 1 if found == CUT else 0, canon)
    map_put(grammar.broken, configuration << 16 | split, position)
    return address
