"""How a text of tokens goes on by one more: split states, and words that are tokens whatever the merges say.

`ignore_merges` (Llama 3): a word that is a token is encoded as that token. So the sequence that merging would make of
its bytes, a *chain*, must not be a whole word. What is known of a word so far is node * 2 + 1 in the tree of chains
where such a word is complete (it must not end here), node * 2 otherwise; 0: no chain begins so.

In: the table of split states. Out: states, chains. Cost: 5 ns; 20 to 100 ns where it matters whether tokens merge.
"""

from __future__ import annotations

from .canonical_fill import REFUSED_SPLIT
from .canonical_pairs import is_fitting
from .canonical_slots import (
    BREAKS,
    CHAIN_FIRST,
    CHAIN_NEXT,
    CHAIN_ROOT,
    CHAIN_TOKENS,
    FOLLOWS,
    GOES_ON,
    IS_PARTIAL,
    KINDS,
    N_CHAINS,
    N_CONTINUING,
)
from .jit import kernel, never_inline
from .memory import load_i32, load_i64, load_u8
from .raw import load_u16

NO_CHAIN = 0


@kernel
def look_up(canon, tables, split, token):
    """Split state after a token by the tables FOLLOWS, BREAKS or GOES_ON, or REFUSED_SPLIT."""
    kind = load_u16(canon[KINDS] + token * 2)
    if kind >= canon[N_CONTINUING] and load_u8(canon[IS_PARTIAL] + split) != 0:
        return REFUSED_SPLIT
    return load_u16(load_i64(canon[tables] + split * 8) + kind * 2)


@kernel
def goes_on(canon, split, token):
    """Whether a token may be of the word before it, as far as the splitter decides."""
    return look_up(canon, GOES_ON, split, token) != REFUSED_SPLIT


@kernel
def split_after(canon, split, before, chain, token):
    """Split state after a token, or REFUSED_SPLIT."""
    never_inline()
    if chain & 1 != 0:
        going_on = look_up(canon, GOES_ON, split, token)
        return going_on if going_on != REFUSED_SPLIT and is_fitting(canon, before, token) else REFUSED_SPLIT
    fitting = look_up(canon, FOLLOWS, split, token)
    breaking = look_up(canon, BREAKS, split, token)
    if fitting == breaking or is_fitting(canon, before, token):
        return fitting
    return breaking


@kernel
def _chain_below(canon, node, token):
    low, high = load_i32(canon[CHAIN_FIRST] + node * 4), load_i32(canon[CHAIN_FIRST] + node * 4 + 4)
    last = high
    while low < high:
        middle = (low + high) >> 1
        if load_i32(canon[CHAIN_TOKENS] + middle * 4) < token:
            low = middle + 1
        else:
            high = middle
    if low < last and load_i32(canon[CHAIN_TOKENS] + low * 4) == token:
        return load_i32(canon[CHAIN_NEXT] + low * 4)
    return NO_CHAIN


@kernel
def chain_after(canon, split, chain, token):
    """The chain after a token that may follow."""
    never_inline()
    if canon[N_CHAINS] == 0:
        return NO_CHAIN
    if not goes_on(canon, split, token):
        return load_i32(canon[CHAIN_ROOT] + token * 4) & -2
    return NO_CHAIN if chain == NO_CHAIN else _chain_below(canon, chain >> 1, token)
