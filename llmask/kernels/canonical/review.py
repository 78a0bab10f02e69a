"""The mask of a position: which grammatical tokens the tokenizer itself would have written, and can go on from.

    grammatical
    & what the splitter lets follow, less what would merge with the token before     canonical/following.py
    - what nothing canonical can follow, if it is compatible with the token before   canonical/dead.py

The second line is a matter of the split state and the token before, the third of the split state and the configuration.
All are known long before their combination has come up, which then needs neither a lock nor memory of its own: a mask
of many tokens is put together from them. Where a chain has begun, or tokens may follow in another split state if they
are incompatible, those tokens are looked at again, and the position is kept.

Masks of few tokens, and masks inside of a character, are found token by token.

A position without any canonical token (the search for continuations was given up before) has the grammatical mask, and
the text is taken to begin anew after it.

In: tables, a position, or a cell (mask/cell.py). Out: its fields. Cost: 50 ns where the parts are known; 0.1 us a token
of a short mask.
"""

from ..lexer.states import DEAD
from ..machine.constants import NO_TOKEN
from ..machine.jit import inline, kernel
from ..machine.raw import load_u16
from ..mask.assemble import KIND_BITS
from ..mask.cell import FILTER, LIST, NO_FILTER, CellField
from ..mask.configurations import ENDED, OWN_MASK
from ..mask.crossing import NO_END
from ..tables.int_lists import append
from ..tables.kinds import MaskKind
from ..tables.memory import as_table, load_i32, load_i64, load_u8
from .chains import NO_CHAIN, chain_after, goes_on, split_after
from .dead import append_special, consider_again, find_removed, inside_state, known_removed
from .ends import has_stopped, is_bare, note_missing
from .following import FOLLOWING_BYTES, base_of, find_following, known_following
from .inside import keep_found
from .listings import after_first, build_listed_mask, listed_token, listing_of
from .positions import before_of, chain_of, keep_position, show_position, split_of
from .profiles import ranked_of
from .search import CUT, FOLLOWS_ON, NEEDS_STATE, NOTHING_FOLLOWS, verdict
from .slots import CANON, REFUSED_SPLIT

# what the review answers
DONE = 0
STATE_MISSING = -201  # tables of the split states in `missing`
FOLLOWING_MISSING = -202  # the masks of what may follow the split state in REPORT
RANKS_MISSING = -203  # the tokens that may not follow it if they are incompatible with the one before
STOPPED = -204  # a limit was reached

MANY = 64  # tokens of a mask


@inline
def has_long_mask(store, grammar, configuration):
    """Whether the mask of a configuration, which is known, is one of many tokens."""
    kept = grammar.configurations[configuration]
    if kept.mask_kind & KIND_BITS == MaskKind.WORDS or kept.total >= MANY:
        return True
    if grammar.configurations[configuration].n_named == OWN_MASK:
        return True
    anonymous = inside_state(store, grammar, configuration)
    return anonymous != DEAD and store.states[anonymous].mask_kind == MaskKind.WORDS


@inline
def may_have_parts(store, grammar, canon, configuration, context):
    """Whether the mask of a configuration after a context is put together, unless tokens depend on that before."""
    if configuration == ENDED or chain_of(context) != NO_CHAIN:
        return False
    is_missing = grammar.configurations[configuration].mask_kind == MaskKind.NONE
    if is_missing or not has_long_mask(store, grammar, configuration):
        return False
    split, before = split_of(context), before_of(context)
    if load_u8(canon.is_partial + split) != 0 or load_i64(canon.following + split * 8) == 0:
        return False
    return before == NO_TOKEN or load_u8(canon.reachable + before) != 0


@inline
def _finish(cell, kind, may_end, is_cut):
    """Write what is left of a mask that a cell shows from now on."""
    fields = as_table(cell)
    fields[CellField.MAY_END], fields[CellField.IS_CUT] = may_end, is_cut
    fields[CellField.FILTER] = kind


@inline
def write_parts(canon, cell, split, following, removed):
    """Have a cell show a mask; `following` 0: at the beginning, `removed` see `find_removed`."""
    fields = as_table(cell)
    words, pairs, n_pairs, n_ranges = load_i64(canon.following + split * 8), 0, 0, 0
    if following != 0:
        words = base_of(canon, split, following)
        pairs = following + FOLLOWING_BYTES + load_i32(following) * 4
        n_pairs, n_ranges = load_i32(following + 4), load_i32(following + 8)
    fields[CellField.WORDS] = words
    fields[CellField.PAIRS], fields[CellField.N_PAIRS] = pairs, n_pairs
    fields[CellField.RANGES], fields[CellField.N_RANGES] = pairs + n_pairs * 4, n_ranges
    fields[CellField.RANKED] = ranked_of(canon, load_i64(canon.ranks + split * 8))
    fields[CellField.REMOVED], fields[CellField.N_REMOVED] = removed + 8, load_i32(removed + 4)
    _finish(cell, FILTER, load_i64(canon.may_end + split * 8), load_i32(removed))


