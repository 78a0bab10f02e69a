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

from __future__ import annotations

from .canonical.review import review_cell
from .canonical.steps import step_and_review
from .finish.operations import FIRST_FINISHING, finish
from .lexeme_masks.slices import count_characters, write_rest
from .lexer.dense_transitions import forget_hot_rows
from .lexer.states import MISS, init_states
from .machine.atomics import exchange
from .machine.calls import address_of_code, call_at
from .machine.jit import door, kernel, never_inline
from .mask.advance import known_after, live_bytes, take_bytes, take_token, walk_all
from .mask.assemble import FILL_MISS, build_mask
from .mask.batch import (
    CELLS,
    CONTROL_FIELDS,
    MASK,
    N_MATCHERS,
    N_ROWS,
    ROW_WORDS,
    ROWS,
    STATUSES,
    fill_row,
    help_with_batches,
    share_batch,
)
from .mask.cell import ASK, CELL_CONFIGURATION, CELL_FILTER, CELL_GRAMMAR, CELL_ROW, CELL_ROW_WORDS, CELL_STORE
from .mask.configurations import (
    C_ACCEPTS,
    C_NAMING,
    ENDED,
    REFUSED,
    configuration_field,
    first_configuration,
    init_configurations,
)
from .mask.draft_tree import walk_drafts
from .mask.open_rules import close_lexeme, ending, nodes_of_set, open_rules, trace_bytes
from .parser.load_rules import load_rules
from .parser.token_terminals import named_ranges
from .regex.automata import add_automaton, put_numbers
from .regex.constructors import add_literal, init_nodes, make_bytes, make_concat, make_not, make_repeat, make_tokens
from .regex.derivatives import derivative, matches
from .regex.emptiness import is_empty_in_parts
from .regex.extensions import extensions
from .regex.nodes import NULLABLE, add_flag, has_flag, push
from .regex.openness import is_open
from .regex.set_operations import make_and, make_union
from .regex.word_trees import make_words
from .tables.grammar_layout import CANON, ROOM, VARIANTS
from .tables.interning import MISSING, intern_list, list_item, list_length, map_get, map_put
from .tables.memory import (
    BYTES_USED,
    EXCEEDED,
    MAX_WORK,
    WORK,
    allocate,
    as_table,
    block,
    copy_bytes,
    ensure,
    free_block,
    free_retired,
    get_i64,
    load_i64,
    store_i64,
)
from .tables.store_layout import (
    MAX_NODES,
    MAX_STATES,
    N_NODES,
    N_VOCAB,
    NODES_PER_CALL,
    QUICK_WORK,
    REACHED,
    SCRATCH,
    SCRATCH_TOP,
    SEARCHED,
    SPENT,
    STATE_KEYS,
    STATES_PER_CALL,
    STEP_CODE,
    TOKEN_SETS,
    WALKED,
    WORK_PER_CALL,
    WRITER,
)
from .tables.turns import end_turn, try_turn, wait_for_turn
from .values.texts import init_texts
from .values.variants import DERIVES_NOTHING, init_sets, is_productive, late_key

