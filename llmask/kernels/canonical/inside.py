"""Tokens that stay inside of a lexeme and may have no canonical continuation, by the lexer state alone.

Most tokens are answered by one character, which may come behind them and ends the word. A string takes 100,000 tokens,
and nearly all of them are answered by what may come behind any token of some length (canonical/sure.py): of a kind of
tokens (llmask/canonical/neighbours.py) all lead to one split state, and where a character ends the word there that may
come behind tokens of up to 24 characters, the longer ones are left. Of those that end inside of a character the ones
are left for which single bytes do not complete it (canonical/witnesses.py). Those in the middle of escapes are few,
too. What is left and in the mask is led through the lexer token by token. Where a lexer state takes few bytes, or too
many tokens are left, the trie is walked, and every first byte is reviewed by itself.

Lexer states that take the same tokens share the answer if there is room behind all of these: a string with room for
1,000 characters more is reviewed as one with room for 999. Others do not: where 128 characters may come, only a quote
can follow the token of 128 blanks; a number of at least 256 begins with the same tokens as one of at least 1, but
behind "40" only one of them has a digit too few. Tokens of parts (mask/crossing.py) are reviewed with the part.

In: tables, a lexer state with a mask, a split state. Out: two lists of tokens in `tokens`: those that nothing can
follow, those that the lexer state does not answer. Cost: 10 us and 0.1 us a token that is left, or 5 ns a node of the
trie; once for all grammars of a store.
"""

from ..lexeme_masks.trie_walk import has_bit
from ..lexer.dense_transitions import DENSE_BYTES, DenseEntry, dense_row, dense_state, dense_step, expand, is_wide
from ..lexer.states import DEAD, next_state
from ..machine.jit import inline, kernel
from ..machine.raw import load_u16
from ..mask.configurations import pack
from ..tables.grammar_layout import GRAMMAR
from ..tables.int_lists import append
from ..tables.interning import map_get, map_put
from ..tables.kinds import MaskKind
from ..tables.memory import ensure, get_i32, load_i32, load_i64, load_u8, put_i32, put_i64, store_i32, store_i64
from ..vocabulary.trie_words import byte_of, depth_of, subtree_end, token_of
from .chains import NO_CHAIN, chain_after, look_up
from .ends import INSIDE_PLACE, has_stopped, is_safe, live_ascii, n_shared_bytes, note_missing
from .positions import SPLIT_BITS
from .search import CUT, FOLLOWS_ON, NEEDS_STATE, NOTHING_FOLLOWS, ends_next, fits_none, late_verdict, may_leave
from .slots import CANON, REFUSED_SPLIT
from .sure import ANY_LENGTH, FEW, FIRST_LEAD, find_sure, full_length, is_plain, known_length, room_of, sure_length
from .witnesses import NO_WITNESS, guess_witness, has_own_witness, is_half, split_behind, witness_text

OF_PART = 1 << 61  # in a key: the answer is that of a part
OF_BYTE = 1 << 60  # that of the lexer state behind a first byte
OF_BYTES = 1 << 58  # positions of the answers of all first bytes that have any
OF_STATE = 1 << 59  # the answer is that of the lexer state alone, not of all with its mask
WALKS_TRIE = 1  # in place of an answer
NO_GUESS, LISTED = -1, -2  # in place of a split state
PLAIN, ENTIRE, OTHER_SORT = range(3)  # of `token_sorts`; those inside of a character have its first byte


@kernel
def keep_found(owner, head, canon):
    """Copy `found` behind a number into `tokens`; the address of (head, how many, the tokens)."""
    n = canon.n_found
    first = owner.n_tokens
    address = ensure(owner, GRAMMAR.tokens, (first + n + 2) * 4) + first * 4
    store_i32(address, head)
    store_i32(address + 4, n)
    found = ensure(canon, CANON.found, 4)
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


