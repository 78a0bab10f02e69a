"""A tracked value is complete: the item after it has the value's text in its set, or the row cannot tell.

In: tables, a wait for the value's rule. Out: items in progress. Cost: of a known text 0.3 us.
"""

from ..machine.jit import kernel
from ..tables.kinds import EdgeKind
from ..values.called_rules import has_text, has_unknown, texts_of, with_text
from ..values.parse_states import FIRST_TRACKED, MOST_ROWS
from ..values.text_sets import NO_TEXTS, UNKNOWN_TEXT
from ..values.texts import text_number
from ..values.transcripts import read_text
from .items import add_item

DEPENDS_ON_TEXT = FIRST_TRACKED  # what a step that knows no transcript could not know, see tracked_goto.py
MAY_REPEAT = MOST_ROWS
UNKNOWN_TRANSCRIPT = -1


@kernel
def take_value(grammar, edge, number, origin, began):
    """Add the item after a tracked value that began in row `began`; `step_transcript` has its text, or does not."""
    text = UNKNOWN_TEXT
    is_again = grammar.edges[edge].kind == EdgeKind.CALL_AGAIN
    if grammar.step_transcript == UNKNOWN_TRANSCRIPT:
        grammar.depends |= DEPENDS_ON_TEXT
        if has_unknown(grammar, number):
            grammar.undecided = 1
            return
        if grammar.edges[edge].kind >= EdgeKind.CALL_OPEN and texts_of(grammar, number) != NO_TEXTS:
            grammar.depends |= MAY_REPEAT
        if is_again:
            return
    else:
        text = text_number(grammar, read_text(grammar, grammar.step_transcript, began))
    if is_again:
        if has_text(grammar, number, text):
            add_item(grammar, grammar.edges[edge].target, number, origin, 0)
        return
    after = with_text(grammar, number, text)
    if after >= 0:
        add_item(grammar, grammar.edges[edge].target, after, origin, 0)