# operations of `build`
INIT_STORE = 0
BYTE_SET = 1  # data: 8 words                       -> node
LITERAL = 2  # data: bytes                          -> node
CONCAT = 3  # data: nodes                           -> node
UNION = 4  # data: nodes                            -> node
INTERSECT = 5  # data: nodes                        -> node
COMPLEMENT = 6  # a: node                           -> node
EXCEPT = 42  # a: node; data: nodes                 -> node: what `a` matches and none of them
REPEAT = 7  # a: node, b: low, c: high              -> node
PUT_NUMBERS = 41  # a: place or -1, b: how many in all; data: some of an automaton, see regex/automata.py -> place
DFA = 8  # a: classes, b: states, c: place of its numbers; data: class of each byte -> node
IS_NULLABLE = 9  # a: node                          -> 0 or 1
IS_EMPTY = 10  # a: node; grammar: keeps the search    -> 0 or 1
DERIVATIVE = 11  # a: node, b: byte                 -> node
MATCHES = 12  # a: node; data: bytes                -> 0 or 1
LOAD_RULES = 13  # data: see parser/load_rules.py               -> first configuration or NOTHING_DERIVED
LOAD_MORE = 22  # data: rules behind those loaded         -> 0
PUT_VARIANT = 23  # a: rule, b: set of texts, c: rule without those texts or -1, see variants.py
IS_OPEN = 25  # a: node                             -> 0 or 1, see openness.py
TOKENS = 35  # data: see parser/token_terminals.py              -> node that stands for these tokens
TRACE = 30  # a: configuration; data: see mask/open_rules.py    -> configuration or REFUSED
LEXEMES_OF = 31  # a: set of lexemes; data: their nodes to write -> how many
ENDING = 32  # a: configuration                     -> set of the lexemes that may end
OPEN_RULES = 33  # a: configuration, b: 1 with those expected; data: rules to write -> how many, see mask/open_rules.py
CLOSE = 34  # a: configuration                      -> configuration where the lexeme has ended, or REFUSED
NAMED_RANGES = 28  # a: configuration; data: low, high of tokens that are named, to write -> how many numbers
PUT_LATE = 29  # a: number of a late skip, b: its state, see variants.py
EXTENSIONS = 26  # a, b: nodes; data: 257 flags to write -> 1 if decided, see extensions.py
WORDS = 38  # data: see regex/word_trees.py; grammar: keeps what is done  -> node or NOT_DONE
READ_LIST = 24  # a: lists of the grammar, b: list; data: items to write -> length of the list
BUILD_MASK = 14  # a: configuration                 -> 0
ACCEPT = 15  # a: configuration, b: token           -> configuration or REFUSED
ADVANCE = 16  # a: configuration; data: bytes       -> configuration or REFUSED (REPORT: position of the byte)
LIVE_BYTES = 17  # a: configuration; data: 256 flags to write -> number of bytes that may come next
COUNT_CHARACTERS = 18  # a: node; data: of each token how many, to write, see slices.py
WRITE_REST = 20  # data: mask; a: address of five numbers, see slices.py -> number of nodes
WALK_ALL = 19  # a: configuration                   -> trie nodes walked, for bench/walk.py
REVIEW = 39  # a: cell                             -> DONE or what is missing, see canonical/review.py
STEP_CANONICAL = 40  # a: cell, b: token            -> configuration, REFUSED or what is missing, see canonical/steps.py
MARK = 21  # a: node, b: flags of regex/nodes.py     -> 0
# from FIRST_FINISHING on: see finish/operations.py

NO_TOKEN = -1
VARIANT_NEEDED = -101  # `Builder.run` tells it for the code NEEDS_VARIANT: see compiled.Generation
LIMIT_REACHED = -100  # a budget was spent; REACHED says which

SIGNATURE = "int64(int64, int64, int64, int64, int64, int64, int32[::1])"


@kernel
def _push_all(store, data):
    never_inline()
    first = store[SCRATCH_TOP]
    for i in range(data.shape[0]):
        push(store, data[i])
    return first


@kernel
def _begin(store, grammar, ticks):
    """Set the budgets of a call."""
    store[SCRATCH_TOP] = 0
    store[WALKED] = 0
    store[SEARCHED] = 0
    store[WORK] = 0
    store[MAX_WORK] = ticks
    grammar[WORK] = 0
    grammar[MAX_WORK] = ticks
    store[MAX_NODES] = store[N_NODES] + store[NODES_PER_CALL]
    store[MAX_STATES] = store[STATE_KEYS + 3] + store[STATES_PER_CALL]
    forget_hot_rows(store)


@kernel
def _take_exceeded(store, grammar):
    """Code of the limit that the call has reached, 0: none."""
    code = store[EXCEEDED]
    if code == 0:
        code = grammar[EXCEEDED]
    store[EXCEEDED] = 0
    grammar[EXCEEDED] = 0
    return code


@kernel
def step_alone(cell, token):
    """Build a missing mask and write it into the row that the cell has of it, or take a token, without the lock.

    Returns what `fill_mask`, or `accept`, returns when nothing is missing. MISS, which is FILL_MISS, too: it was not
    done, because others write, or it needs more than a little work, or tables have to be exchanged, or rules written.
    """
    never_inline()
    store = as_table(load_i64(cell + 8 * CELL_STORE))
    grammar = as_table(load_i64(cell + 8 * CELL_GRAMMAR))
    row = load_i64(cell + 8 * CELL_ROW)
    store_i64(cell + 8 * CELL_ROW, 0)
    if token == NO_TOKEN and (row == 0 or load_i64(cell + 8 * CELL_FILTER) == ASK):
        return MISS
    if store[QUICK_WORK] == 0 or grammar[BYTES_USED] > grammar[ROOM] or try_turn(store, cell) == 0:
        return MISS
    _begin(store, grammar, store[QUICK_WORK])
    configuration = load_i64(cell + 8 * CELL_CONFIGURATION)
    result = 0
    if token == NO_TOKEN:
        build_mask(store, grammar, configuration)
    else:
        result = take_token(store, grammar, configuration, token)
    exceeded = _take_exceeded(store, grammar)
    end_turn(store)
    if exceeded != 0:
        return MISS
    if token == NO_TOKEN:
        return fill_row(cell, row, 1, load_i64(cell + 8 * CELL_ROW_WORDS), 0)
    return result


