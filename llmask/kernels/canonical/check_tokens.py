"""Tokens whose continuation is looked for one by one: those of a configuration, of groups, or of long masks.

Before the value of a member 350 tokens of blanks may come (Llama 3), which lead to 60 lexer states. Read from the
place, each of them costs as much as any token; but behind all of them is the same place. So the *exit* is looked up
once: the place behind the lexeme and its lexer state. What goes on inside is a matter of lexer states
(canonical/groups.py); what of a witness is left at the exit is asked once.

In: tables, tokens that may follow if they are compatible with the one before. Out: those that nothing follows, in
FOUND. Cost: 50 ns where it is known; 0.2 us a text of a group, once a place.
"""

from ..lexeme_masks.trie_walk import has_bit, set_bit
from ..lexer.dense_transitions import is_wide
from ..lexer.states import DEAD
from ..machine.jit import inline, kernel
from ..machine.raw import load_u32
from ..machine.raw import take_bit as clear_bit
from ..mask.assemble import KIND_BITS
from ..mask.configurations import REFUSED, pack, start_after
from ..parser.goto import goto
from ..parser.tracked_goto import certain_goto
from ..tables.int_lists import append
from ..tables.kinds import MaskKind
from ..tables.memory import block, ensure, load_i32, store_i32
from ..values.parse_states import FIRST_TRACKED, MOST_ROWS, row_of
from .alike import lexemes_by_number, shape_of
from .chains import NO_CHAIN, chain_after, look_up, split_after
from .descent import CUT, FOLLOWS_ON, NEEDS_STATE, NOTHING_FOLLOWS
from .ends import (
    INSIDE_PLACE,
    NO_NUMBER,
    UNCERTAIN,
    go,
    go_token,
    has_flag_of_row,
    has_stopped,
    names_ordinary,
    safe_byte,
)
from .groups import GROUP_HEAD, HEAD, N_ASKED, TEXT_BYTES, find_groups
from .inside import verdict_inside
from .listings import after_first
from .live import NO_BYTE
from .positions import before_of, chain_of, split_of
from .search import has_own_witness, leads_on, searched_verdict, verdict
from .slots import AGAIN, BREAKS, DOUBTFUL, FOLLOWS, FOUND, MOST_CANDIDATES, N_DOUBTFUL, N_FOUND, REFUSED_SPLIT
from .sure import find_sure
from .wide import is_sure


@inline
def exit_of(store, grammar, place, lexemes):
    """Place and lexer state behind a set of lexemes, or REFUSED.

    Where the tokens are recorded it is a bare row (mask/boundary_tokens.py), if it is the same whatever they spell.
    """
    if place >= FIRST_TRACKED and lexemes != grammar.ignored:
        row = certain_goto(store, grammar, row_of(grammar, place), lexemes)
        if row < 0 or has_flag_of_row(grammar, row, UNCERTAIN):
            return REFUSED
        return pack(row + MOST_ROWS, start_after(store, grammar, row, lexemes))
    target = goto(store, grammar, place, lexemes)
    return REFUSED if target < 0 else pack(target, start_after(store, grammar, target, lexemes))


@kernel
def holds(store, grammar, canon, behind, entry):
    """Whether the text at an address (canonical/groups.py) may follow, and behind it a byte that ends the word."""
    packed, text = behind, load_u32(entry) | load_i32(entry + 4) << 32
    while text != 0 and packed >= 0:
        packed = go(store, grammar, packed, text & 0xFF)
        text >>= 8
    return packed >= 0 and safe_byte(store, grammar, canon, packed, load_i32(entry + 8)) != NO_BYTE


@inline
def first_that_holds(store, grammar, canon, behind, texts, bits):
    """The number of one of the texts in a bit set that may follow at an exit, or -1."""
    number = 0
    while bits != 0:
        if bits & 1 != 0 and holds(store, grammar, canon, behind, texts + number * TEXT_BYTES):
            return number
        bits >>= 1
        number += 1
    return -1


