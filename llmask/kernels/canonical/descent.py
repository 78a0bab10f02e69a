"""The tokens that may come next in a search for continuations: a walk over the trie that visits live children only.

Few bytes are live as a rule, in a name one, where a node of the trie has up to 200 children. So the children of a node
with many are compared with the live bytes of the lexer state, 1 ns each, before one is stepped to, 10 ns. Where the
splitter lets few tokens follow that begin with a byte, these are listed: behind two digits ten of 1,110. Where it lets
many follow, but the byte leads to a row that is new, those are listed that fit the token before, if this was so once
already: behind `(` no token that begins with a quote, so the rows for a new name are not made.

In: tables, an entry of the queue. Out: entries. Cost: 20 ns a live node, 50 to 100 ns a token.
"""

from ..lexer.states import DEAD, MISS, next_state
from ..machine.constants import TRIE_END_MASK, TRIE_END_SHIFT, TRIE_TOKEN_SHIFT
from ..machine.jit import inline, kernel
from ..machine.numba_names import map_at
from ..mask.configurations import REFUSED, known_step
from ..tables.grammar_layout import GRAMMAR
from ..tables.int_lists import append
from ..tables.interning import map_change, map_get, map_put
from ..tables.memory import block, get_i64, get_u8, load_i32, load_i64, load_u8, store_i64
from ..vocabulary.trie_words import subtree_end, token_of
from .chains import NO_CHAIN, chain_after, look_up, split_after
from .ends import (
    EIGHT_LESS,
    INSIDE_PLACE,
    MAY_STOP,
    ONE_LESS,
    end_of,
    go,
    has_stopped,
    is_bare,
    safe_byte,
    state_after_lexeme,
)
from .live import NO_BYTE, live_ascii, live_word
from .queue import ENTRY, MOST_ENTRIES, note_witness, verdict_key, write_entry
from .slots import (
    BREAKS,
    ENDS,
    FEW,
    FEW_FOUND,
    FOLLOWS,
    IS_OPEN,
    N_FEW,
    QUEUE,
    REFUSED_SPLIT,
    ROOT_CHILD,
    SEARCH_WALK,
    SHARED_BYTES,
    STARTS,
)

# verdicts
NOTHING_FOLLOWS = 0
FOLLOWS_ON = 1
CUT = 2  # the search was given up
NEEDS_STATE = 3  # tables of a split state that is in MISSING; or a limit was reached

# what is added to the number of entries
WAS_CUT = 0x100  # a token is not looked at further
FOUND_ONE = 0x200  # something follows
LEAVES = 0x400  # the search ends without a verdict
DECIDED = FOUND_ONE | LEAVES

FRAME = 7  # int64 of SEARCH_WALK: an end, the next child of its node, the end of these, the bytes that are looked at
FEW_CHILDREN = 8
MOST_ENDING = 4
MOST_FEW = 32  # tokens of a list
MANY = 0  # in place of a list; the first of TOKENS is none
ASKED = 2**31 - 1  # in place of a list that is made the next time
MOST_LISTED = 1024  # nodes of the trie below a byte, of which those are listed that fit


@inline
def may_leave(store, canon, state, split):
    """Whether a lexeme that could go on may end in a lexer state, where some character ends the word."""
    if store.states[state].accepts == 0 or store.states[state].finished != 0:
        return False
    return load_i64(canon[ENDS] + split * 16) | load_i64(canon[ENDS] + split * 16 + 8) != 0


@inline
def ends_next(store, canon, state):
    """Whether each byte that may come next, few ones, ends the lexeme."""
    low, high = load_i64(live_ascii(store, canon, state)), load_i64(live_ascii(store, canon, state) + 8)
    n = 0
    for word in range(2):
        bits, byte = low if word == 0 else high, 64 * word
        while bits != 0:
            while bits & 0xFF == 0:
                bits, byte = (bits >> 8) & EIGHT_LESS, byte + 8
            if bits & 1 != 0:
                n += 1
                target = next_state(store, state, byte)
                if n > MOST_ENDING or target == DEAD or store.states[target].finished == 0:
                    return False
            bits, byte = (bits >> 1) & ONE_LESS, byte + 1
    return n != 0 and live_word(store, canon, state, state, 2) | live_word(store, canon, state, state, 3) == 0


@kernel
def _write_frame(store, grammar, canon, frame, packed, node):
    """Write the frame of a node that was reached."""
    first, end = store.child_first[node], store.child_first[node + 1]
    store_i64(frame, packed)
    store_i64(frame + 8, first)
    store_i64(frame + 16, end)
    for word in range(4):
        store_i64(frame + 24 + 8 * word, -1)
    if node == 0 or (end - first > FEW_CHILDREN and not is_bare(packed)):
        state, behind = packed & 0xFFFFFFFF, state_after_lexeme(store, grammar, packed)
        for word in range(4 if node == 0 else 2):  # below the root children that are not ASCII are few
            store_i64(frame + 24 + 8 * word, live_word(store, canon, state, behind, word))


