"""How a text of tokens goes on by one more: split states, and words that are tokens whatever the merges say.

`ignore_merges` (Llama 3): a word that is a token is encoded as that token. So the sequence that merging would make of
its bytes, a *chain*, must not be a whole word. What is known of a word so far is node * 2 + 1 in the tree of chains
where such a word is complete (it must not end here), node * 2 otherwise; 0: no chain begins so. Where the splitter has
not decided whether the word ends before a token, forks say where that leads (llmask/canonical/chains.py):

    `forks`   (chain << BEFORE_BITS | token) << SPLIT_BITS | split state: where it leads, chain << SPLIT_BITS | split

In: the table of split states. Out: states, chains. Cost: 5 ns; 20 to 100 ns where it matters whether tokens merge.
"""

from ..machine.jit import inline, kernel
from ..machine.raw import load_u16
from ..tables.memory import load_i32, load_i64, load_u8
from .pairs import is_fitting
from .positions import BEFORE_BITS, SPLIT_BITS
from .slots import CANON, REFUSED_SPLIT

NO_CHAIN = 0


@inline
def look_up(canon, tables, split, token):
    """Split state after a token by the tables `fits`, `breaks` or `goes_on`, or REFUSED_SPLIT."""
    kind = load_u16(canon.kinds + token * 2)
    if kind >= canon.n_continuing and load_u8(canon.is_partial + split) != 0:
        return REFUSED_SPLIT
    return load_u16(load_i64(canon[tables] + split * 8) + kind * 2)


@inline
def goes_on(canon, split, token):
    """Whether a token may be of the word before it, as far as the splitter decides."""
    return look_up(canon, CANON.goes_on, split, token) != REFUSED_SPLIT


@inline
def _fork(canon, split, chain, token):
    """Where a fork leads, or -1 without one."""
    key = (chain << BEFORE_BITS | token) << SPLIT_BITS | split
    low, high = 0, canon.n_forks
    while low < high:
        middle = (low + high) >> 1
        if load_i64(canon.forks + middle * 16) < key:
            low = middle + 1
        else:
            high = middle
    if low < canon.n_forks and load_i64(canon.forks + low * 16) == key:
        return load_i64(canon.forks + low * 16 + 8)
    return -1


@inline
def after_fitting(canon, split, chain, token):
    """Split state after a token that is compatible with the one before, or REFUSED_SPLIT."""
    if chain == NO_CHAIN:
        return look_up(canon, CANON.fits, split, token)
    if chain & 1 != 0:
        return look_up(canon, CANON.goes_on, split, token)
    found = _fork(canon, split, chain, token)
    return found & REFUSED_SPLIT if found >= 0 else look_up(canon, CANON.fits, split, token)


@inline
def after_breaking(canon, split, chain, token):
    """The same for one that is not."""
    return look_up(canon, CANON.breaks, split, token) if chain & 1 == 0 else REFUSED_SPLIT


@kernel
def split_after(canon, split, before, chain, token):
    """Split state after a token, or REFUSED_SPLIT."""
    fitting = after_fitting(canon, split, chain, token)
    breaking = after_breaking(canon, split, chain, token)
    if fitting == breaking or is_fitting(canon, before, token):
        return fitting
    return breaking


@inline
def _chain_below(canon, node, token):
    low, high = load_i32(canon.chain_first + node * 4), load_i32(canon.chain_first + node * 4 + 4)
    last = high
    while low < high:
        middle = (low + high) >> 1
        if load_i32(canon.chain_tokens + middle * 4) < token:
            low = middle + 1
        else:
            high = middle
    if low < last and load_i32(canon.chain_tokens + low * 4) == token:
        return load_i32(canon.chain_next + low * 4)
    return NO_CHAIN


@kernel
def chain_after(canon, split, after, chain, token):
    """The chain after a token that may follow; `after` is the split state there."""
    if canon.n_chains == 0:
        return NO_CHAIN
    begun = load_i32(canon.chain_root + token * 4) & -2
    if chain == NO_CHAIN and begun == NO_CHAIN:
        return NO_CHAIN
    if after == look_up(canon, CANON.breaks, split, token) or not goes_on(canon, split, token):
        return begun
    if chain != NO_CHAIN:
        found = _fork(canon, split, chain, token)
        if found >= 0:
            return found >> SPLIT_BITS
        below = _chain_below(canon, chain >> 1, token)
        if below != NO_CHAIN or chain & 1 != 0:
            return below
    found = _fork(canon, split, NO_CHAIN, token) if begun != NO_CHAIN else -1
    return found >> SPLIT_BITS if found >= 0 else NO_CHAIN
