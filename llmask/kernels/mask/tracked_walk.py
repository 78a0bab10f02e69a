"""The walk across the ends of lexemes where values are tracked: a text may decide what follows.

It is the walk of boundary_walk.py over untracked rows, so what it finds is shared by every transcript of a row. Where a
text decides (parser/tracked_goto.py says so) it leaves out what it does not know and *defers* the node:
`walk_deferred` walks again from there, with parse states, for one configuration:

    WHOLE    the token that ends at a node, and the tokens below it
    BELOW    the tokens below it
    ENDING   the tokens below it for which the lexeme in hand ends at the node

What a shared walk knows of the step to a row, by the row's flags:

    flags           may the step be refused?    may what follows differ?    a token that leads there
    -               no                          no                          is allowed, and walked on from
    is_undecided    no                          yes                         is allowed; what is below it is deferred
    is_nowhere      yes                         yes                         is deferred
    is_tentative    no                          by the value that begins    is allowed while two values can come of it

In a tentative row (values/called_rules.py) a token that ends inside a lexeme is certain if two letters may follow:
they lead to two values, and one text more is left out at most.

In: the tables, a row and a lexer state. Out: see crossing.py. Cost: 20 ns an exit and node.
"""

from ..lexeme_masks.subtree_masks import part_after
from ..lexer.dense_transitions import DenseEntry, check_walked, dense_row, dense_state
from ..lexer.states import DEAD, next_state
from ..machine.jit import inline, kernel
from ..parser.goto import goto
from ..parser.tracked_goto import ROW_BITS, untracked_goto
from ..parser.tracked_values import MAY_REPEAT
from ..tables.memory import has_stopped
from ..values.parse_states import FIRST_TRACKED, NO_TRANSCRIPT, is_left_out, parse_state_after, row_of
from .boundary_walk import FrameExit, leads_on, next_child_by, push_frame
from .configurations import REFUSED, pack, start_after, step, unpack
from .crossing import (
    DEFERRED_KINDS,
    NO_DENSE_ROW,
    NO_END,
    UNTRACKED,
    Deferred,
    allow,
    allow_alike,
    defer,
    is_part,
    note_part,
)
from .repeated_values import ends_in_set, path_to

NOTHING_OPEN = 0  # what a text decides after a step: nothing,
SOME_OPEN = 1  # whether more may follow,
ALL_OPEN = 2  # whether anything may

SHARED = 0  # a walk without transcripts: that a value may be in its set already is noted in `repeats`
CAREFUL = 1  # such nodes are deferred
ONE_TRANSCRIPT = 2

BEGUN = 1  # flags of frames: a tracked value may have begun on the way
KEYED = 2  # a colon was read on the way: a key may have been written again

COLON = 0x3A


@inline
def _take_lexeme(store, grammar, parse_state, scanned, walk):
    """Where the lexemes of a set lead: of a shared walk a row, with the bits of `untracked_goto`."""
    if walk == ONE_TRANSCRIPT:
        return goto(store, grammar, parse_state, scanned)
    return untracked_goto(store, grammar, parse_state, scanned)


@inline
def _uncertainty(grammar, target, walk, flags):
    """What a shared walk does not know after a step: NOTHING_OPEN, SOME_OPEN or ALL_OPEN.

    Of values that began before the walk it is noted that they might be in their sets; `list_close` asks whether.
    """
    if walk == ONE_TRANSCRIPT or target < 0:
        return NOTHING_OPEN
    if target & MAY_REPEAT != 0:
        if walk == CAREFUL or flags & (BEGUN | KEYED) != 0:
            return ALL_OPEN
        grammar.repeats = 1
    row = grammar.rows[target & ROW_BITS]
    return ALL_OPEN if row.is_nowhere else SOME_OPEN if row.is_undecided else NOTHING_OPEN


@inline
def _begins_in(grammar, parse_state):
    """BEGUN where a tracked value may begin at a parse state, else 0."""
    return BEGUN if grammar.rows[row_of(grammar, parse_state)].begins_value else 0


@inline
def _is_tentative(grammar, parse_state, walk):
    """Whether a shared walk does not know what a value that begins in a row may be."""
    return walk != ONE_TRANSCRIPT and grammar.rows[parse_state].is_tentative


@inline
def _is_plain(grammar, parse_state):
    """Whether what follows in a row is a function of the row alone, so that it may be a part (crossing.py)."""
    if parse_state >= FIRST_TRACKED:
        return False
    row = grammar.rows[parse_state]
    return not (row.begins_value or row.is_tentative or row.tracks)


