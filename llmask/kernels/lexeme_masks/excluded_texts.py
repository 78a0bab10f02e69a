"""A lexer state that excludes finitely many texts, and may go on to some, mostly has the mask of one that does not.

    after `{"na`    me"                              a declared key
                    any string but `me"`, `il"`      every other key; `nail` is declared, and written already

A token stays inside of the second exactly if it stays inside of a string: any beginning of a string has infinitely many
ends, and finitely many of them are excluded. The first begins as strings do. Lexemes end where a string ends, but for
tokens that contain all the rest of a name, and few tokens are so long. So only these are followed; making the states
and expressions after each byte of each name took most of the time.

In: a lexer state. Out: the state whose mask it has, and exits that this one has not. Cost: 1 us.
"""

from ..lexer.states import DEAD, is_start, live_lexeme, live_rest, n_live, next_state, state_of
from ..machine.jit import inline, kernel
from ..regex.derivatives import derivative
from ..regex.nodes import BYTE_DISTANCE, Node, push
from ..regex.text_derivatives import byte_at, free_part, literal_length
from ..tables.interning import map_get, map_put
from ..tables.memory import spend
from ..vocabulary.trie_words import depth_of, subtree_end
from .exits import add_exit, child_towards


@kernel
def _begins_like(store, literal, free):
    """Whether `free` is inside of a string, and ends, where a token is inside of a literal, and ends; remembered."""
    key = literal << 32 | free
    known = map_get(store.begins_like, key)
    if known < 0:
        known = 1 if _follows(store, literal, free) else 0
        if store.exceeded == 0:
            map_put(store.begins_like, key, known)
    return known == 1


@inline
def _follows(store, literal, free):
    n = literal_length(store, literal)
    spend(store, n)
    node = free
    for i in range(min(n, store.longest)):
        node = derivative(store, node, byte_at(store, literal, i))
        if node == Node.EMPTY or (node == Node.EPSILON) != (i == n - 1):
            return False
    return True


@kernel
def free_state(store, state):
    """The state without the excluded texts and the literals of a state, and the texts.

    DEAD: it is not of this kind.
    """
    if is_start(store, state):
        return DEAD, Node.EMPTY
    lexeme = -1
    free = Node.EMPTY
    texts = Node.EMPTY
    for i in range(n_live(store, state)):
        rest = live_rest(store, state, i)
        if literal_length(store, rest) > 0:
            continue
        if lexeme >= 0:
            return DEAD, Node.EMPTY
        lexeme = live_lexeme(store, state, i)
        free, texts = free_part(store, rest)
    if free == Node.EMPTY:
        return DEAD, Node.EMPTY
    for i in range(n_live(store, state)):
        rest = live_rest(store, state, i)
        if literal_length(store, rest) > 0 and not _begins_like(store, rest, free):
            return DEAD, Node.EMPTY
    return state_of(store, lexeme, free), texts


@kernel
def put_ends_right(store, state, first, end, root, texts, in_place):
    """Give the exits at the end of one of the texts, or of a literal, the states after `state` itself; DEAD where there
    is no such state.

    The exits from number `first` on before `end` are all that the walk of a `free_state` found from node `root` of the
    trie. They are changed, or others are added for the same nodes.
    """
    shortest = store.nodes[texts].distance // BYTE_DISTANCE
    for i in range(n_live(store, state)):
        n = literal_length(store, live_rest(store, state, i))
        if n > 0:
            shortest = min(shortest, n)
    above = depth_of(store.trie[root])
    spend(store, (end - first) >> 2)
    passed = 0  # the nodes before this one are below a child of the root with which no text begins
    for i in range(first, end):
        length = store.exits[i].depth - above
        node = store.exits[i].node
        if length < shortest or node < passed:
            continue
        child = child_towards(store, root, node)
        if not _begins_one(store, state, store.child_byte[child], texts):
            passed = subtree_end(store.trie[store.child_node[child]])
        elif _spells_one(store, state, root, node, length, texts):
            there = state_after_path(store, state, root, node)
            if in_place:
                store.exits[i].state = there
            else:
                add_exit(store, node, there)


@inline
def _begins_one(store, state, byte, texts):
    """Whether one of the texts, or of the literals of a state, begins with a byte."""
    if derivative(store, texts, byte) != Node.EMPTY:
        return True
    for i in range(n_live(store, state)):
        literal = live_rest(store, state, i)
        if literal_length(store, literal) > 0 and byte_at(store, literal, 0) == byte:
            return True
    return False


@inline
def state_after_path(store, state, root, target):
    """The state after the bytes from one node of the trie to another."""
    node = root
    while node != target and state != DEAD:
        child = child_towards(store, node, target)
        node = store.child_node[child]
        state = next_state(store, state, store.child_byte[child])
    return state


@kernel
def _spells_one(store, state, root, target, length, texts):
    """Whether the bytes from one node of the trie to another are one of the texts, or of the literals of a state."""
    spend(store, 8 * length)
    first = store.scratch_top
    node = root
    rest = texts
    for _ in range(length):
        child = child_towards(store, node, target)
        node = store.child_node[child]
        byte = store.child_byte[child]
        push(store, byte)
        if rest != Node.EMPTY:
            rest = derivative(store, rest, byte)
    spells = rest != Node.EMPTY and store.nodes[rest].nullable
    for i in range(n_live(store, state)):
        literal = live_rest(store, state, i)
        if literal_length(store, literal) == length:
            same = True
            for j in range(length):
                if store.scratch[first + j] != byte_at(store, literal, j):
                    same = False
                    break
            spells = spells or same
    store.scratch_top = first
    return spells
