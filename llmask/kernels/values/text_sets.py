"""Sets of texts as sparse bitmaps: interned, so that equal sets are one number, and small where they share members.

    set      [number of texts, whether UNKNOWN_TEXT is among them, then pairs: number of a chunk, its bits; ...]
    bits     32 words of 32 bits: which of the 1024 texts of a chunk are there

Texts are numbered as they are first read, so the texts of one document lie in a few chunks: a set with one more text
takes 200 bytes. (Sorted lists of texts took 4 KB for 1,000, and every mask makes such sets.)

In: a grammar's table, sets, texts. Out: sets. Cost: a few loads to ask for a member, about 0.3 us for one more.
"""

from ..machine.jit import inline, kernel
from ..tables.interning import copy_list, intern_list, list_item, list_length
from ..tables.memory import reserve
from .json_values import comes_close

NO_TEXTS = 0  # the empty set
UNKNOWN_TEXT = 0  # reserved text, of a value that is not looked at: see parser/tracked_values.py
N_TEXTS = 0  # fields of a set
HAS_UNKNOWN = 1
FIRST_CHUNK = 2
PAIR_INTS = 2  # number of a chunk, its bits
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


@inline
def _chunk_number(grammar, texts, at):
    return list_item(grammar.text_sets, texts, at)


@inline
def _chunk_bits(grammar, texts, at):
    return list_item(grammar.text_sets, texts, at + 1)


@kernel
def _find_chunk(grammar, texts, chunk):
    """Where the pair of a chunk is in a set, or where it would be (binary search)."""
    low = 0
    high = (list_length(grammar.text_sets, texts) - FIRST_CHUNK) // PAIR_INTS
    while low < high:
        middle = (low + high) >> 1
        if _chunk_number(grammar, texts, FIRST_CHUNK + PAIR_INTS * middle) < chunk:
            low = middle + 1
        else:
            high = middle
    return FIRST_CHUNK + PAIR_INTS * low


@inline
def _is_chunk(grammar, texts, at, chunk):
    """Whether a set has the pair of a chunk at this position."""
    return at < list_length(grammar.text_sets, texts) and _chunk_number(grammar, texts, at) == chunk


@inline
def is_text_in(grammar, texts, text):
    """Whether a text is in a set."""
    at = _find_chunk(grammar, texts, text >> CHUNK_BITS)
    if not _is_chunk(grammar, texts, at, text >> CHUNK_BITS):
        return False
    word = list_item(grammar.text_chunks, _chunk_bits(grammar, texts, at), (text >> 5) & 31)
    return (word >> (text & 31)) & 1 != 0


@kernel
def without_unknown(grammar, texts):
    """The set without UNKNOWN_TEXT, which is in it: the lowest bit of the first chunk."""
    n = list_length(grammar.text_sets, texts)
    address = reserve(grammar.set_in_progress, max(CHUNK_WORDS, n))
    copy_list(grammar.text_chunks, _chunk_bits(grammar, texts, FIRST_CHUNK), address)
    address[0] = address[0] & ~1
    rest = 0
    for i in range(CHUNK_WORDS):
        rest |= address[i]
    bits = intern_list(grammar.text_chunks, address.address, 0, CHUNK_WORDS) if rest != 0 else 0
    copy_list(grammar.text_sets, texts, address)
    address[N_TEXTS] = address[N_TEXTS] - 1
    address[HAS_UNKNOWN] = 0
    if rest != 0:
        address[FIRST_CHUNK + 1] = bits
    else:  # the chunk goes, too
        n -= PAIR_INTS
        for i in range(FIRST_CHUNK, n):
            address[i] = address[i + PAIR_INTS]
    return intern_list(grammar.text_sets, address.address, 0, n)


@kernel
def add_text(grammar, texts, text):
    """The set with a text that is not in it."""
    chunk = text >> CHUNK_BITS
    at = _find_chunk(grammar, texts, chunk)
    n = list_length(grammar.text_sets, texts)
    is_new = not _is_chunk(grammar, texts, at, chunk)
    # the chunk with the text; chunk 0 of the interned ones is empty
    address = reserve(grammar.set_in_progress, max(CHUNK_WORDS, n + PAIR_INTS))
    copy_list(grammar.text_chunks, 0 if is_new else _chunk_bits(grammar, texts, at), address)
    word = (text >> 5) & 31
    address[word] = address[word] | (1 << (text & 31))
    bits = intern_list(grammar.text_chunks, address.address, 0, CHUNK_WORDS)
    # the set with it
    shift = PAIR_INTS if is_new else 0
    for i in range(n):
        address[i if i < at else i + shift] = list_item(grammar.text_sets, texts, i)
    address[at] = chunk
    address[at + 1] = bits
    address[N_TEXTS] = address[N_TEXTS] + 1
    if text == UNKNOWN_TEXT:
        address[HAS_UNKNOWN] = 1
    return intern_list(grammar.text_sets, address.address, 0, n + shift)


@kernel
def texts_close(grammar, texts, top, end, n, most):
    """The texts of a set to which the value comes close whose beginning was read to the stack, `most` at most."""
    found = NO_TEXTS
    for i in range(FIRST_CHUNK, list_length(grammar.text_sets, texts), PAIR_INTS):
        first = _chunk_number(grammar, texts, i) << CHUNK_BITS
        chunk = _chunk_bits(grammar, texts, i)
        for j in range(CHUNK_WORDS):
            word = list_item(grammar.text_chunks, chunk, j) & 0xFFFFFFFF
            text = first + 32 * j
            while word != 0:
                if word & 1 != 0 and comes_close(grammar, text, top, end, n):
                    found = add_text(grammar, found, text)
                    if n_texts(grammar, found) >= most:
                        return found
                word >>= 1
                text += 1
    return found


@inline
def one_comes_close(grammar, texts, top, end, n):
    """Whether it comes close to one of them."""
    return texts_close(grammar, texts, top, end, n, 1) != NO_TEXTS
