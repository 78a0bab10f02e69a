"""Long lists of words as a prefix tree of small nodes: what `regex/word_lists.py` asks for, see there.

The words are copied to LITERALS once, one behind the other, so a piece of a word is a place there and its length. A
branch is a place where words part. Open branches lie on the path to the word at hand, on the scratch stack, the deepest
on top: its depth in bytes, and an entry for each word or deeper branch that goes on from it:

    LETTER   the byte behind the branch, -1 where a word ends there
    HASH     of PIECE, LENGTH: the bytes that follow
    NODE     what follows those

Entries that differ in their letters alone become one member of the branch's union: a set of bytes, and the rest.

After WORDS_A_PART the operation stops, and goes on when others have had their turn (kept.py).

In: words, ascending, all different. Out: a node. Cost: about 0.3 us a word.
"""

from __future__ import annotations

from ..machine.jit import kernel, never_inline
from ..tables.interning import mix
from ..tables.kept import KEPT_NUMBERS, N_KEPT, NOT_DONE, PROGRESS, bring_back, keep
from ..tables.memory import block, ensure, get_i32, get_u8, put_i32, put_u8
from ..tables.store_layout import LITERALS, MAX_NODES, N_LITERALS, SCRATCH, SCRATCH_TOP
from .constructors import literal_node, make_bytes, make_concat
from .nodes import EPSILON, push, scratch
from .set_operations import make_union

ENTRY = 5
LETTER, HASH, PIECE, LENGTH, NODE = range(ENTRY)
DEPTH, N_ENTRIES, BRANCH_BEFORE = -3, -2, -1  # in front of a branch's entries
HEADER = 3
NO_BRANCH = 0
WORDS_A_PART = 2048
KEPT_PLACE = KEPT_NUMBERS  # in LITERALS, of the next word
KEPT_BRANCH = KEPT_NUMBERS + 1
MOST_NODES_A_WORD = 4  # an explicit list is no expression that explodes: it may take more nodes than one call


@kernel
def make_words(store, kept, data):
    """Node of a list of words, or NOT_DONE: the next call with the same words goes on.

    `data` begins with the number of words and the length of each; their bytes follow, four an item.
    """
    never_inline()
    n_words = data[0]
    store[MAX_NODES] += MOST_NODES_A_WORD * n_words
    if kept[N_KEPT] == 0:
        first = 0
        at = _put_words(store, data)
        branch = NO_BRANCH
        before = 0
    else:
        bring_back(store, kept)
        first = kept[PROGRESS]
        at = kept[KEPT_PLACE]
        branch = kept[KEPT_BRANCH]
        before = scratch(store, branch + DEPTH)  # as at the end of each round below
    literals = block(store, LITERALS)
    for i in range(first, n_words):
        if i == first + WORDS_A_PART:
            keep(store, kept, i)
            kept[KEPT_PLACE] = at
            kept[KEPT_BRANCH] = branch
            return NOT_DONE
        length = data[1 + i]
        beyond = _n_common(literals, at, length, at + length, data[2 + i]) if i + 1 < n_words else 0
        branch = _open(store, branch, max(before, beyond))
        depth = scratch(store, branch + DEPTH)
        letter = get_u8(literals, at + depth) if length > depth else -1
        _add_entry(store, branch, letter, at + depth + 1, max(length - depth - 1, 0), EPSILON)
        while scratch(store, branch + DEPTH) > beyond:
            depth = scratch(store, branch + DEPTH)
            above = scratch(store, branch + BRANCH_BEFORE)
            node = _close(store, branch)
            branch = _open(store, above, beyond)
            top = scratch(store, branch + DEPTH)
            _add_entry(store, branch, get_u8(literals, at + top), at + top + 1, depth - top - 1, node)
        at += length
        before = beyond
    return _close(store, branch)


