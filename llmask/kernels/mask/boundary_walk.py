"""Tokens that cross a lexeme's end; those that stay inside it are found in trie_walk.py.

From each exit of the lexer state the parser takes the lexeme (one look-up of `goto`) and the walk goes on in the new
row's lexer state, over lexemes and rows, through the children of the trie: 91 exits of a string body give a few hundred
tokens.

The walk looks at rows without their records, so that its result is shared by all records of a row. Where a text
decides (goto.py says so) it leaves out what it does not know and notes a *point*, from which `walk_point` walks again,
with places and their records, for one configuration:

    WHOLE    the token that ends at a node, and those below it
    BELOW    those below it
    ENDING   those below it for which the lexeme in hand ends at the node

In a tentative row (variants.py) a token that ends inside a lexeme is certain if at least two letters may follow: they
lead to two values, and one text more is left out at most. Where infinitely many of the values are objects, the
brace and the first quote behind it are certain, too.

A *part* is a node with a large subtree: which of its tokens stay inside the lexeme that is read there, and where it
ends, depends on the lexer state and the node alone, so the store knows it (lexeme_masks/subtree_masks.py), and only the
ends are walked from, in the part's row. Behind an operator the 60,000 tokens that begin with a blank are such a part:
0.3 ms in place of 10. What follows many exits is one, too: it depends on these and on the lexer state behind them.

With TELLS_ENDS the walk tells where every token leads: to a place and a lexer state, or, where something is recorded
that the walk does not look at, to a *bare* row, of which only is taken what holds for all records.

In: the tables, a row and a lexer state. Out: CROSSING, CROSSING_ENDS, POINTS, PARTS. Cost: 20 ns an exit and node.
"""

from __future__ import annotations

from ..lexeme_masks.exits import X_END, X_FIRST, X_NODE, X_STATE, X_TOKEN, exit_field
from ..lexeme_masks.state_masks import first_replaced
from ..lexeme_masks.subtree_masks import part_behind
from ..lexer.dense_transitions import HOT_DEAD, HOT_FIRST, hot_row, hot_state, hot_step
from ..lexer.states import (
    DEAD,
    S_ACCEPTS,
    S_BASE,
    S_FINISHED,
    S_FIRST_EXIT,
    S_GOES_ON,
    S_N_EXITS,
    S_SINGLE,
    S_TWIN,
    next_state,
    put_state_field,
    state_field,
)
from ..machine.constants import TRIE_END_MASK, TRIE_END_SHIFT, TRIE_TOKEN_SHIFT
from ..machine.jit import kernel, never_inline
from ..parser.goto import MAY_REPEAT, ROW_BITS, bare_goto, goto
from ..parser.rows import (
    BEGINS,
    IS_LIMITED,
    IS_NOWHERE,
    IS_TENTATIVE,
    IS_UNDECIDED,
    R_FLAGS,
    RECORDS_HERE,
    has_flag_of_row,
    row_field,
)
from ..tables.grammar_layout import (
    BARE_WALK,
    CROSSING,
    CROSSING_ENDS,
    IGNORED,
    LISTS_PARTS,
    N_CROSSING,
    N_PARTS,
    N_POINTS,
    PARTS,
    PATH,
    POINTS,
    REPEATS,
    TELLS_ENDS,
    WALK_FRAMES,
)
from ..tables.memory import EXCEEDED, block, ensure, exceed, get_i32, get_i64, get_u8, put_i32, put_i64, spend
from ..tables.store_layout import (
    CHILD_BYTE,
    CHILD_FIRST,
    CHILD_NODE,
    DUPLICATES,
    LEAST_PART,
    LIMIT_WALKED,
    MAX_WALKED,
    N_DUPLICATES,
    TRIE,
    WALKED,
)
from ..values.transcripts import FIRST_PLACE, MOST_ROWS, NO_RECORD, is_left_out, place_after, row_of
from .configurations import REFUSED, pack, start_after, step
from .repeated_values import ends_in_set, path_to

WHOLE = 0  # kinds of points
BELOW = 1
ENDING = 2
POINT_KINDS = 4  # a point is node * POINT_KINDS + kind

