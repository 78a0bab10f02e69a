"""Whether a tracked value that ends soon is in its set already, asked for masks (MAY_REPEAT in parser/tracked_goto.py).

A value *comes close* to one of its set where it can still become it with no other key than those that were read: where
a token ends a value and has a colon before, tracked_walk.py asks with all of the text. So an object comes close to
those that have its keys with its values, and an array to those that begin with its items.

In: a transcript, nodes of the token trie. Out: values, yes or no. Cost: 15 ns a text of the set: almost always none is
close; else an exit costs a look-up of the whole text.
"""

from ..lexeme_masks.exits import child_towards
from ..machine.jit import inline, kernel
from ..parser.rows import waits_of
from ..tables.int_lists import put
from ..tables.kinds import EdgeKind
from ..tables.memory import reserve
from ..values.called_rules import has_text, one_comes_close, texts_of
from ..values.json_values import read_beginning
from ..values.parse_states import list_starts, read_text, row_of_value_start
from ..values.texts import known_text, plain_text


@kernel
def path_to(store, grammar, node):
    """Write the bytes from the root of the trie to a node to `path`; returns how many."""
    n = 0
    at = 0
    while at != node:
        child = child_towards(store, at, node)
        reserve(grammar.path, n + 1)[n] = store.child_byte[child]
        n += 1
        at = store.child_node[child]
    return n


@kernel
def list_close(grammar, transcript):
    """List where tracked values start that come close to one of their set, in `close_values`; returns how many."""
    n_starts = list_starts(grammar, transcript)
    found = 0
    for k in range(n_starts):
        start = grammar.close_values[k]
        row = row_of_value_start(grammar, start)
        if _comes_close(grammar, row, read_text(grammar, transcript, row), False):
            found = put(grammar.close_values, found, start)
    grammar.n_close = found
    return found


@kernel
def _comes_close(grammar, row, n, is_whole):
    """Whether the value that began in a row, with n bytes in `text`, comes close to one of its set."""
    n = plain_text(grammar, n, False)
    top, end = read_beginning(grammar, n, is_whole)
    for at in waits_of(grammar, row):
        waiting = grammar.row_entries[at]
        if grammar.edges[waiting.edge].kind == EdgeKind.CALL_OPEN:
            if one_comes_close(grammar, texts_of(grammar, waiting.parameter), top, end, n):
                return True
    return False


@kernel
def ends_in_set(store, grammar, transcript, node):
    """Whether a tracked value that ends at a node of the trie, one of `close_values`, is in its set.

    Or, where known values are followed, whether it may still become one of them after the node.
    """
    n_path = path_to(store, grammar, node)
    for k in range(grammar.n_close):
        row = row_of_value_start(grammar, grammar.close_values[k])
        n = read_text(grammar, transcript, row)
        whole = reserve(grammar.text, n + n_path + 1)
        for i in range(n_path):
            whole[n + i] = grammar.path[i]
        text = known_text(grammar, n + n_path)
        if text >= 0 and _refuses(grammar, row, text):
            return True
        if grammar.follows != 0 and _comes_close(grammar, row, n + n_path, True):
            return True
    return False


@inline
def _refuses(grammar, row, text):
    """Whether a value that began in a row is refused if `text` is all of it: a run that waits there has it already.

    Rules of such runs are never chained (grammar/rules.py), so `parameter` is a set, not SHARED_BY_LEO.
    """
    for at in waits_of(grammar, row):
        waiting = grammar.row_entries[at]
        if grammar.edges[waiting.edge].kind == EdgeKind.CALL_OPEN and has_text(grammar, waiting.parameter, text):
            return True
    return False
