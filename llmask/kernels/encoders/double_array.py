"""A double array (J. Aoe, "An efficient digital search algorithm by using a double-array structure", 1989) of tokens.

The depth-first trie of `llmask/trie` is made for walking over all tokens; here one path is followed, with one look-up
of eight bytes for every byte of the text. The children of a node lie at `base + byte`; no two nodes share a base, so
the byte stored in an entry says whether it is a child of the node that asks.

    bits 0-8     byte + 1 on the edge into the entry, 0 = free
    bits 9-30    token + 1 that ends here, 0 = none
    bits 31-62   base of its children, 0 = none: the walk ends, as entry `byte` has the label of another byte

Scores and the like are looked up by the token. A layout with XOR in place of the sum, as in darts-clone, and with the
token and its score in a second array took as long to walk and twice the memory.

Which of many names occur in a text, as hundreds of added tokens, is told by a walk from each of its bytes, which nearly
always ends at the first or second one: searching for one name after the other reads the text as often.

In: `TokenTrie` arrays. Out: int64 entries; the root's base is ROOT_BASE. Cost: 274,000 nodes in 15 ms, 2.5 MB.
"""

from ..machine.jit import door, inline
from ..tables.memory import load_i64, load_u8
from ..vocabulary.trie_words import token_of

LABEL_MASK = 0x1FF
ENDING_SHIFT = 9
ENDING_MASK = 0x3FFFFF
BASE_SHIFT = 31
ROOT_BASE = 1
ROOT = ROOT_BASE << BASE_SHIFT  # an entry like any other
FREE = 0
N_BYTES = 256
MAX_TRIES = 24  # places that are tried for the children of a node before they are put after all others
NOTHING = -1


@inline
def is_child(entry, byte):
    """Whether an entry is that of a child over a byte."""
    return entry & LABEL_MASK == byte + 1


@inline
def ending_of(entry):
    """The token that ends at an entry, or NOTHING."""
    return ((entry >> ENDING_SHIFT) & ENDING_MASK) - 1


@inline
def base_of(entry):
    """Where the children of an entry lie, 0: it has none."""
    return entry >> BASE_SHIFT


@inline
def find_base(child_byte, first, last, entries, next_free, is_base, head):
    """Base for some children, 0 after MAX_TRIES places from the free entry `head` on, or NOTHING at the end of all."""
    n_entries = entries.shape[0]
    slot = head
    lowest = child_byte[first]
    for _ in range(MAX_TRIES):
        base = slot - lowest
        if base + N_BYTES >= n_entries:
            return NOTHING
        if base > ROOT_BASE and not is_base[base]:
            child = first + 1
            while child < last and entries[base + child_byte[child]] == 0:
                child += 1
            if child == last:
                return base
        following = next_free[slot]
        while following < n_entries and entries[following] != 0:
            following = next_free[following]
        next_free[slot] = following  # entries that are taken are jumped over from now on
        if following >= n_entries:
            return NOTHING
        slot = following
    return 0


@door(
    "int64(int64[::1], int32[::1], uint8[::1], int32[::1], int64[::1], int32[::1], boolean[::1], int32[::1])",
    group="double_array",
)
def build_double_array(node, child_first, child_byte, child_node, entries, next_free, is_base, slots):
    """Fill `entries` from a `TokenTrie`; returns how many of them are in use, or NOTHING: there are too few.

    `entries` int64[n] zeros, `is_base` bool[n] False; `next_free` int32[n] and `slots` int32[n_nodes] are scratch.
    """
    n_entries = entries.shape[0]
    for i in range(n_entries):
        next_free[i] = i + 1
    head = ROOT_BASE  # free entries in a list; entries taken meanwhile are left out when they are met
    end = ROOT_BASE + N_BYTES
    for number in range(node.shape[0]):
        first, last = child_first[number], child_first[number + 1]
        if first == last:
            continue
        if number == 0:
            base = ROOT_BASE
        else:
            while entries[head] != 0:
                head = next_free[head]
            base = find_base(child_byte, first, last, entries, next_free, is_base, head)
            if base == 0:  # no place was found in time
                base = end
                head = next_free[head]
            if base == NOTHING:
                return NOTHING
            entries[slots[number]] |= base << BASE_SHIFT
        if base + N_BYTES >= n_entries:
            return NOTHING
        is_base[base] = True  # the children are entered
        end = max(end, base + N_BYTES)
        for i in range(first, last):
            child = child_node[i]
            slot = base + child_byte[i]
            slots[child] = slot
            ending = token_of(node[child]) + 1
            entries[slot] = (child_byte[i] + 1) | ending << ENDING_SHIFT
    return end + N_BYTES


@inline
def step(entries, entry, byte):
    """The child of an entry by a byte, or FREE; `entries` is an address."""
    child = load_i64(entries + (base_of(entry) + byte) * 8)
    return child if is_child(child, byte) else FREE


@inline
def longest_token(entries, text, position, end):
    """Longest token that the text goes on with at `position`, or NOTHING, and where it ends."""
    base = ROOT_BASE
    found, reached = NOTHING, position
    while position < end:
        byte = load_u8(text + position)
        entry = load_i64(entries + (base + byte) * 8)
        if not is_child(entry, byte):
            break
        position += 1
        ending = ending_of(entry)
        if ending != NOTHING:
            found, reached = ending, position
        base = base_of(entry)
        if base == 0:
            break
    return found, reached


@door("int64(int64, int64, int64)", group="names")
def first_name(entries, text, n_bytes):
    """The first place of the text where a name begins; `n_bytes`: nowhere."""
    for start in range(n_bytes):
        if longest_token(entries, text, start, n_bytes)[0] != NOTHING:
            return start
    return n_bytes


@door("void(int64, int64, int64, int64, uint8[::1])", group="names")
def mark_names(entries, text, start, n_bytes, found):
    """Set `found` uint8, one a name, for the names that occur from `start` on."""
    for first in range(start, n_bytes):
        entry = ROOT
        for place in range(first, n_bytes):
            entry = step(entries, entry, load_u8(text + place))
            if entry == FREE:
                break
            if ending_of(entry) != NOTHING:
                found[ending_of(entry)] = 1
