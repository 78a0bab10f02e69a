"""Steps from place to place: the parser takes a lexeme.

`goto(place, lexemes)` is a pure function and remembered, under the place's number. What it does to rows is the Earley
step (parser/rows.py); what it does to records:

    nothing recorded    the row after; with a fresh mark where a tracked value begins there
    something recorded  the row after, with the record as far as it goes on there

Almost all steps do not depend on the record, so the step of the bare row is made first and shared by all records. In
the bare step a tracked value that is complete has UNKNOWN_TEXT. This is also how masks are made: tokens that cross the
end of a tracked value are found once for a row, and only where the text decides are they found again with it
(mask/boundary_walk.py). The bare step tells what it could not know:

    DEPENDS_ON_TEXT     the value's text is part of the row (its value in GOTO has this bit)
    MAY_REPEAT          and the step is another one, or refused, if the value is in the set already
    row is UNDECIDED    something may follow there or not, R_FLAGS of the row says so
    row is NOWHERE      it is not known whether the step is possible at all

A step that leads nowhere (the value was in the set) is NO_PLACE.

Where edges have priorities, only those of the highest one among the lexemes that end together are taken: a keyword is
then no name. Bare edges, those of grammars inside this one, and the others do not compete with each other; what is
ignored competes with all.

In: tables, a place, a set of lexemes. Out: places. Cost: a known step 10 ns, a new row about 1 us and 10 ns an item.
"""

from __future__ import annotations

from ..machine.jit import kernel, never_inline
from ..tables.grammar_layout import (
    DEPENDS,
    EDGES,
    GOTO,
    HAS_PRIORITIES,
    IGNORED,
    IGNORED_PRIORITY,
    ITEMS,
    N_ITEMS,
    PRIORITIES,
    ROW_POOL,
    STATE_RULES,
    UNDECIDED,
)
from ..tables.interning import MISSING, list_item, list_length, map_get, map_put
from ..tables.memory import EXCEEDED, block, get_i32, spend
from ..tables.store_layout import LEXEME_SETS, SCRATCH_TOP
from ..values.text_sets import NO_TEXTS, UNKNOWN_TEXT
from ..values.texts import text_number
from ..values.transcripts import (
    FIRST_PLACE,
    MOST_ROWS,
    NO_RECORD,
    ROW_MARK,
    place_of,
    read_text,
    record_of,
    record_with,
    row_of,
)
from ..values.variants import has_text, has_unknown, texts_of, with_text
from .items import CALL_AGAIN, CALL_NEW, CALL_OPEN, LINK_EDGE, add_item, advance_free, clear_items, may_end
from .leo_items import ends_in_link, make_links, settle, take_entry
from .rows import (
    BEGINS,
    IS_UNDECIDED,
    NO_PLACE,
    R_FLAGS,
    R_N_SCANS,
    R_N_WAITS,
    R_SCANS,
    R_WAITS,
    RECORDS_HERE,
    add_kernel,
    has_flag_of_row,
    intern_row,
    row_field,
)

DEPENDS_ON_TEXT = FIRST_PLACE  # bits of bare steps in rows that record
MAY_REPEAT = MOST_ROWS
ROW_BITS = MOST_ROWS - 1
UNKNOWN_RECORD = -1
LOWEST = -(2**31)  # below every priority


@kernel
def known_goto(grammar, place, scanned):
    """Place after the lexemes of set `scanned`, NO_PLACE or MISSING. Reads only."""
    if scanned == grammar[IGNORED]:
        return place
    return map_get(grammar, GOTO, (place << 32) | scanned)


@kernel
def place_at(grammar, row, record):
    """The place of a row that was reached with a record."""
    flags = row_field(grammar, row, R_FLAGS)
    if flags & RECORDS_HERE == 0:
        return row
    if flags & BEGINS != 0:
        record = record_with(grammar, record, ROW_MARK + row)
    return place_of(grammar, row, record)


