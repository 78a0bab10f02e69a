r"""Reading the strings of a GGUF file in bulk, and turning token texts into token bytes.

A Python object for each of 400,000 strings is what makes other readers slow (8.4 s); here a string array is walked and
copied into one block with offsets. Texts are decoded in the same way:

    byte alphabet   every byte is one printable character (GPT-2, `bytes_to_unicode`): "Ġthe" is b" the"
    space mark      U+2581 is a blank (SentencePiece): "▁the" is b" the"; "<0x0A>" of type BYTE is b"\n"

In: `data` uint8, the mapped file or the text block. Out: positions, offsets and bytes in arrays of the caller. Cost:
2 ms for the 128,256 tokens and 280,147 merges of Llama 3.
"""

from ..machine.jit import door, inline
from ..tables.memory import copy_bytes

LENGTH_BYTES = 8  # a GGUF string is its length as uint64 and then its bytes

TYPE_USER_DEFINED = 4
TYPE_BYTE = 6

BYTE_ALPHABET = 0
SPACE_MARK = 1


@inline
def string_length(data, position):
    """Length of the string at `position`, or -1 when it does not fit into `data`."""
    if position + LENGTH_BYTES > data.shape[0]:
        return -1
    length = 0
    for i in range(7):
        length |= data[position + i] << (8 * i)
    if data[position + 7] != 0 or length > data.shape[0] - position - LENGTH_BYTES:
        return -1
    return length


@door("int64(uint8[::1], int64, int64)", group="vocabulary")
def skip_strings(data, position, count):
    """First position after `count` strings, or -1 - p where p is the position of a string that does not fit."""
    for _ in range(count):
        length = string_length(data, position)
        if length < 0:
            return -1 - position
        position += LENGTH_BYTES + length
    return position


@door("void(uint8[::1], int64, int32[::1], uint8[::1])", group="vocabulary")
def copy_strings(data, position, offsets, block):
    """Copy consecutive strings, already checked by `skip_strings`, back to back; `offsets` has one entry more."""
    offsets[0] = 0
    filled = 0
    for i in range(offsets.shape[0] - 1):
        length = string_length(data, position)
        position += LENGTH_BYTES
        copy_bytes(block.ctypes.data + filled, data.ctypes.data + position, length)
        position += length
        filled += length
        offsets[i + 1] = filled


@inline
def hex_digit(byte):
    """Value of a hexadecimal digit, or -1."""
    if 48 <= byte <= 57:
        return byte - 48
    if 65 <= byte <= 70:
        return byte - 55
    if 97 <= byte <= 102:
        return byte - 87
    return -1


@inline
def byte_of_name(data, start, end):
    """Byte that a text like "<0x0A>" names, or -1."""
    if end - start != 6 or data[start] != 60 or data[start + 1] != 48 or data[start + 2] != 120 or data[end - 1] != 62:
        return -1
    high, low = hex_digit(data[start + 3]), hex_digit(data[start + 4])
    return -1 if high < 0 or low < 0 else high * 16 + low


@inline
def byte_of_character(code_point):
    """The byte that a character of the byte alphabet spells, or -1.

    Printable Latin-1 characters spell themselves; the other 68 bytes, in order, are spelled U+0100 and following.
    """
    if 33 <= code_point <= 126 or 161 <= code_point <= 172 or 174 <= code_point <= 255:
        return code_point
    rank = code_point - 256
    if 0 <= rank <= 32:
        return rank
    if 33 <= rank <= 66:
        return rank - 33 + 127
    return 173 if rank == 67 else -1


@inline
def undo_byte_alphabet(data, start, end, out, filled):
    """Append the bytes that a text spells; returns the new end. A text with any other character is copied as it is."""
    first = filled
    position = start
    while position < end:
        lead = data[position]
        code_point = -1
        if lead < 0x80:
            code_point = lead
            position += 1
        elif 0xC2 <= lead < 0xE0 and position + 1 < end:
            code_point = (lead & 0x1F) << 6 | (data[position + 1] & 0x3F)
            position += 2
        byte = byte_of_character(code_point)
        if byte < 0:
            copy_bytes(out.ctypes.data + first, data.ctypes.data + start, end - start)
            return first + end - start
        out[filled] = byte
        filled += 1
    return filled


@inline
def undo_space_mark(data, start, end, out, filled):
    """Append a text with every U+2581 (E2 96 81) as a blank; returns the new end."""
    position = start
    while position < end:
        if position + 2 < end and data[position] == 0xE2 and data[position + 1] == 0x96 and data[position + 2] == 0x81:
            out[filled] = 32
            position += 3
        else:
            out[filled] = data[position]
            position += 1
        filled += 1
    return filled


@door("int64(int64, uint8[::1], boolean[::1], int32[::1], uint8[::1], int32[::1], uint8[::1])", group="vocabulary")
def decode_tokens(spelling, types, is_special, text_offsets, texts, offsets, out):
    """Bytes of every token from its text.

    `spelling` is BYTE_ALPHABET or SPACE_MARK. Special tokens get no bytes, user-defined ones their text as it is. `out`
    uint8 must be as long as `texts`: no token has more bytes than its text. Returns -1, or the first token of type BYTE
    whose text is not like "<0x0A>".
    """
    offsets[0] = 0
    filled = 0
    for token in range(types.shape[0]):
        start, end = text_offsets[token], text_offsets[token + 1]
        if not is_special[token]:
            if types[token] == TYPE_USER_DEFINED:
                copy_bytes(out.ctypes.data + filled, texts.ctypes.data + start, end - start)
                filled += end - start
            elif types[token] == TYPE_BYTE:
                byte = byte_of_name(texts, start, end)
                if byte < 0:
                    return token
                out[filled] = byte
                filled += 1
            elif spelling == BYTE_ALPHABET:
                filled = undo_byte_alphabet(texts, start, end, out, filled)
            else:
                filled = undo_space_mark(texts, start, end, out, filled)
        offsets[token + 1] = filled
    return -1
