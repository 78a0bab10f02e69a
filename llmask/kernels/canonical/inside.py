"""Tokens that stay inside of a lexeme and may have no canonical continuation, by the lexer state alone.

Most tokens are answered by one character, which may come behind them and ends the word. Where a lexer state takes most
bytes that is known for nearly all of them at once (canonical/wide.py); where it takes few the trie is walked.

Such lexer states that take the same tokens share the answer if there is room behind all of these: a string with
room for 1,000 characters more is reviewed as one with room for 999. Others do not: where 128 characters may come, only
a quote can follow the token of 128 blanks; a number of at least 256 begins with the same tokens as one of at least 1,
but behind "40" only one of them has a digit too few. Where the trie is walked every first byte is reviewed by
itself, and the answer is that of the lexer state behind it: blanks before any key lead to one lexer state, and states
that are alike (canonical/alike.py) share it. Tokens of
parts (mask/crossing.py) are reviewed with the part, and share the answer as parts do.

In: tables, a lexer state with a mask, a split state, a first byte. Out: two lists of tokens in TOKENS: those that
nothing can follow, those that the lexer state does not answer. Cost: 5 ns a node of the trie; once for all grammars
of a store.
"""

from ..lexer.dense_transitions import DENSE_BYTES, DenseEntry, dense_row, dense_state, expand
from ..lexer.states import DEAD, next_state
from ..machine.constants import TRIE_END_MASK, TRIE_END_SHIFT
from ..machine.jit import inline, kernel
from ..machine.numba_names import map_at
from ..machine.raw import load_u16
from ..mask.configurations import pack
from ..tables.grammar_layout import GRAMMAR
from ..tables.int_lists import append
from ..tables.interning import map_get, map_put
from ..tables.memory import block, ensure, get_i64, load_i32, load_i64, store_i32, store_i64
from ..vocabulary.trie_words import byte_of, depth_of, subtree_end, token_of
from .alike import shape_of
from .chains import NO_CHAIN, chain_after
from .descent import CUT, FOLLOWS_ON, NEEDS_STATE, NOTHING_FOLLOWS, ends_next, fits_none, may_leave
from .ends import INSIDE_PLACE, has_stopped, note_missing, safe_byte
from .guess import NO_WITNESS, guess_witness, is_half, witness_text
from .live import NO_BYTE, live_ascii
from .search import has_own_witness, late_verdict
from .slots import (
    DOUBTFUL,
    FOLLOWS,
    FOUND,
    INSIDE,
    KINDS,
    N_DOUBTFUL,
    N_FOUND,
    N_MISSING,
    REFUSED_SPLIT,
    ROOT_CHILD,
    SAFE_INSIDE,
    SHARED_BYTES,
    WALK,
)

MEMO_ENTRIES = 1 << 13  # of lexer state and split state, whether a byte that ends the word may come; the last asked for
ALL_BYTES = 256  # for a first byte: all tokens
OF_PART = 1 << 61  # in a key: the answer is that of a part
OF_BYTE = 1 << 60  # in a key: the answer is that of the lexer state behind a first byte


@kernel
def keep_found(owner, head, canon):
    """Copy FOUND behind a number into TOKENS; the address of (head, how many, the tokens)."""
    n = canon[N_FOUND]
    first = owner.n_tokens
    address = ensure(owner, GRAMMAR.tokens, (first + n + 2) * 4) + first * 4
    store_i32(address, head)
    store_i32(address + 4, n)
    found = ensure(canon, FOUND, 4)
    for i in range(n):
        store_i32(address + 8 + i * 4, load_i32(found + i * 4))
    owner.n_tokens = first + n + 2
    return address


@inline
def _ends_behind(store, canon, state, split, token):
    """Whether the lexeme ends behind the character in which a token ends, if its guessed end comes."""
    witness = guess_witness(canon, split, token) if is_half(canon, split) else NO_WITNESS
    if witness <= NO_WITNESS:
        return False
    text = witness_text(canon, witness)
    while text != 0 and state != DEAD:
        state = next_state(store, state, text & 0xFF)
        text >>= 8
    return state != DEAD and ends_next(store, canon, state)


@inline
def is_safe_inside(store, grammar, canon, state, split):
    """Whether a byte may come in a lexer state, inside of the lexeme, that ends the word in a split state."""
    key = state << 17 | split << 1
    at = ensure(canon, SAFE_INSIDE, MEMO_ENTRIES * 8) + ((state * 31 + split) & (MEMO_ENTRIES - 1)) * 8
    known = load_i64(at)
    if known & -2 != key:
        known = key | (1 if safe_byte(store, grammar, canon, pack(INSIDE_PLACE, state), split) != NO_BYTE else 0)
        if not has_stopped(store, grammar):
            store_i64(at, known)
    return known & 1 != 0


@kernel
def verdict_inside(store, grammar, canon, reached, after, token, chain):
    """Whether a canonical continuation exists behind a token that led to a lexer state, split state and chain.

    CUT where what follows the lexeme decides, of which lexer states know nothing.
    """
    packed = pack(INSIDE_PLACE, reached)
    if chain & 1 == 0 and is_safe_inside(store, grammar, canon, reached, after):
        return FOLLOWS_ON
    if chain == NO_CHAIN and _ends_behind(store, canon, reached, after, token):
        return FOLLOWS_ON if has_own_witness(store, grammar, canon, packed, after, token, chain) else CUT
    if chain & 1 == 0 and may_leave(store, canon, reached, after):
        return CUT
    if chain & 1 == 0 and ends_next(store, canon, reached):
        return _verdict_of_end(store, canon, reached, after, token)
    return late_verdict(store, grammar, canon, canon, packed, after, token, chain)


