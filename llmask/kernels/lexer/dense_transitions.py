"""Hot rows: the transitions of a lexer state expanded to 256 entries, so that a step of a walk is one load.

They are a cache of the transition table: 1 KB for every state made 49 MB for 400 schemas, so only states that a walk
visits have one, and all are dropped together, between walks, when they are many.

In: lexer states. Out: entries. Cost: a step 1 ns, a first step 15 ns.
"""

from __future__ import annotations

from ..machine.jit import kernel, never_inline
from ..regex.class_maps import class_of, class_size, next_of_class
from ..tables.memory import EXCEEDED, block, ensure, fill_bytes, get_i32, load_i32, put_i32, spend, store_i32
from ..tables.store_layout import HOT_ROWS, HOT_STATES, N_HOT
from .states import DEAD, S_FINISHED, S_HOT, S_MAP, S_WIDE, next_state, put_state_field, state_field

WIDE_BYTES = 40  # a state with more live bytes than this walks the depth-first layout
MANY_BYTES = 8  # of a class that is worth a look before the small ones
HOT_AT_MOST = 4096  # expanded rows kept, 1 KB each
HOT_BYTES = 1024  # an expanded row: 256 entries of int32
HOT_UNKNOWN = 0  # entries of an expanded row; a finished state is stored as a negative number
HOT_DEAD = 1
HOT_FIRST = 2


@kernel
def is_wide(store, state):
    """Whether many bytes lead on from a state."""
    never_inline()
    known = state_field(store, state, S_WIDE)
    if known != 0:
        return known == 2
    class_map = state_field(store, state, S_MAP)
    live = 0
    left = 256
    for least in (MANY_BYTES, 1):  # large classes first: they decide on most states, and no other transition is built
        done = 0
        for byte in range(256):
            if live > WIDE_BYTES or live + left <= WIDE_BYTES:
                break
            if class_of(store, class_map, byte) != done:
                continue  # a byte of a class that was seen
            done += 1
            n = class_size(store, class_map, byte)
            if (n >= MANY_BYTES) == (least == MANY_BYTES):
                left -= n
                if next_state(store, state, byte) != DEAD:
                    live += n
    if store[EXCEEDED] == 0:
        put_state_field(store, state, S_WIDE, 2 if live > WIDE_BYTES else 1)
    return live > WIDE_BYTES


@kernel
def hot_row(store, state):
    """Number of the expanded row of a state; makes an empty one."""
    hot = state_field(store, state, S_HOT) - 1
    return hot if hot >= 0 else _new_hot_row(store, state)


@kernel
def _new_hot_row(store, state):
    never_inline()
    hot = store[N_HOT]
    rows = ensure(store, HOT_ROWS, (hot + 1) * HOT_BYTES)
    fill_bytes(rows + hot * HOT_BYTES, HOT_BYTES, 0)
    put_i32(ensure(store, HOT_STATES, (hot + 1) * 4), hot, state)
    store[N_HOT] = hot + 1
    put_state_field(store, state, S_HOT, hot + 1)
    return hot


@kernel
def forget_hot_rows(store):
    """Drop all expanded rows when they are many; called between walks only."""
    if store[N_HOT] > HOT_AT_MOST:
        for hot in range(store[N_HOT]):
            put_state_field(store, get_i32(block(store, HOT_STATES), hot), S_HOT, 0)
        store[N_HOT] = 0


@kernel
def hot_state(store, hot):
    return get_i32(block(store, HOT_STATES), hot)


@kernel
def hot_step(store, hot, byte):
    """Entry of an expanded row: HOT_DEAD, HOT_FIRST + row, or a finished state as a negative number."""
    entry = load_i32(block(store, HOT_ROWS) + hot * HOT_BYTES + byte * 4)
    return entry if entry != HOT_UNKNOWN else expand(store, hot, byte)


@kernel
def expand(store, hot, byte):
    """Look an entry up in the transition table, building it there; HOT_DEAD once a limit is reached.

    The entries of all bytes of the same class are written: one at a time, a string body asked 190 times.
    """
    never_inline()
    state = hot_state(store, hot)
    spend(store, 4)
    target = next_state(store, state, byte)
    if store[EXCEEDED] != 0:
        return HOT_DEAD
    if target == DEAD:
        entry = HOT_DEAD
    elif state_field(store, target, S_FINISHED) != 0:
        entry = -target
    else:
        entry = hot_row(store, target) + HOT_FIRST
    row = block(store, HOT_ROWS) + hot * HOT_BYTES
    class_map = state_field(store, state, S_MAP)
    other = byte
    while True:
        store_i32(row + other * 4, entry)
        other = next_of_class(store, class_map, other)
        if other == byte:
            return entry
