"""Masks that are built before they are asked for: what can come next is explored, likely texts first.

A place is a configuration behind a token, the bytes that were written since, and the place of a derivation. From each
one goes on with every lexeme that may come next; the text since the last token is split as the tokenizer splits it, all
tokens but the last are taken, and masks are built on the way. What is not the first choice (another property than the
next one, another text of a lexeme) is a deviation; places with fewer deviations are explored first, those of as many in
the order in which they were found. Rows are interned, so a list ends where its elements lead to the same place again.
This is best-first search with bounded discrepancies (W. Harvey, M. Ginsberg, "Limited discrepancy search", 1995).

In: a grammar and what is likely in it. Out: masks in its tables and its store. Cost: 10 us a mask and 10 us a place;
some milliseconds for a median schema.
"""

from __future__ import annotations

import time
from contextlib import suppress
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import LlmaskError
from ..kernels import engine
from ..kernels.mask.configurations import REFUSED
from .likely import CLOSING, END, OPENING, Likely, Option, closes

if TYPE_CHECKING:
    from ..grammar.rules import Rules
    from ..store.loaded_grammar import LoadedGrammar

MOST_PLACES = 50_000  # without bounds: a second or two
MOST_DEVIATIONS = 2  # hardly any step of a document needs more; most need none
FREE_NESTING = 2  # calls of a rule inside of each other; more are deviations
MOST_FAULTS = 20  # places where a limit is met, which may take as long as a limit lets them
SHARED = 50  # places, a millisecond
LEADS = ("", "\n")  # some tokenizers put a blank in front of a text; nothing is split across a line
LINES = 1  # deviations of JSON that is written line by line


class Warmed(NamedTuple):
    """What `CompiledGrammar.warm` has done.

    Attributes
    ----------
    explored : share of the places found that were explored; 1.0: all that is likely is known. 0.0: nothing was found.
    n_masks : masks that were built, or looked at.
    """

    explored: float
    n_masks: int


class Place(NamedTuple):
    """See above; smaller ones are explored first.

    n_deviations, number    how likely it is, and when it was found
    here, tail              configuration behind the last token, and the bytes since
    place                   of the derivation
    depth                   how many brackets are open; -1: in one line
    """

    n_deviations: int
    number: int
    here: int
    tail: bytes
    place: int
    depth: int


class _Search:
    """One exploration."""

    def __init__(self, grammar: LoadedGrammar, likely: Likely) -> None:
        self.likely = likely
        self.tokenizer = grammar.tokenizer
        self.generation = grammar.generation
        if self.generation.table.bytes_used > self.generation.room:
            self.generation = grammar.generation_after(self.generation)
        self.masks: set[int] = set()  # configurations whose masks are built
        self.n_found = 0
        self.n_explored = 0
        self.waiting: list[Place] = []
        self._seen: set[tuple[int, bytes, int, int]] = set()
        self._splits: dict[bytes, tuple[list[int], bytes] | None] = {}
        self.find(0, self.generation.start, b"", likely.start, -1)
        if likely.is_json:
            self.find(LINES, self.generation.start, b"", likely.start, 0)

    def find(self, n_deviations: int, here: int, tail: bytes, place: int, depth: int) -> None:
        """A place is to be explored."""
        if n_deviations > MOST_DEVIATIONS:
            return
        self.n_found += 1
        heappush(self.waiting, Place(n_deviations, self.n_found, here, tail, place, depth))

    def explore(self) -> None:
        """Explore the likeliest place.

        Raises
        ------
        LlmaskError : a limit was reached.
        """
        at = heappop(self.waiting)
        self.n_explored += 1
        split = self._split(at.tail)
        here = after = REFUSED if split is None else at.here
        ids, tail = split or ([], b"")
        for token in ids:
            here = after
            if here != REFUSED:
                self._build(here)
                after = self.generation.run(engine.ACCEPT, here, token)
        key = after, tail, at.place, at.depth
        if after == REFUSED or key in self._seen:
            return
        self._seen.add(key)
        for number, option in enumerate(self.likely.options(at.place)):
            self._go_on(at, here, tail, option, 0 if number == 0 or closes(option) else 1)

    def _go_on(self, at: Place, here: int, tail: bytes, option: Option, n_deviations: int) -> None:
        if option is END:
            self._end(here, tail)
            return
        nesting = self.likely.nesting(option.place)
        if nesting > FREE_NESTING and nesting > self.likely.nesting(at.place):
            n_deviations += 1
        for number, word in enumerate(option.texts):
            depth = at.depth
            between = self.likely.between(tail, word, None if depth < 0 else depth)
            if depth >= 0:
                depth += (word in OPENING) - (word in CLOSING)
            more = at.n_deviations + n_deviations + (number > 0)
            self.find(more, here, tail + between + word, option.place, depth)

    def _end(self, here: int, tail: bytes) -> None:
        ids = self._tokens(tail)
        for token in ids or ():
            self._build(here)
            here = self.generation.run(engine.ACCEPT, here, token)
            if here == REFUSED:
                return
        self._build(here)

    def _build(self, here: int) -> None:
        if here not in self.masks:
            self.generation.run(engine.BUILD_MASK, here)
            self.masks.add(here)

    def _split(self, text: bytes) -> tuple[list[int], bytes] | None:
        """The tokens of a text, and the bytes of the last one; None where tokens do not spell it."""
        if text not in self._splits:
            ids = self._tokens(text)
            self._splits[text] = None if ids is None else (ids, self.tokenizer.token_bytes(ids[-1]) if ids else b"")
        return self._splits[text]

    def _tokens(self, text: bytes) -> list[int] | None:
        """A text in the middle of a document, as tokens; None where they do not spell it."""
        with suppress(LlmaskError, UnicodeDecodeError):
            for lead in LEADS:
                ids = self.tokenizer.encode(lead + text.decode())
                pieces = [self.tokenizer.token_bytes(token) for token in ids]
                for n_lead in range(2 * len(lead) + 1):
                    if b"".join(pieces[n_lead:]) == text:
                        return ids[n_lead:]
        return None


def warmed(grammar: LoadedGrammar, rules: Rules, is_json: bool, seconds: float | None, masks: int | None) -> Warmed:
    """See `CompiledGrammar.warm`."""
    check_bound("seconds", seconds)
    check_bound("masks", masks)
    ends = None if seconds is None else time.monotonic() + seconds
    if grammar.limited_rules:  # max_tokens counts tokens, and texts are bytes
        return Warmed(0.0, 0)
    try:
        search = _Search(grammar, Likely(grammar.store, rules, is_json))
    except LlmaskError:  # of the derivations
        return Warmed(0.0, 0)
    table, room = search.generation.table, search.generation.room
    n_faults = 0
    while search.waiting and search.n_explored < MOST_PLACES and n_faults < MOST_FAULTS and table.bytes_used <= room:
        if (ends is not None and time.monotonic() >= ends) or (masks is not None and len(search.masks) >= masks):
            break
        try:
            search.explore()
        except LlmaskError:  # whoever comes to such a place will be told
            n_faults += 1
        if search.n_explored % SHARED == 0:
            time.sleep(0)  # other threads may have the interpreter
    return Warmed(search.n_explored / search.n_found, len(search.masks))


def check_bound(name: str, bound: Any) -> None:
    """Refuse what is no bound."""
    if bound is not None and (isinstance(bound, bool) or not isinstance(bound, (int, float)) or not bound >= 0):
        raise LlmaskError(f"{name} is a number from 0 on, not {bound!r}", help="leave it out for no bound")
