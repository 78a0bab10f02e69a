r"""Texts that may be anywhere: their intersection has a string, and no search need find it.

    u* x u* t     x with any characters before and after it, and a tail t

A string of each x, one after the other and then t, is in the intersection of several such expressions (two-sided ideals
of the strings over u). It is so after any other characters, too. So no text leads to an empty derivative, however many
derivatives there are: 2^192 of ^(?=.*a.{64}b)(?=.*c.{64}d)(?=.*e.{64}f). A union has the strings of its members, so one
member of this form is enough. With a bound of the length, u{low,high} t, all x together take `high` characters at most.

Which u may be around x is asked for the node of one character: u has to match all that it does. Strings of x are looked
for among these characters, too.

In: an intersection, the node of a character. Out: the room that is left. Cost: 0.1 us an operand.
"""

from ..machine.jit import inline, kernel
from ..tables.interning import map_get, map_put
from ..tables.kinds import NodeKind
from ..tables.memory import spend
from .derivatives import derivative
from .nodes import UNBOUNDED, Node, n_operands, operand
from .set_operations import QUOTE
from .text_derivatives import byte_at, literal_length

CHAR_BITS = 32
ASKED_CHARS = 1 << 62  # in keys of `covered`
FIRST_CHAR = 0x20
LAST_CHAR = 0x7E
MOST_PARTS = 64  # of a sequence that are looked at
MOST_ALTERNATIVES = 256
NO_ROOM = -1


@inline
def is_covered(store, node, char):
    """Whether every string of `char` is known to match `node`; where nobody asked yet, `unknown_cover` says which."""
    if store.nodes[node].all_units and store.nodes[char].unit:
        return True
    known = map_get(store.covered, node << CHAR_BITS | char)
    if known < 0:
        store.unknown_cover = node
    return known == 1


@inline
def _is_char(store, char, byte):
    return store.nodes[derivative(store, char, byte)].nullable


@kernel
def _n_chars(store, node, char):
    """How many characters of ASCII, all in `char`, make a string of a node; 0: neither a literal nor one byte does."""
    key = ASKED_CHARS | node << CHAR_BITS | char
    known = map_get(store.covered, key)
    if known < 0:
        known = 0
        length = literal_length(store, node)
        while known < length and _is_char(store, char, byte_at(store, node, known)):
            known += 1
        if known < length:
            known = 0
        byte = FIRST_CHAR
        while length == 0 and known == 0 and byte <= LAST_CHAR:
            if _is_char(store, char, byte) and store.nodes[derivative(store, node, byte)].nullable:
                known = 1
            byte += 1
        if store.exceeded == 0:
            map_put(store.covered, key, known)
    return known


@kernel
def _of_sequence(store, node, char, tail):
    """Characters that x takes, and bounds of the length: `u* x u* tail` or `u{low,high} tail`; else NO_ROOM first."""
    n_needed = 0
    for i in range(MOST_PARTS):
        is_last = store.nodes[node].kind != NodeKind.CONCAT
        part = node if is_last else store.nodes[node].a
        node = Node.EPSILON if is_last else store.nodes[node].b
        body, low, high, is_around = part, 1, 1, False
        if store.nodes[part].kind == NodeKind.REPEAT:
            body, low, high = store.nodes[part].a, store.nodes[part].low, store.nodes[part].high
            is_around = is_covered(store, body, char)
        if is_around and node == tail and i == 0:
            return 0, low, high
        if i == 0 and not (is_around and high == UNBOUNDED):
            return NO_ROOM, 0, 0
        if part == Node.ALL and node == tail:
            return n_needed, 0, UNBOUNDED
        if low > 0:
            n_chars = _n_chars(store, body, char)
            if n_chars == 0:
                return NO_ROOM, 0, 0
            n_needed += n_chars * low
        if is_around and node == tail and high == UNBOUNDED:
            return n_needed, 0, UNBOUNDED
        if is_last:
            return NO_ROOM, 0, 0
    return NO_ROOM, 0, 0


@kernel
def _of_union(store, node, char, tail):
    """As `_of_sequence`, of the member of a union that takes the fewest characters."""
    if store.nodes[node].kind != NodeKind.UNION:
        return _of_sequence(store, node, char, tail)
    found, least, most = NO_ROOM, 0, 0
    n = min(n_operands(store, node), MOST_ALTERNATIVES)
    spend(store, n >> 3)
    for i in range(n):
        n_needed, low, high = _of_sequence(store, operand(store, node, i), char, tail)
        if n_needed != NO_ROOM and (found == NO_ROOM or n_needed < found):
            found, least, most = n_needed, low, high
    return found, least, most


@kernel
def _room_before(store, node, char, tail):
    n_needed, least, most = 0, 0, UNBOUNDED
    for i in range(n_operands(store, node)):
        part, end, n = operand(store, node, i), tail, 1
        first = store.nodes[part].a
        is_in_quotes = store.nodes[part].kind == NodeKind.CONCAT and store.nodes[first].kind == NodeKind.AND
        if is_in_quotes and store.nodes[part].b == tail:  # a pattern of JSON: an intersection before the tail
            part, end, n = first, Node.EPSILON, n_operands(store, first)
        for j in range(n):
            member = part if n == 1 else operand(store, part, j)
            needed, low, high = _of_union(store, member, char, end)
            if needed == NO_ROOM:
                return NO_ROOM
            n_needed, least, most = n_needed + needed, max(least, low), min(most, high)
    if max(n_needed, least) > most:
        return NO_ROOM
    return UNBOUNDED if most == UNBOUNDED else most - n_needed


@kernel
def room_around(store, node, char):
    """A number n so that an intersection has a string after any n strings of `char`, or NO_ROOM: that cannot be told,
    or not before it is known whether all of `char` matches `unknown_cover`, if that is a node.
    """
    store.unknown_cover = Node.EMPTY
    if store.nodes[node].kind != NodeKind.AND:
        return NO_ROOM
    room = _room_before(store, node, char, QUOTE)
    return room if room != NO_ROOM else _room_before(store, node, char, Node.EPSILON)
