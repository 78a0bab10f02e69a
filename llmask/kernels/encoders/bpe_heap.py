"""Byte-pair encoding as it is defined: merge the pair of lowest rank, leftmost among equals, until none is left.

R. Sennrich, B. Haddow, A. Birch, "Neural machine translation of rare words with subword units", 2016, section 3.2.
Symbols form a linked list and candidates a heap, so n bytes cost O(n log n) even where a word is a million letters
long. An entry of the heap is stale when the symbols there no longer merge at its rank; then it is passed over. Shares
nothing with the exact encoder but the list of merges.

With a probability of dropout, an entry that is taken off the heap waits until another one was not (I. Provilkov,
D. Emelianenko, E. Voita, "BPE-Dropout", 2020, in the way of the library tokenizers). Random numbers: splitmix64
(G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", 2014).

In: an encoder's table with MERGES, a word. Out: tokens. Cost: about 100 ns a byte.
"""

from ..machine.jit import inline
from ..machine.raw import borrow, give_back, shift_right, wrapped_product, wrapped_sum
from ..machine.records import Record
from ..tables.memory import load_i32, load_i64, load_u8, store_i32, store_i64
from .encoder_slots import EncoderSlot
from .heap import pop, push
from .merges_table import MADE_MASK, NO_MERGE, RANK_SHIFT, find_merge

CANDIDATE = Record("a candidate, by rank and place", 64, key="rank << 32 | left symbol")
LINK = Record("the neighbours of a symbol", before="-1: it is the first", after="the number of symbols: it is the last")
FAILED = -1
MERGED = -1  # in place of the token of a symbol that was merged to its left
LEFT_MASK = 0xFFFFFFFF
GOLDEN = -0x61C8864680B583EB  # splitmix64: the step, and two multipliers
FIRST_MIX = -0x40A7B892E31B1A47
SECOND_MIX = -0x6B2FB644ECCEEE15


@inline
def random_share(state):
    """A number of 53 random bits; `state` is the address of the generator's int64."""
    following = wrapped_sum(load_i64(state), GOLDEN)
    store_i64(state, following)
    mixed = wrapped_product(following ^ shift_right(following, 30), FIRST_MIX)
    mixed = wrapped_product(mixed ^ shift_right(mixed, 27), SECOND_MIX)
    return shift_right(mixed ^ shift_right(mixed, 31), 11)


@inline
def merge_of(table, tokens, left, right):
    """Rank and result of the merge of the symbols at two places, packed, or NO_MERGE."""
    left, right = load_i32(tokens + left * 4), load_i32(tokens + right * 4)
    return find_merge(table[EncoderSlot.MERGES], table[EncoderSlot.MERGE_BITS], left, right)


@inline
def push_merge(table, tokens, left, right, heap, size):
    """Put two neighbours onto the heap, if they merge; returns the new size."""
    found = merge_of(table, tokens, left, right)
    if found == NO_MERGE:
        return size
    push(heap, size, found >> RANK_SHIFT << RANK_SHIFT | left)
    return size + 1


@inline
def merge_by_heap(table, text, start, end, out, threshold, state):
    """Write the tokens of a word to the int32 at `out`; returns their number, or FAILED: a byte is no token.

    A merge is passed over where a random number of 53 bits is below `threshold`; `state` see `random_share`.
    """
    n_symbols = end - start
    byte_tokens = table[EncoderSlot.BYTE_TOKENS]
    links = LINK.at(borrow(n_symbols * LINK.n_bytes))
    heap = CANDIDATE.at(borrow(3 * n_symbols * CANDIDATE.n_bytes))  # one a pair, two more a merge
    waiting = CANDIDATE.at(borrow((3 * n_symbols if threshold > 0 else 1) * CANDIDATE.n_bytes))
    n_entries, n_waiting = 0, 0
    for i in range(n_symbols):  # the symbols are single bytes
        token = load_i32(byte_tokens + load_u8(text + start + i) * 4)
        store_i32(out + i * 4, token)
        links[i].before, links[i].after = i - 1, i + 1
        if token < 0:
            n_symbols = 0
            break
        if i > 0:
            n_entries = push_merge(table, out, i - 1, i, heap, n_entries)
    while n_entries > 0:
        candidate = heap.key
        n_entries = pop(heap, n_entries)
        if threshold > 0:  # before it is known to be stale, as the library does
            if random_share(state) < threshold:
                waiting[n_waiting].key = candidate
                n_waiting += 1
                continue
            for i in range(n_waiting):
                push(heap, n_entries + i, waiting[i].key)
            n_entries, n_waiting = n_entries + n_waiting, 0
        left = candidate & LEFT_MASK
        right = links[left].after
        if load_i32(out + left * 4) == MERGED or right >= n_symbols:
            continue
        found = merge_of(table, out, left, right)
        if found >> RANK_SHIFT != candidate >> RANK_SHIFT:
            continue
        # the left symbol is what both make, the right one leaves the list, and both new neighbours are candidates
        store_i32(out + left * 4, found & MADE_MASK)
        store_i32(out + right * 4, MERGED)
        before, after = links[left].before, links[right].after
        links[left].after = after
        if after < n_symbols:
            links[after].before = left
            n_entries = push_merge(table, out, left, after, heap, n_entries)
        if before >= 0:
            n_entries = push_merge(table, out, before, left, heap, n_entries)
    n_tokens = 0
    for i in range(n_symbols):
        token = load_i32(out + i * 4)
        if token != MERGED:
            store_i32(out + n_tokens * 4, token)
            n_tokens += 1
    give_back(links.address)
    give_back(heap.address)
    give_back(waiting.address)
    return n_tokens if n_symbols > 0 else FAILED
