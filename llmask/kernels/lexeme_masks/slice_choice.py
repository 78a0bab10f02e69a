r"""Which slice a lexer state may take: a family of tokens that all certainly stay inside its lexemes.

A *slice* has the tokens of 1 to k strings of one regex node (a code point). Whether a state takes them all is an
inclusion of languages. It is decided by the structure of the state's expressions, not by following the tokens: by
product construction one `maxLength` cost 8 ms. (Idea of slices: the llguidance project, docs/optimizations.md.)

Where a pattern counts as well, room is found without the counts:

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

In: a lexer state. Out: a position in `slices`. Cost: under 1 us; 2 us where a pattern counts, and 30 us for a node
without bounds that is new.
"""

from ..lexer.dense_transitions import is_wide
from ..lexer.states import is_lazy, live_rest, n_live, only_rest
from ..machine.jit import inline, kernel
from ..regex.constructors import make_concat, make_not, make_repeat
from ..regex.derivatives import derivative
from ..regex.emptiness import is_empty
from ..regex.ideals import NO_ROOM, room_around
from ..regex.nodes import UNBOUNDED, Node, NodeFlag, as_difference, has_flag, n_operands, operand, pop, push
from ..regex.products import find_pair, roams
from ..regex.set_operations import QUOTE, intersection_of, make_and, make_union
from ..tables.interning import map_get, map_put
from ..tables.kinds import NodeKind
from ..tables.memory import spend

MOST_MEMBERS = 16  # of a union or intersection that is looked into
LEAST_ROOM = 8  # bounds that leave less are kept: they make few states
MOST_PARTS = 64  # of a sequence that are looked at
MOST_LEFT = 4  # bytes that complete a string
NOT_CODED = -1
DOES_NOT_ROAM = 0
NODE_BITS = 32


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
