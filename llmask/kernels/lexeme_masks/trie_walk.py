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

from ..lexer.dense_transitions import HOT_BYTES, HOT_DEAD, HOT_FIRST, HOT_UNKNOWN, expand, hot_row, hot_state, is_wide
from ..lexer.states import DEAD, S_ACCEPTS, state_field
from ..machine.constants import (
    TRIE_BYTE_MASK,
    TRIE_DEPTH_MASK,
    TRIE_DEPTH_SHIFT,
    TRIE_END_MASK,
    TRIE_END_SHIFT,
    TRIE_TOKEN_SHIFT,
)
from ..machine.jit import kernel, never_inline
from ..tables.memory import (
    EXCEEDED,
    block,
    exceed,
    get_i32,
    get_i64,
    get_u8,
    load_i32,
    load_i64,
    spend,
    store_i32,
    store_i64,
)
from ..tables.store_layout import (
    CHILD_BYTE,
    CHILD_FIRST,
    CHILD_NODE,
    HOT_ROWS,
    LIMIT_WALKED,
    MAX_WALKED,
    N_EXITS,
    NARROW_FRAMES,
    TRIE,
    WALK_STACK,
    WALKED,
    WORDS,
    WORDS_MARGIN,
)
from .excluded_texts import free_state, put_ends_right
from .exits import add_exit
from .literal_walk import NOT_LITERAL, literal_walk

NEAR_NODES = 2048  # a subtree of so many nodes is 16 KB: jumping within it is cheaper than reading lists of children


@kernel
def has_bit(words, token):
    return (load_i32(words + (token >> 5) * 4) >> (token & 31)) & 1 != 0


@kernel
def set_bit(words, token):
    at = words + (token >> 5) * 4
    store_i32(at, load_i32(at) | (1 << (token & 31)))


