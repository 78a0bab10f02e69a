"""Which tokens cross the end of the lexeme in hand, in a row: those after every exit of the lexer state.

What follows large subtrees of the trie is found by store, lexer state and node (lexeme_masks/subtree_masks.py); the
exits of these lead on in their turn.

In: tables, a row, a lexer state whose mask is built. Out: see crossing.py. Cost: 20 ns an exit and node.
"""

from ..lexeme_masks.state_masks import first_replaced
from ..lexeme_masks.subtree_masks import part_mask
from ..machine.jit import inline, kernel
from ..tables.kinds import MaskKind
from ..tables.memory import has_stopped
from .boundary_walk import cross_rows
from .crossing import allow_part
from .tracked_walk import cross_tracked


@inline
def _cross(store, grammar, row, state, first, n):
    """List the tokens after some exits of a lexer state in a row."""
    if grammar.tracks_values == 0:
        cross_rows(store, grammar, row, state, first, n)
    else:
        cross_tracked(store, grammar, row, state, first, n)


@kernel
def cross_exits(store, grammar, row, state):
    """List the tokens after every exit of a lexer state in a row."""
    grammar.repeats = 0
    anonymous = store.states[state].anonymous
    first = store.states[anonymous].first_exit
    _cross(store, grammar, row, state, first, store.states[anonymous].n_exits)
    base = store.states[anonymous].base
    if base != 0:  # the exits of another state, but for those that this one has instead
        state = base if store.states[state].single == 0 else state
        base = store.states[base].anonymous
        first = store.states[base].first_exit
        end = first + store.states[base].n_exits
        while first < end and not has_stopped(store, grammar):
            replaced = first_replaced(store, anonymous, first, end)
            _cross(store, grammar, row, state, first, replaced - first)
            first = replaced + 1


@kernel
def cross_whole(store, grammar, configuration):
    """List the tokens that cross in a configuration whose parse state is a row, and its parts."""
    grammar.lists_parts = 1
    here = grammar.configurations[configuration]
    cross_exits(store, grammar, here.parse_state, here.state)
    cross_parts(store, grammar)
    grammar.lists_parts = 0


@kernel
def cross_parts(store, grammar):
    """List what crosses from the parts that were noted, which may note more.

    What a part has as a list is listed. `parts` gets the number of each.
    """
    i = 0
    while i < grammar.n_parts and not has_stopped(store, grammar):
        noted = grammar.parts[i]
        if noted.node >= 0:
            noted.part = part_mask(store, noted.state, noted.node)
            if noted.part < 0:
                break
        part = store.part_masks[noted.part]
        if part.kind != MaskKind.WORDS:
            allow_part(grammar, store.token_lists, part.mask, part.n_tokens)
        _cross(store, grammar, noted.row, noted.state, part.first_exit, part.n_exits)
        i += 1
