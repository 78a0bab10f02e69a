"""Questions about languages that take the product automaton of two expressions: its states are pairs of derivatives by
equal strings. The pairs that can be reached are visited breadth first, each once.

    store.pairs        left, right, mark, in the order in which they were found: the queue of the search
    store.pair_index   open addressing: number of a pair + 1, by hash of its two nodes

    extensions   where one lexeme may end while another may go on, which decides whether longest match changes what a
                 grammar derives: A = /[a-z]+/, B = /"return"/: after `retur` A may end and B may go on with `n`; after
                 `return` both may end
    roams        whether an expression stays alive whatever strings of another one come
    is_open      whether every string that is not yet in an expression, but can be continued into it, can be so in
                 infinitely many ways (llmask/grammar/rules.py says what for)

In: nodes. Out: yes or no, or bytes. Cost: a derivative or two, and mostly an emptiness test, for each pair and byte
class: some microseconds for lexemes, 30 us for a JSON string, some milliseconds at the bounds below.
"""

from ..machine.jit import inline, kernel
from ..tables.interning import mix
from ..tables.memory import fill_bytes, reserve, spend
from .class_maps import first_of_class, meet, n_classes, next_of_class
from .derivatives import derivative
from .emptiness import is_empty
from .nodes import Node, push_two

# pairs, each a power of two
MOST_EXTENDED = 2048
MOST_ROAMED = 32
MOST_STATES = 512  # of `is_open`
MOST_NODES = 50_000  # that `extensions` may add: derivatives of counts inside counts are large
MAY_BOTH_END = 256  # position after the flags of the bytes
ROOM = 4  # entries of the index for each pair
LEADS_ON = 1  # marks of `is_open`
LEADS_FAR = 2  # to a state that leads on, too


@kernel
def clear_pairs(store, most):
    """Forget all pairs; of the next ones there are `most`, a power of two, or one more."""
    size = ROOM * most
    fill_bytes(reserve(store.pair_index, size).address, size * 4, 0)
    store.pair_index_size = size
    store.n_pairs = 0


@inline
def _slot_of(store, left, right):
    """Where a pair is in the index, or the free slot where it would be."""
    mask = store.pair_index_size - 1
    slot = mix(mix(3, left), right) & mask
    while True:
        number = store.pair_index[slot] - 1
        if number < 0 or (store.pairs[number].left == left and store.pairs[number].right == right):
            return slot
        slot = (slot + 1) & mask


@inline
def find_pair(store, left, right):
    """Number of a pair, or -1."""
    return store.pair_index[_slot_of(store, left, right)] - 1


@inline
def _append_pair(store, left, right):
    """Add a pair that `find_pair` does not find; returns its number."""
    number = store.n_pairs
    pair = reserve(store.pairs, number + 1)[number]
    pair.left, pair.right, pair.mark = left, right, 0
    store.n_pairs = number + 1
    return number


@kernel
def add_pair(store, left, right):
    """Number of a pair, which is added if it is new."""
    slot = _slot_of(store, left, right)
    if store.pair_index[slot] == 0:
        store.pair_index[slot] = _append_pair(store, left, right) + 1
    return store.pair_index[slot] - 1


@kernel
def extensions(store, one, other, flags):
    """Set flags[b] where a string of `one` and then byte b begin a string of `other`, and flags[MAY_BOTH_END] where
    some string is in both; the empty string does not count. Returns 1, or 0 where it takes too much to decide it.

    Expressions that match nothing without being EMPTY are taken to match something: too many bytes may be told, never
    too few.
    """
    clear_pairs(store, MOST_EXTENDED)
    _append_pair(store, one, other)  # not to be found again: nothing was read before it
    most_nodes = store.n_nodes + MOST_NODES
    position = 0
    while position < store.n_pairs <= MOST_EXTENDED and store.n_nodes <= most_nodes and store.exceeded == 0:
        _extend(store, position, flags)
        position += 1
    return 1 if position == store.n_pairs <= MOST_EXTENDED and store.exceeded == 0 else 0


