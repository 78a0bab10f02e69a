r"""Texts of tracked values in one spelling (a normal form), so that equal values are one number.

Two spellings of one JSON string are one value, so where a grammar says that values are JSON, escapes are resolved
before texts are compared:

    \/ and \uXXXX           the character itself in UTF-8; surrogates in pairs
    \" \\ \b \f \n \r \t    stay, and are written for the same characters spelled \uXXXX
    other controls         \u00xx, in small letters
    anything else          stays, and so does the number of a value that was read before

No form is longer than its spelling. Numbers, arrays and objects are compared as values (json_values.py).

In: bytes in `text`. Out: bytes in `plain_text`, numbers of texts. Cost: a few ns a byte.
"""

from ..machine.jit import inline, kernel
from ..tables.int_lists import put
from ..tables.interning import find_list, hash_i32, intern_list
from ..tables.memory import reserve
from .json_values import ADD, BACKSLASH, FIND, INCOMPLETE, QUOTE, value_number

SLASH = 0x2F
LETTER_U = 0x75
NOTHING = -1
SHORT_ESCAPES = ((8, 98), (9, 116), (10, 110), (12, 102), (13, 114))  # controls that are written b, t, n, f, r


@kernel
def init_texts(grammar):
    """Reserve the number of UNKNOWN_TEXT."""
    address = reserve(grammar.plain_text, 1)
    address[0] = -1
    intern_list(grammar.texts, address.address, 0, 1)


@inline
def text_number(grammar, n):
    """Number of the text whose n bytes lie in `text`."""
    n = plain_text(grammar, n, True)
    number = value_number(grammar, n, ADD)
    if number >= 0:
        return number
    return intern_list(grammar.texts, grammar.plain_text.address, 0, n)


@inline
def known_text(grammar, n):
    """As `text_number`, or MISSING for a text that was never read."""
    n = plain_text(grammar, n, True)
    number = value_number(grammar, n, FIND)
    if number != INCOMPLETE:
        return number
    address = grammar.plain_text
    return find_list(grammar.texts, address.address, 0, n, hash_i32(address.address, 0, n))


@kernel
def plain_text(grammar, n, is_whole):
    """Copy n bytes from `text` to `plain_text` with escapes resolved; returns how many are left.

    The beginning of a text, which is not whole, is cut where an escape may not be complete yet.
    """
    plain = reserve(grammar.plain_text, n + 1)
    text = grammar.text
    end = 0
    at = 0
    while at < n:
        byte = text[at]
        if byte != BACKSLASH or grammar.is_json == 0:
            end = put(plain, end, byte)
            at += 1
            continue
        # which character the escape is, and how long
        following = text[at + 1] if at + 1 < n else NOTHING
        n_read = 2
        character = NOTHING
        if following == LETTER_U:
            n_read = 6
            character = _unit(text, at, n)
            if 0xD800 <= character and character < 0xE000:
                low = _unit(text, at + 6, n)
                n_read = 12
                is_pair = character < 0xDC00 and 0xDC00 <= low and low < 0xE000
                character = 0x10000 + ((character - 0xD800) << 10) + (low - 0xDC00) if is_pair else NOTHING
        if at + n_read > n and not is_whole:
            break
        if following == SLASH:
            end = put(plain, end, SLASH)
            at += 2
        elif character != NOTHING:
            end = _put_character(plain, end, character)
            at += n_read
        else:  # what follows the backslash stays, whatever it is
            end = put(plain, end, BACKSLASH)
            at += 1
            if following != NOTHING:
                end = put(plain, end, following)
                at += 1
    return end


@inline
def _unit(text, at, n):
    r"""Value of the escape \uXXXX at a position, or NOTHING."""
    if at + 6 > n or text[at] != BACKSLASH or text[at + 1] != LETTER_U:
        return NOTHING
    unit = 0
    for i in range(at + 2, at + 6):
        digit = text[i]
        if digit >= 48 and digit < 58:
            unit = unit * 16 + digit - 48
        elif (digit | 32) >= 97 and (digit | 32) < 103:
            unit = unit * 16 + (digit | 32) - 87
        else:
            return NOTHING
    return unit


@inline
def _short_escape(character):
    """The byte after the backslash in the short escape of a character, or NOTHING."""
    if character == QUOTE or character == BACKSLASH:
        return character
    if 8 <= character and character <= 13:
        for control, letter in SHORT_ESCAPES:
            if character == control:
                return letter
    return NOTHING


@kernel
def _put_character(plain, end, character):
    """Write a character of a string in its one spelling; returns the position after it."""
    short = _short_escape(character)
    if short != NOTHING:
        return put(plain, put(plain, end, BACKSLASH), short)
    if character < 0x20:
        end = put(plain, put(plain, end, BACKSLASH), LETTER_U)
        for shift in range(12, -4, -4):
            digit = (character >> shift) & 15
            end = put(plain, end, 48 + digit if digit < 10 else 87 + digit)
        return end
    # UTF-8
    if character < 0x80:
        return put(plain, end, character)
    if character < 0x800:
        end = put(plain, end, 0xC0 | (character >> 6))
    else:
        if character < 0x10000:
            end = put(plain, end, 0xE0 | (character >> 12))
        else:
            end = put(plain, end, 0xF0 | (character >> 18))
            end = put(plain, end, 0x80 | ((character >> 12) & 0x3F))
        end = put(plain, end, 0x80 | ((character >> 6) & 0x3F))
    return put(plain, end, 0x80 | (character & 0x3F))
