"""Whether a canonical continuation exists behind a token: a search over tokens.

A token may follow if some grammatical text behind it is encoded so that the tokens so far are kept. It is enough to
look until a word certainly ends where a token ends: whatever text follows is then encoded on its own. So the quick
answer for a place is one character that the grammar allows and that ends the word, or the end of the text; tokens
without one are searched further, breadth first:

    "na" under the forced key "name": only "m" may follow, which ends no word; of the tokens behind it "me" merges with
    "na", and "m" leads to "e" only, which merges with "m": there is no continuation

An *end* is a place with a lexer state. What a search found is remembered as the verdict of an end, a split state and
the token before them; one search gives verdicts for all tokens that it exhausts. A continuation of up to seven bytes,
with the split state behind it where the word may end, is also remembered as a *witness* for its split state, token and
chain (canonical/chains.py): in other places it is tried first, which is how the tokens of a string with room for 49
characters learn from those of one with room for 50. One that can follow whatever the token before is, is remembered for
all tokens: behind blanks `" true"` before a boolean, `" {"` before an object.

From a bare row (mask/crossing.py) a search goes where all records lead; if some lead elsewhere, or the text may
end behind some, nothing found is not certain.

With INSIDE for a place a search looks at the lexer state alone; what it does not find is then not certain where the
lexeme might end on the way. It stops there with a witness: of blanks that need a line end behind them this is found
once, and a place asks only whether it takes a character behind the line end.

A special token that the grammar names ends the text. Tokens with bytes that it names are not searched: where one may
come, nothing found is a search that was given up.

In: tables, an end, a split state, a token. Out: verdicts; `memo` is the grammar's table, or for lexer states the table
of split states. Cost: 50 ns where it is known, a search 1 us to some 100 us.
"""

from ..machine.jit import inline, kernel
from ..machine.numba_names import map_at
from ..tables.grammar_layout import GRAMMAR
from ..tables.interning import map_get
from ..tables.memory import block, ensure, load_i64, store_i64
from .chains import NO_CHAIN
from .descent import CUT, FOLLOWS_ON, FOUND_ONE, LEAVES, NEEDS_STATE, NOTHING_FOLLOWS, WAS_CUT, look_at_tokens
from .ends import (
    INSIDE_PLACE,
    MEMO_BITS,
    MEMO_BYTES,
    NO_NUMBER,
    end_of,
    go,
    has_stopped,
    is_bare,
    might_stop,
    names_ordinary,
    note_missing,
    remember,
    safe_byte,
)
from .guess import MOST_CHAINS, NEXT, NO_WITNESS, guess_witness, is_half, split_behind, witness_key, witness_text
from .joined import joins_on
from .live import NO_BYTE
from .queue import ANY_TOKEN, ENTRY, MOST_COMMON, MOST_ENTRIES, MOST_OWN, note_verdict, verdict_key, write_entry
from .slots import BUDGET, FOLLOWS, INSIDE_BUDGET, IS_OPEN, MAY_END, QUEUE, SAFE_MEMO, WITNESSES


@kernel
def own_witness(canon, split, token, chain, number):
    """The witness of a number of a token that led to a split state and a chain; negative: there are fewer.

    A witness is its place in TOKENS, + 1, or NO_WITNESS.
    """
    if chain >= MOST_CHAINS:
        return -1
    if number == 0 and chain == NO_CHAIN and is_half(canon, split):
        return guess_witness(canon, split, token)
    return map_get(map_at(canon, WITNESSES), witness_key(split, token, chain) + number * NEXT)


@inline
def _has_witness(store, grammar, canon, packed, witness):
    """Whether there is a witness and it can follow: its bytes, and behind them one that ends the word."""
    if witness <= NO_WITNESS:
        return False
    text = witness_text(canon, witness)
    while text != 0:
        packed = go(store, grammar, packed, text & 0xFF)
        if packed < 0:
            return False
        text >>= 8
    return safe_byte(store, grammar, canon, packed, split_behind(canon, witness)) != NO_BYTE


@inline
def common_witness(canon, split, number):
    """The witness of a number that holds for all tokens; negative: there are fewer."""
    return map_get(map_at(canon, WITNESSES), witness_key(split, ANY_TOKEN, NO_CHAIN) + number * NEXT)


@kernel
def _has_common_witness(store, grammar, canon, packed, split):
    """Whether a witness that is known for all tokens can follow."""
    for number in range(MOST_COMMON):
        witness = common_witness(canon, split, number)
        if witness < 0:
            return False
        if _has_witness(store, grammar, canon, packed, witness):
            return True
    return False