@kernel
def goto(store, grammar, place, scanned):
    """Place after the lexemes of set `scanned` (at least one of them is expected), or NO_PLACE."""
    never_inline()
    known = known_goto(grammar, place, scanned)
    if known != MISSING:
        return known
    row = row_of(grammar, place)
    target = known
    if place != row:
        target = known_goto(grammar, row, scanned)
    if target == MISSING:
        target = _bare_step(store, grammar, row, scanned)
    if place == row:
        return target
    if target >= MAY_REPEAT:
        target = _row_after(store, grammar, row, scanned, record_of(grammar, place))
    if target >= 0:
        target = place_at(grammar, target, record_of(grammar, place))
    if grammar[EXCEEDED] != 0 or store[EXCEEDED] != 0:
        return NO_PLACE
    map_put(grammar, GOTO, (place << 32) | scanned, target)
    return target


@kernel
def bare_goto(store, grammar, row, scanned):
    """Row after the lexemes, without a record: with the bits above where it depends on one, or NO_PLACE."""
    target = goto(store, grammar, row, scanned)
    return row_of(grammar, target) if not has_flag_of_row(grammar, row, RECORDS_HERE) else target


@kernel
def certain_goto(store, grammar, row, scanned):
    """Row after the lexemes for all records, as far as masks and ends are concerned, or NO_PLACE: a text decides."""
    target = bare_goto(store, grammar, row, scanned)
    if target < 0 or target & MAY_REPEAT != 0:
        return NO_PLACE
    target &= ROW_BITS
    return NO_PLACE if has_flag_of_row(grammar, target, IS_UNDECIDED) else target


@kernel
def _bare_step(store, grammar, row, scanned):
    """The step of a bare row, and remember it: a place where nothing is recorded yet, else a row with bits."""
    never_inline()
    target = _row_after(store, grammar, row, scanned, UNKNOWN_RECORD)
    if target >= 0:
        if has_flag_of_row(grammar, row, RECORDS_HERE):
            target |= grammar[DEPENDS]
        else:
            target = place_at(grammar, target, NO_RECORD)
    if grammar[EXCEEDED] != 0 or store[EXCEEDED] != 0:
        return NO_PLACE
    map_put(grammar, GOTO, (row << 32) | scanned, target)
    return target


@kernel
def _row_after(store, grammar, row, scanned, record):
    """Row after the lexemes of set `scanned` with a record or UNKNOWN_RECORD, or NO_PLACE."""
    never_inline()
    bottom = store[SCRATCH_TOP]
    while True:
        _find_items(store, grammar, row, scanned, record)
        if store[SCRATCH_TOP] == bottom or grammar[EXCEEDED] != 0:
            break
        make_links(store, grammar, bottom)
        if grammar[EXCEEDED] != 0 or store[EXCEEDED] != 0:
            break
    store[SCRATCH_TOP] = bottom
    if grammar[EXCEEDED] != 0 or store[EXCEEDED] != 0:
        return NO_PLACE
    settle(grammar)
    return intern_row(store, grammar, 0)


@kernel
def _find_items(store, grammar, row, scanned, record):
    """Find the items of the row after the lexemes; links that are missing are asked for (parser/leo_items.py)."""
    never_inline()
    clear_items(grammar)
    grammar[DEPENDS] = 0
    grammar[UNDECIDED] = 0
    n_scanned = list_length(store, LEXEME_SETS, scanned)
    least = LOWEST
    least_bare = LOWEST
    if grammar[HAS_PRIORITIES] != 0:
        least = _highest_priority(store, grammar, row, scanned, 0)
        least_bare = _highest_priority(store, grammar, row, scanned, 1)
    first = row_field(grammar, row, R_SCANS)
    spend(grammar, 8 + (row_field(grammar, row, R_N_SCANS) * (n_scanned + 1) >> 4))
    for i in range(row_field(grammar, row, R_N_SCANS)):
        pool = block(grammar, ROW_POOL)
        at = first + 4 * i
        edge = get_i32(pool, at + 1)
        if least != LOWEST or least_bare != LOWEST:
            priority = get_i32(block(grammar, PRIORITIES), edge)
            if priority >> 1 < (least_bare if priority & 1 != 0 else least):
                continue
        if _is_in(store, scanned, get_i32(pool, at)):
            take_entry(store, grammar, at)
    if grammar[IGNORED] != 0 and n_scanned > 1 and grammar[IGNORED_PRIORITY] >= max(least, least_bare):
        if _is_in(store, scanned, list_item(store, LEXEME_SETS, grammar[IGNORED], 0)):
            add_kernel(grammar, row)  # it ended together with others: the row goes on as it was, too
    position = 0
    while position < grammar[N_ITEMS] and grammar[EXCEEDED] == 0:
        items = block(grammar, ITEMS)
        state = get_i32(items, 4 * position)
        parameter = get_i32(items, 4 * position + 1)
        origin = get_i32(items, 4 * position + 2)
        position += 1
        if state >= LINK_EDGE:
            continue
        if may_end(grammar, state, parameter):
            _complete(store, grammar, get_i32(block(grammar, STATE_RULES), state), origin, record)
        advance_free(grammar, state, parameter, origin)


