"""The trie of all tokens: they are sorted by their bytes, and the nodes are written in one pass.

In depth-first order the trie of a sorted list writes itself: token i shares its first `shared[i]` bytes with token
i - 1, so it closes the nodes deeper than that and opens `length - shared[i]` new ones. Inserting tokens one by one into
a linked trie and renumbering it afterwards visits memory at random and took three times as long.

The sort is split: the first KEY_BYTES bytes as one integer are sorted by their digits, the lowest first (radix sort),
and only runs of equal keys are compared byte by byte (merge sort). KEY_BYTES is 7, so that four digits make a key, and
keys are non-negative int64.

In: `token_offsets` int32[n_tokens + 1], `token_data` uint8[n_bytes], ids of the tokens to take. Out: node words and
children as `llmask/trie/layout.py` describes them. Cost: 128,000 tokens (800 KB, 274,000 nodes) in 13 ms.
"""

from ..machine.constants import TRIE_DEPTH_SHIFT, TRIE_END_SHIFT, TRIE_TOKEN_SHIFT
from ..machine.jit import door, inline
from ..tables.memory import copy_bytes
from .trie_words import depth_of

KEY_BYTES = 7
DIGIT_BITS = 14  # four passes, an even number: what was sorted is in the same arrays as before
N_DIGITS = 1 << DIGIT_BITS
SHORT_RUN = 8  # runs up to this length are sorted by insertion


@inline
def is_before(offsets, data, left, right):
    """Whether token `left` sorts before token `right`: by bytes, then by id."""
    left_start, right_start = offsets[left], offsets[right]
    left_length = offsets[left + 1] - left_start
    right_length = offsets[right + 1] - right_start
    for i in range(min(left_length, right_length)):
        if data[left_start + i] != data[right_start + i]:
            return data[left_start + i] < data[right_start + i]
    if left_length != right_length:
        return left_length < right_length
    return left < right


@inline
def sort_run(offsets, data, ids, scratch, first, last):
    """Sort `ids[first:last]`: short pieces by insertion, then merged pairwise."""
    for piece in range(first, last, SHORT_RUN):
        for i in range(piece + 1, min(piece + SHORT_RUN, last)):
            moving = ids[i]
            j = i
            while j > piece and is_before(offsets, data, moving, ids[j - 1]):
                ids[j] = ids[j - 1]
                j -= 1
            ids[j] = moving
    width = SHORT_RUN
    while width < last - first:
        for left in range(first, last - width, 2 * width):
            middle, end = left + width, min(left + 2 * width, last)
            copy_bytes(scratch.ctypes.data + 4 * left, ids.ctypes.data + 4 * left, 4 * (middle - left))
            i, j, out = left, middle, left
            while i < middle and j < end:
                if is_before(offsets, data, ids[j], scratch[i]):
                    ids[out] = ids[j]
                    j += 1
                else:
                    ids[out] = scratch[i]
                    i += 1
                out += 1
            copy_bytes(ids.ctypes.data + 4 * out, scratch.ctypes.data + 4 * i, 4 * (middle - i))
        width *= 2


@inline
def sort_by_digit(keys, ids, sorted_keys, sorted_ids, places, shift):
    """Write keys and ids in the order of one digit, equal ones as they were."""
    for digit in range(N_DIGITS):
        places[digit] = 0
    for i in range(ids.shape[0]):
        places[(keys[i] >> shift) & (N_DIGITS - 1)] += 1
    place = 0
    for digit in range(N_DIGITS):
        n = places[digit]
        places[digit] = place
        place += n
    for i in range(ids.shape[0]):
        digit = (keys[i] >> shift) & (N_DIGITS - 1)
        place = places[digit]
        places[digit] = place + 1
        sorted_keys[place] = keys[i]
        sorted_ids[place] = ids[i]


