"""Which slice a lexer state may take: a family of tokens all of which certainly stay alive.

A *slice* holds the tokens of 1 to k strings of one regex node (a code point). Whether a state takes them all is
decided by the structure of its expressions, not by following the tokens: by product construction one `maxLength` cost
8 ms. Where a pattern counts as well, see lexeme_masks/slice_capacity.py. (Idea of slices: the llguidance project,
docs/optimizations.md.)

In: a lexer state. Out: a position in `slices`. Cost: under 1 us.
"""

from __future__ import annotations

from ..lexer.dense_transitions import is_wide
from ..lexer.states import is_lazy
from ..machine.jit import inline, kernel
from ..regex.constructors import make_not
from ..regex.emptiness import is_empty
from ..regex.nodes import UNBOUNDED, push
from ..regex.set_operations import QUOTE, make_and
from ..tables.interning import list_item, list_length, list_offset, map_get, map_put
from ..tables.kinds import NodeKind
from ..tables.memory import spend
from .slice_capacity import counted_room
from .slice_closure import roams

NODE_BITS = 32
NO_ROOM = -1


@kernel
def _covers(store, node, char):
    """Whether every string of `char` matches `node`: a few nodes, asked for every state."""
    key = node << NODE_BITS | char
    known = map_get(store.covered, key)
    if known < 0:
        first = store.scratch_top
        push(store, char)
        push(store, make_not(store, node))
        known = 1 if is_empty(store, make_and(store, first)) else 0
        if store.exceeded == 0:
            map_put(store.covered, key, known)
    return known != 0


@kernel
def _repeats(store, node, char):
    """How many strings of `char` a plain repetition certainly takes: x{a,b} t takes b when x covers char."""
    if store.nodes[node].kind == NodeKind.CONCAT:
        node = store.nodes[node].a
    if store.nodes[node].kind == NodeKind.REPEAT and _covers(store, store.nodes[node].a, char):
        return store.nodes[node].high
    return 0


@inline
def _lexeme(store, state, j):
    """What is left of a lexeme of a state."""
    return store.state_keys.pool[list_offset(store.state_keys, state) + 2 * j + 1]


@kernel
def _is_in_lexeme(store, state, node):
    """Whether what is left of a lexeme of a state is `node`, or a union that has it."""
    n = list_length(store.state_keys, state) // 2
    spend(store, n >> 2)
    for j in range(n):
        left = _lexeme(store, state, j)
        if left == node:
            return True
        if store.nodes[left].kind == NodeKind.UNION:
            members = store.nodes[left].a
            spend(store, list_length(store.node_lists, members) >> 2)
            for i in range(list_length(store.node_lists, members)):
                if list_item(store.node_lists, members, i) == node:
                    return True
    return False


@kernel
def _leaves_some(store, state, excluded):
    """Whether a state is alive where all strings but those of `excluded` go on without end.

    Those may be finitely many, and more that lexemes of the state match: where these are over, no others are excluded.
    """
    if store.nodes[excluded].finite:
        return True
    if store.nodes[excluded].kind != NodeKind.UNION:
        return _is_in_lexeme(store, state, excluded)
    members = store.nodes[excluded].a
    spend(store, list_length(store.node_lists, members) >> 2)
    for i in range(list_length(store.node_lists, members)):
        member = list_item(store.node_lists, members, i)
        if not store.nodes[member].finite and not _is_in_lexeme(store, state, member):
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
    kind = store.nodes[node].kind
    if kind == NodeKind.UNION:
        best = 0
        members = store.nodes[node].a
        n = list_length(store.node_lists, members)
        if n > 16:
            return 0
        for i in range(n):
            member = list_item(store.node_lists, members, i)
            # the union has a string, a member need not: in .*(?=a)b|xy only xy is left
            if not is_empty(store, member):
                best = max(best, _repeats(store, member, char))
        return best
    if kind == NodeKind.CONCAT and store.nodes[store.nodes[node].a].kind == NodeKind.AND:
        node = store.nodes[node].a
        kind = NodeKind.AND
    if kind == NodeKind.AND:
        members = store.nodes[node].a
        if list_length(store.node_lists, members) != 2:
            return 0
        for i in range(2):
            excluded = list_item(store.node_lists, members, i)
            other = list_item(store.node_lists, members, 1 - i)
            if store.nodes[excluded].kind == NodeKind.NOT and _leaves_some(store, state, store.nodes[excluded].a):
                if _repeats(store, other, char) == UNBOUNDED:
                    return UNBOUNDED
        return 0
    return _repeats(store, node, char)


@kernel
def cover_of_state(store, state, char):
    """A number of strings of `char` after any of which a state is certainly alive.

    Where a lazy lexeme ends inside a token all the others do, too: each of them has to go on.
    """
    n = list_length(store.state_keys, state) // 2
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


@inline
def exact_room(store, state):
    """How many strings of the first slice's node a state takes and no more, or NO_ROOM: a string of bounded length.

    A token of that slice without a bound then stays alive if it is not longer, and only the others have to be walked.
    """
    node = list_item(store.state_keys, state, 1)
    repeat = store.nodes[node].a
    if store.n_slices == 0 or list_length(store.state_keys, state) != 2 or store.nodes[node].kind != NodeKind.CONCAT:
        return NO_ROOM
    if store.nodes[repeat].kind != NodeKind.REPEAT or store.nodes[repeat].high == UNBOUNDED:
        return NO_ROOM
    char = store.slices[0].char
    is_unit = store.nodes[store.nodes[repeat].a].unit and store.nodes[node].b == QUOTE
    return store.nodes[repeat].high if is_unit and _covers(store, store.nodes[repeat].a, char) else NO_ROOM


@kernel
def best_slice(store, state):
    """Position in `slices` of the largest slice whose tokens all stay alive from `state`, or -1."""
    slices = store.slices
    best = -1
    most_tokens = 0
    char = -1
    covered = 0
    for i in range(0 if is_wide(store, state) else store.n_wide_slices, store.n_slices):
        if slices[i].n_tokens <= most_tokens:
            continue  # most states take the largest of all; deciding on the others took a twelfth of a first document
        if slices[i].char != char:
            char = slices[i].char
            covered = cover_of_state(store, state, char)
        if slices[i].most <= covered:
            best = i
            most_tokens = slices[i].n_tokens
    return best
