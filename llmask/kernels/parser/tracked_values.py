"""What the text of a tracked value decides in the Earley step.

It is complete: the item after it has the value's text in its set, or the row cannot tell.

It is not, but few values can come of it. A skip with a guard of the kind FOLLOW is passed where all that is required is
there, so that nothing comes any more that could always be another value; who wrote the rules says which members these
are. If the value may still become one of its set, the run goes on in a state that is written for those values
(`state_following`), in which what leads to no other value is left out; else in the target of the skip. The rule of a
member may have such skips as well: calls of it have the same guard, which tells whether all other members are there.

A skip may also lead to a state that is written for the texts of the run's own set, which are left out of it then: as a
key decides on the value after it.

In: tables, a wait for the value's rule, or items. Out: items in progress. Cost: of a known text 0.3 us.
"""

from ..machine.jit import kernel
from ..regex.nodes import push
from ..tables.kinds import EdgeKind, GuardKind
from ..values.called_rules import (
    FIRST_FOLLOWING,
    NO_TEXTS,
    UNKNOWN_TEXT,
    has_text,
    has_unknown,
    state_following,
    texts_of,
    variant,
    with_text,
    without_texts,
)
from ..values.json_values import read_beginning
from ..values.parse_states import FIRST_TRACKED, MOST_ROWS, read_text, with_value
from ..values.texts import plain_text, text_number
from .guards import is_decided, is_followed
from .items import add_item, edges_of
from .rows import waits_of

DEPENDS_ON_TEXT = FIRST_TRACKED  # what a step that knows no transcript could not know, see tracked_goto.py
MAY_REPEAT = MOST_ROWS
UNKNOWN_TRANSCRIPT = -1
OTHERS, OWN, OWN_COUNTED = range(3)  # whose values a skip follows, see `Rules.follow_guard`
NOWHERE = -1


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
        grammar.transcript_after = with_value(grammar, grammar.step_transcript, began, text)
    if is_again:
        if has_text(grammar, number, text):
            add_item(grammar, grammar.edges[edge].target, number, origin, 0)
        return
    after = with_text(grammar, number, text)
    if after >= 0:
        add_item(grammar, grammar.edges[edge].target, after, origin, 0)


@kernel
def follow_known(store, grammar, state, parameter, origin):
    """Add the items after the skips of a state by which known values are followed."""
    for edge in edges_of(grammar, state):
        if not is_followed(grammar, edge):
            continue
        target = grammar.edges[edge].target
        asked = grammar.guards[grammar.edges[edge].guard]
        if asked.high != OTHERS:
            after = variant(grammar, FIRST_FOLLOWING + asked.low, parameter)
            if after >= 0:
                add_item(grammar, after, without_texts(grammar, parameter, asked.high == OWN_COUNTED), origin, 0)
            continue
        if not is_decided(grammar, grammar.edges[edge].guard, parameter):
            add_item(grammar, target, parameter, origin, 0)
            continue
        bottom = store.scratch_top
        push(store, origin)  # rows in which this run began, and runs that call it for a member
        position = bottom
        while position < store.scratch_top:
            row = store.scratch[position]
            position += 1
            for at in waits_of(grammar, row):
                waiting = grammar.row_entries[at]
                guard = grammar.edges[waiting.edge].guard
                after = NOWHERE
                if grammar.edges[waiting.edge].kind == EdgeKind.CALL_OPEN:
                    after = _state_after(grammar, edge, row, texts_of(grammar, waiting.parameter))
                elif grammar.guards[guard].kind == GuardKind.FOLLOW:
                    if is_decided(grammar, guard, waiting.parameter):
                        push(store, waiting.origin)
                    else:
                        after = target
                if after >= 0:
                    add_item(grammar, after, parameter, origin, 0)
        store.scratch_top = bottom


@kernel
def _state_after(grammar, edge, origin, texts):
    """Where a skip leads whose value began in row `origin` and has to differ from a set's; negative for nowhere."""
    target = grammar.edges[edge].target
    if texts == NO_TEXTS:
        return target
    if grammar.step_transcript == UNKNOWN_TRANSCRIPT:
        grammar.depends |= DEPENDS_ON_TEXT | MAY_REPEAT
        return target
    n = plain_text(grammar, read_text(grammar, grammar.step_transcript, origin), False)
    top, end = read_beginning(grammar, n, True)
    number = grammar.guards[grammar.edges[edge].guard].low
    return state_following(grammar, number, target, texts, (top, end, n))
