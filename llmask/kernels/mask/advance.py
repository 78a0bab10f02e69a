"""Documents read with what is missing built on the way: tokens, bytes, and which bytes may come next.

In: tables, a configuration, tokens or bytes. Out: configurations. Cost: that of configurations.step.
"""

from __future__ import annotations

from ..lexeme_masks.trie_walk import wide_walk
from ..lexer.leaps import known_leap, leap
from ..lexer.states import DEAD, MISS, S_TWIN, UNKNOWN, known_next, state_field
from ..machine.jit import kernel, never_inline
from ..parser.token_terminals import NAMES_ORDINARY
from ..tables.grammar_layout import NAMES_TOKENS
from ..tables.interning import MISSING
from ..tables.memory import block, ensure, get_i32, get_u8
from ..tables.store_layout import (
    N_EXITS,
    N_TRIE,
    N_WORDS,
    REPORT,
    TOKEN_DATA,
    TOKEN_OFFSETS,
    TRIE,
    WALKED,
    WORDS,
    WORDS_MARGIN,
)
from ..values.transcripts import FIRST_PLACE
from .configurations import (
    C_PLACE,
    C_STATE,
    ENDED,
    REFUSED,
    after_token,
    arrive,
    configuration_field,
    configuration_of,
    known_after_token,
    known_arrive,
    known_configuration,
    known_step,
    pack,
    step,
)


@kernel
def take_bytes(store, grammar, configuration, data):
    """Configuration after some bytes, or REFUSED with the position in REPORT."""
    never_inline()
    if configuration == ENDED:
        store[REPORT] = 0
        return REFUSED
    place = configuration_field(grammar, configuration, C_PLACE)
    state = configuration_field(grammar, configuration, C_STATE)
    for i in range(data.shape[0]):
        packed = step(store, grammar, place, state, data[i])
        if packed == REFUSED:
            store[REPORT] = i
            return REFUSED
        place = packed >> 32
        state = packed & 0xFFFFFFFF
    return configuration_of(store, grammar, pack(place, state))


@kernel
def take_token(store, grammar, configuration, token):
    """Configuration after a token, or REFUSED."""
    never_inline()
    if configuration == ENDED:
        return REFUSED
    offsets = block(store, TOKEN_OFFSETS)
    first = get_i32(offsets, token)
    end = get_i32(offsets, token + 1)
    if first == end or grammar[NAMES_TOKENS] == NAMES_ORDINARY:
        reached = after_token(store, grammar, configuration, token)
        if first == end or reached != REFUSED:
            return reached
    return take_text(store, grammar, configuration, token)


@kernel
def take_text(store, grammar, configuration, token):
    """Configuration after the bytes of a token, which may be named as well; not for ENDED."""
    never_inline()
    offsets, data = block(store, TOKEN_OFFSETS), block(store, TOKEN_DATA)
    place = configuration_field(grammar, configuration, C_PLACE)
    state = configuration_field(grammar, configuration, C_STATE)
    end = get_i32(offsets, token + 1)
    may_leap = True
    for i in range(get_i32(offsets, token), end):
        byte = get_u8(data, i)
        if may_leap and place < FIRST_PLACE and i + 1 < end and known_next(store, state, byte) == UNKNOWN:
            target = leap(store, state, i, end - i)
            if target != DEAD:
                packed = arrive(store, grammar, place, target)
                return configuration_of(store, grammar, packed) if packed != REFUSED else REFUSED
            may_leap = False  # the lexeme ends on the way
        packed = step(store, grammar, place, state, byte)
        if packed == REFUSED:
            return REFUSED
        may_leap = may_leap or packed >> 32 != place
        place = packed >> 32
        state = packed & 0xFFFFFFFF
    return configuration_of(store, grammar, pack(place, state))


@kernel
def known_after(store, grammar, configuration, token):
    """As `take_token`, reading only, for a token of the vocabulary; MISS where something is not built yet."""
    never_inline()
    offsets = block(store, TOKEN_OFFSETS)
    first = get_i32(offsets, token)
    end = get_i32(offsets, token + 1)
    if first == end or grammar[NAMES_TOKENS] == NAMES_ORDINARY:
        reached = known_after_token(store, grammar, configuration, token)
        if first == end or reached != REFUSED:
            return reached
    data = block(store, TOKEN_DATA)
    place = configuration_field(grammar, configuration, C_PLACE)
    state = configuration_field(grammar, configuration, C_STATE)
    for i in range(first, end):
        packed = known_step(store, grammar, place, state, get_u8(data, i))
        if packed == MISS and place < FIRST_PLACE:
            target = known_leap(store, state, i)
            if target != MISSING:
                packed = known_arrive(store, grammar, place, target)
                return known_configuration(grammar, packed) if packed >= 0 else packed
        if packed < 0:
            return packed
        place = packed >> 32
        state = packed & 0xFFFFFFFF
    return known_configuration(grammar, pack(place, state))


@kernel
def live_bytes(store, grammar, configuration, data):
    """Flag the bytes that may come next; returns how many."""
    never_inline()
    n = 0
    for byte in range(256):
        data[byte] = 0
    if configuration == ENDED:
        return 0
    place = configuration_field(grammar, configuration, C_PLACE)
    state = configuration_field(grammar, configuration, C_STATE)
    for byte in range(256):
        if step(store, grammar, place, state, byte) != REFUSED:
            data[byte] = 1
            n += 1
    return n


@kernel
def walk_all(store, grammar, configuration):
    """Walk the whole trie from a configuration's lexer state, slices left aside; returns the nodes visited."""
    never_inline()
    state = state_field(store, configuration_field(grammar, configuration, C_STATE), S_TWIN)
    ensure(store, WORDS, store[N_WORDS] * 4 + WORDS_MARGIN + 8)
    n_exits = store[N_EXITS]
    before = store[WALKED]
    wide_walk(store, block(store, TRIE), 0, 0, store[N_TRIE], state)
    store[N_EXITS] = n_exits
    return store[WALKED] - before
