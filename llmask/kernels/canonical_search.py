"""Whether a canonical continuation exists: a search over tokens, and the review of a mask.

A token may follow if some grammatical text behind it is encoded so that the tokens so far are kept. It is enough to
look until a word certainly ends where a token ends: whatever text follows is then encoded on its own. So the quick
answer for a place is one character that the grammar allows and that ends the word (`ends`, canonical_split.py), or the
end of the text; tokens without one are searched further, breadth first:

    "na" under the forced key "name": only "m" may follow, which ends no word; of the tokens behind it "me" merges with
    "na", and "m" leads to "e" only, which merges with "m": there is no continuation

The walks read only. Where something of the grammar is not built yet they say for which text, and the caller has it
built and asks again.

    review_state    tokens that stay inside a lexeme, by the lexer state alone: the same for all grammars
    review_tokens   some tokens in a configuration
    search          one of them that is not answered quickly

In: tables, a configuration and a split state. Out: tokens, verdicts. Cost: 30 ns a token that is answered quickly; a
search 1 us to some 100 us.
"""

from __future__ import annotations

from .bpe_pairs import are_compatible
from .canonical_fill import REFUSED_SPLIT
from .configurations import (
    C_ACCEPTS,
    C_NAMING,
    C_PLACE,
    C_STATE,
    configuration_field,
    known_configuration,
    known_step,
    pack,
)
from .constants import (
    TRIE_BYTE_MASK,
    TRIE_DEPTH_MASK,
    TRIE_DEPTH_SHIFT,
    TRIE_END_MASK,
    TRIE_END_SHIFT,
    TRIE_TOKEN_SHIFT,
)
from .jit import door, kernel
from .lexer_states import (
    DEAD,
    MISS,
    S_ACCEPTS,
    UNKNOWN,
    known_next,
    state_field,
)
from .memory import as_table, block, get_i64, load_i32, load_i64, load_u8, store_i64
from .raw import borrow, give_back, load_u16
from .store_slots import N_TRIE, TOKEN_DATA, TOKEN_OFFSETS, TRIE

# slots of the table of split states
ENCODER = 0  # address of the encoder's table
FOLLOWS = 1  # address of int64[n]: address of uint16[n_vocab], split state after a token that is compatible; 0: missing
BREAKS = 2  # the same for one that is not
ENDS = 3  # address of int64[n, 2]: ASCII characters that end the word
MAY_END = 4  # address of int64[n]: 1 where the text may end
REACHABLE = 5  # address of uint8[n_vocab]: tokens that merging makes
IS_PARTIAL = 10  # address of uint8[n]: states inside of a character, whose tables have only tokens that go on with it
RANKS = 11  # address of int32[n_vocab]: number of a token among those, -1: none of them
REPORT = 6  # what is missing: a split state, or
REPORT_ENTRY = 7  # the entry of the queue,
REPORT_NODE = 8  # the trie node behind it,
REPORT_BYTE = 9  # and the byte behind that, -1: none
N_SLOTS = 12

# verdicts
NOTHING_FOLLOWS = 0
FOLLOWS_ON = 1
CUT = 2  # the search was given up
NEEDS_STATE = 3  # tables of the split state in REPORT
NEEDS_TEXT = 4  # what the grammar says of a text

ENTRY = 4  # int64 of the queue: place and state, split state, token, entry before
MOST_ENTRIES = 128
MOST_DEPTH = 4098
LIKELY = tuple(b'" ,a1:}].-0ntf')  # asked first
STOP = -2  # a state that is not known


@kernel
def is_fitting(canon, left, right):
    """Whether two neighbours are compatible; `left` -1: the text begins."""
    if left < 0:
        return True
    reachable = canon[REACHABLE]
    if load_u8(reachable + left) == 0 or load_u8(reachable + right) == 0:
        return False
    return are_compatible(as_table(canon[ENCODER]), left, right)


@kernel
def look_up(canon, tables, split, token):
    """Split state after a token by the tables FOLLOWS or BREAKS, or REFUSED_SPLIT."""
    table = load_i64(canon[tables] + split * 8)
    if load_u8(canon[IS_PARTIAL] + split) == 0:
        return load_u16(table + token * 2)
    rank = load_i32(canon[RANKS] + token * 4)
    return REFUSED_SPLIT if rank < 0 else load_u16(table + rank * 2)


