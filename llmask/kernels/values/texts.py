r"""Texts of recorded values, in one spelling.

Two spellings of one JSON string are one value, so where a grammar says that values are JSON, escapes are resolved
before texts are compared:

    \/ and \uXXXX           the character itself in UTF-8; surrogates in pairs
    \" \\ \b \f \n \r \t    stay, and are written for the same characters spelled \uXXXX
    other controls         \u00xx, in small letters
    anything else          stays

No form is longer than what it stands for. Numbers, arrays and objects are compared as values (json_values.py).

In: bytes in `text`. Out: bytes in `plain_text`, numbers of texts. Cost: a few ns a byte.
"""

from __future__ import annotations

from ..machine.jit import inline, kernel
from ..tables.interning import find_list, hash_i32, intern_list
from ..tables.memory import reserve
from .json_values import ADD, FIND, INCOMPLETE, has_writings, value_number

QUOTE = 0x22
BACKSLASH = 0x5C
SLASH = 0x2F
LETTER_U = 0x75
NOTHING = -1


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
    if has_writings(grammar, n):
        number = value_number(grammar, n, ADD, True)
        if number >= 0:
            return number
    return intern_list(grammar.texts, grammar.plain_text.address, 0, n)


@inline
def known_text(grammar, n):
    """As `text_number`, or MISSING for a text that was never recorded."""
    n = plain_text(grammar, n, True)
    if has_writings(grammar, n):
        number = value_number(grammar, n, FIND, True)
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
    place = 0
    at = 0
    while at < n:
        byte = text[at]
        if byte != BACKSLASH or grammar.is_json == 0:
            plain[place] = byte
            place += 1
            at += 1
            continue
        following = text[at + 1] if at + 1 < n else NOTHING
        if following == SLASH:
            plain[place] = SLASH
            place += 1
            at += 2
            continue
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
        if character != NOTHING:
            place = _put_character(plain, place, character)
            at += n_read
        else:  # what follows the backslash stays, whatever it is
            plain[place] = BACKSLASH
            place += 1
            at += 1
            if following != NOTHING:
                plain[place] = following
                place += 1
                at += 1
    return place


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


@kernel
def _put_character(plain, place, character):
    """Write a character of a string; returns the place behind it."""
    short = 0
    if character == QUOTE or character == BACKSLASH:
        short = character
    elif character == 8:
        short = 98
    elif character == 9:
        short = 116
    elif character == 10:
        short = 110
    elif character == 12:
        short = 102
    elif character == 13:
        short = 114
    if short != 0:
        plain[place] = BACKSLASH
        plain[place + 1] = short
        return place + 2
    if character < 0x20:
        plain[place] = BACKSLASH
        plain[place + 1] = LETTER_U
        plain[place + 2] = 48
        plain[place + 3] = 48
        plain[place + 4] = 48 + (character >> 4)
        digit = character & 15
        plain[place + 5] = 48 + digit if digit < 10 else 87 + digit
        return place + 6
    if character < 0x80:
        plain[place] = character
        return place + 1
    if character < 0x800:
        plain[place] = 0xC0 | (character >> 6)
    else:
        if character < 0x10000:
            plain[place] = 0xE0 | (character >> 12)
        else:
            plain[place] = 0xF0 | (character >> 18)
            place += 1
            plain[place] = 0x80 | ((character >> 12) & 0x3F)
        place += 1
        plain[place] = 0x80 | ((character >> 6) & 0x3F)
    plain[place + 1] = 0x80 | (character & 0x3F)
    return place + 2