@inline
def show_parts(store, grammar, canon, cell, configuration, context):
    """Have a cell show a mask that is put together; False: it is not, or a part is not known."""
    if not may_have_parts(store, grammar, canon, configuration, context):
        return False
    split, before, following = split_of(context), before_of(context), 0
    if before != NO_TOKEN:
        following = known_following(canon, split, before)
        if following == 0 or load_i32(following) != 0:  # some tokens may follow otherwise: the position is kept
            return False
    removed = known_removed(grammar, configuration, split)
    if removed == 0:
        return False
    fields = as_table(cell)
    fields[CellField.CONFIGURATION], fields[CellField.CONTEXT] = configuration, context
    write_parts(canon, cell, split, following, removed)
    return True


@kernel
def _enter(store, grammar, canon, context, token, packed):
    """Enter a token that leads to an end in `found` if something follows; its verdict."""
    split, before, chain = split_of(context), before_of(context), chain_of(context)
    after = split_after(canon, split, before, chain, token)
    if after == REFUSED_SPLIT:
        return NOTHING_FOLLOWS
    following = chain_after(canon, split, after, chain, token)
    found = verdict(store, grammar, canon, grammar, packed, after, token, following)
    if found != NOTHING_FOLLOWS:
        append(canon, CANON.found, CANON.n_found, token)
    return found


@kernel
def _enter_listing(store, grammar, canon, configuration, context, listed):
    """Enter the tokens of the listing of a configuration, `listed`; as `_enter`."""
    listing, result = listing_of(grammar, listed), FOLLOWS_ON
    for i in range(load_i32(listing)):
        token, packed = listed_token(listing, i)
        if packed == NO_END or is_bare(packed):
            packed = after_first(store, grammar, configuration, token)
        if packed >= 0:
            result = max(result, _enter(store, grammar, canon, context, token, packed))
    return result


@kernel
def _enter_tokens(store, grammar, canon, configuration, context, tokens, n):
    """Enter int32[n] tokens at an address; as `_enter`."""
    result = FOLLOWS_ON
    for i in range(n):
        token = load_i32(tokens + i * 4)
        packed = after_first(store, grammar, configuration, token)
        if packed >= 0:
            result = max(result, _enter(store, grammar, canon, context, token, packed))
    return result


@kernel
def _enter_all(store, grammar, canon, configuration, context, is_long):
    """Put tokens in `found` that may follow, from `doubtful` or a short mask: NEEDS_STATE, CUT or FOLLOWS_ON."""
    canon.n_found = 0
    if is_long:
        tokens, n = canon.doubtful.address, canon.n_doubtful
        return _enter_tokens(store, grammar, canon, configuration, context, tokens, n)
    anonymous, base = inside_state(store, grammar, configuration), grammar.configurations[configuration].base
    result = FOLLOWS_ON
    if anonymous != DEAD:
        tokens, n = store.token_lists.address + store.states[anonymous].mask * 4, store.states[anonymous].n_tokens
        result = _enter_tokens(store, grammar, canon, configuration, context, tokens, n)
    result = max(result, _enter_listing(store, grammar, canon, configuration, context, configuration))
    if base != 0:
        result = max(result, _enter_listing(store, grammar, canon, configuration, context, base))
    return result


@inline
def _missing(store, grammar):
    """Why a search stopped."""
    return STOPPED if has_stopped(store, grammar) else STATE_MISSING


@kernel
def _review(store, grammar, canon, cell, configuration, context):
    """As `review_cell` where the place is not known and its mask is not put together from parts alone."""
    if configuration == ENDED:
        _finish(cell, NO_FILTER, 1, 0)
        return DONE
    split = split_of(context)
    if load_i64(canon.fits + split * 8) == 0:
        note_missing(canon, split)
        return STATE_MISSING
    is_long = has_long_mask(store, grammar, configuration)
    is_partial = load_u8(canon.is_partial + split) != 0
    if is_long and not is_partial and chain_of(context) & 1 == 0:
        return _review_long(store, grammar, canon, cell, configuration, context)
    canon.n_doubtful = 0
    if is_long:
        for kind in range(canon.n_continuing if is_partial else canon.n_kinds):
            for i in range(load_i32(canon.kind_first + kind * 4), load_i32(canon.kind_first + kind * 4 + 4)):
                token = load_i32(canon.kind_tokens + i * 4)
                if is_partial or goes_on(canon, split, token):
                    append(canon, CANON.doubtful, CANON.n_doubtful, token)
    return _review_each(store, grammar, canon, cell, configuration, context, is_long)


