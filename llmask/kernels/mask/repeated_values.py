"""Whether a tracked value that ends soon is in its set already, asked for masks (MAY_REPEAT in parser/tracked_goto.py).

In: a transcript, nodes of the token trie. Out: yes or no. Cost: 15 ns a text of the set: almost always no text begins
like the transcript; else an exit costs a look-up of the whole text.
"""

from ..lexeme_masks.exits import child_towards
from ..machine.jit import inline, kernel
from ..tables.interning import MISSING, list_item, list_length
from ..tables.kinds import EdgeKind
from ..tables.memory import reserve
from ..values.called_rules import has_text, texts_of
from ..values.json_values import FIND, has_writings, value_number
from ..values.text_sets import CHUNK_BITS, CHUNK_WORDS, FIRST_CHUNK, NO_TEXTS
from ..values.texts import known_text, plain_text
from ..values.transcripts import NO_TRANSCRIPT, read_text, row_of_value_start, transcript_before, value_start_before


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
def could_repeat(grammar, transcript):
    """Whether a value of some set begins like what was read of a tracked value."""
    mark = value_start_before(grammar, transcript)
    while mark != NO_TRANSCRIPT:
        row = row_of_value_start(grammar, mark)
        n = plain_text(grammar, read_text(grammar, transcript, row), False)
        first = grammar.rows[row].waits
        for i in range(grammar.rows[row].n_waits):
            entries = grammar.row_entries
            if grammar.edges[entries[first + i].edge].kind == EdgeKind.CALL_OPEN:
                texts = texts_of(grammar, entries[first + i].parameter)
                if has_writings(grammar, n):
                    if texts != NO_TEXTS and value_number(grammar, n, FIND, False) != MISSING:
                        return True
                elif _one_begins(grammar, texts, n):
                    return True
        mark = value_start_before(grammar, transcript_before(grammar, mark))
    return False


@kernel
def _one_begins(grammar, texts, n):
    """Whether one text of a set begins with the n bytes in `plain_text`."""
    for i in range(FIRST_CHUNK, list_length(grammar.text_sets, texts), 2):
        first = list_item(grammar.text_sets, texts, i) << CHUNK_BITS
        chunk = list_item(grammar.text_sets, texts, i + 1)
        for j in range(CHUNK_WORDS):
            word = list_item(grammar.text_chunks, chunk, j) & 0xFFFFFFFF
            text = first + 32 * j
            while word != 0:
                if word & 1 != 0 and _begins(grammar, text, n):
                    return True
                word >>= 1
                text += 1
    return False


@inline
def _begins(grammar, text, n):
    """Whether a text begins with the n bytes in `plain_text`."""
    if list_length(grammar.texts, text) < n:
        return False
    plain = grammar.plain_text
    i = 0
    while i < n and list_item(grammar.texts, text, i) == plain[i]:
        i += 1
    return i == n


@kernel
def ends_in_set(store, grammar, transcript, node):
    """Whether a tracked value that ends at a node of the trie, begun in a transcript, is in its set."""
    n_path = path_to(store, grammar, node)
    mark = value_start_before(grammar, transcript)
    while mark != NO_TRANSCRIPT:
        row = row_of_value_start(grammar, mark)
        n = read_text(grammar, transcript, row)
        whole = reserve(grammar.text, n + n_path + 1)
        for i in range(n_path):
            whole[n + i] = grammar.path[i]
        text = known_text(grammar, n + n_path)
        if text >= 0 and _refuses(grammar, row, text):
            return True
        mark = value_start_before(grammar, transcript_before(grammar, mark))
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
