"""How a sequence can end from a configuration, and the tokens that this certainly takes.

    step      a byte, or FIRST_TOKEN + a token that the grammar names
    ENDS      of a configuration: the step to take and the configuration behind it, down to one that accepts
    bound     1 + the least bound behind a token that spells the next steps; 1 where the document may end

A search finds the step: the one behind which the least has to be written, by the estimate of finish/rule_costs.py, or
where none is better a way to such a place, going on where way and rest are least. A byte that is no token by itself is
taken only where there is no other way: it may be that no tokens spell it. The steps are taken by configurations.py, so
what is found is a fact and only its length depends on the estimate. A step that is noted stays:
the bound of a configuration is then exactly one more than that behind its token, and never rises. `lower_bound` notes a
shorter way that a caller has found.

In: tables, a configuration. Out: its bound. Cost: 10 us a byte to the next configuration that has one.
"""

from __future__ import annotations

from ..lexer.states import token_set_of
from ..machine.constants import NO_TOKEN
from ..machine.jit import inline, kernel
from ..mask.configurations import ENDED, REFUSED, after_token, configuration_of, pack, step
from ..parser.token_terminals import NAMES_ORDINARY
from ..regex.nodes import BYTE_DISTANCE
from ..tables.interning import list_item, list_length, mix
from ..tables.memory import fill_bytes, reserve, spend
from ..values.parse_states import FIRST_TRACKED, row_of
from ..vocabulary.trie_words import token_of
from .estimates import estimate

FIRST_TOKEN = 256
SPELLS_SOME = 1
SPELLS_ALL = 2
NO_STEP = -1  # the document may end here
LOST = -2  # no way was found
NO_BOUND = 2**30
MOST_SEARCHED = 2048  # places looked at for one that is better
STEP_INDEX_SIZE = 8192
MOST_ALIKE = 64  # places of one row, lexer state and number of steps that differ in what is recorded
MOST_PATH = 1 << 17  # steps
END_PACKED = -5  # in place of pack(place, state): behind an end of sequence
RANK_ACCEPTS = -1  # better than every cost
RANK_ENDED = -2
LOOKED_AT = 2**62


@inline
def _end(grammar, configuration):
    """What is known of the way from a configuration to an end; nothing, at first."""
    return reserve(grammar.ends, configuration + 1)[configuration]


@inline
def _put_end(grammar, configuration, following, taken, bound, token):
    end = _end(grammar, configuration)
    end.next = following
    end.step = taken
    end.bound = bound
    end.token = token


@inline
def _rank(store, grammar, packed):
    """How much has to be written from a place, less where the document may end."""
    if packed == END_PACKED:
        return RANK_ENDED
    cost = estimate(store, grammar, packed >> 32, packed & 0xFFFFFFFF)
    if cost == 0:
        configuration = configuration_of(store, grammar, packed)
        if configuration >= 0 and grammar.configurations[configuration].accepts != 0:
            return RANK_ACCEPTS
    return cost


@inline
def _add_place(store, packed, before, taken, n):
    """Put a place that the search has not seen behind the others; returns how many there are."""
    index = store.search_index
    places = store.searched_steps
    slot = mix(5, packed) & (STEP_INDEX_SIZE - 1)
    while index[slot] != 0:
        if places[index[slot] - 1].packed == packed:
            return n
        slot = (slot + 1) & (STEP_INDEX_SIZE - 1)
    places[n].packed = packed
    places[n].step = (before << 32) | taken
    index[slot] = n + 1
    return n + 1


@inline
def _has_many_alike(store, grammar, packed, way):
    """Whether the search has seen many places like this one, whose records differ; counted by hash, so about."""
    if packed >> 32 < FIRST_TRACKED:
        return False
    counts = store.search_index  # behind the index
    alike = pack(row_of(grammar, packed >> 32), packed & 0xFFFFFFFF)
    slot = STEP_INDEX_SIZE + (mix(way, alike) & (STEP_INDEX_SIZE - 1))
    counts[slot] = counts[slot] + 1
    return counts[slot] > MOST_ALIKE


@inline
def _next_place(store, n):
    """The place of the least cost whose steps are not taken yet, the first of equals, or -1."""
    places = store.searched_steps
    found = -1
    least = LOOKED_AT
    for i in range(n):
        cost = places[i].cost
        if cost < least:
            found = i
            least = cost
    return found


@kernel
def _add_named(store, grammar, packed, before, n):
    """Add what the tokens lead to that the grammar names, the first of each range."""
    configuration = configuration_of(store, grammar, packed)
    if configuration < 0:
        return n
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
            token = list_item(store.token_sets, tokens, at)
            reached = after_token(store, grammar, configuration, token)
            if reached != REFUSED and n < 2 * MOST_SEARCHED:
                n = _add_place(store, _packed(grammar, reached), before, FIRST_TOKEN + token, n)
    return n


@inline
def _packed(grammar, configuration):
    if configuration == ENDED:
        return END_PACKED
    parse_state = grammar.configurations[configuration].parse_state
    return pack(parse_state, grammar.configurations[configuration].state)


@inline
def _spelled_bytes(store):
    """Which bytes are tokens, see tables/store_layout.py."""
    flags = reserve(store.spelled_bytes, 257)
    if flags[256] == 0:
        n = 0
        for child in range(store.child_first[1]):
            if token_of(store.trie[store.child_node[child]]) >= 0:
                flags[store.child_byte[child]] = 1
                n += 1
        flags[256] = SPELLS_ALL if n == 256 else SPELLS_SOME
    return flags


