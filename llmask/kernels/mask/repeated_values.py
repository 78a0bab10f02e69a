"""Whether a tracked value that ends soon is in its set already, asked for masks (see goto.py, MAY_REPEAT).

In: a record, nodes of the token trie. Out: yes or no. Cost: 15 ns a text of the set, to learn that none begins like the
record, which is almost always; else an exit costs a look-up of the whole text.
"""

from __future__ import annotations

from ..lexeme_masks.exits import child_towards
from ..machine.jit import kernel, never_inline
from ..parser.items import CALL_OPEN
from ..parser.rows import R_N_WAITS, R_WAITS, row_field
from ..tables.grammar_layout import EDGES, PATH, PLAIN_TEXT, ROW_POOL, TEXT, TEXT_CHUNKS, TEXT_SETS, TEXTS
from ..tables.interning import MISSING, list_item, list_length
from ..tables.memory import block, ensure, get_i32, get_u8, put_i32
from ..tables.store_layout import CHILD_BYTE, CHILD_NODE
from ..values.json_values import FIND, has_writings, value_number
from ..values.text_sets import CHUNK_BITS, CHUNK_WORDS, FIRST_CHUNK, NO_TEXTS
from ..values.texts import known_text, plain_text
from ..values.transcripts import NO_RECORD, mark_before, marked_row, read_text, record_before
from ..values.variants import has_text, texts_of


@kernel
def path_to(store, grammar, node):
    """Write the bytes from the root of the trie to a node to PATH; returns how many."""
    never_inline()
    n = 0
    at = 0
    while at != node:
        child = child_towards(store, at, node)
        put_i32(ensure(grammar, PATH, (n + 1) * 4), n, get_u8(block(store, CHILD_BYTE), child))
        n += 1
        at = get_i32(block(store, CHILD_NODE), child)
    return n


@kernel
def could_repeat(grammar, record):
    """Whether a value of some set begins like what was read of a tracked value."""
    never_inline()
    mark = mark_before(grammar, record)
    while mark != NO_RECORD:
        row = marked_row(grammar, mark)
        n = plain_text(grammar, read_text(grammar, record, row), False)
        first = row_field(grammar, row, R_WAITS)
        for i in range(row_field(grammar, row, R_N_WAITS)):
            pool = block(grammar, ROW_POOL)
            if get_i32(block(grammar, EDGES), 4 * get_i32(pool, first + 4 * i + 1)) == CALL_OPEN:
                texts = texts_of(grammar, get_i32(pool, first + 4 * i + 2))
                if has_writings(grammar, n):
                    if texts != NO_TEXTS and value_number(grammar, n, FIND, False) != MISSING:
                        return True
                elif _one_begins(grammar, texts, n):
                    return True
        mark = mark_before(grammar, record_before(grammar, mark))
    return False


@kernel
def _one_begins(grammar, texts, n):
    """Whether one text of a set begins with the n bytes in PLAIN_TEXT."""
    never_inline()
    for i in range(FIRST_CHUNK, list_length(grammar, TEXT_SETS, texts), 2):
        first = list_item(grammar, TEXT_SETS, texts, i) << CHUNK_BITS
        chunk = list_item(grammar, TEXT_SETS, texts, i + 1)
        for j in range(CHUNK_WORDS):
            word = list_item(grammar, TEXT_CHUNKS, chunk, j) & 0xFFFFFFFF
            text = first + 32 * j
            while word != 0:
                if word & 1 != 0 and _begins(grammar, text, n):
                    return True
                word >>= 1
                text += 1
    return False


@kernel
def _begins(grammar, text, n):
    """Whether a text begins with the n bytes in PLAIN_TEXT."""
    if list_length(grammar, TEXTS, text) < n:
        return False
    plain = block(grammar, PLAIN_TEXT)
    i = 0
    while i < n and list_item(grammar, TEXTS, text, i) == get_i32(plain, i):
        i += 1
    return i == n


@kernel
def ends_in_set(store, grammar, record, node):
    """Whether a tracked value that ends at a node of the trie, begun in a record, is in its set."""
    never_inline()
    n_path = path_to(store, grammar, node)
    mark = mark_before(grammar, record)
    while mark != NO_RECORD:
        row = marked_row(grammar, mark)
        n = read_text(grammar, record, row)
        whole = ensure(grammar, TEXT, (n + n_path + 1) * 4)
        for i in range(n_path):
            put_i32(whole, n + i, get_i32(block(grammar, PATH), i))
        text = known_text(grammar, n + n_path)
        if text >= 0 and _waits_without(grammar, row, text):
            return True
        mark = mark_before(grammar, record_before(grammar, mark))
    return False


@kernel
def _waits_without(grammar, row, text):
    """Whether a row waits for a value that is not in a set with `text`."""
    first = row_field(grammar, row, R_WAITS)
    for i in range(row_field(grammar, row, R_N_WAITS)):
        pool = block(grammar, ROW_POOL)
        if get_i32(block(grammar, EDGES), 4 * get_i32(pool, first + 4 * i + 1)) == CALL_OPEN:
            if has_text(grammar, get_i32(pool, first + 4 * i + 2), text):
                return True
    return False
