"""All tokens that are incompatible with a given one, as runs, without asking for each.

`are_compatible` (bpe_pairs.py) finds a merge over the border between a token a at the right end of the left token's
history and a token b at the left end of the right token's, made while both are there. So those incompatible with a
token L are found from it:

    for every a on the right spine of L's history, for every merge (a, b) made before a is merged in L:
        every token R in whose history b is at the left end, and is not merged there before

Tokens with b at the left end are a run in the depth-first order of the forest in which a token hangs below its left
half. The children of b are ordered by when they are made, the last first; so those that merge b too early are at the
end of the run. And the merges (a, b) are the children of a in the same forest, the first at the end.

All of that is so where a token is made after its parts. Tokens that are not (bpe_pairs.py: Llama 3 has 90) come last
among the children. They and those with such a token on the left spine are *odd*, as are merges that make them or
tokens that are not made after their parts: of all these merges, for each a, the list ODD has every R that one refuses,
and between which times a has to be merged in L for that. Where L itself has such a token on the right spine, all that
b is merged to is looked at, with the tree below each, and the odd tokens are asked for one by one.

In: the table of split states. Out: tokens. Cost: 10 ns a run and 1 ns a token of it; the forest 20 ms.
"""

from ..encoders.bpe_pairs import BYTE_TIME, MADE, NO_LIMIT, are_compatible
from ..encoders.encoder_slots import EncoderSlot
from ..machine.jit import door, inline, kernel
from ..machine.raw import load_u16
from ..tables.memory import (
    as_table,
    block,
    ensure,
    fill_bytes,
    load_i32,
    load_i64,
    load_u8,
    store_i32,
    store_i64,
    store_u8,
)
from .slots import (
    BREAKS,
    BYTE_LIMIT,
    CHILD_FIRST,
    CHILD_RANKS,
    CHILDREN,
    CONTINUING,
    ENCODER,
    END,
    FIRST,
    FITS_BEHIND,
    FOLLOWS,
    KINDS,
    LAST_BYTE,
    N_CONTINUING,
    N_MERGED_CONTINUING,
    NO_RUN,
    ODD,
    ODD_FIRST,
    ODD_KIND,
    ORDER,
    ORDER_KINDS,
    PAIR_MEMO,
    REACHABLE,
    REFUSED_SPLIT,
    RUN_END,
    RUN_FIRST,
    RUNS,
)

ANY_SPLIT = -1
NO_BYTE = -1
# what an incompatible token does behind a split state
NO_EFFECT = 0  # as a compatible one: it may stand there as well, or never may
PAIR = 1  # it may not stand there
MIXED = 2  # it leads to another split state
ODD_FIELDS = 3  # of ODD: the token, times low and high: refused where low < time <= high
MEMO_PAIRS = 1 << 13  # pairs that were asked for last: grammars have the same keys


@door("void(int64, int32[::1], int32[::1], int32[::1], int32[::1], int32[::1])", group="canonical")
def order_spines(address, child_first, children, first, end, order):
    """Depth-first order of the forest of left halves: tree t is `order[first[t] : end[t]]`, its root first.

    The children of token t are `children[child_first[t + 1] : child_first[t + 2]]`; those of number -1 are the roots.
    """
    made_of = MADE.at(as_table(address)[EncoderSlot.MADE_OF])
    n = 0
    for i in range(child_first[0], child_first[1]):
        token = children[i]
        while True:
            first[token] = n
            order[n] = token
            n += 1
            end[token] = child_first[token + 1]  # the next child, until the tree is complete
            while token >= 0 and end[token] == child_first[token + 2]:
                end[token] = n
                token = made_of[token].left
            if token < 0:
                break
            end[token] += 1
            token = children[end[token] - 1]


@kernel
def is_fitting(canon, left, right):
    """Whether two neighbours are compatible; `left` -1: the text begins."""
    if left < 0:
        return True
    reachable = canon[REACHABLE]
    if load_u8(reachable + left) == 0 or load_u8(reachable + right) == 0:
        return False
    key = (left << 21 | right) + 1
    at = block(canon, PAIR_MEMO) + ((left * 31 + right) & (MEMO_PAIRS - 1)) * 8
    known = load_i64(at)
    if known >> 1 != key:
        known = key << 1 | (1 if are_compatible(as_table(canon[ENCODER]), left, right) else 0)
        store_i64(at, known)
    return known & 1 != 0