@kernel
def _verdict_of_end(store, canon, reached, after, token):
    """As `verdict_inside` where each byte that may come next ends the lexeme: do tokens fit that begin so?"""
    if store.states[reached].accepts != 0:
        return CUT
    if load_i64(canon[FOLLOWS] + after * 8) == 0:
        note_missing(canon, after)
        return NEEDS_STATE
    live = live_ascii(store, canon, reached)
    for byte in range(128):
        if load_i64(live + 8 * (byte >> 6)) >> (byte & 63) & 1 != 0 and not fits_none(store, canon, after, token, byte):
            return CUT
    return NOTHING_FOLLOWS


@inline
def consider(store, grammar, canon, split, token, reached, after):
    """Enter a token that led to a lexer state and a split state in one of the lists, unless something follows it."""
    if is_safe_inside(store, grammar, canon, reached, after):
        return
    chain = chain_after(canon, split, after, NO_CHAIN, token)
    found = verdict_inside(store, grammar, canon, reached, after, token, chain)
    if found == NOTHING_FOLLOWS:
        append(canon, FOUND, N_FOUND, token)
    elif found != FOLLOWS_ON:
        append(canon, DOUBTFUL, N_DOUBTFUL, token)


@kernel
def _review_trie(store, grammar, canon, state, split, trie, node, n_nodes, depth):
    """Consider the tokens of a trie from a node on, above which `state` was reached at a depth."""
    stack, kinds, after = block(canon, WALK), canon[KINDS], load_i64(canon[FOLLOWS] + split * 8)
    store_i64(stack + depth * 8, dense_row(store, state))
    rows = store.dense_rows
    while node < n_nodes:
        word = load_i64(trie + node * 8)
        at = stack + depth_of(word) * 8
        byte, dense = byte_of(word), load_i64(at - 8)
        entry = load_i32(rows.address + dense * DENSE_BYTES + byte * 4)
        if entry == DenseEntry.UNKNOWN:
            entry = expand(store, dense, byte)
            rows = store.dense_rows
        if entry < DenseEntry.FIRST:
            node = subtree_end(word)  # what ends the lexeme is no matter of the lexer state
            continue
        dense = entry - DenseEntry.FIRST
        store_i64(at, dense)
        node += 1
        token = token_of(word)
        if token < 0:
            continue
        reached = load_u16(after + load_u16(kinds + token * 2) * 2)
        if reached == REFUSED_SPLIT:
            continue
        consider(store, grammar, canon, split, token, dense_state(store, dense), reached)


@inline
def key_of_byte(store, canon, state, split, byte):
    """Key of what holds for the tokens that begin with a byte, which a lexer state takes."""
    return OF_BYTE | shape_of(store, canon, next_state(store, state, byte)) << 24 | split << 8 | byte


@kernel
def review_inside(store, grammar, canon, state, split, byte):
    """Address of (n, m, m tokens that nothing can follow, n tokens that are not answered), or 0: stop.

    `state` is a twin with a mask of words, `split` is not inside of a character and has its tables; `byte` is the first
    of the tokens.
    """
    key = key_of_byte(store, canon, state, split, byte)
    known = map_get(map_at(canon, INSIDE), key)
    if known >= 0:
        return canon.tokens.address + known * 4
    canon[N_FOUND] = canon[N_DOUBTFUL] = 0
    trie, first = store.trie.address, load_i32(canon[ROOT_CHILD] + byte * 4)
    end = (get_i64(trie, first) >> TRIE_END_SHIFT) & TRIE_END_MASK
    _review_trie(store, grammar, canon, state, split, trie, first, end, 0)
    return keep_answer(store, grammar, canon, key)


@inline
def key_of_part(part, split):
    """Key of what holds for the tokens of a part."""
    return OF_PART | part << 16 | split


@kernel
def review_part(store, grammar, canon, part, state, node, split):
    """As `review_inside` for the tokens of a part (subtree_masks.py): below a node, reached in a lexer state."""
    key = key_of_part(part, split)
    known = map_get(map_at(canon, INSIDE), key)
    if known >= 0:
        return canon.tokens.address + known * 4
    canon[N_FOUND] = canon[N_DOUBTFUL] = 0
    word = store.trie[node]
    end, depth = subtree_end(word), depth_of(word)
    anonymous = store.states[state].anonymous
    _review_trie(store, grammar, canon, anonymous, split, store.trie.address, node + 1, end, depth)
    return keep_answer(store, grammar, canon, key)


@kernel
def keep_answer(store, grammar, canon, key):
    """Keep the lists in FOUND and DOUBTFUL; their address as `review_inside` has it, or 0: stop."""
    if canon[N_MISSING] != 0 or has_stopped(store, grammar):
        return 0
    is_shared = canon.bytes_used <= canon[SHARED_BYTES]
    owner = canon if is_shared else grammar
    n, position = canon[N_DOUBTFUL], owner.n_tokens
    keep_found(owner, n, canon)
    for i in range(n):
        append(owner, GRAMMAR.tokens, GRAMMAR.n_tokens, load_i32(block(canon, DOUBTFUL) + i * 4))
    if is_shared:
        map_put(map_at(canon, INSIDE), key, position)
    return owner.tokens.address + position * 4
