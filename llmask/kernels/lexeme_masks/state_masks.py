"""Masks of lexer states: computed once by a walk, shared by all grammars of a tokenizer.

Short masks are lists of tokens, others bitmasks; equal bitmasks are one (the keys of an object that exclude declared
names have the mask of any string). A state inside of such a key has the mask of one inside of a string, and its exits
but for those where a declared name ends (excluded_texts.py). Where no slice serves a wide state, or one that leaves
many nodes to the walk, its mask is made of that of the first wide state with the same lexemes
(lexeme_masks/delta_walk.py), or else by such a walk.

In: a lexer state. Out: mask, token count and exits in the record of its twin. Cost: the walk's.
"""

from __future__ import annotations

from ..lexer.dense_transitions import is_wide
from ..lexer.states import (
    DEAD,
    S_BASE,
    S_FIRST_EXIT,
    S_MASK,
    S_MASK_KIND,
    S_N_EXITS,
    S_N_TOKENS,
    S_TWIN,
    S_WALKED,
    STATE_FIELDS,
    lexeme_set,
    make_state,
    put_state_field,
    state_field,
)
from ..machine.atomics import publish_i32
from ..machine.jit import kernel, never_inline
from ..machine.lanes import lowest_bit, without_lowest_bit
from ..machine.raw import VECTOR_BYTES, differ_vectors
from ..regex.constructors import make_concat, make_repeat
from ..regex.nodes import HIGH, K_CONCAT, K_REPEAT, KIND, LOW, UNBOUNDED, A, B, field, push
from ..tables.interning import list_item, list_length, list_offset, mix
from ..tables.linear_hash import HASH_BITS, NO_RECORD, add_record, first_place, next_record
from ..tables.memory import (
    EXCEEDED,
    block,
    copy_bytes,
    ensure,
    fill_bytes,
    get_i32,
    get_i64,
    load_i32,
    load_i64,
    new_block,
    put_i32,
    put_i64,
    spend,
    store_i32,
)
from ..tables.store_layout import (
    BASES,
    DUPLICATE_PAIRS,
    EXITS,
    LONGEST,
    MASK_HEADS,
    MASK_LINKS,
    MASKS,
    N_DUPLICATES,
    N_EXITS,
    N_MASKS,
    N_TOKEN_LISTS,
    N_TRIE,
    N_WORDS,
    SCRATCH_TOP,
    SLICES,
    STATE_KEYS,
    STATES,
    TOKEN_LISTS,
    TRIE,
    WORDS,
    WORDS_MARGIN,
)
from .delta_walk import GIVEN_UP, changed_walk
from .excluded_texts import free_state, put_ends_right
from .exits import X_NODE, exit_field
from .slice_choice import (
    NO_ROOM,
    SLICE_FIELDS,
    SLICE_LENGTHS,
    SLICE_LONGER,
    SLICE_MAIN,
    SLICE_MASK,
    SLICE_TOKENS,
    SLICE_TRIE,
    SLICE_TRIE_NODES,
    best_slice,
    exact_room,
)
from .trie_walk import has_bit, narrow_walk, set_bit, wide_walk

MASK_NONE = 0  # not computed yet
MASK_LIST = 1  # a short list of tokens
MASK_WORDS = 2  # a whole bitmask
MANY_NODES = 16_000  # left to the walk by a slice: looking what changed comes first
LINE = 8  # pairs of words in a line of the cache
LIST_AT_MOST = 64  # longer lists are kept as bitmasks: of 128,000 tokens these are written as fast, and combined faster


@kernel
def build_state_mask(store, asked):
    """Compute mask, token count and exits of a lexer state, kept on its twin."""
    never_inline()
    state = state_field(store, asked, S_TWIN)
    if state_field(store, state, S_MASK_KIND) != MASK_NONE:
        return
    other = _without_bound(store, state)
    if other != DEAD and store[EXCEEDED] == 0:
        _build_own_mask(store, other, asked)
        if store[EXCEEDED] == 0:
            _take_mask(store, state, other, store[N_EXITS])
        return
    other, texts = free_state(store, state)
    if other != DEAD and store[EXCEEDED] == 0:
        twin = state_field(store, other, S_TWIN)
        _build_own_mask(store, twin, other)
        first_exit = store[N_EXITS]
        first = state_field(store, twin, S_FIRST_EXIT)
        put_ends_right(store, state, first, first + state_field(store, twin, S_N_EXITS), 0, texts, False)
        if store[EXCEEDED] == 0:
            _take_mask(store, state, other, first_exit)
        return
    if store[EXCEEDED] == 0:
        _build_own_mask(store, state, asked)


