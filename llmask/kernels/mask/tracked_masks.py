"""Crossing tokens where a value is tracked: what the untracked row has, and what each transcript adds.

The tokens that cross a lexeme's end are found once for the row, whatever was read of the value, with the nodes of the
trie at which the text decides (tracked_walk.py). Each transcript walks from these nodes alone. Where a value that ends
soon may be in its set already, the exits themselves are asked again.

In: tables, a configuration. Out: see crossing.py; fields of the untracked row's configuration.
Cost: the walk once a row and lexer state; then 5 ns a token, and the walks from the nodes.
"""

from ..lexeme_masks.state_masks import build_state_mask
from ..machine.jit import inline, kernel
from ..tables.memory import has_stopped, reserve
from ..values.parse_states import NO_TRANSCRIPT, row_of, transcript_of
from .boundary_tokens import cross_exits, cross_whole
from .configurations import configuration_of, pack, states_of
from .crossing import UNTRACKED, intern_crossings
from .repeated_values import list_close
from .tracked_walk import walk_deferred


@inline
def untracked_configuration(store, grammar, configuration):
    """The configuration of the untracked row, which has most crossing tokens of this one; or negative."""
    parse_state, state = states_of(grammar, configuration)
    return configuration_of(store, grammar, pack(row_of(grammar, parse_state), state))


@kernel
def collect_untracked(store, grammar, untracked):
    """List the tokens that cross for every transcript of an untracked row, and the nodes at which the text decides."""
    build_state_mask(store, grammar.configurations[untracked].state)
    grammar.n_crossing = 0
    grammar.n_deferred = 0
    grammar.n_parts = 0
    if store.exceeded == 0:
        _cross_with(store, grammar, untracked, NO_TRANSCRIPT)


@inline
def _cross_with(store, grammar, untracked, transcript):
    """List the tokens that cross in an untracked row; `transcript` see `cross_tracked`."""
    here = grammar.configurations[untracked]
    grammar.untracked_walk, grammar.walk_transcript = UNTRACKED, transcript
    cross_exits(store, grammar, here.parse_state, here.state)
    grammar.walk_transcript = NO_TRANSCRIPT


@inline
def keep_untracked(grammar, untracked):
    """Keep what was collected for every transcript."""
    shared = grammar.configurations[untracked]
    shared.n, shared.n_deferred = grammar.n_crossing, grammar.n_deferred
    shared.first = intern_crossings(grammar, reserve(grammar.crossing, 1), shared.n)
    shared.first_deferred = intern_crossings(grammar, reserve(grammar.deferred, 1), shared.n_deferred)
    shared.may_repeat = grammar.repeats
    shared.shared = 1


@kernel
def _cross_transcript(store, grammar, configuration):
    """List what crosses in a configuration with a transcript, and the nodes to walk with it: mostly those shared.

    Returns how many of the tokens its `base` has as well.
    """
    untracked = untracked_configuration(store, grammar, configuration)
    if untracked < 0:
        return 0
    if grammar.configurations[untracked].shared == 0:
        collect_untracked(store, grammar, untracked)
        if has_stopped(store, grammar):
            return 0
        keep_untracked(grammar, untracked)
    shared = grammar.configurations[untracked]
    grammar.n_crossing = 0
    grammar.n_deferred = 0
    transcript = transcript_of(grammar, grammar.configurations[configuration].parse_state)
    if shared.may_repeat != 0 and list_close(grammar, transcript) > 0:
        _cross_with(store, grammar, untracked, transcript)
        return 0
    grammar.untracked_walk = UNTRACKED
    grammar.n_crossing = shared.n
    grammar.n_deferred = shared.n_deferred
    _copy_listed(grammar, reserve(grammar.crossing, shared.n + 1), shared.first, shared.n)
    _copy_listed(grammar, reserve(grammar.deferred, shared.n_deferred + 1), shared.first_deferred, shared.n_deferred)
    grammar.configurations[configuration].base = untracked
    return grammar.n_crossing


@inline
def _copy_listed(grammar, items, first, n):
    """Copy what a configuration has in the pool of crossings."""
    pool = grammar.crossings.pool
    for i in range(n):
        items[i] = pool[first + i]


@kernel
def collect_tracked(store, grammar, configuration):
    """As `collect` in assemble.py, for grammars that track values."""
    parse_state, state = states_of(grammar, configuration)
    grammar.n_deferred = 0
    n_shared = 0
    if row_of(grammar, parse_state) != parse_state:
        n_shared = _cross_transcript(store, grammar, configuration)
    elif grammar.rows[parse_state].tracks:
        _cross_with(store, grammar, configuration, NO_TRANSCRIPT)
    else:
        grammar.untracked_walk = 0
        cross_whole(store, grammar, configuration)
    for i in range(grammar.n_deferred):
        if not has_stopped(store, grammar):
            walk_deferred(store, grammar, parse_state, state, grammar.deferred[i])
    return n_shared
