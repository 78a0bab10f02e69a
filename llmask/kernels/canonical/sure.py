"""ASCII characters that certainly may come behind a token, whatever it spells, if a lexer state takes it.

In a string of letters a letter may come behind every token, and so may the quote; where three characters are left, so
they may behind tokens of one or two. If one of them ends the word, something canonical follows, and the token need not
be led through the lexer. So a lexer state is followed for all characters at once, breadth first, and what all the
states take that so many characters lead to is kept for each number of them:

    n_tiers, n_full, is_plain, n_whole, odd first bytes (64 bits)
    tiers int32[n, 5]: most characters of a token, then 128 bits of ASCII characters, low bits first

of which the sets of later tiers are parts of the earlier ones. States inside of characters and escapes (the *phase*,
see llmask/canonical/phases.py) are passed through, and tokens that end there are not answered; but up to which
character, `n_full`, each can be completed in every way that UTF-8 has, that is noted. Where a pattern
leaves out blanks some cannot; so it is also noted which first bytes these *odd* ones have, and up to which character,
`n_whole`, those with other first bytes can.

A walk of the whole trie that made the mask of a lexer state followed the bytes of all tokens; transitions that were not
made then are of no token, and are left out. Where slices stood for tokens, or literals for states, some are made here.

Where there is room for many plain characters of JSON (slice_choice.py) nothing is followed: as long as there is room
any of them may come behind plain ones. Then nothing is said of tokens with others (`is_plain`).

In: a lexer state. Out: tiers, in `tokens` of the table of split states. Cost: 0.3 us a lexer state outside of
characters, once; it ends at MOST_PAIRS, and where lexer states have to be made at MOST_NODES.
"""

from ..lexeme_masks.slice_choice import cover_of_state
from ..lexer.states import DEAD, UNKNOWN, known_next, next_state
from ..machine.jit import inline, kernel
from ..machine.raw import load_u32
from ..regex.class_maps import class_of
from ..tables.grammar_layout import GRAMMAR
from ..tables.int_lists import append
from ..tables.interning import list_length, list_offset, map_get, map_put
from ..tables.memory import ensure, fill_bytes, load_i32, load_i64, load_u8, store_i32, store_i64, store_u8
from .ends import has_stopped, live_ascii
from .slots import CANON

WHOLE = 0  # phases; 1 to 7: inside of a character
ESCAPED = 8
OTHER = 9
N_PHASES = 10

MOST_PAIRS = 1024  # of lexer state and phase
COSTLY_PAIRS = 160  # the same where transitions cost more
MOST_NODES = 300  # regex nodes that are made on the way
FEW = 6  # characters; many tokens are longer
MUCH_ROOM = 12  # plain characters
MOST_DEPTH = 64  # characters
MOST_PARTS = 4  # bytes of a character
N_SEEN = 4096  # entries of a table of pairs
ANY_LENGTH = 1 << 30
PLAIN_LOW, PLAIN_HIGH = -(5 << 32), 0x7FFFFFFFEFFFFFFF  # printable, but neither quote nor backslash
TIER = 5  # int32
SURE_HEAD = 6
FIRST_LEAD = 0xC0  # lower bytes begin no character of several
NUMBER_BITS = 12  # of a pair
EDGE_BYTES = 12
NOWHERE = -1
REFUSED_BYTE = 1 << 20  # added to a number of pairs


@inline
def _enter_pair(canon, n, pair):
    """Enter a pair unless it was met; returns its number, n if it is new."""
    seen, at = canon.seen.address, (pair * 0x9E3779B1 >> 12) & (N_SEEN - 1)
    while load_i64(seen + at * 8) != 0:
        if load_i64(seen + at * 8) >> NUMBER_BITS == pair:
            return load_i64(seen + at * 8) & ((1 << NUMBER_BITS) - 1)
        at = (at + 1) & (N_SEEN - 1)
    store_i64(seen + at * 8, pair << NUMBER_BITS | n)
    store_i64(canon.sure_pairs.address + n * 8, pair)
    store_u8(canon.is_odd.address + n, 0)
    return n


@inline
def _enter_edge(canon, source, byte, target):
    """Note that a byte leads from a pair to one inside of a character."""
    n = canon.n_sure_edges
    at = ensure(canon, CANON.sure_edges, (n + 1) * EDGE_BYTES) + n * EDGE_BYTES
    store_i32(at, source)
    store_i32(at + 4, byte)
    store_i32(at + 8, target)
    canon.n_sure_edges = n + 1


@inline
def is_inside(phase):
    """Whether a phase is inside of a character."""
    return phase != WHOLE and phase < ESCAPED


