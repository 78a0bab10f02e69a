"""Making a slice: which tokens it has, their mask, and the trie of all others (see trie_walk.py for the use).

In: the node of one code point. Out: of how many code points each token consists, if of nothing else; for the mask of a
slice the trie of the rest: the nodes of the whole trie that lead to another token, in the same order.
Cost: two walks of the trie, 1 ms each for 128,000 tokens.
"""

from ..machine.constants import TRIE_BYTE_MASK, TRIE_DEPTH_MASK, TRIE_DEPTH_SHIFT, TRIE_END_SHIFT, TRIE_TOKEN_SHIFT
from ..machine.jit import kernel
from ..regex.constructors import make_repeat
from ..regex.derivatives import derivative
from ..regex.nodes import UNBOUNDED, Node
from ..tables.memory import load_i32, load_i64, reserve, store_i32, store_i64
from ..vocabulary.trie_words import byte_of, depth_of, subtree_end, token_of

N_DEPTHS = TRIE_DEPTH_MASK + 2
_BYTE_AND_DEPTH = TRIE_BYTE_MASK | TRIE_DEPTH_MASK << TRIE_DEPTH_SHIFT


@kernel
def count_characters(store, char, counts):
    """Write into `counts[token]` how many strings of `char` a token is, for every token that is one or more.

    The strings are a prefix code: after each of them, and there alone, any number may follow.
    """
    trie = store.trie
    rests = store.scratch_top  # of each depth the derivative by the bytes on the way there
    counted = rests + N_DEPTHS  # of each depth the characters that ended on the way there
    begun = counted + N_DEPTHS  # of each byte the derivative between two characters, where most bytes are
    store.scratch_top = begun + 256
    reserve(store.scratch, store.scratch_top)
    between = make_repeat(store, char, 0, UNBOUNDED)
    for byte in range(256):
        rest = derivative(store, between, byte)
        store.scratch[begun + byte] = rest
    scratch = store.scratch
    scratch[rests] = between
    scratch[counted] = 0
    node = 1
    while node < store.n_trie:
        word = trie[node]
        depth = depth_of(word)
        above, byte = scratch[rests + depth - 1], byte_of(word)
        if above == between:
            rest = scratch[begun + byte]
        else:
            rest = derivative(store, above, byte)
            scratch = store.scratch  # it may have moved
        if rest == Node.EMPTY:
            node = subtree_end(word)
            continue
        scratch[rests + depth] = rest
        count = scratch[counted + depth - 1] + store.nodes[rest].nullable
        scratch[counted + depth] = count
        token = token_of(word)
        if token >= 0 and store.nodes[rest].nullable:
            counts[token] = count
            if store.n_duplicates != 0:
                other = store.duplicates[token]
                while other != 0:
                    counts[other] = count
                    other = store.duplicates[other]
        node += 1
    store.scratch_top = rests


@kernel
def write_rest(store, mask, rest, main, source, source_main, n_source):
    """Write the trie of the tokens that are not in `mask`; returns how many nodes it has, at most `n_source`.

    `mask` is int32[n_words], `rest` the address of int64[n], its words, `main` that of int32[n], for each node the
    whole trie's. `source` and `source_main` are such arrays of `n_source` nodes, of a trie that has all these tokens.
    """
    path = store.scratch_top  # of each depth the node of the source
    written = path + N_DEPTHS  # and where it is in `rest`
    scratch = reserve(store.scratch, written + N_DEPTHS)
    store_i64(rest, 0)
    store_i32(main, 0)
    scratch[written] = 0
    n = 1
    n_open = 1  # nodes that were written and not ended yet, the root among them
    n_common = 1  # of these how many lead to the node at hand
    for node in range(1, n_source):
        word = load_i64(source + node * 8)
        depth = depth_of(word)
        scratch[path + depth] = node
        n_common = min(n_common, depth)
        token = token_of(word)
        if token < 0 or (mask[token >> 5] >> (token & 31)) & 1 != 0:
            continue
        _end_nodes(scratch, written, n_common, n_open, rest, n)
        for i in range(n_common, depth + 1):
            above = scratch[path + i]
            word = load_i64(source + above * 8)
            store_i64(rest + n * 8, word & _BYTE_AND_DEPTH)
            store_i32(main + n * 4, load_i32(source_main + above * 4))
            scratch[written + i] = n
            n += 1
        last = rest + (n - 1) * 8
        store_i64(last, load_i64(last) | (token + 1) << TRIE_TOKEN_SHIFT)
        n_open = n_common = depth + 1
    _end_nodes(scratch, written, 0, n_open, rest, n)
    return n


@kernel
def _end_nodes(scratch, written, first, last, rest, end):
    """Let the subtrees of open nodes from depth `first` to before `last` end at a node."""
    for i in range(first, last):
        node = rest + scratch[written + i] * 8
        store_i64(node, load_i64(node) | end << TRIE_END_SHIFT)
