"""Tokens that a grammar names by their ids: terminals beside the byte lexer, most of them special tokens.

    token set    list [1 if ordinary tokens are among them, else 0; low, high, low, high, ...], ranges in their order
    terminal     a lexeme whose node is of kind K_TOKENS; no lexer state has it

A row that scans such terminals takes their tokens where the lexeme before may end, as if it were a byte with which no
lexeme goes on. The set of terminals that have a token is what the parser takes; the step is remembered under the token.
An ordinary token that is named is taken as the terminal, also where its bytes could be read: one configuration cannot
be both, and the terminal is what the grammar names.

In: the tables, a row, a token. Out: places, lists of tokens. Cost: a known step 10 ns, a new one that of `goto`.
"""

from __future__ import annotations

from ..lexeme_masks.trie_walk import has_bit, set_bit
from ..lexer.states import lexeme_set, token_set_of
from ..machine.jit import kernel, never_inline
from ..regex.nodes import push, scratch
from ..tables.grammar_layout import EDGES, GOTO, N_EDGES, NAMED, NAMES_TOKENS, ROW_POOL
from ..tables.interning import MISSING, list_item, list_length, map_get, map_put
from ..tables.memory import EXCEEDED, block, ensure, get_i32, put_i32
from ..tables.store_layout import EOS, N_EOS, SCRATCH, SCRATCH_TOP, TOKEN_SETS
from ..values.transcripts import row_of
from .goto import goto
from .items import SCAN
from .rows import NO_PLACE, R_FLAGS, R_N_SCANS, R_SCANS, TAKES_TOKENS, row_field

NAMES_SOME = 1  # what NAMES_TOKENS says: only special tokens
NAMES_ORDINARY = 2  # tokens with bytes, too
TOKEN_STEP = 1 << 30  # added to a token in the keys of GOTO: numbers of lexeme sets are smaller


@kernel
def note_token_sets(store, grammar, first_edge):
    """Note in NAMES_TOKENS whether edges from `first_edge` on name tokens."""
    never_inline()
    edges = block(grammar, EDGES)
    for edge in range(first_edge, grammar[N_EDGES]):
        if get_i32(edges, 4 * edge) == SCAN:
            tokens = token_set_of(store, get_i32(edges, 4 * edge + 1))
            if tokens >= 0:
                kind = NAMES_SOME + list_item(store, TOKEN_SETS, tokens, 0)
                grammar[NAMES_TOKENS] = max(grammar[NAMES_TOKENS], kind)


@kernel
def _has_token(store, tokens, token):
    """Whether a token is in a set; its ranges are halved until one is left."""
    low = 0
    high = (list_length(store, TOKEN_SETS, tokens) - 1) // 2
    while high - low > 1:
        middle = (low + high) // 2
        if list_item(store, TOKEN_SETS, tokens, 2 * middle + 1) <= token:
            low = middle
        else:
            high = middle
    if high == 0:
        return False
    first = list_item(store, TOKEN_SETS, tokens, 2 * low + 1)
    return first <= token and token <= list_item(store, TOKEN_SETS, tokens, 2 * low + 2)


@kernel
def token_goto(store, grammar, place, token):
    """Place after a token that the row of a place names, or NO_PLACE."""
    never_inline()
    key = (place << 32) | TOKEN_STEP | token
    known = map_get(grammar, GOTO, key)
    if known != MISSING:
        return known
    row = row_of(grammar, place)
    first = store[SCRATCH_TOP]
    scans = row_field(grammar, row, R_SCANS)
    for i in range(row_field(grammar, row, R_N_SCANS)):
        lexeme = get_i32(block(grammar, ROW_POOL), scans + 4 * i)
        tokens = token_set_of(store, lexeme)
        if tokens >= 0 and _has_token(store, tokens, token):
            _insert(store, first, lexeme)
    target = NO_PLACE
    if store[SCRATCH_TOP] > first:
        target = goto(store, grammar, place, lexeme_set(store, first))
    if grammar[EXCEEDED] != 0 or store[EXCEEDED] != 0:
        return NO_PLACE
    map_put(grammar, GOTO, key, target)
    return target


@kernel
def _insert(store, first, lexeme):
    """Put a lexeme into the sorted, distinct ones in the scratch items from `first`."""
    at = store[SCRATCH_TOP]
    while at > first and scratch(store, at - 1) > lexeme:
        at -= 1
    if at > first and scratch(store, at - 1) == lexeme:
        return
    push(store, lexeme)
    address = block(store, SCRATCH)
    for i in range(store[SCRATCH_TOP] - 1, at, -1):
        put_i32(address, i, get_i32(address, i - 1))
    put_i32(address, at, lexeme)


@kernel
def ends_behind(store, grammar, place, token):
    """Whether a token is an end of sequence behind which the document ends and nothing else may follow."""
    row = row_of(grammar, place)
    if row_field(grammar, row, R_N_SCANS) != 0:
        return False
    eos = block(store, EOS)
    for i in range(store[N_EOS]):
        if get_i32(eos, i) == token:
            return True
    return False


@kernel
def names_special(store, grammar, place):
    """Whether the row of a place names special tokens; where it names ordinary ones beside them this is not seen."""
    never_inline()
    row = row_of(grammar, place)
    scans = row_field(grammar, row, R_SCANS)
    for i in range(row_field(grammar, row, R_N_SCANS)):
        tokens = token_set_of(store, get_i32(block(grammar, ROW_POOL), scans + 4 * i))
        if tokens >= 0 and list_item(store, TOKEN_SETS, tokens, 0) == 0:
            return True
    return False


@kernel
def list_named(store, grammar, place, words):
    """List the tokens that the row of a place names and that are not in a mask, and add them to it; returns how many.

    The list is in NAMED, in the order of the tokens of each set.
    """
    never_inline()
    row = row_of(grammar, place)
    if row_field(grammar, row, R_FLAGS) & TAKES_TOKENS == 0:
        return 0
    n = 0
    scans = row_field(grammar, row, R_SCANS)
    last = -1
    for i in range(row_field(grammar, row, R_N_SCANS)):
        tokens = token_set_of(store, get_i32(block(grammar, ROW_POOL), scans + 4 * i))
        if tokens < 0 or tokens == last:
            continue
        last = tokens
        for at in range(1, list_length(store, TOKEN_SETS, tokens), 2):
            for token in range(
                list_item(store, TOKEN_SETS, tokens, at), list_item(store, TOKEN_SETS, tokens, at + 1) + 1
            ):
                if not has_bit(words, token):
                    set_bit(words, token)
                    put_i32(ensure(grammar, NAMED, (n + 1) * 4), n, token)
                    n += 1
    return n


@kernel
def named_ranges(store, grammar, place, data):
    """Write the ranges of tokens (low, high) that the row of a place names to `data`; returns how many numbers."""
    never_inline()
    n = 0
    row = row_of(grammar, place)
    scans = row_field(grammar, row, R_SCANS)
    for i in range(row_field(grammar, row, R_N_SCANS)):
        tokens = token_set_of(store, get_i32(block(grammar, ROW_POOL), scans + 4 * i))
        if tokens < 0:
            continue
        for at in range(1, list_length(store, TOKEN_SETS, tokens)):
            if n < data.shape[0]:
                data[n] = list_item(store, TOKEN_SETS, tokens, at)
            n += 1
    return n
