"""Masks of configurations, put together and written.

    mask(configuration) = mask(lexer state) | crossing tokens | parts | named tokens | ends where the document may end

The tokens that cross a lexeme's end (mask/boundary_walk.py) are a short list in the grammar. Where something is
recorded the list is made once for the bare row, with the points at which a text decides, and every record adds its own
from there. Where parts of the trie are left to lexeme_masks/subtree_masks.py, and where the list is long, the mask is a
bitmask of the grammar's; equal ones are one.

In: the tables and a configuration. Out: the configuration's record; `fill` writes the words.
Cost: of the walks; filling copies 16 KB (0.3 us) and sets 1 ns a listed token.
"""

from __future__ import annotations

from ..lexeme_masks.kept_masks import intern_mask
from ..lexeme_masks.state_masks import build_state_mask, first_replaced
from ..lexeme_masks.subtree_masks import part_mask
from ..lexeme_masks.trie_walk import has_bit, room_for_words, set_bit
from ..lexer.states import DEAD
from ..machine.jit import inline, kernel
from ..machine.raw import VECTOR_BYTES, and_vectors
from ..parser.token_terminals import list_named
from ..tables.grammar_layout import GRAMMAR
from ..tables.interning import intern_list, list_offset
from ..tables.kinds import MaskKind
from ..tables.memory import copy_bytes, fill_bytes, load_i32, load_i64, reserve, store_i32, store_i64
from ..values.places import NO_RECORD, record_of, row_of
from .configurations import ENDED, OWN_MASK, configuration_of, pack
from .crossing import BARE, IN_PART, allow_token
from .repeated_values import could_repeat
from .tracked_walk import cross, walk_point

HAS_NAMED = 4  # bit beside MaskKind.LIST or MaskKind.WORDS: tokens are named, see parser/token_terminals.py
KIND_BITS = 3
OWN_AT_LEAST = 2048  # more crossing tokens than this are kept as a bitmask: 16 KB against 4 bytes a token


@kernel
def build_mask(store, grammar, configuration):
    """Compute the mask of a configuration."""
    if grammar.configurations[configuration].mask_kind != MaskKind.NONE:
        return
    collect(store, grammar, configuration)
    if store.exceeded != 0 or grammar.exceeded != 0:
        return
    kind = keep_mask(store, grammar, configuration)
    if store.exceeded == 0 and grammar.exceeded == 0:
        publish(grammar, configuration, kind)


@inline
def _cross_exits(store, grammar, row, state, twin, record):
    """List the tokens behind every exit of a lexer state in a row, see `cross`."""
    grammar.repeats = 0
    first = store.states[twin].first_exit
    n = store.states[twin].n_exits
    cross(store, grammar, row, state, first, n, record)
    base = store.states[twin].base
    if base != 0:
        state = base if store.states[state].single == 0 else state
        base = store.states[base].twin
        first = store.states[base].first_exit
        end = first + store.states[base].n_exits
        while first < end and store.exceeded == 0 and grammar.exceeded == 0:
            replaced = first_replaced(store, twin, first, end)
            cross(store, grammar, row, state, first, replaced - first, record)
            first = replaced + 1


@kernel
def collect(store, grammar, configuration):
    """List the crossing tokens of a configuration, and the parts of its mask; the mask of its lexer state is built.

    Returns how many of the tokens are those of all records, which `base` has.
    """
    grammar.n_crossing = 0
    grammar.n_points = 0
    grammar.n_parts = 0
    if configuration == ENDED:
        return 0
    place = grammar.configurations[configuration].place
    state = grammar.configurations[configuration].state
    if state == DEAD:
        return 0
    build_state_mask(store, state)
    if store.exceeded != 0:
        return 0
    n_shared = 0
    if row_of(grammar, place) == place:
        is_bare = grammar.rows[place].records
        grammar.lists_parts = 0 if is_bare else 1
        grammar.bare_walk = BARE if is_bare else 0
        _cross_exits(store, grammar, place, state, store.states[state].twin, NO_RECORD)
        _cross_parts(store, grammar)
        grammar.lists_parts = 0
    else:
        n_shared = _cross_with_record(store, grammar, configuration)
    for i in range(grammar.n_points):
        if grammar.exceeded == 0 and store.exceeded == 0:
            walk_point(store, grammar, place, state, grammar.points[i])
    return n_shared