@kernel
def verdict_inside(store, grammar, canon, reached, after, token, chain):
    """Whether a canonical continuation exists behind a token that led to a lexer state, split state and chain.

    CUT where what follows the lexeme decides, of which lexer states know nothing.
    """
    packed = pack(INSIDE_PLACE, reached)
    if chain & 1 == 0 and is_safe(store, grammar, canon, canon, packed, after):
        return FOLLOWS_ON
    if chain == NO_CHAIN and _ends_behind(store, canon, reached, after, token):
        return FOLLOWS_ON if has_own_witness(store, grammar, canon, canon, packed, after, token, chain) else CUT
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
    if load_i64(canon.fits + after * 8) == 0:
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
    if is_safe(store, grammar, canon, canon, pack(INSIDE_PLACE, reached), after):
        return
    chain = chain_after(canon, split, after, NO_CHAIN, token)
    found = verdict_inside(store, grammar, canon, reached, after, token, chain)
    if found == NOTHING_FOLLOWS:
        append(canon, CANON.found, CANON.n_found, token)
    elif found != FOLLOWS_ON:
        leave_open(canon, token, (reached << SPLIT_BITS | after) << 1 | (chain != NO_CHAIN))


@kernel
def _review_trie(store, grammar, canon, state, split, trie, node, n_nodes, depth):
    """Consider the tokens of a trie from a node on, above which `state` was reached at a depth."""
    stack, kinds, after = canon.walk.address, canon.kinds, load_i64(canon.fits + split * 8)
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
def is_sure(canon, sure, token, split):
    """Whether something certainly may come behind a token that leads to a split state."""
    sort, most = load_u8(canon.token_sorts + token), ANY_LENGTH
    if sort >= FIRST_LEAD and is_half(canon, split):
        witness = guess_witness(canon, split, token)
        if witness == NO_WITNESS:
            return False
        split, most = split_behind(canon, witness), full_length(canon, sure, sort)
    elif sort > (PLAIN if is_plain(canon, sure) else ENTIRE):
        return False
    ends = canon.word_ends + split * 16
    return length_of(canon, token) <= min(most, sure_length(canon, sure, load_i64(ends), load_i64(ends + 8)))


@inline
def length_of(canon, token):
    """Characters of a token."""
    return load_u16(canon.token_characters + token * 2)


@inline
def _key_of_all(store, canon, state, split):
    """Key of what holds for all tokens of a lexer state.

    With room after the longest one it is the same for all lexer states that take the same tokens.
    """
    if store.states[state].mask_kind == MaskKind.WORDS and room_of(store, state) > canon.longest_token:
        return store.states[state].mask << 16 | split
    return OF_STATE | store.states[state].anonymous << 16 | split


@inline
def _add(canon, mask, token):
    """Enter a token in `candidates` if it is in a mask."""
    if has_bit(mask, token):
        append(canon, CANON.candidates, CANON.n_candidates, token)


@kernel
def _collect_whole(canon, mask, sure, split):
    """Enter the tokens of a mask that end between characters in `candidates`, if they are not answered."""
    after, last_sort = load_i64(canon.fits + split * 8), PLAIN if is_plain(canon, sure) else ENTIRE
    for kind in range(canon.n_continuing, canon.n_kinds):
        reached = load_u16(after + kind * 2)
        if reached == REFUSED_SPLIT or is_half(canon, reached):
            continue
        ends = canon.word_ends + reached * 16
        most = sure_length(canon, sure, load_i64(ends), load_i64(ends + 8))
        if most >= canon.longest_token or canon.n_candidates > canon.most_candidates:
            continue
        first = load_i32(canon.kind_first + kind * 4)
        for i in range(load_i32(canon.kind_first + kind * 4 + 4) - 1, first - 1, -1):  # the longest first
            token = load_i32(canon.kind_tokens + i * 4)
            if length_of(canon, token) <= most:
                break
            if has_bit(mask, token) and load_u8(canon.token_sorts + token) <= last_sort:
                append(canon, CANON.candidates, CANON.n_candidates, token)


@inline
def _list_group(canon, behind, first):
    """Append to `tokens` a split state, how many of `half_tokens` from one on lead there by `group_of`, and these."""
    append(canon, GRAMMAR.tokens, GRAMMAR.n_tokens, behind)
    position, n = canon.n_tokens, 0
    append(canon, GRAMMAR.tokens, GRAMMAR.n_tokens, 0)
    for i in range(first, canon.n_half_tokens):
        if get_i32(canon.group_of.address, i) == behind:
            put_i32(canon.group_of.address, i, LISTED)
            append(canon, GRAMMAR.tokens, GRAMMAR.n_tokens, load_i32(canon.half_tokens + i * 4))
            n += 1
    canon.tokens[position] = n


