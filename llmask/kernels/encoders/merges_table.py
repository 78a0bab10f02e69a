"""What two neighbouring symbols merge to: a hash table with linear probing, for merging as it is defined.

In: pairs of symbols. Out: what they merge to, and the rank of that. Cost: 5 to 20 ns a look-up, by the caches.
"""

from ..machine.jit import door, inline
from ..machine.raw import shift_right, wrapped_product
from ..machine.records import Record
from .bpe_words import MIX

MERGE = Record("an entry", 64, key="1 + (left << 31 | right), 0: free", found="rank << 32 | what they make")
SYMBOL_BITS = 31
RANK_SHIFT = 32
MADE_MASK = 0xFFFFFFFF
NO_MERGE = 0x7FFFFFFFFFFFFFFF  # its rank is higher than any


@inline
def find_merge(merges, bits, left, right):
    """Rank and result of a merge, packed, or NO_MERGE; 1 << `bits` entries lie at an address. Symbols may be -1."""
    if left < 0 or right < 0:
        return NO_MERGE
    wanted, entries, mask = 1 + (left << SYMBOL_BITS | right), MERGE.at(merges), (1 << bits) - 1
    number = shift_right(wrapped_product(wanted, MIX), 64 - bits)
    while True:
        key = entries[number].key
        if key == wanted:
            return entries[number].found
        if key == 0:
            return NO_MERGE
        number = number + 1 & mask


@door("int64(int32[::1], int32[::1], int32[::1], int32[::1], int64, int64)", group="merges")
def enter_merges(lefts, rights, made, ranks, merges, bits):
    """Enter merges; of equal pairs the first counts. Returns how many were entered.

    At the address `merges` lie 1 << `bits` entries of zeros, at least twice as many as merges.
    """
    entries, mask, n_entered = MERGE.at(merges), (1 << bits) - 1, 0
    for i in range(lefts.shape[0]):
        key = 1 + (lefts[i] << SYMBOL_BITS | rights[i])
        number = shift_right(wrapped_product(key, MIX), 64 - bits)
        while entries[number].key != 0 and entries[number].key != key:
            number = number + 1 & mask
        if entries[number].key == 0:
            entries[number].key, entries[number].found = key, ranks[i] << RANK_SHIFT | made[i]
            n_entered += 1
    return n_entered
