"""Masks of configurations, put together and written.

    mask(configuration) = mask(lexer state) | crossing tokens | parts | named tokens | ends where the document may end

The tokens that cross a lexeme's end (boundary_tokens.py) are a short list in the grammar. Where parts of the trie are
left to lexeme_masks/subtree_masks.py, and where the list is long, the mask is a bitmask of the grammar's; equal ones
are one.

In: the tables and a configuration. Out: fields of the configuration; `fill` writes the words.
Cost: of the walks; filling copies 16 KB (0.3 us) and sets 1 ns a listed token.
"""

from ..lexeme_masks.kept_masks import intern_mask
from ..lexeme_masks.state_masks import build_state_mask
from ..lexeme_masks.trie_walk import has_bit, room_for_words, set_bit
from ..lexer.states import DEAD
from ..machine.jit import inline, kernel
from ..machine.raw import VECTOR_BYTES, and_vectors
from ..parser.token_terminals import list_named
from ..tables.grammar_layout import GRAMMAR
from ..tables.kinds import Fill, MaskKind
from ..tables.memory import copy_bytes, fill_bytes, has_stopped, load_i32, reserve, store_i32
from .boundary_tokens import cross_whole
from .configurations import ENDED, OWN_MASK
from .crossing import intern_crossings
from .tracked_masks import collect_tracked

HAS_NAMED = 4  # bit beside MaskKind.LIST or MaskKind.WORDS: tokens are named, see parser/token_terminals.py
KIND_BITS = 3
OWN_AT_LEAST = 2048  # more crossing tokens than this are kept as a bitmask: 16 KB against 4 bytes a token


@kernel
def build_mask(store, grammar, configuration):
    """Compute the mask of a configuration."""
    if grammar.configurations[configuration].mask_kind != MaskKind.NONE:
        return
    collect(store, grammar, configuration)
    if not has_stopped(store, grammar):
        kind = keep_mask(store, grammar, configuration)
        if not has_stopped(store, grammar):
            publish(grammar, configuration, kind)


@kernel
def collect(store, grammar, configuration):
    """List the crossing tokens of a configuration, and the parts of its mask; the mask of its lexer state is built.

    Returns how many of the tokens its `base` has as well (tracked_masks.py).
    """
    grammar.n_crossing = 0
    grammar.n_parts = 0
    if configuration == ENDED or grammar.configurations[configuration].state == DEAD:
        return 0
    build_state_mask(store, grammar.configurations[configuration].state)
    if store.exceeded != 0:
        return 0
    if grammar.tracks_values != 0:
        return collect_tracked(store, grammar, configuration)
    cross_whole(store, grammar, configuration)
    return 0


@kernel
def keep_mask(store, grammar, configuration):
    """Keep what was collected in the fields of a configuration, and add what is named; returns the kind of the mask."""
    kept = grammar.configurations[configuration]
    state = _state_of(kept, configuration)
    n_in_parts = _tokens_in_parts(store, grammar)
    kept.n = grammar.n_crossing
    kept.total = kept.n + n_in_parts
    if state != DEAD:
        kept.total += store.states[store.states[state].anonymous].n_tokens
    if kept.accepts != 0:
        kept.total += store.n_eos
    kind = MaskKind.LIST
    if kept.n <= OWN_AT_LEAST and n_in_parts == 0:
        kept.first = intern_crossings(grammar, reserve(grammar.crossing, 1), kept.n)
    else:
        words = room_for_words(store)
        _write_found(store, grammar, state, words)
        kept.mask = _own_mask(store, grammar, words)
        kind = MaskKind.WORDS
    if kept.naming != 0:
        kind |= HAS_NAMED
        _add_named(store, grammar, kept, state)
    return kind


@inline
def _state_of(kept, configuration):
    """The lexer state of a configuration, DEAD where a sequence has ended."""
    return DEAD if configuration == ENDED else kept.state


@inline
def publish(grammar, configuration, kind):
    """Show the mask of a configuration to readers, which take no lock."""
    grammar.configurations[configuration].mask_kind = kind


@inline
def _tokens_in_parts(store, grammar):
    """How many tokens the parts have that are bitmasks."""
    n_tokens = 0
    for i in range(grammar.n_parts):
        part = grammar.parts[i].part
        if store.part_masks[part].kind == MaskKind.WORDS:
            n_tokens += store.part_masks[part].n_tokens
    return n_tokens


