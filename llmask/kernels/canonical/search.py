"""Whether a canonical continuation exists after a token: a search over tokens.

A token may follow if some grammatical text after it is encoded so that the tokens so far are kept. It is enough to
look until a word certainly ends where a token ends: whatever text follows is then encoded on its own. So the quick
answer for a place is one character that the grammar allows and that ends the word, or the end of the text; tokens
without one are searched further, breadth first:

    "na" under the forced key "name": only "m" may follow, which ends no word; of the tokens after it "me" merges with
    "na", and "m" leads to "e" only, which merges with "m": there is no continuation

An *end* is a place with a lexer state. What a search found is remembered as the verdict of an end, a split state and
the token before them; one search gives verdicts for all tokens that it exhausts. That takes as long as it saves, but
fewer searches are given up (2 of 27,974 positions, 9 without). A continuation of up to seven bytes, with the split
state after it where the word may end, is also remembered as a *witness* (canonical/witnesses.py): in other places it is
tried first.

From a bare row (mask/crossing.py) a search goes where all records lead; if some lead elsewhere, or the text may
end after some, a search that finds nothing is not certain.

With INSIDE for a place a search looks at the lexer state alone; what it does not find is then not certain where the
lexeme might end on the way. It stops there with a witness: of blanks that need a line end after them this is found
once, and a place asks only whether it takes a character after the line end.

A special token that the grammar names ends the text. Tokens with bytes that it names are not searched: where one may
come, nothing found is a search that was given up.

The tokens that may come next are found by a walk over the trie. Few first bytes are live as a rule, in a name one: the
children of the root are compared with the live bytes of the lexer state, 1 ns each, before one is stepped to, 10 ns.

In: tables, an end, a split state, a token. Out: verdicts; `memo` is the grammar's table, or for lexer states the table
of split states. Cost: 50 ns where it is known, a search 1 us to some 100 us.
"""

from ..lexer.states import DEAD, next_state
from ..machine.jit import inline, kernel
from ..tables.interning import MISSING, map_get, map_put
from ..tables.memory import ensure, get_u8, load_i32, load_i64, load_u8, store_i64
from ..vocabulary.trie_words import subtree_end, token_of
from .chains import NO_CHAIN, chain_after, split_after
from .ends import (
    INSIDE_PLACE,
    MAY_STOP,
    NO_BYTE,
    go,
    has_stopped,
    is_bare,
    is_safe,
    live_bytes,
    live_word,
    might_stop,
    names_ordinary,
    note_missing,
    safe_byte,
    state_after_lexeme,
)
from .slots import CANON, REFUSED_SPLIT
from .witnesses import MOST_BYTES, enter_witness, has_witness, witness_key

# verdicts
NOTHING_FOLLOWS = 0
FOLLOWS_ON = 1
CUT = 2  # the search was given up
NEEDS_STATE = 3  # tables of a split state that is in `missing`; or a limit was reached

# what is added to the number of entries
WAS_CUT = 0x100  # a token is not looked at further
FOUND_ONE = 0x200  # something follows
LEAVES = 0x400  # the search ends without a verdict
DECIDED = FOUND_ONE | LEAVES

FRAME = 7  # int64 of `search_walk`: an end, the next child of its node, the end of these, the bytes that are looked at
MOST_ENDING = 4
MOST_ASKED = 1024  # nodes of the trie below a byte
ENTRY = 6  # int64 of the queue: place and state, split state, token, chain, entry before, number of the end
MOST_ENTRIES = 128


@kernel
def end_of(memo, packed):
    """Number of an end."""
    known = map_get(memo.ends_of_text, packed)
    if known >= 0:
        return known
    fresh = memo.ends_of_text.count
    map_put(memo.ends_of_text, packed, fresh)
    return fresh


@inline
def verdict_key(end, split, token):
    return (end << 37) | (split << 21) | token


@inline
def write_entry(canon, n, packed, split, token, chain, before, end):
    at = canon.queue.address + n * ENTRY * 8
    store_i64(at, packed)
    store_i64(at + 8, split)
    store_i64(at + 16, token)
    store_i64(at + 24, chain)
    store_i64(at + 32, before)
    store_i64(at + 40, end)