P_PART = 0  # fields of a part; its number, see lexeme_masks/subtree_masks.py
P_ROW = 1
P_STATE = 2
P_NODE = 3  # -1: it is what follows exits
PART_FIELDS = 4
NO_HOT_ROW = -1

# where a token leads: a packed place and lexer state, with BARE where the place is a bare row, or
NO_END = -1  # it has to be read to know
IN_PART = -2  # so is one that a part lists
BARE = MOST_ROWS << 32


@kernel
def allow(store, grammar, node, end):
    """List the token that ends at a trie node, and those with the same bytes; they lead to `end`."""
    never_inline()
    token = (get_i64(block(store, TRIE), node) >> TRIE_TOKEN_SHIFT) - 1
    if token >= 0:
        _allow_alike(store, grammar, token, end)


@kernel
def _allow_alike(store, grammar, token, end):
    """List a token and those with the same bytes."""
    allow_token(grammar, token, end)
    if store[N_DUPLICATES] != 0:
        other = get_i32(block(store, DUPLICATES), token)
        while other != 0:
            allow_token(grammar, other, end)
            other = get_i32(block(store, DUPLICATES), other)


@kernel
def allow_token(grammar, token, end):
    """List a token."""
    n = grammar[N_CROSSING]
    put_i32(ensure(grammar, CROSSING, (n + 1) * 4), n, token)
    if grammar[TELLS_ENDS] != 0:
        put_i64(ensure(grammar, CROSSING_ENDS, (n + 1) * 8), n, end)
    grammar[N_CROSSING] = n + 1


@kernel
def note_point(store, grammar, node, kind):
    """Note what has to be walked again with the text known."""
    never_inline()
    first = block(store, CHILD_FIRST)
    if kind != WHOLE and get_i32(first, node) == get_i32(first, node + 1):
        return
    n = grammar[N_POINTS]
    put_i32(ensure(grammar, POINTS, (n + 1) * 4), n, node * POINT_KINDS + kind)
    grammar[N_POINTS] = n + 1


@kernel
def is_part(store, grammar, node, state, ending):
    """Whether what is below a node, reached in a lexer state, is large enough to be a part.

    `ending`: hot row of the state in which a lexeme ends at the node; `state` begins the next one then. Children that
    go on in the former must not begin the latter, or the part would have both. NO_HOT_ROW: nothing ends here.
    """
    if grammar[LISTS_PARTS] == 0:
        return False
    end = (get_i64(block(store, TRIE), node) >> TRIE_END_SHIFT) & TRIE_END_MASK
    if end - node < store[LEAST_PART]:
        return False
    return ending == NO_HOT_ROW or _are_apart(store, node, hot_row(store, state), ending)


@kernel
def _are_apart(store, node, one, other):
    """Whether no child of a node leads on from both expanded rows."""
    never_inline()
    first = block(store, CHILD_FIRST)
    for child in range(get_i32(first, node), get_i32(first, node + 1)):
        byte = get_u8(block(store, CHILD_BYTE), child)
        if hot_step(store, one, byte) != HOT_DEAD and hot_step(store, other, byte) != HOT_DEAD:
            return False
    return True


@kernel
def note_part(grammar, row, state, node, part):
    """Leave what is below a node, reached in a row and a lexer state, to lexeme_masks/subtree_masks.py."""
    never_inline()
    n = grammar[N_PARTS]
    parts = ensure(grammar, PARTS, (n + 1) * PART_FIELDS * 4)
    put_i32(parts, n * PART_FIELDS + P_PART, part)
    put_i32(parts, n * PART_FIELDS + P_ROW, row)
    put_i32(parts, n * PART_FIELDS + P_STATE, state)
    put_i32(parts, n * PART_FIELDS + P_NODE, node)
    grammar[N_PARTS] = n + 1


NO_EXIT = -1
NOT_TAKEN = -2

SHARED = 0  # walks without records: of values that may be in their set already it is noted that there are some
CAREFUL = 1  # they become points
ONE_RECORD = 2