@inline
def _add_run(canon, n, first, end):
    runs = ensure(canon, RUNS, (n + 1) * 8) + n * 8
    store_i32(runs, first)
    store_i32(runs + 4, end)
    return n + 1


@inline
def effect_of(canon, split, kind):
    """What an incompatible token of a kind does behind a split state: PAIR, MIXED, or NO_EFFECT."""
    fits = load_u16(load_i64(canon[FOLLOWS] + split * 8) + kind * 2)
    broken = load_u16(load_i64(canon[BREAKS] + split * 8) + kind * 2)
    if fits == REFUSED_SPLIT or broken == fits:
        return NO_EFFECT
    return PAIR if broken == REFUSED_SPLIT else MIXED


@inline
def _add_one(canon, split, token, n):
    """Add the run of a single incompatible token, if it matters; returns how many runs there are."""
    if split != ANY_SPLIT and effect_of(canon, split, load_u16(canon[KINDS] + token * 2)) == NO_EFFECT:
        return n
    return _add_run(canon, n, -1 - load_i32(canon[FIRST] + token * 4), 0)


@inline
def _add_odd(canon, split, spine, limit, n):
    """Add what odd merges with a token refuse that is merged at a time itself; returns how many runs there are."""
    for i in range(load_i32(canon[ODD_FIRST] + spine * 4), load_i32(canon[ODD_FIRST] + spine * 4 + 4)):
        entry = canon[ODD] + i * ODD_FIELDS * 4
        if load_i32(entry + 4) < limit <= load_i32(entry + 8):
            n = _add_one(canon, split, load_i32(entry), n)
    return n


@kernel
def _add_refused(canon, split, a, time, limit, made, n):
    """Add what the merge of a token `a` that makes `made` refuses; returns how many runs there are.

    What `a` is merged to on the right spine is made at `time`, and undoing that gives the limit (bpe_pairs.py).
    """
    made_of = MADE.at(as_table(canon[ENCODER])[EncoderSlot.MADE_OF])
    rank, b = made_of[made].rank, made_of[made].right
    a_time = made_of[a].time
    if time <= made_of[b].time:
        return n
    first = load_i32(canon[FIRST] + b * 4)
    if rank < limit and load_i32(canon[ORDER_KINDS] + first * 4) < ODD_KIND:
        n = _add_one(canon, split, b, n)
    end = -1  # of the last run
    for i in range(load_i32(canon[CHILD_FIRST] + (b + 1) * 4), load_i32(canon[CHILD_FIRST] + (b + 2) * 4)):
        above = load_i32(canon[CHILDREN] + i * 4)
        above_time = made_of[above].time
        if a_time > above_time or rank >= (made_of[above].right_limit if time > above_time else limit):
            continue
        first, behind = load_i32(canon[FIRST] + above * 4), load_i32(canon[END] + above * 4)
        if first == end:
            store_i32(canon[RUNS] + (n - 1) * 8 + 4, behind)
        else:
            n = _add_run(canon, n, first, behind)
        end = behind
    return n


@kernel
def _list_for_odd(canon, split, left):
    """As `list_runs` for a token with one on the right spine that is not made after its parts."""
    made_of = MADE.at(as_table(canon[ENCODER])[EncoderSlot.MADE_OF])
    n, spine, time, limit = 0, left, NO_LIMIT, NO_LIMIT
    while True:
        for i in range(load_i32(canon[CHILD_FIRST] + (spine + 1) * 4), load_i32(canon[CHILD_FIRST] + (spine + 2) * 4)):
            n = _add_refused(canon, split, spine, time, limit, load_i32(canon[CHILDREN] + i * 4), n)
        for i in range(load_i32(canon[ODD_FIRST] + spine * 4), load_i32(canon[ODD_FIRST] + spine * 4 + 4)):
            token = load_i32(canon[ODD] + i * ODD_FIELDS * 4)
            if not is_fitting(canon, left, token):
                n = _add_one(canon, split, token, n)
        made = made_of[spine]
        time = made.time
        if time == BYTE_TIME:
            return n
        limit = made.left_limit
        spine = made.right