@inline
def known_verdict(memo, end, split, token, chain):
    """What was found before, or MISSING; tokens in a chain are not remembered."""
    return map_get(memo.verdicts, verdict_key(end, split, token)) if chain == NO_CHAIN else MISSING


@kernel
def note_verdict(canon, memo, end, split, token, chain, found):
    """Remember what was found, unless that is known or the table of split states has grown too large."""
    is_new = known_verdict(memo, end, split, token, chain) == MISSING
    if chain == NO_CHAIN and is_new and memo.bytes_used <= canon.shared_bytes:
        map_put(memo.verdicts, verdict_key(end, split, token), found)


@inline
def note_entry(canon, memo, entry, found):
    """Remember what was found for an entry of the queue."""
    at = canon.queue.address + entry * ENTRY * 8
    end, split, token, chain = load_i64(at + 40), load_i64(at + 8), load_i64(at + 16), load_i64(at + 24)
    note_verdict(canon, memo, end, split, token, chain, found)


@kernel
def note_witness(store, canon, entry, token, after):
    """Remember the text from the first entry over `entry` and a token to a split state, if it is short."""
    queue = canon.queue.address
    offsets, data = store.token_offsets.address, store.token_data.address
    if load_i64(queue + 24) != NO_CHAIN:
        return
    text, n_bytes = 0, 0
    while True:
        first, last = load_i32(offsets + token * 4), load_i32(offsets + token * 4 + 4)
        n_bytes += last - first
        if n_bytes > MOST_BYTES:
            return
        for at in range(last - 1, first - 1, -1):
            if load_u8(data + at) == 0:
                return
            text = text << 8 | load_u8(data + at)
        if entry == 0:
            break
        token = load_i64(queue + entry * ENTRY * 8 + 16)
        entry = load_i64(queue + entry * ENTRY * 8 + 32)
    enter_witness(canon, witness_key(load_i64(queue + 8), load_i64(queue + 16)), text, after)


@inline
def may_leave(store, canon, state, split):
    """Whether a lexeme that could go on may end in a lexer state, where some character ends the word."""
    if store.states[state].accepts == 0 or store.states[state].finished != 0:
        return False
    return load_i64(canon.word_ends + split * 16) | load_i64(canon.word_ends + split * 16 + 8) != 0


@inline
def ends_next(store, canon, state):
    """Whether each byte that may come next, few ones, ends the lexeme."""
    low, high = load_i64(live_bytes(store, canon, state)), load_i64(live_bytes(store, canon, state) + 8)
    n = 0
    for byte in range(128):
        if (low if byte < 64 else high) >> (byte & 63) & 1 != 0:
            n += 1
            target = next_state(store, state, byte)
            if n > MOST_ENDING or target == DEAD or store.states[target].finished == 0:
                return False
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
    if node == 0:
        state, outer = packed & 0xFFFFFFFF, state_after_lexeme(store, grammar, packed)
        for word in range(4):
            store_i64(frame + 24 + 8 * word, live_word(store, canon, state, outer, word))


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
    """Look at a token after an entry, which led to an end: how many entries there are, with WAS_CUT, FOUND_ONE or
    LEAVES if so.
    """
    at = canon.queue.address + entry * ENTRY * 8
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
    known = known_verdict(memo, end, after, token, following)
    if known == FOLLOWS_ON:
        return n_entries | FOUND_ONE
    if known == NOTHING_FOLLOWS:
        return n_entries
    if known == CUT or n_entries & MOST_ENTRIES != 0:
        return n_entries | WAS_CUT
    write_entry(canon, n_entries & (MOST_ENTRIES - 1), reached, after, token, following, entry, end)
    return n_entries + 1


@kernel
def fits_none(store, canon, split, before, byte):
    """Whether no token that begins with a byte fits the token before, as far as that was looked at."""
    node = load_i32(canon.root_child + byte * 4)
    end = subtree_end(store.trie[node])
    if end - node > MOST_ASKED:
        return False
    while node < end:
        token = token_of(store.trie[node])
        if token >= 0 and split_after(canon, split, before, NO_CHAIN, token) != REFUSED_SPLIT:
            return False
        node += 1
    return True