# a frame of the walk
F_CHILD = 0  # next child
F_END = 1  # end of the children
F_PLACE = 2
F_HOT = 3  # hot row of the lexer state
F_EXIT_PLACE = 4  # place after the lexemes that may end here, NO_EXIT, or NOT_TAKEN as long as nobody asked
F_EXIT_HOT = 5  # hot row of its start state
F_INSIDE = 6  # 1: children that stay inside the lexeme are left out (the lexer state's mask has them)
F_NODE = 7
F_FLAGS = 8
OPENED = 1  # flags of frames: the opening brace of a value of which there are many was read, and blanks
BEGUN = 2  # a tracked value may have begun on the way
FRAME_FIELDS = 9

OPEN_OBJECT = 0x7B
QUOTE = 0x22


@kernel
def _take_lexeme(store, grammar, place, scanned, walk):
    """Where the lexemes of a set lead: of a shared walk a row, with the bits of `bare_goto`."""
    if walk == ONE_RECORD:
        return goto(store, grammar, place, scanned)
    return bare_goto(store, grammar, place, scanned)


@kernel
def _uncertainty(grammar, target, walk, flags):
    """What a shared walk does not know behind a step: 0, IS_UNDECIDED or IS_NOWHERE.

    Of values that began before the walk it is noted that they might be in their sets; `could_repeat` asks whether.
    """
    if walk == ONE_RECORD or target < 0:
        return 0
    if target & MAY_REPEAT != 0:
        if walk == CAREFUL or flags & BEGUN != 0:
            return IS_NOWHERE
        grammar[REPEATS] = 1
    flags = row_field(grammar, target & ROW_BITS, R_FLAGS)
    return IS_NOWHERE if flags & IS_NOWHERE != 0 else flags & IS_UNDECIDED


@kernel
def _begins_in(grammar, place):
    """BEGUN where a tracked value may begin at a place, else 0."""
    return BEGUN if has_flag_of_row(grammar, row_of(grammar, place), BEGINS) else 0


@kernel
def _is_tentative(grammar, place, walk):
    """Whether a shared walk does not know what a value that begins in a row may be."""
    return walk != ONE_RECORD and has_flag_of_row(grammar, place, IS_TENTATIVE)


@kernel
def _is_plain(grammar, place):
    """Whether what follows in a row is a function of the row alone, so that it may be a part (boundary_walk.py)."""
    return place < FIRST_PLACE and not has_flag_of_row(grammar, place, BEGINS | IS_TENTATIVE | RECORDS_HERE)


@kernel
def goes_two_ways(store, grammar, state):
    """Whether two bytes may follow that belong to no escape: then two texts may, two values where texts are plain."""
    never_inline()
    if is_left_out(store, grammar, state):
        return True  # nothing of a value was read yet
    known = state_field(store, state, S_GOES_ON)
    if known != 0:
        return known == 2
    n = 0
    for byte in range(0x3A, 0x7F):  # in an escape there are only digits, a to f in capitals or not, and "\/bfnrtu
        is_letter = byte > 0x66 and byte != 0x6E and byte != 0x72 and byte != 0x74 and byte != 0x75
        if (is_letter or (byte > 0x46 and byte < 0x5C)) and next_state(store, state, byte) != DEAD:
            n += 1
    put_state_field(store, state, S_GOES_ON, 2 if n > 1 else 1)
    return n > 1


@kernel
def _end(grammar, place, state, walk, flags):
    """Where a token leads, as CROSSING_ENDS has it."""
    end = pack(place, state)
    if walk == ONE_RECORD:
        return end
    if flags & BEGUN != 0 or has_flag_of_row(grammar, place, RECORDS_HERE):
        return end | BARE
    return end | grammar[BARE_WALK]


@kernel
def _push_frame(store, grammar, depth, node, place, state, inside, flags):
    never_inline()
    first = block(store, CHILD_FIRST)
    frames = ensure(grammar, WALK_FRAMES, (depth + 1) * FRAME_FIELDS * 4)
    at = depth * FRAME_FIELDS
    put_i32(frames, at + F_CHILD, get_i32(first, node))
    put_i32(frames, at + F_END, get_i32(first, node + 1))
    put_i32(frames, at + F_PLACE, place)
    put_i32(frames, at + F_HOT, hot_row(store, state))
    put_i32(frames, at + F_NODE, node)
    put_i32(frames, at + F_EXIT_PLACE, NO_EXIT if state_field(store, state, S_ACCEPTS) == 0 else NOT_TAKEN)
    put_i32(frames, at + F_INSIDE, inside)
    put_i32(frames, at + F_FLAGS, flags)


