"""Tokens that cross a lexeme's end; those that stay inside it are found in lexeme_masks/trie_walk.py.

From each exit of the lexer state the parser takes the lexeme (one look-up of `goto`) and the walk goes on in the new
row's lexer state, over lexemes and rows, through the children of the trie: 91 exits of a string body give a few hundred
tokens.

    inside the lexeme     delta(state, byte)                  same row
    the lexeme ends       delta(start(goto(row, L)), byte)    where L are the lexemes that may end in `state`

A lexeme goes on as long as it can. So a byte that it can take is never the first of the next one. Grammars that track
values have a walk of their own, tracked_walk.py.

In: the tables, a row and a lexer state. Out: see crossing.py. Cost: 20 ns an exit and node.
"""

from ..lexeme_masks.subtree_masks import part_after
from ..lexer.dense_transitions import DenseEntry, check_walked, dense_row, dense_state, dense_step
from ..lexer.states import DEAD
from ..machine.jit import inline, kernel
from ..machine.records import Kind
from ..parser.goto import goto
from ..tables.memory import has_stopped, reserve, spend
from .configurations import pack, start_after
from .crossing import NO_DENSE_ROW, NO_END, allow, allow_alike, is_part, note_part


class FrameExit(Kind):
    """In place of the row after the lexemes that may end at a node."""

    NONE = -1
    NOT_TAKEN = -2  # nobody has asked yet


@kernel
def push_frame(store, grammar, depth, node, parse_state, state, inside, flags):
    """Put a node on the stack of a walk; nobody has asked yet where its lexeme leads when it ends."""
    frame = reserve(grammar.walk_frames, depth + 1)[depth]
    frame.node, frame.child, frame.end = node, store.child_first[node], store.child_first[node + 1]
    frame.parse_state, frame.dense = parse_state, dense_row(store, state)
    frame.exit_parse_state = FrameExit.NONE if store.states[state].accepts == 0 else FrameExit.NOT_TAKEN
    frame.inside, frame.flags = inside, flags


@kernel
def _take_exit(store, grammar, depth, scanned):
    """Fill in where a frame's lexer state leads when its lexeme ends."""
    frame = grammar.walk_frames[depth]
    frame.exit_parse_state = FrameExit.NONE
    row = goto(store, grammar, frame.parse_state, scanned)
    if row < 0:
        return
    start = start_after(store, grammar, row, scanned)
    if start == DEAD:
        return
    if is_part(store, grammar, frame.node, start, frame.dense):
        note_part(grammar, row, start, frame.node, 0)
        return
    frame.exit_parse_state = row
    frame.exit_dense = dense_row(store, start)


def next_child_by(take_exit):
    """The step of a walk to the next child that leads on, by what fills in where the lexeme leads when it ends."""

    @inline
    def next_child(store, grammar, depth):
        """The next child of a frame's node that leads on, its parse state, its entry, and whether the lexeme ended.

        DenseEntry.DEAD: no child is left.
        """
        frame = grammar.walk_frames[depth]
        first, end, dense, inside = frame.child, frame.end, frame.dense, frame.inside
        exit_parse_state, exit_dense = frame.exit_parse_state, frame.exit_dense
        child = first
        parse_state = frame.parse_state
        has_ended = False
        entry = DenseEntry.DEAD
        while child < end:
            byte = store.child_byte[child]
            child += 1
            entry = dense_step(store, dense, byte)
            if entry != DenseEntry.DEAD:  # the lexeme goes on
                if inside == 0:
                    break
                entry = DenseEntry.DEAD
                continue
            if exit_parse_state == FrameExit.NOT_TAKEN:
                take_exit(store, grammar, depth, store.states[dense_state(store, dense)].accepts)
                exit_parse_state, exit_dense = frame.exit_parse_state, frame.exit_dense
            if exit_parse_state == FrameExit.NONE:
                if inside != 0:
                    child = end
                continue
            entry = dense_step(store, exit_dense, byte)
            if entry != DenseEntry.DEAD:
                parse_state = exit_parse_state
                has_ended = True
                break
        spend(store, 2 + ((child - first) >> 2))
        store.walked += child - first
        frame.child = child
        return child - 1, parse_state, entry, has_ended

    return next_child


