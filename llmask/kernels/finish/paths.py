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
from ..machine.constants import NO_TOKEN, TRIE_TOKEN_SHIFT
from ..machine.jit import kernel, never_inline
from ..mask.configurations import (
    C_ACCEPTS,
    C_NAMING,
    C_PLACE,
    C_STATE,
    ENDED,
    REFUSED,
    after_token,
    configuration_field,
    configuration_of,
    pack,
    step,
)
from ..parser.rows import R_N_SCANS, R_SCANS, row_field
from ..parser.token_terminals import NAMES_ORDINARY
from ..regex.nodes import BYTE_DISTANCE
from ..tables.grammar_layout import ENDS, NAMES_TOKENS, ROW_POOL
from ..tables.interning import list_item, list_length, mix
from ..tables.memory import EXCEEDED, block, ensure, fill_bytes, get_i32, get_i64, get_u8, put_i32, put_i64, spend
from ..tables.store_layout import (
    CHILD_BYTE,
    CHILD_FIRST,
    CHILD_NODE,
    FINISH_PATH,
    SEARCH_INDEX,
    SEARCHED_STEPS,
    SPELLED_BYTES,
    TOKEN_SETS,
    TRIE,
)
from ..values.transcripts import FIRST_PLACE, row_of
from .estimates import estimate

END_FIELDS = 4
E_NEXT = 0  # configuration behind the step
E_STEP = 1
E_BOUND = 2  # 0 = not looked for yet
E_TOKEN = 3  # the token to take, NO_TOKEN where the document may end

FIRST_TOKEN = 256
SPELLS_SOME = 1
SPELLS_ALL = 2
NO_STEP = -1  # the document may end here
LOST = -2  # no way was found
NO_BOUND = 2**30
MOST_SEARCHED = 2048  # places looked at for one that is better
INDEX_SIZE = 8192
MOST_ALIKE = 64  # places of one row, lexer state and number of steps that differ in what is recorded
MOST_PATH = 1 << 17  # steps
END_PACKED = -5  # in place of pack(place, state): behind an end of sequence
RANK_ACCEPTS = -1  # better than every cost
RANK_ENDED = -2
PLACE_FIELDS = 3  # of SEARCHED_STEPS
P_PACKED = 0  # pack(place, state)
P_STEP = 1  # the place before << 32 | step
P_COST = 2  # way and rest, at least; LOOKED_AT: its steps are taken
LOOKED_AT = 2**62


@kernel
def _end_field(grammar, configuration, name):
    return get_i32(ensure(grammar, ENDS, (configuration + 1) * END_FIELDS * 4), configuration * END_FIELDS + name)


@kernel
def _put_end(grammar, configuration, following, at_step, bound, token):
    ends = ensure(grammar, ENDS, (configuration + 1) * END_FIELDS * 4)
    at = configuration * END_FIELDS
    put_i32(ends, at + E_NEXT, following)
    put_i32(ends, at + E_STEP, at_step)
    put_i32(ends, at + E_BOUND, bound)
    put_i32(ends, at + E_TOKEN, token)


@kernel
def _rank(store, grammar, packed):
    """How much has to be written from a place, less where the document may end."""
    if packed == END_PACKED:
        return RANK_ENDED
    cost = estimate(store, grammar, packed >> 32, packed & 0xFFFFFFFF)
    if cost == 0:
        configuration = configuration_of(store, grammar, packed)
        if configuration >= 0 and configuration_field(grammar, configuration, C_ACCEPTS) != 0:
            return RANK_ACCEPTS
    return cost


@kernel
def _add_place(store, packed, before, taken, n):
    """Put a place that the search has not seen behind the others; returns how many there are."""
    index = block(store, SEARCH_INDEX)
    places = block(store, SEARCHED_STEPS)
    slot = mix(5, packed) & (INDEX_SIZE - 1)
    while get_i32(index, slot) != 0:
        if get_i64(places, PLACE_FIELDS * (get_i32(index, slot) - 1)) == packed:
            return n
        slot = (slot + 1) & (INDEX_SIZE - 1)
    put_i64(places, PLACE_FIELDS * n + P_PACKED, packed)
    put_i64(places, PLACE_FIELDS * n + P_STEP, (before << 32) | taken)
    put_i32(index, slot, n + 1)
    return n + 1


@kernel
def _has_many_alike(store, grammar, packed, way):
    """Whether the search has seen many places like this one, whose records differ; counted by hash, so about."""
    if packed >> 32 < FIRST_PLACE:
        return False
    counts = block(store, SEARCH_INDEX)  # behind the index
    alike = pack(row_of(grammar, packed >> 32), packed & 0xFFFFFFFF)
    slot = INDEX_SIZE + (mix(way, alike) & (INDEX_SIZE - 1))
    put_i32(counts, slot, get_i32(counts, slot) + 1)
    return get_i32(counts, slot) > MOST_ALIKE


