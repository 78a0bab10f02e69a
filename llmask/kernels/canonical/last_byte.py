"""What merges with the last byte of a token refuse after a split state, for all tokens that end with that byte.

It is most of what may not follow a token, thousands of tokens, and the same for all of them but how many: those merges
count that are made before the byte is merged in the token itself (canonical/pairs.py). So for each split state and
byte there is a *profile*, in the order of merges:

    int32          n runs
    int32          m mixed tokens, see canonical/following.py
    int32[n, 4]    rank of the merge, low, high: the part of the list in `ranks` that its run is; how many tokens so far
    int32[m, 2]    run, mixed token

After every STRIDE tokens of a profile there is a *base*, a mask without those up to there (16 KB each, made when asked
for), and only the runs after a base remain ranges.

In: the table of split states. Out: profiles and bases in `tokens`. Cost: a profile 20 ns a run, once; a base 1 ns a
token, once; to look a token's part up 50 ns.
"""

from ..machine.jit import door, inline, kernel
from ..mask.cell import clear_listed
from ..tables.grammar_layout import GRAMMAR
from ..tables.int_lists import append
from ..tables.interning import map_get, map_put
from ..tables.memory import copy_bytes, ensure, load_i32, load_i64, store_i32
from .slots import CANON, NO_RUN

PROFILE_BYTES = 8
RUN_BYTES = 16
LOW, HIGH, SO_FAR = 4, 8, 12  # where they are in a run, after its rank
TOKEN_BITS = 21  # of a key
NO_BASE = -1
STRIDE = 1024  # tokens between two bases


@door("void(int32[::1], int32[::1], uint8[::1], int32[:, ::1], int32[:, ::1], int32[::1])", group="canonical")
def rank_tokens(order, order_kinds, effects, ranks, listed, rank_of):
    """List the tokens of `order` that have an effect, see `ranks`.

    `effects` by kinds: 0 for none, 1 for a PAIR and 2 for MIXED (canonical/pairs.py). Written are `ranks`,
    int32[n + 1, 2], `listed`, int32[2, n], and `rank_of`, int32[n_vocab] zeros.
    """
    n_pairs, n_mixed = 0, 0
    for place in range(order.shape[0]):
        ranks[place, 0], ranks[place, 1] = n_pairs, n_mixed
        kind = order_kinds[place]
        effect = effects[kind] if kind < effects.shape[0] else 0  # odd tokens have other kinds
        if effect == 1:
            listed[0, n_pairs] = order[place]
            n_pairs += 1
            rank_of[order[place]] = n_pairs
        elif effect == 2:
            listed[1, n_mixed] = order[place]
            n_mixed += 1
    ranks[order.shape[0], 0], ranks[order.shape[0], 1] = n_pairs, n_mixed


@inline
def ranked_of(canon, ranks):
    """Address of the pairs in `ranks`."""
    return ranks + (canon.n_order + 1) * 8


@inline
def mixed_of(canon, ranks):
    """Address of the mixed tokens in `ranks`."""
    return ranked_of(canon, ranks) + canon.n_order * 4


@kernel
def profile_of(canon, split, byte):
    """Address of a profile; `byte` is a token. Overwrites `doubtful`. The split state has `ranks`."""
    key = split << TOKEN_BITS | byte
    known = map_get(canon.profiles, key)
    if known < 0:
        known = canon.n_tokens
        _make_profile(canon, load_i64(canon.ranks + split * 8), byte)
        map_put(canon.profiles, key, known)
    return canon.tokens.address + known * 4


@kernel
def _make_profile(canon, ranks, byte):
    """Append a profile to `tokens`."""
    low, high = load_i32(canon.children_first + (byte + 1) * 4), load_i32(canon.children_first + (byte + 2) * 4)
    position = canon.n_tokens
    first_run = position * 4 + PROFILE_BYTES
    runs = ensure(canon, GRAMMAR.tokens, first_run + (high - low) * RUN_BYTES) + first_run
    mixed = mixed_of(canon, ranks)
    canon.n_doubtful = n = total = 0
    for i in range(high - 1, low - 1, -1):
        first, end = load_i32(canon.run_first + i * 4), load_i32(canon.run_end + i * 4)
        if first == NO_RUN:
            continue
        total += load_i32(ranks + end * 8) - load_i32(ranks + first * 8)
        run = runs + n * RUN_BYTES
        store_i32(run, load_i32(canon.child_ranks + i * 4))
        store_i32(run + LOW, load_i32(ranks + first * 8))
        store_i32(run + HIGH, load_i32(ranks + end * 8))
        store_i32(run + SO_FAR, total)
        for j in range(load_i32(ranks + first * 8 + 4), load_i32(ranks + end * 8 + 4)):
            append(canon, CANON.doubtful, CANON.n_doubtful, n)
            append(canon, CANON.doubtful, CANON.n_doubtful, load_i32(mixed + j * 4))
        n += 1
    canon.tokens[position] = n
    canon.tokens[position + 1] = canon.n_doubtful // 2
    canon.n_tokens = position + (PROFILE_BYTES + n * RUN_BYTES) // 4
    for i in range(canon.n_doubtful):
        append(canon, GRAMMAR.tokens, GRAMMAR.n_tokens, load_i32(canon.doubtful.address + i * 4))


@inline
def _first_at_least(profile, field, n, value):
    """The first of n runs with such a number in a field, which ascends, or n."""
    low = 0
    while low < n:
        middle = (low + n) >> 1
        if load_i32(profile + PROFILE_BYTES + middle * RUN_BYTES + field) < value:
            low = middle + 1
        else:
            n = middle
    return low


@inline
def runs_before(profile, limit):
    """How many runs are of merges that are made before a time."""
    return _first_at_least(profile, 0, load_i32(profile), limit)


@inline
def append_mixed(canon, profile, n_runs):
    """Append the mixed tokens of the first runs to `doubtful`."""
    entries = profile + PROFILE_BYTES + load_i32(profile) * RUN_BYTES
    for i in range(load_i32(profile + 4)):
        if load_i32(entries + i * 8) < n_runs:
            append(canon, CANON.doubtful, CANON.n_doubtful, load_i32(entries + i * 8 + 4))


@inline
def append_ranges(profile, first, end, at):
    """Write the parts of `ranks` that some runs are to an address, if not empty; returns how many."""
    n = 0
    for i in range(first, end):
        run = profile + PROFILE_BYTES + i * RUN_BYTES
        low, high = load_i32(run + LOW), load_i32(run + HIGH)
        if low < high:
            store_i32(at + n * 8, low)
            store_i32(at + n * 8 + 4, high)
            n += 1
    return n


@inline
def runs_in_base(profile, n_runs):
    """How many of the first runs of a profile the last base has that fits."""
    if n_runs == 0:
        return 0
    total = load_i32(profile + PROFILE_BYTES + (n_runs - 1) * RUN_BYTES + SO_FAR)
    if total < STRIDE:
        return 0
    return _first_at_least(profile, SO_FAR, n_runs, total // STRIDE * STRIDE) + 1


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
    profile = profile_of(canon, split, byte)
    for i in range(n_runs):
        run = profile + PROFILE_BYTES + i * RUN_BYTES
        low, high = load_i32(run + LOW), load_i32(run + HIGH)
        clear_listed(words, ranked + low * 4, high - low)
    return position
