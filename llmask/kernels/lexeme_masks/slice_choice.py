"""Which slice a lexer state may take: a family of tokens all of which certainly stay alive.

A *slice* holds the tokens of 1 to k strings of one regex node (a code point). Whether a state takes them all is
decided by the structure of its expressions, not by following the tokens: by product construction one `maxLength` cost
8 ms. Where a pattern counts as well, see lexeme_masks/slice_capacity.py. (Idea of slices: the llguidance project,
docs/optimizations.md.)

In: a lexer state. Out: a position in SLICES. Cost: under 1 us.
"""

from __future__ import annotations

from ..lexer.dense_transitions import is_wide
from ..lexer.states import is_lazy
from ..machine.jit import kernel, never_inline
from ..regex.constructors import make_not
from ..regex.emptiness import is_empty
from ..regex.nodes import (
    FINITE,
    HIGH,
    K_AND,
    K_CONCAT,
    K_NOT,
    K_REPEAT,
    K_UNION,
    KIND,
    UNBOUNDED,
    UNIT,
    A,
    B,
    field,
    has_flag,
    push,
)
from ..regex.set_operations import QUOTE, make_and
from ..tables.interning import list_item, list_length, list_offset, map_get, map_put
from ..tables.memory import EXCEEDED, block, get_i32, get_i64, spend
from ..tables.store_layout import COVERED, N_SLICES, N_WIDE_SLICES, NODE_LISTS, SCRATCH_TOP, SLICES, STATE_KEYS
from .slice_capacity import counted_room
from .slice_closure import roams

NODE_BITS = 32
NO_ROOM = -1
SLICE_FIELDS = 9
SLICE_CHAR = 0  # regex node of one code point
SLICE_MOST = 1  # most code points of a token, UNBOUNDED for no bound
SLICE_MASK = 2  # address of its mask
SLICE_TOKENS = 3  # number of its tokens
SLICE_TRIE = 4  # address of the trie words of all other tokens
SLICE_TRIE_NODES = 5
SLICE_MAIN = 6  # address of int32[n]: the same node in the whole trie
SLICE_LENGTHS = 7  # address of int32[2 + most]: the length of the longest token, then how many have more than 0, 1, ...
SLICE_LONGER = 8  # address of int32[n]: its tokens, the longest first


@kernel
def _covers(store, node, char):
    """Whether every string of `char` matches `node`: a few nodes, asked for every state."""
    never_inline()
    key = node << NODE_BITS | char
    known = map_get(store, COVERED, key)
    if known < 0:
        first = store[SCRATCH_TOP]
        push(store, char)
        push(store, make_not(store, node))
        known = 1 if is_empty(store, make_and(store, first)) else 0
        if store[EXCEEDED] == 0:
            map_put(store, COVERED, key, known)
    return known != 0


@kernel
def _repeats(store, node, char):
    """How many strings of `char` a plain repetition certainly takes: x{a,b} t takes b when x covers char."""
    never_inline()
    if field(store, node, KIND) == K_CONCAT:
        node = field(store, node, A)
    if field(store, node, KIND) == K_REPEAT and _covers(store, field(store, node, A), char):
        return field(store, node, HIGH)
    return 0


@kernel
def _lexeme(store, state, j):
    """What is left of a lexeme of a state."""
    return get_i32(block(store, STATE_KEYS + 1), list_offset(store, STATE_KEYS, state) + 2 * j + 1)


@kernel
def _is_in_lexeme(store, state, node):
    """Whether what is left of a lexeme of a state is `node`, or a union that has it."""
    never_inline()
    n = list_length(store, STATE_KEYS, state) // 2
    spend(store, n >> 2)
    for j in range(n):
        left = _lexeme(store, state, j)
        if left == node:
            return True
        if field(store, left, KIND) == K_UNION:
            members = field(store, left, A)
            spend(store, list_length(store, NODE_LISTS, members) >> 2)
            for i in range(list_length(store, NODE_LISTS, members)):
                if list_item(store, NODE_LISTS, members, i) == node:
                    return True
    return False


@kernel
def _leaves_some(store, state, excluded):
    """Whether a state is alive where all strings but those of `excluded` go on without end.

    Those may be finitely many, and more that lexemes of the state match: where these are over, no others are excluded.
    """
    never_inline()
    if has_flag(store, excluded, FINITE):
        return True
    if field(store, excluded, KIND) != K_UNION:
        return _is_in_lexeme(store, state, excluded)
    members = field(store, excluded, A)
    spend(store, list_length(store, NODE_LISTS, members) >> 2)
    for i in range(list_length(store, NODE_LISTS, members)):
        member = list_item(store, NODE_LISTS, members, i)
        if not has_flag(store, member, FINITE) and not _is_in_lexeme(store, state, member):
            return False
    return True


