"""The configurations that the tokens of a mask lead to.

Tokens that stay inside the lexeme in hand lead to the same place and another lexer state, whatever the grammar: they
are listed once for a lexer state (`list_inside`). The others are found as for masks (mask/boundary_walk.py), from the
exits of the lexer state, but by real steps, so that records are kept: `list_crossing`.

Where something is recorded no two tokens lead to the same configuration; whoever asks takes one for all that stay
inside the lexeme in the same lexer state.

In: tables, a configuration whose mask is built. Out: pairs (token, configuration). Cost: 30 ns a trie node, inside a
lexeme 5 ns.
"""

from __future__ import annotations

from ..lexer.dense_transitions import DenseEntry, check_walked, dense_row, dense_state, dense_step
from ..lexer.states import DEAD, next_state, token_set_of
from ..machine.jit import inline, kernel
from ..mask.assemble import build_mask
from ..mask.configurations import REFUSED, after_token, configuration_of, pack, step
from ..mask.repeated_values import path_to
from ..mask.tracked_masks import untracked_configuration
from ..tables.interning import list_item, list_length
from ..tables.memory import reserve, spend
from ..values.parse_states import FIRST_TRACKED, row_of
from ..vocabulary.trie_words import token_of


@inline
def _emit(store, data, n, node, value):
    """Write the token that ends at a trie node, and those with the same bytes, each with a value."""
    token = token_of(store.trie[node])
    if token < 0:
        return n
    while True:
        if n + 2 <= data.shape[0]:
            data[n] = token
            data[n + 1] = value
        n += 2
        token = store.duplicates[token] if store.n_duplicates != 0 else 0
        if token == 0:
            return n


@inline
def anonymous_of(store, grammar, configuration):
    """The lexer state whose tokens inside the lexeme are those of a configuration."""
    return store.states[grammar.configurations[configuration].state].anonymous


@inline
def without_transcript(store, grammar, configuration):
    """The configuration of the same row where nothing is recorded; itself, where nothing is."""
    is_recorded = grammar.configurations[configuration].parse_state >= FIRST_TRACKED
    return untracked_configuration(store, grammar, configuration) if is_recorded else configuration


@kernel
def list_inside(store, grammar, state, data):
    """Write the tokens that stay inside the lexeme of a state, each with the state behind it; returns how many numbers.

    The frames of this walk are next child, end of the children, hot row.
    """
    n = 0
    if state == DEAD:
        return n
    first = store.child_first
    frames = reserve(grammar.token_frames, 1)
    frames[0].child = first[0]
    frames[0].end = first[1]
    frames[0].parse_state = dense_row(store, state)
    depth = 0
    while depth >= 0 and store.exceeded == 0:
        child = frames[depth].child
        end = frames[depth].end
        dense = frames[depth].parse_state
        entry = DenseEntry.DEAD
        while child < end and entry < DenseEntry.FIRST:
            entry = dense_step(store, dense, store.child_byte[child])
            child += 1
        spend(store, 1 + ((child - frames[depth].child) >> 2))
        store.walked += child - frames[depth].child
        frames[depth].child = child
        if entry < DenseEntry.FIRST:
            depth -= 1
            continue
        node = store.child_node[child - 1]
        n = _emit(store, data, n, node, dense_state(store, entry - DenseEntry.FIRST))
        if first[node] < first[node + 1]:
            depth += 1
            frames = reserve(grammar.token_frames, depth + 1)
            frames[depth].child = first[node]
            frames[depth].end = first[node + 1]
            frames[depth].parse_state = entry - DenseEntry.FIRST
    check_walked(store)
    return n


@inline
def _push_node(store, grammar, depth, node, packed):
    first = store.child_first
    frames = reserve(grammar.token_frames, depth + 1)
    frames[depth].child = first[node]
    frames[depth].end = first[node + 1]
    frames[depth].parse_state = packed >> 32
    frames[depth].state = packed & 0xFFFFFFFF


@kernel
def _list_below(store, grammar, root, packed, only_ends, data, n):
    """Write the tokens below a trie node that was reached; `only_ends`: those that end the lexeme there."""
    _push_node(store, grammar, 0, root, packed)
    depth = 0
    while depth >= 0 and store.exceeded == 0 and grammar.exceeded == 0:
        frames = grammar.token_frames
        child = frames[depth].child
        if child == frames[depth].end:
            depth -= 1
            continue
        frames[depth].child = child + 1
        spend(store, 2)
        store.walked += 1
        parse_state = frames[depth].parse_state
        state = frames[depth].state
        byte = store.child_byte[child]
        if depth == 0 and only_ends != 0 and next_state(store, state, byte) != DEAD:
            continue
        reached = step(store, grammar, parse_state, state, byte)
        if reached == REFUSED:
            continue
        node = store.child_node[child]
        if token_of(store.trie[node]) >= 0:
            n = _emit(store, data, n, node, configuration_of(store, grammar, reached))
        depth += 1
        _push_node(store, grammar, depth, node, reached)
    check_walked(store)
    return n


@kernel
def list_crossing(store, grammar, configuration, data):
    """Write the tokens that cross the lexeme's end or are named, each with its configuration; returns how many numbers.

    A token that is named comes behind the same one that could be read.
    """
    build_mask(store, grammar, configuration)
    parse_state = grammar.configurations[configuration].parse_state
    state = grammar.configurations[configuration].state
    n = 0
    n_exits = 0
    anonymous = DEAD
    if state != DEAD:
        anonymous = store.states[state].anonymous
        base = store.states[anonymous].base
        if base != 0:  # whose exits lie at the same nodes and more
            anonymous = store.states[base].anonymous
        n_exits = store.states[anonymous].n_exits
    for i in range(n_exits):
        if store.exceeded != 0 or grammar.exceeded != 0:
            return 0
        at = store.states[anonymous].first_exit + i
        node = store.exits[at].node
        ends_here = store.states[store.exits[at].state].finished != 0
        packed = _after_path(store, grammar, pack(parse_state, state), node)
        if packed == REFUSED:
            continue
        if ends_here and token_of(store.trie[node]) >= 0:
            n = _emit(store, data, n, node, configuration_of(store, grammar, packed))
        n = _list_below(store, grammar, node, packed, 0 if ends_here else 1, data, n)
    return _list_named(store, grammar, configuration, data, n)


@inline
def _after_path(store, grammar, packed, node):
    """pack(place, state) behind the bytes of a trie node, or REFUSED."""
    for i in range(path_to(store, grammar, node)):
        packed = step(store, grammar, packed >> 32, packed & 0xFFFFFFFF, grammar.path[i])
        if packed == REFUSED:
            return REFUSED
    return packed


@kernel
def _list_named(store, grammar, configuration, data, n):
    """Write the tokens that the grammar names."""
    parse_state = grammar.configurations[configuration].naming - 1
    if parse_state < 0:
        return n
    row = row_of(grammar, parse_state)
    scans = grammar.rows[row].scans
    for i in range(grammar.rows[row].n_scans):
        tokens = token_set_of(store, grammar.row_entries[scans + i].symbol)
        if tokens < 0:
            continue
        for at in range(1, list_length(store.token_sets, tokens), 2):
            high = list_item(store.token_sets, tokens, at + 1)
            for token in range(list_item(store.token_sets, tokens, at), high + 1):
                reached = after_token(store, grammar, configuration, token)
                if reached != REFUSED:
                    if n + 2 <= data.shape[0]:
                        data[n] = token
                        data[n + 1] = reached
                    n += 2
    return n
