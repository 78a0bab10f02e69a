"""What merges with a token refuse after a split state, for all tokens on whose right spine it is.

That is the same for all of these but how much of it: those merges count that are made before the token is merged itself
(canonical/pairs.py). So for each split state and token there is a *profile*, in the order of merges:

    int32          n runs
    int32          m mixed tokens, see canonical/following.py
    RUN[n]         of a merge the part of the list in `ranks` that it refuses
    int32[m, 2]    run, mixed token

Most of what may not follow a token merges with its last byte, thousands of tokens. So after every STRIDE tokens of the
profile of a byte there is a *base*, a mask without those up to there (16 KB each, made when asked for), and only the
runs after a base remain ranges.

In: the table of split states. Out: profiles and bases in `tokens`. Cost: a profile 20 ns a run, once; a base 1 ns a
token, once; to look a token's part up 50 ns.
"""

from ..machine.jit import inline, kernel
from ..machine.records import Record
from ..mask.cell import clear_listed
from ..tables.grammar_layout import GRAMMAR
from ..tables.int_lists import append
from ..tables.interning import map_get, map_put
from ..tables.memory import copy_bytes, ensure, load_i32, load_i64
from .slots import CANON, NO_RUN

PROFILE_BYTES = 8
RUN = Record("of a merge", rank="of the merge", low="in `ranks`", high="", so_far="how many tokens up to here")
TOKEN_BITS = 21  # of a key
NO_BASE = -1
STRIDE = 1024  # tokens between two bases


@inline
def ranked_of(canon, ranks):
    """Address of the pairs in `ranks`."""
    return ranks + (canon.n_order + 1) * 8


@inline
def mixed_of(canon, ranks):
    """Address of the mixed tokens in `ranks`."""
    return ranked_of(canon, ranks) + canon.n_order * 4


@kernel
def profile_of(canon, split, token):
    """Address of a profile. Overwrites `candidates`. The split state has `ranks`."""
    key = split << TOKEN_BITS | token
    known = map_get(canon.profiles, key)
    if known < 0:
        known = canon.n_tokens
        _make_profile(canon, load_i64(canon.ranks + split * 8), token)
        map_put(canon.profiles, key, known)
    return canon.tokens.address + known * 4


@kernel
def _make_profile(canon, ranks, token):
    """Append a profile to `tokens`."""
    low, high = load_i32(canon.children_first + (token + 1) * 4), load_i32(canon.children_first + (token + 2) * 4)
    position = canon.n_tokens
    first_run = position * 4 + PROFILE_BYTES
    runs = RUN.at(ensure(canon, GRAMMAR.tokens, first_run + (high - low) * RUN.n_bytes) + first_run)
    mixed = mixed_of(canon, ranks)
    canon.n_candidates = n = total = 0
    for i in range(high - 1, low - 1, -1):
        first, end = load_i32(canon.run_first + i * 4), load_i32(canon.run_end + i * 4)
        if first == NO_RUN:
            continue
        run = runs[n]
        run.rank = load_i32(canon.child_ranks + i * 4)
        run.low, run.high = load_i32(ranks + first * 8), load_i32(ranks + end * 8)
        total += run.high - run.low
        run.so_far = total
        for j in range(load_i32(ranks + first * 8 + 4), load_i32(ranks + end * 8 + 4)):
            append(canon, CANON.candidates, CANON.n_candidates, n)
            append(canon, CANON.candidates, CANON.n_candidates, load_i32(mixed + j * 4))
        n += 1
    canon.tokens[position] = n
    canon.tokens[position + 1] = canon.n_candidates // 2
    canon.n_tokens = position + (PROFILE_BYTES + n * RUN.n_bytes) // 4
    for i in range(canon.n_candidates):
        append(canon, GRAMMAR.tokens, GRAMMAR.n_tokens, canon.candidates[i])


@inline
def runs_before(profile, limit):
    """How many runs are of merges that are made before a time."""
    runs, low, high = RUN.at(profile + PROFILE_BYTES), 0, load_i32(profile)
    while low < high:
        middle = (low + high) >> 1
        if runs[middle].rank < limit:
            low = middle + 1
        else:
            high = middle
    return low


@inline
def enter_runs(canon, profile, first, n_runs):
    """Enter the mixed tokens of the first runs of a profile in `doubtful`, the parts from `first` on in `ranges`."""
    mixed = profile + PROFILE_BYTES + load_i32(profile) * RUN.n_bytes
    for i in range(load_i32(profile + 4)):
        if load_i32(mixed + i * 8) < n_runs:
            append(canon, CANON.doubtful, CANON.n_doubtful, load_i32(mixed + i * 8 + 4))
    runs = RUN.at(profile + PROFILE_BYTES)
    for i in range(first, n_runs):
        if runs[i].low < runs[i].high:
            append(canon, CANON.ranges, CANON.n_ranges, runs[i].low)
            append(canon, CANON.ranges, CANON.n_ranges, runs[i].high)


@inline
def runs_in_base(profile, n_runs):
    """How many of the first runs of a profile the last base has that fits."""
    runs, n = RUN.at(profile + PROFILE_BYTES), n_runs
    wanted = runs[n - 1].so_far // STRIDE * STRIDE if n > 0 else 0
    while n > 1 and runs[n - 2].so_far >= wanted:
        n -= 1
    return n if wanted > 0 else 0


@kernel
def find_base(store, canon, split, byte, n_runs):
    """Place in `tokens` of the base without the first runs of a profile; NO_BASE: there is no room."""
    if n_runs == 0:
        return NO_BASE
    key = n_runs << 40 | split << TOKEN_BITS | byte
    base = map_get(canon.byte_masks, key)
    if base < 0:
        if canon.bytes_used > canon.shared_bytes:
            return NO_BASE
        base = _make_base(store, canon, split, byte, n_runs)
        map_put(canon.byte_masks, key, base)
    return base


@kernel
def _make_base(store, canon, split, byte, n_runs):
    """The mask of what may follow a split state without the first runs of a profile: its place in `tokens`."""
    n_words = (store.n_words + 1) & -2
    position = (canon.n_tokens + 1) & -2
    canon.n_tokens = position + n_words
    words = ensure(canon, GRAMMAR.tokens, canon.n_tokens * 4) + position * 4
    copy_bytes(words, load_i64(canon.following + split * 8), n_words * 4)
    ranked = ranked_of(canon, load_i64(canon.ranks + split * 8))
    runs = RUN.at(profile_of(canon, split, byte) + PROFILE_BYTES)
    for i in range(n_runs):
        clear_listed(words, ranked + runs[i].low * 4, runs[i].high - runs[i].low)
    return position
