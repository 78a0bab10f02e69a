"""Listings: the crossing tokens of a configuration with where each leads, for canonical masks.

A string's 200 crossing tokens lead to 20 ends, so a listing has every end once:

    n, n_ends, n_parts,
    ends int32[n_ends, 2] (place, lexer state), tokens int32[n, 2] (token, number of its end), parts int32[n_parts, 4]

The walk that finds the tokens tells their ends (mask/boundary_walk.py), so a listing costs no steps; only those that
the grammar names are read again. The parts of a mask of many tokens are listed as such: what follows their tokens is a
matter of lexer states (canonical/inside.py). Those of a mask of few are listed token by token.

A configuration with a record whose crossing tokens are those of its bare row (mask/assemble.py) lists its own only; in
the listing of the bare row an end may be NO_END.

In: CROSSING and CROSSING_ENDS of a mask in progress. Out: listings in TOKENS. Cost: 5 ns a token.
"""

from __future__ import annotations

from ..lexeme_masks.state_masks import MASK_NONE, MASK_WORDS
from ..lexer.states import DEAD, S_MASK_KIND, S_TWIN, state_field
from ..machine.constants import MAX_TOKEN_BYTES
from ..machine.jit import kernel, never_inline
from ..mask.assemble import (
    KIND_BITS,
    bare_configuration,
    build_mask,
    collect,
    collect_bare,
    keep_bare,
    keep_mask,
    publish,
)
from ..mask.boundary_walk import IN_PART, NO_END, PART_FIELDS, allow_token
from ..mask.configurations import (
    C_FIRST_NAMED,
    C_MASK_KIND,
    C_N_NAMED,
    C_NAMING,
    C_PLACE,
    C_SHARED,
    C_STATE,
    ENDED,
    REFUSED,
    configuration_field,
    pack,
)
from ..parser.rows import R_START, RECORDS_HERE, has_flag_of_row, row_field
from ..parser.token_terminals import NAMES_ORDINARY, token_goto
from ..tables.grammar_layout import (
    CROSSING,
    CROSSING_ENDS,
    CROSSINGS,
    LISTED,
    N_CROSSING,
    N_PARTS,
    N_TOKENS,
    NAMES_TOKENS,
    PARTS,
    PATH_ENDS,
    TOKENS,
)
from ..tables.interning import MISSING, POOL, map_get, map_put
from ..tables.memory import block, copy_bytes, ensure, get_i32, get_i64, load_i32, load_i64, store_i32, store_i64
from ..tables.store_layout import TOKEN_OFFSETS
from ..values.transcripts import row_of
from .ends import go_on_from_last, go_token, has_stopped, names_ordinary

HEAD = 3  # int32 before the ends
END_BYTES = 8
PART_BYTES = 4 * PART_FIELDS
LOOKED_AT = 32  # ends that are compared with the next one; one that comes again later is entered again


@kernel
def end_at(listing, number):
    """An end of a listing at an address, packed."""
    at = listing + 4 * HEAD + number * END_BYTES
    return (load_i32(at) << 32) | (load_i32(at + 4) & 0xFFFFFFFF)


@kernel
def tokens_of(listing):
    """Address of the tokens."""
    return listing + 4 * HEAD + load_i32(listing + 4) * END_BYTES


@kernel
def parts_of(listing):
    """Address of the parts: of each its number (lexeme_masks/subtree_masks.py), place, lexer state and node."""
    return tokens_of(listing) + load_i32(listing) * 8


@kernel
def listing_of(grammar, configuration):
    """Address of the listing of a configuration with a mask."""
    return block(grammar, TOKENS) + map_get(grammar, LISTED, configuration) * 4


@kernel
def has_bytes(store, token):
    offsets = block(store, TOKEN_OFFSETS)
    return load_i32(offsets + token * 4) != load_i32(offsets + token * 4 + 4)


@kernel
def after_first(store, grammar, configuration, token):
    """Place and state after a token with bytes, by its name if the grammar names it; or REFUSED."""
    never_inline()
    place = configuration_field(grammar, configuration, C_PLACE)
    state = configuration_field(grammar, configuration, C_STATE)
    if not has_bytes(store, token):
        return REFUSED
    naming = configuration_field(grammar, configuration, C_NAMING)
    if naming != 0 and grammar[NAMES_TOKENS] == NAMES_ORDINARY:
        target = token_goto(store, grammar, naming - 1, token)
        if target >= 0:
            return pack(target, row_field(grammar, row_of(grammar, target), R_START))
    return go_token(store, grammar, pack(place, state), token)


@kernel
def _number_of_end(ends, n_ends, place, state):
    """Number of an end, one of the last; n_ends: it is new."""
    number = n_ends - 1
    last = max(n_ends - LOOKED_AT, 0)
    while number >= last:
        if load_i32(ends + number * END_BYTES + 4) == state and load_i32(ends + number * END_BYTES) == place:
            return number
        number -= 1
    return n_ends


