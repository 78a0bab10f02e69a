"""Tokens that stay inside the current lexeme, and the places of the trie where it ends.

The mask of a configuration is (A) tokens that stay inside a lexeme, a function of the lexer state alone and computed
here, and (B) tokens that cross a lexeme's end, see mask/boundary_walk.py, which start from the *exits* found here:

    exit (node, state):  state is finished at `node`: the lexeme ends with the node's byte, or
                         state may end at `node` and some child of it is dead: the lexeme ends before the child's byte

Two layouts of the trie serve two kinds of states. A wide state (a string body) keeps most bytes alive: depth-first
words are read one after the other, and a refused byte jumps over its subtree. A narrow state (a number) would jump
256 times over the whole trie, so it reads the children side by side instead. Both step through *hot rows*: the
transitions of a state expanded to 256 entries, so that a step is one load. Hot rows are a cache of the transition
table (1 KB a state there would be 49 MB for 400 schemas) and are dropped together when they are many.

A slice (slice_choice.py) stands for most tokens of a wide state; its walk visits a trie of the other tokens only.

In: a store's table and a lexer state. Out: mask, token count and exits in the state's record.
Cost: 1.5-2 ns a node in the wide walk.
"""

from __future__ import annotations

from ..lexer.dense_transitions import DENSE_BYTES, DenseEntry, check_walked, dense_row, dense_state, expand, is_wide
from ..lexer.states import DEAD
from ..machine.jit import inline, kernel
from ..tables.memory import load_i32, load_i64, reserve, spend, store_i32, store_i64
from ..tables.store_layout import WORDS_MARGIN
from ..vocabulary.trie_words import byte_of, depth_of, subtree_end, token_of
from .excluded_texts import free_state, put_ends_right
from .exits import add_exit
from .literal_walk import NOT_LITERAL, literal_walk

NEAR_NODES = 2048  # a subtree of so many nodes is 16 KB: jumping within it is cheaper than reading lists of children


@inline
def has_bit(words, token):
    return (load_i32(words + (token >> 5) * 4) >> (token & 31)) & 1 != 0


@inline
def set_bit(words, token):
    at = words + (token >> 5) * 4
    store_i32(at, load_i32(at) | (1 << (token & 31)))


