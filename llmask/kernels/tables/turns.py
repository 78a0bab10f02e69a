"""Turns: a spin lock, by which one call at a time writes a store's table and the tables of grammars over it.

An operation of Python's has the store's lock (llmask/store/lock.py), which also keeps together what belongs together:
several operations, and what is read of the tables between them. A step of a sequence is one call, needs nothing
afterwards, and mostly takes less time than that lock. So it builds without it, if nobody writes at the moment, and if
little has to be built; else it is left to an operation. Both kinds have the table's own turn while they write.

In: a store's table, and who writes: LOCKED, FORKING, or the address of a cell. Out: nothing. Cost: 10 ns.
"""

from ..machine.atomics import exchange, load_acquire, store_release, yield_processor
from ..machine.jit import inline, kernel
from .memory import address_of
from .store_layout import STORE

LOCKED = 1  # an operation, which has the store's lock
FORKING = 2  # a thread that has the store's lock, and forks
TURN_LOOKS = 1000


@inline
def _writer(store):
    """Address of the number that says who writes."""
    return address_of(store) + 8 * STORE.writer


@inline
def try_turn(store, writer):
    """Take the turn if nobody has it; 1 or 0."""
    return exchange(_writer(store), 0, writer)


@kernel
def wait_for_turn(store):
    """Take the turn for an operation: a step gives it back in a moment. 0: this thread forks, and has it already."""
    looks = 0
    while try_turn(store, LOCKED) == 0:
        if load_acquire(_writer(store)) == FORKING:
            return 0
        looks += 1
        if looks > TURN_LOOKS:
            yield_processor()
    return 1


@inline
def end_turn(store):
    """Give the turn back; what was written is seen by whoever takes it."""
    store_release(_writer(store), 0)