@kernel
def split_after(canon, split, before, token):
    """Split state after a token, or REFUSED_SPLIT."""
    fitting = look_up(canon, FOLLOWS, split, token)
    breaking = look_up(canon, BREAKS, split, token)
    if fitting == breaking or is_fitting(canon, before, token):
        return fitting
    return breaking


@kernel
def ends_word(canon, split, byte):
    return load_i64(canon[ENDS] + split * 16 + (byte >> 6) * 8) >> (byte & 63) & 1 != 0


@kernel
def is_safe(store, grammar, canon, packed, split):
    """FOLLOWS_ON when a character that may come next ends the word, or the text may end; REPORT_BYTE where unknown."""
    place, state = packed >> 32, packed & 0xFFFFFFFF
    missing = -2
    if load_i64(canon[ENDS] + split * 16) | load_i64(canon[ENDS] + split * 16 + 8) != 0:
        for i in range(len(LIKELY) + 95):
            byte = LIKELY[i] if i < len(LIKELY) else 32 + i - len(LIKELY)
            if ends_word(canon, split, byte):
                reached = known_step(store, grammar, place, state, byte)
                if reached >= 0:
                    return FOLLOWS_ON
                if reached == MISS:
                    missing = byte
        for byte in range(9, 14):
            if ends_word(canon, split, byte):
                reached = known_step(store, grammar, place, state, byte)
                if reached >= 0:
                    return FOLLOWS_ON
                if reached == MISS:
                    missing = byte
    if load_i64(canon[MAY_END] + split * 8) != 0:
        configuration = known_configuration(grammar, packed)
        if configuration == MISS:
            missing = -1
        elif configuration_field(grammar, configuration, C_ACCEPTS) != 0:
            return FOLLOWS_ON
        elif configuration_field(grammar, configuration, C_NAMING) != 0:
            return FOLLOWS_ON  # a special token ends the text as the end of sequence does
    if missing >= -1:
        canon[REPORT_BYTE] = missing
        return NEEDS_TEXT
    return NOTHING_FOLLOWS


@door("int64(int64, int64, int64, int64, int64, int64, int64, int64[:, ::1])", group="canonical")
def search(store_address, grammar_address, canon_address, configuration, split, token, budget, queue):
    """Whether a canonical continuation exists behind `token` in a configuration and split state; a verdict.

    `queue` int64[MOST_ENTRIES, ENTRY] is scratch, and tells how what is missing was reached.
    """
    store, grammar, canon = as_table(store_address), as_table(grammar_address), as_table(canon_address)
    place = configuration_field(grammar, configuration, C_PLACE)
    state = configuration_field(grammar, configuration, C_STATE)
    queue[0, 0], queue[0, 1], queue[0, 2], queue[0, 3] = pack(place, state), split, token, -1
    n_entries, entry, is_full = 1, 0, False
    trie, n_trie = block(store, TRIE), store[N_TRIE]
    stack = borrow(MOST_DEPTH * 8)
    verdict = NOTHING_FOLLOWS
    while entry < n_entries and verdict == NOTHING_FOLLOWS:
        split, before = queue[entry, 1], queue[entry, 2]
        if load_i64(canon[FOLLOWS] + split * 8) == 0:
            canon[REPORT] = split
            verdict = NEEDS_STATE
            break
        store_i64(stack, queue[entry, 0])
        node = 1
        while node < n_trie:
            budget -= 1
            if budget < 0:
                verdict = CUT
                break
            word = get_i64(trie, node)
            depth = (word >> TRIE_DEPTH_SHIFT) & TRIE_DEPTH_MASK
            above = load_i64(stack + (depth - 1) * 8)
            packed = known_step(store, grammar, above >> 32, above & 0xFFFFFFFF, word & TRIE_BYTE_MASK)
            if packed == MISS:
                canon[REPORT_ENTRY], canon[REPORT_NODE], canon[REPORT_BYTE] = entry, node, -1
                verdict = NEEDS_TEXT
                break
            if packed < 0:
                node = (word >> TRIE_END_SHIFT) & TRIE_END_MASK
                continue
            store_i64(stack + depth * 8, packed)
            following = (word >> TRIE_TOKEN_SHIFT) - 1
            if following >= 0:
                after = split_after(canon, split, before, following)
                if after != REFUSED_SPLIT:
                    found = is_safe(store, grammar, canon, packed, after)
                    if found != NOTHING_FOLLOWS:
                        canon[REPORT_ENTRY], canon[REPORT_NODE] = entry, node
                        verdict = found
                        break
                    if n_entries == MOST_ENTRIES:
                        is_full = True
                    else:
                        queue[n_entries, 0], queue[n_entries, 1] = packed, after
                        queue[n_entries, 2], queue[n_entries, 3] = following, entry
                        n_entries += 1
            node += 1
        entry += 1
    give_back(stack)
    return CUT if verdict == NOTHING_FOLLOWS and is_full else verdict


