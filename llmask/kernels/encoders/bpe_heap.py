"""Byte-pair encoding as it is defined: merge the pair of lowest rank, leftmost among equals, until none is left.

Symbols form a linked list and candidates a heap, so n bytes cost O(n log n) even where a word is a million letters
long. An entry of the heap is `rank << 32 | left symbol`; it is stale when the symbols there no longer merge at that
rank, and then it is passed over. Shares nothing with the exact encoder but the list of merges.

With a probability of dropout, an entry that is taken off the heap waits until another one was not (Provilkov,
Emelianenko, Voita, "BPE-Dropout", 2020, in the way of the library tokenizers). Random numbers: splitmix64 (G. Steele,
D. Lea, C. Flood, "Fast splittable pseudorandom number generators", 2014).

In: an encoder's table with MERGES, a word. Out: tokens. Cost: about 100 ns a byte.
"""

from __future__ import annotations

from ..machine.jit import door, inline
from ..machine.raw import borrow, give_back, load_u32, shift_right, wrapped_product, wrapped_sum
from ..tables.memory import as_table, load_i32, load_i64, load_u8, store_i32, store_i64
from .bpe_words import MIX
from .encoder_slots import EncoderSlot

FAILED = -1
NO_MERGE = -1
RANK_SHIFT = 32
LOW = 0xFFFFFFFF
MERGE_BYTES = 16  # left << 32 | right, then rank << 32 | made + 1; 0: empty
GOLDEN = -0x61C8864680B583EB  # splitmix64: the step, and two multipliers
FIRST_MIX = -0x40A7B892E31B1A47
SECOND_MIX = -0x6B2FB644ECCEEE15


@door("void(int64, int32[:, ::1], int32[::1])", group="encoders")
def enter_merges(address, splits, ranks):
    """Enter all merges, by ascending rank; of equal pairs the first counts. The table must be zeros."""
    table = as_table(address)
    bits, merges = table[EncoderSlot.MERGE_BITS], table[EncoderSlot.MERGES]
    mask = (1 << bits) - 1
    for i in range(splits.shape[0]):
        key = splits[i, 0] << RANK_SHIFT | splits[i, 1]
        number = shift_right(wrapped_product(key, MIX), 64 - bits)
        while load_i64(merges + number * MERGE_BYTES + 8) != 0:
            if load_i64(merges + number * MERGE_BYTES) == key:
                break
            number = number + 1 & mask
        entry = merges + number * MERGE_BYTES
        if load_i64(entry + 8) == 0:
            store_i64(entry, key)
            store_i64(entry + 8, ranks[i] << RANK_SHIFT | (splits[i, 2] + 1))


@inline
def find_merge(table, left, right):
    """Rank and result of a merge, packed, or NO_MERGE."""
    key = left << RANK_SHIFT | right
    bits, merges = table[EncoderSlot.MERGE_BITS], table[EncoderSlot.MERGES]
    mask = (1 << bits) - 1
    number = shift_right(wrapped_product(key, MIX), 64 - bits)
    while True:
        entry = merges + number * MERGE_BYTES
        found = load_i64(entry + 8)
        if found == 0:
            return NO_MERGE
        if load_i64(entry) == key:
            return found - 1
        number = number + 1 & mask


@inline
def push(heap, size, entry):
    """Add an entry; returns the new size."""
    hole = size
    while hole > 0:
        parent = hole - 1 >> 1
        above = load_i64(heap + parent * 8)
        if above <= entry:
            break
        store_i64(heap + hole * 8, above)
        hole = parent
    store_i64(heap + hole * 8, entry)
    return size + 1