@inline
def inside_state(store, grammar, configuration):
    """The lexer state that carries the mask of tokens inside of the lexeme, or DEAD."""
    state = grammar.configurations[configuration].state
    return DEAD if state == DEAD else store.states[state].anonymous


@inline
def look_at(store, grammar, canon, packed, number, split, token, after):
    """Enter a token that led to an end where nothing is safe in FOUND if nothing follows it; its verdict.

    `number` is that of the end in the memo.
    """
    chain = chain_after(canon, split, after, NO_CHAIN, token)  # one that begins with the token is no whole word yet
    if has_own_witness(store, grammar, canon, packed, after, token, chain):
        return FOLLOWS_ON
    if chain == NO_CHAIN and leads_on(store, grammar, canon, number, packed, after):
        return FOLLOWS_ON
    found = searched_verdict(store, grammar, canon, grammar, packed, after, token, chain)
    if found == NOTHING_FOLLOWS:
        append(canon, FOUND, N_FOUND, token)
    return found


@kernel
def look_at_token(store, grammar, canon, configuration, split, token):
    """As `look_at` for a token of a configuration."""
    after = look_up(canon, FOLLOWS, split, token)
    if after == REFUSED_SPLIT:
        return FOLLOWS_ON
    packed = after_first(store, grammar, configuration, token)
    if packed < 0 or safe_byte(store, grammar, canon, packed, after) != NO_BYTE:
        return FOLLOWS_ON
    return look_at(store, grammar, canon, packed, NO_NUMBER, split, token, after)


@kernel
def look_at_groups(store, grammar, canon, configuration, split, place, named, groups):
    """As `look_at` for the tokens of groups at an address, inside of a lexeme of a place: the worst verdict.

    `named` is the state whose lexemes are numbered in the groups.
    """
    texts, group = groups + 4 * HEAD, groups + 4 * HEAD + load_i32(groups) * TEXT_BYTES
    lexemes, behind, hold, asked = 0, REFUSED, 0, 0
    result = FOLLOWS_ON
    for _ in range(load_i32(groups + 4)):
        n, bits = load_i32(group), load_u32(group + 8) | load_i32(group + 12) << 32
        if load_i32(group + 4) != lexemes:
            lexemes = load_i32(group + 4)
            behind = exit_of(store, grammar, place, lexemes_by_number(store, named, lexemes))
            hold, asked = 0, 0
        if bits & hold == 0 and behind != REFUSED:
            number = first_that_holds(store, grammar, canon, behind, texts, bits & ~asked)
            asked |= bits if number < 0 else bits & ((1 << number) - 1)
            hold |= 0 if number < 0 else 1 << number
        if bits & hold == 0:
            store_i32(groups + 4 * N_ASKED, load_i32(groups + 4 * N_ASKED) + n)
        for i in range(n if bits & hold == 0 else 0):
            token = load_i32(group + 4 * (GROUP_HEAD + i))
            found = look_at_token(store, grammar, canon, configuration, split, token)
            result = max(result, found)
            if has_stopped(store, grammar):
                return NEEDS_STATE
        group += 4 * (GROUP_HEAD + n)
    return result


@kernel
def find_dead(store, grammar, canon, configuration, split, tokens, n):
    """Put those of int32[n] tokens at an address in FOUND that nothing follows: NEEDS_STATE, CUT or FOLLOWS_ON.

    The tokens are those of a short mask that stay inside of the lexeme, and may follow if they are compatible.
    """
    anonymous = inside_state(store, grammar, configuration)
    place = grammar.configurations[configuration].parse_state
    state = grammar.configurations[configuration].state
    groups = find_groups(
        store,
        grammar,
        canon,
        anonymous,
        0,
        split,
        shape_of(store, canon, anonymous) << 16 | split,
        anonymous,
        tokens,
        n,
    )
    canon[N_FOUND] = 0
    return look_at_groups(store, grammar, canon, configuration, split, place, state, groups)


NOT_ASKED = -1  # in place of what certainly may come


