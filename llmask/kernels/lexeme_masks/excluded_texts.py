"""A lexer state that excludes finitely many texts, and may go on to some, mostly has the mask of one that does not.

    after `{"na`    me"                              a declared key
                    any string but `me"`, `il"`      every other key; `nail` is declared, and written already

No token stays inside of the second that does not stay inside of a string, as of any beginning there are infinitely many
strings and finitely many are excluded; the first begins as strings do. Lexemes end where a string ends, but for tokens
that hold all that is left of a name, and few tokens are so long. So only these are followed, where making the states
and expressions behind each byte of each name took most of the time.

In: a lexer state. Out: the state whose mask it has, and exits that it has not. Cost: 1 us.
"""

from __future__ import annotations

from ..lexer.states import DEAD, make_state, next_state
from ..machine.constants import TRIE_DEPTH_MASK, TRIE_DEPTH_SHIFT, TRIE_END_MASK, TRIE_END_SHIFT
from ..machine.jit import kernel, never_inline
from ..regex.derivatives import derivative
from ..regex.nodes import BYTE_DISTANCE, DISTANCE, EMPTY, EPSILON, NULLABLE, field, has_flag, push, scratch
from ..regex.text_derivatives import byte_at, free_part, literal_length
from ..tables.interning import list_item, list_length
from ..tables.memory import block, get_i32, get_i64, get_u8, put_i32, spend
from ..tables.store_layout import (
    CHILD_BYTE,
    CHILD_NODE,
    EXITS,
    LONGEST,
    SCRATCH_TOP,
    STATE_KEYS,
    TRIE,
)
from .exits import EXIT_FIELDS, X_DEPTH, X_NODE, X_STATE, add_exit, child_towards, exit_field


@kernel
def _begins_like(store, literal, free):
    """Whether `free` is inside of a string, and ends, where a token is inside of a literal, and ends."""
    n = literal_length(store, literal)
    spend(store, n)
    node = free
    for i in range(min(n, store[LONGEST])):
        node = derivative(store, node, byte_at(store, literal, i))
        if node == EMPTY or (node == EPSILON) != (i == n - 1):
            return False
    return True


@kernel
def free_state(store, state):
    """The state without the excluded texts and the literals of a state, and the texts.

    DEAD: it is not of this kind.
    """
    never_inline()
    n = list_length(store, STATE_KEYS, state)
    if n & 1 != 0:
        return DEAD, EMPTY
    lexeme = -1
    free = EMPTY
    texts = EMPTY
    for i in range(0, n, 2):
        node = list_item(store, STATE_KEYS, state, i + 1)
        if literal_length(store, node) > 0:
            continue
        if lexeme >= 0:
            return DEAD, EMPTY
        lexeme = list_item(store, STATE_KEYS, state, i)
        free, texts = free_part(store, node)
    if free == EMPTY:
        return DEAD, EMPTY
    for i in range(0, n, 2):
        node = list_item(store, STATE_KEYS, state, i + 1)
        if literal_length(store, node) > 0 and not _begins_like(store, node, free):
            return DEAD, EMPTY
    first = store[SCRATCH_TOP]
    push(store, lexeme)
    push(store, free)
    return make_state(store, first, False), texts


@kernel
def put_ends_right(store, state, first, end, root, texts, in_place):
    """Of the exits from number `first` on before `end`, where the walk of a `free_state` from node `root` of the trie
    found all, give those that are the end of one of the texts, or of a literal, the states behind `state` itself; DEAD
    where none is. They are changed, or others are added for the same nodes.
    """
    never_inline()
    shortest = field(store, texts, DISTANCE) // BYTE_DISTANCE
    for i in range(0, list_length(store, STATE_KEYS, state), 2):
        n = literal_length(store, list_item(store, STATE_KEYS, state, i + 1))
        if n > 0:
            shortest = min(shortest, n)
    above = (get_i64(block(store, TRIE), root) >> TRIE_DEPTH_SHIFT) & TRIE_DEPTH_MASK
    spend(store, (end - first) >> 2)
    passed = 0  # the nodes before this one are below a child of the root with which no text begins
    for i in range(first, end):
        length = exit_field(store, i, X_DEPTH) - above
        node = exit_field(store, i, X_NODE)
        if length < shortest or node < passed:
            continue
        child = child_towards(store, root, node)
        if not _begins_one(store, state, get_u8(block(store, CHILD_BYTE), child), texts):
            word = get_i64(block(store, TRIE), get_i32(block(store, CHILD_NODE), child))
            passed = (word >> TRIE_END_SHIFT) & TRIE_END_MASK
        elif _spells_one(store, state, root, node, length, texts):
            behind = state_behind(store, state, root, node)
            if in_place:
                put_i32(block(store, EXITS), i * EXIT_FIELDS + X_STATE, behind)
            else:
                add_exit(store, node, behind)


@kernel
def _begins_one(store, state, byte, texts):
    """Whether one of the texts, or of the literals of a state, begins with a byte."""
    if derivative(store, texts, byte) != EMPTY:
        return True
    for i in range(0, list_length(store, STATE_KEYS, state), 2):
        literal = list_item(store, STATE_KEYS, state, i + 1)
        if literal_length(store, literal) > 0 and byte_at(store, literal, 0) == byte:
            return True
    return False


@kernel
def state_behind(store, state, root, target):
    """The state behind the bytes from one node of the trie to another."""
    node = root
    while node != target and state != DEAD:
        child = child_towards(store, node, target)
        node = get_i32(block(store, CHILD_NODE), child)
        state = next_state(store, state, get_u8(block(store, CHILD_BYTE), child))
    return state


@kernel
def _spells_one(store, state, root, target, length, texts):
    """Whether the bytes from one node of the trie to another are one of the texts, or of the literals of a state."""
    never_inline()
    spend(store, 8 * length)
    first = store[SCRATCH_TOP]
    node = root
    rest = texts
    for _ in range(length):
        child = child_towards(store, node, target)
        node = get_i32(block(store, CHILD_NODE), child)
        byte = get_u8(block(store, CHILD_BYTE), child)
        push(store, byte)
        if rest != EMPTY:
            rest = derivative(store, rest, byte)
    spells = rest != EMPTY and has_flag(store, rest, NULLABLE)
    for i in range(0, list_length(store, STATE_KEYS, state), 2):
        literal = list_item(store, STATE_KEYS, state, i + 1)
        if literal_length(store, literal) == length:
            same = True
            for j in range(length):
                if scratch(store, first + j) != byte_at(store, literal, j):
                    same = False
                    break
            spells = spells or same
    store[SCRATCH_TOP] = first
    return spells