_next_child = next_child_by(_take_exit)


@kernel
def walk_rows(store, grammar, root, row, state, scanned, inside):
    """List the tokens below `root`, where the text so far is (row, state).

    `inside`: 1 when the lexeme ends in `state`, and only children on which it ends are wanted; `scanned` is then the
    set of lexemes that end (an anonymous state does not know it).
    """
    child_first = store.child_first
    push_frame(store, grammar, 0, root, row, state, inside, 0)
    if inside != 0:
        _take_exit(store, grammar, 0, scanned)
    depth = 0
    while depth >= 0 and not has_stopped(store, grammar):
        child, row, entry, _ = _next_child(store, grammar, depth)
        if entry == DenseEntry.DEAD:
            depth -= 1
            continue
        node = store.child_node[child]
        is_leaf = child_first[node] == child_first[node + 1]
        if is_leaf and grammar.tells_ends == 0:
            allow(store, grammar, node, NO_END)
            continue
        state = -entry if entry < 0 else dense_state(store, entry - DenseEntry.FIRST)
        if entry < 0:  # nothing can be added to the lexeme: it ends with this byte
            ended = store.states[state].accepts
            row = goto(store, grammar, row, ended)
            if row < 0:
                continue
            state = start_after(store, grammar, row, ended)
        allow(store, grammar, node, pack(row, state))
        if state == DEAD or is_leaf:
            continue
        if is_part(store, grammar, node, state, NO_DENSE_ROW):
            note_part(grammar, row, state, node, 0)
            continue
        depth += 1
        push_frame(store, grammar, depth, node, row, state, 0, 0)
    check_walked(store)


@inline
def leads_on(store, dense, child, end):
    """Whether any of these children of a node leads on from a dense row: after most exits, no."""
    first = child
    while child < end and dense_step(store, dense, store.child_byte[child]) == DenseEntry.DEAD:
        child += 1
    if child == end:
        spend(store, 2 + ((child - first) >> 2))
        store.walked += child - first
    return child < end


@kernel
def cross_rows(store, grammar, row, state, first, n):
    """List the tokens after exits in a row; the walk that found the exits began in `state`."""
    single = store.states[state].single
    leaves_parts = grammar.lists_parts != 0 and grammar.tells_ends == 0  # a part tells nothing of where tokens lead
    last_scanned = 0
    target = 0
    start = DEAD
    dense = NO_DENSE_ROW
    for i in range(first, first + n):
        exit = store.exits[i]
        if exit.state == DEAD:  # an end of the state whose mask this one has, and none of its own
            continue
        scanned = single if single != 0 else store.states[exit.state].accepts
        if scanned != last_scanned:
            target = goto(store, grammar, row, scanned)
            last_scanned = scanned
            if has_stopped(store, grammar):
                return
            if target >= 0:
                start = start_after(store, grammar, target, scanned)
                dense = dense_row(store, start) if start != DEAD else NO_DENSE_ROW
                if single != 0 and leaves_parts and start != DEAD:
                    part = part_after(store, start, i, first + n - i)
                    if part >= 0:
                        note_part(grammar, target, start, -1, part)
                        return
        if target < 0:
            continue
        is_finished = store.states[exit.state].finished != 0
        if is_finished and exit.token >= 0:
            allow_alike(store, grammar, exit.token, pack(target, start))
        if start == DEAD or exit.child == exit.end:
            continue
        if not is_finished:
            walk_rows(store, grammar, exit.node, row, exit.state, scanned, 1)
        elif leads_on(store, dense, exit.child, exit.end):
            if is_part(store, grammar, exit.node, start, NO_DENSE_ROW):
                note_part(grammar, target, start, exit.node, 0)
            else:
                walk_rows(store, grammar, exit.node, target, start, 0, 0)
        if has_stopped(store, grammar):
            return