@inline
def _extend(store, position, flags):
    """Follow a pair by a byte of each class, and set the flags of the bytes by which only the right one goes on."""
    left, right = store.pairs[position].left, store.pairs[position].right
    may_end = position > 0 and store.nodes[left].nullable
    if may_end and store.nodes[right].nullable:
        flags[MAY_BOTH_END] = 1
    class_map = meet(store, store.nodes[left].map, store.nodes[right].map)
    spend(store, 64)
    byte = 0
    for number in range(n_classes(store, class_map)):
        byte = first_of_class(store, class_map, number, byte)
        after = derivative(store, right, byte)
        if after == Node.EMPTY:
            continue
        if may_end:
            _flag_class(store, class_map, byte, flags)
        before = derivative(store, left, byte)
        if before != Node.EMPTY:
            add_pair(store, before, after)
            if store.n_pairs > MOST_EXTENDED:
                break


@inline
def _flag_class(store, class_map, byte, flags):
    """Set the flags of all bytes of a class."""
    flags[byte] = 1
    other = next_of_class(store, class_map, byte)
    while other != byte:
        flags[other] = 1
        other = next_of_class(store, class_map, other)


@kernel
def roams(store, node, char, may_end):
    """Whether `node` is alive after any strings of `char`; the pairs that they lead to are in `store.pairs` then.

    Answers no where there are many pairs. `may_end`: 0 when it must not end after any of these strings, either.
    """
    clear_pairs(store, MOST_ROAMED)
    add_pair(store, node, char)
    pair = 0
    while pair < store.n_pairs:
        if not _stays_alive(store, pair, char, may_end):
            return False
        pair += 1
    return True


@inline
def _stays_alive(store, pair, char, may_end):
    """Whether a pair is alive after any byte of a string of `char`; where they lead to is added."""
    left, right = store.pairs[pair].left, store.pairs[pair].right
    class_map = meet(store, store.nodes[left].map, store.nodes[right].map)
    spend(store, 16)
    byte = 0
    for number in range(n_classes(store, class_map)):
        byte = first_of_class(store, class_map, number, byte)
        rest = derivative(store, right, byte)
        if rest == Node.EMPTY:
            continue
        after = derivative(store, left, byte)
        if after == Node.EMPTY or is_empty(store, after) or (may_end == 0 and store.nodes[after].nullable):
            return False
        if store.exceeded != 0:
            return False
        add_pair(store, after, char if store.nodes[rest].nullable else rest)
        if store.n_pairs > MOST_ROAMED:
            return False
    return True


@kernel
def is_open(store, root):
    """Whether every state of a node's automaton that leads on leads to one that leads on, too.

    States without a string are left out. A closing quote leads to a state that does not lead on, but a letter before it
    does. False where there are many states, or a limit is reached (the caller looks at EXCEEDED).
    """
    if store.nodes[root].finite:
        return False
    clear_pairs(store, MOST_STATES)
    add_pair(store, root, Node.EMPTY)  # a state is a pair whose other half says nothing
    edges = store.scratch_top
    state = 0
    while state < store.n_pairs <= MOST_STATES and store.exceeded == 0:
        _push_edges(store, state)
        state += 1
    result = store.n_pairs <= MOST_STATES and store.pairs[0].mark != 0 and store.exceeded == 0
    if result:
        for at in range(edges, store.scratch_top, 2):
            if store.pairs[store.scratch[at + 1]].mark != 0:
                store.pairs[store.scratch[at]].mark = LEADS_FAR
        for i in range(store.n_pairs):
            if store.pairs[i].mark == LEADS_ON:
                result = False
    store.scratch_top = edges
    return result


@kernel
def _push_edges(store, state):
    """Push a state and the one that it leads to, for a byte of each class; new ones are entered."""
    node = store.pairs[state].left
    class_map = store.nodes[node].map
    spend(store, 16)
    byte = 0
    for number in range(n_classes(store, class_map)):
        byte = first_of_class(store, class_map, number, byte)
        rest = derivative(store, node, byte)
        if rest == Node.EMPTY or is_empty(store, rest):
            continue
        store.pairs[state].mark = LEADS_ON
        push_two(store, state, add_pair(store, rest, Node.EMPTY))
        if store.n_pairs > MOST_STATES:
            return
