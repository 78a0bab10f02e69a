"""What a walk across the ends of lexemes finds: tokens, deferred nodes and parts.

    crossing         tokens that cross a lexeme's end
    crossing_ends    with `tells_ends`, where each of them leads: a packed parse state and lexer state, with UNTRACKED
                     where the parse state is an untracked row: what holds there holds for every transcript
    deferred         nodes of the trie at which a text decides, see tracked_walk.py
    parts            nodes with a large subtree: which of its tokens stay inside the lexeme that is read there, and
                     where it ends, depends on the lexer state and the node alone, so the store knows it
                     (lexeme_masks/subtree_masks.py), and only the ends are walked from, in the part's row

After an operator the 60,000 tokens that begin with a blank are a part: 0.3 ms instead of 10. What follows many exits is
a part, too: it depends on these and on the lexer state after them.

In: a grammar's table, nodes, rows. Out: the slots above. Cost: 5 ns a token.
"""

from ..lexer.dense_transitions import DenseEntry, dense_row, dense_step
from ..machine.jit import inline, kernel
from ..machine.records import Kind
from ..tables.interning import intern_list, list_offset
from ..tables.memory import reserve
from ..vocabulary.trie_words import subtree_end, token_of

DEFERRED_KINDS = 4  # a deferred node is node * DEFERRED_KINDS + kind


class Deferred(Kind):
    """What of a node is walked again with the text known."""

    WHOLE = 0  # the token that ends there, and those below it
    BELOW = 1  # those below it
    ENDING = 2  # those below it for which the lexeme in hand ends at the node


NO_DENSE_ROW = -1

# where a token leads, or
NO_END = -1  # it has to be read to know
IN_PART = -2  # so is one that a part lists
UNTRACKED = 1 << 61  # of a packed parse state: the bit above all rows


@kernel
def allow(store, grammar, node, end):
    """List the token that ends at a trie node, and those with the same bytes; they lead to `end`."""
    token = token_of(store.trie[node])
    if token >= 0:
        allow_alike(store, grammar, token, end)


@inline
def allow_alike(store, grammar, token, end):
    """List a token and those with the same bytes."""
    allow_token(grammar, token, end)
    if store.n_duplicates != 0:
        other = store.duplicates[token]
        while other != 0:
            allow_token(grammar, other, end)
            other = store.duplicates[other]


@inline
def allow_token(grammar, token, end):
    """List a token."""
    n = grammar.n_crossing
    reserve(grammar.crossing, n + 1)[n] = token
    if grammar.tells_ends != 0:
        reserve(grammar.crossing_ends, n + 1)[n] = end
    grammar.n_crossing = n + 1


@inline
def allow_part(grammar, tokens, first, n):
    """List n tokens of a part."""
    listed = grammar.n_crossing
    crossing = reserve(grammar.crossing, listed + n)
    for i in range(n):
        crossing[listed + i] = tokens[first + i]
    if grammar.tells_ends != 0:
        ends = reserve(grammar.crossing_ends, listed + n)
        for i in range(n):
            ends[listed + i] = IN_PART
    grammar.n_crossing = listed + n


@inline
def intern_crossings(grammar, tokens, n):
    """Where n numbers of a block lie in the pool of crossings."""
    return list_offset(grammar.crossings, intern_list(grammar.crossings, tokens.address, 0, n))


@kernel
def defer(store, grammar, node, kind):
    """Leave a node, or what is below it, to a walk with the text known."""
    first = store.child_first
    if kind != Deferred.WHOLE and first[node] == first[node + 1]:
        return
    n = grammar.n_deferred
    reserve(grammar.deferred, n + 1)[n] = node * DEFERRED_KINDS + kind
    grammar.n_deferred = n + 1


@inline
def is_part(store, grammar, node, state, ending):
    """Whether what is below a node, reached in a lexer state, is large enough to be a part.

    `ending`: dense row of the state in which a lexeme ends at the node; `state` begins the next one then. Children that
    go on in the former must not begin the latter, or the part would have both. NO_DENSE_ROW: nothing ends here.
    """
    if grammar.lists_parts == 0:
        return False
    end = subtree_end(store.trie[node])
    if end - node < store.least_part:
        return False
    return ending == NO_DENSE_ROW or _are_apart(store, node, dense_row(store, state), ending)


@kernel
def _are_apart(store, node, one, other):
    """Whether no child of a node leads on from both dense rows."""
    first = store.child_first
    for child in range(first[node], first[node + 1]):
        byte = store.child_byte[child]
        if dense_step(store, one, byte) != DenseEntry.DEAD and dense_step(store, other, byte) != DenseEntry.DEAD:
            return False
    return True


@kernel
def note_part(grammar, row, state, node, part):
    """Leave what is below a node, reached in a row and a lexer state, to lexeme_masks/subtree_masks.py."""
    n = grammar.n_parts
    noted = reserve(grammar.parts, n + 1)[n]
    noted.part, noted.row, noted.state, noted.node = part, row, state, node
    grammar.n_parts = n + 1