@kernel
def keep_mask(store, grammar, configuration):
    """Keep what was collected in the fields of a configuration, and add what is named; returns the kind of the mask."""
    state = DEAD
    n = grammar.n_crossing
    n_in_parts = _tokens_in_parts(store, grammar)
    total = n + n_in_parts
    if configuration != ENDED:
        state = grammar.configurations[configuration].state
        if state != DEAD:
            total += store.states[store.states[state].twin].n_tokens
    if grammar.configurations[configuration].accepts != 0:
        total += store.n_eos
    grammar.configurations[configuration].n = n
    grammar.configurations[configuration].total = total
    crossing = reserve(grammar.crossing, 1)
    kind = MaskKind.LIST
    if n <= OWN_AT_LEAST and n_in_parts == 0:
        number = intern_list(grammar.crossings, crossing.address, 0, n)
        grammar.configurations[configuration].first = list_offset(grammar.crossings, number)
    else:
        words = room_for_words(store)
        _write_found(store, grammar, state, words)
        grammar.configurations[configuration].mask = _own_mask(store, grammar, words)
        kind = MaskKind.WORDS
    if grammar.configurations[configuration].naming != 0:
        kind |= HAS_NAMED
        _add_named(store, grammar, configuration, state)
    return kind


@inline
def publish(grammar, configuration, kind):
    """Show the mask of a configuration to readers, which take no lock."""
    grammar.configurations[configuration].mask_kind = kind


@kernel
def _cross_parts(store, grammar):
    """List what crosses from the parts that were noted, which may note more.

    What a part has as a list is listed. `parts` gets the number of each.
    """
    i = 0
    while i < grammar.n_parts and store.exceeded == 0 and grammar.exceeded == 0:
        row = grammar.parts[i].row
        state = grammar.parts[i].state
        node = grammar.parts[i].node
        if node >= 0:
            part = part_mask(store, state, node)
            if part < 0:
                break
            grammar.parts[i].part = part
        part = grammar.parts[i].part
        if store.part_masks[part].kind != MaskKind.WORDS:
            first = store.part_masks[part].mask
            for j in range(first, first + store.part_masks[part].n_tokens):
                allow_token(grammar, store.token_lists[j], IN_PART)
        first = store.part_masks[part].first_exit
        cross(store, grammar, row, state, first, store.part_masks[part].n_exits, NO_RECORD)
        i += 1


@inline
def _tokens_in_parts(store, grammar):
    """How many tokens the parts have that are bitmasks."""
    n_tokens = 0
    for i in range(grammar.n_parts):
        part = grammar.parts[i].part
        if store.part_masks[part].kind == MaskKind.WORDS:
            n_tokens += store.part_masks[part].n_tokens
    return n_tokens


