"""The lazy lexer: states are ordered tuples of (lexeme, what is left of it); a byte leads to the tuple of derivatives.

    state key   [lexeme, node, lexeme, node, ...]             sorted by lexeme; only non-empty nodes
                [lexeme, node, ..., START_MARK]               a start state: nothing of a lexeme was read yet

Start states are told apart, because they accept nothing even where the same expressions do in the middle of a lexeme
(a lexeme is never the empty string), and because the end of a document is possible there without closing a lexeme.
A state is dead when no lexeme can be completed from it: derivatives.is_empty decides that exactly.

A lexeme whose expression ends in LAZY_END is *lazy*: it ends where it can, and all that are not as short are given up.
The state there has the lazy lexemes that end, each with nothing left of it.

States with one lexeme have a *twin* with the anonymous lexeme 0. The twin carries masks and exits, so the body of any
string of any grammar shares one.

In: a store's table. Out: state ids.
Cost: a known transition 2 ns; a new state about 0.3 us and its derivatives.
"""

from __future__ import annotations

from ..machine.atomics import load_acquire_i32, publish_i32
from ..machine.jit import kernel, never_inline
from ..regex.class_maps import class_of, meet, n_classes
from ..regex.derivatives import derivative
from ..regex.emptiness import is_empty
from ..regex.nodes import (
    EMPTY,
    EPSILON,
    K_CONCAT,
    K_TOKENS,
    K_UNION,
    KIND,
    LAZY_END,
    MAP,
    NULLABLE,
    A,
    B,
    field,
    has_flag,
    push,
    scratch,
)
from ..tables.interning import intern_list, list_item, list_length, list_offset, map_get, map_put
from ..tables.memory import EXCEEDED, block, ensure, exceed, get_i32, put_i32, spend
from ..tables.store_layout import (
    LEXEME_OF_NODE,
    LEXEME_SETS,
    LEXEMES,
    LIMIT_STATES,
    MAX_STATES,
    N_LEXEMES,
    N_TRANSITIONS,
    NODE_LISTS,
    SCRATCH,
    SCRATCH_TOP,
    SET_STARTS,
    STATE_KEYS,
    STATES,
    TRANSITIONS,
)

STATE_FIELDS = 16
S_MAP = 0  # class map
S_ROW = 1  # first entry in TRANSITIONS + 1, 0 = none yet
S_ACCEPTS = 2  # set of lexemes that may end here, 0 = none
S_FINISHED = 3  # 1 when every lexeme ends here and none goes on
S_TWIN = 4  # state that carries the mask and exits: the anonymous twin, or the state itself
S_MASK_KIND = 5  # see trie_walk.py
S_MASK = 6
S_N_TOKENS = 7
S_FIRST_EXIT = 8
S_N_EXITS = 9
S_HOT = 10  # number of the expanded row + 1, 0 = none
S_SINGLE = 11  # the set of its only lexeme, 0 = several
S_WIDE = 12  # 0 = not counted yet, 1 = few bytes lead on, 2 = many
S_GOES_ON = 13  # 0 = not looked yet, 1 = no, 2 = two ways to go on that are different texts, see mask/boundary_walk.py
S_BASE = 15  # the state whose mask and exits it has beside its own exits, 0 = none; see lexeme_masks/state_masks.py
S_WALKED = 14  # 1 when the bytes of all tokens were followed from here: a transition not built yet is of no token

UNKNOWN = 0  # reserved state: transition not built yet
DEAD = 1  # reserved state: no lexeme can go on
START_MARK = -1
ANONYMOUS = 0
MISS = -2  # a reader found something that only a builder may make


@kernel
def state_field(store, state, name):
    return get_i32(block(store, STATES), state * STATE_FIELDS + name)


@kernel
def put_state_field(store, state, name, value):
    put_i32(block(store, STATES), state * STATE_FIELDS + name, value)


@kernel
def init_states(store):
    """Make the reserved states, the empty lexeme set and the anonymous lexeme."""
    never_inline()
    push(store, START_MARK)
    address = block(store, SCRATCH)
    first = store[SCRATCH_TOP] - 1
    intern_list(store, STATE_KEYS, address, first, 1)  # UNKNOWN
    store[SCRATCH_TOP] = first
    intern_list(store, STATE_KEYS, address, first, 0)  # DEAD
    ensure(store, STATES, 2 * STATE_FIELDS * 4)
    intern_list(store, LEXEME_SETS, address, first, 0)
    ensure(store, SET_STARTS, 256)
    put_i32(block(store, SET_STARTS), 0, DEAD)
    ensure(store, LEXEMES, 256)
    store[N_LEXEMES] = 1


