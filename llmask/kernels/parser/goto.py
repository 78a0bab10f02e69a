"""Steps from place to place: the parser takes a lexeme.

`goto(place, lexemes)` is a pure function and remembered, under the place's number. What it does to rows is the Earley
step (parser/rows.py); what it does to records:

    nothing recorded    the row after; with a fresh mark where a tracked value begins there
    something recorded  the row after, with the record as far as it goes on there

Almost all steps do not depend on the record, so the step of the bare row is made first and shared by all records. In
the bare step a tracked value that is complete has UNKNOWN_TEXT. This is also how masks are made: tokens that cross the
end of a tracked value are found once for a row, and only where the text decides are they found again with it
(mask/tracked_walk.py). The bare step tells what it could not know:

    DEPENDS_ON_TEXT     the value's text is part of the row (its value in `goto` has this bit)
    MAY_REPEAT          and the step is another one, or refused, if the value is in the set already
    row is undecided    something may follow there or not, a flag of the row says so
    row is NOWHERE      it is not known whether the step is possible at all

A step that leads nowhere (the value was in the set) is NO_PLACE.

Where edges have priorities, only those of the highest one among the lexemes that end together are taken: a keyword is
then no name. Bare edges, those of grammars inside this one, and the others do not compete with each other; what is
ignored competes with all.

In: tables, a place, a set of lexemes. Out: places. Cost: a known step 10 ns, a new row about 1 us and 10 ns an item.
"""

from __future__ import annotations

