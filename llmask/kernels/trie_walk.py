"""Tokens that stay inside the current lexeme, and the places of the trie where it ends.

The mask of a configuration is (A) tokens that stay inside a lexeme, a function of the lexer state alone and computed
here, and (B) tokens that cross a lexeme's end, see crossing.py, which start from the *exits* found here:

    exit (node, state):  state is finished at `node`: the lexeme ends with the node's byte, or
                         state may end at `node` and some child of it is dead: the lexeme ends before the child's byte

Two layouts of the trie serve two kinds of states. A wide state (a string body) keeps most bytes alive: depth-first words
are read one after the other, and a refused byte jumps over its subtree. A narrow state (a number) would jump 256 times
over the whole trie, so it reads the children side by side instead. Both step through *hot rows*: the transitions of a
state expanded to 256 entries, so that a step is one load. Hot rows are a cache of the transition table (1 KB a state
there would be 49 MB for 400 schemas) and are dropped together when they are many.

A *slice* is a family of tokens with a precomputed mask: all tokens of 1 to k code points of one set. Where the lexer
state certainly stays alive over all of them, the mask is copied and only the other tokens, in a trie of their own, are
walked. (Idea: the llguidance project, docs/optimizations.md.)

In: a store's table and a lexer state. Out: mask, token count and exits in the state's record.
Cost: 1.5-2 ns a node in the wide walk.
"""

from __future__ import annotations

from .constants import (
    TRIE_BYTE_MASK,
    TRIE_DEPTH_MASK,
    TRIE_DEPTH_SHIFT,
    TRIE_END_MASK,
    TRIE_END_SHIFT,
    TRIE_TOKEN_SHIFT,
)
from .derivatives import is_empty
from .interning import list_item, list_length, list_offset, mix
from .jit import kernel, never_inline
from .lexer_states import (
    DEAD,
    S_ACCEPTS,
    S_FINISHED,
    S_FIRST_EXIT,
    S_HOT,
    S_MASK,
    S_MASK_KIND,
    S_N_EXITS,
    S_N_TOKENS,
    S_TWIN,
    S_WIDE,
    STATE_FIELDS,
    next_state,
    put_state_field,
    state_field,
)
from .memory import (
    EXCEEDED,
    block,
    block_bytes,
    copy_bytes,
    ensure,
    exceed,
    fill_bytes,
    get_i32,
    get_i64,
    get_u8,
    load_i32,
    load_i64,
    new_block,
    publish,
    publish_i32,
    put_i32,
    put_i64,
    retire,
    store_i32,
    store_i64,
)
from .regex_nodes import (
    FINITE,
    HIGH,
    K_AND,
    K_CONCAT,
    K_NOT,
    K_REPEAT,
    K_UNION,
    KIND,
    UNBOUNDED,
    A,
    field,
    has_flag,
    make_and,
    make_not,
    push,
)
from .store_slots import (
    CHILD_BYTE,
    CHILD_FIRST,
    CHILD_NODE,
    DUPLICATE_PAIRS,
    EXITS,
    HOT_ROWS,
    HOT_STATES,
    LIMIT_WALKED,
    MASK_INDEX,
    MASKS,
    MAX_WALKED,
    N_DUPLICATES,
    N_EXITS,
    N_HOT,
    N_MASKS,
    N_SLICES,
    N_TOKEN_LISTS,
    N_TRIE,
    N_WORDS,
    NODE_LISTS,
    SCRATCH,
    SCRATCH_TOP,
    SLICES,
    STATE_KEYS,
    STATES,
    TOKEN_LISTS,
    TRIE,
    WALK_STACK,
    WALKED,
    WORDS,
)

MASK_NONE = 0  # not computed yet
MASK_LIST = 1  # a short list of tokens
MASK_WORDS = 2  # a whole bitmask

LIST_AT_MOST = 256  # longer lists are kept as bitmasks: filling from a list costs 1 ns a token, from a mask 0.3 us
WIDE_BYTES = 40  # a state with more live bytes than this walks the depth-first layout
WIDE_NODES = 64  # ... in subtrees larger than this
HOT_AT_MOST = 4096  # expanded rows kept, 1 KB each

