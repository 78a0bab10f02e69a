"""What follows tokens that stay inside of a lexeme, by what follows the lexeme: one place for all of them.

Before the value of a member 350 tokens of blanks may come (Llama 3), which lead to 60 lexer states. Read from the
place, each of them costs as much as any token; but behind all of them is the same place. So the *exit* is looked up
once: the place behind the lexeme and its lexer state. What goes on inside is a matter of lexer states
(canonical/groups.py); what of a witness is left at the exit is asked once.

In: tables, a place, the texts of a group. Out: whether one of them can follow. Cost: 50 ns a text, once a place.
"""

from __future__ import annotations

from ..machine.jit import kernel, never_inline
from ..machine.raw import load_u32
from ..mask.configurations import REFUSED, pack, start_after
from ..parser.goto import certain_goto, goto
from ..parser.rows import has_flag_of_row
from ..tables.grammar_layout import IGNORED
from ..tables.memory import load_i32
from ..values.transcripts import FIRST_PLACE, MOST_ROWS, row_of
from .ends import UNCERTAIN, go, safe_byte
from .groups import TEXT_BYTES
from .live import NO_BYTE


@kernel
def exit_of(store, grammar, place, lexemes):
    """Place and lexer state behind a set of lexemes, or REFUSED.

    Where the tokens are recorded it is a bare row (mask/boundary_tokens.py), if it is the same whatever they spell.
    """
    if place >= FIRST_PLACE and lexemes != grammar[IGNORED]:
        row = certain_goto(store, grammar, row_of(grammar, place), lexemes)
        if row < 0 or has_flag_of_row(grammar, row, UNCERTAIN):
            return REFUSED
        return pack(row + MOST_ROWS, start_after(store, grammar, row, lexemes))
    target = goto(store, grammar, place, lexemes)
    return REFUSED if target < 0 else pack(target, start_after(store, grammar, target, lexemes))


@kernel
def holds(store, grammar, canon, behind, entry):
    """Whether the text at an address (canonical/groups.py) may follow, and behind it a byte that ends the word."""
    never_inline()
    packed, text = behind, load_u32(entry) | load_i32(entry + 4) << 32
    while text != 0 and packed >= 0:
        packed = go(store, grammar, packed, text & 0xFF)
        text >>= 8
    return packed >= 0 and safe_byte(store, grammar, canon, packed, load_i32(entry + 8)) != NO_BYTE


@kernel
def first_that_holds(store, grammar, canon, behind, texts, bits):
    """The number of one of the texts in a bit set that may follow at an exit, or -1."""
    number = 0
    while bits != 0:
        if bits & 1 != 0 and holds(store, grammar, canon, behind, texts + number * TEXT_BYTES):
            return number
        bits >>= 1
        number += 1
    return -1