@door(
    "int64(int64, int64, int64, int64, int64, int32[::1], int64, boolean, int64[:, ::1])",
    group="canonical",
)
def review_tokens(store_address, grammar_address, canon_address, configuration, split, tokens, first, breaks, unsure):
    """Find the tokens `tokens[first:]` that are grammatical and not answered quickly.

    `breaks`: they are incompatible with the token before. `unsure` int64[n + 1, 3] gets the token, place and state, and
    split state; its last row is (how many, the next token to look at, -). Returns NEEDS_TEXT where the grammar is not
    built, behind that token and REPORT_BYTE, else NOTHING_FOLLOWS.
    """
    store, grammar, canon = as_table(store_address), as_table(grammar_address), as_table(canon_address)
    place = configuration_field(grammar, configuration, C_PLACE)
    state = configuration_field(grammar, configuration, C_STATE)
    tables = BREAKS if breaks else FOLLOWS
    offsets, data = block(store, TOKEN_OFFSETS), block(store, TOKEN_DATA)
    last = unsure.shape[0] - 1
    n = unsure[last, 0]
    for i in range(first, tokens.shape[0]):
        token = tokens[i]
        after = look_up(canon, tables, split, token)
        if after == REFUSED_SPLIT:
            continue
        packed = pack(place, state)
        for at in range(load_i32(offsets + token * 4), load_i32(offsets + token * 4 + 4)):
            packed = known_step(store, grammar, packed >> 32, packed & 0xFFFFFFFF, load_u8(data + at))
            if packed < 0:
                break
        found = NOTHING_FOLLOWS
        if packed == MISS:
            canon[REPORT_BYTE] = -1
            found = NEEDS_TEXT
        elif packed >= 0:
            found = is_safe(store, grammar, canon, packed, after)
        if found == NEEDS_TEXT:
            unsure[last, 0], unsure[last, 1] = n, i
            return NEEDS_TEXT
        if packed >= 0 and found == NOTHING_FOLLOWS:
            unsure[n, 0], unsure[n, 1], unsure[n, 2] = token, packed, after
            n += 1
    unsure[last, 0], unsure[last, 1] = n, tokens.shape[0]
    return NOTHING_FOLLOWS


@kernel
def is_safe_inside(store, canon, state, split):
    """Whether a character that ends the word goes on with the lexeme."""
    if load_i64(canon[ENDS] + split * 16) | load_i64(canon[ENDS] + split * 16 + 8) == 0:
        return False
    for i in range(len(LIKELY) + 95):
        byte = LIKELY[i] if i < len(LIKELY) else 32 + i - len(LIKELY)
        if ends_word(canon, split, byte):
            reached = known_next(store, state, byte)
            if reached != DEAD and reached != UNKNOWN:
                return True
    return False