@kernel
def _find_ends(store, grammar, configuration, first, lists_parts):
    """Read the tokens of CROSSING from `first` on whose ends the walk did not tell, those of parts if asked for."""
    never_inline()
    start = pack(
        configuration_field(grammar, configuration, C_PLACE), configuration_field(grammar, configuration, C_STATE)
    )
    is_named = names_ordinary(store, grammar, start)
    stack = ensure(grammar, PATH_ENDS, (MAX_TOKEN_BYTES + 2) * 8)
    store_i64(stack, start)
    last, n_valid = 0, 0
    for i in range(first, grammar[N_CROSSING]):
        ends = block(grammar, CROSSING_ENDS)
        end = get_i64(ends, i)
        if (end == IN_PART and not lists_parts) or (end >= 0 and not is_named):
            continue
        token = get_i32(block(grammar, CROSSING), i)
        if is_named:
            store_i64(ends + i * 8, after_first(store, grammar, configuration, token))
        elif has_bytes(store, token):
            went_on = go_on_from_last(store, grammar, stack, last, n_valid, token)
            last, n_valid = token, went_on >> 1
            if went_on & 1 != 0:
                store_i64(ends + i * 8, load_i64(stack + n_valid * 8))


@kernel
def keep_listing(store, grammar, configuration, first, is_long):
    """Remember where the tokens of CROSSING from `first` on lead, with which a configuration was found, and its parts.

    Of a mask of few tokens (not `is_long`) those of parts are listed one by one.
    Nothing is remembered where a limit is reached: some ends are not known then.
    """
    never_inline()
    named = configuration_field(grammar, configuration, C_FIRST_NAMED)
    for i in range(named, named + configuration_field(grammar, configuration, C_N_NAMED)):
        allow_token(grammar, get_i32(block(grammar, CROSSINGS + POOL), i), NO_END)
    n = grammar[N_CROSSING] - first
    place = configuration_field(grammar, configuration, C_PLACE)
    is_bare = row_of(grammar, place) == place and has_flag_of_row(grammar, place, RECORDS_HERE)
    if not is_bare:
        _find_ends(store, grammar, configuration, first, not is_long)
    if has_stopped(store, grammar):
        return
    n_parts = grammar[N_PARTS] if is_long else 0
    position = grammar[N_TOKENS]
    listing = ensure(grammar, TOKENS, (position + HEAD + 4 * n + PART_FIELDS * n_parts + 2) * 4) + position * 4
    crossing, crossing_ends = ensure(grammar, CROSSING, 4), ensure(grammar, CROSSING_ENDS, 8)
    # tokens are written where they lie if no end comes twice, and moved then
    ends, tokens = listing + 4 * HEAD, listing + 4 * HEAD + n * END_BYTES
    n_ends, n_kept = 0, 0
    for i in range(first, first + n):
        end = get_i64(crossing_ends, i)
        if end == IN_PART or (end == NO_END and not is_bare):
            continue  # one of a part that is listed, or a special token: its end is that of the text
        place, state = end >> 32, load_i32(crossing_ends + i * 8)
        number = _number_of_end(ends, n_ends, place, state)
        if number == n_ends:
            store_i32(ends + number * END_BYTES, place)
            store_i32(ends + number * END_BYTES + 4, state)
            n_ends += 1
        store_i32(tokens + n_kept * 8, get_i32(crossing, i))
        store_i32(tokens + n_kept * 8 + 4, number)
        n_kept += 1
    store_i32(listing, n_kept)
    store_i32(listing + 4, n_ends)
    store_i32(listing + 8, n_parts)
    for i in range(n_kept):
        copy_bytes(ends + n_ends * END_BYTES + i * 8, tokens + i * 8, 8)
    if n_parts != 0:
        copy_bytes(parts_of(listing), block(grammar, PARTS), n_parts * PART_FIELDS * 4)
    grammar[N_TOKENS] = position + HEAD + 2 * n_ends + 2 * n_kept + PART_FIELDS * n_parts
    map_put(grammar, LISTED, configuration, position)


@kernel
def has_listing(grammar, configuration):
    return map_get(grammar, LISTED, configuration) != MISSING


@kernel
def build_listed_mask(store, grammar, configuration):
    """Compute the mask of a configuration as `assemble.build_mask`, and its listing.

    The mask may be known without: searches for an end build masks, too (finish/successors.py).
    """
    never_inline()
    if configuration == ENDED:
        build_mask(store, grammar, configuration)
        return
    kind = configuration_field(grammar, configuration, C_MASK_KIND)
    if kind != MASK_NONE and has_listing(grammar, configuration):
        return
    place = configuration_field(grammar, configuration, C_PLACE)
    if configuration_field(grammar, configuration, C_STATE) != DEAD and row_of(grammar, place) != place:
        _list_bare(store, grammar, configuration)
        if has_stopped(store, grammar):
            return
    n_shared = collect(store, grammar, configuration)
    if has_stopped(store, grammar):
        return
    is_new = kind == MASK_NONE
    if is_new:
        kind = keep_mask(store, grammar, configuration)
    state = configuration_field(grammar, configuration, C_STATE)
    is_long = kind & KIND_BITS == MASK_WORDS
    if state != DEAD and state_field(store, state_field(store, state, S_TWIN), S_MASK_KIND) == MASK_WORDS:
        is_long = True
    if has_stopped(store, grammar):
        return
    keep_listing(store, grammar, configuration, n_shared, is_long)
    if is_new and not has_stopped(store, grammar):
        publish(grammar, configuration, kind)


@kernel
def _list_bare(store, grammar, configuration):
    """Make the listing of the bare row of a configuration with a record."""
    never_inline()
    bare = bare_configuration(store, grammar, configuration)
    if bare < 0 or has_listing(grammar, bare):
        return
    collect_bare(store, grammar, bare)
    if has_stopped(store, grammar):
        return
    keep_listing(store, grammar, bare, 0, True)
    if configuration_field(grammar, bare, C_SHARED) == 0 and not has_stopped(store, grammar):
        keep_bare(grammar, bare)
