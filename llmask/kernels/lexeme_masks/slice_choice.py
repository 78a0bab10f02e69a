"""Which slice a lexer state may take: a family of tokens that all certainly stay inside its lexemes.

A *slice* has the tokens of 1 to k strings of one regex node (a code point). Whether a state takes them all is an
inclusion of languages. It is decided by the structure of the state's expressions, not by following the tokens: by
product construction one `maxLength` cost 8 ms. Where a pattern counts as well, see slice_capacity.py. (Idea of slices:
the llguidance project, docs/optimizations.md.)

In: a lexer state. Out: a position in `slices`. Cost: under 1 us.
"""

from ..lexer.dense_transitions import is_wide
from ..lexer.states import is_lazy, live_rest, n_live, only_rest
from ..machine.jit import kernel
from ..regex.constructors import make_not
from ..regex.emptiness import is_empty
from ..regex.ideals import NO_ROOM, room_around
from ..regex.nodes import UNBOUNDED, Node, as_difference, n_operands, operand
from ..regex.products import roams
from ..regex.set_operations import QUOTE, intersection_of
from ..tables.interning import map_get, map_put
from ..tables.kinds import NodeKind
from ..tables.memory import spend
from .slice_capacity import MOST_MEMBERS, counted_room

NODE_BITS = 32


@kernel
def _covers(store, node, char):
    """Whether every string of `char` matches `node`: a few nodes, asked for every state."""
    key = node << NODE_BITS | char
    known = map_get(store.covered, key)
    if known < 0:
        known = 1 if is_empty(store, intersection_of(store, char, make_not(store, node))) else 0
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


@kernel
def _is_in_lexeme(store, state, node):
    """Whether the rest of a live lexeme of a state is `node`, or a union that has it."""
    n = n_live(store, state)
    spend(store, n >> 2)
    for j in range(n):
        rest = live_rest(store, state, j)
        if rest == node:
            return True
        if store.nodes[rest].kind == NodeKind.UNION:
            spend(store, n_operands(store, rest) >> 2)
            for i in range(n_operands(store, rest)):
                if operand(store, rest, i) == node:
                    return True
    return False


@kernel
def _leaves_some(store, state, excluded):
    """Whether a state is alive where all strings but the `excluded` ones go on without end.

    These may be finitely many, and more that lexemes of the state match: where these end, no others are excluded.
    """
    if store.nodes[excluded].finite:
        return True
    if store.nodes[excluded].kind != NodeKind.UNION:
        return _is_in_lexeme(store, state, excluded)
    spend(store, n_operands(store, excluded) >> 2)
    for i in range(n_operands(store, excluded)):
        member = operand(store, excluded, i)
        if not store.nodes[member].finite and not _is_in_lexeme(store, state, member):
            return False
    return True


@kernel
def cover(store, state, node, char):
    """A number n so that any n strings of `char`, in any order, leave a state with `node` alive.

    Decided by structure, so a bound of 10,000 costs no states: repetitions, unions of them (the best branch), and an
    unbounded repetition without finitely many strings (a free key that excludes declared names: any prefix can still be
    continued to a string that is not excluded), and without strings of other lexemes of the state (a free key besides
    the keys that `patternProperties` match).

    Sound because `node` has a string: a lexer state has no empty node. So have both parts of a concatenation and the
    operands of an intersection; a member of a union may have none and is asked.
    """
    if store.nodes[node].kind == NodeKind.UNION:
        best = 0
        n = n_operands(store, node)
        if n > MOST_MEMBERS:
            return 0
        for i in range(n):
            member = operand(store, node, i)
            # the union has a string, a member need not: in .*(?=a)b|xy only xy is left
            if not is_empty(store, member):
                best = max(best, _repeats(store, member, char))
        return best
    if store.nodes[node].kind == NodeKind.CONCAT and store.nodes[store.nodes[node].a].kind == NodeKind.AND:
        node = store.nodes[node].a
    if store.nodes[node].kind != NodeKind.AND:
        return _repeats(store, node, char)
    room = room_around(store, node, char)
    while room == NO_ROOM and store.unknown_cover != Node.EMPTY and store.exceeded == 0:
        _covers(store, store.unknown_cover, char)
        room = room_around(store, node, char)
    if room > 0:
        return room
    other, excluded = as_difference(store, node)
    is_endless = _leaves_some(store, state, excluded) and _repeats(store, other, char) == UNBOUNDED
    return UNBOUNDED if is_endless else 0


@kernel
def cover_of_state(store, state, char):
    """A number n so that any n strings of `char` leave a state alive.

    Where a lazy lexeme ends inside a token all the others do, too: each of them has to go on.
    """
    n = n_live(store, state)
    n_lazy = 0
    covered = 0
    for j in range(n):
        if is_lazy(store, live_rest(store, state, j)):
            n_lazy += 1
        else:
            covered = max(covered, cover(store, state, live_rest(store, state, j), char))
    if (covered != 0 and n_lazy == 0) or not is_wide(store, state):
        return covered if n_lazy == 0 else 0
    for j in range(n):
        node = live_rest(store, state, j)
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
    """The most strings of the first slice's node that a state takes, or NO_ROOM: it is in a string of bounded length.

    A token of that slice without a bound then stays alive if it is not longer, and only the others have to be walked.
    """
    node = only_rest(store, state)
    repeat = store.nodes[node].a
    if store.n_slices == 0 or store.nodes[node].kind != NodeKind.CONCAT:
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
