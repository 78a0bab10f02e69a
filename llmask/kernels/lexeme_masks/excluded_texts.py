"""A lexer state that excludes finitely many texts, and may go on to some, mostly has the mask of one that does not.

    after `{"na`    me"                              a declared key
                    any string but `me"`, `il"`      every other key; `nail` is declared, and written already

No token stays inside of the second that does not stay inside of a string, as of any beginning there are infinitely many
strings and finitely many are excluded; the first begins as strings do. Lexemes end where a string ends, but for tokens
that hold all that is left of a name, and few tokens are so long. So nothing has to be followed, where making the states
and expressions behind each byte of each name took most of the time.

In: a lexer state. Out: the state whose mask and exits it has. Cost: 1 us.
"""

from __future__ import annotations

from ..lexer.states import DEAD, make_state
from ..machine.constants import TRIE_DEPTH_MASK, TRIE_DEPTH_SHIFT
from ..machine.jit import kernel, never_inline
from ..regex.derivatives import derivative
from ..regex.nodes import (
    BYTE_DISTANCE,
    DISTANCE,
    EMPTY,
    EPSILON,
    FINITE,
    FIRST_SINGLE,
    HIDES,
    HIGH,
    K_AND,
    K_CONCAT,
    K_LITERAL,
    K_NOT,
    K_REPEAT,
    KIND,
    LAZY_END,
    NULLABLE,
    UNBOUNDED,
    A,
    B,
    field,
    has_flag,
    push,
    scratch,
)
from ..tables.interning import list_item, list_length
from ..tables.memory import block, get_i32, get_i64, get_u8, spend
from ..tables.store_layout import (
    CHILD_BYTE,
    CHILD_NODE,
    LITERALS,
    LONGEST,
    NODE_LISTS,
    SCRATCH_TOP,
    STATE_KEYS,
    TRIE,
)
from .exits import X_DEPTH, X_NODE, child_towards, exit_field


@kernel
def _free_part(store, node):
    """Of `string and not texts` the string, of which a single byte is the end, and the texts; EMPTY if it is not so."""
    if field(store, node, KIND) != K_AND or list_length(store, NODE_LISTS, field(store, node, A)) != 2:
        return EMPTY, EMPTY
    for i in range(2):
        free = list_item(store, NODE_LISTS, field(store, node, A), i)
        other = list_item(store, NODE_LISTS, field(store, node, A), 1 - i)
        if field(store, other, KIND) == K_NOT and field(store, free, KIND) == K_CONCAT:
            texts = field(store, other, A)
            repeat, end = field(store, free, A), field(store, free, B)
            is_free = field(store, repeat, KIND) == K_REPEAT and field(store, repeat, HIGH) == UNBOUNDED
            if is_free and FIRST_SINGLE <= end < LAZY_END and has_flag(store, texts, FINITE):
                if not has_flag(store, texts, HIDES):  # else DISTANCE is a guess
                    return free, texts
    return EMPTY, EMPTY


@kernel
def _begins_like(store, literal, free):
    """Whether `free` is inside of a string, and ends, where a token is inside of a literal, and ends."""
    n = field(store, literal, B)
    first = field(store, literal, A)
    spend(store, n)
    node = free
    for i in range(min(n, store[LONGEST])):
        node = derivative(store, node, get_u8(block(store, LITERALS), first + i))
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
        if field(store, node, KIND) == K_LITERAL:
            continue
        if lexeme >= 0:
            return DEAD, EMPTY
        lexeme = list_item(store, STATE_KEYS, state, i)
        free, texts = _free_part(store, node)
    if free == EMPTY:
        return DEAD, EMPTY
    for i in range(0, n, 2):
        node = list_item(store, STATE_KEYS, state, i + 1)
        if field(store, node, KIND) == K_LITERAL and not _begins_like(store, node, free):
            return DEAD, EMPTY
    first = store[SCRATCH_TOP]
    push(store, lexeme)
    push(store, free)
    return make_state(store, first, False), texts


@kernel
def ends_alike(store, state, first, end, root, texts):
    """Whether no exit from number `first` on before `end`, where the walk of a `free_state` from node `root` of the
    trie found all, is the end of one of the texts, or of a literal of the state itself.
    """
    never_inline()
    shortest = field(store, texts, DISTANCE) // BYTE_DISTANCE
    for i in range(0, list_length(store, STATE_KEYS, state), 2):
        node = list_item(store, STATE_KEYS, state, i + 1)
        if field(store, node, KIND) == K_LITERAL:
            shortest = min(shortest, field(store, node, B))
    above = (get_i64(block(store, TRIE), root) >> TRIE_DEPTH_SHIFT) & TRIE_DEPTH_MASK
    spend(store, (end - first) >> 2)
    for i in range(first, end):
        length = exit_field(store, i, X_DEPTH) - above
        if length >= shortest and _spells_one(store, state, root, exit_field(store, i, X_NODE), length, texts):
            return False
    return True


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
        if field(store, literal, KIND) == K_LITERAL and field(store, literal, B) == length:
            same = True
            for j in range(length):
                if scratch(store, first + j) != get_u8(block(store, LITERALS), field(store, literal, A) + j):
                    same = False
                    break
            spells = spells or same
    store[SCRATCH_TOP] = first
    return spells