@door(
    "int64(int64, int64, int64, int64, int64, int64, int64[:, ::1])",
    group="canonical",
)
def review_state(store_address, canon_address, state, split, trie, n_nodes, unsure):
    """Find the tokens of a trie that stay inside the lexeme and are not answered quickly, by the state alone.

    `trie` words int64[n_nodes]. `unsure` int64[n, 3] gets token, lexer state (STOP: not known),
    and split state; returns how many.
    """
    store, canon = as_table(store_address), as_table(canon_address)
    stack = borrow(MOST_DEPTH * 8)
    store_i64(stack, state)
    node, n = 1, 0
    while node < n_nodes:
        word = get_i64(trie, node)
        depth = (word >> TRIE_DEPTH_SHIFT) & TRIE_DEPTH_MASK
        reached = load_i64(stack + (depth - 1) * 8)
        if reached != STOP:
            reached = known_next(store, reached, word & TRIE_BYTE_MASK)
        if reached == DEAD:
            node = (word >> TRIE_END_SHIFT) & TRIE_END_MASK
            continue
        if reached == UNKNOWN:
            reached = STOP
        store_i64(stack + depth * 8, reached)
        token = (word >> TRIE_TOKEN_SHIFT) - 1
        if token >= 0:
            after = look_up(canon, FOLLOWS, split, token)
            if after != REFUSED_SPLIT and (reached == STOP or not is_safe_inside(store, canon, reached, after)):
                unsure[n, 0], unsure[n, 1], unsure[n, 2] = token, reached, after
                n += 1
        node += 1
    give_back(stack)
    return n


@door("int64(int64, int64, int64, int64, int64, int64, int64[:, ::1])", group="canonical")
def search_inside(store_address, canon_address, state, split, token, budget, queue):
    """As `search`, by a lexer state alone: NOTHING_FOLLOWS is certain, CUT where the lexeme might end on the way."""
    store, canon = as_table(store_address), as_table(canon_address)
    queue[0, 0], queue[0, 1], queue[0, 2] = state, split, token
    n_entries, entry, is_open = 1, 0, False
    trie, n_trie = block(store, TRIE), store[N_TRIE]
    stack = borrow(MOST_DEPTH * 8)
    verdict = NOTHING_FOLLOWS
    while entry < n_entries and verdict == NOTHING_FOLLOWS:
        split, before = queue[entry, 1], queue[entry, 2]
        if load_i64(canon[FOLLOWS] + split * 8) == 0:
            canon[REPORT] = split
            verdict = NEEDS_STATE
            break
        store_i64(stack, queue[entry, 0])
        is_open = is_open or state_field(store, queue[entry, 0], S_ACCEPTS) != 0
        node = 1
        while node < n_trie:
            budget -= 1
            if budget < 0:
                verdict = CUT
                break
            word = get_i64(trie, node)
            depth = (word >> TRIE_DEPTH_SHIFT) & TRIE_DEPTH_MASK
            reached = known_next(store, load_i64(stack + (depth - 1) * 8), word & TRIE_BYTE_MASK)
            if reached == DEAD or reached == UNKNOWN:
                is_open = is_open or reached == UNKNOWN
                node = (word >> TRIE_END_SHIFT) & TRIE_END_MASK
                continue
            is_open = is_open or state_field(store, reached, S_ACCEPTS) != 0
            store_i64(stack + depth * 8, reached)
            following = (word >> TRIE_TOKEN_SHIFT) - 1
            if following >= 0:
                after = split_after(canon, split, before, following)
                if after != REFUSED_SPLIT:
                    if is_safe_inside(store, canon, reached, after):
                        verdict = FOLLOWS_ON
                        break
                    if n_entries == MOST_ENTRIES:
                        is_open = True
                    else:
                        queue[n_entries, 0], queue[n_entries, 1], queue[n_entries, 2] = reached, after, following
                        n_entries += 1
            node += 1
        entry += 1
    give_back(stack)
    return CUT if verdict == NOTHING_FOLLOWS and is_open else verdict


@door("void(int64, int64, int32[::1], int64[:, ::1])", group="canonical")
def states_after(store_address, state, tokens, reached):
    """Write the lexer state after each token to `reached[i, 1]`, STOP where it is not known."""
    store = as_table(store_address)
    offsets, data = block(store, TOKEN_OFFSETS), block(store, TOKEN_DATA)
    for i in range(tokens.shape[0]):
        after = state
        for at in range(load_i32(offsets + tokens[i] * 4), load_i32(offsets + tokens[i] * 4 + 4)):
            after = known_next(store, after, load_u8(data + at))
            if after == UNKNOWN or after == DEAD:
                after = STOP
                break
        reached[i, 1] = after