@door("void(int32[::1], uint8[::1], int32[::1], int64[::1], int32[::1], int64[::1], int32[::1])", group="trie")
def sort_by_keys(offsets, data, ids, keys, other_ids, other_keys, places):
    """Sort `ids` int32[n] by the first bytes of their tokens, equal ones as they were; `keys` int64[n] is written.

    A key is the first KEY_BYTES bytes, big-endian, padded with zeros. Scratch: `other_ids` int32[n], `other_keys`
    int64[n], `places` int32[N_DIGITS].
    """
    for i in range(ids.shape[0]):
        start = offsets[ids[i]]
        length = offsets[ids[i] + 1] - start
        key = 0
        for j in range(KEY_BYTES):
            key <<= 8
            if j < length:
                key |= data[start + j]
        keys[i] = key
    for shift in range(0, 8 * KEY_BYTES, DIGIT_BITS):
        if shift % (2 * DIGIT_BITS) == 0:
            sort_by_digit(keys, ids, other_keys, other_ids, places, shift)
        else:
            sort_by_digit(other_keys, other_ids, keys, ids, places, shift)


@door("int64(int32[::1], uint8[::1], int64[::1], int32[::1], int32[::1])", group="trie")
def finish_order(offsets, data, keys, ids, shared):
    """Sort runs of equal keys and measure what neighbours share; returns the number of nodes, the root included.

    `keys` int64[n] and `ids` int32[n] are sorted by key. Afterwards `ids` is sorted by (bytes, id) and `shared[i]`
    int32 is the length of the common prefix of tokens i - 1 and i, or -1 when both have the same bytes. `shared`
    serves as scratch while sorting.
    """
    n_tokens = ids.shape[0]
    first = 0
    while first < n_tokens:  # runs of equal keys
        last = first + 1
        while last < n_tokens and keys[last] == keys[first]:
            last += 1
        if last - first > 1:
            sort_run(offsets, data, ids, shared, first, last)
        first = last
    n_nodes = 1
    for i in range(n_tokens):  # what each token shares with the one before
        start = offsets[ids[i]]
        length = offsets[ids[i] + 1] - start
        common = 0
        if i > 0:
            before = offsets[ids[i - 1]]
            before_length = offsets[ids[i - 1] + 1] - before
            limit = min(length, before_length)
            differs = keys[i] ^ keys[i - 1]
            if differs != 0:  # as in most cases, without a look at the bytes, which lie anywhere
                while common < limit and differs < 1 << 8 * (KEY_BYTES - 1 - common):
                    common += 1
            else:
                while common < limit and data[start + common] == data[before + common]:
                    common += 1
            if common == length and length == before_length:
                shared[i] = -1
                continue
        shared[i] = common
        n_nodes += length - common
    return n_nodes


@door(
    "void(int32[::1], uint8[::1], int32[::1], int32[::1], int32[::1], int64[::1], int32[::1], uint8[::1], int32[::1])",
    group="trie",
)
def write_nodes(offsets, data, ids, shared, parents, node, child_first, child_byte, child_node):
    """Fill `node`, `child_first`, `child_byte` and `child_node` of the trie.

    `ids` and `shared` come from `finish_order`; `parents` int32[n_nodes] is scratch. `child_first` must be zero.
    """
    n_nodes = node.shape[0]
    node[0] = 0
    parents[0] = 0
    top = 0  # deepest open node: the last byte of the token before
    n_written = 1
    for i in range(ids.shape[0]):
        common = shared[i]
        if common < 0:
            continue
        while depth_of(node[top]) > common:  # nodes that the token does not share are complete
            node[top] |= n_written << TRIE_END_SHIFT
            top = parents[top]
        start = offsets[ids[i]]
        for j in range(common, offsets[ids[i] + 1] - start):
            node[n_written] = data[start + j] | (j + 1) << TRIE_DEPTH_SHIFT
            parents[n_written] = top
            child_first[top + 1] += 1
            top = n_written
            n_written += 1
        node[top] |= (ids[i] + 1) << TRIE_TOKEN_SHIFT
    while top > 0:
        node[top] |= n_nodes << TRIE_END_SHIFT
        top = parents[top]
    node[0] |= n_nodes << TRIE_END_SHIFT
    for i in range(n_nodes):
        child_first[i + 1] += child_first[i]
    # children of one node appear in ascending order of their bytes, so writing them in node order sorts them
    for i in range(1, n_nodes):
        parent = parents[i]
        slot = child_first[parent]
        child_first[parent] += 1
        child_byte[slot] = node[i] & 0xFF
        child_node[slot] = i
    for i in range(n_nodes, 0, -1):  # every start was advanced to its end: shift them back
        child_first[i] = child_first[i - 1]
    child_first[0] = 0
