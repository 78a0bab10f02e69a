"""Normalization of text, by the rules and the treatment of blanks that a SentencePiece model carries.

A `precompiled_charsmap` is a list of rules "bytes -> bytes" (NFKC, for instance), compiled:

    n_bytes u32 | units u32[n_bytes / 4] | replacements, each ended by a zero byte

The units are a double array of darts-clone (XOR-compressed), whose word has label (bits 0-7, bit 31 set: a value), has
value (bit 8) and offset (bits 10-30, shifted by 8 more when bit 9 is set). Subtrees may be shared, so what is below the
root is a graph without cycles. `check_charsmap` walks all of it once, before anything is trusted: afterwards every
walk ends, stays inside of the units, and finds a replacement that ends inside of the block.

`normalize` follows `Normalizer::Normalize` of sentencepiece: at each place the longest user-defined token, else the
longest rule, else the character itself; blanks at both ends go and runs of blanks become one, where the model says so;
a blank is put before the text (or after it). The mark U+2581 becomes a blank, because tokens are stored so.

In: bytes of a text, valid UTF-8. Out: bytes. Cost: 1 ns a plain byte, 10 ns a character with a rule.
"""

from ..machine.jit import door, inline, kernel
from ..machine.raw import load_word
from ..tables.memory import as_table, load_i32, load_u8, store_u8
from .double_array import NOTHING, longest_token
from .piece_slots import PieceSlot

SPACE = 32
BLANKS = 0x2020202020202020
MAX_RULE_BYTES = 255  # longest left side; real ones have up to 20 bytes
MAX_REPLACEMENT_BYTES = 4095

# results of check_charsmap
RULES_ARE_SOUND = 0
RULES_CYCLE = 1
RULES_LEAVE_UNITS = 2
RULES_LEAVE_REPLACEMENTS = 3
RULES_ARE_LONG = 4

NEEDS_MORE = -1


@inline
def rule_offset(unit):
    """Where the children of a unit are, relative to its own number (by XOR)."""
    return (unit >> 10 & 0x3FFFFF) << ((unit & 0x200) >> 6)


@inline
def rule_label(unit):
    """Byte that leads to a unit; above 255 for units that hold a value."""
    return unit & 0x800000FF


@door("int64(uint32[::1], uint8[::1], int32[::1], int32[::1], int32[::1])", group="charsmap")
def check_charsmap(units, replacements, heights, path, places):
    """Whether every walk from the root of the rules is sound; one of RULES_..., with the unit in `path[0]`.

    `heights` int32, zeros, as long as `units`: 0 for a place not seen yet, -1 while it lies on the path, then the
    longest left side below it, plus 1. `path` and `places` int32[MAX_RULE_BYTES + 2] are the stack: bases, and which of
    its 256 children comes next.
    """
    n_units = units.shape[0]
    base = rule_offset(units[0])
    if base >= n_units:
        path[0] = 0
        return RULES_LEAVE_UNITS
    top, fault = 0, RULES_ARE_SOUND
    path[0], places[0], heights[base] = base, 0, -1
    while top >= 0:
        # a place with all children seen: its height is known, and the walk goes back
        base, byte = path[top], places[top]
        if byte == 256:
            height = 1
            for label in range(1, 256):
                child = base ^ label
                if child < n_units and rule_label(units[child]) == label:
                    height = max(height, heights[child ^ rule_offset(units[child])] + 1)
            heights[base] = height
            top -= 1
            if top + height > MAX_RULE_BYTES:
                path[0] = base
                return RULES_ARE_LONG
            continue
        # its next child: in the units, with a replacement that ends, and no place of the path
        places[top] = byte + 1
        child = base ^ byte
        if byte == 0 or child >= n_units or rule_label(units[child]) != byte:
            continue
        below = child ^ rule_offset(units[child])
        if below >= n_units:
            fault = RULES_LEAVE_UNITS
            break
        if units[child] & 0x100:
            start = end = units[below] & 0x7FFFFFFF
            while end < replacements.shape[0] and replacements[end] != 0 and end - start <= MAX_REPLACEMENT_BYTES:
                end += 1
            if end >= replacements.shape[0]:
                fault = RULES_LEAVE_REPLACEMENTS
            elif end - start > MAX_REPLACEMENT_BYTES:
                fault = RULES_ARE_LONG
        if fault == RULES_ARE_SOUND and heights[below] < 0:
            fault = RULES_CYCLE
        if fault == RULES_ARE_SOUND and top + heights[below] + (heights[below] == 0) > MAX_RULE_BYTES:
            fault = RULES_ARE_LONG
        if fault != RULES_ARE_SOUND:
            break
        if heights[below] == 0:
            top += 1
            path[top], places[top], heights[below] = below, 0, -1
    if fault != RULES_ARE_SOUND:
        path[0] = child
    return fault


