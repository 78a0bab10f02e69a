"""Tokens that stay inside of a lexeme and may have no canonical continuation, by the lexer state alone.

The trie is walked as for the mask of the lexer state. Most tokens are answered by one character, which may come after
them and ends the word; for most others one is found inside of the lexeme by a search (canonical/search.py). What is
left depends on what comes after the lexeme: blanks before a value, say. Where it may end is found here, so that a place
asks one token for all that end alike.

Every first byte is reviewed by itself: lexer states differ, but after a first byte most lead to the same ones. Lexer
states that take the same tokens share the answer if there is room for more after the longest token: a string with room
for 1,000 characters is reviewed as one with room for 999. Others do not: where 128 characters may come, only a quote
can follow the token of 128 blanks; a number of at least 256 begins with the same tokens as one of at least 1, but after
"40" only one of them has a digit too few. Tokens of parts (mask/crossing.py) are reviewed with the part.

In: tables, a lexer state with a mask, a split state. Out: two lists of tokens in `tokens`: what nothing can follow, and
what the lexer state does not answer. Cost: 10 ns a node of the trie; once for all grammars of a store.
"""

from ..lexeme_masks.slice_choice import cover_of_state
from ..lexer.dense_transitions import DENSE_BYTES, DenseEntry, dense_row, dense_state, expand
from ..lexer.states import DEAD, next_state
from ..machine.jit import inline, kernel
from ..machine.raw import load_u16
from ..mask.configurations import pack
from ..tables.grammar_layout import GRAMMAR
from ..tables.int_lists import append
from ..tables.interning import map_get, map_put
from ..tables.kinds import MaskKind
from ..tables.memory import copy_bytes, ensure, load_i32, load_i64, store_i32, store_i64
from ..vocabulary.trie_words import byte_of, depth_of, subtree_end, token_of
from .chains import NO_CHAIN, chain_after
from .ends import INSIDE_PLACE, has_stopped, is_safe, live_bytes, note_missing
from .positions import SPLIT_BITS
from .search import CUT, FOLLOWS_ON, NEEDS_STATE, NOTHING_FOLLOWS, ends_next, fits_none, late_verdict, may_leave
from .slots import CANON, REFUSED_SPLIT
from .witnesses import MOST_WITNESSES, NEXT, NO_WITNESS, first_witness, split_after_text, witness_text

OF_PART = 1 << 61  # in a key: the answer is that of a part
OF_BYTE = 1 << 60  # that of the lexer state after a first byte
TOO_LITTLE = 1  # in place of an answer
NO_WAY = -1  # in place of a witness
LISTED = -1  # in place of a token


@kernel
def keep_found(owner, head, canon):
    """Copy `found` after a number into `tokens`; the address of (head, how many, the tokens)."""
    n = canon.n_found
    first = owner.n_tokens
    address = ensure(owner, GRAMMAR.tokens, (first + n + 2) * 4) + first * 4
    store_i32(address, head)
    store_i32(address + 4, n)
    copy_bytes(address + 8, canon.found.address, n * 4)
    owner.n_tokens = first + n + 2
    return address


@kernel
def verdict_inside(store, grammar, canon, reached, after, token, chain):
    """Whether a canonical continuation exists after a token that led to a lexer state, split state and chain.

    No byte ends the word at once. CUT where what follows the lexeme decides: lexer states know nothing of it.
    """
    if may_leave(store, canon, reached, after):
        return CUT
    if ends_next(store, canon, reached):
        return _verdict_of_end(store, canon, reached, after, token)
    return late_verdict(store, grammar, canon, canon, pack(INSIDE_PLACE, reached), after, token, chain)


@kernel
def _verdict_of_end(store, canon, reached, after, token):
    """As `verdict_inside` where each byte that may come next ends the lexeme: do tokens fit that begin so?"""
    if store.states[reached].accepts != 0:
        return CUT
    if load_i64(canon.fits + after * 8) == 0:
        note_missing(canon, after)
        return NEEDS_STATE
    live = live_bytes(store, canon, reached)
    for byte in range(128):
        if load_i64(live + 8 * (byte >> 6)) >> (byte & 63) & 1 != 0 and not fits_none(store, canon, after, token, byte):
            return CUT
    return NOTHING_FOLLOWS


@inline
def consider(store, grammar, canon, split, token, reached, after):
    """Enter a token that led to a lexer state and a split state in one of the lists, unless something follows it."""
    if is_safe(store, grammar, canon, pack(INSIDE_PLACE, reached), after):
        return
    chain = chain_after(canon, split, after, NO_CHAIN, token)
    found = verdict_inside(store, grammar, canon, reached, after, token, chain)
    if found == NOTHING_FOLLOWS:
        append(canon, CANON.found, CANON.n_found, token)
    elif found != FOLLOWS_ON:
        way, end = _way_out(store, canon, reached, after, token, chain)
        leave_open(canon, token, end, way)