@kernel
def _list_half(canon, split):
    """Position in `tokens` of the tokens that end inside of a character, grouped by the split state after the guessed
    end of the character: it, how many, the tokens; last, with NO_GUESS, those for which none is guessed.
    """
    known = map_get(canon.halves, split)
    if known >= 0:
        return known
    ensure(canon, CANON.group_of, (canon.n_half_tokens + 1) * 4)
    for i in range(canon.n_half_tokens):
        token = load_i32(canon.half_tokens + i * 4)
        reached, behind = look_up(canon, CANON.fits, split, token), LISTED
        if reached != REFUSED_SPLIT:
            witness = guess_witness(canon, reached, token) if is_half(canon, reached) else NO_WITNESS
            behind = NO_GUESS if witness == NO_WITNESS else split_behind(canon, witness)
        put_i32(canon.group_of.address, i, behind)
    position = canon.n_tokens
    for i in range(canon.n_half_tokens):
        behind = get_i32(canon.group_of.address, i)
        if behind >= 0:
            _list_group(canon, behind, i)
    _list_group(canon, NO_GUESS, 0)
    map_put(canon.halves, split, position)
    return position


@kernel
def _collect_half(canon, mask, sure, split):
    """As `_collect_whole` for tokens that end inside of a character."""
    group, behind = _list_half(canon, split), 0
    while behind != NO_GUESS:
        at = canon.tokens.address + group * 4
        behind, n, most = load_i32(at), load_i32(at + 4), 0
        if behind != NO_GUESS:
            ends = canon.word_ends + behind * 16
            most = sure_length(canon, sure, load_i64(ends), load_i64(ends + 8))
        for i in range(n):
            token = load_i32(at + 8 + i * 4)
            full = full_length(canon, sure, load_u8(canon.token_sorts + token))
            if has_bit(mask, token) and length_of(canon, token) > min(most, full):
                append(canon, CANON.candidates, CANON.n_candidates, token)
        group += 2 + n


@inline
def _dense_rows_after(store, stack, last, n_valid, token):
    """As `go_on_from_last`, where `stack` has hot rows and the token stays inside of the lexeme."""
    offsets, data = store.token_offsets.address, store.token_data.address
    first, end = load_i32(offsets + token * 4), load_i32(offsets + token * 4 + 4)
    n = n_shared_bytes(store, last, n_valid, token)
    dense = load_i64(stack + n * 8)
    while first + n < end:
        entry = dense_step(store, dense, load_u8(data + first + n))
        if entry < DenseEntry.FIRST:
            return n << 1
        dense = entry - DenseEntry.FIRST
        n += 1
        store_i64(stack + n * 8, dense)
    return n << 1 | 1


@kernel
def _consider_candidates(store, grammar, canon, state, split):
    """Consider the tokens in `candidates`. Many begin with the bytes of the one before."""
    stack, last, n_valid = canon.walk.address, 0, 0
    store_i64(stack, dense_row(store, state))
    for i in range(canon.n_candidates):
        token = load_i32(canon.candidates.address + i * 4)
        after = look_up(canon, CANON.fits, split, token)
        if after == REFUSED_SPLIT:
            continue
        went_on = _dense_rows_after(store, stack, last, n_valid, token)
        last, n_valid = token, went_on >> 1
        if went_on & 1 != 0:
            consider(store, grammar, canon, split, token, dense_state(store, load_i64(stack + n_valid * 8)), after)


