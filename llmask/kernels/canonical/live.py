"""Which bytes a lexer state takes, and the byte that ended the word last in a split state.

A byte costs a derivative the first time. So a lexer state that is asked for the first time is asked for one byte, the
one that ended the word in the same split state before; only where that does not go on all of them are looked up, one of
each class, and kept as bits.

In: a lexer state, a split state. Out: bits, bytes. Cost: 5 ns where they are known; some us the first time.
"""

from ..lexer.states import DEAD, next_state
from ..machine.jit import inline, kernel
from ..machine.raw import load_u32
from ..regex.class_maps import class_of
from ..tables.memory import block, ensure, fill_bytes, load_i64, load_u8, store_i32, store_i64, store_u8
from .slots import LIKELY, LIVE_ASCII, LIVE_HIGH, ROOM

NO_BYTE = 0  # otherwise a byte + 1
LIVE_FIELDS = 3


@inline
def _find_live(store, canon, words, state, first):
    """Write two words: which of 128 bytes from `first` on a lexer state takes; each class of bytes is asked once."""
    class_map = store.states[state].map
    known = ensure(canon, ROOM, 256)
    fill_bytes(known, 256, 0)
    for word in range(2):
        bits = 0
        for bit in range(64):
            byte = first + 64 * word + bit
            byte_class = class_of(store, class_map, byte)
            if load_u8(known + byte_class) == 0:
                store_u8(known + byte_class, 1 if next_state(store, state, byte) == DEAD else 2)
            bits |= (load_u8(known + byte_class) >> 1) << bit
        store_i64(words + 8 * word, bits)


@inline
def _entry(canon, slot, state):
    return ensure(canon, slot, (state + 1) * LIVE_FIELDS * 8) + state * LIVE_FIELDS * 8


@kernel
def _live(store, canon, slot, state, first):
    """Address of two words: which of 128 bytes from `first` on a lexer state takes without ending a lexeme before."""
    at = _entry(canon, slot, state)
    if load_i64(at) == 0:
        _find_live(store, canon, at + 8, state, first)
        if store.exceeded == 0:
            store_i64(at, 1)
    return at + 8


@inline
def live_ascii(store, canon, state):
    """Address of two words: the ASCII bytes that a lexer state takes without ending a lexeme before them."""
    return _live(store, canon, LIVE_ASCII, state, 0)


@inline
def is_known(canon, state):
    """Whether `live_ascii` was found for a lexer state."""
    return load_i64(_entry(canon, LIVE_ASCII, state)) != 0


@kernel
def likely_byte(store, canon, state, split):
    """One of the last bytes that ended the word in a split state, + 1, that stays inside of the lexeme; or NO_BYTE."""
    likely = load_u32(ensure(canon, LIKELY, (split + 1) * 4) + split * 4)
    while likely != 0:
        target = next_state(store, state, (likely & 0xFF) - 1)
        if target != DEAD and store.states[target].finished == 0:
            return likely & 0xFF
        likely >>= 8
    return NO_BYTE


@inline
def note_likely(canon, split, found):
    """Note a byte + 1 that ended the word in a split state, none of those that are known; the oldest is forgotten."""
    likely = block(canon, LIKELY) + split * 4
    store_i32(likely, load_u32(likely) << 8 | found)


@kernel
def live_word(store, canon, state, behind, word):
    """Bits of the bytes 64 * `word` and on that may come next, and of some that turn out not to.

    `behind` see `state_after_lexeme`.
    """
    slot, first, at = (LIVE_HIGH, 128, 8 * word - 16) if word >= 2 else (LIVE_ASCII, 0, 8 * word)
    bits = load_i64(_live(store, canon, slot, state, first) + at)
    return bits if behind == state else bits | load_i64(_live(store, canon, slot, behind, first) + at)
