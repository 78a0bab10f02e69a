"""The lexer, a lazy DFA: a state is a tuple of (lexeme, its rest), a byte leads to the tuple of derivatives.

    state key   [lexeme, rest, lexeme, rest, ...]             the live lexemes in order; a rest is a node, never empty
                [lexeme, rest, ..., START_MARK]               a start state: nothing of a lexeme was read yet

(Regular vectors: Owens, Reppy, Turon 2009.) Start states differ from others: they accept nothing, even
where the same expressions do in the middle of a lexeme (a lexeme is never the empty string), and the end of a document
is possible there without closing a lexeme. A state is dead when no lexeme can be completed from it, which
emptiness.is_empty decides exactly.

A lexeme whose expression ends in LAZY_END is *lazy*: it ends where it can first, and so does the text in hand: every
other lexeme that is alive there is given up, one that ends at the same byte included (`a+?` and `ab*` after `a`: only
the first). The state there has the lazy lexemes that end, each with the rest EPSILON.

A state with one lexeme has an *anonymous state*: the same rest, of the anonymous lexeme 0. That one carries mask and
exits, so the body of any string of any grammar shares one.

A token that was taken is mostly followed by another, not by one that shares its first bytes: of a document's keys each
byte made a state that nothing came back to, which took half of the time of its tokens. A *leap* takes the derivatives
by all that is left of a token at once; leaps are remembered in place of the transitions.

In: a store's table. Out: state ids.
Cost: a known transition 2 ns; a new state about 0.3 us and its derivatives.
"""

from ..machine.jit import inline, kernel
from ..regex.class_maps import class_of, n_classes
from ..regex.derivatives import derivative
from ..regex.emptiness import is_empty
from ..regex.nodes import Node, operand, push, push_two
from ..regex.text_derivatives import map_of_all, text_derivative
from ..tables.interning import MISSING, intern_list, list_item, list_length, map_get, map_put
from ..tables.kinds import NodeKind
from ..tables.memory import exceed, reserve, spend
from ..tables.store_layout import LIMIT_STATES

UNKNOWN = 0  # reserved state: transition not built yet
DEAD = 1  # reserved state: no lexeme can go on
START_MARK = -1
LIVE_INTS = 2  # a live lexeme in a key and on the scratch stack: lexeme,
LIVE_REST = 1  # and rest
ANONYMOUS = 0
MISS = -2  # a reader found something that only a builder may make


@kernel
def init_states(store):
    """Make the reserved states, the empty lexeme set and the anonymous lexeme."""
    first = store.scratch_top
    _intern_key(store, first, True)  # UNKNOWN
    _intern_key(store, first, False)  # DEAD
    reserve(store.states, 2)
    lexeme_set(store, first)
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


@inline
def n_live(store, state):
    """How many lexemes are alive in a state."""
    return list_length(store.state_keys, state) // LIVE_INTS


@inline
def live_lexeme(store, state, i):
    """A live lexeme of a state."""
    return list_item(store.state_keys, state, LIVE_INTS * i)


@inline
def live_rest(store, state, i):
    """The node of what is left of a live lexeme."""
    return list_item(store.state_keys, state, LIVE_INTS * i + LIVE_REST)


@inline
def only_rest(store, state):
    """The rest of the only live lexeme of a state that is no start, or EMPTY."""
    return live_rest(store, state, 0) if list_length(store.state_keys, state) == LIVE_INTS else Node.EMPTY


@inline
def push_alive(store, lexeme, rest):
    """Push a lexeme and its rest, if the rest matches something."""
    if rest != Node.EMPTY and not is_empty(store, rest):
        push_two(store, lexeme, rest)


@inline
def _intern_key(store, first, is_start):
    """State of the live lexemes in the scratch items from `first`, which are taken off; new if it is the last one."""
    if is_start:
        push(store, START_MARK)
    state = intern_list(store.state_keys, store.scratch.address, first, store.scratch_top - first)
    store.scratch_top = first
    return state


@kernel
def make_state(store, first, is_start):
    """State of the live lexemes in the scratch items from `first`, which are taken off."""
    if store.scratch_top == first:
        return DEAD
    known = store.state_keys.count
    state = _intern_key(store, first, is_start)
    if state != known:
        return state
    if known >= store.max_states:
        exceed(store, LIMIT_STATES)
    n = n_live(store, state)
    spend(store, 12 + LIVE_INTS * n)
    reserve(store.states, state + 1)
    # classes and ends of its lexemes
    store.scratch_top = first + LIVE_INTS * n  # where they still are
    store.states[state].map = map_of_all(store, first + LIVE_REST, n, LIVE_INTS)
    store.scratch_top = first
    finished = 0 if is_start else 1
    for i in range(n):
        rest = live_rest(store, state, i)
        if rest != Node.EPSILON:
            finished = 0
        if not is_start and store.nodes[rest].nullable:
            push(store, live_lexeme(store, state, i))
    store.states[state].accepts = lexeme_set(store, first)
    store.states[state].finished = finished
    store.states[state].anonymous = state
    # its anonymous state
    if n == 1:
        lexeme = live_lexeme(store, state, 0)
        store.states[state].single = single_set(store, lexeme)
        if lexeme != ANONYMOUS:
            anonymous = _anonymous_state(store, live_rest(store, state, 0), is_start)
            store.states[state].anonymous = anonymous
    return state