@kernel
def _way_out(store, canon, reached, after, token, chain):
    """A witness that leads a token to where its lexeme may end, NO_WITNESS if it may at once, or NO_WAY; and what ends.

    That is the set of lexemes with the split state there, in one number: for all tokens with one number the same bytes
    decide, which come after the lexeme, as none that goes on in it ends the word (`verdict_inside`).
    """
    if may_leave(store, canon, reached, after):
        return NO_WITNESS, store.states[reached].accepts << SPLIT_BITS | after
    key = first_witness(canon, after, token)
    for number in range(MOST_WITNESSES if chain == NO_CHAIN else 0):
        witness = map_get(canon.witnesses, key + number * NEXT)
        if witness < 0:
            break
        state, text = reached, witness_text(canon, witness) if witness > NO_WITNESS else 0
        while text != 0 and state != DEAD:
            state = next_state(store, state, text & 0xFF)
            text >>= 8
        if witness > NO_WITNESS and state != DEAD and may_leave(store, canon, state, split_after_text(canon, witness)):
            return witness, store.states[state].accepts << SPLIT_BITS | split_after_text(canon, witness)
    return NO_WAY, NO_WAY


@kernel
def _review_trie(store, grammar, canon, state, split, node, n_nodes, depth):
    """Consider the tokens of the trie from a node on, above which `state` was reached at a depth."""
    stack, kinds, after = canon.walk.address, canon.kinds, load_i64(canon.fits + split * 8)
    trie = store.trie.address
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


@kernel
def _answer(store, grammar, canon, key, state, split, node, n_nodes, depth):
    """Address of the answer with a key, or 0: stop. The rest is that of `_review_trie`, which finds a new one.

    It is kept for all grammars if there is room.
    """
    known = map_get(canon.inside, key)
    if known >= 0:
        return canon.tokens.address + known * 4
    canon.n_found = canon.n_doubtful = 0
    _review_trie(store, grammar, canon, state, split, node, n_nodes, depth)
    if canon.n_missing != 0 or has_stopped(store, grammar):
        return 0
    if key < OF_BYTE:  # of several lexer states: tokens whose lexeme ends alike in this one need not in another
        for i in range(2 * canon.n_doubtful):
            canon.open_ends[i] = NO_WAY
    if canon.bytes_used > canon.shared_bytes:
        return keep_answer(grammar, canon)
    map_put(canon.inside, key, canon.n_tokens)
    return keep_answer(canon, canon)


@kernel
def review_all(store, grammar, canon, state, split):
    """Address of an answer (canonical/dead.py) for all tokens of a lexer state with much room; 0: stop, or TOO_LITTLE.

    `state` is a twin with a mask, `split` is not inside of a character and has its tables.
    """
    n_sure = cover_of_state(store, state, store.slices[0].char)  # plain characters of JSON that may certainly come
    if store.states[state].mask_kind != MaskKind.WORDS or n_sure <= canon.longest_token:
        return TOO_LITTLE
    key = store.states[state].mask << 16 | split
    return _answer(store, grammar, canon, key, state, split, 1, subtree_end(store.trie[0]), 0)


@kernel
def review_byte(store, grammar, canon, state, split, byte):
    """As `review_all` for the tokens that begin with a byte; blanks before any key lead to one lexer state."""
    key = OF_BYTE | store.states[next_state(store, state, byte)].anonymous << 24 | split << 8 | byte
    node = load_i32(canon.root_child + byte * 4)
    return _answer(store, grammar, canon, key, state, split, node, subtree_end(store.trie[node]), 0)


@kernel
def review_part(store, grammar, canon, part, state, node, split):
    """As `review_all` for the tokens of a part (subtree_masks.py): below a node, reached in a lexer state."""
    key = OF_PART | part << 16 | split
    word, anonymous = store.trie[node], store.states[state].anonymous
    return _answer(store, grammar, canon, key, anonymous, split, node + 1, subtree_end(word), depth_of(word))


@inline
def leave_open(canon, token, end, way):
    """Enter a token in `doubtful`, see `_way_out`."""
    at = ensure(canon, CANON.open_ends, (canon.n_doubtful + 1) * 16) + canon.n_doubtful * 16
    store_i64(at, end)
    store_i64(at + 8, way)
    append(canon, CANON.doubtful, CANON.n_doubtful, token)


@kernel
def keep_answer(owner, canon):
    """Keep the lists in `found` and `doubtful` as an answer (canonical/dead.py); its address."""
    n, position = 0, owner.n_tokens
    keep_found(owner, 0, canon)
    for i in range(canon.n_doubtful):
        if canon.doubtful[i] == LISTED:
            continue
        n_before, end = owner.n_tokens, canon.open_ends[2 * i]
        append(owner, GRAMMAR.tokens, GRAMMAR.n_tokens, 0)
        append(owner, GRAMMAR.tokens, GRAMMAR.n_tokens, canon.open_ends[2 * i + 1])
        for j in range(i, canon.n_doubtful):
            if canon.open_ends[2 * j] == end and canon.doubtful[j] != LISTED:
                append(owner, GRAMMAR.tokens, GRAMMAR.n_tokens, canon.doubtful[j])
                canon.doubtful[j] = LISTED
        owner.tokens[n_before] = owner.n_tokens - n_before - 2
        n += 1
    owner.tokens[position] = n
    return owner.tokens.address + position * 4