@kernel
def _take_exit(store, grammar, at, scanned, walk):
    """Fill in where a frame's lexer state leads when its lexeme ends."""
    never_inline()
    put_i32(block(grammar, WALK_FRAMES), at + F_EXIT_PLACE, NO_EXIT)
    place = get_i32(block(grammar, WALK_FRAMES), at + F_PLACE)
    if _is_tentative(grammar, place, walk) and scanned != grammar[IGNORED]:
        note_point(store, grammar, get_i32(block(grammar, WALK_FRAMES), at + F_NODE), ENDING)
        return
    place = _take_lexeme(store, grammar, place, scanned, walk)
    if place < 0:
        return
    if _uncertainty(grammar, place, walk, get_i32(block(grammar, WALK_FRAMES), at + F_FLAGS)) != 0:
        note_point(store, grammar, get_i32(block(grammar, WALK_FRAMES), at + F_NODE), ENDING)
        return
    if walk != ONE_RECORD:
        place &= ROW_BITS
    start = start_after(store, grammar, place, scanned)
    if start == DEAD:
        return
    node = get_i32(block(grammar, WALK_FRAMES), at + F_NODE)
    flags = get_i32(block(grammar, WALK_FRAMES), at + F_FLAGS)
    if walk == SHARED and flags == 0 and _is_plain(grammar, place):
        if is_part(store, grammar, node, start, get_i32(block(grammar, WALK_FRAMES), at + F_HOT)):
            note_part(grammar, place, start, node, 0)
            return
    put_i32(block(grammar, WALK_FRAMES), at + F_EXIT_PLACE, place)
    put_i32(block(grammar, WALK_FRAMES), at + F_EXIT_HOT, hot_row(store, start))