@kernel
def _collect(store, grammar, canon, state, split):
    """Enter the tokens of a lexer state in `candidates` that are not answered at once; False: they are too many."""
    canon.n_candidates = 0
    if canon.most_candidates < 0 or store.states[state].mask_kind != MaskKind.WORDS or not is_wide(store, state):
        return False
    sure = find_sure(store, grammar, canon, state)
    if sure < 0 or known_length(canon, sure) < FEW:
        return False
    mask = store.masks[store.states[state].mask]
    _collect_whole(canon, mask, sure, split)
    if canon.n_candidates > canon.most_candidates:
        return False
    _collect_half(canon, mask, sure, split)
    for i in range(canon.n_not_plain if is_plain(canon, sure) else 0):
        _add(canon, mask, load_i32(canon.not_plain + i * 4))
    for i in range(canon.n_open_tokens):
        _add(canon, mask, load_i32(canon.open_tokens + i * 4))
    return True


@kernel
def review_wide(store, grammar, canon, state, split):
    """Address of an answer (canonical/dead.py) for all tokens of a lexer state; 0: stop, or WALKS_TRIE.

    `state` is a twin with a mask, `split` is not inside of a character and has its tables.
    """
    key = _key_of_all(store, canon, state, split)
    known = map_get(canon.inside, key)
    if known >= 0:
        return canon.tokens.address + known * 4
    if not _collect(store, grammar, canon, state, split):
        return WALKS_TRIE
    canon.n_found = canon.n_doubtful = 0
    _consider_candidates(store, grammar, canon, state, split)
    return _share_answer(store, grammar, canon, key)


@kernel
def review_byte(store, grammar, canon, state, split, byte):
    """As `review_wide` for the tokens that begin with a byte; blanks before any key lead to one lexer state."""
    key = OF_BYTE | store.states[next_state(store, state, byte)].anonymous << 24 | split << 8 | byte
    known = map_get(canon.inside, key)
    if known >= 0:
        return canon.tokens.address + known * 4
    canon.n_found = canon.n_doubtful = 0
    node = load_i32(canon.root_child + byte * 4)
    _review_trie(store, grammar, canon, state, split, store.trie.address, node, subtree_end(store.trie[node]), 0)
    return _share_answer(store, grammar, canon, key)


@kernel
def review_part(store, grammar, canon, part, state, node, split):
    """As `review_wide` for the tokens of a part (subtree_masks.py): below a node, reached in a lexer state."""
    key = OF_PART | part << 16 | split
    known = map_get(canon.inside, key)
    if known >= 0:
        return canon.tokens.address + known * 4
    canon.n_found = canon.n_doubtful = 0
    word = store.trie[node]
    end, depth = subtree_end(word), depth_of(word)
    anonymous = store.states[state].anonymous
    _review_trie(store, grammar, canon, anonymous, split, store.trie.address, node + 1, end, depth)
    return _share_answer(store, grammar, canon, key)


@inline
def leave_open(canon, token, end):
    """Enter a token that leads to an end, by some number of it, in `doubtful`."""
    put_i64(ensure(canon, CANON.open_ends, (canon.n_doubtful + 1) * 8), canon.n_doubtful, end)
    append(canon, CANON.doubtful, CANON.n_doubtful, token)


@kernel
def keep_answer(owner, canon):
    """Keep the lists in `found` and `doubtful` as an answer: n groups of open tokens with one end; its address."""
    n, position = 0, owner.n_tokens
    keep_found(owner, 0, canon)
    for i in range(canon.n_doubtful):
        if canon.doubtful[i] == LISTED:
            continue
        n_before, end = owner.n_tokens, canon.open_ends[i]
        append(owner, GRAMMAR.tokens, GRAMMAR.n_tokens, 0)
        for j in range(i, canon.n_doubtful):
            if canon.open_ends[j] == end and canon.doubtful[j] != LISTED:
                append(owner, GRAMMAR.tokens, GRAMMAR.n_tokens, canon.doubtful[j])
                canon.doubtful[j] = LISTED
        owner.tokens[n_before] = owner.n_tokens - n_before - 1
        n += 1
    owner.tokens[position] = n
    return owner.tokens.address + position * 4


@kernel
def _share_answer(store, grammar, canon, key):
    """Keep the lists in `found` and `doubtful`, if there is room for all grammars; their address, or 0: stop."""
    if canon.n_missing != 0 or has_stopped(store, grammar):
        return 0
    if canon.bytes_used > canon.shared_bytes:
        return keep_answer(grammar, canon)
    map_put(canon.inside, key, canon.n_tokens)
    return keep_answer(canon, canon)