@kernel
def _next_place(store, n):
    """The place of the least cost whose steps are not taken yet, the first of equals, or -1."""
    places = block(store, SEARCHED_STEPS)
    found = -1
    least = LOOKED_AT
    for i in range(n):
        cost = get_i64(places, PLACE_FIELDS * i + P_COST)
        if cost < least:
            found = i
            least = cost
    return found


@kernel
def _add_named(store, grammar, packed, before, n):
    """Add what the tokens lead to that the grammar names, the first of each range."""
    never_inline()
    configuration = configuration_of(store, grammar, packed)
    if configuration < 0:
        return n
    place = configuration_field(grammar, configuration, C_NAMING) - 1
    if place < 0:
        return n
    row = row_of(grammar, place)
    scans = row_field(grammar, row, R_SCANS)
    for i in range(row_field(grammar, row, R_N_SCANS)):
        tokens = token_set_of(store, get_i32(block(grammar, ROW_POOL), scans + 4 * i))
        if tokens < 0:
            continue
        for at in range(1, list_length(store, TOKEN_SETS, tokens), 2):
            token = list_item(store, TOKEN_SETS, tokens, at)
            reached = after_token(store, grammar, configuration, token)
            if reached != REFUSED and n < 2 * MOST_SEARCHED:
                n = _add_place(store, _packed(grammar, reached), before, FIRST_TOKEN + token, n)
    return n


@kernel
def _packed(grammar, configuration):
    if configuration == ENDED:
        return END_PACKED
    place = configuration_field(grammar, configuration, C_PLACE)
    return pack(place, configuration_field(grammar, configuration, C_STATE))


@kernel
def _spelled_bytes(store):
    """Address of SPELLED_BYTES."""
    flags = ensure(store, SPELLED_BYTES, 257 * 4)
    if get_i32(flags, 256) == 0:
        n = 0
        for child in range(get_i32(block(store, CHILD_FIRST), 1)):
            if get_i64(block(store, TRIE), get_i32(block(store, CHILD_NODE), child)) >> TRIE_TOKEN_SHIFT != 0:
                put_i32(flags, get_u8(block(store, CHILD_BYTE), child), 1)
                n += 1
        put_i32(flags, 256, SPELLS_ALL if n == 256 else SPELLS_SOME)
    return flags


@kernel
def _search(store, grammar, here, n, every_byte):
    """Add the steps to a better place to the path of `n` steps, and where they lead; returns its length, or LOST."""
    never_inline()
    spelled = _spelled_bytes(store)
    least = estimate(
        store, grammar, configuration_field(grammar, here, C_PLACE), configuration_field(grammar, here, C_STATE)
    )
    fill_bytes(ensure(store, SEARCH_INDEX, 2 * INDEX_SIZE * 4), 2 * INDEX_SIZE * 4, 0)
    places = ensure(store, SEARCHED_STEPS, (2 * MOST_SEARCHED + 256) * PLACE_FIELDS * 8)
    n_places = _add_place(store, _packed(grammar, here), -1, 0, 0)
    looked_at = 0
    while looked_at >= 0 and n_places < MOST_SEARCHED:
        at = PLACE_FIELDS * looked_at
        packed = get_i64(places, at + P_PACKED)
        way = 0 if looked_at == 0 else get_i64(places, at + P_COST) - _rank(store, grammar, packed)
        put_i64(places, at + P_COST, LOOKED_AT)
        spend(grammar, 64 + (n_places >> 6))
        first = n_places
        last = REFUSED
        for byte in range(256):
            if every_byte == 0 and get_i32(spelled, byte) == 0:
                continue
            reached = step(store, grammar, packed >> 32, packed & 0xFFFFFFFF, byte)
            if reached != REFUSED and reached != last:
                last = reached
                if _has_many_alike(store, grammar, reached, way):
                    continue
                n_places = _add_place(store, reached, looked_at, byte, n_places)
        if grammar[NAMES_TOKENS] != 0:
            n_places = _add_named(store, grammar, packed, looked_at, n_places)
        best = -1
        best_rank = least
        for i in range(first, n_places):
            rank = _rank(store, grammar, get_i64(places, PLACE_FIELDS * i))
            put_i64(places, PLACE_FIELDS * i + P_COST, way + BYTE_DISTANCE + rank)
            if rank < best_rank:
                best = i
                best_rank = rank
        if store[EXCEEDED] != 0 or grammar[EXCEEDED] != 0:
            return LOST
        if best >= 0:
            return _put_path(store, grammar, best, n)
        looked_at = _next_place(store, n_places)
    return LOST


@kernel
def _put_path(store, grammar, best, n):
    """Write the way to a place that the search has found behind a path; returns the length of it all."""
    never_inline()
    places = block(store, SEARCHED_STEPS)
    end = n
    at = best
    while get_i64(places, PLACE_FIELDS * at + P_STEP) >> 32 >= 0:
        end += 1
        at = get_i64(places, PLACE_FIELDS * at + P_STEP) >> 32
    path = ensure(store, FINISH_PATH, (end + 1) * 8)
    position = end
    at = best
    taken = NO_STEP
    while True:
        packed = get_i64(places, PLACE_FIELDS * at)
        configuration = ENDED if packed == END_PACKED else configuration_of(store, grammar, packed)
        put_i32(path, 2 * position, configuration)
        put_i32(path, 2 * position + 1, taken)
        if position == n:
            return end
        taken = get_i64(places, PLACE_FIELDS * at + P_STEP) & 0xFFFFFFFF
        at = get_i64(places, PLACE_FIELDS * at + P_STEP) >> 32
        position -= 1