@kernel
def lexeme_of(store, node):
    """Lexeme whose root is `node`; grammars that use the same expression share it."""
    never_inline()
    known = map_get(store, LEXEME_OF_NODE, node)
    if known >= 0:
        return known
    lexeme = store[N_LEXEMES]
    put_i32(ensure(store, LEXEMES, (lexeme + 1) * 4), lexeme, node)
    store[N_LEXEMES] = lexeme + 1
    map_put(store, LEXEME_OF_NODE, node, lexeme)
    return lexeme


@kernel
def token_set_of(store, lexeme):
    """Token set of a terminal (parser/token_terminals.py), or -1 for lexemes of bytes."""
    node = get_i32(block(store, LEXEMES), lexeme)
    return field(store, node, A) if field(store, node, KIND) == K_TOKENS else -1


@kernel
def lexeme_set(store, first):
    """Id of the set of lexemes (sorted, distinct) in the scratch items from `first`, which are taken off."""
    never_inline()
    n = store[SCRATCH_TOP] - first
    known = store[LEXEME_SETS + 3]
    if n == 0 and known != 0:
        return 0
    number = intern_list(store, LEXEME_SETS, block(store, SCRATCH), first, n)
    store[SCRATCH_TOP] = first
    if number == known:
        ensure(store, SET_STARTS, (number + 1) * 4)
    return number


@kernel
def single_set(store, lexeme):
    push(store, lexeme)
    return lexeme_set(store, store[SCRATCH_TOP] - 1)


@kernel
def make_state(store, first, is_start):
    """State for the (lexeme, node) pairs in the scratch items from `first`, which are taken off."""
    never_inline()
    n = store[SCRATCH_TOP] - first
    if n == 0:
        return DEAD
    if is_start:
        push(store, START_MARK)
    known = store[STATE_KEYS + 3]
    state = intern_list(store, STATE_KEYS, block(store, SCRATCH), first, store[SCRATCH_TOP] - first)
    if state != known:
        store[SCRATCH_TOP] = first
        return state
    if known >= store[MAX_STATES]:
        exceed(store, LIMIT_STATES)
    spend(store, 12 + n)
    ensure(store, STATES, (state + 1) * STATE_FIELDS * 4)
    class_map = 0
    finished = 1
    accepted = store[SCRATCH_TOP]
    for i in range(first, first + n, 2):
        node = scratch(store, i + 1)
        class_map = meet(store, class_map, field(store, node, MAP))
        if node != EPSILON:
            finished = 0
        if not is_start and has_flag(store, node, NULLABLE):
            push(store, scratch(store, i))
    put_state_field(store, state, S_ACCEPTS, lexeme_set(store, accepted))
    put_state_field(store, state, S_MAP, class_map)
    put_state_field(store, state, S_FINISHED, 0 if is_start else finished)
    lexeme = scratch(store, first)
    node = scratch(store, first + 1)
    store[SCRATCH_TOP] = first
    put_state_field(store, state, S_TWIN, state)
    if n == 2:
        put_state_field(store, state, S_SINGLE, single_set(store, lexeme))
        if lexeme != ANONYMOUS:
            push(store, ANONYMOUS)
            push(store, node)
            twin = _make_twin(store, first, is_start)
            put_state_field(store, state, S_TWIN, twin)
    return state


@kernel
def _make_twin(store, first, is_start):
    """The anonymous twin of a state (a copy of make_state for one pair: kernels do not call themselves)."""
    never_inline()
    node = scratch(store, first + 1)
    if is_start:
        push(store, START_MARK)
    known = store[STATE_KEYS + 3]
    state = intern_list(store, STATE_KEYS, block(store, SCRATCH), first, store[SCRATCH_TOP] - first)
    store[SCRATCH_TOP] = first
    if state != known:
        return state
    ensure(store, STATES, (state + 1) * STATE_FIELDS * 4)
    put_state_field(store, state, S_MAP, field(store, node, MAP))
    put_state_field(store, state, S_FINISHED, 1 if node == EPSILON and not is_start else 0)
    put_state_field(store, state, S_TWIN, state)
    single = single_set(store, ANONYMOUS)
    put_state_field(store, state, S_SINGLE, single)
    if not is_start and has_flag(store, node, NULLABLE):
        put_state_field(store, state, S_ACCEPTS, single)
    return state


