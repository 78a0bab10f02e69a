"""What may follow a split state and a last token, whatever the grammar says.

Of the runs of incompatible tokens (canonical/pairs.py) the splitter lets some follow all the same. For each split state
the others are listed in the order of the runs, in `ranks`:

    int32[n + 1, 2]    how many of them are before each place in `order`; the same of mixed tokens, which may follow
                       in another split state than if they were compatible
    int32[2, n]        these tokens, first those, then the mixed ones

so that a run is a range of that list, and nothing is asked of its tokens. There may be thousands of these; most are
refused by merges with the last byte, and all tokens that end with it share what is kept of these
(canonical/last_byte.py).

In: the table of split states. Out: lists and masks in `tokens`, of the first 64 MB for all grammars of the store.
Cost: 1 us for every pair, once.
"""

from ..machine.atomics import load_acquire, load_acquire_i32, publish_i32, store_release
from ..machine.jit import inline, kernel
from ..tables.grammar_layout import GRAMMAR
from ..tables.int_lists import append
from ..tables.memory import copy_bytes, ensure, load_i32, load_i64, new_block, store_i32
from .last_byte import NO_BASE, append_mixed, append_ranges, find_base, mixed_of, profile_of, runs_before, runs_in_base
from .pairs import MIXED, NO_LAST_BYTE, PAIR, effect_of, list_runs_above
from .slots import CANON

FOLLOWING_BYTES = 16  # how many mixed tokens, pairs and ranges, the base


@inline
def is_ranged(canon, split, token, ranges, n):
    """Whether a token is in one of n ranges."""
    if n == 0:
        return False
    at = load_i32(load_i64(canon.rank_of + split * 8) + token * 4) - 1
    if at < 0:
        return False
    for i in range(n):
        if load_i32(ranges + i * 8) <= at < load_i32(ranges + i * 8 + 4):
            return True
    return False


@inline
def _enter(canon, effect, token):
    if effect == PAIR:
        append(canon, CANON.found, CANON.n_found, token)
    elif effect == MIXED:
        append(canon, CANON.doubtful, CANON.n_doubtful, token)


@inline
def _write_ranges(canon, ranks, n_runs, at):
    """Write the parts of `ranks` that runs are to an address, if not empty; returns how many."""
    n = 0
    for i in range(n_runs):
        first, end = load_i32(canon.runs.address + i * 8), load_i32(canon.runs.address + i * 8 + 4)
        if first >= 0:
            low, high = load_i32(ranks + first * 8), load_i32(ranks + end * 8)
            if low < high:
                store_i32(at + n * 8, low)
                store_i32(at + n * 8 + 4, high)
                n += 1
    return n


@inline
def _enter_mixed(canon, ranks, n_runs):
    """Enter the mixed tokens of runs in `doubtful`."""
    mixed = mixed_of(canon, ranks)
    for i in range(n_runs):
        first, end = load_i32(canon.runs.address + i * 8), load_i32(canon.runs.address + i * 8 + 4)
        if first >= 0:
            for at in range(load_i32(ranks + first * 8 + 4), load_i32(ranks + end * 8 + 4)):
                append(canon, CANON.doubtful, CANON.n_doubtful, load_i32(mixed + at * 4))


@inline
def base_of(canon, split, following):
    """Address of the mask of what may follow a split state, from which pairs and ranges are to be taken."""
    base = load_i32(following + 12)
    return load_i64(canon.following + split * 8) if base == NO_BASE else canon.tokens.address + base * 4


@inline
def known_following(canon, split, before):
    """What `find_following` found before, or 0."""
    lists = load_acquire(canon.pair_lists.address + split * 8)
    known = load_acquire_i32(lists + before * 4) if lists != 0 else 0
    return canon.tokens.address + known * 4 if known != 0 else 0


@inline
def _keep_following(store, canon, split, before, position):
    """Note where what may not follow is listed."""
    at = canon.pair_lists.address + split * 8
    if load_i64(at) == 0:
        store_release(at, new_block(canon, store.n_vocab * 4))
    publish_i32(load_i64(at) + before * 4, position)


@kernel
def find_following(store, grammar, canon, split, before):
    """Address of (n mixed, n pairs, n ranges, base, mixed tokens, pairs, ranges int32[n, 2] of the list in `ranks`).

    Pairs and ranges may not follow (what else may not see `base_of`), mixed tokens may in another split state than if
    they were compatible; some come twice.
    0: the split state's `ranks` are missing.
    """
    known, ranks = known_following(canon, split, before), load_i64(canon.ranks + split * 8)
    if known != 0:
        return known
    if ranks == 0:
        canon.without_masks = split
        return 0
    n_runs, byte = list_runs_above(canon, split, before), canon.last_byte
    profile, n_of_byte, n_in_base, base = 0, 0, 0, NO_BASE
    if byte != NO_LAST_BYTE:
        n_of_byte = runs_before(profile_of(canon, split, byte), canon.byte_limit)
        n_in_base = runs_in_base(profile_of(canon, split, byte), n_of_byte)
        base = find_base(store, canon, split, byte, n_in_base)
        profile = profile_of(canon, split, byte)
    if base == NO_BASE:
        n_in_base = 0
    canon.n_found = canon.n_doubtful = 0
    for i in range(n_runs):
        place = -1 - load_i32(canon.runs.address + i * 8)
        if place >= 0:
            kind = load_i32(canon.order_kinds + place * 4) & 0xFFFF
            _enter(canon, effect_of(canon, split, kind), load_i32(canon.order + place * 4))
    _enter_mixed(canon, ranks, n_runs)
    if n_of_byte != 0:
        append_mixed(canon, profile, n_of_byte)
    is_shared = canon.bytes_used <= canon.shared_bytes
    owner = canon if is_shared else grammar
    position = owner.n_tokens
    n_mixed, n_pairs = canon.n_doubtful, canon.n_found
    most = FOLLOWING_BYTES // 4 + n_mixed + n_pairs + 2 * (n_runs + n_of_byte - n_in_base)
    at = ensure(owner, GRAMMAR.tokens, (position + most) * 4) + position * 4
    pairs = at + FOLLOWING_BYTES + n_mixed * 4
    copy_bytes(at + FOLLOWING_BYTES, canon.doubtful.address, n_mixed * 4)
    copy_bytes(pairs, canon.found.address, n_pairs * 4)
    n_ranges = _write_ranges(canon, ranks, n_runs, pairs + n_pairs * 4)
    n_ranges += append_ranges(profile, n_in_base, n_of_byte, pairs + (n_pairs + 2 * n_ranges) * 4)
    store_i32(at, n_mixed)
    store_i32(at + 4, n_pairs)
    store_i32(at + 8, n_ranges)
    store_i32(at + 12, base)
    owner.n_tokens = position + FOLLOWING_BYTES // 4 + n_mixed + n_pairs + 2 * n_ranges
    if is_shared:
        _keep_following(store, canon, split, before, position)
    return at