@kernel
def cover(store, state, node, char):
    """A number of strings of `char` after any of which, in any order, a state with `node` is certainly alive.

    Decided by structure, so a bound of 10,000 costs no states: repetitions, unions of them (the best branch), and an
    unbounded repetition without finitely many strings (a free key that excludes declared names: any prefix can still be
    continued to a string that is not excluded), and without those of other lexemes of the state (a free key beside
    those that `patternProperties` match).

    Sound because `node` has a string: a lexer state holds no empty node. So have both parts of a concatenation and the
    operands of an intersection; a member of a union may have none and is asked.
    """
    never_inline()
    kind = field(store, node, KIND)
    if kind == K_UNION:
        best = 0
        members = field(store, node, A)
        n = list_length(store, NODE_LISTS, members)
        if n > 16:
            return 0
        for i in range(n):
            member = list_item(store, NODE_LISTS, members, i)
            # the union has a string, a member need not: in .*(?=a)b|xy only xy is left
            if not is_empty(store, member):
                best = max(best, _repeats(store, member, char))
        return best
    if kind == K_CONCAT and field(store, field(store, node, A), KIND) == K_AND:
        node = field(store, node, A)
        kind = K_AND
    if kind == K_AND:
        members = field(store, node, A)
        if list_length(store, NODE_LISTS, members) != 2:
            return 0
        for i in range(2):
            excluded = list_item(store, NODE_LISTS, members, i)
            other = list_item(store, NODE_LISTS, members, 1 - i)
            if field(store, excluded, KIND) == K_NOT and _leaves_some(store, state, field(store, excluded, A)):
                if _repeats(store, other, char) == UNBOUNDED:
                    return UNBOUNDED
        return 0
    return _repeats(store, node, char)


@kernel
def cover_of_state(store, state, char):
    """A number of strings of `char` after any of which a state is certainly alive.

    Where a lazy lexeme ends inside a token all the others do, too: each of them has to go on.
    """
    never_inline()
    n = list_length(store, STATE_KEYS, state) // 2
    n_lazy = 0
    covered = 0
    for j in range(n):
        if is_lazy(store, _lexeme(store, state, j)):
            n_lazy += 1
        else:
            covered = max(covered, cover(store, state, _lexeme(store, state, j), char))
    if (covered != 0 and n_lazy == 0) or not is_wide(store, state):
        return covered if n_lazy == 0 else 0
    for j in range(n):
        node = _lexeme(store, state, j)
        if n_lazy == 0:
            room = counted_room(store, node, char)
            if room == 0 and roams(store, node, char, 1):
                return UNBOUNDED
            covered = max(covered, room)
        elif is_lazy(store, node) and not roams(store, node, char, 0):
            return 0
    return UNBOUNDED if n_lazy != 0 else covered


@kernel
def exact_room(store, state):
    """How many strings of the first slice's node a state takes and no more, or NO_ROOM: a string of bounded length.

    A token of that slice without a bound then stays alive if it is not longer, and only the others have to be walked.
    """
    node = list_item(store, STATE_KEYS, state, 1)
    repeat = field(store, node, A)
    if store[N_SLICES] == 0 or list_length(store, STATE_KEYS, state) != 2 or field(store, node, KIND) != K_CONCAT:
        return NO_ROOM
    if field(store, repeat, KIND) != K_REPEAT or field(store, repeat, HIGH) == UNBOUNDED:
        return NO_ROOM
    char = get_i64(block(store, SLICES), SLICE_CHAR)
    is_unit = has_flag(store, field(store, repeat, A), UNIT) and field(store, node, B) == QUOTE
    return field(store, repeat, HIGH) if is_unit and _covers(store, field(store, repeat, A), char) else NO_ROOM


@kernel
def best_slice(store, state):
    """Position in SLICES of the largest slice whose tokens all stay alive from `state`, or -1."""
    never_inline()
    slices = block(store, SLICES)
    best = -1
    most_tokens = 0
    char = -1
    covered = 0
    for i in range(0 if is_wide(store, state) else store[N_WIDE_SLICES], store[N_SLICES]):
        at = i * SLICE_FIELDS
        if get_i64(slices, at + SLICE_TOKENS) <= most_tokens:
            continue  # most states take the largest of all; deciding on the others took a twelfth of a first document
        if get_i64(slices, at + SLICE_CHAR) != char:
            char = get_i64(slices, at + SLICE_CHAR)
            covered = cover_of_state(store, state, char)
        if get_i64(slices, at + SLICE_MOST) <= covered:
            best = i
            most_tokens = get_i64(slices, at + SLICE_TOKENS)
    return best