@inline
def leads_on(store, grammar, canon, number, packed, split):
    """Whether a witness that is known for all tokens can follow; remembered as `is_safe` is."""
    if number == NO_NUMBER or split >= MEMO_BITS:
        return _has_common_witness(store, grammar, canon, packed, split)
    memo = block(canon, SAFE_MEMO) + number * MEMO_BYTES + 16
    asked, bit = load_i64(memo), 1 << split
    if asked & bit == 0:
        store_i64(memo, asked | bit)
        if _has_common_witness(store, grammar, canon, packed, split):
            store_i64(memo + 8, load_i64(memo + 8) | bit)
    return load_i64(memo + 8) & bit != 0


@inline
def verdict(store, grammar, canon, memo, packed, split, token, chain):
    """Whether a canonical continuation exists behind a token that led to an end, split state and chain."""
    if chain & 1 == 0 and safe_byte(store, grammar, canon, packed, split) != NO_BYTE:
        return FOLLOWS_ON
    return late_verdict(store, grammar, canon, memo, packed, split, token, chain)


@kernel
def late_verdict(store, grammar, canon, memo, packed, split, token, chain):
    """As `verdict` where no character that may come next ends the word for certain."""
    if has_own_witness(store, grammar, canon, packed, split, token, chain):
        return FOLLOWS_ON
    if chain == NO_CHAIN and _has_common_witness(store, grammar, canon, packed, split):
        return FOLLOWS_ON
    return searched_verdict(store, grammar, canon, memo, packed, split, token, chain)


@kernel
def has_own_witness(store, grammar, canon, packed, split, token, chain):
    """Whether a witness that is known for a token and chain can follow."""
    for number in range(MOST_OWN):
        witness = own_witness(canon, split, token, chain, number)
        if witness < 0:
            break
        if _has_witness(store, grammar, canon, packed, witness):
            return True
    return chain == NO_CHAIN and is_half(canon, split) and joins_on(store, grammar, canon, packed, split, token)


@kernel
def searched_verdict(store, grammar, canon, memo, packed, split, token, chain):
    """As `late_verdict` where no witness can follow, or the token is in a chain."""
    end = end_of(memo, packed)
    key = verdict_key(end, split, token)
    if chain == NO_CHAIN:
        known = map_get(memo.verdicts, key)
        if known >= 0:
            return known
    found = _search(store, grammar, canon, memo, packed, end, split, token, chain)
    if has_stopped(store, grammar):
        return NEEDS_STATE
    if chain == NO_CHAIN and found != NEEDS_STATE and map_get(memo.verdicts, key) < 0:
        remember(canon, memo, GRAMMAR.verdicts, key, found)
    return found


@kernel
def _search(store, grammar, canon, memo, packed, end, split, token, chain):
    """The search itself: a verdict; what was exhausted on the way is remembered."""
    ensure(canon, QUEUE, MOST_ENTRIES * ENTRY * 8)
    write_entry(canon, 0, packed, split, token, chain, -1, end)
    canon[IS_OPEN] = 0
    grammar.is_uncertain = 0
    is_inside = packed >> 32 == INSIDE_PLACE
    budget = canon[INSIDE_BUDGET] if is_inside else canon[BUDGET]
    n_entries, entry, is_cut = 1, 0, False
    while entry < n_entries:
        at = block(canon, QUEUE) + entry * ENTRY * 8
        packed, split = load_i64(at), load_i64(at + 8)
        if load_i64(canon[FOLLOWS] + split * 8) == 0:
            note_missing(canon, split)
            return NEEDS_STATE
        if is_inside and store.states[packed & 0xFFFFFFFF].accepts != 0:
            canon[IS_OPEN] = 1
        if not is_inside and names_ordinary(store, grammar, packed):
            is_cut = True
        if is_bare(packed) and load_i64(canon[MAY_END] + split * 8) != 0 and might_stop(store, grammar, packed):
            return CUT  # for some records something follows
        found = look_at_tokens(store, grammar, canon, memo, entry, n_entries, budget)
        if found < 0:
            return NEEDS_STATE
        budget, n_entries = found >> 16, found & (2 * MOST_ENTRIES - 1)
        if found & FOUND_ONE != 0:
            while entry > 0:
                note_verdict(canon, memo, entry, FOLLOWS_ON)
                entry = load_i64(block(canon, QUEUE) + entry * ENTRY * 8 + 32)
            return FOLLOWS_ON
        if found & LEAVES != 0 or budget == 0:
            return CUT
        is_cut = is_cut or found & WAS_CUT != 0
        entry += 1
    if has_stopped(store, grammar):
        return NEEDS_STATE  # bytes that were not looked at any more seem dead
    if is_cut or canon[IS_OPEN] != 0 or grammar.is_uncertain != 0:
        return CUT
    for entry in range(1, n_entries):
        note_verdict(canon, memo, entry, NOTHING_FOLLOWS)
    return NOTHING_FOLLOWS
