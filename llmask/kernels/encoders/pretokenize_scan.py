"""Pretokenization: a text is split into words by a finite automaton over classes of characters.

Its table is made by `llmask/encoders/pattern_automaton.py`: entry [state, class] is `next state's row << 1 | whether a
match ended before this character`. Where no pattern matches, the stretch up to the next match is a word of its own.
Several patterns cut one after the other: each cuts the words of the one before, so word ends are kept for every level
and only the levels that are used up are scanned again.

    level 0   [it's 12345       ]          bounds: end of the text, end of level 0's word, ...
    level 1   [it]['s][ ][12345 ]
    level 2   [it]['s][ ][123][45]

Bytes that are not UTF-8 are one character each, of U+FFFD's class; text that comes from a `str` has none.

In: an encoder's table, the address of a text. Out: where words end. Cost: 2 ns a byte.
"""

from ..machine.jit import door, inline
from ..machine.raw import borrow_zeros, give_back, load_u16
from ..machine.records import Record
from ..tables.memory import as_table, load_i32, load_i64, load_u8, store_i64
from .encoder_slots import MAX_PATTERNS, EncoderSlot

TRAIL = Record(
    *("the failed search before, of many between two matches", 64),
    row="the state that it stayed in at last",
    entered="from where",
    failed="where it failed",
)
REPLACEMENT = 0xFFFD
LENGTH_SHIFT = 8  # a character is packed as class | bytes << LENGTH_SHIFT


@inline
def first_row(table):
    """Row of the state where a match begins; row 0 is that of no match."""
    return table[EncoderSlot.N_CLASSES] + 1


@inline
def class_of(index, blocks, code_point):
    """Class of a code point."""
    return load_u8(blocks + (load_u16(index + (code_point >> 8) * 2) << 8) + (code_point & 0xFF))


@inline
def character_at(index, blocks, text, position, end):
    """Class and length, packed, of the character at `position` < `end`."""
    lead = load_u8(text + position)
    rest = end - position
    if lead < 0x80:
        return load_u8(blocks + lead) | 1 << LENGTH_SHIFT
    if 0xC2 <= lead < 0xE0 and rest >= 2:
        second = load_u8(text + position + 1)
        if second & 0xC0 == 0x80:
            return class_of(index, blocks, (lead & 0x1F) << 6 | second & 0x3F) | 2 << LENGTH_SHIFT
    elif 0xE0 <= lead < 0xF0 and rest >= 3:
        second, third = load_u8(text + position + 1), load_u8(text + position + 2)
        code_point = (lead & 0xF) << 12 | (second & 0x3F) << 6 | third & 0x3F
        if second & 0xC0 == 0x80 and third & 0xC0 == 0x80 and code_point >= 0x800 and code_point >> 11 != 0x1B:
            return class_of(index, blocks, code_point) | 3 << LENGTH_SHIFT
    elif 0xF0 <= lead < 0xF5 and rest >= 4:
        second, third, fourth = load_u8(text + position + 1), load_u8(text + position + 2), load_u8(text + position + 3)
        code_point = (lead & 7) << 18 | (second & 0x3F) << 12 | (third & 0x3F) << 6 | fourth & 0x3F
        is_tail = second & 0xC0 == 0x80 and third & 0xC0 == 0x80 and fourth & 0xC0 == 0x80
        if is_tail and 0x10000 <= code_point < 0x110000:
            return class_of(index, blocks, code_point) | 4 << LENGTH_SHIFT
    return class_of(index, blocks, REPLACEMENT) | 1 << LENGTH_SHIFT


@inline
def next_state(table, level, row, text, position, end):
    """The transition for the character at `position`, or for the end of the text, and the character's length."""
    blocks, number, length = table[EncoderSlot.CLASS_BLOCKS], table[EncoderSlot.N_CLASSES], 0
    if position < end:
        byte = load_u8(text + position)
        if byte < 0x80:
            number, length = load_u8(blocks + byte), 1
        else:
            packed = character_at(table[EncoderSlot.CLASS_INDEX], blocks, text, position, end)
            number, length = packed & 0xFF, packed >> LENGTH_SHIFT
    return load_i32(table[EncoderSlot.TRANSITIONS + level] + (row + number) * 4), length


