"""Ends: places with a lexer state, where a token led; which bytes go on from there, and which one ends the word.

With INSIDE_PLACE for a place an end is a lexer state alone. A byte that ends the word is found among the ASCII bytes
that the lexer state takes, or the lexer state after the lexeme: few states, many ends.

In: tables, an end, a split state. Out: ends, bytes. Cost: 10 ns a byte; 30 ns a byte that ends the word.
"""

from ..lexer.states import DEAD, next_state
from ..machine.jit import inline, kernel
from ..machine.raw import wrapped_sum
from ..mask.configurations import REFUSED, configuration_of, pack, start_after, step
from ..mask.tracked_walk import goes_two_ways
from ..parser.goto import goto
from ..parser.token_terminals import NAMES_ORDINARY, names_special
from ..parser.tracked_goto import ROW_BITS, untracked_goto
from ..parser.tracked_values import MAY_REPEAT
from ..tables.grammar_layout import GRAMMAR
from ..tables.int_lists import append
from ..tables.memory import ensure, load_i32, load_i64, load_u8, store_i64
from ..values.parse_states import FIRST_TRACKED, MOST_ROWS, is_left_out, row_of
from .slots import CANON

NO_BYTE = 0  # otherwise a byte + 1
LIVE_FIELDS = 5
INSIDE_PLACE = (1 << 31) - 1  # no place has this number
MAY_STOP = 257
MOST_MISSING = 64
_FLAGS = {name: bit for name, (_, bit) in GRAMMAR.record("rows").flags.items()}
ACCEPTS, TAKES_TOKENS = _FLAGS["accepts"], _FLAGS["takes_tokens"]  # flags of rows
OPEN = _FLAGS["is_undecided"] | _FLAGS["is_nowhere"]
UNCERTAIN = _FLAGS["is_tentative"] | OPEN  # what may come depends on texts


@kernel
def live_bytes(store, canon, state):
    """Address of four words: the bytes that a lexer state takes without ending a lexeme before them."""
    at = ensure(canon, CANON.live, (state + 1) * LIVE_FIELDS * 8) + state * LIVE_FIELDS * 8
    if load_i64(at) == 0:
        for word in range(4):
            bits = 0
            for bit in range(64):
                bits = wrapped_sum(bits, (0 if next_state(store, state, 64 * word + bit) == DEAD else 1) << bit)
            store_i64(at + 8 + 8 * word, bits)
        if store.exceeded == 0:
            store_i64(at, 1)
    return at + 8


@inline
def live_word(store, canon, state, outer, word):
    """Bits of the bytes 64 * `word` and on that may come next, and of some that turn out not to.

    `outer` see `state_after_lexeme`.
    """
    bits = load_i64(live_bytes(store, canon, state) + 8 * word)
    return bits if outer == state else bits | load_i64(live_bytes(store, canon, outer) + 8 * word)


@inline
def has_flag_of_row(grammar, row, flag):
    """Whether a row has one of some flags."""
    return grammar.rows[row].flags & flag != 0


@inline
def is_bare(packed):
    """Whether the place of an end is a bare row (mask/crossing.py)."""
    return packed >> 32 >= MOST_ROWS and packed >> 32 < FIRST_TRACKED


@inline
def is_certain(grammar, packed):
    """Whether what may come next at an end is the same for all records: where its row is bare, by its flags."""
    return not is_bare(packed) or not has_flag_of_row(grammar, (packed >> 32) - MOST_ROWS, UNCERTAIN)


@inline
def _goto(store, grammar, place, scanned):
    """Place after the lexemes of a set, or a negative number: of a bare row, if it is the same for all records.

    Where it is not, IS_UNCERTAIN is set.
    """
    if place < MOST_ROWS or place >= FIRST_TRACKED:
        return goto(store, grammar, place, scanned)
    target = untracked_goto(store, grammar, place - MOST_ROWS, scanned)
    if target < 0:
        return REFUSED
    if target & MAY_REPEAT != 0 or has_flag_of_row(grammar, target & ROW_BITS, UNCERTAIN):
        grammar.is_uncertain = 1
        return REFUSED
    return (target & ROW_BITS) + MOST_ROWS


