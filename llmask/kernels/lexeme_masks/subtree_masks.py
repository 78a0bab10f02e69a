"""Masks of parts, the subtrees of the trie: which tokens below a node stay inside the lexeme that is read there.

The mask of a lexer state (state_masks.py) is the mask of the part below the root. The mask of any part is a function of
a state and a node, computed once by a walk and shared by all grammars of a tokenizer (mask/crossing.py uses it). So is
what follows all exits of a lexeme, in the state in which the next one begins: after the ends of strings commas and
braces may come; a few dozen of some hundred children go on.

In: a lexer state and a node, or exits. Out: number of the part, its mask, token count and exits. Cost: the walk's.
"""

from ..lexer.dense_transitions import DenseEntry, dense_row, dense_state, dense_step, is_wide
from ..lexer.states import DEAD
from ..machine.jit import inline, kernel
from ..tables.interning import map_get, map_put
from ..tables.kinds import MaskKind
from ..tables.memory import fill_bytes, reserve, spend
from ..vocabulary.trie_words import subtree_end, token_of
from .exits import add_exit
from .kept_masks import allow_duplicates, keep_mask
from .trie_walk import mask_words, narrow_walk, room_for_words, set_bit, wide_walk

NODE_BITS = 32
AFTER_EXIT = 1 << 31  # the number of an exit in place of a node
EXIT_NODES = 32  # nodes that an exit counts for in the test whether what follows is large enough to be a part
MOST_LISTED = 1024  # tokens of a part that is a list; what follows exits is no part where it has more


@kernel
def part_mask(store, state, node):
    """Number of the part below a node that was reached in a lexer state; -1 where a limit is reached."""
    anonymous = store.states[state].anonymous
    key = (anonymous << NODE_BITS) | node
    known = map_get(store.part_ids, key)
    if known >= 0:
        return known
    first_exit = _begin(store)
    if is_wide(store, anonymous):
        end = subtree_end(store.trie[node])
        n_tokens = wide_walk(store, store.trie.address, 0, node, end, anonymous)
    else:
        n_tokens = narrow_walk(store, node, anonymous)
    return _keep(store, key, first_exit, n_tokens, 0)


@kernel
def part_after(store, state, first, n):
    """Number of the part of all that follows exits in a state in which the next lexeme begins, or -1.

    There is one where exits are many, the state is narrow, and it has a mask: it was reached before and will be again.
    The tokens that end at an exit are among its own.
    """
    anonymous = store.states[state].anonymous
    if n * EXIT_NODES < store.least_part or store.states[anonymous].mask_kind == MaskKind.NONE:
        return -1
    if store.states[anonymous].accepts != 0 or is_wide(store, anonymous):
        return -1
    key = (anonymous << NODE_BITS) | AFTER_EXIT | first
    part = map_get(store.part_ids, key)
    if part < 0:
        first_exit = _begin(store)
        n_tokens = 0
        for exit in range(first, first + n):
            if store.exits[exit].state != DEAD:
                n_tokens += _walk_after(store, exit, dense_row(store, anonymous))
        part = _keep(store, key, first_exit, n_tokens, n)
    return part if part >= 0 and store.part_masks[part].n_following == n else -1


@inline
def _walk_after(store, exit, dense):
    """Allow the tokens that end at an exit, or below it inside the next lexeme, whose first dense row is `dense`."""
    there = store.exits[exit].state
    words = mask_words(store)
    is_finished = store.states[there].finished != 0
    ending = dense if is_finished else dense_row(store, there)
    n_tokens = 0
    if is_finished and store.exits[exit].token >= 0:
        set_bit(words, store.exits[exit].token)
        n_tokens += 1
    first, end = store.exits[exit].child, store.exits[exit].end
    spend(store, 2 + ((end - first) >> 2))
    store.walked += end - first
    for child in range(first, end):
        byte = store.child_byte[child]
        if not is_finished and dense_step(store, ending, byte) != DenseEntry.DEAD:
            continue  # the lexeme goes on
        entry = dense_step(store, dense, byte)
        node = store.child_node[child]
        if entry < 0:
            add_exit(store, node, -entry)
        elif entry != DenseEntry.DEAD:
            token = token_of(store.trie[node])
            if token >= 0:
                set_bit(words, token)
                n_tokens += 1
            n_tokens += narrow_walk(store, node, dense_state(store, entry - DenseEntry.FIRST))
    return n_tokens


@inline
def _begin(store):
    """Clear the mask in progress; returns the number of the next exit."""
    reserve(store.exits, 1)
    fill_bytes(room_for_words(store), store.n_words * 4, 0)
    return store.n_exits


@inline
def _keep(store, key, first_exit, n_tokens, n_following):
    """Keep the mask in progress as that of a part; returns its number, or -1 where a limit is reached."""
    words = mask_words(store)
    if store.exceeded != 0:
        store.n_exits = first_exit
        return -1
    n_tokens += allow_duplicates(store, words)
    part = store.part_ids.count
    kept = reserve(store.part_masks, part + 1)[part]
    kind, mask = MaskKind.WORDS, 0
    if n_following != 0 and n_tokens > MOST_LISTED:
        store.n_exits = first_exit
        n_tokens = n_following = 0
    else:
        kind, mask = keep_mask(store, words, n_tokens, MOST_LISTED)
    kept.kind, kept.mask, kept.n_tokens = kind, mask, n_tokens
    kept.first_exit, kept.n_exits, kept.n_following = first_exit, store.n_exits - first_exit, n_following
    map_put(store.part_ids, key, part)
    return part