@kernel
def bound_of(store, grammar, configuration):
    """Tokens that certainly suffice to end from a configuration, end of sequence included; NO_BOUND: none are known."""
    never_inline()
    if configuration == ENDED:
        return 0
    bound = _end_field(grammar, configuration, E_BOUND)
    if bound != 0:
        return bound
    n = 0
    here = configuration
    while here != ENDED and _end_field(grammar, here, E_BOUND) == 0:
        if configuration_field(grammar, here, C_ACCEPTS) != 0:
            _put_end(grammar, here, ENDED, NO_STEP, 1, NO_TOKEN)
            break
        n_before = n
        n = _search(store, grammar, here, n_before, 0)
        if n == LOST and get_i32(_spelled_bytes(store), 256) == SPELLS_SOME:
            n = _search(store, grammar, here, n_before, 1)
        if store[EXCEEDED] != 0 or grammar[EXCEEDED] != 0:
            return NO_BOUND
        if n == LOST or n > MOST_PATH:
            _put_end(grammar, configuration, ENDED, LOST, NO_BOUND, NO_TOKEN)
            return NO_BOUND
        here = get_i32(block(store, FINISH_PATH), 2 * n)
        if store[EXCEEDED] != 0 or grammar[EXCEEDED] != 0:
            return NO_BOUND
    if here != ENDED and _end_field(grammar, here, E_STEP) == LOST and _end_field(grammar, here, E_BOUND) == NO_BOUND:
        _put_end(grammar, configuration, ENDED, LOST, NO_BOUND, NO_TOKEN)
        return NO_BOUND
    while n > 0:
        n -= 1
        path = block(store, FINISH_PATH)
        at = get_i32(path, 2 * n)
        following = get_i32(path, 2 * n + 2)
        if _end_field(grammar, at, E_BOUND) == 0:
            _put_end(grammar, at, following, get_i32(path, 2 * n + 1), NO_BOUND, NO_TOKEN)
            _spell(store, grammar, at)
            if store[EXCEEDED] != 0 or grammar[EXCEEDED] != 0:
                _put_end(grammar, at, ENDED, NO_STEP, 0, NO_TOKEN)  # what a named token leads to may be missing
                return NO_BOUND
    return _end_field(grammar, configuration, E_BOUND)


@kernel
def _child(store, node, byte):
    """The child of a trie node over a byte, or -1."""
    low = get_i32(block(store, CHILD_FIRST), node)
    high = get_i32(block(store, CHILD_FIRST), node + 1)
    while low < high:
        middle = (low + high) >> 1
        if get_u8(block(store, CHILD_BYTE), middle) < byte:
            low = middle + 1
        else:
            high = middle
    if low == get_i32(block(store, CHILD_FIRST), node + 1) or get_u8(block(store, CHILD_BYTE), low) != byte:
        return -1
    return get_i32(block(store, CHILD_NODE), low)


@kernel
def _spell(store, grammar, configuration):
    """Find the token that spells the next steps and leaves the least bound, the longest of equals."""
    never_inline()
    least = NO_BOUND
    best = NO_TOKEN
    here = configuration
    node = 0
    while here != ENDED:
        taken = _end_field(grammar, here, E_STEP)
        following = _end_field(grammar, here, E_NEXT)
        if taken >= FIRST_TOKEN and node == 0:
            least = 1 + (0 if following == ENDED else _end_field(grammar, following, E_BOUND))
            best = taken - FIRST_TOKEN
        if taken < 0 or taken >= FIRST_TOKEN:
            break
        node = _child(store, node, taken)
        if node < 0:
            break
        here = following
        token = (get_i64(block(store, TRIE), node) >> TRIE_TOKEN_SHIFT) - 1
        if token >= 0 and grammar[NAMES_TOKENS] == NAMES_ORDINARY:
            if after_token(store, grammar, configuration, token) != REFUSED:
                continue  # it is taken as the terminal
        bound = _end_field(grammar, here, E_BOUND)
        if token >= 0 and 0 < bound and bound + 1 <= least:
            least = bound + 1
            best = token
    lower_bound(grammar, configuration, min(least, NO_BOUND), best)


@kernel
def lower_bound(grammar, configuration, bound, token):
    """Note a token behind which the bound is one less than `bound`, if that is less than what is known."""
    if bound < _end_field(grammar, configuration, E_BOUND):
        at = configuration * END_FIELDS
        put_i32(block(grammar, ENDS), at + E_BOUND, bound)
        put_i32(block(grammar, ENDS), at + E_TOKEN, token)


@kernel
def finishing_token(grammar, configuration):
    """The token of a bound, or NO_TOKEN."""
    return _end_field(grammar, configuration, E_TOKEN)