@inline
def _follow(store, canon, source, n, most_nodes):
    """Enter the pairs behind one; returns how many there are, with REFUSED_BYTE if a character cannot be completed.

    Transitions are made while there are no more than so many nodes; 0: those not made yet are left out.
    """
    pair = load_i64(canon.sure_pairs.address + source * 8)
    state, phase = pair >> 4, pair & 15
    class_map, phases = store.states[state].map, canon.phases + phase * 256
    is_part = is_inside(phase)
    last, reached, is_refused = -1, NOWHERE, 0
    for byte in range(0x80 if is_part else 0, 0xC0 if is_part else 0xF5):
        behind = load_u8(phases + byte)
        if behind == OTHER:
            continue
        asked = class_of(store, class_map, byte) << 4 | behind
        if asked == last:
            if reached != NOWHERE and not is_part:
                _enter_edge(canon, source, byte, reached)
            continue
        last, reached = asked, NOWHERE
        target = known_next(store, state, byte)
        if target == UNKNOWN and most_nodes != 0:
            if store.n_nodes > most_nodes:
                return MOST_PAIRS + 1
            target = next_state(store, state, byte)
        if target == UNKNOWN or target == DEAD or store.states[target].finished != 0:
            if is_part:
                is_refused = REFUSED_BYTE
                store_u8(canon.is_odd.address + source, 1)
        elif n <= MOST_PAIRS:
            number = _enter_pair(canon, n, target << 4 | behind)
            n = max(n, number + 1)
            if is_inside(behind):
                reached = number
                _enter_edge(canon, source, byte, reached)
    return n | is_refused


@inline
def _odd_leads(canon):
    """The first bytes of characters that cannot be completed in every way from some pair, as 64 bits from C0 on."""
    edges, is_odd, leads = ensure(canon, CANON.sure_edges, EDGE_BYTES), canon.is_odd.address, 0
    for i in range(canon.n_sure_edges * (MOST_PARTS - 1)):  # what is odd, then what leads there, and so on
        edge = edges + i % canon.n_sure_edges * EDGE_BYTES
        source, byte, target = load_i32(edge), load_i32(edge + 4), load_i32(edge + 8)
        if load_u8(is_odd + target) != 0:
            if byte >= FIRST_LEAD:
                leads |= 1 << (byte & 63)
            else:
                store_u8(is_odd + source, 1)
    return leads


@inline
def _end_tier(canon, n, most, low, high):
    at = ensure(canon, CANON.tiers, (n + 1) * 24) + n * 24
    store_i64(at, most)
    store_i64(at + 8, low)
    store_i64(at + 16, high)
    return n + 1


@inline
def _keep(canon, shape, n_tiers, n_full, is_plain, n_whole, odd_leads):
    """Enter the tiers in `tokens`; returns where."""
    position = canon.n_tokens
    append(canon, GRAMMAR.tokens, GRAMMAR.n_tokens, n_tiers)
    append(canon, GRAMMAR.tokens, GRAMMAR.n_tokens, n_full)
    append(canon, GRAMMAR.tokens, GRAMMAR.n_tokens, is_plain)
    append(canon, GRAMMAR.tokens, GRAMMAR.n_tokens, n_whole)
    append(canon, GRAMMAR.tokens, GRAMMAR.n_tokens, odd_leads)
    append(canon, GRAMMAR.tokens, GRAMMAR.n_tokens, odd_leads >> 32)
    for i in range(n_tiers):
        at = canon.tiers.address + i * 24
        append(canon, GRAMMAR.tokens, GRAMMAR.n_tokens, load_i64(at))
        for half in range(2):
            bits = load_i64(at + 8 + 8 * half)
            append(canon, GRAMMAR.tokens, GRAMMAR.n_tokens, bits)
            append(canon, GRAMMAR.tokens, GRAMMAR.n_tokens, bits >> 32)
    map_put(canon.sure, shape, position)
    return position


@inline
def room_of(store, state):
    """A number of plain characters of JSON that may certainly come next in a lexer state."""
    return cover_of_state(store, state, store.slices[0].char)


@inline
def _is_costly(store, state):
    """Whether intersections or complements are left: a transition costs up to 100 us."""
    offset = list_offset(store.state_keys, state)
    for i in range(1, list_length(store.state_keys, state), 2):
        if store.nodes[store.state_keys.pool[offset + i]].hides:
            return True
    return False