@inline
def room_for_words(store):
    """Address of the words of a walk, enlarged to those of the vocabulary; there is room for a pair behind them."""
    return reserve(store.words, store.n_words + (WORDS_MARGIN + 8) // 4).address + WORDS_MARGIN


@kernel
def wide_walk(store, trie, main, node, end, state):
    """Walk the depth-first words `trie[node + 1 : end]`, the subtree of `node`, which was reached in `state`.

    `main` maps the nodes of a slice's trie to those of the whole one (0: this is the whole one).
    A stack entry is node << 33 | asked for an exit << 32 | byte offset of the expanded row. Returns how many tokens.

    Half of the nodes end a token, in no order that a branch predictor could learn: the bit is set without asking, and
    NO_TOKEN sets one in the margin before the words. That alone took the walk from 3.6 to 1.9 ns a node
    (`python -m bench.walk`).
    """
    words = store.words.address + WORDS_MARGIN
    stack = store.walk_stack
    depth = depth_of(load_i64(trie + node * 8))
    own = dense_row(store, state) * DENSE_BYTES
    own_entry = own // DENSE_BYTES + DenseEntry.FIRST
    store_i64(stack.address + depth * 8, (node << 33) | own)
    rows = store.dense_rows
    visited = 0
    n_tokens = 0
    node += 1
    while node < end:
        visited += 1
        word = load_i64(trie + node * 8)
        at = stack.address + depth_of(word) * 8
        above = load_i64(at - 8)
        byte = byte_of(word)
        if above & 0xFFFFFFFF == own:
            # most nodes loop in the state the walk began in: no address here depends on what the node before stored
            entry = load_i32(rows.address + own + byte * 4)
            if entry == own_entry:
                store_i64(at, (node << 33) | own)
                set_bit(words, token_of(word))
                n_tokens += 1 if token_of(word) >= 0 else 0
                node += 1
                continue
        else:
            entry = load_i32(rows.address + (above & 0xFFFFFFFF) + byte * 4)
        if entry == DenseEntry.UNKNOWN:
            entry = expand(store, (above & 0xFFFFFFFF) // DENSE_BYTES, byte)
            if store.exceeded != 0:
                return n_tokens
            rows = store.dense_rows
        if entry >= DenseEntry.FIRST:
            store_i64(at, (node << 33) | ((entry - DenseEntry.FIRST) * DENSE_BYTES))
            set_bit(words, token_of(word))
            n_tokens += 1 if token_of(word) >= 0 else 0
            node += 1
            continue
        if entry < 0:
            add_exit(store, node if main == 0 else load_i32(main + node * 4), -entry)
        elif above & (1 << 32) == 0:
            store_i64(at - 8, above | (1 << 32))  # a node is asked once
            parent_state = dense_state(store, (above & 0xFFFFFFFF) // DENSE_BYTES)
            if store.states[parent_state].accepts != 0:
                parent = above >> 33
                add_exit(store, parent if main == 0 else load_i32(main + parent * 4), parent_state)
        node = subtree_end(word)
    spend(store, visited >> 3)
    store.walked += visited
    check_walked(store)
    return n_tokens


@inline
def _subtree_walk(store, trie, node, end, state):
    """As `wide_walk` of the whole trie; of declared keys and others, that of others, whose exits are put right."""
    n_tokens = literal_walk(store, node, state)
    if n_tokens != NOT_LITERAL:
        return n_tokens
    first_exit = store.n_exits
    other, texts = free_state(store, state)
    if other != DEAD:
        n_tokens = wide_walk(store, trie, 0, node, end, other)
        put_ends_right(store, state, first_exit, store.n_exits, node, texts, True)
        return n_tokens
    return wide_walk(store, trie, 0, node, end, state)


@inline
def write_frame(store, depth, node, dense):
    """Put a node on the stack of a walk."""
    first = store.child_first
    frame = store.narrow_frames[depth]
    frame.node = node
    frame.child = first[node]
    frame.end = first[node + 1]
    frame.dense = dense
    frame.was_dead = 0


@kernel
def narrow_walk(store, root, root_state):
    """Walk the children of `root`, reached in `root_state`, list by list; small subtrees, which lie close together,
    and those of wide states go to `wide_walk`.

    Returns the number of tokens.
    """
    n_tokens = literal_walk(store, root, root_state)
    if n_tokens != NOT_LITERAL:
        return n_tokens
    words = store.words.address + WORDS_MARGIN
    trie = store.trie
    child_first = store.child_first
    child_byte = store.child_byte
    child_node = store.child_node
    frames = store.narrow_frames
    n_tokens = 0
    depth = 0
    write_frame(store, 0, root, dense_row(store, root_state))
    rows = store.dense_rows
    while depth >= 0 and store.exceeded == 0:
        frame = frames[depth]
        child = first = frame.child
        end = frame.end
        dense = frame.dense
        entry = DenseEntry.DEAD
        while child < end:
            at = dense * DENSE_BYTES + child_byte[child] * 4
            entry = load_i32(rows.address + at)
            if entry == DenseEntry.UNKNOWN:
                entry = expand(store, dense, child_byte[child])
                rows = store.dense_rows
            child += 1
            if entry != DenseEntry.DEAD:
                break
        spend(store, 1 + ((child - first) >> 3))
        store.walked += child - first
        if child - first > (0 if entry == DenseEntry.DEAD else 1):
            frame.was_dead = 1
        if entry == DenseEntry.DEAD:  # all children are done
            if frame.was_dead != 0 and store.states[dense_state(store, dense)].accepts != 0:
                add_exit(store, frame.node, dense_state(store, dense))
            depth -= 1
            continue
        frame.child = child
        node = child_node[child - 1]
        if entry < 0:
            add_exit(store, node, -entry)
            continue
        word = trie[node]
        if token_of(word) >= 0:
            set_bit(words, token_of(word))
            n_tokens += 1
        if child_first[node] == child_first[node + 1]:
            continue
        end_node = subtree_end(word)
        state = dense_state(store, entry - DenseEntry.FIRST)
        if end_node - node <= NEAR_NODES or is_wide(store, state):
            n_tokens += _subtree_walk(store, trie.address, node, end_node, state)
            rows = store.dense_rows
        else:
            depth += 1
            write_frame(store, depth, node, entry - DenseEntry.FIRST)
    check_walked(store)
    return n_tokens
