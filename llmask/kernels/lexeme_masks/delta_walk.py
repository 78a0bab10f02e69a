"""The mask of a lexer state, made from the mask of another one: a walk of the trie with both at once.

    free text until "<f=":   after `<`, all is as at the beginning, but for the tokens that begin with `f`

Where a byte leads both to the same state, all below is as in the known mask and is passed over. So states that soon
meet again, as those inside the beginning of a trigger or after an asterisk in a comment do with the others, cost some
hundred steps in position of the whole trie.

In: a lexer state and one whose mask is known. Out: its mask, token count and exits. Cost: 5 ns a child of a node that
both reach in different states; it is given up after MOST_CHANGED.
"""

from ..lexer.dense_transitions import DenseEntry, dense_row, dense_state, dense_step
from ..machine.jit import inline, kernel
from ..machine.raw import take_bit
from ..regex.nodes import push
from ..tables.memory import spend
from ..vocabulary.trie_words import token_of
from .exits import add_exit, bisect_left
from .trie_walk import has_bit, mask_words, set_bit, write_frame

MOST_CHANGED = 2048  # children looked at; a whole walk of 128,000 tokens is worth 50,000
GIVEN_UP = -1
NO_ROW = -1  # in position of a dense row: nothing leads on


@inline
def _entry(store, dense, byte):
    return DenseEntry.DEAD if dense == NO_ROW else dense_step(store, dense, byte)


@inline
def _row(entry):
    """The dense row that an entry leads to, or NO_ROW."""
    return entry - DenseEntry.FIRST if entry >= DenseEntry.FIRST else NO_ROW


@kernel
def changed_walk(store, state, base):
    """Make the mask of `state` from the mask of `base`, which is in `words`; returns its size, or GIVEN_UP."""
    frames = store.narrow_frames
    n_tokens = store.states[base].n_tokens
    first_changed = store.scratch_top
    push(store, 0)
    write_frame(store, 0, 0, dense_row(store, state), dense_row(store, base))
    depth = 0
    visited = 0
    while depth >= 0 and visited <= MOST_CHANGED and store.exceeded == 0:
        frame = frames[depth]
        child = frame.child
        if child == frame.end:  # all children are done
            if frame.was_dead != 0 and frame.dense != NO_ROW:
                own = dense_state(store, frame.dense)
                if store.states[own].accepts != 0:
                    add_exit(store, frame.node, own)
            depth -= 1
            continue
        frame.child = child + 1
        visited += 1
        byte = store.child_byte[child]
        entry = _entry(store, frame.dense, byte)
        other = _entry(store, frame.other, byte)
        if entry == DenseEntry.DEAD:
            frame.was_dead = 1
        if entry == other:
            continue
        # the states differ here
        node = store.child_node[child]
        push(store, node)
        n_tokens += _change_token(store, token_of(store.trie[node]), entry >= DenseEntry.FIRST)
        if entry < 0:
            add_exit(store, node, -entry)
        if entry >= DenseEntry.FIRST or other >= DenseEntry.FIRST:
            depth += 1
            write_frame(store, depth, node, _row(entry), _row(other))
    spend(store, visited)
    store.walked += visited
    if depth >= 0:
        n_tokens = GIVEN_UP
    else:
        _keep_exits(store, base, first_changed)
    store.scratch_top = first_changed
    return n_tokens


@inline
def _change_token(store, token, is_inside):
    """Allow a token, or refuse it and those with the same bytes; returns by how much the number of tokens changes."""
    words = mask_words(store)
    if token < 0 or (is_inside and has_bit(words, token)):
        return 0
    if is_inside:
        set_bit(words, token)
        return 1
    n = 0
    while True:
        if has_bit(words, token):
            take_bit(words, token)
            n -= 1
        token = store.duplicates[token] if store.n_duplicates != 0 else 0
        if token == 0:
            return n


@kernel
def _keep_exits(store, base, first_changed):
    """Add the exits of `base` at nodes that are not among the changed ones, which are in the scratch, ascending."""
    first = store.states[base].first_exit
    for i in range(first, first + store.states[base].n_exits):
        node = store.exits[i].node
        position = bisect_left(store.scratch, first_changed, store.scratch_top, node)
        if position == store.scratch_top or store.scratch[position] != node:
            add_exit(store, node, store.exits[i].state)