@inline
def find_rule(units, n_units, text, place, n_bytes):
    """Longest rule at a place of the text: its length << 32 | where its replacement starts; 0: no rule fits."""
    found = 0
    unit = load_i32(units) & 0xFFFFFFFF
    index = rule_offset(unit)
    at = place
    while at < n_bytes:
        byte = load_u8(text + at)
        index ^= byte
        if byte == 0 or index >= n_units:
            break
        unit = load_i32(units + index * 4) & 0xFFFFFFFF
        if rule_label(unit) != byte:
            break
        at += 1
        index ^= rule_offset(unit)
        if unit & 0x100:
            found = (at - place) << 32 | (load_i32(units + index * 4) & 0x7FFFFFFF)
    return found


@door("void(uint32[::1], uint8[::1])", group="charsmap")
def find_plain_bytes(units, is_plain):
    """Mark in `is_plain` uint8[128] the ASCII bytes that no rule touches which has ASCII bytes only."""
    n_units = units.shape[0]
    base = rule_offset(units[0])
    for byte in range(1, 128):
        is_plain[byte] = 1
        child = base ^ byte
        if child >= n_units or rule_label(units[child]) != byte:
            continue
        if units[child] & 0x100:
            is_plain[byte] = 0
        below = child ^ rule_offset(units[child])
        for second in range(1, 128):
            if below ^ second < n_units and rule_label(units[below ^ second]) == second:
                is_plain[byte] = 0


@inline
def character_length(byte):
    """Bytes of the character that begins with this one, as sentencepiece counts them; 1 for those that begin none."""
    if byte < 0xC0:  # most are; a sum of comparisons takes longer
        return 1
    return 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4


@inline
def valid_length(text, place, n_bytes):
    """Bytes of the character at a place of a suffix of valid UTF-8, 0 when the place lies inside of a character."""
    byte = load_u8(text + place)
    return 0 if byte & 0xC0 == 0x80 else min(character_length(byte), n_bytes - place)


@inline
def is_space_mark(source, length):
    """Whether bytes begin with U+2581."""
    return length >= 3 and load_u8(source) == 0xE2 and load_u8(source + 1) == 0x96 and load_u8(source + 2) == 0x81


@inline
def put_text(source, n_bytes, out, filled, escapes):
    """Copy bytes to the output, U+2581 as a blank where blanks are escaped; returns the new end."""
    i = 0
    while i < n_bytes:
        byte = load_u8(source + i)
        if escapes and is_space_mark(source + i, n_bytes - i):
            byte = SPACE
            i += 2
        store_u8(out + filled, byte)
        filled += 1
        i += 1
    return filled


@inline
def text_length(source):
    """Bytes before the zero byte that ends a replacement."""
    length = 0
    while load_u8(source + length) != 0:
        length += 1
    return length