@door("int64(int64, int64, int64)", group="engine")
def change_writer(store_address, before, after):
    """Make `after` the one that writes a store's tables if it is `before` (0: nobody); 1 if it was, else 0."""
    return exchange(store_address + 8 * WRITER, before, after)


@door(SIGNATURE, group="engine")
def build(operation, store_address, grammar_address, a, b, c, data):
    """Run one writing operation (see the list above), or return LIMIT_REACHED. The caller holds the lock."""
    store = as_table(store_address)
    grammar = as_table(grammar_address)
    has_taken = wait_for_turn(store)
    _begin(store, grammar, store[WORK_PER_CALL])
    result = 0
    if operation == BUILD_MASK:
        build_mask(store, grammar, a)
    elif operation == ACCEPT:
        result = take_token(store, grammar, a, b)
    elif operation == ADVANCE:
        result = take_bytes(store, grammar, a, data)
    elif operation == LITERAL:
        result = add_literal(store, data)
    elif operation == WORDS:
        result = make_words(store, grammar, data)
    elif operation == CONCAT:
        result = 1
        for i in range(data.shape[0] - 1, -1, -1):
            result = make_concat(store, data[i], result)
    elif operation == UNION:
        result = make_union(store, _push_all(store, data))
    elif operation == INTERSECT:
        result = make_and(store, _push_all(store, data))
    elif operation == COMPLEMENT:
        result = make_not(store, a)
    elif operation == EXCEPT:
        others = make_not(store, make_union(store, _push_all(store, data)))
        first = store[SCRATCH_TOP]
        push(store, a)
        push(store, others)
        result = make_and(store, first)
    elif operation == REPEAT:
        result = make_repeat(store, a, b, c)
    elif operation == BYTE_SET:
        result = make_bytes(store, _push_all(store, data))
    elif operation == DFA:
        result = add_automaton(store, a, b, c, data)
    elif operation == PUT_NUMBERS:
        result = put_numbers(store, a, b, data)
    elif operation == IS_NULLABLE:
        result = 1 if has_flag(store, a, NULLABLE) else 0
    elif operation == IS_EMPTY:
        result = 1 if is_empty_in_parts(store, grammar, a) else 0
    elif operation == IS_OPEN:
        result = 1 if is_open(store, a) else 0
    elif operation == EXTENSIONS:
        result = extensions(store, a, b, data)
    elif operation == DERIVATIVE:
        result = derivative(store, a, b)
    elif operation == MATCHES:
        result = 1 if matches(store, a, data) else 0
    elif operation == LOAD_RULES:
        init_texts(grammar)
        init_sets(grammar)
        result = load_rules(store, grammar, data)
        if result >= 0:
            init_configurations(grammar)
            result = first_configuration(store, grammar)
    elif operation == LOAD_MORE:
        load_rules(store, grammar, data)
    elif operation == PUT_VARIANT:
        if map_get(grammar, VARIANTS, (a << 32) | b) == MISSING:
            map_put(grammar, VARIANTS, (a << 32) | b, c if c >= 0 and is_productive(grammar, c) else DERIVES_NOTHING)
    elif operation == PUT_LATE:
        if map_get(grammar, VARIANTS, late_key(a)) == MISSING:
            map_put(grammar, VARIANTS, late_key(a), b)
    elif operation == TOKENS:
        first = _push_all(store, data)
        number = intern_list(store, TOKEN_SETS, block(store, SCRATCH), first, data.shape[0])
        result = make_tokens(store, number)
    elif operation == NAMED_RANGES:
        naming = configuration_field(grammar, a, C_NAMING)
        result = named_ranges(store, grammar, naming - 1, data) if naming != 0 else 0
    elif operation == TRACE:
        result = trace_bytes(store, grammar, a, data)
    elif operation == LEXEMES_OF:
        result = nodes_of_set(store, a, data)
    elif operation == ENDING:
        result = ending(store, grammar, a)
    elif operation == OPEN_RULES:
        result = open_rules(store, grammar, a, b, data)
    elif operation == CLOSE:
        result = close_lexeme(store, grammar, a)
    elif operation == READ_LIST:
        result = list_length(grammar, a, b)
        for i in range(min(result, data.shape[0])):
            data[i] = list_item(grammar, a, b, i)
    elif operation == LIVE_BYTES:
        result = live_bytes(store, grammar, a, data)
    elif operation == COUNT_CHARACTERS:
        count_characters(store, a, data)
    elif operation == WRITE_REST:
        result = write_rest(
            store, data, load_i64(a), load_i64(a + 8), load_i64(a + 16), load_i64(a + 24), load_i64(a + 32)
        )
    elif operation == WALK_ALL:
        result = walk_all(store, grammar, a)
    elif operation == STEP_CANONICAL:
        result = step_and_review(store, grammar, as_table(grammar[CANON]), a, b)
    elif operation == REVIEW:
        result = review_cell(store, grammar, as_table(grammar[CANON]), a)
    elif operation >= FIRST_FINISHING:
        result = finish(store, grammar, operation, a, b, data)
    elif operation == MARK:
        add_flag(store, a, b)
    elif operation == INIT_STORE:
        init_nodes(store)
        init_states(store)
        store[STEP_CODE] = address_of_code(step_alone)
    store[SPENT] = store[WORK] if store_address == grammar_address else store[WORK] + grammar[WORK]
    store[REACHED] = _take_exceeded(store, grammar)
    if store[REACHED] != 0:
        result = LIMIT_REACHED
    if has_taken != 0:
        end_turn(store)
    return result