@inline
def match_end(table, level, text, position, end):
    """Where the match of a pattern at `position` ends (`position`: no match), and how far the text was looked at.

    The second number is the position of the last character that had a say; `end` when the end itself had.
    """
    blocks, n_classes, transitions = (
        table[EncoderSlot.CLASS_BLOCKS],
        table[EncoderSlot.N_CLASSES],
        table[EncoderSlot.TRANSITIONS + level],
    )
    row = n_classes + 1
    matched = position
    while True:  # as `next_state`, but the table is read once: counting takes a quarter less
        number, length = n_classes, 0
        if position < end:
            byte = load_u8(text + position)
            if byte < 0x80:
                number, length = load_u8(blocks + byte), 1
            else:
                packed = character_at(table[EncoderSlot.CLASS_INDEX], blocks, text, position, end)
                number, length = packed & 0xFF, packed >> LENGTH_SHIFT
        entry = load_i32(transitions + (row + number) * 4)
        if entry & 1:
            matched = position
        row = entry >> 1
        if row == 0:
            return matched, position
        position += length


@inline
def character_end(text, position, end):
    """End of the character at `position`, at most `end`."""
    position += 1
    while position < end and load_u8(text + position) & 0xC0 == 0x80:
        position += 1
    return position


@inline
def search_end(table, level, text, position, end, trail):
    r"""As `match_end`, for one of many searches between two matches.

    A search that comes into the state of the failed one before it (`trail`), between where that came into it and where
    it failed, would fail there, too. So 1,000,000 blanks before a letter are not searched 1,000,000 times for an end
    that `\s+$` wants.
    """
    row, entered = first_row(table), position
    start = matched = position
    while True:
        if row == trail.row and trail.entered <= position < trail.failed:
            return matched, trail.failed
        entry, length = next_state(table, level, row, text, position, end)
        if entry & 1:
            matched = position
        following = entry >> 1
        if following == 0:
            if matched == start:
                trail.row, trail.entered, trail.failed = row, entered, position
            return matched, position
        position += length
        if following != row:
            row, entered = following, position


@inline
def word_end(table, level, text, position, end):
    """End of the word of one pattern that begins at `position` < `end`, and how far the text was looked at."""
    matched, furthest = match_end(table, level, text, position, end)
    if matched > position:
        return matched, furthest
    trail = TRAIL.at(borrow_zeros(1, TRAIL.n_bytes))
    start = character_end(text, position, end)
    while start < end:
        matched, seen = search_end(table, level, text, start, end, trail)
        furthest = max(furthest, seen)
        if matched > start:
            break
        start = character_end(text, start, end)
    give_back(trail.address)
    return start, max(furthest, start)


@inline
def next_word(table, bounds, text, position, end):
    """End of the word at `position` < `end`, all patterns applied.

    `bounds` int64[n_patterns]: ends of the word of each level that `position` lies in; set them to 0 before the first
    word. Without a pattern the whole text is one word.
    """
    last = table[EncoderSlot.N_PATTERNS] - 1
    if last <= 0:
        if last < 0:
            return end
        return word_end(table, 0, text, position, end)[0]
    outer = end
    for level in range(last + 1):
        if load_i64(bounds + level * 8) <= position:
            found = word_end(table, level, text, position, outer)[0]
            store_i64(bounds + level * 8, found)
        outer = load_i64(bounds + level * 8)
    return outer


@door("int64(int64, int64, int64, int32[::1])", group="encoders")
def split_text(address, text, n_bytes, ends):
    """Write the end of every word; returns their number. `ends` int32 has room for n_bytes."""
    table = as_table(address)
    bounds = borrow_zeros(MAX_PATTERNS, 8)
    position, n_words = 0, 0
    while position < n_bytes:
        position = next_word(table, bounds, text, position, n_bytes)
        ends[n_words] = position
        n_words += 1
    give_back(bounds)
    return n_words
