"""Listings: the crossing tokens of a configuration with where each leads, for canonical masks.

    n, n_parts, tokens int32[n, 3] (token, place and lexer state of its end), parts int32[n_parts, 4]

The walk that finds the tokens tells their ends (mask/crossing.py), so a listing costs no steps; only those that
the grammar names are read again. The parts of a mask of many tokens are listed as such: what follows their tokens is a
matter of lexer states (canonical/inside.py). For a mask of few they are listed token by token.

A configuration with a record, which shares the crossing tokens of its bare row (mask/assemble.py), lists its own only;
in the listing of the bare row an end may be NO_END.

In: `crossing` and `crossing_ends` of a mask in progress. Out: listings in `tokens`. Cost: 5 ns a token.
"""

from ..lexer.states import DEAD
from ..machine.jit import inline, kernel
from ..machine.raw import load_u32
from ..mask.assemble import KIND_BITS, build_mask, collect, keep_mask, publish
from ..mask.configurations import ENDED, REFUSED, pack
from ..mask.crossing import IN_PART, NO_END, allow_token
from ..mask.tracked_masks import collect_untracked, keep_untracked, untracked_configuration
from ..parser.token_terminals import NAMES_ORDINARY, token_goto
from ..tables.grammar_layout import GRAMMAR
from ..tables.interning import MISSING, map_get, map_put
from ..tables.kinds import MaskKind
from ..tables.memory import copy_bytes, ensure, load_i32, store_i32, store_i64
from ..values.parse_states import row_of
from .ends import go_token, has_stopped, names_ordinary
from .positions import LOW_HALF

LISTING_BYTES = 8
TOKEN_BYTES = 12
PART_FIELDS = GRAMMAR.record("parts").n_fields
PART_BYTES = 4 * PART_FIELDS


@inline
def listed_token(listing, i):
    """A token of a listing at an address, and its end, packed."""
    at = listing + LISTING_BYTES + i * TOKEN_BYTES
    return load_i32(at), load_i32(at + 4) << 32 | load_u32(at + 8)


@inline
def parts_of(listing):
    """Address of the parts: of each its number (lexeme_masks/subtree_masks.py), place, lexer state and node."""
    return listing + LISTING_BYTES + load_i32(listing) * TOKEN_BYTES


@inline
def listing_of(grammar, configuration):
    """Address of the listing of a configuration with a mask."""
    return grammar.tokens.address + map_get(grammar.listed, configuration) * 4


@inline
def has_bytes(store, token):
    offsets = store.token_offsets
    return load_i32(offsets.address + token * 4) != load_i32(offsets.address + token * 4 + 4)


@inline
def start_of(grammar, configuration):
    """Place and state of a configuration."""
    return pack(grammar.configurations[configuration].parse_state, grammar.configurations[configuration].state)


@kernel
def after_first(store, grammar, configuration, token):
    """Place and state after a token with bytes, by its name if the grammar names it; or REFUSED."""
    if not has_bytes(store, token):
        return REFUSED
    naming = grammar.configurations[configuration].naming
    if naming != 0 and grammar.names_tokens == NAMES_ORDINARY:
        target = token_goto(store, grammar, naming - 1, token)
        if target >= 0:
            return pack(target, grammar.rows[row_of(grammar, target)].start)
    return go_token(store, grammar, start_of(grammar, configuration), token)


@kernel
def _find_ends(store, grammar, configuration, first, lists_parts):
    """Read the tokens of `crossing` from `first` on whose ends the walk did not tell, and of parts if asked for."""
    is_named = names_ordinary(store, grammar, start_of(grammar, configuration))
    for i in range(first, grammar.n_crossing):
        end, token = grammar.crossing_ends[i], grammar.crossing[i]
        if lists_parts if end == IN_PART else is_named or end < 0:
            store_i64(grammar.crossing_ends.address + i * 8, after_first(store, grammar, configuration, token))


