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

from ..lexeme_masks.state_masks import MASK_LIST, MASK_NONE, MASK_WORDS, build_state_mask, intern_mask
from ..lexeme_masks.subtree_masks import M_FIRST_EXIT, M_KIND, M_MASK, M_N_EXITS, M_N_TOKENS, part_field, part_mask
from ..lexeme_masks.trie_walk import has_bit, set_bit
from ..lexer.states import DEAD, S_MASK, S_MASK_KIND, S_N_TOKENS, S_TWIN, state_field
from ..machine.atomics import load_acquire_i32, publish_i32
from ..machine.jit import kernel, never_inline
from ..machine.raw import VECTOR_BYTES, and_vectors
from ..parser.rows import RECORDS_HERE, has_flag_of_row
from ..parser.token_terminals import list_named
from ..tables.grammar_layout import (
    BARE_WALK,
    CONFIGURATIONS,
    CROSSING,
    CROSSINGS,
    LISTS_PARTS,
    N_CROSSING,
    N_OWN_MASKS,
    N_PARTS,
    N_POINTS,
    NAMED,
    OWN_HEADS,
    OWN_LINKS,
    OWN_MASKS,
    PARTS,
    POINTS,
    REPEATS,
)
from ..tables.interning import POOL, intern_list, list_offset
from ..tables.memory import (
    EXCEEDED,
    block,
    copy_bytes,
    ensure,
    fill_bytes,
    get_i32,
    get_i64,
    load_i32,
    load_i64,
    put_i32,
    store_i32,
    store_i64,
)
from ..tables.store_layout import EOS, MASKS, N_EOS, N_VOCAB, N_WORDS, TOKEN_LISTS, WORDS, WORDS_MARGIN
from ..values.transcripts import NO_RECORD, record_of, row_of
from .boundary_walk import (
    BARE,
    IN_PART,
    P_NODE,
    P_PART,
    P_ROW,
    P_STATE,
    PART_FIELDS,
    allow_token,
    cross,
    cross_exits,
    walk_point,
)
from .configurations import (
    C_ACCEPTS,
    C_BASE,
    C_FIRST,
    C_FIRST_NAMED,
    C_FIRST_POINT,
    C_MASK,
    C_MASK_KIND,
    C_MAY_REPEAT,
    C_N,
    C_N_NAMED,
    C_N_POINTS,
    C_NAMING,
    C_PLACE,
    C_SHARED,
    C_STATE,
    C_TOTAL,
    CONFIGURATION_FIELDS,
    ENDED,
    OWN_MASK,
    configuration_field,
    configuration_of,
    pack,
    put_configuration_field,
)
from .repeated_values import could_repeat

HAS_NAMED = 4  # bit beside MASK_LIST or MASK_WORDS: tokens are named, see parser/token_terminals.py
KIND_BITS = 3
OWN_AT_LEAST = 2048  # more crossing tokens than this are kept as a bitmask: 16 KB against 4 bytes a token


@kernel
def build_mask(store, grammar, configuration):
    """Compute the mask of a configuration."""
    never_inline()
    if configuration_field(grammar, configuration, C_MASK_KIND) != MASK_NONE:
        return
    collect(store, grammar, configuration)
    if store[EXCEEDED] != 0 or grammar[EXCEEDED] != 0:
        return
    kind = keep_mask(store, grammar, configuration)
    if store[EXCEEDED] == 0 and grammar[EXCEEDED] == 0:
        publish(grammar, configuration, kind)


@kernel
def collect(store, grammar, configuration):
    """List the crossing tokens of a configuration, and the parts of its mask; the mask of its lexer state is built.

    Returns how many of the tokens are those of all records, which C_BASE has.
    """
    never_inline()
    grammar[N_CROSSING] = 0
    grammar[N_POINTS] = 0
    grammar[N_PARTS] = 0
    if configuration == ENDED:
        return 0
    place = configuration_field(grammar, configuration, C_PLACE)
    state = configuration_field(grammar, configuration, C_STATE)
    if state == DEAD:
        return 0
    build_state_mask(store, state)
    if store[EXCEEDED] != 0:
        return 0
    n_shared = 0
    if row_of(grammar, place) == place:
        is_bare = has_flag_of_row(grammar, place, RECORDS_HERE)
        grammar[LISTS_PARTS] = 0 if is_bare else 1
        grammar[BARE_WALK] = BARE if is_bare else 0
        cross_exits(store, grammar, place, state, state_field(store, state, S_TWIN), NO_RECORD)
        _cross_parts(store, grammar)
        grammar[LISTS_PARTS] = 0
    else:
        n_shared = _cross_with_record(store, grammar, configuration)
    for i in range(grammar[N_POINTS]):
        if grammar[EXCEEDED] == 0 and store[EXCEEDED] == 0:
            walk_point(store, grammar, place, state, get_i32(block(grammar, POINTS), i))
    return n_shared