@kernel
def _review_each(store, grammar, canon, cell, configuration, context, is_long):
    """Find a mask token by token: from `doubtful`, or from a short mask."""
    found = _enter_all(store, grammar, canon, configuration, context, is_long)
    if found == NEEDS_STATE or has_stopped(store, grammar):
        return _missing(store, grammar)
    may_end = load_i64(canon.may_end + split_of(context) * 8) != 0 and chain_of(context) & 1 == 0
    if may_end and grammar.configurations[configuration].accepts != 0:
        for i in range(store.n_eos):
            append(canon, CANON.found, CANON.n_found, store.eos[i])
    if may_end:
        append_special(store, grammar, canon, configuration)
    n = canon.n_found
    if n == 0:
        _finish(cell, NO_FILTER, 1, 1)
        return DONE
    fields = as_table(cell)
    fields[CellField.PAIRS], fields[CellField.N_PAIRS] = keep_found(grammar, 0, canon) + 8, n
    _finish(cell, LIST, 1 if may_end else 0, 1 if found == CUT else 0)
    return DONE


@kernel
def _list_again(canon, split, before, chain, mixed, n_mixed):
    """List in `doubtful` the tokens whose verdict depends on the token before, or on the chain."""
    canon.n_doubtful = 0
    for i in range(n_mixed):
        append(canon, CANON.doubtful, CANON.n_doubtful, load_i32(mixed + i * 4))
    if before != NO_TOKEN and load_u8(canon.reachable + before) == 0:
        fits, breaks = load_i64(canon.fits + split * 8), load_i64(canon.breaks + split * 8)
        for kind in range(canon.n_continuing, canon.n_kinds):
            broken = load_u16(breaks + kind * 2)
            if broken != REFUSED_SPLIT and broken != load_u16(fits + kind * 2):
                for i in range(load_i32(canon.kind_first + kind * 4), load_i32(canon.kind_first + kind * 4 + 4)):
                    append(canon, CANON.doubtful, CANON.n_doubtful, load_i32(canon.kind_tokens + i * 4))
    if chain != NO_CHAIN:
        node = chain >> 1
        for i in range(load_i32(canon.chain_first + node * 4), load_i32(canon.chain_first + node * 4 + 4)):
            append(canon, CANON.doubtful, CANON.n_doubtful, load_i32(canon.chain_tokens + i * 4))


@kernel
def _find_parts(store, grammar, canon, configuration, split, before):
    """Find the parts of a mask of many tokens: DONE, or what is missing."""
    if load_i64(canon.following + split * 8) == 0:
        canon.without_masks = split
        return FOLLOWING_MISSING
    if before != NO_TOKEN and load_u8(canon.reachable + before) != 0:
        if find_following(store, grammar, canon, split, before) == 0:
            return RANKS_MISSING
    return DONE if find_removed(store, grammar, canon, configuration, split) != 0 else _missing(store, grammar)


@kernel
def _review_long(store, grammar, canon, cell, configuration, context):
    """Find what is taken out of a mask of many tokens."""
    split, before, chain = split_of(context), before_of(context), chain_of(context)
    missing = _find_parts(store, grammar, canon, configuration, split, before)
    if missing != DONE:
        return missing
    is_lone = before != NO_TOKEN and load_u8(canon.reachable + before) == 0
    following, mixed, n_mixed = 0, 0, 0
    if before != NO_TOKEN and not is_lone:
        following = find_following(store, grammar, canon, split, before)
        mixed, n_mixed = following + FOLLOWING_BYTES, load_i32(following)
    removed = find_removed(store, grammar, canon, configuration, split)
    _list_again(canon, split, before, chain, mixed, n_mixed)
    if canon.n_doubtful != 0:
        found = consider_again(store, grammar, canon, configuration, context, removed, n_mixed)
        if found == NEEDS_STATE or has_stopped(store, grammar):
            return _missing(store, grammar)
        removed = keep_found(grammar, 1 if found == CUT else 0, canon)
    write_parts(canon, cell, split, following, removed)
    if is_lone:
        as_table(cell)[CellField.WORDS] = load_i64(canon.lone_following + split * 8)
    return DONE


@kernel
def review_cell(store, grammar, canon, cell):
    """Have a cell show the mask of its configuration after its context: DONE, or what is missing."""
    fields = as_table(cell)
    configuration, context = fields[CellField.CONFIGURATION], fields[CellField.CONTEXT]
    build_listed_mask(store, grammar, configuration)
    if has_stopped(store, grammar):
        return STOPPED
    canon.n_missing = 0
    is_shared = canon.bytes_used <= canon.shared_bytes  # otherwise parts are not remembered, but positions are
    if is_shared and may_have_parts(store, grammar, canon, configuration, context):
        missing = _find_parts(store, grammar, canon, configuration, split_of(context), before_of(context))
        if missing != DONE:
            return missing
        if show_parts(store, grammar, canon, cell, configuration, context):
            return DONE
    if show_position(grammar, cell, configuration, context):
        return DONE
    missing = _review(store, grammar, canon, cell, configuration, context)
    if missing == DONE:
        keep_position(grammar, cell)
    return missing