@kernel
def keep_listing(store, grammar, configuration, first, is_long):
    """Remember where the tokens of `crossing` from `first` on lead, found with a configuration, and its parts.

    Of a mask of few tokens (not `is_long`) the tokens of parts are listed one by one.
    Nothing is remembered where a limit is reached: some ends are not known then.
    """
    named = grammar.configurations[configuration].first_named
    for i in range(named, named + grammar.configurations[configuration].n_named):
        allow_token(grammar, grammar.crossings.pool[i], NO_END)
    n = grammar.n_crossing - first
    place = grammar.configurations[configuration].parse_state
    is_bare = row_of(grammar, place) == place and grammar.rows[place].tracks
    if not is_bare:
        _find_ends(store, grammar, configuration, first, not is_long)
    if has_stopped(store, grammar):
        return
    n_parts = grammar.n_parts if is_long else 0
    position = grammar.n_tokens
    most = LISTING_BYTES // 4 + n * (TOKEN_BYTES // 4) + n_parts * PART_FIELDS
    listing = ensure(grammar, GRAMMAR.tokens, (position + most) * 4) + position * 4
    n_kept = 0
    for i in range(first, first + n):
        end = grammar.crossing_ends[i]
        if end == IN_PART or (end == NO_END and not is_bare):
            continue  # one of a part that is listed, or a special token: its end is that of the text
        at = listing + LISTING_BYTES + n_kept * TOKEN_BYTES
        store_i32(at, grammar.crossing[i])
        store_i32(at + 4, end >> 32)
        store_i32(at + 8, end & LOW_HALF)
        n_kept += 1
    store_i32(listing, n_kept)
    store_i32(listing + 4, n_parts)
    if n_parts != 0:
        copy_bytes(parts_of(listing), grammar.parts.address, n_parts * PART_FIELDS * 4)
    grammar.n_tokens = position + (parts_of(listing) - listing) // 4 + PART_FIELDS * n_parts
    map_put(grammar.listed, configuration, position)


@inline
def has_listing(grammar, configuration):
    return map_get(grammar.listed, configuration) != MISSING


@kernel
def build_listed_mask(store, grammar, configuration):
    """Compute the mask of a configuration as `assemble.build_mask`, and its listing.

    The mask may be known without: searches for an end build masks, too (finish/successors.py).
    """
    if configuration == ENDED:
        build_mask(store, grammar, configuration)
        return
    kind = grammar.configurations[configuration].mask_kind
    if kind != MaskKind.NONE and has_listing(grammar, configuration):
        return
    place = grammar.configurations[configuration].parse_state
    if grammar.configurations[configuration].state != DEAD and row_of(grammar, place) != place:
        _list_bare(store, grammar, configuration)
        if has_stopped(store, grammar):
            return
    n_shared = collect(store, grammar, configuration)
    if has_stopped(store, grammar):
        return
    is_new = kind == MaskKind.NONE
    if is_new:
        kind = keep_mask(store, grammar, configuration)
    state = grammar.configurations[configuration].state
    is_long = kind & KIND_BITS == MaskKind.WORDS
    if state != DEAD and store.states[store.states[state].anonymous].mask_kind == MaskKind.WORDS:
        is_long = True
    if has_stopped(store, grammar):
        return
    keep_listing(store, grammar, configuration, n_shared, is_long)
    if is_new and not has_stopped(store, grammar):
        publish(grammar, configuration, kind)


@kernel
def _list_bare(store, grammar, configuration):
    """Make the listing of the bare row of a configuration with a record."""
    untracked = untracked_configuration(store, grammar, configuration)
    if untracked < 0 or has_listing(grammar, untracked):
        return
    collect_untracked(store, grammar, untracked)
    if has_stopped(store, grammar):
        return
    keep_listing(store, grammar, untracked, 0, True)
    if grammar.configurations[untracked].shared == 0 and not has_stopped(store, grammar):
        keep_untracked(grammar, untracked)
