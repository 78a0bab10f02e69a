"""What may follow a split state and a last token, whatever the grammar says.

Of the runs of incompatible tokens (canonical/pairs.py) the splitter lets some follow all the same. For each split state
the others are listed in the order of the runs, in RANKS:

    int32[n + 1, 2]    how many of them stand in ORDER before each place; the same of mixed tokens, which may follow in
                       another split state than if they were compatible
    int32[2, n]        these tokens, first those, then the mixed ones

so that a run is a range of that list, and nothing is asked of its tokens. There may be thousands of these; most are
refused by merges with the last byte, and all tokens that end with it share what is kept of those
(canonical/last_byte.py).

In: the table of split states. Out: lists and masks in TOKENS, of the first 64 MB for all grammars of the store.
Cost: 1 us for every pair, once.
"""

from ..lexeme_masks.trie_walk import has_bit
from ..machine.atomics import load_acquire, load_acquire_i32, publish_i32, store_release
from ..machine.jit import inline, kernel
from ..machine.raw import prefetch
from ..tables.grammar_layout import GRAMMAR
from ..tables.int_lists import append, is_in
from ..tables.memory import block, copy_bytes, ensure, load_i32, load_i64, new_block, store_i32
from .last_byte import NO_BASE, append_mixed, append_ranges, find_base, mixed_of, profile_of, runs_before, runs_in_base
from .pairs import MIXED, NO_BYTE, PAIR, effect_of, list_runs_above
from .slots import (
    BYTE_LIMIT,
    DOUBTFUL,
    FOLLOWING,
    FOUND,
    LAST_BYTE,
    LINE_BYTES,
    N_DOUBTFUL,
    N_FOUND,
    N_PAIR_LISTS,
    ORDER,
    ORDER_KINDS,
    PAIR_LISTS,
    RANK_OF,
    RANKS,
    REPORT,
    RUNS,
    SHARED_BYTES,
)

HEAD_BYTES = 16  # how many mixed tokens, pairs and ranges, the base


@inline
def is_ranged(canon, split, token, ranges, n):
    """Whether a token is in one of n ranges."""
    if n == 0:
        return False
    at = load_i32(load_i64(canon[RANK_OF] + split * 8) + token * 4) - 1
    if at < 0:
        return False
    for i in range(n):
        if load_i32(ranges + i * 8) <= at < load_i32(ranges + i * 8 + 4):
            return True
    return False


@inline
def _enter(canon, effect, token):
    if effect == PAIR:
        append(canon, FOUND, N_FOUND, token)
    elif effect == MIXED:
        append(canon, DOUBTFUL, N_DOUBTFUL, token)


@inline
def _write_ranges(canon, ranks, n_runs, at):
    """Write the parts of RANKS that runs are to an address, if not empty; returns how many."""
    n = 0
    for i in range(n_runs):
        first, end = load_i32(canon[RUNS] + i * 8), load_i32(canon[RUNS] + i * 8 + 4)
        if first >= 0:
            low, high = load_i32(ranks + first * 8), load_i32(ranks + end * 8)
            if low < high:
                store_i32(at + n * 8, low)
                store_i32(at + n * 8 + 4, high)
                n += 1
    return n


@inline
def _enter_mixed(canon, ranks, n_runs):
    """Enter the mixed tokens of runs in DOUBTFUL."""
    mixed = mixed_of(canon, ranks)
    for i in range(n_runs):
        first, end = load_i32(canon[RUNS] + i * 8), load_i32(canon[RUNS] + i * 8 + 4)
        if first >= 0:
            for at in range(load_i32(ranks + first * 8 + 4), load_i32(ranks + end * 8 + 4)):
                append(canon, DOUBTFUL, N_DOUBTFUL, load_i32(mixed + at * 4))


@inline
def base_of(canon, split, following):
    """Address of the mask of what may follow a split state, from which pairs and ranges are to be taken."""
    base = load_i32(following + 12)
    return load_i64(canon[FOLLOWING] + split * 8) if base == NO_BASE else canon.tokens.address + base * 4


@inline
def may_follow(canon, split, following, token):
    """Whether what was found for a token before lets another one follow that may not if they are incompatible."""
    if not has_bit(base_of(canon, split, following), token):
        return False
    n_mixed, n_pairs, n_ranges = load_i32(following), load_i32(following + 4), load_i32(following + 8)
    pairs = following + HEAD_BYTES + n_mixed * 4
    if is_in(pairs, n_pairs, token):
        return False
    return not is_ranged(canon, split, token, pairs + n_pairs * 4, n_ranges)