@kernel
def _write_found(store, grammar, state, words):
    """Write what was found for the mask in progress: that of the lexer state, crossing tokens, and parts."""
    _write(store, state, grammar.crossing, 0, grammar.n_crossing, words, 0)
    for i in range(grammar.n_parts):
        part = grammar.parts[i].part
        if store.part_masks[part].kind == MaskKind.WORDS:
            mask = store.masks[store.part_masks[part].mask]
            for at in range(0, store.n_words * 4, 4):
                store_i32(words + at, load_i32(words + at) | load_i32(mask + at))


@inline
def _own_mask(store, grammar, words):
    """Number of a bitmask of the grammar."""
    masks, heads, count, links = GRAMMAR.own_masks, GRAMMAR.own_heads, GRAMMAR.n_own_masks, GRAMMAR.own_links
    return intern_mask(grammar, masks, heads, count, links, words, store.n_words)


@kernel
def _add_named(store, grammar, kept, state):
    """Keep the tokens that are named and not in the rest of a mask, and count them."""
    words = room_for_words(store)
    _write_found(store, grammar, state, words)
    if kept.accepts != 0:
        _allow_ends(store, words, 0)
    n = list_named(store, grammar, kept.naming - 1, words)
    named = reserve(grammar.named, 1)
    kept.total += n
    if n <= OWN_AT_LEAST:
        kept.n_named, kept.first_named = n, intern_crossings(grammar, named, n)
        return
    fill_bytes(words, store.n_words * 4, 0)
    for i in range(n):
        set_bit(words, named[i])
    kept.n_named, kept.first_named = OWN_MASK, _own_mask(store, grammar, words)


@inline
def _allow(words, token, allowed):
    """Add a token to a mask that is cut to another one, at the address `allowed` if that is not 0."""
    if allowed == 0 or has_bit(allowed, token):
        set_bit(words, token)


@inline
def _allow_ends(store, words, allowed):
    for i in range(store.n_eos):
        _allow(words, store.eos[i], allowed)


@kernel
def _allow_named(store, grammar, kept, words, allowed):
    """Add the tokens that are named to a mask; `allowed` see `fill`."""
    if kept.n_named == OWN_MASK:
        mask = grammar.own_masks[kept.first_named]
        for at in range(0, store.n_words * 4, 4):
            added = load_i32(mask + at) & (load_i32(allowed + at) if allowed != 0 else -1)
            store_i32(words + at, load_i32(words + at) | added)
        return
    named = grammar.crossings.pool
    for i in range(kept.first_named, kept.first_named + kept.n_named):
        _allow(words, named[i], allowed)


@inline
def _copy(words, mask, n_bytes, allowed):
    """Copy a mask; `allowed` see `fill`."""
    if allowed == 0:
        copy_bytes(words, mask, n_bytes)
        return
    for at in range(0, n_bytes - VECTOR_BYTES + 1, VECTOR_BYTES):
        and_vectors(words + at, mask + at, allowed + at)
    for at in range(n_bytes // VECTOR_BYTES * VECTOR_BYTES, n_bytes, 4):
        store_i32(words + at, load_i32(mask + at) & load_i32(allowed + at))


@kernel
def _write(store, state, crossing, first, n, words, allowed):
    """Write the mask of a lexer state and the tokens int32 `crossing[first : first + n]`; `allowed` see `fill`."""
    n_bytes = store.n_words * 4
    if state == DEAD:
        fill_bytes(words, n_bytes, 0)
    else:
        anonymous = store.states[state].anonymous
        mask = store.states[anonymous].mask
        if store.states[anonymous].mask_kind == MaskKind.WORDS:
            _copy(words, store.masks[mask], n_bytes, allowed)
        else:
            fill_bytes(words, n_bytes, 0)
            tokens = store.token_lists
            for i in range(mask, mask + store.states[anonymous].n_tokens):
                _allow(words, tokens[i], allowed)
    for i in range(first, first + n):
        _allow(words, crossing[i], allowed)


@inline
def fill(store, grammar, configuration, words, allowed):
    """Write the mask of a configuration to the address `words`; reads only.

    `allowed` is the address of a mask to which it is cut, or 0.
    """
    kept = grammar.configurations[configuration]
    kind = kept.mask_kind
    if kind == MaskKind.NONE:
        return Fill.MISS
    if kind & KIND_BITS == MaskKind.WORDS:
        _copy(words, grammar.own_masks[kept.mask], store.n_words * 4, allowed)
    else:
        state = _state_of(kept, configuration)
        _write(store, state, grammar.crossings.pool, kept.first, kept.n, words, allowed)
    if kept.accepts != 0:
        _allow_ends(store, words, allowed)
    if kind & HAS_NAMED != 0:
        _allow_named(store, grammar, kept, words, allowed)
    if kept.total == 0:
        return Fill.EMPTY
    return Fill.ALL if kept.total == store.n_vocab else Fill.SOME
