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
from ..lexer.states import DEAD, lexeme_set, make_state
from ..machine.jit import inline, kernel
from ..regex.constructors import make_concat, make_repeat
from ..regex.nodes import UNBOUNDED, push
from ..tables.interning import list_item, list_length, list_offset
from ..tables.kinds import MaskKind, NodeKind
from ..tables.memory import copy_bytes, fill_bytes, load_i32, reserve, spend, store_i32
from ..tables.store_layout import WORDS_MARGIN
from .delta_walk import GIVEN_UP, changed_walk
from .excluded_texts import free_state, put_ends_right
from .kept_masks import allow_duplicates, list_tokens, store_mask
from .slice_choice import NO_ROOM, best_slice, exact_room
from .trie_walk import narrow_walk, room_for_words, wide_walk

MANY_NODES = 16_000  # left to the walk by a slice: looking what changed comes first
LIST_AT_MOST = 64  # longer lists are kept as bitmasks: of 128,000 tokens these are written as fast, and combined faster


@kernel
def build_state_mask(store, asked):
    """Compute mask, token count and exits of a lexer state, kept on its twin."""
    state = store.states[asked].anonymous
    if store.states[state].mask_kind != MaskKind.NONE:
        return
    other = _without_bound(store, state)
    if other != DEAD and store.exceeded == 0:
        _build_own_mask(store, other, asked)
        if store.exceeded == 0:
            _take_mask(store, state, other, store.n_exits)
        return
    other, texts = free_state(store, state)
    if other != DEAD and store.exceeded == 0:
        anonymous = store.states[other].anonymous
        _build_own_mask(store, anonymous, other)
        first_exit = store.n_exits
        first = store.states[anonymous].first_exit
        put_ends_right(store, state, first, first + store.states[anonymous].n_exits, 0, texts, False)
        if store.exceeded == 0:
            _take_mask(store, state, other, first_exit)
        return
    if store.exceeded == 0:
        _build_own_mask(store, state, asked)


@kernel
def _without_bound(store, state):
    """The state without the bound of a repetition that no token reaches, or DEAD: x{0,1000}" as x*".

    Either reads a token of n bytes in at most n rounds, and may leave after each: they go on and end alike.
    """
    if list_length(store.state_keys, state) != 2:
        return DEAD
    node = list_item(store.state_keys, state, 1)
    repeat = store.nodes[node].a
    if store.nodes[node].kind != NodeKind.CONCAT or store.nodes[repeat].kind != NodeKind.REPEAT:
        return DEAD
    high = store.nodes[repeat].high
    if store.nodes[repeat].low != 0 or high == UNBOUNDED or high <= store.longest:
        return DEAD
    first = store.scratch_top
    push(store, list_item(store.state_keys, state, 0))
    unbounded = make_repeat(store, store.nodes[repeat].a, 0, UNBOUNDED)
    push(store, make_concat(store, unbounded, store.nodes[node].b))
    return make_state(store, first, False)


@inline
def _n_left(store, best):
    """Nodes that a slice leaves to the walk."""
    return store.slices[best].n_trie


@inline
def _take_mask(store, state, other, first_exit):
    """Give a state the mask of another one, and beside its exits those that were added from number `first_exit` on."""
    anonymous = store.states[other].anonymous
    store.states[state].mask = store.states[anonymous].mask
    store.states[state].n_tokens = store.states[anonymous].n_tokens
    store.states[state].first_exit = first_exit
    store.states[state].n_exits = store.n_exits - first_exit
    store.states[state].base = other
    kind = store.states[anonymous].mask_kind
    store.states[state].mask_kind = kind


@inline
def first_replaced(store, anonymous, exit, end):
    """The first exit from number `exit` on before `end` whose node has one of the twin's own, or `end`."""
    own = store.states[anonymous].first_exit
    own_end = own + store.states[anonymous].n_exits
    if own == own_end:
        return end
    for i in range(exit, end):
        for j in range(own, own_end):
            if store.exits[i].node == store.exits[j].node:
                return i
    return end


@kernel
def _build_own_mask(store, state, asked):
    """The same by a walk; `state` is the twin."""
    if store.states[state].mask_kind != MaskKind.NONE:
        return
    room = exact_room(store, state)
    best = best_slice(store, state) if room == NO_ROOM else 0
    if store.exceeded != 0:
        return
    n_bytes = store.n_words * 4
    words = room_for_words(store)
    spend(store, n_bytes >> 7)
    first_exit = store.n_exits
    reserve(store.exits, 1)
    lexemes = _lexemes(store, asked)
    base = store.bases[lexemes]
    n_tokens, is_walked = GIVEN_UP, 0
    if is_wide(store, state) and (best < 0 or _n_left(store, best) > MANY_NODES):
        n_tokens = _changed_mask(store, state, base)
        if n_tokens == GIVEN_UP:
            store.n_exits = first_exit
        else:
            is_walked = store.states[base].walked
    if n_tokens == GIVEN_UP and best >= 0:
        taken = store.slices[best]
        copy_bytes(words, taken.mask, n_bytes)
        n_tokens = taken.n_tokens
        if room != NO_ROOM:
            n_tokens -= _forbid_longer(words, taken.lengths, taken.longer, room)
        n_tokens += wide_walk(store, taken.trie, taken.main, 0, taken.n_trie, state)
    elif n_tokens == GIVEN_UP:
        fill_bytes(words, n_bytes, 0)
        if is_wide(store, state):
            is_walked = 1
            n_tokens = wide_walk(store, store.trie.address, 0, 0, store.n_trie, state)
        else:
            n_tokens = narrow_walk(store, 0, state)
    if store.exceeded != 0:
        store.n_exits = first_exit
        return
    n_tokens += allow_duplicates(store, words)
    store.states[state].walked = is_walked
    store.states[state].first_exit = first_exit
    store.states[state].n_exits = store.n_exits - first_exit
    store.states[state].n_tokens = n_tokens
    if n_tokens <= LIST_AT_MOST:
        kind = MaskKind.LIST
        store.states[state].mask = list_tokens(store, words, n_tokens)
    else:
        kind = MaskKind.WORDS
        store.states[state].mask = store_mask(store, words)
        if base == 0 and is_wide(store, state):
            store.bases[lexemes] = state
    store.states[state].mask_kind = kind


@inline
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
    """The set of the lexemes that go on in a state; makes room for it in `bases`."""
    first = store.scratch_top
    for i in range(0, list_length(store.state_keys, state) & -2, 2):
        push(store, store.state_keys.pool[list_offset(store.state_keys, state) + i])
    number = lexeme_set(store, first)
    reserve(store.bases, number + 1)
    return number


@kernel
def _changed_mask(store, state, base):
    """The mask of a state, made of that of another one; returns how many tokens it has, or GIVEN_UP."""
    if base == 0 or store.states[base].mask_kind != MaskKind.WORDS:
        return GIVEN_UP
    mask = store.masks[store.states[base].mask]
    copy_bytes(store.words.address + WORDS_MARGIN, mask, store.n_words * 4)
    return changed_walk(store, state, base)
