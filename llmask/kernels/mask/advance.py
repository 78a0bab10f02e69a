"""Documents read with what is missing built on the way: tokens, bytes, and which bytes may come next.

In: tables, a configuration, tokens or bytes. Out: configurations. Cost: that of configurations.step.
"""

from ..lexeme_masks.trie_walk import room_for_words, wide_walk
from ..lexer.states import DEAD, MISS, UNKNOWN, known_leap, known_next, leap
from ..machine.jit import kernel
from ..parser.token_terminals import NAMES_ORDINARY
from ..tables.interning import MISSING
from ..values.parse_states import FIRST_TRACKED
from .configurations import (
    ENDED,
    REFUSED,
    after_token,
    arrive,
    configuration_of,
    known_after_token,
    known_arrive,
    known_configuration,
    known_step,
    pack,
    states_of,
    step,
    unpack,
)


@kernel
def take_bytes(store, grammar, configuration, data):
    """Configuration after some bytes, or REFUSED with the position in `report`."""
    if configuration == ENDED:
        store.report = 0
        return REFUSED
    parse_state, state = states_of(grammar, configuration)
    for i in range(data.shape[0]):
        packed = step(store, grammar, parse_state, state, data[i])
        if packed == REFUSED:
            store.report = i
            return REFUSED
        parse_state, state = unpack(packed)
    return configuration_of(store, grammar, pack(parse_state, state))


@kernel
def take_token(store, grammar, configuration, token):
    """Configuration after a token, or REFUSED."""
    if configuration == ENDED:
        return REFUSED
    offsets = store.token_offsets
    first = offsets[token]
    end = offsets[token + 1]
    if first == end or grammar.names_tokens == NAMES_ORDINARY:
        reached = after_token(store, grammar, configuration, token)
        if first == end or reached != REFUSED:
            return reached
    return take_text(store, grammar, configuration, token)


@kernel
def take_text(store, grammar, configuration, token):
    """Configuration after the bytes of a token, which may be named as well; not for ENDED."""
    offsets, data = store.token_offsets, store.token_data
    parse_state, state = states_of(grammar, configuration)
    end = offsets[token + 1]
    may_leap = True
    for i in range(offsets[token], end):
        byte = data[i]
        if may_leap and parse_state < FIRST_TRACKED and i + 1 < end and known_next(store, state, byte) == UNKNOWN:
            target = leap(store, state, i, end - i)
            if target != DEAD:
                packed = arrive(store, grammar, parse_state, target)
                return configuration_of(store, grammar, packed) if packed != REFUSED else REFUSED
            may_leap = False  # the lexeme ends on the way
        packed = step(store, grammar, parse_state, state, byte)
        if packed == REFUSED:
            return REFUSED
        may_leap = may_leap or packed >> 32 != parse_state
        parse_state, state = unpack(packed)
    return configuration_of(store, grammar, pack(parse_state, state))


@kernel
def known_after(store, grammar, configuration, token):
    """As `take_token` for any number, reading only; MISS where something is not built yet."""
    if configuration == ENDED or token < 0 or token >= store.n_vocab:
        return REFUSED
    offsets = store.token_offsets
    first = offsets[token]
    end = offsets[token + 1]
    if first == end or grammar.names_tokens == NAMES_ORDINARY:
        reached = known_after_token(store, grammar, configuration, token)
        if first == end or reached != REFUSED:
            return reached
    data = store.token_data
    parse_state, state = states_of(grammar, configuration)
    for i in range(first, end):
        packed = known_step(store, grammar, parse_state, state, data[i])
        if packed == MISS and parse_state < FIRST_TRACKED:
            target = known_leap(store, state, i)
            if target != MISSING:
                packed = known_arrive(store, grammar, parse_state, target)
                return known_configuration(store, grammar, packed) if packed >= 0 else packed
        if packed < 0:
            return packed
        parse_state, state = unpack(packed)
    return known_configuration(store, grammar, pack(parse_state, state))


@kernel
def live_bytes(store, grammar, configuration, data):
    """Flag the bytes that may come next; returns how many."""
    n = 0
    for byte in range(256):
        data[byte] = 0
    if configuration == ENDED:
        return 0
    parse_state, state = states_of(grammar, configuration)
    for byte in range(256):
        if step(store, grammar, parse_state, state, byte) != REFUSED:
            data[byte] = 1
            n += 1
    return n


@kernel
def walk_all(store, grammar, configuration):
    """Walk the whole trie from a configuration's lexer state, slices left aside; returns the nodes visited."""
    state = store.states[grammar.configurations[configuration].state].anonymous
    room_for_words(store)
    n_exits = store.n_exits
    before = store.walked
    wide_walk(store, store.trie.address, 0, 0, store.n_trie, state)
    store.n_exits = n_exits
    return store.walked - before
