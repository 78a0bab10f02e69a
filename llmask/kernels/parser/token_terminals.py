"""Tokens that a grammar names by their ids: terminals beside the byte lexer, most of them special tokens.

    token set    list [1 if ordinary tokens are among them, else 0; low, high, low, high, ...], ranges in their order
    terminal     a lexeme whose node is of kind NodeKind.TOKENS; no lexer state has it

A row that scans such terminals takes their tokens where the lexeme before may end, as if it were a byte with which no
lexeme goes on. The set of terminals that have a token is what the parser takes; the step is remembered under the token.
An ordinary token that is named is taken as the terminal, also where its bytes could be read: one configuration cannot
be both, and the terminal is what the grammar names.

In: the tables, a row, a token. Out: parse states, lists of tokens. Cost: a known step 10 ns, a new one that of `goto`.
"""

from ..lexeme_masks.trie_walk import has_bit, set_bit
from ..lexer.states import lexeme_set, token_set_of
from ..machine.jit import inline, kernel
from ..regex.nodes import push
from ..tables.interning import MISSING, list_item, list_length, map_get, map_put
from ..tables.kinds import EdgeKind
from ..tables.memory import has_stopped, reserve
from ..values.parse_states import row_of
from .goto import goto
from .rows import NO_PARSE_STATE, scans_of

NAMES_SOME = 1  # what `names_tokens` says: only special tokens
NAMES_ORDINARY = 2  # tokens with bytes, too
TOKEN_STEP = 1 << 30  # added to a token in the keys of `goto`: numbers of lexeme sets are smaller


@kernel
def note_token_sets(store, grammar, first_edge):
    """Note in `names_tokens` whether edges from `first_edge` on name tokens."""
    edges = grammar.edges
    for edge in range(first_edge, grammar.n_edges):
        if edges[edge].kind == EdgeKind.SCAN:
            tokens = token_set_of(store, edges[edge].symbol)
            if tokens >= 0:
                kind = NAMES_SOME + list_item(store.token_sets, tokens, 0)
                grammar.names_tokens = max(grammar.names_tokens, kind)


@inline
def n_token_ranges(store, tokens):
    """How many ranges a token set has; 0 for -1, the set of lexemes of bytes."""
    return (list_length(store.token_sets, tokens) - 1) // 2 if tokens >= 0 else 0


@inline
def token_range(store, tokens, i):
    """(low, high) of a range of a token set."""
    return list_item(store.token_sets, tokens, 2 * i + 1), list_item(store.token_sets, tokens, 2 * i + 2)


@inline
def _has_token(store, tokens, token):
    """Whether a token is in a set; its ranges are halved until one is left."""
    low = 0
    high = n_token_ranges(store, tokens)
    if high == 0:
        return False
    while high - low > 1:
        middle = (low + high) // 2
        if token_range(store, tokens, middle)[0] <= token:
            low = middle
        else:
            high = middle
    first, last = token_range(store, tokens, low)
    return first <= token and token <= last


@inline
def known_token_goto(store, grammar, parse_state, token):
    """Parse state after a token that its row names, NO_PARSE_STATE or MISSING. Reads only."""
    return map_get(grammar.goto, (parse_state << 32) | TOKEN_STEP | token)


@kernel
def token_goto(store, grammar, parse_state, token):
    """Parse state after a token that its row names, or NO_PARSE_STATE."""
    known = known_token_goto(store, grammar, parse_state, token)
    if known != MISSING:
        return known
    first = store.scratch_top
    for at in scans_of(grammar, row_of(grammar, parse_state)):
        lexeme = grammar.row_entries[at].symbol
        tokens = token_set_of(store, lexeme)
        if tokens >= 0 and _has_token(store, tokens, token):
            _insert(store, first, lexeme)
    target = NO_PARSE_STATE
    if store.scratch_top > first:
        target = goto(store, grammar, parse_state, lexeme_set(store, first))
    if has_stopped(store, grammar):
        return NO_PARSE_STATE
    map_put(grammar.goto, (parse_state << 32) | TOKEN_STEP | token, target)
    return target


@inline
def _insert(store, first, lexeme):
    """Put a lexeme into the sorted, distinct ones in the scratch items from `first`."""
    at = store.scratch_top
    while at > first and store.scratch[at - 1] > lexeme:
        at -= 1
    if at > first and store.scratch[at - 1] == lexeme:
        return
    push(store, lexeme)
    address = store.scratch
    for i in range(store.scratch_top - 1, at, -1):
        address[i] = address[i - 1]
    address[at] = lexeme


@inline
def is_end_of_sequence(store, token):
    """Whether a token is an end of sequence."""
    for i in range(store.n_eos):
        if store.eos[i] == token:
            return True
    return False


@inline
def ends_after(store, grammar, parse_state, token):
    """Whether a token is an end of sequence with which the document ends and after which nothing may follow."""
    return grammar.rows[row_of(grammar, parse_state)].n_scans == 0 and is_end_of_sequence(store, token)


@kernel
def names_special(store, grammar, parse_state):
    """Whether a row names special tokens; a set that names ordinary ones, too, does not count."""
    for at in scans_of(grammar, row_of(grammar, parse_state)):
        tokens = token_set_of(store, grammar.row_entries[at].symbol)
        if tokens >= 0 and list_item(store.token_sets, tokens, 0) == 0:
            return True
    return False


@kernel
def list_named(store, grammar, parse_state, words):
    """List the tokens that a row names and that are not in a mask, and add them to it; returns how many.

    The list is in `named`, in the order of the tokens of each set.
    """
    row = row_of(grammar, parse_state)
    if not grammar.rows[row].takes_tokens:
        return 0
    n = 0
    last = -1
    for at in scans_of(grammar, row):
        tokens = token_set_of(store, grammar.row_entries[at].symbol)
        if tokens == last:
            continue
        last = tokens
        for i in range(n_token_ranges(store, tokens)):
            low, high = token_range(store, tokens, i)
            for token in range(low, high + 1):
                if not has_bit(words, token):
                    set_bit(words, token)
                    reserve(grammar.named, n + 1)[n] = token
                    n += 1
    return n


@inline
def put_pair(data, n, pair):
    """Append a pair to n numbers, where there is room; returns how many numbers there are."""
    if n + 2 <= data.shape[0]:
        data[n], data[n + 1] = pair
    return n + 2


@kernel
def named_ranges(store, grammar, parse_state, data):
    """Write the ranges of tokens (low, high) that a row names to `data`; returns how many numbers."""
    n = 0
    for at in scans_of(grammar, row_of(grammar, parse_state)):
        tokens = token_set_of(store, grammar.row_entries[at].symbol)
        for i in range(n_token_ranges(store, tokens)):
            n = put_pair(data, n, token_range(store, tokens, i))
    return n
