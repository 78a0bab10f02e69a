"""The walk of the prefix trie with the lexer: tokens that stay inside the current lexeme, and exits where it ends.

The mask of a configuration is (A) tokens that stay inside a lexeme, a function of the lexer state alone and computed
here, and (B) tokens that cross a lexeme's end, see mask/boundary_walk.py, which start from the *exits* found here:

    exit (node, state):  state is finished at `node`: the lexeme ends with the node's byte, or
                         state may end at `node` and some child of it is dead: the lexeme ends before the child's byte

Two layouts of the trie serve two kinds of states. A wide state (a string body) keeps most bytes alive: depth-first
words are read one after the other, and a refused byte jumps over its subtree. A narrow state (a number) would jump
256 times over the whole trie, so it reads the children next to each other instead. Both step by dense transitions.

Where nothing but literals may go on, as declared keys or the words of an enumeration, the trie is walked along the
bytes of each, and no lexer state is made on the way: the mask after `{"` took 12 us.

A slice (slice_choice.py) has most tokens of a wide state; its walk visits a trie of the other tokens only.

In: a node of the trie and the lexer state there. Out: bits of the mask in progress, number of tokens, exits.
Cost: 1.5-2 ns a node in the wide walk, 20 ns a byte of a literal.
"""

from ..lexer.dense_transitions import (
    DENSE_ENTRIES,
    DenseEntry,
    check_walked,
    dense_row,
    dense_state,
    expand,
    is_wide,
)
from ..lexer.states import DEAD, live_rest, n_live
from ..machine.jit import inline, kernel
from ..regex.nodes import n_operands, operand
from ..regex.text_derivatives import byte_at, literal_length
from ..tables.kinds import NodeKind
from ..tables.memory import load_i32, load_i64, reserve, spend, store_i32
from ..tables.store_layout import WORDS_MARGIN
from ..vocabulary.trie_words import byte_of, depth_of, subtree_end, token_of
from .excluded_texts import free_state, put_ends_right, state_after_path
from .exits import NO_CHILD, add_exit, child_with

NEAR_NODES = 2048  # a subtree of this size is 16 KB: jumping within it is cheaper than reading lists of children
# an entry of the stack: node | whether it was asked for an exit | address of its dense row
NODE_SHIFT = 33
ASKED = 1 << 32
ROW_BITS = ASKED - 1
NOT_LITERAL = -1
MANY_LITERALS = 1024  # are walked together: each exit is looked for among those before it
PAIR_BYTES = 8  # of words


@inline
def has_bit(words, token):
    return (load_i32(words + (token >> 5) * 4) >> (token & 31)) & 1 != 0


@inline
def set_bit(words, token):
    at = words + (token >> 5) * 4
    store_i32(at, load_i32(at) | (1 << (token & 31)))


@inline
def mask_words(store):
    """Address of the words of the mask in progress."""
    return store.words.address + WORDS_MARGIN


