"""Prefix trees of long lists of words, as nodes: what `regex/word_lists.py` asks for, see there.

The words are copied to `literals` once, so a piece of a word is a position there and its length. A branch is where
words part. The open branches are those on the path to the word at hand. They are on the scratch stack, the deepest on
top: its depth in bytes, and an entry for each word or deeper branch that goes on from it:

    LETTER   the next byte; WORD_ENDS at the end of a word, JOINED once another entry has it
    HASH     of PIECE, LENGTH: the bytes that follow
    NODE     what follows these

Entries that differ in their letters alone become one member of the branch's union: a set of bytes, and the rest.

After WORDS_A_PART the operation stops, and goes on when others have had their turn (kept.py).

In: words, ascending, all different. Out: a node. Cost: about 0.3 us a word.
"""

from ..machine.jit import inline, kernel
from ..tables.interning import mix
from ..tables.kept import NOT_DONE, bring_back, keep
from ..tables.memory import reserve
from .class_maps import add_to_set, push_set
from .constructors import literal_node, make_bytes, make_concat
from .nodes import Node, push
from .set_operations import make_union

BRANCH_ENTRY = 5
LETTER, HASH, PIECE, LENGTH, NODE = range(BRANCH_ENTRY)
WORD_ENDS, JOINED = -1, -2  # in position of a letter
DEPTH, N_ENTRIES, BRANCH_BEFORE = -3, -2, -1  # before a branch's entries
HEADER = 3
NO_BRANCH = 0
WORDS_A_PART = 2048
FIRST_LENGTH = 1  # of `data`: the number of words, the length of each, their bytes
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
        at = kept.word_at
        branch = kept.word_branch
        before = store.scratch[branch + DEPTH]  # as at the end of each round below
    literals = store.literals
    for i in range(first, n_words):
        if i == first + WORDS_A_PART:
            keep(store, kept, i)
            kept.word_at = at
            kept.word_branch = branch
            return NOT_DONE
        length = data[FIRST_LENGTH + i]
        is_last = i + 1 == n_words
        beyond = 0 if is_last else _n_common(literals, at, length, at + length, data[FIRST_LENGTH + i + 1])
        # the word is an entry of the branch where it parts from the word before or the next one
        branch = _open(store, branch, max(before, beyond))
        depth = store.scratch[branch + DEPTH]
        letter = literals[at + depth] if length > depth else WORD_ENDS
        _add_entry(store, branch, letter, at + depth + 1, max(length - depth - 1, 0), Node.EPSILON)
        # deeper branches than the next word's are done: each becomes an entry of the one above it
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
    """Copy the bytes of all words to `literals`; returns where they begin."""
    n_words = data[0]
    n_bytes = 0
    for i in range(n_words):
        n_bytes += data[FIRST_LENGTH + i]
    at = store.n_literals
    literals = reserve(store.literals, at + n_bytes)
    for i in range(n_bytes):
        literals[at + i] = (data[FIRST_LENGTH + n_words + (i >> 2)] >> (8 * (i & 3))) & 255
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
    """The deepest branch, which is at least `depth` deep: `branch`, or a new one after it."""
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
    """Take the deepest branch off the stack; its node."""
    n = store.scratch[branch + N_ENTRIES]
    first = store.scratch_top
    for i in range(n):
        letter = store.scratch[branch + i * BRANCH_ENTRY + LETTER]
        if letter == WORD_ENDS:
            push(store, Node.EPSILON)
        elif letter != JOINED:
            push(store, _member(store, branch, i, n))
    node = make_union(store, first)
    store.scratch_top = branch - HEADER
    return node


@kernel
def _member(store, branch, i, n):
    """Node of entry `i` and of the later ones that have the same rest; these are JOINED."""
    at = branch + i * BRANCH_ENTRY
    letter = store.scratch[at + LETTER]
    piece, length, rest = store.scratch[at + PIECE], store.scratch[at + LENGTH], store.scratch[at + NODE]
    letters = store.scratch_top
    is_alone = True
    for other in range(at + BRANCH_ENTRY, branch + n * BRANCH_ENTRY, BRANCH_ENTRY):
        if store.scratch[other + LETTER] >= 0 and _same_rest(store, at, other):
            if is_alone:
                push_set(store, 0)
                add_to_set(store, letters, letter)
                is_alone = False
            add_to_set(store, letters, store.scratch[other + LETTER])
            store.scratch[other + LETTER] = JOINED
    if is_alone:  # the letter is before the piece
        return make_concat(store, literal_node(store, piece - 1, length + 1), rest)
    return make_concat(store, make_bytes(store, letters), make_concat(store, literal_node(store, piece, length), rest))


@inline
def _same_rest(store, one, two):
    if store.scratch[one + HASH] != store.scratch[two + HASH] or store.scratch[one + NODE] != store.scratch[two + NODE]:
        return False
    n = store.scratch[one + LENGTH]
    if n != store.scratch[two + LENGTH]:
        return False
    return _n_common(store.literals, store.scratch[one + PIECE], n, store.scratch[two + PIECE], n) == n