@inline
def look_inside(store, grammar, canon, anonymous, after, token, chain):
    """The verdict of a token that stays inside of the lexeme of a lexer state, CUT where that does not tell."""
    inside = go_token(store, grammar, pack(INSIDE_PLACE, anonymous), token)
    if inside < 0 or store.states[inside & 0xFFFFFFFF].finished != 0:
        return CUT
    return verdict_inside(store, grammar, canon, inside & 0xFFFFFFFF, after, token, chain)


@inline
def _clear_crossing(grammar, configuration, bits):
    """Clear the bits of the crossing tokens of a configuration; or the address of its own mask, which has them all."""
    if grammar.configurations[configuration].mask_kind & KIND_BITS == MaskKind.WORDS:
        return grammar.own_masks[grammar.configurations[configuration].mask]
    first = grammar.configurations[configuration].first
    for i in range(first, first + grammar.configurations[configuration].n):
        clear_bit(bits, grammar.crossings.pool[i])
    return 0


@kernel
def consider_again(store, grammar, canon, configuration, context, removed, n_mixed):
    """Put removed tokens in FOUND, those in DOUBTFUL looked at anew: NEEDS_STATE, CUT or FOLLOWS_ON.

    `removed` see `find_removed`, 0: there are none. The first `n_mixed` in DOUBTFUL are incompatible with the token
    before.
    """
    split, before, chain = split_of(context), before_of(context), chain_of(context)
    canon[N_FOUND] = 0
    again, n_again = ensure(canon, DOUBTFUL, 4), canon[N_DOUBTFUL]
    bits = ensure(canon, AGAIN, store.n_words * 4)  # none are set
    for j in range(n_again):
        set_bit(bits, load_i32(again + j * 4))
    for i in range(load_i32(removed + 4) if removed != 0 else 0):
        token = load_i32(removed + 8 + i * 4)
        if not has_bit(bits, token):
            append(canon, FOUND, N_FOUND, token)
    own = _clear_crossing(grammar, configuration, bits)
    result = CUT if removed != 0 and load_i32(removed) != 0 else FOLLOWS_ON
    anonymous = inside_state(store, grammar, configuration)
    start = pack(grammar.configurations[configuration].parse_state, grammar.configurations[configuration].state)
    is_named = names_ordinary(store, grammar, start)
    mask = 0  # of the tokens that stay inside of the lexeme
    if anonymous != DEAD and store.states[anonymous].mask_kind == MaskKind.WORDS:
        mask = store.masks[store.states[anonymous].mask]
    sure = NOT_ASKED
    if mask != 0 and canon[MOST_CANDIDATES] >= 0 and is_wide(store, anonymous):
        sure = find_sure(store, grammar, canon, anonymous)
    for j in range(n_again):
        token = load_i32(block(canon, DOUBTFUL) + j * 4)
        packed = REFUSED
        is_inside = mask != 0 and has_bit(mask, token)
        if not is_inside:
            is_crossing = has_bit(own, token) if own != 0 else not has_bit(bits, token)
            if is_crossing or is_named or mask == 0:
                packed = after_first(store, grammar, configuration, token)
            if packed < 0:
                continue
        after = look_up(canon, BREAKS, split, token) if j < n_mixed else split_after(canon, split, before, chain, token)
        if after == REFUSED_SPLIT:
            append(canon, FOUND, N_FOUND, token)
            continue
        following = chain_after(canon, split, after, chain, token)
        if is_inside and sure >= 0 and following & 1 == 0 and is_sure(canon, sure, token, after):
            continue
        found = CUT
        if is_inside or (anonymous != DEAD and mask == 0):
            found = look_inside(store, grammar, canon, anonymous, after, token, following)
        if found == CUT and packed < 0:
            packed = after_first(store, grammar, configuration, token)
            if packed < 0:
                continue
        if found == CUT:
            found = verdict(store, grammar, canon, grammar, packed, after, token, following)
        if found == NOTHING_FOLLOWS:
            append(canon, FOUND, N_FOUND, token)
        result = max(result, found)
        if has_stopped(store, grammar):
            result = NEEDS_STATE
            break
    for j in range(n_again):
        clear_bit(bits, load_i32(block(canon, DOUBTFUL) + j * 4))
    return result