@kernel
def keep_mask(store, grammar, configuration):
    """Keep what was collected in the fields of a configuration, and add what is named; returns the kind of the mask."""
    never_inline()
    state = DEAD
    n = grammar[N_CROSSING]
    n_in_parts = _tokens_in_parts(store, grammar)
    total = n + n_in_parts
    if configuration != ENDED:
        state = configuration_field(grammar, configuration, C_STATE)
        if state != DEAD:
            total += state_field(store, state_field(store, state, S_TWIN), S_N_TOKENS)
    if configuration_field(grammar, configuration, C_ACCEPTS) != 0:
        total += store[N_EOS]
    put_configuration_field(grammar, configuration, C_N, n)
    put_configuration_field(grammar, configuration, C_TOTAL, total)
    crossing = ensure(grammar, CROSSING, 4)
    kind = MASK_LIST
    if n <= OWN_AT_LEAST and n_in_parts == 0:
        number = intern_list(grammar, CROSSINGS, crossing, 0, n)
        put_configuration_field(grammar, configuration, C_FIRST, list_offset(grammar, CROSSINGS, number))
    else:
        words = ensure(store, WORDS, store[N_WORDS] * 4 + WORDS_MARGIN + 8) + WORDS_MARGIN
        _write_found(store, grammar, state, words)
        put_configuration_field(grammar, configuration, C_MASK, _own_mask(store, grammar, words))
        kind = MASK_WORDS
    if configuration_field(grammar, configuration, C_NAMING) != 0:
        kind |= HAS_NAMED
        _add_named(store, grammar, configuration, state)
    return kind


@kernel
def publish(grammar, configuration, kind):
    """Show the mask of a configuration to readers, which take no lock."""
    at = (configuration * CONFIGURATION_FIELDS + C_MASK_KIND) * 4
    publish_i32(block(grammar, CONFIGURATIONS) + at, kind)


@kernel
def _cross_parts(store, grammar):
    """List what crosses from the parts that were noted, which may note more.

    What a part has as a list is listed. PARTS gets the number of each.
    """
    never_inline()
    i = 0
    while i < grammar[N_PARTS] and store[EXCEEDED] == 0 and grammar[EXCEEDED] == 0:
        at = i * PART_FIELDS
        row = get_i32(block(grammar, PARTS), at + P_ROW)
        state = get_i32(block(grammar, PARTS), at + P_STATE)
        node = get_i32(block(grammar, PARTS), at + P_NODE)
        if node >= 0:
            part = part_mask(store, state, node)
            if part < 0:
                break
            put_i32(block(grammar, PARTS), at + P_PART, part)
        part = get_i32(block(grammar, PARTS), at + P_PART)
        if part_field(store, part, M_KIND) != MASK_WORDS:
            first = part_field(store, part, M_MASK)
            for j in range(first, first + part_field(store, part, M_N_TOKENS)):
                allow_token(grammar, get_i32(block(store, TOKEN_LISTS), j), IN_PART)
        first = part_field(store, part, M_FIRST_EXIT)
        cross(store, grammar, row, state, first, part_field(store, part, M_N_EXITS), NO_RECORD)
        i += 1


@kernel
def _tokens_in_parts(store, grammar):
    """How many tokens the parts have that are bitmasks."""
    n_tokens = 0
    for i in range(grammar[N_PARTS]):
        part = get_i32(block(grammar, PARTS), i * PART_FIELDS + P_PART)
        if part_field(store, part, M_KIND) == MASK_WORDS:
            n_tokens += part_field(store, part, M_N_TOKENS)
    return n_tokens


