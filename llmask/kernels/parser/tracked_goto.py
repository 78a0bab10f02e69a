"""Steps of grammars that track values: what the Earley step does to transcripts.

    nothing tracked    the row after; a transcript begins where a tracked value does
    a value tracked    the row after, with the transcript, in which a value that ended is one symbol

Almost all steps do not depend on the transcript, so the step of the *untracked row*, the row for every transcript at
once, is made first and shared. In it a tracked value that is complete has UNKNOWN_TEXT. This is also how masks are
made: tokens that cross the end of a tracked value are found once for a row, and only where the text decides are they
found again with it (mask/tracked_walk.py). The untracked step tells what it could not know:

    DEPENDS_ON_TEXT     the value's text is part of the row (its value in `goto` has this bit)
    MAY_REPEAT          and the step is another one, or refused, if the value is in the set already
    row is undecided    something may follow there or not, a flag of the row says so
    row is nowhere      it is not known whether the step is possible at all

A step that leads nowhere (the value was in the set) is NO_PARSE_STATE.

In: tables, a parse state, a set of lexemes. Out: parse states. Cost: with a text 1 us beside the shared step.
"""

from ..machine.jit import inline, kernel
from ..tables.interning import MISSING, map_get, map_put
from ..tables.memory import has_stopped
from ..values.parse_states import MOST_ROWS, NO_TRANSCRIPT, parse_state_of, row_of, transcript_of, with_value_start
from .earley_step import row_after
from .rows import NO_PARSE_STATE
from .tracked_values import MAY_REPEAT, UNKNOWN_TRANSCRIPT

ROW_BITS = MOST_ROWS - 1


@inline
def parse_state_at(grammar, row, transcript):
    """The parse state of a row that was reached with a transcript."""
    if not grammar.rows[row].tracks:
        return row
    if grammar.rows[row].begins_value:
        transcript = with_value_start(grammar, transcript, row)
    return parse_state_of(grammar, row, transcript)


@inline
def first_parse_state(grammar, row):
    """The parse state of a row that was reached without a transcript."""
    return parse_state_at(grammar, row, NO_TRANSCRIPT)


@kernel
def tracked_goto(store, grammar, parse_state, scanned):
    """`goto` of a grammar that tracks values, for a step that is not known yet."""
    row = row_of(grammar, parse_state)
    target = _untracked_step(store, grammar, row, scanned)
    if parse_state == row:
        return target
    transcript = transcript_of(grammar, parse_state)
    if target >= MAY_REPEAT:
        target = _step_with(store, grammar, row, scanned, transcript)
        transcript = grammar.transcript_after
    if target >= 0:
        target = parse_state_at(grammar, target, transcript)
    if has_stopped(store, grammar):
        return NO_PARSE_STATE
    map_put(grammar.goto, (parse_state << 32) | scanned, target)
    return target


@kernel
def _untracked_step(store, grammar, row, scanned):
    """The step of an untracked row: a parse state where nothing is tracked yet, else a row with the bits above."""
    known = map_get(grammar.goto, (row << 32) | scanned)
    if known != MISSING:
        return known
    target = _step_with(store, grammar, row, scanned, UNKNOWN_TRANSCRIPT)
    if target >= 0:
        if grammar.rows[row].tracks:
            target |= grammar.depends
        else:
            target = first_parse_state(grammar, target)
    if has_stopped(store, grammar):
        return NO_PARSE_STATE
    map_put(grammar.goto, (row << 32) | scanned, target)
    return target


@inline
def _step_with(store, grammar, row, scanned, transcript):
    """The Earley step with a transcript or UNKNOWN_TRANSCRIPT; `depends` has what it could not know."""
    grammar.step_transcript = grammar.transcript_after = transcript
    grammar.depends = 0
    return row_after(store, grammar, row, scanned)


@inline
def untracked_goto(store, grammar, row, scanned):
    """Row after the lexemes for every transcript at once, with the bits above where these differ; NO_PARSE_STATE."""
    target = row if scanned == grammar.ignored else _untracked_step(store, grammar, row, scanned)
    return target if grammar.rows[row].tracks else row_of(grammar, target)


@inline
def certain_goto(store, grammar, row, scanned):
    """Row after the lexemes where it is the same for every transcript, as masks and ends see it; NO_PARSE_STATE."""
    target = untracked_goto(store, grammar, row, scanned)
    if target < 0 or target & MAY_REPEAT != 0:
        return NO_PARSE_STATE
    target &= ROW_BITS
    return NO_PARSE_STATE if grammar.rows[target].is_undecided else target
