"""Compatible tokens: which tokens may be neighbours in a byte-pair encoding, by the merges that made them.

In byte-pair encoding (R. Sennrich, B. Haddow, A. Birch, "Neural machine translation of rare words with subword units",
2016) a token has one history: the merges that make it from its bytes alone. A sequence of tokens is an encoding if and
only if every two neighbours are the encoding of their bytes (H. van Antwerpen, A. Neubeck, "So many tokens, so little
time", 2024, and the crate `bpe`). So two neighbours are *compatible* when no merge, at any moment of their histories,
would have crossed the border between them. `are_compatible` undoes both histories, the later merge first, and looks
whether the two symbols at the border would have merged before:

    limit = infinity
    while left + right is no pair of a rank below limit:
        if both are single bytes: yes
        undo the later merge: left becomes its right half, or right its left half; limit = when that merge was made

Where a token is always made after its parts, "later" and "when" are ranks. Llama 3 has 9 tokens that are not: ".:.:"
(rank 236,223) is made of "." and ":.:" (rank 255,076). A merge of low rank that becomes possible late is made at once,
before any other; so with

    time(token) = max(rank, time(left half), time(right half))      single bytes: BYTE_TIME

merges are made by ascending time, on the left first among equals. A pair at the border has lost when everything that
was merged while it was there had a lower rank (the same on the left also wins, the same on the right loses). If the
half at the border was made last, only the merge itself came after it: the limit is its rank. If the other half was made
last, that came in between: the limit is its time.

    token on the left, (l, r):    left_limit  = time(token) if time(l) > time(r) else rank
    token on the right, (l, r):   right_limit = (time(token) if time(r) >= time(l) else rank) + 1

The table of pairs has one entry a token: of all ways to cut a token only that of its history can ever be adjacent. It
is found by going through the merges by the length of what they make: the cut that is itself compatible. Most pairs that
are asked for do not merge, which a filter of 128 KB says for 128,000 tokens (B. Bloom, "Space/time trade-offs in hash
coding with allowable errors", 1970, with one hash), so that the table of 2 MB is not read.

In: an encoder's table. Out: yes or no. Cost: 5 ns for a pair of bytes, at most some 20 look-ups.
"""

from ..machine.jit import door, inline
from ..machine.raw import shift_right, wrapped_product
from ..machine.records import Record
from ..tables.memory import as_table, load_i64, load_u8, store_i64, store_u8
from ..vocabulary.trie_words import depth_of, token_of
from .bpe_words import MIX
from .double_array import NOTHING
from .encoder_slots import EncoderSlot

MADE = Record(
    "what a token is made of, in MADE_OF",
    left="token; of single bytes -1",
    right="",
    rank="of the merge that makes it",
    prefix="the longest other token that it begins with, or NOTHING: for backtracking",
    time="see above",
    left_limit="of what merged before, where the token is on the left of a border",
    right_limit="",
    length="in bytes",
)
TOKEN_BITS = 21
TOKEN_MASK = (1 << TOKEN_BITS) - 1
NO_PAIR = -1
FILTER_BITS = 2  # more than the table of pairs has: its filter has a bit for each quarter of an entry
NO_LIMIT = 0x7FFFFFFF
BYTE_TIME = -1
UNREACHED = -2  # time of tokens that merging never makes


@inline
def first_bit(table, left, right):
    """The bit of the filter that a pair has; the first bits of it number the entry where the pair is looked for."""
    key = left << TOKEN_BITS | right
    return shift_right(wrapped_product(key, MIX), 64 - FILTER_BITS - table[EncoderSlot.PAIR_BITS])


@inline
def find_pair(table, left, right):
    """Token that two neighbours merge to, or NO_PAIR."""
    bit = first_bit(table, left, right)
    if load_u8(table[EncoderSlot.PAIR_FILTER] + (bit >> 3)) >> (bit & 7) & 1 == 0:
        return NO_PAIR
    pairs, mask = table[EncoderSlot.PAIRS], (1 << table[EncoderSlot.PAIR_BITS]) - 1
    number = bit >> FILTER_BITS
    while True:
        entry = load_i64(pairs + number * 8)
        if entry == 0:
            return NO_PAIR
        if entry >> TOKEN_BITS == left << TOKEN_BITS | right:
            return entry & TOKEN_MASK
        number = number + 1 & mask


@inline
def enter_pair(table, left, right, made):
    """Enter a pair that is not in the table yet."""
    bit = first_bit(table, left, right)
    filtered = table[EncoderSlot.PAIR_FILTER] + (bit >> 3)
    store_u8(filtered, load_u8(filtered) | 1 << (bit & 7))
    pairs, mask = table[EncoderSlot.PAIRS], (1 << table[EncoderSlot.PAIR_BITS]) - 1
    number = bit >> FILTER_BITS
    while load_i64(pairs + number * 8) != 0:
        number = number + 1 & mask
    store_i64(pairs + number * 8, (left << TOKEN_BITS | right) << TOKEN_BITS | made)


@inline
def are_compatible(table, left, right):
    """Whether merging the bytes of two tokens gives these two tokens; both must be reachable."""
    made_of = MADE.at(table[EncoderSlot.MADE_OF])
    limit = NO_LIMIT
    while True:
        made = find_pair(table, left, right)
        if made != NO_PAIR and made_of[made].rank < limit:
            return False
        right_time = made_of[right].time
        if made_of[left].time > right_time:
            limit, left = made_of[left].left_limit, made_of[left].right
        elif right_time == BYTE_TIME:
            return True
        else:
            limit, right = made_of[right].right_limit, made_of[right].left


@door("void(int64, int32[:, ::1], int32[::1], int64[::1])", group="tokenizer")
def trace_histories(address, splits, ranks, order):
    """Find out what every token is made of.

    `splits` int32[n, 3] are (left, right, made) with `ranks` int32[n]; `order` int64[n] goes through them by the length
    of `made`, and among equals by rank. Of MADE_OF, `length` must be set, and `time`: UNREACHED or BYTE_TIME.
    """
    table = as_table(address)
    made_of = MADE.at(table[EncoderSlot.MADE_OF])
    for i in order:
        left, right, made = splits[i, 0], splits[i, 1], splits[i, 2]
        left_time, right_time, token = made_of[left].time, made_of[right].time, made_of[made]
        if token.time != UNREACHED or left_time == UNREACHED or right_time == UNREACHED:
            continue
        if are_compatible(table, left, right):
            time = max(ranks[i], left_time, right_time)
            token.left, token.right, token.rank, token.time = left, right, ranks[i], time
            token.left_limit = time if left_time > right_time else ranks[i]
            token.right_limit = (time if right_time >= left_time else ranks[i]) + 1
            enter_pair(table, left, right, made)


@door("void(int64[::1], int64, int32[::1])", group="tokenizer")
def link_prefixes(node, made_of, longest):
    """Write `prefix` of every token of a trie, whose words are `node`; `longest` int32: a place a depth."""
    longest[0] = NOTHING
    for number in range(1, node.shape[0]):
        depth, token = depth_of(node[number]), token_of(node[number])
        longest[depth] = longest[depth - 1]
        if token >= 0:
            MADE.at(made_of)[token].prefix = longest[depth - 1]
            longest[depth] = token