@kernel
def _search(store, grammar, here, n, every_byte):
    """Add the steps to a better place to the path of `n` steps, and where they lead; returns its length, or LOST."""
    spelled = _spelled_bytes(store)
    least = estimate(store, grammar, grammar.configurations[here].parse_state, grammar.configurations[here].state)
    fill_bytes(reserve(store.search_index, 2 * STEP_INDEX_SIZE).address, 2 * STEP_INDEX_SIZE * 4, 0)
    places = reserve(store.searched_steps, 2 * MOST_SEARCHED + 256)
    n_places = _add_place(store, _packed(grammar, here), -1, 0, 0)
    looked_at = 0
    while looked_at >= 0 and n_places < MOST_SEARCHED:
        packed = places[looked_at].packed
        way = 0 if looked_at == 0 else places[looked_at].cost - _rank(store, grammar, packed)
        places[looked_at].cost = LOOKED_AT
        spend(grammar, 64 + (n_places >> 6))
        first = n_places
        last = REFUSED
        for byte in range(256):
            if every_byte == 0 and spelled[byte] == 0:
                continue
            reached = step(store, grammar, packed >> 32, packed & 0xFFFFFFFF, byte)
            if reached != REFUSED and reached != last:
                last = reached
                if _has_many_alike(store, grammar, reached, way):
                    continue
                n_places = _add_place(store, reached, looked_at, byte, n_places)
        if grammar.names_tokens != 0:
            n_places = _add_named(store, grammar, packed, looked_at, n_places)
        best = -1
        best_rank = least
        for i in range(first, n_places):
            rank = _rank(store, grammar, places[i].packed)
            places[i].cost = way + BYTE_DISTANCE + rank
            if rank < best_rank:
                best = i
                best_rank = rank
        if store.exceeded != 0 or grammar.exceeded != 0:
            return LOST
        if best >= 0:
            return _put_path(store, grammar, best, n)
        looked_at = _next_place(store, n_places)
    return LOST


@kernel
def _put_path(store, grammar, best, n):
    """Write the way to a place that the search has found behind a path; returns the length of it all."""
    places = store.searched_steps
    end = n
    at = best
    while places[at].step >> 32 >= 0:
        end += 1
        at = places[at].step >> 32
    path = reserve(store.finish_path, end + 1)
    position = end
    at = best
    taken = NO_STEP
    while True:
        packed = places[at].packed
        configuration = ENDED if packed == END_PACKED else configuration_of(store, grammar, packed)
        path[position].configuration = configuration
        path[position].step = taken
        if position == n:
            return end
        taken = places[at].step & 0xFFFFFFFF
        at = places[at].step >> 32
        position -= 1


@kernel
def bound_of(store, grammar, configuration):
    """Tokens that certainly suffice to end from a configuration, end of sequence included; NO_BOUND: none are known."""
    if configuration == ENDED:
        return 0
    bound = _end(grammar, configuration).bound
    if bound != 0:
        return bound
    n = 0
    here = configuration
    while here != ENDED and _end(grammar, here).bound == 0:
        if grammar.configurations[here].accepts != 0:
            _put_end(grammar, here, ENDED, NO_STEP, 1, NO_TOKEN)
            break
        n_before = n
        n = _search(store, grammar, here, n_before, 0)
        if n == LOST and _spelled_bytes(store)[256] == SPELLS_SOME:
            n = _search(store, grammar, here, n_before, 1)
        if store.exceeded != 0 or grammar.exceeded != 0:
            return NO_BOUND
        if n == LOST or n > MOST_PATH:
            _put_end(grammar, configuration, ENDED, LOST, NO_BOUND, NO_TOKEN)
            return NO_BOUND
        here = store.finish_path[n].configuration
        if store.exceeded != 0 or grammar.exceeded != 0:
            return NO_BOUND
    if here != ENDED and _end(grammar, here).step == LOST and _end(grammar, here).bound == NO_BOUND:
        _put_end(grammar, configuration, ENDED, LOST, NO_BOUND, NO_TOKEN)
        return NO_BOUND
    while n > 0:
        n -= 1
        path = store.finish_path
        at = path[n].configuration
        if _end(grammar, at).bound == 0:
            _put_end(grammar, at, path[n + 1].configuration, path[n].step, NO_BOUND, NO_TOKEN)
            _spell(store, grammar, at)
            if store.exceeded != 0 or grammar.exceeded != 0:
                _put_end(grammar, at, ENDED, NO_STEP, 0, NO_TOKEN)  # what a named token leads to may be missing
                return NO_BOUND
    return _end(grammar, configuration).bound


@inline
def _child(store, node, byte):
    """The child of a trie node over a byte, or -1."""
    low = store.child_first[node]
    high = store.child_first[node + 1]
    while low < high:
        middle = (low + high) >> 1
        if store.child_byte[middle] < byte:
            low = middle + 1
        else:
            high = middle
    if low == store.child_first[node + 1] or store.child_byte[low] != byte:
        return -1
    return store.child_node[low]


@kernel
def _spell(store, grammar, configuration):
    """Find the token that spells the next steps and leaves the least bound, the longest of equals."""
    least = NO_BOUND
    best = NO_TOKEN
    here = configuration
    node = 0
    while here != ENDED:
        taken = _end(grammar, here).step
        following = _end(grammar, here).next
        if taken >= FIRST_TOKEN and node == 0:
            least = 1 + (0 if following == ENDED else _end(grammar, following).bound)
            best = taken - FIRST_TOKEN
        if taken < 0 or taken >= FIRST_TOKEN:
            break
        node = _child(store, node, taken)
        if node < 0:
            break
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
    """Note a token behind which the bound is one less than `bound`, if that is less than what is known."""
    end = _end(grammar, configuration)
    if bound < end.bound:
        end.bound = bound
        end.token = token


@inline
def finishing_token(grammar, configuration):
    """The token of a bound, or NO_TOKEN."""
    return _end(grammar, configuration).token