@kernel
def _walk(store, grammar, root, root_place, root_state, scanned, inside, walk):
    """List the tokens below `root`, reached in (root_place, root_state).

    `inside`: 1 when `root_state` is the state in which the lexeme ends, and only children on which it ends are wanted;
    `scanned` is then the set of lexemes that end (the state may be an anonymous twin, which does not know it).
    """
    never_inline()
    child_first = block(store, CHILD_FIRST)
    child_byte = block(store, CHILD_BYTE)
    child_node = block(store, CHILD_NODE)
    _push_frame(
        store, grammar, 0, root, root_place, root_state, inside, 0 if inside else _begins_in(grammar, root_place)
    )
    if inside != 0:
        _take_exit(store, grammar, 0, scanned, walk)
    depth = 0
    while depth >= 0 and store[EXCEEDED] == 0 and grammar[EXCEEDED] == 0:
        at = depth * FRAME_FIELDS
        frames = block(grammar, WALK_FRAMES)
        child = get_i32(frames, at + F_CHILD)
        end = get_i32(frames, at + F_END)
        place = get_i32(frames, at + F_PLACE)
        hot = get_i32(frames, at + F_HOT)
        exit_place = get_i32(frames, at + F_EXIT_PLACE)
        exit_hot = get_i32(frames, at + F_EXIT_HOT)
        inside = get_i32(frames, at + F_INSIDE)
        flags = get_i32(frames, at + F_FLAGS)
        entry = HOT_DEAD
        first = child
        while child < end:
            byte = get_u8(child_byte, child)
            child += 1
            entry = hot_step(store, hot, byte)
            if entry != HOT_DEAD:
                if inside == 0:
                    break
                entry = HOT_DEAD
                continue
            if exit_place == NOT_TAKEN:
                _take_exit(store, grammar, at, state_field(store, hot_state(store, hot), S_ACCEPTS), walk)
                frames = block(grammar, WALK_FRAMES)
                exit_place = get_i32(frames, at + F_EXIT_PLACE)
                exit_hot = get_i32(frames, at + F_EXIT_HOT)
            if exit_place == NO_EXIT:
                if inside != 0:
                    child = end
                continue
            entry = hot_step(store, exit_hot, byte)
            if entry != HOT_DEAD:
                place = exit_place
                flags |= _begins_in(grammar, place)
                break
        spend(store, 2 + ((child - first) >> 2))
        store[WALKED] += child - first
        put_i32(block(grammar, WALK_FRAMES), at + F_CHILD, child)
        if entry == HOT_DEAD:
            depth -= 1
            continue
        node = get_i32(child_node, child - 1)
        is_leaf = get_i32(child_first, node) == get_i32(child_first, node + 1)
        if is_leaf and grammar[TELLS_ENDS] == 0 and not has_flag_of_row(grammar, row_of(grammar, place), RECORDS_HERE):
            allow(store, grammar, node, NO_END)
            continue
        state = -entry if entry < 0 else hot_state(store, entry - HOT_FIRST)
        byte = get_u8(child_byte, child - 1)
        if place >= FIRST_PLACE:
            place = place_after(store, grammar, place, byte, state)
        if flags & OPENED != 0 and not is_left_out(store, grammar, state):
            is_key = byte == QUOTE and entry >= 0
            if is_key:
                allow(store, grammar, node, NO_END)
            note_point(store, grammar, node, BELOW if is_key else WHOLE)
            continue
        if _is_tentative(grammar, place, walk):
            if entry < 0 and byte == OPEN_OBJECT and not has_flag_of_row(grammar, place, IS_LIMITED):
                flags |= OPENED
            elif entry < 0 or not goes_two_ways(store, grammar, state):
                note_point(store, grammar, node, WHOLE)
                continue
        if entry < 0:
            ended = state_field(store, state, S_ACCEPTS)
            place = _take_lexeme(store, grammar, place, ended, walk)
            if place < 0:
                continue
            uncertainty = _uncertainty(grammar, place, walk, flags)
            if uncertainty != 0:
                if uncertainty == IS_UNDECIDED:
                    allow(store, grammar, node, NO_END)
                note_point(store, grammar, node, BELOW if uncertainty == IS_UNDECIDED else WHOLE)
                continue
            if walk != ONE_RECORD:
                place &= ROW_BITS
            state = start_after(store, grammar, place, ended)
            flags |= _begins_in(grammar, place)
        allow(store, grammar, node, _end(grammar, place, state, walk, flags))
        if state == DEAD or is_leaf:
            continue
        if walk == SHARED and flags == 0 and _is_plain(grammar, place):
            if is_part(store, grammar, node, state, NO_HOT_ROW):
                note_part(grammar, place, state, node, 0)
                continue
        depth += 1
        _push_frame(store, grammar, depth, node, place, state, 0, flags)
    if store[WALKED] > store[MAX_WALKED]:
        exceed(store, LIMIT_WALKED)


@kernel
def cross_exits(store, grammar, row, state, twin, record):
    """List the tokens behind every exit of a lexer state in a row, or note points.

    `record`: of a place in the row; exits at which a tracked value ends that is in its set already become points.
    NO_RECORD does not look. REPEATS is 1 when a value that ends there might be in its set, for some record.
    """
    grammar[REPEATS] = 0
    first = state_field(store, twin, S_FIRST_EXIT)
    n = state_field(store, twin, S_N_EXITS)
    cross(store, grammar, row, state, first, n, record)
    base = state_field(store, twin, S_BASE)
    if base != 0:
        state = base if state_field(store, state, S_SINGLE) == 0 else state
        base = state_field(store, base, S_TWIN)
        first = state_field(store, base, S_FIRST_EXIT)
        end = first + state_field(store, base, S_N_EXITS)
        while first < end and store[EXCEEDED] == 0 and grammar[EXCEEDED] == 0:
            replaced = first_replaced(store, twin, first, end)
            cross(store, grammar, row, state, first, replaced - first, record)
            first = replaced + 1


@kernel
def _leads_on(store, hot, child, end):
    """Whether any of these children of a node leads on from an expanded row: behind most exits none does."""
    first = child
    while child < end and hot_step(store, hot, get_u8(block(store, CHILD_BYTE), child)) == HOT_DEAD:
        child += 1
    if child == end:
        spend(store, 2 + ((child - first) >> 2))
        store[WALKED] += child - first
    return child < end