@kernel
def _without_bound(store, state):
    """The state without the bound of a repetition that no token reaches, or DEAD: x{0,1000}" as x*".

    Either reads a token of n bytes in at most n rounds, and may leave after each: they go on and end alike.
    """
    never_inline()
    if list_length(store, STATE_KEYS, state) != 2:
        return DEAD
    node = list_item(store, STATE_KEYS, state, 1)
    repeat = field(store, node, A)
    if field(store, node, KIND) != K_CONCAT or field(store, repeat, KIND) != K_REPEAT:
        return DEAD
    high = field(store, repeat, HIGH)
    if field(store, repeat, LOW) != 0 or high == UNBOUNDED or high <= store[LONGEST]:
        return DEAD
    first = store[SCRATCH_TOP]
    push(store, list_item(store, STATE_KEYS, state, 0))
    unbounded = make_repeat(store, field(store, repeat, A), 0, UNBOUNDED)
    push(store, make_concat(store, unbounded, field(store, node, B)))
    return make_state(store, first, False)


@kernel
def _n_left(store, best):
    """Nodes that a slice leaves to the walk."""
    return load_i64(block(store, SLICES) + (best * SLICE_FIELDS + SLICE_TRIE_NODES) * 8)


@kernel
def _take_mask(store, state, other, first_exit):
    """Give a state the mask of another one, and beside its exits those that were added from number `first_exit` on."""
    twin = state_field(store, other, S_TWIN)
    put_state_field(store, state, S_MASK, state_field(store, twin, S_MASK))
    put_state_field(store, state, S_N_TOKENS, state_field(store, twin, S_N_TOKENS))
    put_state_field(store, state, S_FIRST_EXIT, first_exit)
    put_state_field(store, state, S_N_EXITS, store[N_EXITS] - first_exit)
    put_state_field(store, state, S_BASE, other)
    kind = state_field(store, twin, S_MASK_KIND)
    publish_i32(block(store, STATES) + (state * STATE_FIELDS + S_MASK_KIND) * 4, kind)


@kernel
def first_replaced(store, twin, exit, end):
    """The first exit from number `exit` on before `end` whose node has one of the twin's own, or `end`."""
    own = state_field(store, twin, S_FIRST_EXIT)
    own_end = own + state_field(store, twin, S_N_EXITS)
    if own == own_end:
        return end
    for i in range(exit, end):
        for j in range(own, own_end):
            if exit_field(store, i, X_NODE) == exit_field(store, j, X_NODE):
                return i
    return end


@kernel
def _build_own_mask(store, state, asked):
    """The same by a walk; `state` is the twin."""
    never_inline()
    if state_field(store, state, S_MASK_KIND) != MASK_NONE:
        return
    room = exact_room(store, state)
    best = best_slice(store, state) if room == NO_ROOM else 0
    if store[EXCEEDED] != 0:
        return
    n_bytes = store[N_WORDS] * 4
    words = ensure(store, WORDS, n_bytes + WORDS_MARGIN + 8) + WORDS_MARGIN
    spend(store, n_bytes >> 7)
    first_exit = store[N_EXITS]
    ensure(store, EXITS, 8)
    lexemes = _lexemes(store, asked)
    base = get_i32(block(store, BASES), lexemes)
    at = block(store, SLICES) + best * SLICE_FIELDS * 8
    n_tokens, is_walked = GIVEN_UP, 0
    if is_wide(store, state) and (best < 0 or _n_left(store, best) > MANY_NODES):
        n_tokens = _changed_mask(store, state, base)
        if n_tokens == GIVEN_UP:
            store[N_EXITS] = first_exit
        else:
            is_walked = state_field(store, base, S_WALKED)
    if n_tokens == GIVEN_UP and best >= 0:
        copy_bytes(words, load_i64(at + 8 * SLICE_MASK), n_bytes)
        n_tokens = load_i64(at + 8 * SLICE_TOKENS)
        if room != NO_ROOM:
            n_tokens -= _forbid_longer(words, load_i64(at + 8 * SLICE_LENGTHS), load_i64(at + 8 * SLICE_LONGER), room)
        main = load_i64(at + 8 * SLICE_MAIN)
        n_tokens += wide_walk(store, load_i64(at + 8 * SLICE_TRIE), main, 0, _n_left(store, best), state)
    elif n_tokens == GIVEN_UP:
        fill_bytes(words, n_bytes, 0)
        if is_wide(store, state):
            is_walked = 1
            n_tokens = wide_walk(store, block(store, TRIE), 0, 0, store[N_TRIE], state)
        else:
            n_tokens = narrow_walk(store, 0, state)
    if store[EXCEEDED] != 0:
        store[N_EXITS] = first_exit
        return
    n_tokens += allow_duplicates(store, words)
    put_state_field(store, state, S_WALKED, is_walked)
    put_state_field(store, state, S_FIRST_EXIT, first_exit)
    put_state_field(store, state, S_N_EXITS, store[N_EXITS] - first_exit)
    put_state_field(store, state, S_N_TOKENS, n_tokens)
    if n_tokens <= LIST_AT_MOST:
        kind = MASK_LIST
        put_state_field(store, state, S_MASK, list_tokens(store, words, n_tokens))
    else:
        kind = MASK_WORDS
        put_state_field(store, state, S_MASK, store_mask(store, words))
        if base == 0 and is_wide(store, state):
            put_i32(block(store, BASES), lexemes, state)
    publish_i32(block(store, STATES) + (state * STATE_FIELDS + S_MASK_KIND) * 4, kind)


