"""Sets of recorded texts: interned, so that equal sets are one number, and small where they share most members.

    set      [number of texts, whether UNKNOWN_TEXT is among them, then first text / 1024, chunk of those texts, ...]
    chunk    32 words of 32 bits: which of 1024 texts are there

Texts are numbered as they are first read, so those of one document lie in a few chunks: a set with one more text takes
200 bytes. (Sorted lists of texts took 4 KB for 1,000, and every mask makes such sets.)

In: a grammar's table, sets, texts. Out: sets. Cost: a few loads to ask for a member, about 0.3 us for one more.
"""

from __future__ import annotations

from ..machine.jit import inline, kernel
from ..tables.interning import intern_list, list_item, list_length
from ..tables.memory import reserve

NO_TEXTS = 0  # the empty set
UNKNOWN_TEXT = 0  # reserved text: of a value that is not looked at, see goto.py
N_TEXTS = 0  # fields of a set
HAS_UNKNOWN = 1
FIRST_CHUNK = 2
CHUNK_BITS = 10
CHUNK_WORDS = 32


@kernel
def init_text_sets(grammar):
    """Make the empty set and the empty chunk."""
    address = reserve(grammar.set_in_progress, CHUNK_WORDS)
    for i in range(CHUNK_WORDS):
        address[i] = 0
    intern_list(grammar.text_sets, address.address, 0, FIRST_CHUNK)
    intern_list(grammar.text_chunks, address.address, 0, CHUNK_WORDS)


@inline
def n_texts(grammar, texts):
    return list_item(grammar.text_sets, texts, N_TEXTS)


@inline
def has_unknown_text(grammar, texts):
    return list_item(grammar.text_sets, texts, HAS_UNKNOWN) != 0


@kernel
def _chunk_place(grammar, texts, chunk):
    """Position of a chunk in a set, or of the first one behind it."""
    low = FIRST_CHUNK
    high = list_length(grammar.text_sets, texts)
    while low < high:
        middle = FIRST_CHUNK + ((low + high - 2 * FIRST_CHUNK) >> 2) * 2
        if list_item(grammar.text_sets, texts, middle) < chunk:
            low = middle + 2
        else:
            high = middle
    return low


@inline
def is_text_in(grammar, texts, text):
    """Whether a text is in a set."""
    at = _chunk_place(grammar, texts, text >> CHUNK_BITS)
    if at == list_length(grammar.text_sets, texts) or list_item(grammar.text_sets, texts, at) != text >> CHUNK_BITS:
        return False
    word = list_item(grammar.text_chunks, list_item(grammar.text_sets, texts, at + 1), (text >> 5) & 31)
    return (word >> (text & 31)) & 1 != 0


@kernel
def without_unknown(grammar, texts):
    """The set without UNKNOWN_TEXT, which is in it."""
    n = list_length(grammar.text_sets, texts)
    address = reserve(grammar.set_in_progress, max(CHUNK_WORDS, n))
    chunk = list_item(grammar.text_sets, texts, FIRST_CHUNK + 1)  # the text is the first of all
    rest = 0
    for i in range(CHUNK_WORDS):
        word = list_item(grammar.text_chunks, chunk, i)
        word = word & ~1 if i == 0 else word
        rest |= word
        address[i] = word
    skipped = 0
    if rest == 0:
        skipped = 2
    else:
        chunk = intern_list(grammar.text_chunks, address.address, 0, CHUNK_WORDS)
    for i in range(FIRST_CHUNK + skipped, n):
        address[i - skipped] = list_item(grammar.text_sets, texts, i)
    if rest != 0:
        address[FIRST_CHUNK + 1] = chunk
    address[N_TEXTS] = n_texts(grammar, texts) - 1
    address[HAS_UNKNOWN] = 0
    return intern_list(grammar.text_sets, address.address, 0, n - skipped)


@kernel
def add_text(grammar, texts, text):
    """The set with a text that is not in it."""
    at = _chunk_place(grammar, texts, text >> CHUNK_BITS)
    n = list_length(grammar.text_sets, texts)
    is_new = at == n or list_item(grammar.text_sets, texts, at) != text >> CHUNK_BITS
    chunk = 0 if is_new else list_item(grammar.text_sets, texts, at + 1)
    address = reserve(grammar.set_in_progress, max(CHUNK_WORDS, n + 2))
    for i in range(CHUNK_WORDS):
        address[i] = list_item(grammar.text_chunks, chunk, i)
    word = (text >> 5) & 31
    address[word] = address[word] | (1 << (text & 31))
    chunk = intern_list(grammar.text_chunks, address.address, 0, CHUNK_WORDS)
    shift = 2 if is_new else 0
    for i in range(n):
        address[i if i < at else i + shift] = list_item(grammar.text_sets, texts, i)
    address[at] = text >> CHUNK_BITS
    address[at + 1] = chunk
    address[N_TEXTS] = address[N_TEXTS] + 1
    if text == UNKNOWN_TEXT:
        address[HAS_UNKNOWN] = 1
    return intern_list(grammar.text_sets, address.address, 0, n + shift)
