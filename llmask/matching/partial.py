"""Where a sequence is in its document, and the value so far, while it is written.

With each question a matcher keeps what json_reader.py knows of the document: the next one reads only the tokens since,
rolling back goes to what was known before, and forks share it. Of what is old every second one is dropped, again and
again, so that there are at most MOST_KEPT, close together near the end and ever farther apart before it.

In: a matcher. Out: a value; `Position`. Cost: 10 us, and 1 us a token since the last question, or 0.1 us a level where
the document is deep; 0.4 MB; a value as json_reader.py says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ..arguments import on_one_line
from ..forks import cached_property
from .json_reader import KEY, MISSING, NOTHING, JsonSoFar

if TYPE_CHECKING:
    from .sequence import Sequence

MOST_KEPT = 1024  # readings
MOST_SHOWN = 100  # characters of a pointer, for people
BLOCK = 64  # tokens that are read at once where nobody asked in between; rolling back into them reads some again


class Position(NamedTuple("Fields", [("pointer", "str | None"), ("kind", str), ("n_bytes", int), ("depth", int)])):
    """Where a sequence is in its document; `str` is a text for people.

    Attributes
    ----------
    pointer : JSON pointer of the value in progress, the innermost that has begun; after a key that of the member whose
        value comes next. "" is the whole document. None: the document is not JSON.
    kind : "value": in a string, number or literal, at `pointer`; "key": in a key of the object at `pointer`; "between":
        in neither, so that an array, an object or a member's value is in progress or to come; "end": the document is
        complete; "text": it is not JSON.
    n_bytes : how many bytes of that value, or of that key, there are so far; of a text, of all of it.
    depth : how many arrays and objects are open.

    Examples
    --------
    >>> import llmask
    >>> matcher = llmask.Compiler(llmask.Tokenizer.default()).json_object().matcher()
    >>> matcher.accept_bytes(b'{"names": ["Ada", "Al')
    >>> matcher.position()
    Position(pointer='/names/1', kind='value', n_bytes=3, depth=2)
    >>> print(matcher.position())
    in the value at /names/1, 3 bytes so far, depth 2
    """

    find_places: Callable[[], list[str]] = list
    find_rules: Callable[[], list[str]] = list

    @cached_property
    def places(self) -> list[str]:
        """JSON pointers, as fragments, of the schemas that hold for the value in progress, or the one that comes next.

        An alternative of `anyOf` and its like is among them as long as it takes what is there of its value. Empty for
        grammars of other kinds, and for a position that comes out of a pickle.

        Raises
        ------
        LimitExceeded : finding them takes more work than the limits allow.
        """
        return self.find_places()

    @cached_property
    def rules(self) -> list[str]:
        """The rules that are being read, each with a dot where it is, the innermost first; see `places`."""
        return self.find_rules()

    def __reduce__(self) -> tuple[Any, ...]:
        return Position, tuple(self)

    def __str__(self) -> str:
        so_far = f"{self.n_bytes} byte{'' if self.n_bytes == 1 else 's'} so far"
        if self.pointer is None:
            return f"in a text, {so_far}"
        if self.kind == "end":
            return "at the end of the document"
        at = on_one_line(self.pointer, MOST_SHOWN) or "the root"
        what = {"value": f"in the value at {at}", "key": f"in a key of the object at {at}"}
        return f"{what.get(self.kind, f'between values at {at}')}, {so_far}, depth {self.depth}"


class Reading(NamedTuple):
    """What was read of the document after some tokens.

    n_tokens  how many
    n_lead    bytes to come before the document: of a prefix
    n_bytes   of the document
    document  what they are as JSON
    """

    n_tokens: int
    n_lead: int
    n_bytes: int
    document: JsonSoFar


def position_in(document: JsonSoFar) -> Position:
    """Where in its document a sequence is."""
    here = document.innermost
    if document.within != NOTHING:
        kind, n_bytes = "key" if document.within == KEY else "value", document.n_bytes - document.begin
    elif document.root is not MISSING:
        kind, n_bytes = "end", 0
    else:
        is_begun = here is not None and here.key is None
        kind, n_bytes = "between", document.n_bytes - here.begin if here is not None and is_begun else 0
    return Position(document.pointer(), kind, n_bytes, document.depth)


def read_on(sequence: Sequence) -> Reading:
    """What is there so far; more is put to the sequence's readings."""
    readings = sequence.readings
    reading = readings[-1] if readings else Reading(0, len(sequence.lead), 0, JsonSoFar())
    steps = sequence.steps(reading.n_tokens)
    n_tokens = len(sequence.history) - len(steps)
    for first in range(0, len(steps), BLOCK):
        block = steps[first : first + BLOCK]
        n_tokens += len(block)
        data = b"".join(data for _, data in block)
        own = data[reading.n_lead :]
        document = reading.document.after(own) if sequence.grammar.is_json else reading.document
        n_lead = max(0, reading.n_lead - len(data))
        reading = Reading(n_tokens, n_lead, reading.n_bytes + len(own), document)
        readings.append(reading)
        if len(readings) > MOST_KEPT:
            readings[: MOST_KEPT // 2] = readings[: MOST_KEPT // 2 : 2]
    return reading