@kernel
def _is_in(store, lexemes, lexeme):
    """Whether a lexeme is in a set."""
    for i in range(list_length(store, LEXEME_SETS, lexemes)):
        if list_item(store, LEXEME_SETS, lexemes, i) == lexeme:
            return True
    return False


@kernel
def _highest_priority(store, grammar, row, scanned, is_bare):
    """Highest priority of a bare or other edge of the row over one of the lexemes, or of the ignored one."""
    never_inline()
    highest = LOWEST
    first = row_field(grammar, row, R_SCANS)
    for i in range(row_field(grammar, row, R_N_SCANS)):
        pool = block(grammar, ROW_POOL)
        priority = get_i32(block(grammar, PRIORITIES), get_i32(pool, first + 4 * i + 1))
        if priority & 1 != is_bare:
            continue
        priority >>= 1
        if priority > highest and _is_in(store, scanned, get_i32(pool, first + 4 * i)):
            highest = priority
    if grammar[IGNORED] != 0 and grammar[IGNORED_PRIORITY] > highest:
        if _is_in(store, scanned, list_item(store, LEXEME_SETS, grammar[IGNORED], 0)):
            highest = grammar[IGNORED_PRIORITY]
    return highest


@kernel
def _complete(store, grammar, rule, origin, record):
    """Wake the items of row `origin` that wait for `rule`."""
    never_inline()
    if ends_in_link(store, grammar, rule, origin, origin + 1):
        return
    first = row_field(grammar, origin, R_WAITS)
    spend(grammar, 1 + (row_field(grammar, origin, R_N_WAITS) >> 3))
    for i in range(row_field(grammar, origin, R_N_WAITS)):
        pool = block(grammar, ROW_POOL)
        at = first + 4 * i
        if get_i32(pool, at) == rule:
            edge = get_i32(pool, at + 1)
            if get_i32(block(grammar, EDGES), 4 * edge) < CALL_NEW:
                take_entry(store, grammar, at)
            else:
                _take_value(grammar, edge, get_i32(pool, at + 2), get_i32(pool, at + 3), origin, record)


@kernel
def _take_value(grammar, edge, number, origin, began, record):
    """Add the item behind a tracked value that began in row `began`."""
    never_inline()
    text = UNKNOWN_TEXT
    is_again = get_i32(block(grammar, EDGES), 4 * edge) == CALL_AGAIN
    if record == UNKNOWN_RECORD:
        grammar[DEPENDS] |= DEPENDS_ON_TEXT
        if has_unknown(grammar, number):
            grammar[UNDECIDED] = 1
            return
        if get_i32(block(grammar, EDGES), 4 * edge) >= CALL_OPEN and texts_of(grammar, number) != NO_TEXTS:
            grammar[DEPENDS] |= MAY_REPEAT
        if is_again:
            return
    else:
        text = text_number(grammar, read_text(grammar, record, began))
    if is_again:
        if has_text(grammar, number, text):
            add_item(grammar, get_i32(block(grammar, EDGES), 4 * edge + 2), number, origin, 0)
        return
    after = with_text(grammar, number, text)
    if after >= 0:
        add_item(grammar, get_i32(block(grammar, EDGES), 4 * edge + 2), after, origin, 0)