@inline
def room_for_words(store):
    """The same, enlarged to the words of the vocabulary; there is room for a pair after them."""
    reserve(store.words, store.n_words + (WORDS_MARGIN + PAIR_BYTES) // 4)
    return mask_words(store)


@inline
def _main_node(main, node):
    """The node of the whole trie that is a node of a slice's."""
    return node if main == 0 else load_i32(main + node * 4)


@kernel
def wide_walk(store, trie, main, node, end, state):
    """Walk the depth-first words `trie[node + 1 : end]`, the subtree of `node`, which was reached in `state`; returns
    the number of tokens. For the trie of a slice `main` has the nodes of the whole one (0: this is the whole one).

    Half of the nodes end a token, in no order that a branch predictor could learn: the bit is set without asking, and
    NO_TOKEN sets one in the margin before the words. That alone took the walk from 3.6 to 1.9 ns a node
    (`python -m bench.walk`).
    """
    words = mask_words(store)
    stack = store.walk_stack
    own = dense_row(store, state) * DENSE_ENTRIES
    own_entry = own // DENSE_ENTRIES + DenseEntry.FIRST
    rows = store.dense_rows
    stack[depth_of(load_i64(trie + node * 8))] = node << NODE_SHIFT | own
    visited = 0
    n_tokens = 0
    node += 1
    while node < end:
        visited += 1
        word = load_i64(trie + node * 8)
        depth, byte = depth_of(word), byte_of(word)
        above = stack[depth - 1]
        row = above & ROW_BITS
        if row == own:
            # most nodes loop in the state the walk began in: no address here depends on what the node before stored
            entry = rows[own + byte]
            if entry == own_entry:
                stack[depth] = node << NODE_SHIFT | own
                set_bit(words, token_of(word))
                n_tokens += 1 if token_of(word) >= 0 else 0
                node += 1
                continue
        else:
            entry = rows[row + byte]
        if entry == DenseEntry.UNKNOWN:
            entry = expand(store, row // DENSE_ENTRIES, byte)
            if store.exceeded != 0:
                return n_tokens
            rows = store.dense_rows
        if entry >= DenseEntry.FIRST:  # the lexeme goes on
            stack[depth] = node << NODE_SHIFT | (entry - DenseEntry.FIRST) * DENSE_ENTRIES
            set_bit(words, token_of(word))
            n_tokens += 1 if token_of(word) >= 0 else 0
            node += 1
            continue
        if entry < 0:  # it ends with this byte
            add_exit(store, _main_node(main, node), -entry)
        elif above & ASKED == 0:  # it may end before this byte: a node is asked once
            stack[depth - 1] = above | ASKED
            parent_state = dense_state(store, row // DENSE_ENTRIES)
            if store.states[parent_state].accepts != 0:
                add_exit(store, _main_node(main, above >> NODE_SHIFT), parent_state)
        node = subtree_end(word)
    spend(store, visited >> 3)
    store.walked += visited
    check_walked(store)
    return n_tokens


@kernel
def _literal_walk(store, root, state):
    """Walk along the literals of a state; returns how many tokens, or NOT_LITERAL: something else may go on, too."""
    n = n_live(store, state)
    n_literals = 0
    for i in range(n):
        n_literals += _n_literals(store, live_rest(store, state, i))
        if n_literals >= MANY_LITERALS:  # or one that is something else
            return NOT_LITERAL
    spend(store, n_literals >> 4)
    first_exit = store.n_exits
    n_tokens = 0
    for i in range(n):
        rest = live_rest(store, state, i)
        if literal_length(store, rest) > 0:
            n_tokens += _walk_along(store, root, state, rest, first_exit)
        else:
            for j in range(n_operands(store, rest)):
                n_tokens += _walk_along(store, root, state, operand(store, rest, j), first_exit)
    return n_tokens


@inline
def _n_literals(store, node):
    """How many literals a node is a union of; MANY_LITERALS where it is something else."""
    if literal_length(store, node) > 0:
        return 1
    if store.nodes[node].kind != NodeKind.UNION:
        return MANY_LITERALS
    n = n_operands(store, node)
    for i in range(min(n, MANY_LITERALS)):
        if literal_length(store, operand(store, node, i)) == 0:
            return MANY_LITERALS
    return n


@kernel
def _walk_along(store, root, state, literal, first_exit):
    """Walk along one literal; returns how many tokens no other one had."""
    words = mask_words(store)
    n = literal_length(store, literal)
    node = root
    n_tokens = 0
    n_read = 0
    while n_read < n:
        child = child_with(store, node, byte_at(store, literal, n_read))
        if child == NO_CHILD:
            break
        node = store.child_node[child]
        n_read += 1
        if n_read == n:
            there = state_after_path(store, state, root, node)
            if not _has_exit(store, first_exit, node):
                add_exit(store, node, there)
            if store.states[there].finished != 0:
                break  # no other literal goes on
        token = token_of(store.trie[node])
        if token >= 0 and not has_bit(words, token):
            set_bit(words, token)
            n_tokens += 1
    spend(store, 2 + (n_read >> 1))
    store.walked += n_read
    return n_tokens


@inline
def _has_exit(store, first, node):
    """Whether one of the exits from number `first` on is at a node."""
    spend(store, (store.n_exits - first) >> 3)
    for i in range(first, store.n_exits):
        if store.exits[i].node == node:
            return True
    return False


@inline
def _subtree_walk(store, node, state):
    """As `wide_walk` below a node of the whole trie; where the state is one of declared keys and others, that of the
    others, whose exits are put right.
    """
    n_tokens = _literal_walk(store, node, state)
    if n_tokens != NOT_LITERAL:
        return n_tokens
    end = subtree_end(store.trie[node])
    first_exit = store.n_exits
    other, texts = free_state(store, state)
    if other == DEAD:
        return wide_walk(store, store.trie.address, 0, node, end, state)
    n_tokens = wide_walk(store, store.trie.address, 0, node, end, other)
    put_ends_right(store, state, first_exit, store.n_exits, node, texts, True)
    return n_tokens


@inline
def write_frame(store, depth, node, dense, other):
    """Put a node on the stack of a walk, reached in the state of a dense row (of two states, in delta_walk.py)."""
    frame = store.narrow_frames[depth]
    frame.node, frame.dense, frame.other = node, dense, other
    frame.child, frame.end = store.child_first[node], store.child_first[node + 1]
    frame.was_dead = 0


@kernel
def narrow_walk(store, root, root_state):
    """Walk the children of `root`, reached in `root_state`, list by list; returns the number of tokens.

    Small subtrees, which are close together, and subtrees of wide states go to `wide_walk`.
    """
    n_tokens = _literal_walk(store, root, root_state)
    if n_tokens != NOT_LITERAL:
        return n_tokens
    words = mask_words(store)
    frames = store.narrow_frames
    n_tokens = 0
    depth = 0
    write_frame(store, 0, root, dense_row(store, root_state), 0)
    while depth >= 0 and store.exceeded == 0:
        frame = frames[depth]
        entry = _next_child(store, frame)
        if entry == DenseEntry.DEAD:  # all children are done
            state = dense_state(store, frame.dense)
            if frame.was_dead != 0 and store.states[state].accepts != 0:
                add_exit(store, frame.node, state)
            depth -= 1
            continue
        node = store.child_node[frame.child - 1]
        if entry < 0:  # the lexeme ends with this byte
            add_exit(store, node, -entry)
            continue
        word = store.trie[node]
        if token_of(word) >= 0:
            set_bit(words, token_of(word))
            n_tokens += 1
        if store.child_first[node] == store.child_first[node + 1]:
            continue
        # on below this child
        state = dense_state(store, entry - DenseEntry.FIRST)
        if subtree_end(word) - node <= NEAR_NODES or is_wide(store, state):
            n_tokens += _subtree_walk(store, node, state)
        else:
            depth += 1
            write_frame(store, depth, node, entry - DenseEntry.FIRST, 0)
    check_walked(store)
    return n_tokens


@inline
def _next_child(store, frame):
    """Entry of the next child that leads on from a frame, the one before `frame.child` then; or DenseEntry.DEAD."""
    rows, child_byte = store.dense_rows, store.child_byte
    first = child = frame.child
    end, row = frame.end, frame.dense * DENSE_ENTRIES
    entry = DenseEntry.DEAD
    while child < end and entry == DenseEntry.DEAD:
        entry = rows[row + child_byte[child]]
        if entry == DenseEntry.UNKNOWN:
            entry = expand(store, frame.dense, child_byte[child])
            rows = store.dense_rows
        child += 1
    spend(store, 1 + ((child - first) >> 3))
    store.walked += child - first
    if child - first > (0 if entry == DenseEntry.DEAD else 1):
        frame.was_dead = 1
    frame.child = child
    return entry
