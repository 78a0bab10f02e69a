"""Words that are tokens: a hash table from bytes to tokens, with linear probing, at most half full.

    key     up to 8 bytes: the bytes themselves, so that nothing more has to be compared
            longer: their hash; the token's bytes are compared, too

A word that is a token, as most are, costs one cache line.

In: an encoder's table, bytes. Out: tokens. Cost: 5 to 20 ns, by the caches; 128,000 tokens are entered in 5 ms.
"""

from ..machine.jit import door, inline
from ..machine.raw import load_word, shift_right, wrapped_product, wrapped_sum
from ..machine.records import Record
from ..tables.memory import as_table, load_i32, load_u8
from .encoder_slots import EncoderSlot

WORD = Record("an entry of WORDS", 64, key="see above", found="token | length << 32, 0: free")
WORD_BYTES = 8
WORD_LENGTH_SHIFT = 32
TOKEN_MASK = 0xFFFFFFFF
MIX = -0x61C8864680B583EB  # 2^64 / golden ratio, as a signed number
MIX_LENGTH = 0x2127599BF4325C37
NO_TOKEN = -1


@inline
def tail_key(data, start, end):
    """The last, at most eight, bytes as a number, read one by one."""
    key = 0
    for i in range(end - start):
        key |= load_u8(data + start + i) << (8 * i)
    return wrapped_sum(key, 0)  # eight bytes are a number with a sign


@inline
def key_of(data, start, end, safe_end):
    """Key of some bytes. Eight bytes may be read at once up to `safe_end`."""
    length = end - start
    if length <= WORD_BYTES:
        if start + WORD_BYTES <= safe_end:
            return load_word(data + start) & shift_right(-1, 64 - 8 * length)
        return tail_key(data, start, end)
    key = 0
    while end - start >= WORD_BYTES:
        key = wrapped_product(key ^ load_word(data + start), MIX)
        key ^= shift_right(key, 29)
        start += WORD_BYTES
    if end > start:
        # reads again what it has read; the length is known
        key = wrapped_product(key ^ load_word(data + end - WORD_BYTES), MIX)
        key ^= shift_right(key, 29)
    return key


@inline
def same_bytes(left, right, length):
    """Whether two stretches of more than eight bytes are equal."""
    position = 0
    while length - position >= WORD_BYTES:
        if load_word(left + position) != load_word(right + position):
            return False
        position += WORD_BYTES
    return load_word(left + length - WORD_BYTES) == load_word(right + length - WORD_BYTES)


@inline
def entry_of(table, key, data, length):
    """The entry of a word that lies at the address `data`, or the free one where it belongs."""
    bits, words = table[EncoderSlot.WORD_BITS], WORD.at(table[EncoderSlot.WORDS])
    mask = (1 << bits) - 1
    mixed = wrapped_product(key ^ wrapped_product(length, MIX_LENGTH), MIX)
    number = shift_right(mixed ^ wrapped_product(shift_right(mixed, 32), MIX_LENGTH), 64 - bits)
    while True:
        entry = words[number]
        found = entry.found
        if found == 0:
            return entry
        if entry.key == key and found >> WORD_LENGTH_SHIFT == length:
            if length <= WORD_BYTES:
                return entry
            offset = load_i32(table[EncoderSlot.OFFSETS] + (found & TOKEN_MASK) * 4)
            if same_bytes(data, table[EncoderSlot.DATA] + offset, length):
                return entry
        number = number + 1 & mask


@inline
def find_word(table, data, start, end, safe_end):
    """Token with the bytes [start, end) of `data`, at least one, or NO_TOKEN."""
    found = entry_of(table, key_of(data, start, end, safe_end), data + start, end - start).found
    return found & TOKEN_MASK if found != 0 else NO_TOKEN


@door("int64(int64, boolean[::1], int32[::1])", group="tokenizer")
def enter_words(address, include, byte_tokens):
    """Enter the tokens of `include` that have bytes, of several with the same bytes the lowest; returns the longest.

    The table must be zeros, with more entries than tokens. `byte_tokens` int32[256] gets the tokens of one byte.
    """
    table = as_table(address)
    offsets, data = table[EncoderSlot.OFFSETS], table[EncoderSlot.DATA]
    safe_end = load_i32(offsets + include.shape[0] * 4)
    longest = 0
    for token in range(include.shape[0]):
        start, end = load_i32(offsets + token * 4), load_i32(offsets + (token + 1) * 4)
        if not include[token] or start == end:
            continue
        key, length = key_of(data, start, end, safe_end), end - start
        entry = entry_of(table, key, data + start, length)
        if entry.found != 0:
            continue
        entry.key, entry.found = key, token | length << WORD_LENGTH_SHIFT
        longest = max(longest, length)
        if length == 1:
            byte_tokens[load_u8(data + start)] = token
    return longest
