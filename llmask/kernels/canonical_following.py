"""What may follow a split state and a last token, whatever the grammar says.

Of the runs of incompatible tokens (canonical_pairs.py) the splitter lets some follow all the same. For each split state
the others are listed in the order of the runs, in RANKS:

    int32[n + 1]    how many of them stand in ORDER before each place
    int32[n + 1]    the same of mixed tokens, which may follow in another split state than if they were compatible
    these tokens, first those, then the mixed ones

so that a run is a range of that list, and nothing is asked of its tokens. There may be thousands of these. Most are
refused by merges with the last byte, which all tokens have in common that end with it: they refuse the runs of that
byte's first merges, only how many differs. So after every STRIDE tokens of its runs there is a *base*, a mask without
those up to there (16 KB each, made when asked for), and only the runs behind a base remain ranges.

In: the table of split states. Out: lists and masks in TOKENS, of the first 64 MB for all grammars of the store.
Cost: 10 ns a run, once; a base 1 ns a token, once.
"""

from __future__ import annotations

from .atomics import load_acquire, load_acquire_i32, publish_i32, store_release
from .canonical_fill import LINE_BYTES, clear_listed
from .canonical_pairs import MIXED, PAIR, effect_of, list_runs
from .canonical_slots import (
    BASES,
    BYTE_RUNS,
    DOUBTFUL,
    FOLLOWING,
    FOUND,
    LAST_BYTE,
    N_DOUBTFUL,
    N_FOUND,
    N_ORDER,
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
from .grammar_slots import N_TOKENS, TOKENS
from .interning import map_get, map_put
from .jit import kernel, never_inline
from .memory import BYTES_USED, block, copy_bytes, ensure, load_i32, load_i64, new_block, put_i32, store_i32
from .raw import prefetch
from .store_slots import N_VOCAB, N_WORDS
from .token_lists import append, is_in
from .trie_walk import has_bit

HEAD_BYTES = 16  # how many mixed tokens, pairs and ranges, the base
NO_BASE = -1
STRIDE = 1024  # tokens between two bases


@kernel
def ranked_of(canon, ranks):
    """Address of the list in RANKS."""
    return ranks + 2 * (canon[N_ORDER] + 1) * 4


@kernel
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


@kernel
def _enter(canon, effect, token):
    if effect == PAIR:
        append(canon, FOUND, N_FOUND, token)
    elif effect == MIXED:
        append(canon, DOUBTFUL, N_DOUBTFUL, token)


@kernel
def _enter_ranges(canon, owner, ranks, n_runs):
    """Append the parts of RANKS that runs are, if not empty, to TOKENS; returns how many."""
    position, n = owner[N_TOKENS], 0
    at = ensure(owner, TOKENS, (position + 2 * n_runs + 1) * 4) + position * 4
    for i in range(n_runs):
        first, end = load_i32(canon[RUNS] + i * 8), load_i32(canon[RUNS] + i * 8 + 4)
        if first >= 0:
            low, high = load_i32(ranks + first * 4), load_i32(ranks + end * 4)
            if low < high:
                store_i32(at + n * 8, low)
                store_i32(at + n * 8 + 4, high)
                n += 1
    owner[N_TOKENS] = position + 2 * n
    return n


@kernel
def _enter_mixed(canon, ranks, n_runs):
    """Enter the mixed tokens of runs in DOUBTFUL."""
    rank = ranks + (canon[N_ORDER] + 1) * 4
    listed = ranked_of(canon, ranks) + load_i32(rank - 4) * 4
    for i in range(n_runs):
        first, end = load_i32(canon[RUNS] + i * 8), load_i32(canon[RUNS] + i * 8 + 4)
        if first >= 0:
            for at in range(load_i32(rank + first * 4), load_i32(rank + end * 4)):
                append(canon, DOUBTFUL, N_DOUBTFUL, load_i32(listed + at * 4))


@kernel
def base_of(canon, split, following):
    """Address of the mask of what may follow a split state, from which pairs and ranges are to be taken."""
    base = load_i32(following + 12)
    return load_i64(canon[FOLLOWING] + split * 8) if base == NO_BASE else block(canon, TOKENS) + base * 4


@kernel
def _make_base(store, canon, split, ranks, first, end):
    """The mask of what may follow a split state without the runs from `first` to `end`: its place in TOKENS."""
    never_inline()
    n_words = (store[N_WORDS] + 1) & -2
    position = (canon[N_TOKENS] + 1) & -2
    canon[N_TOKENS] = position + n_words
    words = ensure(canon, TOKENS, canon[N_TOKENS] * 4) + position * 4
    copy_bytes(words, load_i64(canon[FOLLOWING] + split * 8), n_words * 4)
    ranked = ranked_of(canon, ranks)
    for i in range(first, end):
        run = canon[RUNS] + i * 8
        low, high = load_i32(ranks + load_i32(run) * 4), load_i32(ranks + load_i32(run + 4) * 4)
        clear_listed(words, ranked + low * 4, high - low)
    return position


@kernel
def _find_base(store, canon, split, ranks, n_runs):
    """Place of the base for the runs of the last byte, or NO_BASE; these are then cut to those that remain."""
    never_inline()
    first, end, n, stride = canon[BYTE_RUNS], canon[BYTE_RUNS], 0, STRIDE
    for i in range(first, n_runs):
        run = canon[RUNS] + i * 8
        if load_i32(run) < 0:
            break
        n += load_i32(ranks + load_i32(run + 4) * 4) - load_i32(ranks + load_i32(run) * 4)
        if n >= stride:
            end, stride = i + 1, n // STRIDE * STRIDE + STRIDE
    if end == first:
        return NO_BASE
    key = (end - first) << 40 | split << 21 | canon[LAST_BYTE]
    base = map_get(canon, BASES, key)
    if base < 0:
        if canon[BYTES_USED] > canon[SHARED_BYTES]:
            return NO_BASE
        base = _make_base(store, canon, split, ranks, first, end)
        map_put(canon, BASES, key, base)
    for i in range(first, end):
        store_i32(canon[RUNS] + i * 8 + 4, load_i32(canon[RUNS] + i * 8))
    return base


@kernel
def may_follow(canon, split, following, token):
    """Whether what was found for a token before lets another one follow that may not if they are incompatible."""
    if not has_bit(base_of(canon, split, following), token):
        return False
    n_mixed, n_pairs, n_ranges = load_i32(following), load_i32(following + 4), load_i32(following + 8)
    pairs = following + HEAD_BYTES + n_mixed * 4
    if is_in(pairs, n_pairs, token):
        return False
    return not is_ranged(canon, split, token, pairs + n_pairs * 4, n_ranges)


@kernel
def known_following(canon, split, before):
    """What `find_following` found before, or 0."""
    lists = load_acquire(block(canon, PAIR_LISTS) + split * 8)
    known = load_acquire_i32(lists + before * 4) if lists != 0 else 0
    return block(canon, TOKENS) + known * 4 if known != 0 else 0


@kernel
def _lists_behind(canon, split):
    """Address of what PAIR_LISTS has for a split state, or REFUSED_SPLIT; 0: none."""
    return load_acquire(block(canon, PAIR_LISTS) + split * 8) if split < canon[N_PAIR_LISTS] else 0


@kernel
def prefetch_number(canon, split, before):
    """Have read where `known_following` looks first."""
    lists = _lists_behind(canon, split)
    if lists != 0:
        prefetch(lists + before * 4)


@kernel
def prefetch_following(canon, split, before):
    """Have read what `known_following` finds."""
    lists = _lists_behind(canon, split)
    if lists != 0:
        at = block(canon, TOKENS) + load_i32(lists + before * 4) * 4
        for line in range(4):
            prefetch(at + line * LINE_BYTES)


@kernel
def _keep_following(store, canon, split, before, position):
    """Note where what may not follow is listed."""
    at = block(canon, PAIR_LISTS) + split * 8
    if load_i64(at) == 0:
        store_release(at, new_block(canon, store[N_VOCAB] * 4))
    publish_i32(load_i64(at) + before * 4, position)


@kernel
def find_following(store, grammar, canon, split, before):
    """Address of (n mixed, n pairs, n ranges, base, mixed tokens, pairs, ranges int32[n, 2] of the list in RANKS).

    Pairs and ranges may not follow (what else may not see `base_of`), mixed tokens may in another split state than if
    they were compatible; some come twice.
    0: the split state's RANKS are missing.
    """
    never_inline()
    known, ranks = known_following(canon, split, before), load_i64(canon[RANKS] + split * 8)
    if known != 0:
        return known
    if ranks == 0:
        canon[REPORT] = split
        return 0
    n_runs = list_runs(canon, split, before)
    canon[N_FOUND] = canon[N_DOUBTFUL] = 0
    for i in range(n_runs):
        place = -1 - load_i32(canon[RUNS] + i * 8)
        if place >= 0:
            kind = load_i32(canon[ORDER_KINDS] + place * 4) & 0xFFFF
            _enter(canon, effect_of(canon, split, kind), load_i32(canon[ORDER] + place * 4))
    _enter_mixed(canon, ranks, n_runs)
    base = _find_base(store, canon, split, ranks, n_runs)
    is_shared = canon[BYTES_USED] <= canon[SHARED_BYTES]
    owner = canon if is_shared else grammar
    position = owner[N_TOKENS]
    append(owner, TOKENS, N_TOKENS, canon[N_DOUBTFUL])
    append(owner, TOKENS, N_TOKENS, canon[N_FOUND])
    append(owner, TOKENS, N_TOKENS, 0)
    append(owner, TOKENS, N_TOKENS, base)
    for i in range(canon[N_DOUBTFUL]):
        append(owner, TOKENS, N_TOKENS, load_i32(block(canon, DOUBTFUL) + i * 4))
    for i in range(canon[N_FOUND]):
        append(owner, TOKENS, N_TOKENS, load_i32(block(canon, FOUND) + i * 4))
    n_ranges = _enter_ranges(canon, owner, ranks, n_runs)
    put_i32(block(owner, TOKENS), position + 2, n_ranges)
    if is_shared:
        _keep_following(store, canon, split, before, position)
    return block(owner, TOKENS) + position * 4