@kernel
def _write_found(store, grammar, state, words):
    """Write what was found for the mask in progress: that of the lexer state, crossing tokens, and parts."""
    never_inline()
    _write(store, state, block(grammar, CROSSING), 0, grammar[N_CROSSING], words, 0)
    for i in range(grammar[N_PARTS]):
        part = get_i32(block(grammar, PARTS), i * PART_FIELDS + P_PART)
        if part_field(store, part, M_KIND) == MASK_WORDS:
            mask = get_i64(block(store, MASKS), part_field(store, part, M_MASK))
            for pair in range(store[N_WORDS] // 2):
                store_i64(words + pair * 8, load_i64(words + pair * 8) | load_i64(mask + pair * 8))
            last = (store[N_WORDS] - 1) * 4
            store_i32(words + last, load_i32(words + last) | load_i32(mask + last))


@kernel
def _own_mask(store, grammar, words):
    """Number of a bitmask of the grammar."""
    return intern_mask(grammar, OWN_MASKS, OWN_HEADS, N_OWN_MASKS, OWN_LINKS, words, store[N_WORDS])


@kernel
def _add_named(store, grammar, configuration, state):
    """Keep the tokens that are named and not in the rest of a mask, and count them."""
    never_inline()
    n_bytes = store[N_WORDS] * 4
    words = ensure(store, WORDS, n_bytes + WORDS_MARGIN + 8) + WORDS_MARGIN
    _write_found(store, grammar, state, words)
    if configuration_field(grammar, configuration, C_ACCEPTS) != 0:
        _allow_ends(store, words, 0)
    n = list_named(store, grammar, configuration_field(grammar, configuration, C_NAMING) - 1, words)
    total = configuration_field(grammar, configuration, C_TOTAL)
    put_configuration_field(grammar, configuration, C_TOTAL, total + n)
    named = ensure(grammar, NAMED, 4)
    put_configuration_field(grammar, configuration, C_N_NAMED, n)
    if n <= OWN_AT_LEAST:
        number = intern_list(grammar, CROSSINGS, named, 0, n)
        put_configuration_field(grammar, configuration, C_FIRST_NAMED, list_offset(grammar, CROSSINGS, number))
        return
    fill_bytes(words, n_bytes, 0)
    for i in range(n):
        set_bit(words, get_i32(named, i))
    put_configuration_field(grammar, configuration, C_FIRST_NAMED, _own_mask(store, grammar, words))
    put_configuration_field(grammar, configuration, C_N_NAMED, OWN_MASK)


@kernel
def _allow(words, token, allowed):
    """Add a token to a mask that is cut to another one, at the address `allowed` if that is not 0."""
    if allowed == 0 or has_bit(allowed, token):
        set_bit(words, token)


@kernel
def _allow_ends(store, words, allowed):
    eos = block(store, EOS)
    for i in range(store[N_EOS]):
        _allow(words, get_i32(eos, i), allowed)


@kernel
def _allow_named(store, grammar, configuration, words, allowed):
    """Add the tokens that are named to a mask; `allowed` see `fill`."""
    never_inline()
    first = configuration_field(grammar, configuration, C_FIRST_NAMED)
    n = configuration_field(grammar, configuration, C_N_NAMED)
    if n == OWN_MASK:
        mask = get_i64(block(grammar, OWN_MASKS), first)
        for i in range(store[N_WORDS]):
            added = load_i32(mask + i * 4)
            if allowed != 0:
                added &= load_i32(allowed + i * 4)
            store_i32(words + i * 4, load_i32(words + i * 4) | added)
    named = block(grammar, CROSSINGS + POOL)
    for i in range(first, first + n):
        _allow(words, get_i32(named, i), allowed)


@kernel
def bare_configuration(store, grammar, configuration):
    """The configuration of the bare row, whose crossing tokens are mostly those of all records; or negative."""
    row = row_of(grammar, configuration_field(grammar, configuration, C_PLACE))
    return configuration_of(store, grammar, pack(row, configuration_field(grammar, configuration, C_STATE)))


@kernel
def collect_bare(store, grammar, bare):
    """List the crossing tokens of all records of a bare row, and note the points at which the text decides."""
    never_inline()
    state = configuration_field(grammar, bare, C_STATE)
    build_state_mask(store, state)
    grammar[N_CROSSING] = 0
    grammar[N_POINTS] = 0
    grammar[N_PARTS] = 0
    if store[EXCEEDED] != 0:
        return
    grammar[BARE_WALK] = BARE
    row, twin = configuration_field(grammar, bare, C_PLACE), state_field(store, state, S_TWIN)
    cross_exits(store, grammar, row, state, twin, NO_RECORD)


@kernel
def keep_bare(grammar, bare):
    """Keep what was collected for all records."""
    n = grammar[N_CROSSING]
    number = intern_list(grammar, CROSSINGS, ensure(grammar, CROSSING, 4), 0, n)
    put_configuration_field(grammar, bare, C_FIRST, list_offset(grammar, CROSSINGS, number))
    put_configuration_field(grammar, bare, C_N, n)
    n = grammar[N_POINTS]
    number = intern_list(grammar, CROSSINGS, ensure(grammar, POINTS, 4), 0, n)
    put_configuration_field(grammar, bare, C_FIRST_POINT, list_offset(grammar, CROSSINGS, number))
    put_configuration_field(grammar, bare, C_N_POINTS, n)
    put_configuration_field(grammar, bare, C_MAY_REPEAT, grammar[REPEATS])
    put_configuration_field(grammar, bare, C_SHARED, 1)


@kernel
def _cross_with_record(store, grammar, configuration):
    """List the crossing tokens of a configuration with a record, and its points: mostly those of all records.

    Returns how many of the tokens are those of all records, which C_BASE has.
    """
    never_inline()
    bare = bare_configuration(store, grammar, configuration)
    if bare < 0:
        return 0
    if configuration_field(grammar, bare, C_SHARED) == 0:
        collect_bare(store, grammar, bare)
        if grammar[EXCEEDED] != 0 or store[EXCEEDED] != 0:
            return 0
        keep_bare(grammar, bare)
    grammar[N_CROSSING] = 0
    grammar[N_POINTS] = 0
    grammar[BARE_WALK] = BARE
    record = record_of(grammar, configuration_field(grammar, configuration, C_PLACE))
    if configuration_field(grammar, bare, C_MAY_REPEAT) != 0 and could_repeat(grammar, record):
        state = configuration_field(grammar, bare, C_STATE)
        row, twin = configuration_field(grammar, bare, C_PLACE), state_field(store, state, S_TWIN)
        cross_exits(store, grammar, row, state, twin, record)
        return 0
    _append(grammar, CROSSING, N_CROSSING, bare, C_FIRST, C_N)
    _append(grammar, POINTS, N_POINTS, bare, C_FIRST_POINT, C_N_POINTS)
    put_configuration_field(grammar, configuration, C_BASE, bare)
    return grammar[N_CROSSING]


@kernel
def _append(grammar, slot, count, configuration, first, n):
    """Copy a list that a configuration names to the block in `slot`."""
    first = configuration_field(grammar, configuration, first)
    n = configuration_field(grammar, configuration, n)
    items = ensure(grammar, slot, (n + 1) * 4)
    pool = block(grammar, CROSSINGS + POOL)
    for i in range(n):
        put_i32(items, i, get_i32(pool, first + i))
    grammar[count] = n


@kernel
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
    never_inline()
    n_bytes = store[N_WORDS] * 4
    if state == DEAD:
        fill_bytes(words, n_bytes, 0)
    else:
        twin = state_field(store, state, S_TWIN)
        mask = state_field(store, twin, S_MASK)
        if state_field(store, twin, S_MASK_KIND) == MASK_WORDS:
            _copy(words, get_i64(block(store, MASKS), mask), n_bytes, allowed)
        else:
            fill_bytes(words, n_bytes, 0)
            tokens = block(store, TOKEN_LISTS)
            for i in range(mask, mask + state_field(store, twin, S_N_TOKENS)):
                _allow(words, get_i32(tokens, i), allowed)
    for i in range(first, first + n):
        _allow(words, get_i32(crossing, i), allowed)


FILL_SHAPE = -3  # the caller's array has no such row, or too few words
FILL_MISS = -2
FILL_EMPTY = -1  # the grammar goes on, but no token of the vocabulary spells the next byte
FILL_SOME = 0
FILL_ALL = 1  # every token is allowed
FILL_CUT = 2  # a canonical mask with a token whose continuation was not found in time
FILL_STOPS = 3  # the matcher has to set or clear its stop tokens


@kernel
def fill(store, grammar, configuration, words, allowed):
    """Write the mask of a configuration to the address `words`; reads only.

    `allowed` is the address of a mask to which it is cut, or 0.
    """
    record = block(grammar, CONFIGURATIONS) + configuration * CONFIGURATION_FIELDS * 4
    kind = load_acquire_i32(record + C_MASK_KIND * 4)
    if kind == MASK_NONE:
        return FILL_MISS
    if kind & KIND_BITS == MASK_WORDS:
        mask = get_i64(block(grammar, OWN_MASKS), configuration_field(grammar, configuration, C_MASK))
        _copy(words, mask, store[N_WORDS] * 4, allowed)
    else:
        first = configuration_field(grammar, configuration, C_FIRST)
        n = configuration_field(grammar, configuration, C_N)
        state = DEAD
        if configuration != ENDED:
            state = configuration_field(grammar, configuration, C_STATE)
        _write(store, state, block(grammar, CROSSINGS + POOL), first, n, words, allowed)
    if configuration_field(grammar, configuration, C_ACCEPTS) != 0:
        _allow_ends(store, words, allowed)
    if kind & HAS_NAMED != 0:
        _allow_named(store, grammar, configuration, words, allowed)
    total = configuration_field(grammar, configuration, C_TOTAL)
    if total == 0:
        return FILL_EMPTY
    return FILL_ALL if total == store[N_VOCAB] else FILL_SOME
