r"""How many code points a counting expression certainly takes: room that is found without the counts.

    ^(\S+\s+){0,99}\S+$ with a maxLength has a lexer state for every number of words and of characters. Without the
    bounds there are two, after a blank and after a letter, and whatever plain characters come, they lead to one of
    these, from which a letter and the quote end the string.

A node with bounds and the same without them have the same strings of up to N words of a code (of JSON's or of UTF-8, a
code point each, see `unit` and `character` in tables/store_layout.py), if each bounded repetition takes that many:
x{a,b} takes at least b times the words of x.
That holds for unions, intersections and complements of such nodes, too. So a string of n plain characters leads on, if
it does so without the bounds, and can be completed there by D more, and n + D <= N. It is enough to follow the node
without bounds: it leads to few pairs (regex/products.py), and most lexer states share it.

A repetition counts words where everything before it is words. Others stay as they are. Along a text of 28 words with a
maxLength of 300 new masks took 1.1 ms in the median (Llama 3), and take 0.3; with {0,29} 1.2 and 0.8, as the room ends.

In: a node, the node of plain characters. Out: a number of these. Cost: 2 us, and 30 us for a node without bounds that
is new.
"""

from ..machine.jit import inline, kernel
from ..regex.constructors import make_concat, make_repeat
from ..regex.derivatives import derivative
from ..regex.nodes import UNBOUNDED, Node, NodeFlag, has_flag, n_operands, operand, pop, push
from ..regex.products import find_pair, roams
from ..regex.set_operations import make_and, make_union
from ..tables.interning import map_get, map_put
from ..tables.kinds import NodeKind

MOST_MEMBERS = 16  # of a union or intersection that is looked into
LEAST_ROOM = 8  # bounds that leave less are kept: they make few states
MOST_PARTS = 64  # of a sequence that are looked at
MOST_LEFT = 4  # bytes that complete a string
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
    least, n = UNBOUNDED, n_operands(store, node)
    if n > MOST_MEMBERS:
        return NOT_CODED
    for i in range(n):
        least = min(least, _words_of_sequence(store, operand(store, node, i), code))  # NOT_CODED is below all
        if least == NOT_CODED:
            break
    return least


@kernel
def _unbounded_sequence(store, node, code):
    """A sequence without its bounds, and the number of words up to which both have the same strings."""
    first, room = store.scratch_top, UNBOUNDED
    for _ in range(MOST_PARTS):
        is_last = store.nodes[node].kind != NodeKind.CONCAT
        part = node if is_last else store.nodes[node].a
        if store.nodes[part].kind == NodeKind.REPEAT:
            body, high = store.nodes[part].a, store.nodes[part].high
            words = _words_of(store, body, code)
            if words == NOT_CODED:
                break
            most = high * max(words, 1)  # of an empty word there may be any number anywhere
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
    return node, room


@kernel
def _unbounded_union(store, node, code):
    """As `_unbounded_sequence`, also for a union of sequences."""
    if store.nodes[node].kind != NodeKind.UNION or has_flag(store, node, code):
        return _unbounded_sequence(store, node, code)
    first, n, room = store.scratch_top, n_operands(store, node), UNBOUNDED
    if n > MOST_MEMBERS:
        return node, room
    for i in range(n):
        part, room_of_part = _unbounded_sequence(store, operand(store, node, i), code)
        room = min(room, room_of_part)
        push(store, part)
    return make_union(store, first), room


@kernel
def _unbounded(store, node, code):
    """As `_unbounded_union`, also for an intersection of unions."""
    if store.nodes[node].kind != NodeKind.AND:
        return _unbounded_union(store, node, code)
    first, n, room = store.scratch_top, n_operands(store, node), UNBOUNDED
    if n > MOST_MEMBERS:
        return node, room
    for i in range(n):
        part, room_of_part = _unbounded_union(store, operand(store, node, i), code)
        room = min(room, room_of_part)
        push(store, part)
    return make_and(store, first), room


@kernel
def _is_completed(store, pair, char, n_bytes):
    """Whether the expression of a pair is completed by `n_bytes` ASCII bytes; marks say which take fewer."""
    node = store.pairs[pair].left
    for byte in range(0x20, 0x7F):
        after = derivative(store, node, byte)
        if store.nodes[after].nullable:
            return True
        other = find_pair(store, after, char)
        if other >= 0 and 0 < store.pairs[other].mark < n_bytes:
            return True
    return False


@kernel
def _left_to_complete(store, node, char):
    """Most bytes that complete a string of `node` after any strings of `char`, or DOES_NOT_ROAM."""
    if not roams(store, node, char, 1):
        return DOES_NOT_ROAM
    for n_bytes in range(1, MOST_LEFT + 1):
        n_open = 0
        for i in range(store.n_pairs):
            if store.pairs[i].right != char or store.pairs[i].mark != 0:
                continue  # inside a code point, where one comes to a pair that is not; or completed by fewer bytes
            if _is_completed(store, i, char, n_bytes):
                store.pairs[i].mark = n_bytes
            else:
                n_open += 1
        if n_open == 0:
            return n_bytes
    return DOES_NOT_ROAM


@kernel
def _room_in(store, node, char, code):
    """The room that is counted in words of one code, `char` among them."""
    if not has_flag(store, char, code):
        return 0
    first = store.nodes[node].a
    if store.nodes[node].kind == NodeKind.CONCAT:
        kind = store.nodes[first].kind
        if kind == NodeKind.AND or (kind == NodeKind.UNION and not has_flag(store, first, code)):
            node = first  # what follows has a string
    loose, room = _unbounded(store, node, code)
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
    """Room: a number n so that any n strings of `char` leave `node` alive, where it counts code points; or 0."""
    return max(_room_in(store, node, char, NodeFlag.UNIT), _room_in(store, node, char, NodeFlag.CHARACTER))