@kernel
def goes_two_ways(store, grammar, state):
    """Whether two bytes may follow that belong to no escape: then two texts may, two values where texts are plain."""
    if is_left_out(store, grammar, state):
        return True  # nothing of a value was read yet
    known = store.states[state].goes_on
    if known != 0:
        return known == 2
    n = 0
    for byte in range(0x3A, 0x7F):  # in an escape there are only digits, a to f in capitals or not, and "\/bfnrtu
        is_letter = byte > 0x66 and byte != 0x6E and byte != 0x72 and byte != 0x74 and byte != 0x75
        if (is_letter or (byte > 0x46 and byte < 0x5C)) and next_state(store, state, byte) != DEAD:
            n += 1
    store.states[state].goes_on = 2 if n > 1 else 1
    return n > 1


@inline
def _end(grammar, parse_state, state, walk, flags):
    """Where a token leads, as `crossing_ends` has it."""
    end = pack(parse_state, state)
    if walk == ONE_TRANSCRIPT:
        return end
    if flags & BEGUN != 0 or grammar.rows[parse_state].tracks:
        return end | UNTRACKED
    return end | grammar.untracked_walk


@kernel
def _take_exit(store, grammar, depth, scanned):
    """Fill in where a frame's lexer state leads when its lexeme ends."""
    walk = grammar.walk_kind
    frame = grammar.walk_frames[depth]
    frame.exit_parse_state = FrameExit.NONE
    if _is_tentative(grammar, frame.parse_state, walk) and scanned != grammar.ignored:
        defer(store, grammar, frame.node, Deferred.ENDING)
        return
    parse_state = _take_lexeme(store, grammar, frame.parse_state, scanned, walk)
    if parse_state < 0:
        return
    if _uncertainty(grammar, parse_state, walk, frame.flags) != NOTHING_OPEN:
        defer(store, grammar, frame.node, Deferred.ENDING)
        return
    if walk != ONE_TRANSCRIPT:
        parse_state &= ROW_BITS
    start = start_after(store, grammar, parse_state, scanned)
    if start == DEAD:
        return
    if walk == SHARED and frame.flags == 0 and _is_plain(grammar, parse_state):
        if is_part(store, grammar, frame.node, start, frame.dense):
            note_part(grammar, parse_state, start, frame.node, 0)
            return
    frame.exit_parse_state = parse_state
    frame.exit_dense = dense_row(store, start)


_next_child = next_child_by(_take_exit)


@kernel
def walk_tracked(store, grammar, root, root_parse_state, root_state, scanned, inside, walk):
    """List the tokens below `root`, reached in (root_parse_state, root_state).

    `inside`: 1 when `root_state` is the state in which the lexeme ends, and only children on which it ends are wanted;
    `scanned` is then the set of lexemes that end (an anonymous state does not know it).
    """
    child_first = store.child_first
    grammar.walk_kind = walk
    flags = 0 if inside else _begins_in(grammar, root_parse_state)
    push_frame(store, grammar, 0, root, root_parse_state, root_state, inside, flags)
    if inside != 0:
        _take_exit(store, grammar, 0, scanned)
    depth = 0
    while depth >= 0 and not has_stopped(store, grammar):
        child, parse_state, entry, has_ended = _next_child(store, grammar, depth)
        if entry == DenseEntry.DEAD:
            depth -= 1
            continue
        flags = grammar.walk_frames[depth].flags
        if has_ended:
            flags |= _begins_in(grammar, parse_state)
        node = store.child_node[child]
        is_leaf = child_first[node] == child_first[node + 1]
        if is_leaf and grammar.tells_ends == 0 and not grammar.rows[row_of(grammar, parse_state)].tracks:
            allow(store, grammar, node, NO_END)
            continue
        state = -entry if entry < 0 else dense_state(store, entry - DenseEntry.FIRST)
        byte = store.child_byte[child]
        if parse_state >= FIRST_TRACKED:
            parse_state = parse_state_after(store, grammar, parse_state, byte, state)
        if byte == COLON and walk == SHARED and grammar.rows[parse_state].tracks:
            flags |= KEYED
        if _is_tentative(grammar, parse_state, walk) and (entry < 0 or not goes_two_ways(store, grammar, state)):
            defer(store, grammar, node, Deferred.WHOLE)
            continue
        if entry < 0:
            ended = store.states[state].accepts
            parse_state = _take_lexeme(store, grammar, parse_state, ended, walk)
            if parse_state < 0:
                continue
            uncertainty = _uncertainty(grammar, parse_state, walk, flags)
            if uncertainty != NOTHING_OPEN:
                if uncertainty == SOME_OPEN:
                    allow(store, grammar, node, NO_END)
                defer(store, grammar, node, Deferred.BELOW if uncertainty == SOME_OPEN else Deferred.WHOLE)
                continue
            if walk != ONE_TRANSCRIPT:
                parse_state &= ROW_BITS
            state = start_after(store, grammar, parse_state, ended)
            flags |= _begins_in(grammar, parse_state)
        allow(store, grammar, node, _end(grammar, parse_state, state, walk, flags))
        if state == DEAD or is_leaf:
            continue
        if walk == SHARED and flags == 0 and _is_plain(grammar, parse_state):
            if is_part(store, grammar, node, state, NO_DENSE_ROW):
                note_part(grammar, parse_state, state, node, 0)
                continue
        depth += 1
        push_frame(store, grammar, depth, node, parse_state, state, 0, flags)
    check_walked(store)


