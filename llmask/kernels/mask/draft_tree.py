"""The masks after each token of a tree of drafts, in one walk that reads only.

    node 0                the last accepted token: where the matcher is
    next_token[node]      the first of the tokens that were guessed after it, -1: none
    next_sibling[node]    another token that was guessed instead, -1: none

Nodes are visited parent first (preorder, with a stack). What is not built yet ends the walk; the caller has it built
and calls again, and the walk goes on where it was. `state` keeps what it needs, int64[STATE_FIELDS + 3 * n_nodes]:

    STACKED, ALLOWED   nodes that wait, or NEW; nodes that were allowed
    stack[n_nodes]     the nodes that wait, the last one next
    before[n_nodes]    of each the configuration before its token
    after[n_nodes]     and the one after it: NOT_REACHED, REFUSED or a configuration

In: a matcher's cell, the tree. Out: rows of the bitmask; refused nodes and nodes below them keep theirs.
Cost: 0.2 us a node and its mask.
"""

from ..lexer.states import MISS
from ..machine.jit import inline, kernel
from ..machine.records import Kind
from ..parser.token_terminals import is_end_of_sequence
from ..tables.kinds import Fill
from ..tables.memory import as_table, fill_bytes
from .advance import known_after
from .assemble import fill
from .cell import CellField
from .configurations import ENDED, REFUSED

STACKED = 0
ALLOWED = 1
STATE_FIELDS = STACK = 2
NEW = -1
NOT_REACHED = -3
NONE = -1
NAMED = -4


class WalkEnd(Kind):
    """What ends a walk."""

    WALKED = 0
    NO_MASK = 1  # the mask of the node on top of the stack is not built
    NO_STEP = 2  # the configuration after its token is not built
    NO_TOKEN = 3  # no token of the vocabulary spells what comes after it
    NO_TREE = 4  # a node is named twice, or does not exist; nothing was written


@inline
def after_draft(store, grammar, configuration, token):
    """Configuration after a token, ends of sequence included; REFUSED, or MISS where something is not built yet."""
    reached = known_after(store, grammar, configuration, token)
    if reached == REFUSED and configuration != ENDED and grammar.configurations[configuration].accepts != 0:
        return ENDED if is_end_of_sequence(store, token) else REFUSED
    return reached


@kernel
def walk_drafts(cell, next_token, next_sibling, tokens, state, mask, row):
    """Write the masks of all allowed nodes that can be reached, node i into `mask[row + i]`; returns what ends it."""
    fields = as_table(cell)
    store, grammar = as_table(fields[CellField.STORE]), as_table(fields[CellField.GRAMMAR])
    n_nodes, n_words, row_words = tokens.shape[0], store.n_words, mask.shape[1]
    before, after = STACK + n_nodes, STACK + 2 * n_nodes
    if state[STACKED] == NEW:
        for node in range(n_nodes):
            state[STACK + node] = NOT_REACHED
            state[after + node] = NOT_REACHED
        if next_sibling[0] != NONE or not (_are_links(next_token, state) and _are_links(next_sibling, state)):
            return WalkEnd.NO_TREE
        state[STACKED] = 1
        state[ALLOWED] = 0
        state[STACK] = 0
        state[after] = fields[CellField.CONFIGURATION]
    while state[STACKED] > 0:
        node = state[STACK + state[STACKED] - 1]
        # the step to the node on top of the stack
        reached = state[after + node]
        if reached == NOT_REACHED:
            reached = after_draft(store, grammar, state[before + node], tokens[node])
            if reached == MISS:
                return WalkEnd.NO_STEP
            state[after + node] = reached
        # its mask
        if reached != REFUSED:
            words = mask.ctypes.data + (row + node) * row_words * 4
            status = fill(store, grammar, reached, words, 0)
            if status == Fill.MISS:
                return WalkEnd.NO_MASK
            if status == Fill.EMPTY:
                return WalkEnd.NO_TOKEN
            fill_bytes(words + n_words * 4, (row_words - n_words) * 4, 0)
            state[ALLOWED] += 1
        # its children come before its siblings
        state[STACKED] -= 1
        if next_sibling[node] != NONE:
            _push(state, next_sibling[node], state[before + node], before)
        if reached != REFUSED and next_token[node] != NONE:
            _push(state, next_token[node], reached, before)
    return WalkEnd.WALKED


@inline
def _are_links(links, state):
    """Whether all links are to nodes that exist, from 1 on, each for the first time: `stack` has NAMED for them."""
    n_nodes = links.shape[0]
    for i in range(n_nodes):
        node = links[i]
        if node != NONE:
            if node <= 0 or node >= n_nodes or state[STACK + node] == NAMED:
                return False
            state[STACK + node] = NAMED
    return True


@inline
def _push(state, node, configuration, before):
    """Let a node wait, with the configuration before its token."""
    state[before + node] = configuration
    state[STACK + state[STACKED]] = node
    state[STACKED] += 1