@kernel
def _put_words(store, data):
    """Copy the bytes of all words to LITERALS; where they lie."""
    never_inline()
    n_words = data[0]
    n_bytes = 0
    for i in range(n_words):
        n_bytes += data[1 + i]
    at = store[N_LITERALS]
    literals = ensure(store, LITERALS, at + n_bytes)
    for i in range(n_bytes):
        put_u8(literals, at + i, (data[1 + n_words + (i >> 2)] >> (8 * (i & 3))) & 255)
    store[N_LITERALS] = at + n_bytes
    return at


@kernel
def _n_common(literals, one, one_length, two, two_length):
    """Bytes that two words begin with alike."""
    n = 0
    while n < one_length and n < two_length and get_u8(literals, one + n) == get_u8(literals, two + n):
        n += 1
    return n


@kernel
def _open(store, branch, depth):
    """The deepest branch, at least `depth` deep; a new one behind `branch` if that is not."""
    if branch != NO_BRANCH and scratch(store, branch + DEPTH) >= depth:
        return branch
    push(store, depth)
    push(store, 0)
    push(store, branch)
    return store[SCRATCH_TOP]


@kernel
def _add_entry(store, branch, letter, piece, length, node):
    literals = block(store, LITERALS)
    hashed = mix(length, node)
    for i in range(piece, piece + length):
        hashed = mix(hashed, get_u8(literals, i))
    push(store, letter)
    push(store, hashed & 0x7FFFFFFF)
    push(store, piece)
    push(store, length)
    push(store, node)
    entries = block(store, SCRATCH)
    put_i32(entries, branch + N_ENTRIES, get_i32(entries, branch + N_ENTRIES) + 1)


@kernel
def _close(store, branch):
    """Take the topmost branch off the stack; its node."""
    never_inline()
    n = scratch(store, branch + N_ENTRIES)
    first = store[SCRATCH_TOP]
    for i in range(n):
        letter = scratch(store, branch + i * ENTRY + LETTER)
        if letter == -1:
            push(store, EPSILON)
        elif letter >= 0:
            push(store, _member(store, branch, i, n))
    node = make_union(store, first)
    store[SCRATCH_TOP] = branch - HEADER
    return node


@kernel
def _member(store, branch, i, n):
    """Node of entry `i` and of those behind it that have the same rest; their letters become -2."""
    never_inline()
    at = branch + i * ENTRY
    letter = scratch(store, at + LETTER)
    piece, length, rest = scratch(store, at + PIECE), scratch(store, at + LENGTH), scratch(store, at + NODE)
    letters = store[SCRATCH_TOP]
    n_letters = 1
    for other in range(at + ENTRY, branch + n * ENTRY, ENTRY):
        if scratch(store, other + LETTER) >= 0 and _same_rest(store, at, other):
            if n_letters == 1:
                for _ in range(8):
                    push(store, 0)
                _set_bit(store, letters, letter)
            _set_bit(store, letters, scratch(store, other + LETTER))
            put_i32(block(store, SCRATCH), other + LETTER, -2)
            n_letters += 1
    if n_letters == 1:  # the letter stands before the piece
        return make_concat(store, literal_node(store, piece - 1, length + 1), rest)
    return make_concat(store, make_bytes(store, letters), make_concat(store, literal_node(store, piece, length), rest))


@kernel
def _same_rest(store, one, two):
    if scratch(store, one + HASH) != scratch(store, two + HASH) or scratch(store, one + NODE) != scratch(
        store, two + NODE
    ):
        return False
    n = scratch(store, one + LENGTH)
    if n != scratch(store, two + LENGTH):
        return False
    literals = block(store, LITERALS)
    first, second = scratch(store, one + PIECE), scratch(store, two + PIECE)
    for i in range(n):
        if get_u8(literals, first + i) != get_u8(literals, second + i):
            return False
    return True


@kernel
def _set_bit(store, words, bit):
    address = block(store, SCRATCH)
    put_i32(address, words + (bit >> 5), get_i32(address, words + (bit >> 5)) | (1 << (bit & 31)))
