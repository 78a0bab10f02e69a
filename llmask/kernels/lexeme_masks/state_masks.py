"""Masks of lexer states: computed once by a walk of the trie, shared by all grammars of a tokenizer.

Short masks are lists of tokens, others bitmasks; equal bitmasks are one (the keys of an object that exclude declared
names have the mask of any string). A mask is found in the first of these ways that serves:

    the state has a bound that no token reaches: the mask of the state without it
    it is a key that excludes declared names: the mask of a string, with other exits at the ends of names
        (excluded_texts.py)
    it is wide, and has no slice, or one that leaves many nodes to the walk: the mask of the first wide state with the
        same lexemes, changed where both differ (delta_walk.py)
    it has a slice: the mask of the slice, and a walk of the tokens outside of it
    else a walk

In: a lexer state. Out: mask, token count and exits in the record of its anonymous state. Cost: the walk's.
"""

from ..lexer.dense_transitions import is_wide
from ..lexer.states import DEAD, lexeme_set, live_lexeme, n_live, only_rest, state_of
from ..machine.jit import inline, kernel
from ..machine.raw import take_bit
from ..regex.constructors import make_concat, make_repeat
from ..regex.ideals import NO_ROOM
from ..regex.nodes import UNBOUNDED, push
from ..tables.kinds import MaskKind, NodeKind
from ..tables.memory import copy_bytes, fill_bytes, load_i32, reserve, spend
from .delta_walk import GIVEN_UP, changed_walk
from .excluded_texts import free_state, put_ends_right
from .kept_masks import allow_duplicates, keep_mask
from .slice_choice import best_slice, exact_room
from .trie_walk import mask_words, narrow_walk, room_for_words, wide_walk

MANY_NODES = 16_000  # left to the walk by a slice: looking what changed comes first
LIST_AT_MOST = 64  # longer lists are kept as bitmasks: of 128,000 tokens these are written as fast, and combined faster
# numbers at `lengths` of a slice: the length of its longest token, then how many have more than 0, 1, ... code points
LONGEST, LONGER_THAN = 0, 1


@kernel
def build_state_mask(store, asked):
    """Compute mask, token count and exits of a lexer state, kept on its anonymous state."""
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
    node = only_rest(store, state)
    repeat = store.nodes[node].a
    if store.nodes[node].kind != NodeKind.CONCAT or store.nodes[repeat].kind != NodeKind.REPEAT:
        return DEAD
    high = store.nodes[repeat].high
    if store.nodes[repeat].low != 0 or high == UNBOUNDED or high <= store.longest:
        return DEAD
    unbounded = make_repeat(store, store.nodes[repeat].a, 0, UNBOUNDED)
    return state_of(store, live_lexeme(store, state, 0), make_concat(store, unbounded, store.nodes[node].b))


@inline
def _take_mask(store, state, other, first_exit):
    """Give a state the mask of another one, and besides its exits the ones added from number `first_exit` on."""
    own, taken = store.states[state], store.states[store.states[other].anonymous]
    own.mask, own.n_tokens, own.base = taken.mask, taken.n_tokens, other
    own.first_exit, own.n_exits = first_exit, store.n_exits - first_exit
    own.mask_kind = taken.mask_kind


@inline
def first_replaced(store, anonymous, exit, end):
    """The first exit from number `exit` on before `end` at whose node a state has one of its own, or `end`."""
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
    """Compute the mask of an anonymous state by a walk: of what changed, with a slice, or a whole one."""
    if store.states[state].mask_kind != MaskKind.NONE:
        return
    # which slice serves
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
    # walk
    n_tokens = _changed_mask(store, state, base, best)
    if n_tokens == GIVEN_UP and best >= 0:
        n_tokens = _sliced_mask(store, state, best, room)
    elif n_tokens == GIVEN_UP:
        fill_bytes(words, n_bytes, 0)
        if is_wide(store, state):
            n_tokens = wide_walk(store, store.trie.address, 0, 0, store.n_trie, state)
        else:
            n_tokens = narrow_walk(store, 0, state)
    if store.exceeded != 0:
        store.n_exits = first_exit
        return
    # keep it
    n_tokens += allow_duplicates(store, words)
    kind, mask = keep_mask(store, words, n_tokens, LIST_AT_MOST)
    kept = store.states[state]
    kept.mask, kept.n_tokens = mask, n_tokens
    kept.first_exit, kept.n_exits = first_exit, store.n_exits - first_exit
    if kind == MaskKind.WORDS and base == 0 and is_wide(store, state):
        store.bases[lexemes] = state
    store.states[state].mask_kind = kind


@kernel
def _lexemes(store, state):
    """The set of the live lexemes of a state; makes room for it in `bases`."""
    first = store.scratch_top
    for i in range(n_live(store, state)):
        push(store, live_lexeme(store, state, i))
    number = lexeme_set(store, first)
    reserve(store.bases, number + 1)
    return number


@kernel
def _changed_mask(store, state, base, best):
    """The mask of a wide state, made from another one's; returns how many tokens it has, or GIVEN_UP."""
    if not is_wide(store, state) or (best >= 0 and store.slices[best].n_trie <= MANY_NODES):
        return GIVEN_UP
    if base == 0 or store.states[base].mask_kind != MaskKind.WORDS:
        return GIVEN_UP
    first_exit = store.n_exits
    copy_bytes(mask_words(store), store.masks[store.states[base].mask], store.n_words * 4)
    n_tokens = changed_walk(store, state, base)
    if n_tokens == GIVEN_UP:
        store.n_exits = first_exit
    return n_tokens


@inline
def _sliced_mask(store, state, best, room):
    """The mask of a slice, without tokens that are longer than the room, and of the tokens outside of it that a walk
    finds; returns how many tokens it has.
    """
    words = mask_words(store)
    taken = store.slices[best]
    copy_bytes(words, taken.mask, store.n_words * 4)
    n_tokens = taken.n_tokens
    if room != NO_ROOM and room < load_i32(taken.lengths + 4 * LONGEST):
        n_longer = load_i32(taken.lengths + 4 * (LONGER_THAN + room))
        for i in range(n_longer):
            take_bit(words, load_i32(taken.longer + 4 * i))
        n_tokens -= n_longer
    return n_tokens + wide_walk(store, taken.trie, taken.main, 0, taken.n_trie, state)