@inline
def _next_child(store, frame):
    """The next child of a frame whose byte is looked at, or -1."""
    child, end, bytes_ = load_i64(frame + 8), load_i64(frame + 16), store.child_byte.address
    while child < end:
        byte = get_u8(bytes_, child)
        if load_i64(frame + 24 + 8 * (byte >> 6)) >> (byte & 63) & 1 != 0:
            store_i64(frame + 8, child + 1)
            return child
        child += 1
    return -1


@kernel
def _look_at(store, grammar, canon, memo, entry, n_entries, reached, token):
    """Look at a token behind an entry, which led to an end: how many entries there are, with WAS_CUT, FOUND_ONE or
    LEAVES if so.
    """
    at = block(canon, QUEUE) + entry * ENTRY * 8
    split, before, chain = load_i64(at + 8), load_i64(at + 16), load_i64(at + 24)
    after = split_after(canon, split, before, chain, token)
    if after == REFUSED_SPLIT:
        return n_entries
    following = chain_after(canon, split, after, chain, token)
    if following & 1 == 0:
        found = safe_byte(store, grammar, canon, reached, after)
        if found != NO_BYTE:
            if found != MAY_STOP:
                note_witness(store, canon, entry, token, after)
            return n_entries | FOUND_ONE
        state, is_inside = reached & 0xFFFFFFFF, reached >> 32 == INSIDE_PLACE
        if is_inside and may_leave(store, canon, state, after):
            note_witness(store, canon, entry, token, after)
            return n_entries | LEAVES  # what follows the lexeme decides, so looking further here is of no use
    end = end_of(memo, reached)
    known = -1
    if following == NO_CHAIN:
        known = map_get(memo.verdicts, verdict_key(end, after, token))
    if known == FOLLOWS_ON:
        return n_entries | FOUND_ONE
    if known == NOTHING_FOLLOWS:
        return n_entries
    if known == CUT or n_entries & MOST_ENTRIES != 0:
        return n_entries | WAS_CUT
    write_entry(canon, n_entries & (MOST_ENTRIES - 1), reached, after, token, following, entry, end)
    return n_entries + 1


@inline
def _keep_few(canon):
    """Copy FEW_FOUND into TOKENS: its place there, or MANY."""
    n = canon[N_FEW]
    if n > MOST_FEW:
        return MANY
    found = canon.n_tokens
    append(canon, GRAMMAR.tokens, GRAMMAR.n_tokens, n)
    for i in range(n):
        append(canon, GRAMMAR.tokens, GRAMMAR.n_tokens, load_i32(block(canon, FEW_FOUND) + i * 4))
    return found


@kernel
def _list_few(store, canon, split, byte):
    """Place in TOKENS of (n, the tokens that begin with a byte and may follow a split state), or MANY."""
    key = split << 8 | byte
    known = map_get(map_at(canon, FEW), key)
    if known >= 0:
        return known
    trie, node = store.trie.address, load_i32(canon[ROOT_CHILD] + byte * 4)
    end = (get_i64(trie, node) >> TRIE_END_SHIFT) & TRIE_END_MASK
    canon[N_FEW] = 0
    while node < end and canon[N_FEW] <= MOST_FEW:
        token = (get_i64(trie, node) >> TRIE_TOKEN_SHIFT) - 1
        node += 1
        if token >= 0:
            fitting, breaking = look_up(canon, FOLLOWS, split, token), look_up(canon, BREAKS, split, token)
            if fitting != REFUSED_SPLIT or breaking != REFUSED_SPLIT:
                append(canon, FEW_FOUND, N_FEW, token)
    if canon.bytes_used > canon[SHARED_BYTES]:
        return MANY
    found = _keep_few(canon)
    map_put(map_at(canon, FEW), key, found)
    return found


@inline
def _is_new(store, grammar, packed, byte):
    """Whether the row is to be made that a byte leads to."""
    place = packed >> 32
    if place == INSIDE_PLACE or is_bare(packed):
        return False
    return known_step(store, grammar, place, packed & 0xFFFFFFFF, byte) == MISS


@kernel
def _list_fitting(store, grammar, canon, packed, split, before, byte):
    """As `_list_few`, of the tokens that are compatible with the token before where they have to be."""
    key = (before + 1) << 24 | split << 8 | byte
    known = map_get(map_at(canon, FEW), key)
    if known >= 0 and known != ASKED:
        return known
    if canon.bytes_used > canon[SHARED_BYTES] or not _is_new(store, grammar, packed, byte):
        return MANY
    trie, node = store.trie.address, load_i32(canon[ROOT_CHILD] + byte * 4)
    end = (get_i64(trie, node) >> TRIE_END_SHIFT) & TRIE_END_MASK
    if known < 0:
        map_put(map_at(canon, FEW), key, ASKED if end - node <= MOST_LISTED else MANY)
        return MANY
    return _make_fitting(canon, key, trie, node, end, split, before)


