"""Numbers of masks: equal numbers are equal masks, so that who keeps a mask on a device need not send it again.

A mask is a function of what its configuration keeps (kernels/mask/assemble.py): that of a lexer state, crossing tokens
or a mask of its own, named tokens, ends. Inside a string one mask follows itself for many tokens.

In: tables and the cell of a sequence. Out: a number. Cost: 0.5 us; 4 us for a configuration that is new.
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import string_at
from itertools import count
from operator import itemgetter
from struct import Struct
from typing import TYPE_CHECKING, Any

from ..kernels.lexer.states import DEAD
from ..kernels.machine.records import DECLARED, Record
from ..kernels.mask.assemble import HAS_NAMED, KIND_BITS
from ..kernels.mask.cell import CELL_CONFIGURATION, CELL_FILTER, CELL_STOPS, NO_FILTER
from ..kernels.mask.configurations import ENDED
from ..kernels.tables.kinds import MaskKind

if TYPE_CHECKING:
    from array import array

    from ..kernels.table import Table
    from ..store.generation import Generation
    from ..store.store import Store

Parts = tuple[int, ...]


def field_reader(name: str, *fields: str) -> Callable[[Table, int], Any]:
    """What reads some fields of a record by its number, in a tenth of the time that a view takes."""
    slot, declared = DECLARED[name]
    assert isinstance(declared, Record)
    wanted = itemgetter(*map(declared.names.index, fields))
    unpack, n_bytes = Struct(f"{declared.n_fields}i").unpack, declared.n_bytes
    return lambda table, number: wanted(unpack(string_at(table.slots[slot] + number * n_bytes, n_bytes)))


_CONFIGURATION = field_reader(
    "configurations", "mask_kind", "accepts", "mask", "first", "n", "first_named", "n_named", "state"
)
_STATE = field_reader("states", "anonymous", "mask_kind", "mask", "n_tokens")
NOTE = "mask numbers"  # name among the notes of a generation
_numbers = count(1)


def mask_number(store: Store, generation: Generation, cell: array[int]) -> int:
    """The number of the mask of a cell; a new one where its mask is not there, or not the grammar's alone."""
    if cell[CELL_FILTER] != NO_FILTER or cell[CELL_STOPS]:
        return next(_numbers)
    known: dict[int | Parts, int] = generation.notes.setdefault(NOTE, {})
    configuration = cell[CELL_CONFIGURATION]
    number = known.get(configuration)
    if number is None:
        parts = _parts(store.table, generation.table, configuration)
        number = next(_numbers)
        if parts is not None:
            number = known[configuration] = known.setdefault(parts, number)
    return number


def _parts(store: Table, grammar: Table, configuration: int) -> Parts | None:
    """What the mask of a configuration is put together from; None where it is not there."""
    kind, accepts, mask, first, n, first_named, n_named, state = _CONFIGURATION(grammar, configuration)
    if kind == MaskKind.NONE:
        return None
    named = (first_named, n_named) if kind & HAS_NAMED else ()
    if kind & KIND_BITS == MaskKind.WORDS:
        return (kind, accepts, mask, *named)
    base: Parts = ()
    if configuration != ENDED and state != DEAD:
        base = _STATE(store, _STATE(store, state)[0])[1:]
    return (kind, accepts, *base, first, n, *named)
