"""What may follow a split state and a last token, whatever the grammar says.

Of the runs of incompatible tokens (canonical_pairs.py) the splitter lets some follow all the same. For each split state
the others are listed in the order of the runs, in RANKS:

    int32[n + 1]    how many of them stand in ORDER before each place
    int32[n + 1]    the same of mixed tokens, which may follow in another split state than if they were compatible
    these tokens, first those, then the mixed ones

so that a run is a range of that list, and nothing is asked of its tokens. Whoever asks first, or second, for a split
state and a last token gets ranges, some hundred bytes; who asks again gets a mask of 16 KB, in which their tokens (some
thousands) need not be cleared each time: of texts that are free most pairs come once or twice.

In: the table of split states. Out: lists and masks in TOKENS, of the first 64 MB for all grammars of the store.
Cost: 10 ns a run, once; as a mask 1 ns a token, once.
"""

from __future__ import annotations

from .canonical_fill import clear_listed, clear_ranges
from .canonical_pairs import MIXED, PAIR, effect_of, list_runs
from .canonical_slots import (
    DOUBTFUL,
    FIRST,
    FOLLOWING,
    FOUND,
    N_DOUBTFUL,
    N_FOUND,
    N_ORDER,
    ORDER,
    ORDER_KINDS,
    PAIR_LISTS,
    RANKS,
    REPORT,
    RUNS,
    SHARED_BYTES,
)
from .grammar_slots import N_TOKENS, TOKENS
from .interning import map_change, map_get, map_put
from .jit import kernel, never_inline
from .memory import BYTES_USED, block, copy_bytes, ensure, load_i32, load_i64, put_i32, store_i32
from .store_slots import N_WORDS
from .token_lists import append

AS_MASK = -1  # ranges
HEAD_BYTES = 16  # how many mixed tokens, pairs and ranges, how often they were asked for
ASKED_BEFORE = 2  # a mask is made for those who ask later
MOST_PAIRS = 400  # clearing so many bits takes as long as combining all words


@kernel
def ranked_of(canon, ranks):
    """Address of the list in RANKS."""
    return ranks + 2 * (canon[N_ORDER] + 1) * 4


@kernel
def is_ranged(canon, ranks, token, ranges, n):
    """Whether a token is in one of n ranges."""
    if n == 0:
        return False
    place = load_i32(canon[FIRST] + token * 4)
    at = load_i32(ranks + place * 4)
    if at == load_i32(ranks + place * 4 + 4):
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
def mask_of(following):
    """Address of the mask of tokens that `find_following` found AS_MASK."""
    return following + (HEAD_BYTES + 4 * load_i32(following) + 7) // 8 * 8


@kernel
def _as_mask(store, canon, key, position, split, ranked):
    """What was found for a key before, from now on as a mask where that is faster."""
    following = block(canon, TOKENS) + position * 4
    n_mixed, n_pairs, n_ranges = load_i32(following), load_i32(following + 4), load_i32(following + 8)
    pairs = following + HEAD_BYTES + n_mixed * 4
    ranges = pairs + n_pairs * 4
    n_asked, n = load_i32(following + 12), 0
    store_i32(following + 12, n_asked + 1)
    if n_ranges == AS_MASK or n_asked < ASKED_BEFORE:
        return following
    for i in range(n_ranges):
        n += load_i32(ranges + i * 8 + 4) - load_i32(ranges + i * 8)
    if n <= MOST_PAIRS or canon[BYTES_USED] > canon[SHARED_BYTES]:
        return following
    n_bytes = (store[N_WORDS] + 1) // 2 * 8
    fresh = (canon[N_TOKENS] + 1) & -2
    canon[N_TOKENS] = fresh + (HEAD_BYTES + 4 * n_mixed + 7) // 8 * 2 + n_bytes // 4
    address = ensure(canon, TOKENS, canon[N_TOKENS] * 4) + fresh * 4
    store_i32(address, n_mixed)
    store_i32(address + 4, 0)
    store_i32(address + 8, AS_MASK)
    store_i32(address + 12, n_asked)
    copy_bytes(address + HEAD_BYTES, following + HEAD_BYTES, n_mixed * 4)
    words = mask_of(address)
    copy_bytes(words, load_i64(canon[FOLLOWING] + split * 8), n_bytes)
    clear_listed(words, pairs, n_pairs)
    clear_ranges(words, ranked, ranges, n_ranges)
    map_change(canon, PAIR_LISTS, key, fresh)
    return address


@kernel
def find_following(store, grammar, canon, split, before):
    """Address of (n mixed, n pairs, n ranges, n asked, mixed tokens, pairs, ranges int32[n, 2] of the list in RANKS).

    Pairs and ranges may not follow, mixed tokens may in another split state than if they were compatible; some come
    twice. For AS_MASK ranges there is a mask of what may follow (`mask_of`).
    0: the split state's RANKS are missing.
    """
    never_inline()
    key = (split << 21) | before
    known = map_get(canon, PAIR_LISTS, key)
    ranks = load_i64(canon[RANKS] + split * 8)
    if known >= 0:
        return _as_mask(store, canon, key, known, split, ranked_of(canon, ranks))
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
    is_shared = canon[BYTES_USED] <= canon[SHARED_BYTES]
    owner = canon if is_shared else grammar
    position = owner[N_TOKENS]
    append(owner, TOKENS, N_TOKENS, canon[N_DOUBTFUL])
    append(owner, TOKENS, N_TOKENS, canon[N_FOUND])
    append(owner, TOKENS, N_TOKENS, 0)
    append(owner, TOKENS, N_TOKENS, 1)
    for i in range(canon[N_DOUBTFUL]):
        append(owner, TOKENS, N_TOKENS, load_i32(block(canon, DOUBTFUL) + i * 4))
    for i in range(canon[N_FOUND]):
        append(owner, TOKENS, N_TOKENS, load_i32(block(canon, FOUND) + i * 4))
    n_ranges = _enter_ranges(canon, owner, ranks, n_runs)
    put_i32(block(owner, TOKENS), position + 2, n_ranges)
    if is_shared:
        map_put(canon, PAIR_LISTS, key, position)
    return block(owner, TOKENS) + position * 4