from ..machine.jit import inline, kernel
from ..tables.interning import MISSING, list_item, list_length, map_get, map_put
from ..tables.kinds import EdgeKind
from ..tables.memory import spend
from ..values.called_rules import has_text, has_unknown, texts_of, with_text
from ..values.places import (
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
from ..values.text_sets import NO_TEXTS, UNKNOWN_TEXT
from ..values.texts import text_number
from .items import LINK_EDGE, add_item, advance_free, clear_items, may_end
from .leo_items import ends_in_link, make_links, settle, take_entry
from .rows import NO_PLACE, add_kernel, intern_row

DEPENDS_ON_TEXT = FIRST_PLACE  # bits of bare steps in rows that record
MAY_REPEAT = MOST_ROWS
ROW_BITS = MOST_ROWS - 1
UNKNOWN_RECORD = -1
LOWEST = -(2**31)  # below every priority


@inline
def known_goto(grammar, place, scanned):
    """Place after the lexemes of set `scanned`, NO_PLACE or MISSING. Reads only."""
    if scanned == grammar.ignored:
        return place
    return map_get(grammar.goto, (place << 32) | scanned)


@inline
def place_at(grammar, row, record):
    """The place of a row that was reached with a record."""
    if not grammar.rows[row].records:
        return row
    if grammar.rows[row].begins_value:
        record = record_with(grammar, record, ROW_MARK + row)
    return place_of(grammar, row, record)


@kernel
def goto(store, grammar, place, scanned):
    """Place after the lexemes of set `scanned` (at least one of them is expected), or NO_PLACE."""
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
    if grammar.exceeded != 0 or store.exceeded != 0:
        return NO_PLACE
    map_put(grammar.goto, (place << 32) | scanned, target)
    return target


@inline
def bare_goto(store, grammar, row, scanned):
    """Row after the lexemes, without a record: with the bits above where it depends on one, or NO_PLACE."""
    target = goto(store, grammar, row, scanned)
    return row_of(grammar, target) if not grammar.rows[row].records else target


@inline
def certain_goto(store, grammar, row, scanned):
    """Row after the lexemes for all records, as far as masks and ends are concerned, or NO_PLACE: a text decides."""
    target = bare_goto(store, grammar, row, scanned)
    if target < 0 or target & MAY_REPEAT != 0:
        return NO_PLACE
    target &= ROW_BITS
    return NO_PLACE if grammar.rows[target].is_undecided else target


@kernel
def _bare_step(store, grammar, row, scanned):
    """The step of a bare row, and remember it: a place where nothing is recorded yet, else a row with bits."""
    target = _row_after(store, grammar, row, scanned, UNKNOWN_RECORD)
    if target >= 0:
        if grammar.rows[row].records:
            target |= grammar.depends
        else:
            target = place_at(grammar, target, NO_RECORD)
    if grammar.exceeded != 0 or store.exceeded != 0:
        return NO_PLACE
    map_put(grammar.goto, (row << 32) | scanned, target)
    return target


@kernel
def _row_after(store, grammar, row, scanned, record):
    """Row after the lexemes of set `scanned` with a record or UNKNOWN_RECORD, or NO_PLACE."""
    bottom = store.scratch_top
    while True:
        _find_items(store, grammar, row, scanned, record)
        if store.scratch_top == bottom or grammar.exceeded != 0:
            break
        make_links(store, grammar, bottom)
        if grammar.exceeded != 0 or store.exceeded != 0:
            break
    store.scratch_top = bottom
    if grammar.exceeded != 0 or store.exceeded != 0:
        return NO_PLACE
    settle(grammar)
    return intern_row(store, grammar, 0)


@kernel
def _find_items(store, grammar, row, scanned, record):
    """Find the items of the row after the lexemes; links that are missing are asked for (parser/leo_items.py)."""
    clear_items(grammar)
    grammar.depends = 0
    grammar.undecided = 0
    n_scanned = list_length(store.lexeme_sets, scanned)
    least = LOWEST
    least_bare = LOWEST
    if grammar.has_priorities != 0:
        least = _highest_priority(store, grammar, row, scanned, 0)
        least_bare = _highest_priority(store, grammar, row, scanned, 1)
    first = grammar.rows[row].scans
    spend(grammar, 8 + (grammar.rows[row].n_scans * (n_scanned + 1) >> 4))
    for i in range(grammar.rows[row].n_scans):
        entries = grammar.row_entries
        at = first + i
        edge = entries[at].edge
        if least != LOWEST or least_bare != LOWEST:
            priority = grammar.priorities[edge]
            if priority >> 1 < (least_bare if priority & 1 != 0 else least):
                continue
        if _is_in(store, scanned, entries[at].symbol):
            take_entry(store, grammar, at)
    if grammar.ignored != 0 and n_scanned > 1 and grammar.ignored_priority >= max(least, least_bare):
        if _is_in(store, scanned, list_item(store.lexeme_sets, grammar.ignored, 0)):
            add_kernel(grammar, row)  # it ended together with others: the row goes on as it was, too
    position = 0
    while position < grammar.n_items and grammar.exceeded == 0:
        items = grammar.items
        state = items[position].state
        parameter = items[position].parameter
        origin = items[position].origin
        position += 1
        if state >= LINK_EDGE:
            continue
        if may_end(grammar, state, parameter):
            _complete(store, grammar, grammar.state_rules[state], origin, record)
        advance_free(grammar, state, parameter, origin)


@inline
def _is_in(store, lexemes, lexeme):
    """Whether a lexeme is in a set."""
    for i in range(list_length(store.lexeme_sets, lexemes)):
        if list_item(store.lexeme_sets, lexemes, i) == lexeme:
            return True
    return False


@kernel
def _highest_priority(store, grammar, row, scanned, is_bare):
    """Highest priority of a bare or other edge of the row over one of the lexemes, or of the ignored one."""
    highest = LOWEST
    first = grammar.rows[row].scans
    for i in range(grammar.rows[row].n_scans):
        entries = grammar.row_entries
        priority = grammar.priorities[entries[first + i].edge]
        if priority & 1 != is_bare:
            continue
        priority >>= 1
        if priority > highest and _is_in(store, scanned, entries[first + i].symbol):
            highest = priority
    if grammar.ignored != 0 and grammar.ignored_priority > highest:
        if _is_in(store, scanned, list_item(store.lexeme_sets, grammar.ignored, 0)):
            highest = grammar.ignored_priority
    return highest


@kernel
def _complete(store, grammar, rule, origin, record):
    """Wake the items of row `origin` that wait for `rule`."""
    if ends_in_link(store, grammar, rule, origin, origin + 1):
        return
    first = grammar.rows[origin].waits
    spend(grammar, 1 + (grammar.rows[origin].n_waits >> 3))
    for i in range(grammar.rows[origin].n_waits):
        entries = grammar.row_entries
        at = first + i
        if entries[at].symbol == rule:
            edge = entries[at].edge
            if grammar.edges[edge].kind < EdgeKind.CALL_NEW:
                take_entry(store, grammar, at)
            else:
                _take_value(grammar, edge, entries[at].parameter, entries[at].origin, origin, record)


@kernel
def _take_value(grammar, edge, number, origin, began, record):
    """Add the item behind a tracked value that began in row `began`."""
    text = UNKNOWN_TEXT
    is_again = grammar.edges[edge].kind == EdgeKind.CALL_AGAIN
    if record == UNKNOWN_RECORD:
        grammar.depends |= DEPENDS_ON_TEXT
        if has_unknown(grammar, number):
            grammar.undecided = 1
            return
        if grammar.edges[edge].kind >= EdgeKind.CALL_OPEN and texts_of(grammar, number) != NO_TEXTS:
            grammar.depends |= MAY_REPEAT
        if is_again:
            return
    else:
        text = text_number(grammar, read_text(grammar, record, began))
    if is_again:
        if has_text(grammar, number, text):
            add_item(grammar, grammar.edges[edge].target, number, origin, 0)
        return
    after = with_text(grammar, number, text)
    if after >= 0:
        add_item(grammar, grammar.edges[edge].target, after, origin, 0)