@kernel
def _write_found(store, grammar, state, words):
    """Write what was found for the mask in progress: that of the lexer state, crossing tokens, and parts."""
    _write(store, state, grammar.crossing, 0, grammar.n_crossing, words, 0)
    for i in range(grammar.n_parts):
        part = grammar.parts[i].part
        if store.part_masks[part].kind == MaskKind.WORDS:
            mask = store.masks[store.part_masks[part].mask]
            for pair in range(store.n_words // 2):
                store_i64(words + pair * 8, load_i64(words + pair * 8) | load_i64(mask + pair * 8))
            last = (store.n_words - 1) * 4
            store_i32(words + last, load_i32(words + last) | load_i32(mask + last))


@inline
def _own_mask(store, grammar, words):
    """Number of a bitmask of the grammar."""
    masks, heads, count, links = GRAMMAR.own_masks, GRAMMAR.own_heads, GRAMMAR.n_own_masks, GRAMMAR.own_links
    return intern_mask(grammar, masks, heads, count, links, words, store.n_words)


@kernel
def _add_named(store, grammar, configuration, state):
    """Keep the tokens that are named and not in the rest of a mask, and count them."""
    n_bytes = store.n_words * 4
    words = room_for_words(store)
    _write_found(store, grammar, state, words)
    if grammar.configurations[configuration].accepts != 0:
        _allow_ends(store, words, 0)
    n = list_named(store, grammar, grammar.configurations[configuration].naming - 1, words)
    total = grammar.configurations[configuration].total
    grammar.configurations[configuration].total = total + n
    named = reserve(grammar.named, 1)
    grammar.configurations[configuration].n_named = n
    if n <= OWN_AT_LEAST:
        number = intern_list(grammar.crossings, named.address, 0, n)
        grammar.configurations[configuration].first_named = list_offset(grammar.crossings, number)
        return
    fill_bytes(words, n_bytes, 0)
    for i in range(n):
        set_bit(words, named[i])
    grammar.configurations[configuration].first_named = _own_mask(store, grammar, words)
    grammar.configurations[configuration].n_named = OWN_MASK


@inline
def _allow(words, token, allowed):
    """Add a token to a mask that is cut to another one, at the address `allowed` if that is not 0."""
    if allowed == 0 or has_bit(allowed, token):
        set_bit(words, token)


@inline
def _allow_ends(store, words, allowed):
    eos = store.eos
    for i in range(store.n_eos):
        _allow(words, eos[i], allowed)


@kernel
def _allow_named(store, grammar, configuration, words, allowed):
    """Add the tokens that are named to a mask; `allowed` see `fill`."""
    first = grammar.configurations[configuration].first_named
    n = grammar.configurations[configuration].n_named
    if n == OWN_MASK:
        mask = grammar.own_masks[first]
        for i in range(store.n_words):
            added = load_i32(mask + i * 4)
            if allowed != 0:
                added &= load_i32(allowed + i * 4)
            store_i32(words + i * 4, load_i32(words + i * 4) | added)
    named = grammar.crossings.pool
    for i in range(first, first + n):
        _allow(words, named[i], allowed)


@inline
def bare_configuration(store, grammar, configuration):
    """The configuration of the bare row, whose crossing tokens are mostly those of all records; or negative."""
    row = row_of(grammar, grammar.configurations[configuration].place)
    return configuration_of(store, grammar, pack(row, grammar.configurations[configuration].state))


@kernel
def collect_bare(store, grammar, bare):
    """List the crossing tokens of all records of a bare row, and note the points at which the text decides."""
    state = grammar.configurations[bare].state
    build_state_mask(store, state)
    grammar.n_crossing = 0
    grammar.n_points = 0
    grammar.n_parts = 0
    if store.exceeded != 0:
        return
    grammar.bare_walk = BARE
    row, twin = grammar.configurations[bare].place, store.states[state].twin
    _cross_exits(store, grammar, row, state, twin, NO_RECORD)


@inline
def keep_bare(grammar, bare):
    """Keep what was collected for all records."""
    n = grammar.n_crossing
    number = intern_list(grammar.crossings, reserve(grammar.crossing, 1).address, 0, n)
    grammar.configurations[bare].first = list_offset(grammar.crossings, number)
    grammar.configurations[bare].n = n
    n = grammar.n_points
    number = intern_list(grammar.crossings, reserve(grammar.points, 1).address, 0, n)
    grammar.configurations[bare].first_point = list_offset(grammar.crossings, number)
    grammar.configurations[bare].n_points = n
    grammar.configurations[bare].may_repeat = grammar.repeats
    grammar.configurations[bare].shared = 1


@kernel
def _cross_with_record(store, grammar, configuration):
    """List the crossing tokens of a configuration with a record, and its points: mostly those of all records.

    Returns how many of the tokens are those of all records, which `base` has.
    """
    bare = bare_configuration(store, grammar, configuration)
    if bare < 0:
        return 0
    if grammar.configurations[bare].shared == 0:
        collect_bare(store, grammar, bare)
        if grammar.exceeded != 0 or store.exceeded != 0:
            return 0
        keep_bare(grammar, bare)
    grammar.n_crossing = 0
    grammar.n_points = 0
    grammar.bare_walk = BARE
    record = record_of(grammar, grammar.configurations[configuration].place)
    if grammar.configurations[bare].may_repeat != 0 and could_repeat(grammar, record):
        state = grammar.configurations[bare].state
        row, twin = grammar.configurations[bare].place, store.states[state].twin
        _cross_exits(store, grammar, row, state, twin, record)
        return 0
    shared = grammar.configurations[bare]
    grammar.n_crossing = shared.n
    grammar.n_points = shared.n_points
    _copy_listed(grammar, reserve(grammar.crossing, shared.n + 1), shared.first, shared.n)
    _copy_listed(grammar, reserve(grammar.points, shared.n_points + 1), shared.first_point, shared.n_points)
    grammar.configurations[configuration].base = bare
    return grammar.n_crossing


@inline
def _copy_listed(grammar, items, first, n):
    """Copy what a configuration has in the pool of crossings."""
    pool = grammar.crossings.pool
    for i in range(n):
        items[i] = pool[first + i]


@inline
def _copy(words, mask, n_bytes, allowed):
    """Copy a mask; `allowed` see `fill`."""
    if allowed == 0:
        copy_bytes(words, mask, n_bytes)
        return
    for at in range(0, n_bytes - VECTOR_BYTES + 1, VECTOR_BYTES):
        and_vectors(words + at, mask + at, allowed + at)
    for at in range(n_bytes // VECTOR_BYTES * VECTOR_BYTES, n_bytes, 4):
        store_i32(words + at, load_i32(mask + at) & load_i32(allowed + at))


@kernel
def _write(store, state, crossing, first, n, words, allowed):
    """Write the mask of a lexer state and the tokens int32 `crossing[first : first + n]`; `allowed` see `fill`."""
    n_bytes = store.n_words * 4
    if state == DEAD:
        fill_bytes(words, n_bytes, 0)
    else:
        twin = store.states[state].twin
        mask = store.states[twin].mask
        if store.states[twin].mask_kind == MaskKind.WORDS:
            _copy(words, store.masks[mask], n_bytes, allowed)
        else:
            fill_bytes(words, n_bytes, 0)
            tokens = store.token_lists
            for i in range(mask, mask + store.states[twin].n_tokens):
                _allow(words, tokens[i], allowed)
    for i in range(first, first + n):
        _allow(words, crossing[i], allowed)


FILL_SHAPE = -3  # the caller's array has no such row, or too few words
FILL_MISS = -2
FILL_EMPTY = -1  # the grammar goes on, but no token of the vocabulary spells the next byte
FILL_SOME = 0
FILL_ALL = 1  # every token is allowed
FILL_CUT = 2  # some token is allowed whose continuation was not found in time
FILL_STOPS = 3  # the matcher has to set or clear its stop tokens


@inline
def fill(store, grammar, configuration, words, allowed):
    """Write the mask of a configuration to the address `words`; reads only.

    `allowed` is the address of a mask to which it is cut, or 0.
    """
    kind = grammar.configurations[configuration].mask_kind
    if kind == MaskKind.NONE:
        return FILL_MISS
    if kind & KIND_BITS == MaskKind.WORDS:
        mask = grammar.own_masks[grammar.configurations[configuration].mask]
        _copy(words, mask, store.n_words * 4, allowed)
    else:
        first = grammar.configurations[configuration].first
        n = grammar.configurations[configuration].n
        state = DEAD
        if configuration != ENDED:
            state = grammar.configurations[configuration].state
        _write(store, state, grammar.crossings.pool, first, n, words, allowed)
    if grammar.configurations[configuration].accepts != 0:
        _allow_ends(store, words, allowed)
    if kind & HAS_NAMED != 0:
        _allow_named(store, grammar, configuration, words, allowed)
    total = grammar.configurations[configuration].total
    if total == 0:
        return FILL_EMPTY
    return FILL_ALL if total == store.n_vocab else FILL_SOME