@inline
def pop(heap, size):
    """Take the lowest entry away, which the caller has read; returns the new size."""
    size -= 1
    moving = load_i64(heap + size * 8)
    hole = 0
    while True:
        child = 2 * hole + 1
        if child >= size:
            break
        lower = load_i64(heap + child * 8)
        if child + 1 < size and load_i64(heap + child * 8 + 8) < lower:
            child += 1
            lower = load_i64(heap + child * 8)
        if lower >= moving:
            break
        store_i64(heap + hole * 8, lower)
        hole = child
    store_i64(heap + hole * 8, moving)
    return size


@inline
def random_share(state):
    """A number of 53 random bits; `state` is the address of the generator's int64."""
    following = wrapped_sum(load_i64(state), GOLDEN)
    store_i64(state, following)
    mixed = wrapped_product(following ^ shift_right(following, 30), FIRST_MIX)
    mixed = wrapped_product(mixed ^ shift_right(mixed, 27), SECOND_MIX)
    return shift_right(mixed ^ shift_right(mixed, 31), 11)


@inline
def merge_by_heap(table, text, start, end, out, threshold, state):
    """Write the tokens of a word to the int32 at `out`; returns their number, or FAILED: a byte is no token.

    A merge is passed over where a random number of 53 bits is below `threshold`; `state` see `random_share`.
    """
    n_symbols = end - start
    byte_tokens = table[EncoderSlot.BYTE_TOKENS]
    links = borrow(n_symbols * 8)  # int32 before, int32 after
    heap = borrow(n_symbols * 24)  # an entry a pair, two more a merge
    waiting = borrow(n_symbols * 24 if threshold > 0 else 8)
    n_entries, n_waiting = 0, 0
    for i in range(n_symbols):
        token = load_i32(byte_tokens + load_u8(text + start + i) * 4)
        store_i32(out + i * 4, token)
        store_i32(links + i * 8, i - 1)
        store_i32(links + i * 8 + 4, i + 1)
        if token < 0:
            n_symbols = 0
            break
        if i > 0:
            found = find_merge(table, load_i32(out + i * 4 - 4), token)
            if found != NO_MERGE:
                n_entries = push(heap, n_entries, found >> RANK_SHIFT << RANK_SHIFT | (i - 1))
    while n_entries > 0:
        entry = load_i64(heap)
        n_entries = pop(heap, n_entries)
        if threshold > 0:  # before it is known to be stale, as the library does
            if random_share(state) < threshold:
                store_i64(waiting + n_waiting * 8, entry)
                n_waiting += 1
                continue
            for i in range(n_waiting):
                n_entries = push(heap, n_entries, load_i64(waiting + i * 8))
            n_waiting = 0
        left = entry & LOW
        right = load_u32(links + left * 8 + 4)
        if load_i32(out + left * 4) < 0 or right >= n_symbols:
            continue
        found = find_merge(table, load_i32(out + left * 4), load_i32(out + right * 4))
        if found == NO_MERGE or found >> RANK_SHIFT != entry >> RANK_SHIFT:
            continue
        after = load_i32(links + right * 8 + 4)
        store_i32(out + left * 4, found & LOW)
        store_i32(out + right * 4, NO_MERGE)
        store_i32(links + left * 8 + 4, after)
        if after < n_symbols:
            store_i32(links + after * 8, left)
            found_right = find_merge(table, found & LOW, load_i32(out + after * 4))
            if found_right != NO_MERGE:
                n_entries = push(heap, n_entries, found_right >> RANK_SHIFT << RANK_SHIFT | left)
        before = load_i32(links + left * 8)
        if before >= 0:
            found_left = find_merge(table, load_i32(out + before * 4), found & LOW)
            if found_left != NO_MERGE:
                n_entries = push(heap, n_entries, found_left >> RANK_SHIFT << RANK_SHIFT | before)
    n_tokens = 0
    for i in range(n_symbols):
        token = load_i32(out + i * 4)
        if token >= 0:
            store_i32(out + n_tokens * 4, token)
            n_tokens += 1
    give_back(links)
    give_back(heap)
    give_back(waiting)
    return n_tokens if n_symbols > 0 else FAILED
