"""All tokens that are incompatible with a given one, as runs, without asking for each.

`are_compatible` (bpe_pairs.py) finds a merge over the border between a token a at the right end of the left token's
history and a token b at the left end of the right token's, made while both are there. So those incompatible with a
token L are found from it:

    for every a on the right spine of L's history, for every merge (a, b) made before a is merged in L:
        every token R in whose history b is at the left end, and is not merged there before

Tokens with b at the left end are a run in the depth-first order of the forest in which a token hangs below its left
half. The children of b are ordered by when they are made, the last first; so those that merge b too early are at the
end of the run. And the merges (a, b) are the children of a in the same forest, the first at the end.

All of that is so where a token is made after its parts. Tokens that are not (bpe_pairs.py: Llama 3 has 90) are *late*,
and come last among the children; tokens with a late one on the left spine (98) are *odd*. For each a the list `odd` has
the tokens that a late merge of a, or one with the left spine of an odd token, might refuse: these are asked for one by
one, as all tokens are where L has a late one on the right spine.

In: the table of split states. Out: tokens. Cost: 10 ns a run and 1 ns a token of it; the forest 20 ms.
"""

from ..encoders.bpe_pairs import BYTE_TIME, MADE, NO_LIMIT, are_compatible
from ..encoders.encoder_slots import EncoderSlot
from ..machine.jit import door, inline, kernel
from ..machine.raw import load_u16
from ..tables.memory import as_table, ensure, load_i32, load_i64, load_u8, store_i32, store_i64
from .slots import CANON, NO_RUN, ODD_KIND, REFUSED_SPLIT

ANY_SPLIT = -1
NO_LAST_BYTE = -1
# what an incompatible token does after a split state
NO_EFFECT = 0  # as a compatible one: it may come there as well, or never may
PAIR = 1  # it may not come there
MIXED = 2  # it leads to another split state
MEMO_PAIRS = 1 << 13  # pairs that were asked for last: grammars have the same keys


@door("void(int64, int32[::1], int32[::1], int32[::1], int32[::1], int32[::1])", group="canonical")
def order_spines(address, child_first, children, first, end, order):
    """Depth-first order of the forest of left halves: tree t is `order[first[t] : end[t]]`, its root first.

    The children of token t are `children[child_first[t + 1] : child_first[t + 2]]`; roots are children of number -1.
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
    reachable = canon.reachable
    if load_u8(reachable + left) == 0 or load_u8(reachable + right) == 0:
        return False
    key = (left << 21 | right) + 1
    at = canon.pair_memo.address + ((left * 31 + right) & (MEMO_PAIRS - 1)) * 8
    known = load_i64(at)
    if known >> 1 != key:
        known = key << 1 | (1 if are_compatible(as_table(canon.encoder), left, right) else 0)
        store_i64(at, known)
    return known & 1 != 0


@inline
def _add_run(canon, n, first, end):
    runs = ensure(canon, CANON.runs, (n + 1) * 8) + n * 8
    store_i32(runs, first)
    store_i32(runs + 4, end)
    return n + 1


@inline
def effect_of(canon, split, kind):
    """What an incompatible token of a kind does after a split state: PAIR, MIXED, or NO_EFFECT."""
    fits = load_u16(load_i64(canon.fits + split * 8) + kind * 2)
    broken = load_u16(load_i64(canon.breaks + split * 8) + kind * 2)
    if fits == REFUSED_SPLIT or broken == fits:
        return NO_EFFECT
    return PAIR if broken == REFUSED_SPLIT else MIXED


@inline
def _add_one(canon, split, token, n):
    """Add the run of a single incompatible token, if it matters; returns how many runs there are."""
    if split != ANY_SPLIT and effect_of(canon, split, load_u16(canon.kinds + token * 2)) == NO_EFFECT:
        return n
    return _add_run(canon, n, -1 - load_i32(canon.tree_first + token * 4), 0)


@inline
def _ask(canon, split, left, token, n):
    """Add a token that is in no run if it is incompatible with one before it; returns how many runs there are."""
    return n if is_fitting(canon, left, token) else _add_one(canon, split, token, n)


@kernel
def _ask_all(canon, split, left):
    """As `list_runs`, of each token that merging makes it is asked whether it fits."""
    n = 0
    for place in range(canon.n_order):
        token = load_i32(canon.order + place * 4)
        if load_u8(canon.reachable + token) != 0 and load_i32(canon.tree_first + token * 4) == place:
            n = _ask(canon, split, left, token, n)
    return n


@inline
def _list_children(canon, spine, limit, n):
    """Add the runs of the merges with a token that are made before a time; returns how many runs there are."""
    low, high = load_i32(canon.children_first + (spine + 1) * 4), load_i32(canon.children_first + (spine + 2) * 4)
    runs = ensure(canon, CANON.runs, (n + high - low) * 8)
    for i in range(high - 1, low - 1, -1):
        first = load_i32(canon.run_first + i * 4)
        if first == NO_RUN:
            continue
        if load_i32(canon.child_ranks + i * 4) >= limit:
            break
        store_i32(runs + n * 8, first)
        store_i32(runs + n * 8 + 4, load_i32(canon.run_end + i * 4))
        n += 1
    return n


@kernel
def _ask_odd(canon, split, left, spine, n):
    """Add tokens that an odd or late merge with one on the right spine refuses; returns how many runs there are."""
    for i in range(load_i32(canon.odd_first + spine * 4), load_i32(canon.odd_first + spine * 4 + 4)):
        n = _ask(canon, split, left, load_i32(canon.odd + i * 4), n)
    return n


@kernel
def list_runs_above(canon, split, token):
    """As `list_runs` without the runs of merges with `last_byte`, which are those made before `byte_limit`.

    NO_LAST_BYTE in its place: no run was left out.
    """
    made_of = MADE.at(as_table(canon.encoder)[EncoderSlot.MADE_OF])
    n, spine, limit = 0, token, NO_LIMIT
    while made_of[spine].time != BYTE_TIME:
        if made_of[spine].time != made_of[spine].rank:
            canon.last_byte = NO_LAST_BYTE
            return _ask_all(canon, split, token)
        n = _ask_odd(canon, split, token, spine, _list_children(canon, spine, limit, n))
        limit, spine = made_of[spine].left_limit, made_of[spine].right
    canon.last_byte, canon.byte_limit = spine, limit
    return _ask_odd(canon, split, token, spine, n)


@inline
def list_runs(canon, split, token):
    """Write to `runs` the tokens that may not come after `token` in a word, some twice; returns how many runs.

    Single tokens only if they matter after a split state, unless that is ANY_SPLIT.

    A run is (first, end) in `order`, without the odd tokens there; or (-1 - place, 0), one token. `token` is one that
    merging makes.
    """
    n = list_runs_above(canon, split, token)
    return n if canon.last_byte == NO_LAST_BYTE else _list_children(canon, canon.last_byte, canon.byte_limit, n)


@door("int64(int64, int64, int64, int32[::1])", group="canonical")
def find_incompatible(address, split, token, out):
    """Write the tokens that may not come after `token`, some twice; returns how many. For tests.

    `split` see `list_runs`.
    """
    canon = as_table(address)
    n = 0
    for i in range(list_runs(canon, split, token)):
        first, end = load_i32(canon.runs.address + i * 8), load_i32(canon.runs.address + i * 8 + 4)
        for j in range(-1 - first if first < 0 else first, -first if first < 0 else end):
            if first < 0 or load_i32(canon.order_kinds + j * 4) < ODD_KIND:
                out[n] = load_i32(canon.order + j * 4)
                n += 1
    return n
