"""What may follow a split state and a last token, whatever the grammar says.

Of the runs of incompatible tokens (canonical/pairs.py) the splitter lets some follow all the same. For each split state
the others are listed in the order of the runs, in `ranks`:

    int32[n + 1, 2]    how many of them are before each place in `order`; the same of mixed tokens, which may follow
                       in another split state than if they were compatible
    int32[2, n]        these tokens, first those, then the mixed ones

so that a run is a range of that list, and nothing is asked of its tokens; all tokens with one on their right spine
share what is kept of its runs (canonical/profiles.py).

In: the table of split states. Out: lists and masks in `tokens`, of the first 64 MB for all grammars of the store.
Cost: 1 us for every pair, once.
"""

from ..encoders.bpe_pairs import BYTE_TIME, MADE, NO_LIMIT
from ..encoders.encoder_slots import EncoderSlot
from ..machine.atomics import load_acquire, load_acquire_i32, publish_i32, store_release
from ..machine.jit import inline, kernel
from ..tables.grammar_layout import GRAMMAR
from ..tables.memory import as_table, copy_bytes, ensure, load_i32, load_i64, new_block, store_i32
from .pairs import ask_all, ask_odd
from .profiles import NO_BASE, enter_runs, find_base, profile_of, runs_before, runs_in_base

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
def _list_refused(store, canon, split, token):
    """List what may not come after `token`, some twice: in `found`, `ranges` and the base that is returned, or NO_BASE.

    MIXED tokens are listed in `doubtful`.
    """
    made_of = MADE.at(as_table(canon.encoder)[EncoderSlot.MADE_OF])
    canon.n_found = canon.n_doubtful = canon.n_ranges = 0
    spine, limit = token, NO_LIMIT
    while made_of[spine].time != BYTE_TIME:
        if made_of[spine].time != made_of[spine].rank:
            canon.n_found = canon.n_doubtful = canon.n_ranges = 0
            ask_all(canon, split, token)
            return NO_BASE
        ask_odd(canon, split, token, spine)
        profile = profile_of(canon, split, spine)
        enter_runs(canon, profile, 0, runs_before(profile, limit))
        limit, spine = made_of[spine].left_limit, made_of[spine].right
    ask_odd(canon, split, token, spine)
    profile = profile_of(canon, split, spine)
    n_runs = runs_before(profile, limit)
    n_in_base = runs_in_base(profile, n_runs)
    base = find_base(store, canon, split, spine, n_in_base)
    enter_runs(canon, profile_of(canon, split, spine), n_in_base if base != NO_BASE else 0, n_runs)
    return base


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
    base = _list_refused(store, canon, split, before)
    is_shared = canon.bytes_used <= canon.shared_bytes
    owner = canon if is_shared else grammar
    position = owner.n_tokens
    n_mixed, n_pairs = canon.n_doubtful, canon.n_found
    sizes = (n_mixed + n_pairs + canon.n_ranges) * 4
    at = ensure(owner, GRAMMAR.tokens, position * 4 + FOLLOWING_BYTES + sizes) + position * 4
    pairs = at + FOLLOWING_BYTES + n_mixed * 4
    copy_bytes(at + FOLLOWING_BYTES, canon.doubtful.address, n_mixed * 4)
    copy_bytes(pairs, canon.found.address, n_pairs * 4)
    copy_bytes(pairs + n_pairs * 4, canon.ranges.address, canon.n_ranges * 4)
    store_i32(at, n_mixed)
    store_i32(at + 4, n_pairs)
    store_i32(at + 8, canon.n_ranges // 2)
    store_i32(at + 12, base)
    owner.n_tokens = position + (FOLLOWING_BYTES + sizes) // 4
    if is_shared:
        _keep_following(store, canon, split, before, position)
    return at
