"""The position after a token.

Most pairs of a position and a token come once, so steps are not remembered: what a step needs is looked up. Where all
of it is known it is found without the lock.

In: tables, a position or the cell that shows it, a token. Out: positions. Cost: a known one 0.2 us.
"""

from __future__ import annotations

from .canonical_chains import NO_CHAIN, chain_after, look_up, split_after
from .canonical_ends import has_stopped
from .canonical_fill import (
    ASK,
    CELL_FILTER,
    CELL_MAY_END,
    CELL_N_PAIRS,
    CELL_N_RANGES,
    CELL_N_REMOVED,
    CELL_PAIRS,
    CELL_POSITION,
    CELL_RANGES,
    CELL_REMOVED,
    CELL_WORDS,
    LIST,
    NO_FILTER,
    REFUSED_SPLIT,
)
from .canonical_following import is_ranged
from .canonical_positions import (
    P_BEFORE,
    P_CHAIN,
    P_CONFIGURATION,
    P_FILTER,
    P_SPLIT,
    POSITION_FIELDS,
    known_position,
    position_field,
    position_of,
    show,
)
from .canonical_review import DONE, STOPPED, review
from .canonical_slots import BREAKS, FOLLOWS, RANKS, START
from .configurations import C_ACCEPTS, ENDED, REFUSED, configuration_field
from .constants import NO_TOKEN
from .grammar_slots import CANON, POSITIONS
from .jit import door, kernel, never_inline
from .lexer_states import MISS
from .listings import has_bytes
from .memory import EXCEEDED, as_table, block, load_i64
from .reading import known_after, take_token
from .shared_batch import CELL_CONFIGURATION, CELL_GRAMMAR, CELL_STORE
from .store_slots import EOS, N_EOS, N_VOCAB
from .token_lists import is_in
from .trie_walk import has_bit


@kernel
def _allows(canon, cell, split, token):
    """Whether a grammatical token is in the mask of a position that was reviewed, which a cell shows."""
    kind = load_i64(cell + 8 * CELL_FILTER)
    if kind == NO_FILTER:
        return True
    is_listed = is_in(load_i64(cell + 8 * CELL_PAIRS), load_i64(cell + 8 * CELL_N_PAIRS), token)
    if kind == LIST:
        return is_listed
    if is_listed or not has_bit(load_i64(cell + 8 * CELL_WORDS), token):
        return False
    ranks, n_ranges = load_i64(canon[RANKS] + split * 8), load_i64(cell + 8 * CELL_N_RANGES)
    if is_ranged(canon, ranks, token, load_i64(cell + 8 * CELL_RANGES), n_ranges):
        return False
    return not is_in(load_i64(cell + 8 * CELL_REMOVED), load_i64(cell + 8 * CELL_N_REMOVED), token)


@kernel
def _context_after(canon, cell, split, before, chain, token):
    """Split state, last token and chain after a token that a cell's position allows."""
    after = look_up(canon, FOLLOWS, split, token)
    is_cut = load_i64(cell + 8 * CELL_FILTER) == NO_FILTER
    if is_cut or chain & 1 != 0 or look_up(canon, BREAKS, split, token) != REFUSED_SPLIT:
        after = split_after(canon, split, before, chain, token)  # otherwise the mask says that they are compatible
    if after == REFUSED_SPLIT:  # only where the grammatical mask stands
        return canon[START], NO_TOKEN, NO_CHAIN
    return after, token, chain_after(canon, split, chain, token)


@door("int64(int64, int64)", group="canonical")
def take_known(cell, token):
    """Have a cell show the position after a token; its configuration, REFUSED, or MISS: something is not known yet."""
    store, grammar = as_table(load_i64(cell + 8 * CELL_STORE)), as_table(load_i64(cell + 8 * CELL_GRAMMAR))
    configuration = load_i64(cell + 8 * CELL_CONFIGURATION)
    if token < 0 or token >= store[N_VOCAB] or configuration == ENDED:
        return REFUSED
    if load_i64(cell + 8 * CELL_FILTER) == ASK or not has_bytes(store, token):
        return MISS
    canon, position = as_table(grammar[CANON]), load_i64(cell + 8 * CELL_POSITION)
    split, before = position_field(grammar, position, P_SPLIT), position_field(grammar, position, P_BEFORE)
    if not _allows(canon, cell, split, token):
        return REFUSED
    reached = known_after(store, grammar, configuration, token)
    if reached < 0:
        return reached
    chain = position_field(grammar, position, P_CHAIN)
    split, before, chain = _context_after(canon, cell, split, before, chain, token)
    found = known_position(grammar, reached, split, before, chain)
    if found < 0 or position_field(grammar, found, P_FILTER) == ASK:
        return MISS
    return show(grammar, cell, found)


@kernel
def _next_position(store, grammar, canon, position, token):
    """The position after a token, REFUSED, or what is missing."""
    never_inline()
    missing = review(store, grammar, canon, position)
    if missing != DONE:
        return missing
    configuration = position_field(grammar, position, P_CONFIGURATION)
    cell = block(grammar, POSITIONS) + (position * POSITION_FIELDS - CELL_CONFIGURATION) * 8
    if configuration == ENDED or token >= store[N_VOCAB]:
        return REFUSED
    if not has_bytes(store, token):  # text on both sides of a special token is split by itself
        if load_i64(cell + 8 * CELL_MAY_END) == 0:
            return REFUSED
        reached = take_token(store, grammar, configuration, token)
        if reached == REFUSED and is_in(block(store, EOS), store[N_EOS], token):
            reached = ENDED if configuration_field(grammar, configuration, C_ACCEPTS) != 0 else REFUSED
        split, before, chain = canon[START], NO_TOKEN, NO_CHAIN
    else:
        split, before = position_field(grammar, position, P_SPLIT), position_field(grammar, position, P_BEFORE)
        if not _allows(canon, cell, split, token):
            return REFUSED
        chain = position_field(grammar, position, P_CHAIN)
        split, before, chain = _context_after(canon, cell, split, before, chain, token)
        reached = take_token(store, grammar, configuration, token)
    if has_stopped(store, grammar):
        return STOPPED
    if reached < 0:
        return REFUSED
    found = position_of(grammar, reached, split, before, chain)
    return STOPPED if has_stopped(store, grammar) else found


@kernel
def step_and_review(store, grammar, canon, position, token):
    """As `_next_position`; the mask there, which comes next as a rule, is found at once.

    What stops that stops a matcher when it asks for the mask.
    """
    never_inline()
    found = _next_position(store, grammar, canon, position, token)
    if found >= 0 and not has_stopped(store, grammar):
        review(store, grammar, canon, found)
        store[EXCEEDED] = grammar[EXCEEDED] = 0
    return found
