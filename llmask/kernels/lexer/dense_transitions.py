"""Dense transitions: rows of 256 entries, one for each byte, so that a step of a walk is one load.

A cache of the transition table, which has an entry for each byte class. A dense row of 1 KB for every state made 49 MB
for 400 schemas, so only states that a walk visits have one, and all are dropped together, between walks, when they are
many.

In: lexer states. Out: entries. Cost: a step 1 ns, a first step 15 ns.
"""

from ..machine.jit import inline, kernel
from ..machine.records import Kind
from ..regex.class_maps import class_size, first_of_class, n_classes, next_of_class
from ..tables.memory import exceed, fill_bytes, reserve, spend
from ..tables.store_layout import LIMIT_WALKED
from .states import DEAD, next_state

WIDE_BYTES = 40  # a state with more live bytes than this walks the depth-first layout
MANY_BYTES = 8  # of a class that is worth a look before the small ones
MOST_DENSE_ROWS = 4096  # kept, 1 KB each
DENSE_ENTRIES = 256  # of a row, int32
DENSE_BYTES = 4 * DENSE_ENTRIES
NARROW, WIDE = 1, 2  # what is known of a state


class DenseEntry(Kind):
    """Entries of dense rows; a finished state is stored as a negative number."""

    UNKNOWN = 0
    DEAD = 1
    FIRST = 2  # of numbers of dense rows


@kernel
def is_wide(store, state):
    """Whether many bytes lead on from a state."""
    known = store.states[state].wide
    if known != 0:
        return known == WIDE
    class_map = store.states[state].map
    live = 0
    left = 256
    for least in (MANY_BYTES, 1):  # large classes first: they decide on most states, and no other transition is built
        byte = 0
        for number in range(n_classes(store, class_map)):
            if live > WIDE_BYTES or live + left <= WIDE_BYTES:
                break
            byte = first_of_class(store, class_map, number, byte)
            n = class_size(store, class_map, byte)
            if (n >= MANY_BYTES) == (least == MANY_BYTES):
                left -= n
                if next_state(store, state, byte) != DEAD:
                    live += n
    if store.exceeded == 0:
        store.states[state].wide = WIDE if live > WIDE_BYTES else NARROW
    return live > WIDE_BYTES


@inline
def dense_row(store, state):
    """Number of the dense row of a state; makes an empty one."""
    dense = store.states[state].dense - 1
    return dense if dense >= 0 else _new_dense_row(store, state)


@kernel
def _new_dense_row(store, state):
    dense = store.n_dense
    rows = reserve(store.dense_rows, DENSE_ENTRIES * (dense + 1))
    fill_bytes(rows.address + dense * DENSE_BYTES, DENSE_BYTES, 0)
    reserve(store.dense_states, dense + 1)[dense] = state
    store.n_dense = dense + 1
    store.states[state].dense = dense + 1
    return dense


@inline
def forget_dense_rows(store):
    """Drop all dense rows when they are many; called between walks only."""
    if store.n_dense > MOST_DENSE_ROWS:
        for dense in range(store.n_dense):
            store.states[store.dense_states[dense]].dense = 0
        store.n_dense = 0


@inline
def dense_state(store, dense):
    return store.dense_states[dense]


@inline
def dense_step(store, dense, byte):
    """Entry of a dense row: DenseEntry.DEAD, DenseEntry.FIRST + row, or a finished state as a negative number."""
    entry = store.dense_rows[dense * DENSE_ENTRIES + byte]
    return entry if entry != DenseEntry.UNKNOWN else expand(store, dense, byte)


@kernel
def expand(store, dense, byte):
    """Look an entry up in the transition table, building it there; DenseEntry.DEAD once a limit is reached.

    The entries of all bytes of the same class are written: one at a time, a string body asked 190 times.
    """
    state = dense_state(store, dense)
    spend(store, 4)
    target = next_state(store, state, byte)
    if store.exceeded != 0:
        return DenseEntry.DEAD
    if target == DEAD:
        entry = DenseEntry.DEAD
    elif store.states[target].finished != 0:
        entry = -target
    else:
        entry = dense_row(store, target) + DenseEntry.FIRST
    rows = store.dense_rows
    class_map = store.states[state].map
    other = byte
    while True:
        rows[dense * DENSE_ENTRIES + other] = entry
        other = next_of_class(store, class_map, other)
        if other == byte:
            return entry


@inline
def check_walked(store):
    """Meet the limit of a walk."""
    if store.walked > store.max_walked:
        exceed(store, LIMIT_WALKED)
