"""How a document can end from a configuration, and the tokens that this certainly takes: a best-first search.

    step      a byte, or FIRST_TOKEN + a token that the grammar names
    ENDS      of a configuration: the step to take and the configuration after it, down to one that accepts
    bound     1 + the least bound after a token that spells the next steps; 1 where the document may end

A search goes from a configuration to one with a lower estimate (finish/estimates.py), as A* does (P. Hart, N. Nilsson,
B. Raphael, A formal basis for the heuristic determination of minimum cost paths, 1968), but it ends at the first such
step, mostly the first of all. So ways are short, not shortest. A byte that is no token by itself is taken only where
there is no other way: it may be that no tokens spell it.

The steps are taken by configurations.py, so what is found is a fact and only its length depends on the estimate. A step
that is noted stays: the bound of a configuration is then exactly one more than the bound after its token, and never
rises. `lower_bound` notes a shorter way that a caller has found.

In: tables, a configuration. Out: its bound. Cost: 10 us a byte to the next configuration that has one.
"""

from ..lexeme_masks.exits import NO_CHILD, child_with
from ..lexer.states import token_set_of
from ..machine.constants import NO_TOKEN
from ..machine.jit import inline, kernel
from ..mask.configurations import ENDED, REFUSED, after_token, configuration_of, pack, states_of, step
from ..parser.rows import scans_of
from ..parser.token_terminals import NAMES_ORDINARY, n_token_ranges, token_range
from ..regex.nodes import BYTE_DISTANCE
from ..tables.interning import mix
from ..tables.memory import fill_bytes, has_stopped, reserve, spend
from ..values.parse_states import FIRST_TRACKED, row_of
from ..vocabulary.trie_words import token_of
from .estimates import estimate

FIRST_TOKEN = 256
SPELLS_SOME = 1
SPELLS_ALL = 2
NO_STEP = -1  # the document may end here
LOST = -2  # no way was found
NO_BOUND = 2**30
MOST_SEARCHED = 2048  # nodes whose steps one search takes, about
SEARCH_INDEX_SIZE = 8192
MOST_ALIKE = 64  # nodes of one row, lexer state and number of steps, whose transcripts differ
MOST_PATH = 1 << 17  # steps
END_PACKED = -5  # in place of pack(parse state, lexer state): after an end of sequence
RANK_ACCEPTS = -1  # better than every cost
RANK_ENDED = -2
TAKEN = 2**62  # cost of a node whose steps are taken
NO_NODE = -1


@inline
def _end(grammar, configuration):
    """What is known of the way from a configuration to an end; nothing, at first."""
    return reserve(grammar.ends, configuration + 1)[configuration]


@inline
def _put_end(grammar, configuration, following, taken, bound):
    end = _end(grammar, configuration)
    end.next, end.step, end.bound, end.token = following, taken, bound, NO_TOKEN


@inline
def _rank(store, grammar, packed):
    """Estimate of a search node; less than any estimate where the document may end."""
    if packed == END_PACKED:
        return RANK_ENDED
    cost = estimate(store, grammar, packed >> 32, packed & 0xFFFFFFFF)
    if cost == 0:
        configuration = configuration_of(store, grammar, packed)
        if configuration >= 0 and grammar.configurations[configuration].accepts != 0:
            return RANK_ACCEPTS
    return cost


@inline
def _add_node(store, packed, before, taken, n):
    """Add a node to the n nodes of the search, if it is a new one; returns how many there are."""
    index = store.search_index
    nodes = store.search_nodes
    slot = mix(5, packed) & (SEARCH_INDEX_SIZE - 1)
    while index[slot] != 0:
        if nodes[index[slot] - 1].packed == packed:
            return n
        slot = (slot + 1) & (SEARCH_INDEX_SIZE - 1)
    nodes[n].packed, nodes[n].before, nodes[n].step = packed, before, taken
    index[slot] = n + 1
    return n + 1


@inline
def _has_many_alike(store, grammar, packed, way):
    """Whether the search has many nodes like this one with other transcripts; counted by hash, so about."""
    if packed >> 32 < FIRST_TRACKED:
        return False
    alike = pack(row_of(grammar, packed >> 32), packed & 0xFFFFFFFF)
    slot = mix(way, alike) & (SEARCH_INDEX_SIZE - 1)
    store.alike_counts[slot] = store.alike_counts[slot] + 1
    return store.alike_counts[slot] > MOST_ALIKE


