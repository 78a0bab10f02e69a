"""Where a configuration is, read from a grammar's tables: what a search can recognise although the text is recorded.

Where values must differ, a configuration carries a record of the text, and rows carry sets of what was read, so nothing
is ever met twice. What is expected in the row and the lexer state are met again: they tell the sort of a place.

In: a matcher, numbers of its configurations. Out: (lexemes expected, lexer state). Cost: 2 us.
"""

from __future__ import annotations

from ctypes import c_int32

import llmask
from llmask.kernels import grammar_slots
from llmask.kernels.configurations import C_PLACE, C_STATE, CONFIGURATION_FIELDS
from llmask.kernels.earley_rows import R_EXPECTED, ROW_FIELDS
from llmask.kernels.records import FIRST_PLACE

MAP_ENTRY = 6  # int32 an entry of a map (kernels/interning.py)
HIGH_WORD = 1  # of its key


def sort_of_place(matcher: llmask.Matcher, configuration: int) -> tuple[int, int]:
    """What is expected in the row, and the lexer state."""
    slots = matcher._generation.table.array

    def field(slot: int, index: int) -> int:
        return c_int32.from_address(int(slots[slot]) + 4 * index).value

    place = field(grammar_slots.CONFIGURATIONS, configuration * CONFIGURATION_FIELDS + C_PLACE)
    state = field(grammar_slots.CONFIGURATIONS, configuration * CONFIGURATION_FIELDS + C_STATE)
    row = place if place < FIRST_PLACE else field(grammar_slots.PLACES, (place - FIRST_PLACE) * MAP_ENTRY + HIGH_WORD)
    return field(grammar_slots.ROWS, row * ROW_FIELDS + R_EXPECTED), state