@door("int64(int64, int32[:, ::1], int64)", group="engine")
def fill_mask(cell, mask, row):
    """Write the mask of a matcher (the address of its cell) into `mask[row]`, or FILL_MISS."""
    return fill_row(cell, mask.ctypes.data, mask.shape[0], mask.shape[1], row)


@door("int64(int64, int32[:, ::1], int64)", group="engine")
def step_mask(cell, mask, row):
    """As `fill_mask`, and what is missing is built if `step_alone` does it."""
    status = fill_row(cell, mask.ctypes.data, mask.shape[0], mask.shape[1], row)
    if status != FILL_MISS:
        return status
    return call_at(as_table(load_i64(cell + 8 * CELL_STORE))[STEP_CODE], cell, NO_TOKEN)


@door("void(int64, int64[::1], int64[::1], int32[:, ::1], int8[::1], int64)", group="engine")
def fill_masks(control, cells, rows, mask, statuses, helpers):
    """Write the masks of many matchers with up to so many helpers; `statuses` gets what `fill_mask` returns.

    `control` is the address of int64[CONTROL_FIELDS], see mask/batch.py.
    """
    store_i64(control + 8 * N_MATCHERS, cells.shape[0])
    store_i64(control + 8 * CELLS, cells.ctypes.data)
    store_i64(control + 8 * ROWS, rows.ctypes.data)
    store_i64(control + 8 * MASK, mask.ctypes.data)
    store_i64(control + 8 * N_ROWS, mask.shape[0])
    store_i64(control + 8 * ROW_WORDS, mask.shape[1])
    store_i64(control + 8 * STATUSES, statuses.ctypes.data)
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
    """Help with batches until none has opened for so many looks."""
    help_with_batches(control, looks)


@kernel
def _known_after(cell, token):
    store = as_table(load_i64(cell + 8 * CELL_STORE))
    grammar = as_table(load_i64(cell + 8 * CELL_GRAMMAR))
    configuration = load_i64(cell + 8 * CELL_CONFIGURATION)
    if configuration == ENDED or token < 0 or token >= store[N_VOCAB]:
        return REFUSED
    return known_after(store, grammar, configuration, token)


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
    return call_at(as_table(load_i64(cell + 8 * CELL_STORE))[STEP_CODE], cell, token)


@door("int64(int64, int64)", group="engine")
def is_accepting(grammar_address, configuration):
    """1 when the document may end in a configuration."""
    return configuration_field(as_table(grammar_address), configuration, C_ACCEPTS)


@door("int64(int64, int64)", group="engine")
def names_tokens(grammar_address, configuration):
    """1 when a token may come next that the grammar names by its id."""
    return 1 if configuration_field(as_table(grammar_address), configuration, C_NAMING) != 0 else 0


@door("void(int64, int64[::1], int64[::1])", group="engine")
def free_table(table_address, block_slots, pool_slots):
    """Give back all memory of a table that nobody uses any more.

    `block_slots` hold blocks; `pool_slots` are pairs (slot of a list of addresses, slot of its length).
    """
    table = as_table(table_address)
    for i in range(0, pool_slots.shape[0], 2):
        addresses = table[pool_slots[i]]
        for j in range(table[pool_slots[i + 1]]):
            free_block(get_i64(addresses, j))
    free_retired(table)
    for i in range(block_slots.shape[0]):
        free_block(table[block_slots[i]])
        table[block_slots[i]] = 0


@door("void(int64, int64, int64, int64)", group="engine")
def put_block(table_address, slot, source, n_bytes):
    """Copy `n_bytes` from an address into a fresh block."""
    copy_bytes(ensure(as_table(table_address), slot, n_bytes), source, n_bytes)
