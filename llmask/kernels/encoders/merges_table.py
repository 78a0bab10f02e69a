"""What two neighbouring symbols merge to: a hash table with linear probing, for merging as it is defined.

In: pairs of symbols. Out: what they merge to, and the rank of that. Cost: 5 to 20 ns a look-up, by the caches.
"""

from __future__ import annotations

import numpy as np

from ..machine.jit import door, inline
from ..machine.raw import shift_right, wrapped_product
from ..machine.records import Record, Wide
from .bpe_words import MIX

MERGE = Record("what two neighbours merge to", key=Wide("1 + (left << 31 | right), 0: free"), made="", rank="")
SYMBOL_BITS = 31


@inline
def find_merge(merges, bits, left, right):
    """The merge of two symbols, or the free entry where it belongs, among 1 << `bits` at an address."""
    key = 1 + (left << SYMBOL_BITS | right)
    entries, mask = MERGE.at(merges), (1 << bits) - 1
    number = shift_right(wrapped_product(key, MIX), 64 - bits)
    while entries[number].key != key and entries[number].key != 0:
        number = number + 1 & mask
    return entries[number]


@door("int64(int32[::1], int32[::1], int32[::1], int32[::1], int64, int64)", group="merges")
def enter_merges(lefts, rights, made, ranks, merges, bits):
    """Enter merges; of equal pairs the first counts. Returns how many were entered.

    At the address `merges` lie 1 << `bits` entries of zeros, at most half of which are needed.
    """
    n_entered = 0
    for i in range(lefts.shape[0]):
        left, right = np.int64(lefts[i]), np.int64(rights[i])
        merge = find_merge(merges, bits, left, right)
        if merge.key == 0:
            merge.key, merge.made, merge.rank = 1 + (left << SYMBOL_BITS | right), made[i], ranks[i]
            n_entered += 1
    return n_entered