WORDS_MARGIN = 64  # bytes before the scratch mask, where bit NO_TOKEN = -1 lies
HOT_BYTES = 1024  # an expanded row: 256 entries of int32
HOT_UNKNOWN = 0  # entries of an expanded row; a finished state is stored as a negative number
HOT_DEAD = 1
HOT_FIRST = 2

SLICE_FIELDS = 8
SLICE_CHAR = 0  # regex node of one code point
SLICE_MOST = 1  # most code points of a token, UNBOUNDED for no bound
SLICE_MASK = 2  # address of its mask
SLICE_TOKENS = 3  # number of its tokens
SLICE_TRIE = 4  # address of the trie words of all other tokens
SLICE_TRIE_NODES = 5
SLICE_MAIN = 6  # address of int32[n]: the same node in the whole trie


@kernel
def has_bit(words, token):
    return (load_i32(words + (token >> 5) * 4) >> (token & 31)) & 1 != 0


@kernel
def set_bit(words, token):
    at = words + (token >> 5) * 4
    store_i32(at, load_i32(at) | (1 << (token & 31)))


@kernel
def _add_exit(store, node, state):
    never_inline()
    n = store[N_EXITS]
    exits = ensure(store, EXITS, (n + 1) * 8)
    put_i32(exits, 2 * n, node)
    put_i32(exits, 2 * n + 1, state)
    store[N_EXITS] = n + 1


@kernel
def is_wide(store, state):
    """Whether many bytes lead on from a state."""
    never_inline()
    known = state_field(store, state, S_WIDE)
    if known != 0:
        return known == 2
    live = 0
    for byte in range(256):
        if next_state(store, state, byte) != DEAD:
            live += 1
    if store[EXCEEDED] == 0:
        put_state_field(store, state, S_WIDE, 2 if live > WIDE_BYTES else 1)
    return live > WIDE_BYTES


@kernel
def hot_row(store, state):
    """Number of the expanded row of a state; makes an empty one."""
    hot = state_field(store, state, S_HOT) - 1
    return hot if hot >= 0 else _new_hot_row(store, state)


@kernel
def _new_hot_row(store, state):
    never_inline()
    hot = store[N_HOT]
    rows = ensure(store, HOT_ROWS, (hot + 1) * HOT_BYTES)
    fill_bytes(rows + hot * HOT_BYTES, HOT_BYTES, 0)
    put_i32(ensure(store, HOT_STATES, (hot + 1) * 4), hot, state)
    store[N_HOT] = hot + 1
    put_state_field(store, state, S_HOT, hot + 1)
    return hot


@kernel
def forget_hot_rows(store):
    """Drop all expanded rows when they are many; called between walks only."""
    if store[N_HOT] > HOT_AT_MOST:
        for hot in range(store[N_HOT]):
            put_state_field(store, get_i32(block(store, HOT_STATES), hot), S_HOT, 0)
        store[N_HOT] = 0


@kernel
def hot_state(store, hot):
    return get_i32(block(store, HOT_STATES), hot)


@kernel
def hot_step(store, hot, byte):
    """Entry of an expanded row: HOT_DEAD, HOT_FIRST + row, or a finished state as a negative number."""
    entry = load_i32(block(store, HOT_ROWS) + hot * HOT_BYTES + byte * 4)
    return entry if entry != HOT_UNKNOWN else expand(store, hot, byte)


@kernel
def expand(store, hot, byte):
    """Look an entry up in the transition table, building it there; HOT_DEAD once a limit is reached."""
    never_inline()
    target = next_state(store, hot_state(store, hot), byte)
    if store[EXCEEDED] != 0:
        return HOT_DEAD
    if target == DEAD:
        entry = HOT_DEAD
    elif state_field(store, target, S_FINISHED) != 0:
        entry = -target
    else:
        entry = hot_row(store, target) + HOT_FIRST
    store_i32(block(store, HOT_ROWS) + hot * HOT_BYTES + byte * 4, entry)
    return entry