@inline
def _follow_all(store, canon, state):
    """Enter the pairs behind a lexer state, in `levels` how many there are up to each number of characters; returns the
    last number, with ANY_LENGTH added where nothing new is behind.

    `full` gets the number of characters each of which can be completed in every way, if they are followed.
    """
    pairs = ensure(canon, CANON.sure_pairs, (MOST_PAIRS + 2) * 8)
    levels = ensure(canon, CANON.levels, (MOST_DEPTH + 3) * 8)
    fill_bytes(ensure(canon, CANON.seen, N_SEEN * 8), N_SEEN * 8, 0)
    store_u8(ensure(canon, CANON.is_odd, MOST_PAIRS + 2), 0)
    canon.n_sure_edges = 0
    most, most_nodes = MOST_PAIRS, store.n_nodes + MOST_NODES
    if store.states[state].walked != 0:
        most_nodes = 0
    elif _is_costly(store, state):
        most, most_nodes = COSTLY_PAIRS, store.n_nodes
    store_i64(pairs, state << 4)  # entered again if bytes lead back
    store_i64(levels, 1)
    first, n, depth, n_full = 0, 1, 0, ANY_LENGTH
    while first < n and depth < MOST_DEPTH:
        end = n
        low, high = first, end
        for part in range(MOST_PARTS):  # first bytes of characters, then second ones, and so on
            if n > most:
                break
            for i in range(low, high):
                pair = load_i64(pairs + i * 8)
                if is_inside(pair & 15) != (part == 0):
                    n = _follow(store, canon, i, n, most_nodes)
                    if n & REFUSED_BYTE != 0:
                        n, n_full = n & ~REFUSED_BYTE, min(n_full, depth)
            low, high = high, n
        if n > most:
            break
        first, depth = end, depth + 1
        store_i64(levels + depth * 8, n)
    canon.full = n_full
    return ANY_LENGTH + depth if first == n else depth


@kernel
def find_sure(store, grammar, canon, state):
    """Position in `tokens` of what certainly may come behind the tokens that a lexer state takes, or -1: stop."""
    shape = store.states[state].anonymous
    known = map_get(canon.sure, shape)
    if known >= 0:
        return known
    room = room_of(store, state)
    if room > MUCH_ROOM:
        _end_tier(canon, 0, room - 1, PLAIN_LOW, PLAIN_HIGH)
        return _keep(canon, shape, 1, room - 1, 1, room - 1, 0)
    depth = _follow_all(store, canon, state)
    n_tiers, low, high = 0, -1, -1
    pairs, levels = canon.sure_pairs.address, canon.levels.address
    for level in range(depth & (ANY_LENGTH - 1) if depth >= FEW else 0):
        one, other = low, high
        for i in range(load_i64(levels + level * 8), load_i64(levels + level * 8 + 8)):
            pair = load_i64(pairs + i * 8)
            if pair & 15 == WHOLE:
                live = live_ascii(store, canon, pair >> 4)
                one &= load_i64(live)
                other &= load_i64(live + 8)
        if level > 0 and (one != low or other != high):
            n_tiers = _end_tier(canon, n_tiers, level, low, high)
        low, high = one, other
    if has_stopped(store, grammar):
        return -1
    n_tiers = _end_tier(canon, n_tiers, min(depth, ANY_LENGTH) if depth >= FEW else 0, low, high)
    n_whole = min(depth, ANY_LENGTH)
    odd_leads = _odd_leads(canon) if canon.full < n_whole else 0
    return _keep(canon, shape, n_tiers, min(canon.full, n_whole), 0, n_whole, odd_leads)


@inline
def sure_length(canon, sure, low, high):
    """Most characters of a token that ends between them, behind which one of some ASCII characters may come."""
    first = canon.tokens.address + sure * 4
    for i in range(load_i32(first) - 1, -1, -1):
        tier = first + 4 * (SURE_HEAD + i * TIER)
        inside_low = load_u32(tier + 4) | load_i32(tier + 8) << 32
        inside_high = load_u32(tier + 12) | load_i32(tier + 16) << 32
        if (low & inside_low) | (high & inside_high) != 0:
            return load_i32(tier)
    return 0


@inline
def known_length(canon, sure):
    """Most characters of a token of which something is said."""
    for i in range(canon.tokens[sure] - 1, -1, -1):
        tier = canon.tokens.address + 4 * (sure + SURE_HEAD + i * TIER)
        if load_i32(tier + 4) | load_i32(tier + 8) | load_i32(tier + 12) | load_i32(tier + 16) != 0:
            return load_i32(tier)
    return 0


@inline
def is_plain(canon, sure):
    """Whether what is said is said of tokens of plain characters only."""
    return canon.tokens[sure + 2] != 0


@inline
def full_length(canon, sure, lead):
    """Up to which character from the beginning on one with that first byte can be completed in every way."""
    first = canon.tokens.address + sure * 4
    odd_leads = load_u32(first + 16) | load_i32(first + 20) << 32
    return load_i32(first + 4) if odd_leads >> (lead & 63) & 1 != 0 else load_i32(first + 12)