@inline
def state_of(store, lexeme, rest):
    """State with one live lexeme, not at its start."""
    first = store.scratch_top
    push_two(store, lexeme, rest)
    return make_state(store, first, False)


@kernel
def _anonymous_state(store, rest, is_start):
    """The state of the anonymous lexeme with a rest (as make_state for it: kernels do not call themselves)."""
    first = store.scratch_top
    push_two(store, ANONYMOUS, rest)
    known = store.state_keys.count
    state = _intern_key(store, first, is_start)
    if state != known:
        return state
    reserve(store.states, state + 1)
    store.states[state].map = store.nodes[rest].map
    store.states[state].finished = 1 if rest == Node.EPSILON and not is_start else 0
    store.states[state].anonymous = state
    single = single_set(store, ANONYMOUS)
    store.states[state].single = single
    if not is_start and store.nodes[rest].nullable:
        store.states[state].accepts = single
    return state


@kernel
def start_state(store, set_number):
    """The state that expects any lexeme of a set; DEAD where all are tokens."""
    state = store.set_starts[set_number]
    if state != UNKNOWN:
        return state
    first = store.scratch_top
    for i in range(list_length(store.lexeme_sets, set_number)):
        lexeme = list_item(store.lexeme_sets, set_number, i)
        root = store.lexemes[lexeme]
        if store.nodes[root].kind != NodeKind.TOKENS:  # the lexer reads bytes
            push_two(store, lexeme, root)
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
    return store.transitions[row - 1 + class_of(store, states[state].map, byte)]


@inline
def next_state(store, state, byte):
    """State after one more byte; builds it."""
    known = known_next(store, state, byte)
    return known if known != UNKNOWN else _build_next(store, state, byte)


@inline
def is_lazy(store, node):
    """Whether a node is the rest of a lazy lexeme: either all of its alternatives end in LAZY_END, or no one does."""
    kind = store.nodes[node].kind
    while kind == NodeKind.CONCAT or kind == NodeKind.UNION:
        node = store.nodes[node].b if kind == NodeKind.CONCAT else operand(store, node, 0)
        kind = store.nodes[node].kind
    return node == Node.LAZY_END


@inline
def _end_lazy_lexemes(store, first):
    """Where lazy lexemes may end, keep only these of the live ones in the scratch items from `first`, each ended."""
    kept = first
    for live in range(first, store.scratch_top, LIVE_INTS):
        rest = store.scratch[live + LIVE_REST]
        if store.nodes[rest].nullable and is_lazy(store, rest):
            store.scratch[kept] = store.scratch[live]
            store.scratch[kept + LIVE_REST] = Node.EPSILON
            kept += LIVE_INTS
    if kept > first:
        store.scratch_top = kept


@kernel
def _build_next(store, state, byte):
    """Take the derivatives of a state's live lexemes and write the transition of the byte's class."""
    class_map = store.states[state].map
    row = store.states[state].row - 1
    if row < 0:
        row = store.n_transitions
        store.n_transitions = row + n_classes(store, class_map)
        reserve(store.transitions, store.n_transitions)
        store.states[state].row = row + 1
    first = store.scratch_top
    n = n_live(store, state)
    spend(store, 4 + LIVE_INTS * n)
    for i in range(n):
        push_alive(store, live_lexeme(store, state, i), derivative(store, live_rest(store, state, i), byte))
    _end_lazy_lexemes(store, first)
    target = make_state(store, first, False)
    if store.exceeded != 0:
        return DEAD
    store.transitions[row + class_of(store, class_map, byte)] = target
    return target


@inline
def known_leap(store, state, position):
    """State after a token's bytes from a position in `token_data` on, or MISSING. Reads only."""
    return map_get(store.leaps, state << 32 | position)


@kernel
def leap(store, state, position, n):
    """State after the last `n` bytes of a token, from a position in `token_data` on; DEAD if no lexeme has all."""
    target = known_leap(store, state, position)
    if target != MISSING:
        return target
    first = store.scratch_top
    spend(store, 4 + 2 * n_live(store, state))
    for i in range(n_live(store, state)):
        node = live_rest(store, state, i)
        if is_lazy(store, node):  # may end on the way, and all others with it
            store.scratch_top = first
            return DEAD
        rest = text_derivative(store, node, store.token_data.address + position, n)
        push_alive(store, live_lexeme(store, state, i), rest)
    target = make_state(store, first, False)
    if store.exceeded != 0:
        return DEAD
    if target != DEAD:
        map_put(store.leaps, state << 32 | position, target)
    return target
