r"""How much room is left where code points are counted: which strings certainly stay alive, found without the counts.

    ^(\S+\s+){0,99}\S+$ with a maxLength has a lexer state for every number of words and of characters. Without the
    bounds there are two, behind a blank and behind a letter, and whatever plain characters come, they lead to one of
    these, from which a letter and the quote end the string.

A node with bounds and the same without them have the same strings of up to N words of a code (of JSON's or of UTF-8, a
code point each, see UNIT and CHARACTER in regex/nodes.py), if each bounded repetition takes that many: x{a,b} takes at
least b times the words of x.
That holds for unions, intersections and complements of such nodes, too. So a string of n plain characters leads on, if
it does so without the bounds, and can be completed there by D more, and n + D <= N. It is enough to follow the node
without bounds: there are few ways to be, and most lexer states share it.

A repetition counts words where everything before it is words. Others stay as they are. Along a text of 28 words with a
maxLength of 300 new masks took 1.1 ms in the median (Llama 3), and take 0.3; with {0,29} 1.2 and 0.8, as the room ends.

In: a node, the node of plain characters. Out: a number of these. Cost: 2 us, and 30 us for a node without bounds that
is new.
"""

from __future__ import annotations

from ..machine.jit import inline, kernel
from ..regex.constructors import make_concat, make_repeat
from ..regex.derivatives import derivative
from ..regex.nodes import UNBOUNDED, Node, NodeFlag, has_flag, pop, push
from ..regex.set_operations import make_and, make_union
from ..tables.interning import list_item, list_length, map_get, map_put
from ..tables.kinds import NodeKind
from .slice_closure import ROAM_FIELDS, follow_all

MOST_MEMBERS = 16  # of a union or intersection that is looked into
LEAST_ROOM = 8  # bounds that leave less are kept: they make few states
MOST_PARTS = 64  # of a sequence that are looked at
MOST_LEFT = 4  # bytes that complete a string
ROOM_BITS = 32
NOT_CODED = -1
DOES_NOT_ROAM = 0


@inline
def _words_of_sequence(store, node, code):
    """The least number of words of a sequence of code points and repetitions of some, or NOT_CODED."""
    n = 0
    for _ in range(MOST_PARTS):
        is_last = store.nodes[node].kind != NodeKind.CONCAT
        part, times = node if is_last else store.nodes[node].a, 1
        if store.nodes[part].kind == NodeKind.REPEAT:
            part, times = store.nodes[part].a, store.nodes[part].low
        if not has_flag(store, part, code):
            return NOT_CODED
        n += times
        if is_last:
            return n
        node = store.nodes[node].b
    return NOT_CODED


@kernel
def _words_of(store, node, code):
    """The least number of words of a sequence or a union of some, or NOT_CODED."""
    if store.nodes[node].kind != NodeKind.UNION or has_flag(store, node, code):
        return _words_of_sequence(store, node, code)
    members = store.nodes[node].a
    least, n_members = UNBOUNDED, list_length(store.node_lists, members)
    if n_members > MOST_MEMBERS:
        return NOT_CODED
    for i in range(n_members):
        n = _words_of_sequence(store, list_item(store.node_lists, members, i), code)
        if n == NOT_CODED:
            return NOT_CODED
        least = min(least, n)
    return least


@kernel
def _without_bounds_in_sequence(store, node, code):
    """A node without bounds << ROOM_BITS | the words for which it has the same strings, for a sequence."""
    first, room = store.scratch_top, UNBOUNDED
    for _ in range(MOST_PARTS):
        is_last = store.nodes[node].kind != NodeKind.CONCAT
        part = node if is_last else store.nodes[node].a
        if store.nodes[part].kind == NodeKind.REPEAT:
            body, high = store.nodes[part].a, store.nodes[part].high
            words = _words_of(store, body, code)
            if words == NOT_CODED:
                break
            most = high * max(words, 1)  # of an empty word any number may stand anywhere
            if high != UNBOUNDED and most >= LEAST_ROOM:
                room = min(room, most)
                part = make_repeat(store, body, store.nodes[part].low, UNBOUNDED)
        elif not has_flag(store, part, code):
            break
        push(store, part)
        node = Node.EPSILON if is_last else store.nodes[node].b
        if is_last:
            break
    while store.scratch_top > first:
        part = pop(store)
        node = make_concat(store, part, node)
    return node << ROOM_BITS | room


