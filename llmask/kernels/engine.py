"""The engine's doors: what Python calls.

    build        everything that writes, one operation a call, under the store's lock
    step_mask    as fill_mask, and build what is missing, if it is little             no lock
    step_token   as accept, the same                                                  no lock
    fill_mask    write a known mask                                  no lock
    fill_masks   write the known masks of a batch                    no lock
    help_with_masks   what other threads run meanwhile
    fill_drafts  write the known masks after the tokens of a tree    no lock
    accept       configuration after a known token                   no lock
    free_table   give a dead table's memory back

Readers take a matcher's *cell*: its store's table, its grammar's table, its configuration, and what is to be taken out
of its masks (mask/cell.py).

In: addresses of tables and cells. Out: numbers. Cost: 0.1 us a call and the work.

All writing operations share one door, because every door that reaches the derivatives would compile them again.
Status codes are negative; Python turns them into errors.
"""

from .canonical.review import review_cell
from .canonical.steps import step_and_review
from .finish.operations import run as run_finish
from .lexer.dense_transitions import forget_dense_rows
from .lexer.states import MISS, init_states
from .machine.atomics import exchange
from .machine.jit import door, inline, kernel
from .machine.raw import address_of_code, call_at
from .mask.advance import known_after, take_token
from .mask.assemble import build_mask
from .mask.batch import CONTROL_FIELDS, BatchField, fill_row, help_with_batches, share_batch
from .mask.cell import ASK, CellField
from .mask.draft_tree import walk_drafts
from .mask.operations import run as run_mask
from .regex.operations import run as run_regex
from .tables.kinds import Fill
from .tables.memory import allocate, as_table, copy_bytes, ensure, free_blocks
from .tables.operations import Operation
from .tables.store_layout import STORE
from .tables.turns import end_turn, try_turn, wait_for_turn

NO_TOKEN = -1
VARIANT_NEEDED = -101  # `Builder.run` tells it for the code NEEDS_VARIANT: see store/generation.py
LIMIT_REACHED = -100  # a budget was spent; REACHED says which

SIGNATURE = "int64(int64, int64, int64, int64, int64, int64, int32[::1])"


@inline
def _begin(store, grammar, ticks):
    """Set the budgets of a call."""
    store.scratch_top = 0
    store.walked = 0
    store.searched = 0
    store.work = 0
    store.max_work = ticks
    grammar.work = 0
    grammar.max_work = ticks
    store.max_nodes = store.n_nodes + store.nodes_per_call
    store.max_states = store.state_keys.count + store.states_per_call
    forget_dense_rows(store)


@inline
def _take_exceeded(store, grammar):
    """Code of the limit that the call has reached, 0: none."""
    code = store.exceeded
    if code == 0:
        code = grammar.exceeded
    store.exceeded = 0
    grammar.exceeded = 0
    return code


@kernel
def step_alone(cell, token):
    """Build a missing mask and write it into the row that the cell has of it, or take a token, without the lock.

    Returns what `fill_mask`, or `accept`, returns when nothing is missing. MISS, which is Fill.MISS, too: it was not
    done, because others write, or it needs more than a little work, or tables have to be exchanged, or rules written.
    """
    fields = as_table(cell)
    store, grammar = as_table(fields[CellField.STORE]), as_table(fields[CellField.GRAMMAR])
    row = fields[CellField.ROW]
    fields[CellField.ROW] = 0
    if token == NO_TOKEN and (row == 0 or fields[CellField.FILTER] == ASK):
        return MISS
    if store.quick_work == 0 or grammar.bytes_used > grammar.room or try_turn(store, cell) == 0:
        return MISS
    _begin(store, grammar, store.quick_work)
    result = 0
    if token == NO_TOKEN:
        build_mask(store, grammar, fields[CellField.CONFIGURATION])
    else:
        result = take_token(store, grammar, fields[CellField.CONFIGURATION], token)
    exceeded = _take_exceeded(store, grammar)
    end_turn(store)
    if exceeded != 0:
        return MISS
    if token == NO_TOKEN:
        return fill_row(cell, row, 1, fields[CellField.ROW_WORDS], 0)
    return result


@door("int64(int64, int64, int64)", group="engine")
def change_writer(store_address, before, after):
    """Make `after` the one that writes a store's tables if it is `before` (0: nobody); 1 if it was, else 0."""
    return exchange(store_address + 8 * STORE.writer, before, after)


