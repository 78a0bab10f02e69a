"""A batch of known masks that several threads write together, without Python between them.

    control, int64[CONTROL_FIELDS], one a process; its owner lets one batch in at a time (llmask/matching/workers.py)

    BATCH      number of the batch, counted twice: odd while it is open to helpers
    SEATS      helpers that may still join
    HELPERS    helpers that look at the fields below right now
    TAKEN      matchers that some thread has taken
    the rest   what to write where

The caller opens the batch, works on it, closes it and waits until HELPERS is 0, after which nobody reads its arrays.
A helper counts itself in before it looks whether the batch is open; both sides use sequentially consistent additions,
so one of them sees the other. Helpers stay awake for a while after a batch: waking a thread takes 40 us, in which the
caller alone writes 150 masks.

In: addresses. Out: masks and statuses. Cost: 1 us besides the masks.
"""

from ..machine.atomics import fetch_add, load_acquire, yield_processor
from ..machine.jit import inline, kernel
from ..machine.records import Kind
from ..tables.kinds import Fill
from ..tables.memory import as_table, fill_bytes, load_i64, store_i8
from .assemble import fill
from .cell import ASK, FILTER, LIST, NO_FILTER, CellField, allows_all, apply_filter, write_list


class BatchField(Kind):
    """Fields of what threads share, int64 each; those that several write have a cache line of their own."""

    BATCH = 0
    SEATS = 8
    HELPERS = 16
    TAKEN = 24
    N_MATCHERS = 32
    CELLS = 33  # address of int64[n]
    ROWS = 34  # address of int64[n]
    MASK = 35  # address of int32[n_rows, row_words]
    N_ROWS = 36
    ROW_WORDS = 37
    STATUSES = 38  # address of int8[n]


CONTROL_FIELDS = 40

TAKEN_AT_ONCE = 8  # matchers that a thread takes at a time: few enough to share out, enough to rarely meet
LOOKS_BEFORE_YIELD = 10_000


@inline
def fill_row(cell, mask, n_rows, row_words, row):
    """Write the mask of a matcher into a row of the bitmask at address `mask`; bits beyond the vocabulary become 0.

    Where it is missing, the cell gets the row.
    """
    fields = as_table(cell)
    store, grammar = as_table(fields[CellField.STORE]), as_table(fields[CellField.GRAMMAR])
    n_words = store.n_words
    if row < 0 or row >= n_rows or row_words < n_words:
        return Fill.SHAPE
    filtered = fields[CellField.FILTER]
    if filtered == ASK:
        return Fill.MISS
    # the mask of the grammar, or what the cell has instead
    words = mask + row * row_words * 4
    if filtered == LIST:
        write_list(store, cell, words)
        status = Fill.ALL
    else:
        allowed = fields[CellField.WORDS] if filtered == FILTER else 0
        status = fill(store, grammar, fields[CellField.CONFIGURATION], words, allowed)
    if row_words > n_words:
        fill_bytes(words + n_words * 4, (row_words - n_words) * 4, 0)
    if status < 0:
        fields[CellField.ROW] = words
        fields[CellField.ROW_WORDS] = row_words
        return status
    # narrowed by the cell
    if filtered == FILTER:
        apply_filter(store, grammar, cell, words)
    if filtered != NO_FILTER and status == Fill.ALL and not allows_all(store, words):
        status = Fill.SOME
    if fields[CellField.STOPS] != 0:
        return Fill.STOPS
    return Fill.CUT if fields[CellField.IS_CUT] != 0 else status


@inline
def _add(control, field, value):
    """Add to a field that several threads add to; returns what was there before."""
    return fetch_add(control + 8 * field, value)


@kernel
def work_on(control):
    """Take matchers of the open batch and write their masks until none is left."""
    fields = as_table(control)
    n, cells, rows = fields[BatchField.N_MATCHERS], fields[BatchField.CELLS], fields[BatchField.ROWS]
    mask, n_rows, row_words = fields[BatchField.MASK], fields[BatchField.N_ROWS], fields[BatchField.ROW_WORDS]
    statuses = fields[BatchField.STATUSES]
    while True:
        first = _add(control, BatchField.TAKEN, TAKEN_AT_ONCE)
        if first >= n:
            return
        for i in range(first, min(first + TAKEN_AT_ONCE, n)):
            row = load_i64(rows + 8 * i)
            store_i8(statuses + i, fill_row(load_i64(cells + 8 * i), mask, n_rows, row_words, row))


@kernel
def share_batch(control, seats):
    """Open the batch whose fields are written, work on it, and return when every mask is written."""
    fields = as_table(control)
    fields[BatchField.TAKEN] = 0
    fields[BatchField.SEATS] = seats
    if seats > 0:
        _add(control, BatchField.BATCH, 1)
    work_on(control)
    if seats > 0:
        _add(control, BatchField.BATCH, 1)
        looks = 0
        while _add(control, BatchField.HELPERS, 0) != 0:
            looks += 1
            if looks > LOOKS_BEFORE_YIELD:
                yield_processor()


@kernel
def help_with_batches(control, looks):
    """Work on every batch that opens, until none has for this many looks."""
    idle = 0
    seen = 0
    while idle < looks:
        batch = load_acquire(control + 8 * BatchField.BATCH)
        if batch & 1 == 0 or batch == seen:
            idle += 1
            continue
        seen = batch
        _add(control, BatchField.HELPERS, 1)
        if _add(control, BatchField.BATCH, 0) == batch and _add(control, BatchField.SEATS, -1) > 0:
            work_on(control)
        _add(control, BatchField.HELPERS, -1)
        idle = 0