@inline
def _cheapest(store, n):
    """The node of the least cost whose steps are not taken yet, the first of equals, or NO_NODE."""
    nodes = store.search_nodes
    found = NO_NODE
    least = TAKEN
    for i in range(n):
        if nodes[i].cost < least:
            found = i
            least = nodes[i].cost
    return found


@kernel
def _add_named(store, grammar, packed, before, n):
    """Add the nodes that named tokens lead to, the first token of each range."""
    configuration = configuration_of(store, grammar, packed)
    if configuration < 0:
        return n
    parse_state = grammar.configurations[configuration].naming - 1
    if parse_state < 0:
        return n
    for at in scans_of(grammar, row_of(grammar, parse_state)):
        tokens = token_set_of(store, grammar.row_entries[at].symbol)
        for i in range(n_token_ranges(store, tokens)):
            token, _ = token_range(store, tokens, i)
            reached = after_token(store, grammar, configuration, token)
            if reached != REFUSED and n < 2 * MOST_SEARCHED:
                n = _add_node(store, _packed(grammar, reached), before, FIRST_TOKEN + token, n)
    return n


@kernel
def _add_bytes(store, grammar, node, way, every_byte, n):
    """Add the nodes that bytes lead to; neighbours that lead to the same are one."""
    packed = store.search_nodes[node].packed
    last = REFUSED
    for byte in range(256):
        if every_byte == 0 and store.spelled_bytes[byte] == 0:
            continue
        reached = step(store, grammar, packed >> 32, packed & 0xFFFFFFFF, byte)
        if reached != REFUSED and reached != last:
            last = reached
            if not _has_many_alike(store, grammar, reached, way):
                n = _add_node(store, reached, node, byte, n)
    return n


@inline
def _packed(grammar, configuration):
    if configuration == ENDED:
        return END_PACKED
    parse_state, state = states_of(grammar, configuration)
    return pack(parse_state, state)


@kernel
def _find_spelled_bytes(store):
    """Find which bytes are tokens, once a store."""
    flags = reserve(store.spelled_bytes, 256)
    if store.spells == 0:
        n = 0
        for child in range(store.child_first[1]):  # the root's children
            if token_of(store.trie[store.child_node[child]]) >= 0:
                flags[store.child_byte[child]] = 1
                n += 1
        store.spells = SPELLS_ALL if n == 256 else SPELLS_SOME


@inline
def _begin_search(store):
    """Make room for nodes, and forget the last search."""
    _find_spelled_bytes(store)
    n_bytes = SEARCH_INDEX_SIZE * 4
    fill_bytes(reserve(store.search_index, SEARCH_INDEX_SIZE).address, n_bytes, 0)
    fill_bytes(reserve(store.alike_counts, SEARCH_INDEX_SIZE).address, n_bytes, 0)
    reserve(store.search_nodes, 2 * MOST_SEARCHED + 256)


@kernel
def _search(store, grammar, here, n, every_byte):
    """Add the steps to a lower estimate to the path of n steps, and where they lead; returns its length, or LOST."""
    _begin_search(store)
    nodes = store.search_nodes
    parse_state, state = states_of(grammar, here)
    least = estimate(store, grammar, parse_state, state)
    n_nodes = _add_node(store, _packed(grammar, here), NO_NODE, NO_STEP, 0)
    node = 0
    while node != NO_NODE and n_nodes < MOST_SEARCHED:
        packed = nodes[node].packed
        way = 0 if node == 0 else nodes[node].cost - _rank(store, grammar, packed)
        nodes[node].cost = TAKEN
        spend(grammar, 64 + (n_nodes >> 6))
        first = n_nodes
        n_nodes = _add_bytes(store, grammar, node, way, every_byte, n_nodes)
        if grammar.names_tokens != 0:
            n_nodes = _add_named(store, grammar, packed, node, n_nodes)
        # the search ends where one of the new nodes is better than the beginning
        best = NO_NODE
        best_rank = least
        for i in range(first, n_nodes):
            rank = _rank(store, grammar, nodes[i].packed)
            nodes[i].cost = way + BYTE_DISTANCE + rank
            if rank < best_rank:
                best = i
                best_rank = rank
        if has_stopped(store, grammar):
            return LOST
        if best != NO_NODE:
            return _put_path(store, grammar, best, n)
        node = _cheapest(store, n_nodes)
    return LOST


