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

from ..machine.jit import inline, kernel
from ..regex.class_maps import class_of, meet, n_classes
from ..regex.derivatives import derivative
from ..regex.emptiness import is_empty
from ..regex.nodes import Node, push
from ..tables.interning import intern_list, list_item, list_length, list_offset, map_get, map_put
from ..tables.kinds import NodeKind
from ..tables.memory import exceed, reserve, spend
from ..tables.store_layout import LIMIT_STATES

UNKNOWN = 0  # reserved state: transition not built yet
DEAD = 1  # reserved state: no lexeme can go on
START_MARK = -1
ANONYMOUS = 0
MISS = -2  # a reader found something that only a builder may make


@kernel
def init_states(store):
    """Make the reserved states, the empty lexeme set and the anonymous lexeme."""
    push(store, START_MARK)
    address = store.scratch
    first = store.scratch_top - 1
    intern_list(store.state_keys, address.address, first, 1)  # UNKNOWN
    store.scratch_top = first
    intern_list(store.state_keys, address.address, first, 0)  # DEAD
    reserve(store.states, 2)
    intern_list(store.lexeme_sets, address.address, first, 0)
    reserve(store.set_starts, 64)
    store.set_starts[0] = DEAD
    reserve(store.lexemes, 64)
    store.n_lexemes = 1


@kernel
def lexeme_of(store, node):
    """Lexeme whose root is `node`; grammars that use the same expression share it."""
    known = map_get(store.lexeme_of_node, node)
    if known >= 0:
        return known
    lexeme = store.n_lexemes
    reserve(store.lexemes, lexeme + 1)[lexeme] = node
    store.n_lexemes = lexeme + 1
    map_put(store.lexeme_of_node, node, lexeme)
    return lexeme


@inline
def token_set_of(store, lexeme):
    """Token set of a terminal (parser/token_terminals.py), or -1 for lexemes of bytes."""
    node = store.lexemes[lexeme]
    return store.nodes[node].a if store.nodes[node].kind == NodeKind.TOKENS else -1


@kernel
def lexeme_set(store, first):
    """Id of the set of lexemes (sorted, distinct) in the scratch items from `first`, which are taken off."""
    n = store.scratch_top - first
    known = store.lexeme_sets.count
    if n == 0 and known != 0:
        return 0
    number = intern_list(store.lexeme_sets, store.scratch.address, first, n)
    store.scratch_top = first
    if number == known:
        reserve(store.set_starts, number + 1)
    return number


@inline
def single_set(store, lexeme):
    push(store, lexeme)
    return lexeme_set(store, store.scratch_top - 1)


@kernel
def make_state(store, first, is_start):
    """State for the (lexeme, node) pairs in the scratch items from `first`, which are taken off."""
    n = store.scratch_top - first
    if n == 0:
        return DEAD
    if is_start:
        push(store, START_MARK)
    known = store.state_keys.count
    state = intern_list(store.state_keys, store.scratch.address, first, store.scratch_top - first)
    if state != known:
        store.scratch_top = first
        return state
    if known >= store.max_states:
        exceed(store, LIMIT_STATES)
    spend(store, 12 + n)
    reserve(store.states, state + 1)
    class_map = 0
    finished = 1
    accepted = store.scratch_top
    for i in range(first, first + n, 2):
        node = store.scratch[i + 1]
        class_map = meet(store, class_map, store.nodes[node].map)
        if node != Node.EPSILON:
            finished = 0
        if not is_start and store.nodes[node].nullable:
            push(store, store.scratch[i])
    store.states[state].accepts = lexeme_set(store, accepted)
    store.states[state].map = class_map
    store.states[state].finished = 0 if is_start else finished
    lexeme = store.scratch[first]
    node = store.scratch[first + 1]
    store.scratch_top = first
    store.states[state].anonymous = state
    if n == 2:
        store.states[state].single = single_set(store, lexeme)
        if lexeme != ANONYMOUS:
            push(store, ANONYMOUS)
            push(store, node)
            anonymous = _make_anonymous(store, first, is_start)
            store.states[state].anonymous = anonymous
    return state