@kernel
def _forbid_longer(words, lengths, tokens, most):
    """Take the tokens of a slice out of its mask that are longer than `most`; returns how many these are."""
    n = load_i32(lengths + 4 + 4 * most) if most < load_i32(lengths) else 0
    for i in range(n):
        token = load_i32(tokens + 4 * i)
        at = words + (token >> 5) * 4
        store_i32(at, load_i32(at) & ~(1 << (token & 31)))
    return n


@kernel
def _lexemes(store, state):
    """The set of the lexemes that go on in a state; makes room for it in BASES."""
    never_inline()
    first = store[SCRATCH_TOP]
    for i in range(0, list_length(store, STATE_KEYS, state) & -2, 2):
        push(store, get_i32(block(store, STATE_KEYS + 1), list_offset(store, STATE_KEYS, state) + i))
    number = lexeme_set(store, first)
    ensure(store, BASES, (number + 1) * 4)
    return number


@kernel
def _changed_mask(store, state, base):
    """The mask of a state, made of that of another one; returns how many tokens it has, or GIVEN_UP."""
    never_inline()
    if base == 0 or state_field(store, base, S_MASK_KIND) != MASK_WORDS:
        return GIVEN_UP
    mask = get_i64(block(store, MASKS), state_field(store, base, S_MASK))
    copy_bytes(block(store, WORDS) + WORDS_MARGIN, mask, store[N_WORDS] * 4)
    return changed_walk(store, state, base)


@kernel
def _hash_words(words, n_words):
    """Hash of a mask, in four lanes: one multiplication after the other took 9 us for 4,008 words, this takes 1.5."""
    one = 5
    two = 6
    three = 7
    four = 8
    n = n_words & -8
    for i in range(0, n, 8):
        at = words + i * 4
        one = mix(one, load_i64(at))
        two = mix(two, load_i64(at + 8))
        three = mix(three, load_i64(at + 16))
        four = mix(four, load_i64(at + 24))
    for i in range(n, n_words):
        one = mix(one, load_i32(words + i * 4))
    return mix(mix(mix(one, two), three), four) & HASH_BITS


@kernel
def _are_equal(one, other, n_bytes):
    at = 0
    while at <= n_bytes - VECTOR_BYTES and differ_vectors(one + at, other + at) == 0:
        at += VECTOR_BYTES
    while at < n_bytes and load_i32(one + at) == load_i32(other + at):
        at += 4
    return at == n_bytes


@kernel
def store_mask(store, words):
    """Number of an equal mask of the store, or of a new copy."""
    return intern_mask(store, MASKS, MASK_HEADS, N_MASKS, MASK_LINKS, words, store[N_WORDS])


@kernel
def intern_mask(table, masks, heads, count, links_slot, words, n_words):
    """Number of an equal mask of a table, which has them in these slots, or of a new copy."""
    never_inline()
    hashed = _hash_words(words, n_words)
    place = first_place(table, heads, count, hashed)
    links = block(table, links_slot)
    while place != 0:
        number, place = next_record(place, links, 8, hashed)
        if number != NO_RECORD and _are_equal(get_i64(block(table, masks), number), words, n_words * 4):
            return number
    number = table[count]
    copy = new_block(table, n_words * 4)
    copy_bytes(copy, words, n_words * 4)
    put_i64(ensure(table, masks, (number + 1) * 8), number, copy)
    links = ensure(table, links_slot, (number + 1) * 8)
    add_record(table, heads, count, links, 8, hashed)
    return number


@kernel
def allow_duplicates(store, words):
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
def _is_clear(words):
    """Whether no bit is set in the next LINE pairs of words."""
    found = 0
    for pair in range(LINE):
        found |= load_i64(words + pair * 8)
    return found == 0


@kernel
def list_tokens(store, words, n_tokens):
    """Append the set bits to TOKEN_LISTS; returns the position of the first."""
    never_inline()
    first = store[N_TOKEN_LISTS]
    tokens = ensure(store, TOKEN_LISTS, (first + n_tokens + 1) * 4)
    n = 0
    pair = 0  # two words at a time; behind the last there is room
    n_pairs = (store[N_WORDS] + 1) // 2
    while n < n_tokens and pair < n_pairs:
        while pair + LINE <= n_pairs and _is_clear(words + pair * 8):
            pair += LINE
        bits = load_i64(words + pair * 8)
        while bits != 0:
            put_i32(tokens, first + n, pair * 64 + lowest_bit(bits))
            bits = without_lowest_bit(bits)
            n += 1
        pair += 1
    store[N_TOKEN_LISTS] = first + n
    return first