@kernel
def _without_bounds_in_union(store, node, code):
    """As `_without_bounds_in_sequence` for a sequence or a union of some."""
    if store.nodes[node].kind != NodeKind.UNION or has_flag(store, node, code):
        return _without_bounds_in_sequence(store, node, code)
    members = store.nodes[node].a
    first, n, room = store.scratch_top, list_length(store.node_lists, members), UNBOUNDED
    if n > MOST_MEMBERS:
        return node << ROOM_BITS | room
    for i in range(n):
        found = _without_bounds_in_sequence(store, list_item(store.node_lists, members, i), code)
        room = min(room, found & UNBOUNDED)
        push(store, found >> ROOM_BITS)
    return make_union(store, first) << ROOM_BITS | room


@kernel
def _without_bounds_in_intersection(store, node, code):
    """The same for an intersection of such nodes, too."""
    if store.nodes[node].kind != NodeKind.AND:
        return _without_bounds_in_union(store, node, code)
    members = store.nodes[node].a
    first, n, room = store.scratch_top, list_length(store.node_lists, members), UNBOUNDED
    if n > MOST_MEMBERS:
        return node << ROOM_BITS | room
    for i in range(n):
        found = _without_bounds_in_union(store, list_item(store.node_lists, members, i), code)
        room = min(room, found & UNBOUNDED)
        push(store, found >> ROOM_BITS)
    return make_and(store, first) << ROOM_BITS | room


@kernel
def _is_completed(store, first, n, way, char, n_bytes):
    """Whether a way is completed by so many ASCII bytes; what less of them complete is known."""
    node = store.scratch[first + ROAM_FIELDS * way]
    for byte in range(0x20, 0x7F):
        after = derivative(store, node, byte)
        if store.nodes[after].nullable:
            return True
        for other in range(n if n_bytes > 1 else 0):
            at = first + ROAM_FIELDS * other
            if store.scratch[at] == after and store.scratch[at + 1] == char:
                known = store.scratch[first + ROAM_FIELDS * n + other]
                if known != 0 and known < n_bytes:
                    return True
    return False


@kernel
def _left_to_complete(store, node, char):
    """Most bytes that complete a string of `node` behind any strings of `char`, or DOES_NOT_ROAM."""
    first = store.scratch_top
    if not follow_all(store, node, char, 1):
        return DOES_NOT_ROAM
    n = (store.scratch_top - first) // ROAM_FIELDS
    for _ in range(n):
        push(store, 0)
    for n_bytes in range(1, MOST_LEFT + 1):
        n_open = 0
        for way in range(n):
            is_open = store.scratch[first + ROAM_FIELDS * n + way] == 0
            if not is_open or store.scratch[first + ROAM_FIELDS * way + 1] != char:
                continue  # inside of a code point; behind it there is a way
            if _is_completed(store, first, n, way, char, n_bytes):
                store.scratch[first + ROAM_FIELDS * n + way] = n_bytes
            else:
                n_open += 1
        if n_open == 0:
            store.scratch_top = first
            return n_bytes
    store.scratch_top = first
    return DOES_NOT_ROAM


@kernel
def _room_in(store, node, char, code):
    """The room that is counted in words of one code, those of `char` among them."""
    if not has_flag(store, char, code):
        return 0
    first = store.nodes[node].a
    if store.nodes[node].kind == NodeKind.CONCAT:
        kind = store.nodes[first].kind
        if kind == NodeKind.AND or (kind == NodeKind.UNION and not has_flag(store, first, code)):
            node = first  # what follows has a string
    found = _without_bounds_in_intersection(store, node, code)
    loose, room = found >> ROOM_BITS, found & UNBOUNDED
    if room == UNBOUNDED or store.exceeded != 0:
        return 0
    key = loose << 32 | char
    left = map_get(store.rooms, key)
    if left < 0:
        left = _left_to_complete(store, loose, char)
        if store.exceeded != 0:
            return 0
        map_put(store.rooms, key, left)
    return max(room - left, 0) if left != DOES_NOT_ROAM else 0


@inline
def counted_room(store, node, char):
    """A number of strings of `char` after any of which `node` is certainly alive, where it counts code points; or 0."""
    return max(_room_in(store, node, char, NodeFlag.UNIT), _room_in(store, node, char, NodeFlag.CHARACTER))