@kernel
def look_at_tokens(store, grammar, canon, memo, entry, n_entries, budget):
    """Look at the tokens after an entry: budget << 16 | what `_look_at` returns; -1: stop."""
    at = canon.queue.address + entry * ENTRY * 8
    packed, split, chain = load_i64(at), load_i64(at + 8), load_i64(at + 24)
    is_inside = packed >> 32 == INSIDE_PLACE
    frame = canon.search_walk.address
    _write_frame(store, grammar, canon, frame, packed, 0)
    for word in range(4 if chain & 1 == 0 else 0):  # after the last of the blanks a splitter lets no other byte follow
        starts = load_i64(canon.starts + split * 32 + word * 8)
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
        reached = go(store, grammar, load_i64(frame), byte)
        if reached < 0:
            if has_stopped(store, grammar):
                return -1
            continue
        if is_inside and store.states[reached & 0xFFFFFFFF].accepts != 0:
            canon.is_open = 1
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


@inline
def verdict(store, grammar, canon, memo, packed, split, token, chain):
    """Whether a canonical continuation exists after a token that led to an end, split state and chain."""
    if chain & 1 == 0 and is_safe(store, grammar, canon, packed, split):
        return FOLLOWS_ON
    return late_verdict(store, grammar, canon, memo, packed, split, token, chain)


@kernel
def late_verdict(store, grammar, canon, memo, packed, split, token, chain):
    """As `verdict` where no character that may come next ends the word for certain."""
    if chain == NO_CHAIN and has_witness(store, grammar, canon, packed, split, token):
        return FOLLOWS_ON
    end = end_of(memo, packed)
    found = known_verdict(memo, end, split, token, chain)
    if found != MISSING:
        return found
    found = _search(store, grammar, canon, memo, packed, end, split, token, chain)
    if has_stopped(store, grammar):
        return NEEDS_STATE
    if found != NEEDS_STATE:
        note_verdict(canon, memo, end, split, token, chain, found)
    return found


@kernel
def _search(store, grammar, canon, memo, packed, end, split, token, chain):
    """As `late_verdict` where nothing is known; what was exhausted on the way is remembered."""
    ensure(canon, CANON.queue, MOST_ENTRIES * ENTRY * 8)
    write_entry(canon, 0, packed, split, token, chain, -1, end)
    canon.is_open = 0
    grammar.is_uncertain = 0
    is_inside = packed >> 32 == INSIDE_PLACE
    budget = canon.inside_budget if is_inside else canon.budget
    n_entries, entry, is_cut = 1, 0, False
    while entry < n_entries:
        at = canon.queue.address + entry * ENTRY * 8
        packed, split = load_i64(at), load_i64(at + 8)
        if load_i64(canon.fits + split * 8) == 0:
            note_missing(canon, split)
            return NEEDS_STATE
        if is_inside and store.states[packed & 0xFFFFFFFF].accepts != 0:
            canon.is_open = 1
        if not is_inside and names_ordinary(store, grammar, packed):
            is_cut = True
        if is_bare(packed) and load_i64(canon.may_end + split * 8) != 0 and might_stop(store, grammar, packed):
            return CUT  # for some records something follows
        found = look_at_tokens(store, grammar, canon, memo, entry, n_entries, budget)
        if found < 0:
            return NEEDS_STATE
        budget, n_entries = found >> 16, found & (2 * MOST_ENTRIES - 1)
        if found & FOUND_ONE != 0:
            while entry > 0:
                note_entry(canon, memo, entry, FOLLOWS_ON)
                entry = load_i64(canon.queue.address + entry * ENTRY * 8 + 32)
            return FOLLOWS_ON
        if found & LEAVES != 0 or budget == 0:
            return CUT
        is_cut = is_cut or found & WAS_CUT != 0
        entry += 1
    if has_stopped(store, grammar):
        return NEEDS_STATE  # bytes that were not looked at any more seem dead
    if is_cut or canon.is_open != 0 or grammar.is_uncertain != 0:
        return CUT
    for entry in range(1, n_entries):
        note_entry(canon, memo, entry, NOTHING_FOLLOWS)
    return NOTHING_FOLLOWS
