"""Whether a tracked value that ends soon is in its set already, asked for masks (MAY_REPEAT in parser/tracked_goto.py).

A value *comes close* to one of its set where it can still become it with no other key than those that were read: where
a token ends a value and has a colon before, tracked_walk.py asks with all of the text. So an object comes close to
those that have its keys with its values, and an array to those that begin with its items.

In: a transcript, nodes of the token trie. Out: values, yes or no. Cost: 15 ns a text of the set: almost always none is
close; else an exit costs a look-up of the whole text.
"""

from ..lexeme_masks.exits import child_towards
from ..machine.jit import inline, kernel
from ..tables.int_lists import put
from ..tables.kinds import EdgeKind
from ..tables.memory import reserve
from ..values.called_rules import has_text, texts_of
from ..values.json_values import list_begun, read_beginning
from ..values.text_sets import one_comes_close
from ..values.texts import known_text, plain_text
from ..values.transcripts import (
    NO_TRANSCRIPT,
    is_byte,
    read_text,
    row_of_value_start,
    transcript_before,
    value_start_before,
)

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
    """List the starts of the tracked values that come close to one of their set, in `close_values`; returns how many."""
    n_starts = _list_begun(grammar, transcript)
    found = 0
    for k in range(n_starts):
        start = grammar.close_values[k]
        row = row_of_value_start(grammar, start)
        n = plain_text(grammar, read_text(grammar, transcript, row), False)
        top, end = read_beginning(grammar, n)
        first = grammar.rows[row].waits
        for i in range(grammar.rows[row].n_waits):
            waiting = grammar.row_entries[first + i]
            if grammar.edges[waiting.edge].kind == EdgeKind.CALL_OPEN:
                if one_comes_close(grammar, texts_of(grammar, waiting.parameter), top, end, n):
                    found = put(grammar.close_values, found, start)
                    break
    grammar.n_close = found
    return found


@kernel
def _list_begun(grammar, transcript):
    """List the starts of the tracked values that did not end, in `close_values`; returns how many."""
    n = 0
    oldest = transcript
    start = value_start_before(grammar, transcript)
    while start != NO_TRANSCRIPT:
        n = put(reserve(grammar.close_values, n + 1), n, start)
        oldest = start
        start = value_start_before(grammar, transcript_before(grammar, start))
    if grammar.is_json == 0 or n == 0:
        return n
    n_bytes = read_text(grammar, transcript, row_of_value_start(grammar, oldest))
    n_begun = list_begun(grammar, n_bytes)
    # positions of both go down, from the innermost value on
    n_listed = 0
    position = n_bytes
    at = transcript
    for k in range(n):
        start = grammar.close_values[k]
        while at != start:
            position -= is_byte(grammar, at)
            at = transcript_before(grammar, at)
        while n_begun > 0 and grammar.value_stack[n_begun - 1] > position:
            n_begun -= 1
        if position == n_bytes or (n_begun > 0 and grammar.value_stack[n_begun - 1] == position):
            n_listed = put(grammar.close_values, n_listed, start)
    return n_listed


@kernel
def ends_in_set(store, grammar, transcript, node):
    """Whether a tracked value that ends at a node of the trie, one of `close_values`, is in its set."""
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
    return False


@inline
def _refuses(grammar, row, text):
    """Whether a value that began in a row is refused if `text` is all of it: a run that waits there has it already.

    Rules of such runs are never chained (grammar/rules.py), so `parameter` is a set, not SHARED_BY_LEO.
    """
    first = grammar.rows[row].waits
    for i in range(grammar.rows[row].n_waits):
        entries = grammar.row_entries
        if grammar.edges[entries[first + i].edge].kind == EdgeKind.CALL_OPEN:
            if has_text(grammar, entries[first + i].parameter, text):
                return True
    return False
