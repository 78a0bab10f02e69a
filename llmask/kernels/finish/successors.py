"""The configurations that the tokens of a mask lead to.

    inside     tokens that stay inside the lexeme in hand lead to the same parse state and another lexer state, whatever
               the grammar: they are listed once for a lexer state (`list_inside`)
    crossing   the others are found as for masks (mask/boundary_walk.py), from the exits of the lexer state, but by real
               steps, so that transcripts are kept (`list_crossing`)

With a transcript no two tokens lead to the same configuration; the caller takes one for all that stay inside the
lexeme in the same lexer state.

In: tables, a configuration whose mask is built. Out: pairs (token, configuration). Cost: 30 ns a trie node, inside a
lexeme 5 ns.
"""

from ..lexer.dense_transitions import DenseEntry, check_walked, dense_row, dense_state, dense_step
from ..lexer.states import DEAD, next_state, token_set_of
from ..machine.constants import ROOT
from ..machine.jit import inline, kernel
from ..mask.assemble import build_mask
from ..mask.configurations import REFUSED, after_token, configuration_of, pack, states_of, step
from ..mask.repeated_values import path_to
from ..parser.rows import scans_of
from ..parser.token_terminals import n_token_ranges, put_pair, token_range
from ..tables.memory import has_stopped, reserve, spend
from ..values.parse_states import row_of
from ..vocabulary.trie_words import token_of


@inline
def _emit(store, data, n, node, value):
    """Write the token that ends at a trie node, and those with the same bytes, each with a value."""
    token = token_of(store.trie[node])
    if token < 0:
        return n
    while True:
        n = put_pair(data, n, (token, value))
        token = store.duplicates[token] if store.n_duplicates != 0 else 0
        if token == 0:
            return n


@inline
def _push_frame(store, grammar, depth, node):
    """The frame of a trie node at a depth of the walk, its children still to come."""
    frame = reserve(grammar.token_frames, depth + 1)[depth]
    frame.child = store.child_first[node]
    frame.end = store.child_first[node + 1]
    return frame


@kernel
def list_inside(store, grammar, state, data):
    """Write the tokens that stay inside the lexeme of a state, each with the state after it; returns their count."""
    n = 0
    if state == DEAD:
        return n
    _push_frame(store, grammar, 0, ROOT).dense = dense_row(store, state)
    depth = 0
    while depth >= 0 and store.exceeded == 0:
        # the next child whose byte leads on
        frame = grammar.token_frames[depth]
        child = frame.child
        entry = DenseEntry.DEAD
        while child < frame.end and entry < DenseEntry.FIRST:
            entry = dense_step(store, frame.dense, store.child_byte[child])
            child += 1
        n_looked_at = child - frame.child
        spend(store, 1 + (n_looked_at >> 2))
        store.walked += n_looked_at
        frame.child = child
        if entry < DenseEntry.FIRST:
            depth -= 1
            continue
        # its tokens, and what is below it
        node = store.child_node[child - 1]
        n = _emit(store, data, n, node, dense_state(store, entry - DenseEntry.FIRST))
        if store.child_first[node] < store.child_first[node + 1]:
            depth += 1
            _push_frame(store, grammar, depth, node).dense = entry - DenseEntry.FIRST
    check_walked(store)
    return n


@inline
def _push_node(store, grammar, depth, node, packed):
    frame = _push_frame(store, grammar, depth, node)
    frame.parse_state = packed >> 32
    frame.state = packed & 0xFFFFFFFF


@kernel
def _list_below(store, grammar, root, packed, only_ends, data, n):
    """Write the tokens below a trie node that was reached; `only_ends`: only where the lexeme ends at the node."""
    _push_node(store, grammar, 0, root, packed)
    depth = 0
    while depth >= 0 and not has_stopped(store, grammar):
        frame = grammar.token_frames[depth]
        child = frame.child
        if child == frame.end:
            depth -= 1
            continue
        frame.child = child + 1
        spend(store, 2)
        store.walked += 1
        byte = store.child_byte[child]
        if depth == 0 and only_ends != 0 and next_state(store, frame.state, byte) != DEAD:
            continue
        reached = step(store, grammar, frame.parse_state, frame.state, byte)
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

    A token that is named comes after the same one that could be read.
    """
    build_mask(store, grammar, configuration)
    parse_state, state = states_of(grammar, configuration)
    n = 0
    n_exits = 0
    anonymous = DEAD
    if state != DEAD:
        anonymous = store.states[state].anonymous
        base = store.states[anonymous].base
        if base != 0:  # its exits are at the same nodes and more
            anonymous = store.states[base].anonymous
        n_exits = store.states[anonymous].n_exits
    # from each node where the lexeme may end: the token there, and the tokens below
    for i in range(n_exits):
        if has_stopped(store, grammar):
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
    """pack(parse state, lexer state) after the bytes of a trie node, or REFUSED."""
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
    for at in scans_of(grammar, row_of(grammar, parse_state)):
        tokens = token_set_of(store, grammar.row_entries[at].symbol)
        for i in range(n_token_ranges(store, tokens)):
            low, high = token_range(store, tokens, i)
            for token in range(low, high + 1):
                reached = after_token(store, grammar, configuration, token)
                if reached != REFUSED:
                    n = put_pair(data, n, (token, reached))
    return n