@kernel
def _make_fitting(canon, key, trie, node, end, split, before):
    """List the tokens of a part of the trie that fit the token before; the list's place in TOKENS, or MANY."""
    canon[N_FEW] = 0
    while node < end and canon[N_FEW] <= MOST_FEW:
        token = (get_i64(trie, node) >> TRIE_TOKEN_SHIFT) - 1
        node += 1
        if token >= 0 and split_after(canon, split, before, NO_CHAIN, token) != REFUSED_SPLIT:
            append(canon, FEW_FOUND, N_FEW, token)
    found = _keep_few(canon)
    map_change(map_at(canon, FEW), key, found)
    return found


@kernel
def fits_none(store, canon, split, before, byte):
    """Whether no token that begins with a byte fits the token before, as far as that was looked at."""
    key = (before + 1) << 24 | split << 8 | byte
    known = map_get(map_at(canon, FEW), key)
    if known < 0 or known == ASKED:
        trie, node = store.trie.address, load_i32(canon[ROOT_CHILD] + byte * 4)
        word = get_i64(trie, node)
        end, alone = subtree_end(word), token_of(word)
        if alone >= 0 and split_after(canon, split, before, NO_CHAIN, alone) != REFUSED_SPLIT:
            return False
        if end - node > MOST_LISTED or canon.bytes_used > canon[SHARED_BYTES]:
            return False
        known = _make_fitting(canon, key, trie, node, end, split, before)
    return known != MANY and canon.tokens[known] == 0


@inline
def _go_along(store, grammar, canon, packed, token):
    """Where a token leads; notes where a lexeme might end on the way."""
    is_inside = packed >> 32 == INSIDE_PLACE
    offsets, data = store.token_offsets.address, store.token_data.address
    for at in range(load_i32(offsets + token * 4), load_i32(offsets + token * 4 + 4)):
        packed = go(store, grammar, packed, load_u8(data + at))
        if packed < 0:
            return REFUSED
        if is_inside and store.states[packed & 0xFFFFFFFF].accepts != 0:
            canon[IS_OPEN] = 1
    return packed


@kernel
def _look_at_few(store, grammar, canon, memo, entry, n_entries, few):
    """Look at the tokens of a list; as `look_at_tokens`, without the budget."""
    packed = load_i64(block(canon, QUEUE) + entry * ENTRY * 8)
    for i in range(canon.tokens[few]):
        token = canon.tokens[few + 1 + i]
        reached = _go_along(store, grammar, canon, packed, token)
        if has_stopped(store, grammar):
            return -1
        if reached >= 0:
            n_entries = _look_at(store, grammar, canon, memo, entry, n_entries, reached, token)
            if n_entries & DECIDED != 0:
                return n_entries
    return n_entries


@kernel
def look_at_tokens(store, grammar, canon, memo, entry, n_entries, budget):
    """Look at the tokens behind an entry: budget << 16 | what `_look_at` returns; -1: stop."""
    at = block(canon, QUEUE) + entry * ENTRY * 8
    packed, split, before, chain = load_i64(at), load_i64(at + 8), load_i64(at + 16), load_i64(at + 24)
    is_inside = packed >> 32 == INSIDE_PLACE
    frame = block(canon, SEARCH_WALK)
    _write_frame(store, grammar, canon, frame, packed, 0)
    for word in range(4 if chain & 1 == 0 else 0):  # behind the last of the blanks a splitter lets no other byte follow
        starts = load_i64(canon[STARTS] + split * 32 + word * 8)
        store_i64(frame + 24 + 8 * word, load_i64(frame + 24 + 8 * word) & starts)
    depth = 0
    while depth >= 0:
        child = _next_child(store, frame)
        if child < 0:
            frame -= FRAME * 8
            depth -= 1
            continue
        budget -= 1
        if budget <= 0:
            return n_entries | WAS_CUT
        byte = store.child_byte[child]
        if depth == 0 and chain & 1 == 0:
            few = _list_few(store, canon, split, byte)
            if few == MANY:
                few = _list_fitting(store, grammar, canon, load_i64(frame), split, before, byte)
            if few != MANY:
                n_entries = _look_at_few(store, grammar, canon, memo, entry, n_entries, few)
                if n_entries < 0:
                    return -1
                if n_entries & DECIDED != 0:
                    return budget << 16 | n_entries
                continue
        reached = go(store, grammar, load_i64(frame), byte)
        if reached < 0:
            if has_stopped(store, grammar):
                return -1
            continue
        if is_inside and store.states[reached & 0xFFFFFFFF].accepts != 0:
            canon[IS_OPEN] = 1
        node = store.child_node[child]
        if store.child_first[node] != store.child_first[node + 1]:
            frame += FRAME * 8
            depth += 1
            _write_frame(store, grammar, canon, frame, reached, node)
        token = token_of(store.trie[node])
        if token >= 0:
            n_entries = _look_at(store, grammar, canon, memo, entry, n_entries, reached, token)
            if n_entries & DECIDED != 0:
                return budget << 16 | n_entries
    return budget << 16 | n_entries