@kernel
def _make_anonymous(store, first, is_start):
    """The anonymous twin of a state (a copy of make_state for one pair: kernels do not call themselves)."""
    node = store.scratch[first + 1]
    if is_start:
        push(store, START_MARK)
    known = store.state_keys.count
    state = intern_list(store.state_keys, store.scratch.address, first, store.scratch_top - first)
    store.scratch_top = first
    if state != known:
        return state
    reserve(store.states, state + 1)
    store.states[state].map = store.nodes[node].map
    store.states[state].finished = 1 if node == Node.EPSILON and not is_start else 0
    store.states[state].anonymous = state
    single = single_set(store, ANONYMOUS)
    store.states[state].single = single
    if not is_start and store.nodes[node].nullable:
        store.states[state].accepts = single
    return state


@kernel
def start_state(store, set_number):
    """The state that expects any lexeme of a set; DEAD where there are none but tokens."""
    state = store.set_starts[set_number]
    if state != UNKNOWN:
        return state
    first = store.scratch_top
    offset = list_offset(store.lexeme_sets, set_number)
    for i in range(list_length(store.lexeme_sets, set_number)):
        lexeme = store.lexeme_sets.pool[offset + i]
        root = store.lexemes[lexeme]
        if store.nodes[root].kind != NodeKind.TOKENS:  # the lexer reads bytes
            push(store, lexeme)
            push(store, root)
    state = make_state(store, first, True)
    if store.exceeded == 0:
        store.set_starts[set_number] = state
    return state


@inline
def is_start(store, state):
    """Whether nothing of a lexeme was read in a state; DEAD is the start where no lexeme of bytes is expected."""
    return state == DEAD or list_length(store.state_keys, state) & 1 != 0


@inline
def known_next(store, state, byte):
    """State after one more byte, or UNKNOWN where it is not built yet. Reads only."""
    states = store.states
    row = states[state].row
    if row == 0:
        return DEAD if state == DEAD else UNKNOWN
    byte_class = class_of(store, states[state].map, byte)
    return store.transitions[row - 1 + byte_class]


@inline
def next_state(store, state, byte):
    """State after one more byte; builds it."""
    known = known_next(store, state, byte)
    return known if known != UNKNOWN else _build_next(store, state, byte)


@inline
def is_lazy(store, node):
    """Whether a node is what is left of a lazy lexeme: all of its alternatives end in LAZY_END, or none."""
    kind = store.nodes[node].kind
    while kind == NodeKind.CONCAT or kind == NodeKind.UNION:
        node = store.nodes[node].b if kind == NodeKind.CONCAT else list_item(store.node_lists, store.nodes[node].a, 0)
        kind = store.nodes[node].kind
    return node == Node.LAZY_END


@inline
def _end_lazy_lexemes(store, first):
    """Where lazy lexemes may end, keep those, with nothing left, of the pairs in the scratch items from `first`."""
    kept = first
    for i in range(first, store.scratch_top, 2):
        node = store.scratch[i + 1]
        if store.nodes[node].nullable and is_lazy(store, node):
            store.scratch[kept] = store.scratch[i]
            store.scratch[kept + 1] = Node.EPSILON
            kept += 2
    if kept > first:
        store.scratch_top = kept


@kernel
def _build_next(store, state, byte):
    """Take the derivatives of a state's nodes and write the entry of the byte's class."""
    class_map = store.states[state].map
    row = store.states[state].row - 1
    if row < 0:
        row = store.n_transitions
        store.n_transitions = row + n_classes(store, class_map)
        reserve(store.transitions, store.n_transitions)
        store.states[state].row = row + 1
    first = store.scratch_top
    offset = list_offset(store.state_keys, state)
    n = list_length(store.state_keys, state) & -2  # without the mark of a start state
    spend(store, 4 + n)
    for i in range(0, n, 2):
        lexeme = store.state_keys.pool[offset + i]
        node = store.state_keys.pool[offset + i + 1]
        rest = derivative(store, node, byte)
        if rest != Node.EMPTY and not is_empty(store, rest):
            push(store, lexeme)
            push(store, rest)
    _end_lazy_lexemes(store, first)
    target = make_state(store, first, False)
    if store.exceeded != 0:
        return DEAD
    store.transitions[row + class_of(store, class_map, byte)] = target
    return target
