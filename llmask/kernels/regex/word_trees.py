"""Long lists of words as a prefix tree of small nodes: what `regex/word_lists.py` asks for, see there.

The words are copied to `literals` once, one behind the other, so a piece of a word is a place there and its length. A
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

from ..machine.jit import inline, kernel
from ..tables.interning import mix
from ..tables.kept import NOT_DONE, bring_back, keep
from ..tables.memory import reserve
from .constructors import literal_node, make_bytes, make_concat
from .nodes import Node, push
from .set_operations import make_union

BRANCH_ENTRY = 5
LETTER, HASH, PIECE, LENGTH, NODE = range(BRANCH_ENTRY)
DEPTH, N_ENTRIES, BRANCH_BEFORE = -3, -2, -1  # in front of a branch's entries
HEADER = 3
NO_BRANCH = 0
WORDS_A_PART = 2048
MOST_NODES_A_WORD = 4  # an explicit list is no expression that explodes: it may take more nodes than one call


@kernel
def make_words(store, kept, data):
    """Node of a list of words, or NOT_DONE: the next call with the same words goes on.

    `data` begins with the number of words and the length of each; their bytes follow, four an item.
    """
    n_words = data[0]
    store.max_nodes += MOST_NODES_A_WORD * n_words
    if kept.n_kept == 0:
        first = 0
        at = _put_words(store, data)
        branch = NO_BRANCH
        before = 0
    else:
        bring_back(store, kept)
        first = kept.progress
        at = kept.word_place
        branch = kept.word_branch
        before = store.scratch[branch + DEPTH]  # as at the end of each round below
    literals = store.literals
    for i in range(first, n_words):
        if i == first + WORDS_A_PART:
            keep(store, kept, i)
            kept.word_place = at
            kept.word_branch = branch
            return NOT_DONE
        length = data[1 + i]
        beyond = _n_common(literals, at, length, at + length, data[2 + i]) if i + 1 < n_words else 0
        branch = _open(store, branch, max(before, beyond))
        depth = store.scratch[branch + DEPTH]
        letter = literals[at + depth] if length > depth else -1
        _add_entry(store, branch, letter, at + depth + 1, max(length - depth - 1, 0), Node.EPSILON)
        while store.scratch[branch + DEPTH] > beyond:
            depth = store.scratch[branch + DEPTH]
            above = store.scratch[branch + BRANCH_BEFORE]
            node = _close(store, branch)
            branch = _open(store, above, beyond)
            top = store.scratch[branch + DEPTH]
            _add_entry(store, branch, literals[at + top], at + top + 1, depth - top - 1, node)
        at += length
        before = beyond
    return _close(store, branch)


@kernel
def _put_words(store, data):
    """Copy the bytes of all words to `literals`; where they lie."""
    n_words = data[0]
    n_bytes = 0
    for i in range(n_words):
        n_bytes += data[1 + i]
    at = store.n_literals
    literals = reserve(store.literals, at + n_bytes)
    for i in range(n_bytes):
        literals[at + i] = (data[1 + n_words + (i >> 2)] >> (8 * (i & 3))) & 255
    store.n_literals = at + n_bytes
    return at


@inline
def _n_common(literals, one, one_length, two, two_length):
    """Bytes that two words begin with alike."""
    n = 0
    while n < one_length and n < two_length and literals[one + n] == literals[two + n]:
        n += 1
    return n


@inline
def _open(store, branch, depth):
    """The deepest branch, at least `depth` deep; a new one behind `branch` if that is not."""
    if branch != NO_BRANCH and store.scratch[branch + DEPTH] >= depth:
        return branch
    push(store, depth)
    push(store, 0)
    push(store, branch)
    return store.scratch_top


@inline
def _add_entry(store, branch, letter, piece, length, node):
    literals = store.literals
    hashed = mix(length, node)
    for i in range(piece, piece + length):
        hashed = mix(hashed, literals[i])
    push(store, letter)
    push(store, hashed & 0x7FFFFFFF)
    push(store, piece)
    push(store, length)
    push(store, node)
    entries = store.scratch
    entries[branch + N_ENTRIES] = entries[branch + N_ENTRIES] + 1


@kernel
def _close(store, branch):
    """Take the topmost branch off the stack; its node."""
    n = store.scratch[branch + N_ENTRIES]
    first = store.scratch_top
    for i in range(n):
        letter = store.scratch[branch + i * BRANCH_ENTRY + LETTER]
        if letter == -1:
            push(store, Node.EPSILON)
        elif letter >= 0:
            push(store, _member(store, branch, i, n))
    node = make_union(store, first)
    store.scratch_top = branch - HEADER
    return node


@kernel
def _member(store, branch, i, n):
    """Node of entry `i` and of those behind it that have the same rest; their letters become -2."""
    at = branch + i * BRANCH_ENTRY
    letter = store.scratch[at + LETTER]
    piece, length, rest = store.scratch[at + PIECE], store.scratch[at + LENGTH], store.scratch[at + NODE]
    letters = store.scratch_top
    n_letters = 1
    for other in range(at + BRANCH_ENTRY, branch + n * BRANCH_ENTRY, BRANCH_ENTRY):
        if store.scratch[other + LETTER] >= 0 and _same_rest(store, at, other):
            if n_letters == 1:
                for _ in range(8):
                    push(store, 0)
                _set_bit(store, letters, letter)
            _set_bit(store, letters, store.scratch[other + LETTER])
            store.scratch[other + LETTER] = -2
            n_letters += 1
    if n_letters == 1:  # the letter stands before the piece
        return make_concat(store, literal_node(store, piece - 1, length + 1), rest)
    return make_concat(store, make_bytes(store, letters), make_concat(store, literal_node(store, piece, length), rest))


@inline
def _same_rest(store, one, two):
    if store.scratch[one + HASH] != store.scratch[two + HASH] or store.scratch[one + NODE] != store.scratch[two + NODE]:
        return False
    n = store.scratch[one + LENGTH]
    if n != store.scratch[two + LENGTH]:
        return False
    literals = store.literals
    first, second = store.scratch[one + PIECE], store.scratch[two + PIECE]
    for i in range(n):
        if literals[first + i] != literals[second + i]:
            return False
    return True


@inline
def _set_bit(store, words, bit):
    address = store.scratch
    address[words + (bit >> 5)] = address[words + (bit >> 5)] | (1 << (bit & 31))