@kernel
def _put_path(store, grammar, best, n):
    """Append the way to a search node to the path of n steps; returns the length of both."""
    nodes = store.search_nodes
    end = n
    node = best
    while nodes[node].before != NO_NODE:
        end += 1
        node = nodes[node].before
    path = reserve(store.finish_path, end + 1)
    node = best
    taken = NO_STEP
    for i in range(end, n - 1, -1):
        packed = nodes[node].packed
        path[i].configuration = ENDED if packed == END_PACKED else configuration_of(store, grammar, packed)
        path[i].step = taken
        taken = nodes[node].step
        node = nodes[node].before
    return end


@kernel
def bound_of(store, grammar, configuration):
    """Tokens that certainly suffice to end from a configuration, end of sequence included; NO_BOUND: none are known."""
    if configuration == ENDED:
        return 0
    bound = _end(grammar, configuration).bound
    if bound != 0:
        return bound
    n = _find_path(store, grammar, configuration)
    if has_stopped(store, grammar):
        return NO_BOUND
    if n == LOST:
        _put_end(grammar, configuration, ENDED, LOST, NO_BOUND)
        return NO_BOUND
    # the path leads to a known bound: each of its configurations gets one, the last one first
    while n > 0:
        n -= 1
        path = store.finish_path
        at = path[n].configuration
        if _end(grammar, at).bound == 0:
            _put_end(grammar, at, path[n + 1].configuration, path[n].step, NO_BOUND)
            _spell(store, grammar, at)
            if has_stopped(store, grammar):
                _put_end(grammar, at, ENDED, NO_STEP, 0)  # what a named token leads to may be missing
                return NO_BOUND
    return _end(grammar, configuration).bound


@kernel
def _find_path(store, grammar, configuration):
    """Search on and on until a configuration has a bound or accepts; returns the length of the path there, or LOST."""
    n = 0
    here = configuration
    while here != ENDED and _end(grammar, here).bound == 0:
        if grammar.configurations[here].accepts != 0:
            _put_end(grammar, here, ENDED, NO_STEP, 1)
            break
        n_before = n
        n = _search(store, grammar, here, n_before, 0)
        if n == LOST and store.spells == SPELLS_SOME:
            n = _search(store, grammar, here, n_before, 1)
        if n == LOST or n > MOST_PATH or has_stopped(store, grammar):
            return LOST
        here = store.finish_path[n].configuration
    is_lost = here != ENDED and _end(grammar, here).step == LOST and _end(grammar, here).bound == NO_BOUND
    return LOST if is_lost else n


@kernel
def _spell(store, grammar, configuration):
    """Find the token that spells the next steps and leaves the least bound, the longest of equals."""
    least = NO_BOUND
    best = NO_TOKEN
    here = configuration
    node = 0
    while here != ENDED:
        taken, following = _end(grammar, here).step, _end(grammar, here).next
        # a named token is a step of its own, and spelled by nothing else
        if taken >= FIRST_TOKEN and node == 0:
            least = 1 + (0 if following == ENDED else _end(grammar, following).bound)
            best = taken - FIRST_TOKEN
        if taken < 0 or taken >= FIRST_TOKEN:
            break
        child = child_with(store, node, taken)
        if child == NO_CHILD:
            break
        node = store.child_node[child]
        # the bytes so far may be a token
        here = following
        token = token_of(store.trie[node])
        if token >= 0 and grammar.names_tokens == NAMES_ORDINARY:
            if after_token(store, grammar, configuration, token) != REFUSED:
                continue  # it is taken as the terminal
        bound = _end(grammar, here).bound
        if token >= 0 and 0 < bound and bound + 1 <= least:
            least = bound + 1
            best = token
    lower_bound(grammar, configuration, min(least, NO_BOUND), best)


@inline
def lower_bound(grammar, configuration, bound, token):
    """Note a token after which the bound is one less than `bound`, if that is less than what is known."""
    end = _end(grammar, configuration)
    if bound < end.bound:
        end.bound = bound
        end.token = token


@inline
def finishing_token(grammar, configuration):
    """The token of a bound, or NO_TOKEN."""
    return _end(grammar, configuration).token