@kernel
def start_state(store, set_number):
    """The state that expects any lexeme of a set; DEAD where there are none but tokens."""
    never_inline()
    state = get_i32(block(store, SET_STARTS), set_number)
    if state != UNKNOWN:
        return state
    first = store[SCRATCH_TOP]
    offset = list_offset(store, LEXEME_SETS, set_number)
    for i in range(list_length(store, LEXEME_SETS, set_number)):
        lexeme = get_i32(block(store, LEXEME_SETS + 1), offset + i)
        root = get_i32(block(store, LEXEMES), lexeme)
        if field(store, root, KIND) != K_TOKENS:  # the lexer reads bytes
            push(store, lexeme)
            push(store, root)
    state = make_state(store, first, True)
    if store[EXCEEDED] == 0:
        put_i32(block(store, SET_STARTS), set_number, state)
    return state


@kernel
def is_start(store, state):
    """Whether nothing of a lexeme was read in a state; DEAD is the start where no lexeme of bytes is expected."""
    return state == DEAD or list_length(store, STATE_KEYS, state) & 1 != 0


@kernel
def known_next(store, state, byte):
    """State after one more byte, or UNKNOWN where it is not built yet. Reads only."""
    states = block(store, STATES)
    row = load_acquire_i32(states + (state * STATE_FIELDS + S_ROW) * 4)
    if row == 0:
        return DEAD if state == DEAD else UNKNOWN
    byte_class = class_of(store, get_i32(states, state * STATE_FIELDS + S_MAP), byte)
    return load_acquire_i32(block(store, TRANSITIONS) + (row - 1 + byte_class) * 4)


@kernel
def next_state(store, state, byte):
    """State after one more byte; builds it."""
    known = known_next(store, state, byte)
    return known if known != UNKNOWN else _build_next(store, state, byte)


@kernel
def is_lazy(store, node):
    """Whether a node is what is left of a lazy lexeme: all of its alternatives end in LAZY_END, or none."""
    kind = field(store, node, KIND)
    while kind == K_CONCAT or kind == K_UNION:
        node = field(store, node, B) if kind == K_CONCAT else list_item(store, NODE_LISTS, field(store, node, A), 0)
        kind = field(store, node, KIND)
    return node == LAZY_END


@kernel
def _end_lazy_lexemes(store, first):
    """Where lazy lexemes may end, keep those, with nothing left, of the pairs in the scratch items from `first`."""
    kept = first
    for i in range(first, store[SCRATCH_TOP], 2):
        node = scratch(store, i + 1)
        if has_flag(store, node, NULLABLE) and is_lazy(store, node):
            put_i32(block(store, SCRATCH), kept, scratch(store, i))
            put_i32(block(store, SCRATCH), kept + 1, EPSILON)
            kept += 2
    if kept > first:
        store[SCRATCH_TOP] = kept


@kernel
def _build_next(store, state, byte):
    """Take the derivatives of a state's nodes and write the entry of the byte's class."""
    never_inline()
    class_map = state_field(store, state, S_MAP)
    row = state_field(store, state, S_ROW) - 1
    if row < 0:
        row = store[N_TRANSITIONS]
        store[N_TRANSITIONS] = row + n_classes(store, class_map)
        ensure(store, TRANSITIONS, store[N_TRANSITIONS] * 4)
        publish_i32(block(store, STATES) + (state * STATE_FIELDS + S_ROW) * 4, row + 1)
    first = store[SCRATCH_TOP]
    offset = list_offset(store, STATE_KEYS, state)
    n = list_length(store, STATE_KEYS, state) & -2  # without the mark of a start state
    spend(store, 4 + n)
    for i in range(0, n, 2):
        lexeme = get_i32(block(store, STATE_KEYS + 1), offset + i)
        node = get_i32(block(store, STATE_KEYS + 1), offset + i + 1)
        rest = derivative(store, node, byte)
        if rest != EMPTY and not is_empty(store, rest):
            push(store, lexeme)
            push(store, rest)
    _end_lazy_lexemes(store, first)
    target = make_state(store, first, False)
    if store[EXCEEDED] != 0:
        return DEAD
    publish_i32(block(store, TRANSITIONS) + (row + class_of(store, class_map, byte)) * 4, target)
    return target