@kernel
def cross_tracked(store, grammar, row, state, first, n):
    """As `cross_rows`, or note deferred nodes.

    With `walk_transcript`, of a parse state in the row, exits at which a tracked value ends that is in its set already
    are deferred. `repeats` is 1 when a value that ends there might be in its set, for some transcript.
    """
    transcript = grammar.walk_transcript
    single = store.states[state].single
    walk = SHARED if transcript == NO_TRANSCRIPT else CAREFUL
    leaves_parts = grammar.lists_parts != 0 and grammar.tells_ends == 0  # a part tells nothing of where tokens lead
    last_scanned = 0
    target = 0
    start = DEAD
    dense = NO_DENSE_ROW
    for i in range(first, first + n):
        node = store.exits[i].node
        there = store.exits[i].state
        if there == DEAD:  # an end of the state whose mask this one has, and none of its own
            continue
        scanned = single if single != 0 else store.states[there].accepts
        if scanned != last_scanned:
            target = untracked_goto(store, grammar, row, scanned)
            last_scanned = scanned
            if has_stopped(store, grammar):
                return
            if target >= 0 and not grammar.rows[target & ROW_BITS].is_undecided:
                start = start_after(store, grammar, target & ROW_BITS, scanned)
                dense = dense_row(store, start) if start != DEAD else NO_DENSE_ROW
                if single != 0 and leaves_parts and start != DEAD:
                    part = part_after(store, start, i, first + n - i) if _is_plain(grammar, target) else -1
                    if part >= 0:
                        note_part(grammar, target, start, -1, part)
                        return
        if target < 0:
            continue
        finished = store.states[there].finished != 0
        if target & MAY_REPEAT != 0:
            grammar.repeats = 1
            if transcript != NO_TRANSCRIPT and ends_in_set(store, grammar, transcript, node):
                defer(store, grammar, node, Deferred.WHOLE if finished else Deferred.ENDING)
                continue
        if grammar.rows[target & ROW_BITS].is_undecided:
            is_nowhere = grammar.rows[target & ROW_BITS].is_nowhere
            if finished and not is_nowhere:
                allow(store, grammar, node, NO_END)
            kind = Deferred.ENDING if not finished else Deferred.WHOLE if is_nowhere else Deferred.BELOW
            defer(store, grammar, node, kind)
            continue
        if finished and store.exits[i].token >= 0:
            end = _end(grammar, target & ROW_BITS, start, walk, 0)
            allow_alike(store, grammar, store.exits[i].token, end)
        child, last = store.exits[i].child, store.exits[i].end
        if start == DEAD or child == last or (finished and not leads_on(store, dense, child, last)):
            continue
        if finished and walk == SHARED and _is_plain(grammar, target & ROW_BITS):
            if is_part(store, grammar, node, start, NO_DENSE_ROW):
                note_part(grammar, target & ROW_BITS, start, node, 0)
                continue
        if finished:
            walk_tracked(store, grammar, node, target & ROW_BITS, start, 0, 0, walk)
        else:
            walk_tracked(store, grammar, node, row, there, scanned, 1, walk)
        if has_stopped(store, grammar):
            return


@kernel
def walk_deferred(store, grammar, parse_state, state, deferred):
    """List the tokens of a deferred node, for a parse state and a lexer state in which the walk began."""
    node, kind = deferred // DEFERRED_KINDS, deferred % DEFERRED_KINDS
    for i in range(path_to(store, grammar, node)):
        packed = step(store, grammar, parse_state, state, grammar.path[i])
        if packed == REFUSED:
            return
        parse_state, state = unpack(packed)
    if kind == Deferred.WHOLE:
        allow(store, grammar, node, pack(parse_state, state))
    if kind == Deferred.ENDING:
        walk_tracked(store, grammar, node, parse_state, state, store.states[state].accepts, 1, ONE_TRANSCRIPT)
    elif state != DEAD:
        walk_tracked(store, grammar, node, parse_state, state, 0, 0, ONE_TRANSCRIPT)