@door(SIGNATURE, group="engine")
def build(operation, store_address, grammar_address, a, b, c, data):
    """Run one writing operation (tables/operations.py), or return LIMIT_REACHED. The caller holds the lock."""
    store = as_table(store_address)
    grammar = as_table(grammar_address)
    has_taken = wait_for_turn(store)
    _begin(store, grammar, store.work_per_call)
    if operation < Operation.LOAD_RULES:
        result = run_regex(store, grammar, operation, a, b, c, data)
        if operation == Operation.INIT_STORE:
            init_states(store)
            store.step_code = address_of_code(step_alone)
    elif operation < Operation.BOUNDS:
        result = run_mask(store, grammar, operation, a, b, c, data)
    elif operation < Operation.REVIEW:
        result = run_finish(store, grammar, operation, a, b, data)
    elif operation == Operation.REVIEW:
        result = review_cell(store, grammar, as_table(grammar.canon), a)
    else:
        result = step_and_review(store, grammar, as_table(grammar.canon), a, b)
    store.spent = store.work if store_address == grammar_address else store.work + grammar.work
    store.reached = _take_exceeded(store, grammar)
    if store.reached != 0:
        result = LIMIT_REACHED
    if has_taken != 0:
        end_turn(store)
    return result


@door("int64(int64, int32[:, ::1], int64)", group="engine")
def fill_mask(cell, mask, row):
    """Write the mask of a matcher (the address of its cell) into `mask[row]`, or Fill.MISS."""
    return fill_row(cell, mask.ctypes.data, mask.shape[0], mask.shape[1], row)


@door("int64(int64, int32[:, ::1], int64)", group="engine")
def step_mask(cell, mask, row):
    """As `fill_mask`, and what is missing is built if `step_alone` does it."""
    status = fill_row(cell, mask.ctypes.data, mask.shape[0], mask.shape[1], row)
    if status != Fill.MISS:
        return status
    return call_at(as_table(as_table(cell)[CellField.STORE]).step_code, cell, NO_TOKEN)


@door("void(int64, int64[::1], int64[::1], int32[:, ::1], int8[::1], int64)", group="engine")
def fill_masks(control, cells, rows, mask, statuses, helpers):
    """Write the masks of many matchers, with at most `helpers` threads more; `statuses` gets what `fill_mask` returns.

    `control` is the address of int64[CONTROL_FIELDS], see mask/batch.py.
    """
    fields = as_table(control)
    fields[BatchField.N_MATCHERS], fields[BatchField.CELLS] = cells.shape[0], cells.ctypes.data
    fields[BatchField.ROWS], fields[BatchField.STATUSES] = rows.ctypes.data, statuses.ctypes.data
    fields[BatchField.MASK] = mask.ctypes.data
    fields[BatchField.N_ROWS], fields[BatchField.ROW_WORDS] = mask.shape[0], mask.shape[1]
    share_batch(control, helpers)


@door("int64(int64, int64[::1], int64[::1], int64[::1], int64[::1], int32[:, ::1], int64)", group="engine")
def fill_drafts(cell, next_token, next_sibling, tokens, state, mask, row):
    """Write the masks after each token of a tree of drafts, see mask/draft_tree.py; returns what ends the walk."""
    return walk_drafts(cell, next_token, next_sibling, tokens, state, mask, row)


@door("int64()", group="engine")
def new_control():
    """Address of the fields of shared batches; never given back, as threads may look at them until the process ends."""
    return allocate(CONTROL_FIELDS * 8)


@door("void(int64, int64)", group="engine")
def help_with_masks(control, looks):
    """Help with batches until none has opened for `looks` looks."""
    help_with_batches(control, looks)


@inline
def _known_after(cell, token):
    fields = as_table(cell)
    store, grammar = as_table(fields[CellField.STORE]), as_table(fields[CellField.GRAMMAR])
    return known_after(store, grammar, fields[CellField.CONFIGURATION], token)


@door("int64(int64, int64)", group="engine")
def accept(cell, token):
    """Configuration of a matcher after a token, REFUSED, or MISS where something is not built yet."""
    return _known_after(cell, token)


@door("int64(int64, int64)", group="engine")
def step_token(cell, token):
    """As `accept`, and what is missing is built if `step_alone` does it."""
    reached = _known_after(cell, token)
    if reached != MISS:
        return reached
    return call_at(as_table(as_table(cell)[CellField.STORE]).step_code, cell, token)


@door("int64(int64, int64)", group="engine")
def is_accepting(grammar_address, configuration):
    """1 when the document may end in a configuration."""
    return as_table(grammar_address).configurations[configuration].accepts


@door("int64(int64, int64)", group="engine")
def names_tokens(grammar_address, configuration):
    """1 when a token may come next that the grammar names by its id."""
    return 1 if as_table(grammar_address).configurations[configuration].naming != 0 else 0


@door("void(int64, int64[::1], int64[::1])", group="engine")
def free_table(table_address, block_slots, pool_slots):
    """Give back all memory of a table that nobody uses any more.

    `block_slots` hold blocks; `pool_slots` are pairs (slot of a list of addresses, slot of its length).
    """
    free_blocks(as_table(table_address), block_slots, pool_slots)


@door("void(int64, int64, int64, int64)", group="engine")
def put_block(table_address, slot, source, n_bytes):
    """Copy `n_bytes` from an address into a fresh block."""
    copy_bytes(ensure(as_table(table_address), slot, n_bytes), source, n_bytes)