@inline
def _start_after(store, grammar, place, scanned):
    row = place if place < MOST_ROWS or place >= FIRST_TRACKED else place - MOST_ROWS
    return start_after(store, grammar, row, scanned)


@kernel
def _go_untracked(store, grammar, packed, byte):
    """As `step` from a bare row, for what is the same for all records."""
    place, state = packed >> 32, packed & 0xFFFFFFFF
    target = next_state(store, state, byte)
    if target == DEAD:
        scanned = store.states[state].accepts
        if scanned == 0:
            return REFUSED
        place = _goto(store, grammar, place, scanned)
        if place < 0:
            return REFUSED
        target = next_state(store, _start_after(store, grammar, place, scanned), byte)
        if target == DEAD:
            return REFUSED
    if store.states[target].finished != 0:
        scanned = store.states[target].accepts
        place = _goto(store, grammar, place, scanned)
        if place < 0:
            return REFUSED
        target = _start_after(store, grammar, place, scanned)
    return pack(place, target)


@kernel
def go(store, grammar, packed, byte):
    """Place and state after one more byte, or REFUSED."""
    if packed >> 32 == INSIDE_PLACE:
        target = next_state(store, packed & 0xFFFFFFFF, byte)
        return REFUSED if target == DEAD else pack(INSIDE_PLACE, target)
    if is_bare(packed):
        return _go_untracked(store, grammar, packed, byte)
    return step(store, grammar, packed >> 32, packed & 0xFFFFFFFF, byte)


@kernel
def go_token(store, grammar, packed, token):
    """Place and state after a token, or REFUSED."""
    offsets, data = store.token_offsets.address, store.token_data.address
    for at in range(load_i32(offsets + token * 4), load_i32(offsets + token * 4 + 4)):
        packed = go(store, grammar, packed, load_u8(data + at))
        if packed < 0:
            return REFUSED
    return packed


@inline
def has_stopped(store, grammar):
    """Whether a limit was reached, so that nothing that was found may be remembered."""
    return store.exceeded != 0 or grammar.exceeded != 0


@inline
def note_missing(canon, split):
    """Note a split state whose tables are missing; of many some wait for the next time."""
    n = canon.n_missing
    for i in range(n):
        if canon.missing[i] == split:
            return
    if n < MOST_MISSING:
        append(canon, CANON.missing, CANON.n_missing, split)


@inline
def state_after_lexeme(store, grammar, packed):
    """The lexer state after the lexeme, where it may end here; otherwise the state itself."""
    state = packed & 0xFFFFFFFF
    scanned = store.states[state].accepts
    if packed >> 32 == INSIDE_PLACE or scanned == 0:
        return state
    target = _goto(store, grammar, packed >> 32, scanned)
    return state if target < 0 else _start_after(store, grammar, target, scanned)


@kernel
def _may_stop(store, grammar, packed):
    """Whether the text may end, or a special token come, which ends it as well."""
    place = packed >> 32
    row = row_of(grammar, place)
    if place == row and grammar.names_tokens == 0 and not grammar.rows[row].accepts:
        scanned = store.states[packed & 0xFFFFFFFF].accepts
        if scanned == 0:
            return False  # as is found at once for nearly all of them: configurations are many
        target = goto(store, grammar, place, scanned)
        if target < 0 or not grammar.rows[row_of(grammar, target)].accepts:
            return False
    configuration = configuration_of(store, grammar, packed)
    if configuration < 0:
        return False
    if grammar.configurations[configuration].accepts != 0:
        return True
    naming = grammar.configurations[configuration].naming
    return naming != 0 and names_special(store, grammar, naming - 1)


@kernel
def might_stop(store, grammar, packed):
    """Whether the text may end at an end with a bare row, for some of its records at least."""
    row = (packed >> 32) - MOST_ROWS
    scanned = store.states[packed & 0xFFFFFFFF].accepts
    if has_flag_of_row(grammar, row, ACCEPTS | TAKES_TOKENS):
        return True
    if scanned == 0:
        return False
    target = untracked_goto(store, grammar, row, scanned)
    return target >= 0 and has_flag_of_row(grammar, target & ROW_BITS, ACCEPTS | TAKES_TOKENS | UNCERTAIN)


