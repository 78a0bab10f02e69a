"""All tokens that are incompatible with a given one, as runs (canonical/profiles.py), without asking for each.

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

In: the table of split states. Out: tokens. Cost: 50 ns a token that is asked for, once; the forest 20 ms.
"""

from ..encoders.bpe_pairs import MADE, are_compatible
from ..encoders.encoder_slots import EncoderSlot
from ..machine.jit import door, inline, kernel
from ..machine.raw import load_u16
from ..tables.int_lists import append
from ..tables.memory import as_table, load_i32, load_i64, load_u8
from .slots import CANON, REFUSED_SPLIT

# what an incompatible token does after a split state
NO_EFFECT = 0  # as a compatible one: it may come there as well, or never may
PAIR = 1  # it may not come there
MIXED = 2  # it leads to another split state


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
    return are_compatible(as_table(canon.encoder), left, right)


@inline
def _effect_of(canon, split, token):
    """What an incompatible token does after a split state: PAIR, MIXED, or NO_EFFECT."""
    kind = load_u16(canon.kinds + token * 2)
    fits = load_u16(load_i64(canon.fits + split * 8) + kind * 2)
    broken = load_u16(load_i64(canon.breaks + split * 8) + kind * 2)
    if fits == REFUSED_SPLIT or broken == fits:
        return NO_EFFECT
    return PAIR if broken == REFUSED_SPLIT else MIXED


@inline
def _ask(canon, split, left, token):
    """Enter a token in `found`, or in `doubtful` if it is MIXED, where it is incompatible with the one before it."""
    effect = _effect_of(canon, split, token)
    if effect == NO_EFFECT or is_fitting(canon, left, token):
        return
    if effect == PAIR:
        append(canon, CANON.found, CANON.n_found, token)
    else:
        append(canon, CANON.doubtful, CANON.n_doubtful, token)


@kernel
def ask_all(canon, split, left):
    """Ask of each token that merging makes whether it may come after one."""
    for place in range(canon.n_order):
        token = load_i32(canon.order + place * 4)
        if load_u8(canon.reachable + token) != 0 and load_i32(canon.tree_first + token * 4) == place:
            _ask(canon, split, left, token)


@kernel
def ask_odd(canon, split, left, spine):
    """Ask for tokens that an odd or late merge with one on the right spine may refuse."""
    for i in range(load_i32(canon.odd_first + spine * 4), load_i32(canon.odd_first + spine * 4 + 4)):
        _ask(canon, split, left, load_i32(canon.odd + i * 4))