@inline
def normalize_prefix(model, text, place, n_bytes):
    """What the text at a place becomes: bytes taken, and where the new ones are and how many."""
    user = model[PieceSlot.USERS]
    if user != 0:
        token, end = longest_token(user, text, place, n_bytes)
        if token != NOTHING:
            return end - place, text + place, end - place
    if model[PieceSlot.N_UNITS] > 0:
        rule = find_rule(model[PieceSlot.UNITS], model[PieceSlot.N_UNITS], text, place, n_bytes)
        if rule != 0:
            source = model[PieceSlot.REPLACEMENTS] + (rule & 0xFFFFFFFF)
            return rule >> 32, source, text_length(source)
    taken = valid_length(text, place, n_bytes)
    return taken, text + place, taken


@inline
def after_blanks(plain, text, place, n_bytes):
    """The first place that has no blank, or one that a rule may take together with what follows."""
    if load_u8(plain + SPACE) != 0:
        while place + 9 <= n_bytes and load_word(text + place) == BLANKS and load_u8(text + place + 8) < 128:
            place += 8
        while place < n_bytes and load_u8(text + place) == SPACE:
            if place + 1 < n_bytes and load_u8(text + place + 1) >= 128:
                break
            place += 1
    return place


@kernel
def normalize(model, text, n_bytes, out, capacity):
    """Write the normalized text; returns its length, or NEEDS_MORE when `capacity` is too small for it."""
    adds_space = model[PieceSlot.ADDS_SPACE] != 0
    is_suffix = model[PieceSlot.SPACE_IS_SUFFIX] != 0
    removes = model[PieceSlot.REMOVES_SPACES] != 0
    escapes = model[PieceSlot.ESCAPES_SPACES] != 0
    plain = model[PieceSlot.IS_PLAIN]
    place = 0  # blanks at the beginning go
    while removes and place < n_bytes:
        place = after_blanks(plain, text, place, n_bytes)
        if place == n_bytes:
            break
        taken, source, length = normalize_prefix(model, text, place, n_bytes)
        if length != 1 or load_u8(source) != SPACE:
            break
        place += taken
    if place == n_bytes:
        return 0
    if model[PieceSlot.ADDS_SPACE] == 2:
        taken, source, length = normalize_prefix(model, text, place, n_bytes)
        adds_space = length == 0 or not (load_u8(source) == SPACE or is_space_mark(source, length))
    filled = 0  # the blank before the text
    if adds_space and not is_suffix:
        store_u8(out, SPACE)
        filled = 1
    after_space = removes
    while place < n_bytes:
        if filled + MAX_REPLACEMENT_BYTES + 8 > capacity:
            return NEEDS_MORE
        byte = load_u8(text + place)
        if byte < 128 and load_u8(plain + byte) != 0 and (place + 1 == n_bytes or load_u8(text + place + 1) < 128):
            # no rule begins here
            place += 1
            if byte != SPACE:
                after_space = False
            elif after_space:
                place = after_blanks(plain, text, place, n_bytes)
                continue
            else:
                after_space = removes
            store_u8(out + filled, byte)
            filled += 1
            continue
        # a name, a rule, or the character itself
        taken, source, length = normalize_prefix(model, text, place, n_bytes)
        if taken == 0:  # a rule ended inside of a character: U+FFFD for each byte that is left of it
            store_u8(out + filled, 0xEF)
            store_u8(out + filled + 1, 0xBF)
            store_u8(out + filled + 2, 0xBD)
            filled += 3
            place += 1
            after_space = False
            continue
        place += taken
        while after_space and length > 0 and load_u8(source) == SPACE:
            source += 1
            length -= 1
        if length > 0:
            filled = put_text(source, length, out, filled, escapes)
            after_space = removes and load_u8(source + length - 1) == SPACE
    while removes and filled > 0 and load_u8(out + filled - 1) == SPACE:  # blanks at the end go
        filled -= 1
    if adds_space and is_suffix:
        store_u8(out + filled, SPACE)
        filled += 1
    return filled


@door("int64(int64, int64, int64, int64, int64)", group="charsmap")
def normalize_text(address, text, n_bytes, out, capacity):
    """Write the normalized text to `out`; returns its length, or NEEDS_MORE when `capacity` is too small for it."""
    return normalize(as_table(address), text, n_bytes, out, capacity)