@kernel
def cross(store, grammar, row, state, first, n, record):
    """The same for some of all exits; `state` is that in which the walk began that found them."""
    never_inline()
    single = state_field(store, state, S_SINGLE)
    walk = SHARED if record == NO_RECORD else CAREFUL
    leaves_parts = grammar[LISTS_PARTS] != 0 and grammar[TELLS_ENDS] == 0  # a part tells nothing of where tokens lead
    last_scanned = 0
    target = 0
    start = DEAD
    hot = NO_HOT_ROW
    for i in range(first, first + n):
        node = exit_field(store, i, X_NODE)
        there = exit_field(store, i, X_STATE)
        if there == DEAD:  # an end of the state whose mask this one has, and none of its own
            continue
        scanned = single if single != 0 else state_field(store, there, S_ACCEPTS)
        if scanned != last_scanned:
            target = bare_goto(store, grammar, row, scanned)
            last_scanned = scanned
            if grammar[EXCEEDED] != 0 or store[EXCEEDED] != 0:
                return
            if target >= 0 and row_field(grammar, target & ROW_BITS, R_FLAGS) & IS_UNDECIDED == 0:
                start = start_after(store, grammar, target & ROW_BITS, scanned)
                hot = hot_row(store, start) if start != DEAD else NO_HOT_ROW
                if single != 0 and leaves_parts and start != DEAD:
                    part = part_behind(store, start, i, first + n - i) if _is_plain(grammar, target) else -1
                    if part >= 0:
                        note_part(grammar, target, start, -1, part)
                        return
        if target < 0:
            continue
        finished = state_field(store, there, S_FINISHED) != 0
        if target & MAY_REPEAT != 0:
            grammar[REPEATS] = 1
            if record != NO_RECORD and ends_in_set(store, grammar, record, node):
                note_point(store, grammar, node, WHOLE if finished else ENDING)
                continue
        flags = row_field(grammar, target & ROW_BITS, R_FLAGS)
        if flags & IS_UNDECIDED != 0:
            if finished and flags & IS_NOWHERE == 0:
                allow(store, grammar, node, NO_END)
            kind = ENDING if not finished else BELOW if flags & IS_NOWHERE == 0 else WHOLE
            note_point(store, grammar, node, kind)
            continue
        if finished and exit_field(store, i, X_TOKEN) >= 0:
            end = _end(grammar, target & ROW_BITS, start, walk, 0)
            _allow_alike(store, grammar, exit_field(store, i, X_TOKEN), end)
        child, last = exit_field(store, i, X_FIRST), exit_field(store, i, X_END)
        if start == DEAD or child == last or (finished and not _leads_on(store, hot, child, last)):
            continue
        if finished and walk == SHARED and _is_plain(grammar, target & ROW_BITS):
            if is_part(store, grammar, node, start, NO_HOT_ROW):
                note_part(grammar, target & ROW_BITS, start, node, 0)
                continue
        if finished:
            _walk(store, grammar, node, target & ROW_BITS, start, 0, 0, walk)
        else:
            _walk(store, grammar, node, row, there, scanned, 1, walk)
        if grammar[EXCEEDED] != 0 or store[EXCEEDED] != 0:
            return


@kernel
def walk_point(store, grammar, place, state, point):
    """List the tokens of a point noted for (place, state), the record looked at."""
    never_inline()
    node = point // POINT_KINDS
    kind = point % POINT_KINDS
    for i in range(path_to(store, grammar, node)):
        packed = step(store, grammar, place, state, get_i32(block(grammar, PATH), i))
        if packed == REFUSED:
            return
        place = packed >> 32
        state = packed & 0xFFFFFFFF
    if kind == WHOLE:
        allow(store, grammar, node, pack(place, state))
    if kind == ENDING:
        _walk(store, grammar, node, place, state, state_field(store, state, S_ACCEPTS), 1, ONE_RECORD)
    elif state != DEAD:
        _walk(store, grammar, node, place, state, 0, 0, ONE_RECORD)
