"""All tokens that are incompatible with a given one, without asking all of them.

`are_compatible` (bpe_pairs.py) finds a merge over the border between a token a at the right end of the left token's
history and a token b at the left end of the right token's. So those incompatible with a token L are found from it:

    for every a on the right spine of L's history, for every merge (a, b) early enough,
        every token that has b on its left spine is asked

Tokens with b on their left spine are a run in the depth-first order of the tree in which a token hangs below its left
half, and the merges (a, b) are the children of a in the same tree.

In: an encoder's table and that tree. Out: token ids. Cost: 20 ns a token asked, some hundreds; the tree 2 ms.
"""

from __future__ import annotations

from .bpe_pairs import BYTE_TIME, LEFT_LIMIT, MADE_BYTES, NO_LIMIT, RANK, RIGHT, TIME, are_compatible
from .encoder_slots import MADE_OF
from .jit import door
from .memory import as_table, load_i32


@door("void(int64, int32[::1], int32[::1], int32[::1], int32[::1], int32[::1])", group="canonical")
def order_spines(address, child_first, children, first, end, order):
    """Depth-first order of the forest of left halves: tree t is `order[first[t] : end[t]]`, its root first.

    The children of token t are `children[child_first[t + 1] : child_first[t + 2]]`; those of number -1 are the roots.
    """
    made_of = as_table(address)[MADE_OF]
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
                token = load_i32(made_of + token * MADE_BYTES)
            if token < 0:
                break
            end[token] += 1
            token = children[end[token] - 1]


@door(
    "int64(int64, int64, int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[::1])",
    group="canonical",
)
def find_incompatible(address, token, child_first, children, first, end, order, stamps, out):
    """Write the tokens that are incompatible with `token` on their left; returns their number.

    `stamps` int32[n + 1]: the last token each was asked for; the last entry is the number of the present search.
    """
    table = as_table(address)
    made_of = table[MADE_OF]
    stamps[stamps.shape[0] - 1] += 1
    stamp = stamps[stamps.shape[0] - 1]
    n_found = 0
    spine, limit = token, NO_LIMIT
    while True:
        for i in range(child_first[spine + 1], child_first[spine + 2]):
            made = made_of + children[i] * MADE_BYTES
            if load_i32(made + RANK) > limit:
                continue
            right = load_i32(made + RIGHT)
            for j in range(first[right], end[right]):
                other = order[j]
                if stamps[other] != stamp:
                    stamps[other] = stamp
                    if not are_compatible(table, token, other):
                        out[n_found] = other
                        n_found += 1
        entry = made_of + spine * MADE_BYTES
        if load_i32(entry + TIME) == BYTE_TIME:
            return n_found
        limit = load_i32(entry + LEFT_LIMIT) + 1
        spine = load_i32(entry + RIGHT)
