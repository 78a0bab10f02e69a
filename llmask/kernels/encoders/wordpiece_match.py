"""WordPiece by maximum matching: each word is cut into the longest tokens that fit, from the left.

M. Schuster, K. Nakajima, "Japanese and Korean voice search", 2012, as BERT does it. After a token the search begins
anew, without the failure links of LinMaxMatch (X. Song and others, "Fast WordPiece tokenization", 2021).

What BERT's normalization makes of a character does not depend on its neighbours, so it is a table: for each code point
the bytes that it becomes, in which 0xFF ends a word. " " becomes one such byte, "!" itself between two, "É" an "e". The
words are looked up in a double array, after a blank: tokens that begin a word carry one.

In: code points of a text, the addresses of tables. Out: token ids. Cost: 15 ns a character.
"""

from ..machine.jit import door, inline, kernel
from ..machine.raw import give_back
from ..tables.memory import allocate, as_table, load_i32, load_u8, store_i32, store_u8
from .charsmap_rules import SPACE, character_length
from .double_array import FREE, NOTHING, ROOT, ending_of, step
from .piece_slots import PieceSlot

# slots of the table of characters
STARTS = 0  # int32[0x110000]: where the bytes of a code point begin in the block
LENGTHS = 1  # uint8[0x110000]
BLOCK = 2
N_CHARACTER_SLOTS = 3

END_OF_WORD = 0xFF  # in no character


@inline
def match_word(model, word, n_bytes, ids, filled):
    """Append the tokens of a word, or the unknown one if a part of it is no token; returns the new number of ids."""
    tokens = model[PieceSlot.TOKENS]
    first, place = filled, 0
    while place < n_bytes:
        entry = step(tokens, ROOT, SPACE) if place == 0 else ROOT
        token, end, at = NOTHING, place, place
        while at < n_bytes and entry != FREE:
            entry = step(tokens, entry, load_u8(word + at))
            at += 1
            if ending_of(entry) != NOTHING:
                token, end = ending_of(entry), at
        if token == NOTHING:
            store_i32(ids + first * 4, model[PieceSlot.UNKNOWN_ID])
            return first + 1
        store_i32(ids + filled * 4, token)
        filled += 1
        place = end
    return filled


@inline
def put_word(model, word, n_bytes, max_characters, ids, filled):
    """As `match_word`, but nothing for an empty word, and the unknown token for one that is too long (0: no limit)."""
    if n_bytes == 0:
        return filled
    if max_characters > 0:
        n_characters = 0
        at = 0
        while at < n_bytes:
            at += character_length(load_u8(word + at))
            n_characters += 1
        if n_characters > max_characters:
            store_i32(ids + filled * 4, model[PieceSlot.UNKNOWN_ID])
            return filled + 1
    return match_word(model, word, n_bytes, ids, filled)


@kernel
def match_text(model, characters, text, n_characters, max_characters, words, ids):
    """Write the bytes of all words to `words` and their tokens to `ids`; returns how many."""
    starts, lengths, block = characters[STARTS], characters[LENGTHS], characters[BLOCK]
    filled, word, end = 0, 0, 0
    for i in range(n_characters):
        code_point = load_i32(text + i * 4)
        source = block + load_i32(starts + code_point * 4)
        for j in range(load_u8(lengths + code_point)):
            byte = load_u8(source + j)
            if byte == END_OF_WORD:
                filled = put_word(model, words + word, end - word, max_characters, ids, filled)
                word = end
            else:
                store_u8(words + end, byte)
                end += 1
    return put_word(model, words + word, end - word, max_characters, ids, filled)


@door("int64(int64, int64, int32[::1], int64, int64, int32[::1])", group="wordpiece")
def wordpiece_encode(address, characters_address, text, n_bytes, max_characters, out):
    """Write the token ids of a text, as code points, to `out`; returns how many. The unknown id may be -1.

    `n_bytes` is at least what the code points become, and `out` int32 has room for one id a byte.
    """
    words = allocate(n_bytes + 1)
    n_ids = match_text(
        as_table(address),
        as_table(characters_address),
        text.ctypes.data,
        text.shape[0],
        max_characters,
        words,
        out.ctypes.data,
    )
    give_back(words)
    return n_ids