@inline
def _list_children(canon, spine, limit, n):
    """Add the runs of the merges with a token that are made before a time; returns how many runs there are."""
    low, high = load_i32(canon[CHILD_FIRST] + (spine + 1) * 4), load_i32(canon[CHILD_FIRST] + (spine + 2) * 4)
    runs = ensure(canon, RUNS, (n + high - low) * 8)
    for i in range(high - 1, low - 1, -1):
        first = load_i32(canon[RUN_FIRST] + i * 4)
        if first == NO_RUN:
            continue
        if load_i32(canon[CHILD_RANKS] + i * 4) >= limit:
            break
        store_i32(runs + n * 8, first)
        store_i32(runs + n * 8 + 4, load_i32(canon[RUN_END] + i * 4))
        n += 1
    return n


@kernel
def list_runs_above(canon, split, token):
    """As `list_runs` without the runs of merges with LAST_BYTE, which are those made before BYTE_LIMIT.

    NO_BYTE in its place: there are none.
    """
    made_of = MADE.at(as_table(canon[ENCODER])[EncoderSlot.MADE_OF])
    n, spine, limit = 0, token, NO_LIMIT
    while True:
        made = made_of[spine]
        time = made.time
        if time != BYTE_TIME and time != made.rank:
            canon[LAST_BYTE] = NO_BYTE
            return _list_for_odd(canon, split, token)
        if time == BYTE_TIME:
            canon[LAST_BYTE], canon[BYTE_LIMIT] = spine, limit
            return _add_odd(canon, split, spine, limit, n)
        n = _add_odd(canon, split, spine, limit, _list_children(canon, spine, limit, n))
        limit = made.left_limit
        spine = made.right


@inline
def list_runs(canon, split, token):
    """Write to RUNS the tokens that may not stand behind `token` in a word, some twice; returns how many runs.

    Of those that are no run only such that matter behind a split state, if it is not ANY_SPLIT.

    A run is (first, end) in ORDER, without the odd tokens there; or (-1 - place, 0), one token. `token` is one that
    merging makes.
    """
    n = list_runs_above(canon, split, token)
    return n if canon[LAST_BYTE] == NO_BYTE else _list_children(canon, canon[LAST_BYTE], canon[BYTE_LIMIT], n)


@inline
def _first_from(continuing, n, place):
    """How many of n entries of CONTINUING stand before a place in ORDER."""
    low = 0
    while low < n:
        middle = (low + n) >> 1
        if load_i32(continuing + middle * 8) < place:
            low = middle + 1
        else:
            n = middle
    return low


@kernel
def find_fitting(canon, before):
    """Address of uint8[n]: of each kind of tokens that begin inside of a character, 1 where it fits behind a token.

    `before` -1: the text begins.
    """
    n, continuing, n_kinds = canon[N_MERGED_CONTINUING], canon[CONTINUING], canon[N_CONTINUING]
    fits = ensure(canon, FITS_BEHIND, n_kinds + 1)
    fill_bytes(fits, n_kinds, 1 if before < 0 else 0)
    if before < 0 or load_u8(canon[REACHABLE] + before) == 0:
        return fits
    for i in range(n):
        store_u8(fits + load_i32(continuing + i * 8 + 4), 1)
    for i in range(list_runs(canon, ANY_SPLIT, before)):
        first, end = load_i32(canon[RUNS] + i * 8), load_i32(canon[RUNS] + i * 8 + 4)
        if first < 0:
            kind = load_i32(canon[ORDER_KINDS] + (-1 - first) * 4) & (ODD_KIND - 1)
            if kind < n_kinds:
                store_u8(fits + kind, 0)
            continue
        at = _first_from(continuing, n, first)
        while at < n and load_i32(continuing + at * 8) < end:
            if load_i32(canon[ORDER_KINDS] + load_i32(continuing + at * 8) * 4) < ODD_KIND:
                store_u8(fits + load_i32(continuing + at * 8 + 4), 0)
            at += 1
    return fits


@door("int64(int64, int64, int64, int32[::1])", group="canonical")
def find_incompatible(address, split, token, out):
    """Write the tokens that may not stand behind `token`, some twice; returns how many. For tests.

    `split` see `list_runs`.
    """
    canon = as_table(address)
    n = 0
    for i in range(list_runs(canon, split, token)):
        first, end = load_i32(canon[RUNS] + i * 8), load_i32(canon[RUNS] + i * 8 + 4)
        for j in range(-1 - first if first < 0 else first, -first if first < 0 else end):
            if first < 0 or load_i32(canon[ORDER_KINDS] + j * 4) < ODD_KIND:
                out[n] = load_i32(canon[ORDER] + j * 4)
                n += 1
    return n