@inline
def known_following(canon, split, before):
    """What `find_following` found before, or 0."""
    lists = load_acquire(block(canon, PAIR_LISTS) + split * 8)
    known = load_acquire_i32(lists + before * 4) if lists != 0 else 0
    return canon.tokens.address + known * 4 if known != 0 else 0


@inline
def _lists_behind(canon, split):
    """Address of what PAIR_LISTS has for a split state, or REFUSED_SPLIT; 0: none."""
    return load_acquire(block(canon, PAIR_LISTS) + split * 8) if split < canon[N_PAIR_LISTS] else 0


@inline
def prefetch_rank(canon, split, token):
    """Have read where `is_ranged` looks first."""
    ranks = load_i64(canon[RANK_OF] + split * 8)
    if ranks != 0:
        prefetch(ranks + token * 4)


@inline
def prefetch_number(canon, split, before):
    """Have read where `known_following` looks first."""
    lists = _lists_behind(canon, split)
    if lists != 0:
        prefetch(lists + before * 4)


@inline
def prefetch_following(canon, split, before):
    """Have read what `known_following` finds."""
    lists = _lists_behind(canon, split)
    if lists != 0:
        at = canon.tokens.address + load_i32(lists + before * 4) * 4
        for line in range(4):
            prefetch(at + line * LINE_BYTES)


@inline
def _keep_following(store, canon, split, before, position):
    """Note where what may not follow is listed."""
    at = block(canon, PAIR_LISTS) + split * 8
    if load_i64(at) == 0:
        store_release(at, new_block(canon, store.n_vocab * 4))
    publish_i32(load_i64(at) + before * 4, position)


@kernel
def find_following(store, grammar, canon, split, before):
    """Address of (n mixed, n pairs, n ranges, base, mixed tokens, pairs, ranges int32[n, 2] of the list in RANKS).

    Pairs and ranges may not follow (what else may not see `base_of`), mixed tokens may in another split state than if
    they were compatible; some come twice.
    0: the split state's RANKS are missing.
    """
    known, ranks = known_following(canon, split, before), load_i64(canon[RANKS] + split * 8)
    if known != 0:
        return known
    if ranks == 0:
        canon[REPORT] = split
        return 0
    n_runs, byte = list_runs_above(canon, split, before), canon[LAST_BYTE]
    profile, n_of_byte, n_in_base, base = 0, 0, 0, NO_BASE
    if byte != NO_BYTE:
        n_of_byte = runs_before(profile_of(canon, split, byte), canon[BYTE_LIMIT])
        n_in_base = runs_in_base(profile_of(canon, split, byte), n_of_byte)
        base = find_base(store, canon, split, byte, n_in_base)
        profile = profile_of(canon, split, byte)
    if base == NO_BASE:
        n_in_base = 0
    canon[N_FOUND] = canon[N_DOUBTFUL] = 0
    for i in range(n_runs):
        place = -1 - load_i32(canon[RUNS] + i * 8)
        if place >= 0:
            kind = load_i32(canon[ORDER_KINDS] + place * 4) & 0xFFFF
            _enter(canon, effect_of(canon, split, kind), load_i32(canon[ORDER] + place * 4))
    _enter_mixed(canon, ranks, n_runs)
    if n_of_byte != 0:
        append_mixed(canon, profile, n_of_byte)
    is_shared = canon.bytes_used <= canon[SHARED_BYTES]
    owner = canon if is_shared else grammar
    position = owner.n_tokens
    n_mixed, n_pairs = canon[N_DOUBTFUL], canon[N_FOUND]
    most = HEAD_BYTES // 4 + n_mixed + n_pairs + 2 * (n_runs + n_of_byte - n_in_base)
    at = ensure(owner, GRAMMAR.tokens, (position + most) * 4) + position * 4
    pairs = at + HEAD_BYTES + n_mixed * 4
    copy_bytes(at + HEAD_BYTES, canon[DOUBTFUL], n_mixed * 4)
    copy_bytes(pairs, canon[FOUND], n_pairs * 4)
    n_ranges = _write_ranges(canon, ranks, n_runs, pairs + n_pairs * 4)
    n_ranges += append_ranges(profile, n_in_base, n_of_byte, pairs + (n_pairs + 2 * n_ranges) * 4)
    store_i32(at, n_mixed)
    store_i32(at + 4, n_pairs)
    store_i32(at + 8, n_ranges)
    store_i32(at + 12, base)
    owner.n_tokens = position + HEAD_BYTES // 4 + n_mixed + n_pairs + 2 * n_ranges
    if is_shared:
        _keep_following(store, canon, split, before, position)
    return at