@kernel
def wide_walk(store, trie, main, node, end, state):
    """Walk the depth-first words `trie[node + 1 : end]`, the subtree of `node`, which was reached in `state`.

    `main` maps the nodes of a slice's trie to those of the whole one (0: this is the whole one).
    A stack entry is node << 33 | asked for an exit << 32 | byte offset of the expanded row. Returns how many tokens.

    Half of the nodes end a token, in no order that a branch predictor could learn: the bit is set without asking, and
    NO_TOKEN sets one in the margin before the words. That alone took the walk from 3.6 to 1.9 ns a node
    (`python -m bench.walk`).
    """
    never_inline()
    words = block(store, WORDS) + WORDS_MARGIN
    stack = block(store, WALK_STACK)
    depth = (load_i64(trie + node * 8) >> TRIE_DEPTH_SHIFT) & TRIE_DEPTH_MASK
    own = hot_row(store, state) * HOT_BYTES
    own_entry = own // HOT_BYTES + HOT_FIRST
    store_i64(stack + depth * 8, (node << 33) | own)
    rows = block(store, HOT_ROWS)
    visited = 0
    n_tokens = 0
    node += 1
    while node < end:
        visited += 1
        word = load_i64(trie + node * 8)
        at = stack + ((word >> TRIE_DEPTH_SHIFT) & TRIE_DEPTH_MASK) * 8
        above = load_i64(at - 8)
        byte = word & TRIE_BYTE_MASK
        if above & 0xFFFFFFFF == own:
            # most nodes loop in the state the walk began in: no address here depends on what the node before stored
            entry = load_i32(rows + own + byte * 4)
            if entry == own_entry:
                store_i64(at, (node << 33) | own)
                set_bit(words, (word >> TRIE_TOKEN_SHIFT) - 1)
                n_tokens += 1 if word >> TRIE_TOKEN_SHIFT != 0 else 0
                node += 1
                continue
        else:
            entry = load_i32(rows + (above & 0xFFFFFFFF) + byte * 4)
        if entry == HOT_UNKNOWN:
            entry = expand(store, (above & 0xFFFFFFFF) // HOT_BYTES, byte)
            if store[EXCEEDED] != 0:
                return n_tokens
            rows = block(store, HOT_ROWS)
        if entry >= HOT_FIRST:
            store_i64(at, (node << 33) | ((entry - HOT_FIRST) * HOT_BYTES))
            set_bit(words, (word >> TRIE_TOKEN_SHIFT) - 1)
            n_tokens += 1 if word >> TRIE_TOKEN_SHIFT != 0 else 0
            node += 1
            continue
        if entry < 0:
            add_exit(store, node if main == 0 else load_i32(main + node * 4), -entry)
        elif above & (1 << 32) == 0:
            store_i64(at - 8, above | (1 << 32))  # a node is asked once
            parent_state = hot_state(store, (above & 0xFFFFFFFF) // HOT_BYTES)
            if state_field(store, parent_state, S_ACCEPTS) != 0:
                parent = above >> 33
                add_exit(store, parent if main == 0 else load_i32(main + parent * 4), parent_state)
        node = (word >> TRIE_END_SHIFT) & TRIE_END_MASK
    spend(store, visited >> 3)
    store[WALKED] += visited
    if store[WALKED] > store[MAX_WALKED]:
        exceed(store, LIMIT_WALKED)
    return n_tokens


@kernel
def _subtree_walk(store, trie, node, end, state):
    """As `wide_walk` of the whole trie; of declared keys and others, that of others, whose exits are put right."""
    n_tokens = literal_walk(store, node, state)
    if n_tokens != NOT_LITERAL:
        return n_tokens
    first_exit = store[N_EXITS]
    other, texts = free_state(store, state)
    if other != DEAD:
        n_tokens = wide_walk(store, trie, 0, node, end, other)
        put_ends_right(store, state, first_exit, store[N_EXITS], node, texts, True)
        return n_tokens
    return wide_walk(store, trie, 0, node, end, state)


FRAME = 5  # int64: node, next child, end of children, hot row, whether a child was dead


@kernel
def _write_frame(store, frame, node, hot):
    first = block(store, CHILD_FIRST)
    store_i64(frame, node)
    store_i64(frame + 8, get_i32(first, node))
    store_i64(frame + 16, get_i32(first, node + 1))
    store_i64(frame + 24, hot)
    store_i64(frame + 32, 0)


@kernel
def narrow_walk(store, root, root_state):
    """Walk the children of `root`, reached in `root_state`, list by list; small subtrees, which lie close together,
    and those of wide states go to `wide_walk`.

    Returns the number of tokens.
    """
    never_inline()
    n_tokens = literal_walk(store, root, root_state)
    if n_tokens != NOT_LITERAL:
        return n_tokens
    words = block(store, WORDS) + WORDS_MARGIN
    trie = block(store, TRIE)
    child_first = block(store, CHILD_FIRST)
    child_byte = block(store, CHILD_BYTE)
    child_node = block(store, CHILD_NODE)
    frame = block(store, NARROW_FRAMES)
    n_tokens = 0
    depth = 0
    _write_frame(store, frame, root, hot_row(store, root_state))
    rows = block(store, HOT_ROWS)
    while depth >= 0 and store[EXCEEDED] == 0:
        first = load_i64(frame + 8)
        end = load_i64(frame + 16)
        hot = load_i64(frame + 24)
        child = first
        entry = HOT_DEAD
        while child < end:
            at = hot * HOT_BYTES + get_u8(child_byte, child) * 4
            entry = load_i32(rows + at)
            if entry == HOT_UNKNOWN:
                entry = expand(store, hot, get_u8(child_byte, child))
                rows = block(store, HOT_ROWS)
            child += 1
            if entry != HOT_DEAD:
                break
        spend(store, 1 + ((child - first) >> 3))
        store[WALKED] += child - first
        if child - first > (0 if entry == HOT_DEAD else 1):
            store_i64(frame + 32, 1)
        if entry == HOT_DEAD:  # all children are done
            if load_i64(frame + 32) != 0 and state_field(store, hot_state(store, hot), S_ACCEPTS) != 0:
                add_exit(store, load_i64(frame), hot_state(store, hot))
            frame -= FRAME * 8
            depth -= 1
            continue
        store_i64(frame + 8, child)
        node = get_i32(child_node, child - 1)
        if entry < 0:
            add_exit(store, node, -entry)
            continue
        word = get_i64(trie, node)
        if word >> TRIE_TOKEN_SHIFT != 0:
            set_bit(words, (word >> TRIE_TOKEN_SHIFT) - 1)
            n_tokens += 1
        if get_i32(child_first, node) == get_i32(child_first, node + 1):
            continue
        end_node = (word >> TRIE_END_SHIFT) & TRIE_END_MASK
        state = hot_state(store, entry - HOT_FIRST)
        if end_node - node <= NEAR_NODES or is_wide(store, state):
            n_tokens += _subtree_walk(store, trie, node, end_node, state)
            rows = block(store, HOT_ROWS)
        else:
            frame += FRAME * 8
            depth += 1
            _write_frame(store, frame, node, entry - HOT_FIRST)
    if store[WALKED] > store[MAX_WALKED]:
        exceed(store, LIMIT_WALKED)
    return n_tokens