@inline
def names_ordinary(store, grammar, packed):
    """Whether a token with bytes may be one that the grammar names: bytes do not tell where it leads."""
    if grammar.names_tokens != NAMES_ORDINARY:
        return False
    if is_bare(packed):
        return True
    configuration = configuration_of(store, grammar, packed)
    return configuration >= 0 and grammar.configurations[configuration].naming != 0


@kernel
def _goes(store, grammar, packed, byte):
    """Whether one more byte may come; inside of a lexeme nothing is recorded."""
    if packed >> 32 >= FIRST_TRACKED and packed >> 32 != INSIDE_PLACE:
        target = next_state(store, packed & 0xFFFFFFFF, byte)
        if target != DEAD and store.states[target].finished == 0:
            return True
    return go(store, grammar, packed, byte) >= 0


@inline
def _first_that_goes(store, grammar, packed, bits, first):
    """The first of some bytes that may come next, + 1, or NO_BYTE; bit i of `bits` is that of `first` + i."""
    for byte in range(first, first + 64 if bits != 0 else first):
        if bits >> (byte & 63) & 1 != 0 and _goes(store, grammar, packed, byte):
            return byte + 1
    return NO_BYTE


@inline
def first_of_both(store, grammar, packed, low, high):
    """The first of some ASCII bytes that may come next, + 1, or NO_BYTE."""
    found = _first_that_goes(store, grammar, packed, low, 0)
    return found if found != NO_BYTE else _first_that_goes(store, grammar, packed, high, 64)


@kernel
def _certain_byte(store, grammar, canon, packed, low, high):
    """One of some ASCII bytes, + 1, that may come at a bare row whatever texts a record leaves there, or NO_BYTE.

    So may one of what the grammar ignores, unless the text ends there; and one after which a value goes on in two ways
    that was asked for without all but one of the texts that it must not be (values/called_rules.py).
    """
    row, state = (packed >> 32) - MOST_ROWS, packed & 0xFFFFFFFF
    if low | high == 0 or has_flag_of_row(grammar, row, ACCEPTS | TAKES_TOKENS):
        return NO_BYTE
    is_known = not has_flag_of_row(grammar, row, OPEN)
    live = live_bytes(store, canon, state)
    for byte in range(128):
        bits = low & load_i64(live) if byte < 64 else high & load_i64(live + 8)
        if bits >> (byte & 63) & 1 != 0:
            target = next_state(store, state, byte)
            if target == DEAD or store.states[target].finished != 0:
                continue
            if is_left_out(store, grammar, target) or (is_known and goes_two_ways(store, grammar, target)):
                return byte + 1
    return NO_BYTE


@kernel
def safe_byte(store, grammar, canon, packed, split):
    """A byte that ends the word and may come next, + 1; MAY_STOP where the text may end; else NO_BYTE."""
    ends = canon.word_ends + split * 16
    low, high = load_i64(ends), load_i64(ends + 8)
    place, state = packed >> 32, packed & 0xFFFFFFFF
    if not is_certain(grammar, packed):
        return _certain_byte(store, grammar, canon, packed, low, high)
    if low | high != 0:
        live = live_bytes(store, canon, state)
        inside_low, inside_high = load_i64(live), load_i64(live + 8)
        found = first_of_both(store, grammar, packed, low & inside_low, high & inside_high)
        if found != NO_BYTE:
            return found
        scanned = store.states[state].accepts
        if place != INSIDE_PLACE and scanned != 0:
            target = _goto(store, grammar, place, scanned)
            if target >= 0:
                live = live_bytes(store, canon, _start_after(store, grammar, target, scanned))
                low &= load_i64(live) & ~inside_low
                high &= load_i64(live + 8) & ~inside_high
                found = first_of_both(store, grammar, packed, low, high)
                if found != NO_BYTE:
                    return found
    if place == INSIDE_PLACE or is_bare(packed) or load_i64(canon.may_end + split * 8) == 0:
        return NO_BYTE
    return MAY_STOP if _may_stop(store, grammar, packed) else NO_BYTE


@inline
def is_safe(store, grammar, canon, packed, split):
    """Whether `safe_byte` finds something for an end."""
    return safe_byte(store, grammar, canon, packed, split) != NO_BYTE