@kernel
def wide_walk(store, trie, main, node, end, state):
    """Walk the depth-first words `trie[node + 1 : end]`, the subtree of `node`, which was reached in `state`.

    `main` maps the nodes of a slice's trie to those of the whole one (0: this is the whole one).
    A stack entry is node << 33 | exit noted << 32 | byte offset of the expanded row. Returns the number of tokens.

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
    accepting = state_field(store, state, S_ACCEPTS) != 0
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
            if entry >= HOT_FIRST and state_field(store, hot_state(store, entry - HOT_FIRST), S_ACCEPTS) != 0:
                accepting = True
        if entry >= HOT_FIRST:
            store_i64(at, (node << 33) | ((entry - HOT_FIRST) * HOT_BYTES))
            set_bit(words, (word >> TRIE_TOKEN_SHIFT) - 1)
            n_tokens += 1 if word >> TRIE_TOKEN_SHIFT != 0 else 0
            node += 1
            continue
        if entry < 0:
            _add_exit(store, node if main == 0 else load_i32(main + node * 4), -entry)
        elif accepting and above & (1 << 32) == 0:
            parent_state = hot_state(store, (above & 0xFFFFFFFF) // HOT_BYTES)
            if state_field(store, parent_state, S_ACCEPTS) != 0:
                store_i64(at - 8, above | (1 << 32))
                parent = above >> 33
                _add_exit(store, parent if main == 0 else load_i32(main + parent * 4), parent_state)
        node = (word >> TRIE_END_SHIFT) & TRIE_END_MASK
    store[WALKED] += visited
    if store[WALKED] > store[MAX_WALKED]:
        exceed(store, LIMIT_WALKED)
    return n_tokens


FRAME = 5  # node, next child, end of children, hot row, whether a child was dead


@kernel
def _push_frame(store, node, hot):
    first = block(store, CHILD_FIRST)
    push(store, node)
    push(store, get_i32(first, node))
    push(store, get_i32(first, node + 1))
    push(store, hot)
    push(store, 0)


@kernel
def narrow_walk(store, root, root_state):
    """Walk the children of `root`, reached in `root_state`, list by list; subtrees of wide states go to `wide_walk`.

    Returns the number of tokens.
    """
    never_inline()
    words = block(store, WORDS) + WORDS_MARGIN
    trie = block(store, TRIE)
    child_first = block(store, CHILD_FIRST)
    child_byte = block(store, CHILD_BYTE)
    child_node = block(store, CHILD_NODE)
    bottom = store[SCRATCH_TOP]
    n_tokens = 0
    _push_frame(store, root, hot_row(store, root_state))
    while store[SCRATCH_TOP] > bottom and store[EXCEEDED] == 0:
        top = store[SCRATCH_TOP] - FRAME
        frames = block(store, SCRATCH)
        child = get_i32(frames, top + 1)
        end = get_i32(frames, top + 2)
        hot = get_i32(frames, top + 3)
        entry = HOT_DEAD
        first = child
        while child < end:
            entry = hot_step(store, hot, get_u8(child_byte, child))
            child += 1
            if entry != HOT_DEAD:
                break
            put_i32(block(store, SCRATCH), top + 4, 1)
        store[WALKED] += child - first
        frames = block(store, SCRATCH)
        put_i32(frames, top + 1, child)
        if entry == HOT_DEAD:  # all children are done
            if get_i32(frames, top + 4) != 0 and state_field(store, hot_state(store, hot), S_ACCEPTS) != 0:
                _add_exit(store, get_i32(frames, top), hot_state(store, hot))
            store[SCRATCH_TOP] = top
            continue
        node = get_i32(child_node, child - 1)
        if entry < 0:
            _add_exit(store, node, -entry)
            continue
        word = get_i64(trie, node)
        token = (word >> TRIE_TOKEN_SHIFT) - 1
        if token >= 0:
            set_bit(words, token)
            n_tokens += 1
        if get_i32(child_first, node) == get_i32(child_first, node + 1):
            continue
        end_node = (word >> TRIE_END_SHIFT) & TRIE_END_MASK
        if end_node - node > WIDE_NODES and is_wide(store, hot_state(store, entry - HOT_FIRST)):
            n_tokens += wide_walk(store, trie, 0, node, end_node, hot_state(store, entry - HOT_FIRST))
        else:
            _push_frame(store, node, entry - HOT_FIRST)
    store[SCRATCH_TOP] = bottom
    if store[WALKED] > store[MAX_WALKED]:
        exceed(store, LIMIT_WALKED)
    return n_tokens


@kernel
def _covers(store, node, char):
    """Whether every string of `char` matches `node`."""
    never_inline()
    first = store[SCRATCH_TOP]
    push(store, char)
    push(store, make_not(store, node))
    return is_empty(store, make_and(store, first))


@kernel
def _repeats(store, node, char):
    """How many strings of `char` a plain repetition certainly takes: x{a,b} t takes b when x covers char."""
    never_inline()
    if field(store, node, KIND) == K_CONCAT:
        node = field(store, node, A)
    if field(store, node, KIND) == K_REPEAT and _covers(store, field(store, node, A), char):
        return field(store, node, HIGH)
    return 0


@kernel
def cover(store, node, char):
    """A number of strings of `char` after any of which, in any order, `node` is certainly alive.

    Decided by structure, so a bound of 10,000 costs no states: repetitions, unions of them (the best branch), and an
    unbounded repetition without finitely many strings (a free key that excludes declared names: any prefix can still be
    continued to a string that is not excluded).
    """
    never_inline()
    kind = field(store, node, KIND)
    if kind == K_UNION:
        best = 0
        members = field(store, node, A)
        n = list_length(store, NODE_LISTS, members)
        if n > 16:
            return 0
        for i in range(n):
            best = max(best, _repeats(store, list_item(store, NODE_LISTS, members, i), char))
        return best
    if kind == K_CONCAT and field(store, field(store, node, A), KIND) == K_AND:
        node = field(store, node, A)
        kind = K_AND
    if kind == K_AND:
        members = field(store, node, A)
        if list_length(store, NODE_LISTS, members) != 2:
            return 0
        for i in range(2):
            excluded = list_item(store, NODE_LISTS, members, i)
            other = list_item(store, NODE_LISTS, members, 1 - i)
            if field(store, excluded, KIND) == K_NOT and has_flag(store, field(store, excluded, A), FINITE):
                if _repeats(store, other, char) == UNBOUNDED:
                    return UNBOUNDED
        return 0
    return _repeats(store, node, char)


@kernel
def _best_slice(store, state):
    """Position in SLICES of the largest slice whose tokens all stay alive from `state`, or -1."""
    never_inline()
    slices = block(store, SLICES)
    best = -1
    char = -1
    covered = 0
    for i in range(store[N_SLICES]):
        at = i * SLICE_FIELDS
        if get_i64(slices, at + SLICE_CHAR) != char:
            char = get_i64(slices, at + SLICE_CHAR)
            covered = 0
            for j in range(0, list_length(store, STATE_KEYS, state) & -2, 2):
                node = get_i32(block(store, STATE_KEYS + 1), list_offset(store, STATE_KEYS, state) + j + 1)
                covered = max(covered, cover(store, node, char))
        if get_i64(slices, at + SLICE_MOST) <= covered:
            if best < 0 or get_i64(slices, at + SLICE_TOKENS) > get_i64(slices, best * SLICE_FIELDS + SLICE_TOKENS):
                best = i
    return best


@kernel
def build_state_mask(store, asked):
    """Compute mask, token count and exits of a lexer state, kept on its twin."""
    never_inline()
    state = state_field(store, asked, S_TWIN)
    if state_field(store, state, S_MASK_KIND) != MASK_NONE:
        return
    n_bytes = store[N_WORDS] * 4
    words = ensure(store, WORDS, n_bytes + WORDS_MARGIN) + WORDS_MARGIN
    first_exit = store[N_EXITS]
    ensure(store, EXITS, 8)
    best = _best_slice(store, state)
    if best >= 0:
        at = block(store, SLICES) + best * SLICE_FIELDS * 8
        copy_bytes(words, load_i64(at + 8 * SLICE_MASK), n_bytes)
        n_tokens = load_i64(at + 8 * SLICE_TOKENS)
        n_nodes = load_i64(at + 8 * SLICE_TRIE_NODES)
        n_tokens += wide_walk(
            store, load_i64(at + 8 * SLICE_TRIE), load_i64(at + 8 * SLICE_MAIN), 0, n_nodes, state
        )
    else:
        fill_bytes(words, n_bytes, 0)
        if is_wide(store, state):
            n_tokens = wide_walk(store, block(store, TRIE), 0, 0, store[N_TRIE], state)
        else:
            n_tokens = narrow_walk(store, 0, state)
    if store[EXCEEDED] != 0:
        store[N_EXITS] = first_exit
        return
    n_tokens += _allow_duplicates(store, words)
    put_state_field(store, state, S_FIRST_EXIT, first_exit)
    put_state_field(store, state, S_N_EXITS, store[N_EXITS] - first_exit)
    put_state_field(store, state, S_N_TOKENS, n_tokens)
    if n_tokens <= LIST_AT_MOST:
        kind = MASK_LIST
        put_state_field(store, state, S_MASK, _list_tokens(store, words, n_tokens))
    else:
        kind = MASK_WORDS
        put_state_field(store, state, S_MASK, _intern_mask(store, words))
    publish_i32(block(store, STATES) + (state * STATE_FIELDS + S_MASK_KIND) * 4, kind)


@kernel
def _hash_words(words, n_words):
    value = 5
    for i in range(n_words):
        value = mix(value, load_i32(words + i * 4))
    return value


@kernel
def _intern_mask(store, words):
    """Number of an equal mask, or of a new copy."""
    never_inline()
    n_words = store[N_WORDS]
    n_masks = store[N_MASKS]
    index = ensure(store, MASK_INDEX, 256)
    if 2 * (n_masks + 1) > block_bytes(index) // 4:
        old = index
        index = new_block(store, 2 * block_bytes(old))
        size = block_bytes(index) // 4
        for number in range(n_masks):
            slot = _hash_words(get_i64(block(store, MASKS), number), n_words) & (size - 1)
            while get_i32(index, slot) != 0:
                slot = (slot + 1) & (size - 1)
            put_i32(index, slot, number + 1)
        retire(store, old)
        publish(store, MASK_INDEX, index)
    mask = block_bytes(index) // 4 - 1
    slot = _hash_words(words, n_words) & mask
    while get_i32(index, slot) != 0:
        number = get_i32(index, slot) - 1
        other = get_i64(block(store, MASKS), number)
        i = 0
        while i < n_words and load_i32(other + i * 4) == load_i32(words + i * 4):
            i += 1
        if i == n_words:
            return number
        slot = (slot + 1) & mask
    copy = new_block(store, n_words * 4)
    copy_bytes(copy, words, n_words * 4)
    put_i64(ensure(store, MASKS, (n_masks + 1) * 8), n_masks, copy)
    store[N_MASKS] = n_masks + 1
    put_i32(index, slot, n_masks + 1)
    return n_masks


@kernel
def _allow_duplicates(store, words):
    """Allow the tokens with the same bytes as an allowed one; returns how many were added.

    A slice's mask and the trie of its other tokens name every token once, so no bit is counted twice: a slice holds all
    tokens with the same bytes or none of them.
    """
    never_inline()
    added = 0
    pairs = block(store, DUPLICATE_PAIRS)
    for i in range(store[N_DUPLICATES]):
        token = get_i32(pairs, 2 * i)
        other = get_i32(pairs, 2 * i + 1)
        if has_bit(words, token) and not has_bit(words, other):
            set_bit(words, other)
            added += 1
    return added


@kernel
def _list_tokens(store, words, n_tokens):
    """Append the set bits to TOKEN_LISTS; returns the position of the first."""
    never_inline()
    first = store[N_TOKEN_LISTS]
    tokens = ensure(store, TOKEN_LISTS, (first + n_tokens + 1) * 4)
    n = 0
    for word in range(store[N_WORDS]):
        bits = load_i32(words + word * 4)
        if bits != 0:
            for bit in range(32):
                if (bits >> bit) & 1 != 0:
                    put_i32(tokens, first + n, word * 32 + bit)
                    n += 1
    store[N_TOKEN_LISTS] = first + n
    return first
