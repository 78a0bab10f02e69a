"""Masks that are built before they are asked for: what can come next is explored, likely texts first.

A place is a configuration after a token, the bytes that were written since, and the place of a derivation. From each
place the search goes on with every lexeme that may come next; the text since the last token is split as the tokenizer
splits it, all tokens but the last are taken, and masks are built on the way. What is not the first choice (another
property than the next one) is a deviation, another text of a lexeme counts as two. Places with fewer deviations are
explored first; places with equally many, in the order in which they were found. Rows are interned, so a list ends where
its elements lead to the same place again. This is best-first search with bounded discrepancies (W. Harvey, M. Ginsberg,
"Limited discrepancy search", 1995).

In: a grammar and what is likely in it. Out: masks in its tables and its store. Cost: 10 us a mask and 10 us a place;
some milliseconds for a median schema.
"""

from __future__ import annotations

import time
from collections import deque
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import LlmaskError
from ..kernels.mask.configurations import REFUSED
from ..kernels.tables.operations import Operation
from ..matching.ahead import read_beside
from .documents import reading
from .likely import CLOSING, END, OPENING, Likely, closes, tokens_of

if TYPE_CHECKING:
    from ..grammar.rules import Rules
    from ..store.loaded_grammar import LoadedGrammar

MOST_PLACES = 50_000  # without bounds: a second or two
MOST_DEVIATIONS = 2  # hardly any step of a document needs more; most need none
ANOTHER_TEXT = 2  # deviations: mostly it leads to where the first text leads
FREE_NESTING = 2  # calls of a rule inside of each other; more are deviations
MOST_FAULTS = 20  # places where a limit is met, which may take as long as a limit lets them
MOST_SPLITS = 5000  # texts whose tokens are remembered, a megabyte
SHARED = 100  # places, two milliseconds; letting others in takes 0.07
DOCUMENTS = "documents"
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


# Configuration after a token, bytes since, place of the derivation, how many brackets are open (-1: in one line). A
# plain tuple, because the garbage collector does not go through tuples of numbers and bytes.
Place = tuple[int, bytes, int, int]


class _Search:
    """One exploration."""

    def __init__(self, grammar: LoadedGrammar, likely: Likely) -> None:
        self.likely = likely
        self.tokenizer = grammar.tokenizer
        self.generation = grammar.generation
        if self.generation.table.bytes_used > self.generation.room:
            self.generation = grammar.generation_after(self.generation)
        self.masks: set[int] = set()  # configurations whose masks are built
        self.n_explored = 0
        self.waiting: list[deque[Place]] = [deque() for _ in range(MOST_DEVIATIONS + 1)]  # by deviations
        self._seen: set[Place] = set()
        self._splits = grammar.store.nodes.remembered((__name__, "splits"))
        self._take = cache(self._find_after)
        self.waiting[0].append((self.generation.start, b"", likely.start, -1))
        if likely.texts.is_json:
            self.waiting[LINES].append((self.generation.start, b"", likely.start, 0))

    def explore(self) -> None:
        """Explore the likeliest place.

        Raises
        ------
        LlmaskError : a limit was reached.
        """
        n_deviations = 0
        while not self.waiting[n_deviations]:
            n_deviations += 1
        start, text, place, depth = self.waiting[n_deviations].popleft()
        self.n_explored += 1
        split = self._split(text)
        if split is None:
            return
        ids, tail = split
        here = after = start
        for token in ids:
            here, after = after, self._take(after, token)
            if after == REFUSED:
                return
        reached = after, tail, place, depth
        if reached in self._seen:
            return
        self._seen.add(reached)
        nesting = max(FREE_NESTING, self.likely.nesting(place))
        for number, option in enumerate(self.likely.options(place)):
            if option is END:
                self._end(here, tail)
                continue
            more = n_deviations + (number > 0 and not closes(option)) + (self.likely.nesting(option.place) > nesting)
            others = more + ANOTHER_TEXT
            for word in option.texts:
                if more > MOST_DEVIATIONS:
                    break
                between = self.likely.texts.between(tail, word, None if depth < 0 else depth)
                inner = depth if depth < 0 else depth + (word in OPENING) - (word in CLOSING)
                self.waiting[more].append((here, tail + between + word, option.place, inner))
                more = others

    def _end(self, here: int, tail: bytes) -> None:
        ids, _ = self._split(tail) or ((), b"")
        for token in ids:
            here = self._take(here, token)
            if here == REFUSED:
                return
        if here not in self.masks:
            self.generation.run(Operation.BUILD_MASK, here)
            self.masks.add(here)

    def _find_after(self, here: int, token: int) -> int:
        """The configuration after a token; the mask before it is built."""
        reached = self.generation.run(Operation.ACCEPT, here, token, c=1)
        self.masks.add(here)
        return reached

    def _split(self, text: bytes) -> tuple[tuple[int, ...], bytes] | None:
        """The tokens of a text in the middle of a document, and the bytes of the last; None: tokens do not spell it."""
        known: tuple[tuple[int, ...], bytes] | None = self._splits.get(text)
        if known is None and ((ids := tokens_of(self.tokenizer, text)) or not text):
            if len(self._splits) >= MOST_SPLITS:
                self._splits.clear()
            last = self.tokenizer._parts.vocabulary.tokens.get(ids[-1]) if ids else b""
            known = self._splits[text] = tuple(ids), last or b""
        return known


def warmed(
    grammar: LoadedGrammar, rules: Rules, is_json: bool, seconds: float | str | None, masks: int | None
) -> Warmed:
    """See `CompiledGrammar.warm`."""
    check_time("seconds", seconds)
    check_bound("masks", masks)
    if grammar.limited_rules:  # max_tokens counts tokens, and texts are bytes
        return Warmed(0.0, 0)
    if isinstance(seconds, str):
        n_read = sum(reading(grammar, rules, is_json))
        return Warmed(float(n_read > 0), n_read)
    ends = None if seconds is None else time.monotonic() + seconds
    try:
        search = _Search(grammar, Likely(grammar.store, rules, is_json))
    except LlmaskError:  # of the derivations
        return Warmed(0.0, 0)
    table, room = search.generation.table, search.generation.room
    n_faults = 0
    while (
        any(search.waiting) and search.n_explored < MOST_PLACES and n_faults < MOST_FAULTS and table.bytes_used <= room
    ):
        if (ends is not None and time.monotonic() >= ends) or (masks is not None and len(search.masks) >= masks):
            break
        try:
            search.explore()
        except LlmaskError:  # whoever comes to such a place will be told
            n_faults += 1
        if search.n_explored % SHARED == 0:
            time.sleep(0)  # other threads may have the interpreter
    n_found = search.n_explored + sum(map(len, search.waiting))
    return Warmed(search.n_explored / n_found if search.masks else 0.0, len(search.masks))


def warm_new(grammar: LoadedGrammar, rules: Rules, is_json: bool, seconds: float | str) -> None:
    """As `warmed` for a grammar that is about to be handed over: documents are read by a helping thread."""
    if not isinstance(seconds, str):
        warmed(grammar, rules, is_json, seconds, None)
    elif not grammar.limited_rules:
        read_beside(reading(grammar, rules, is_json))


def check_time(name: str, seconds: Any) -> None:
    """Refuse what says neither how long to warm nor that documents are to be read."""
    if not isinstance(seconds, str) or seconds != DOCUMENTS:
        check_bound(name, seconds, f'leave it out for no bound, or give "{DOCUMENTS}"')


def check_bound(name: str, bound: Any, help: str = "leave it out for no bound") -> None:
    """Refuse what is no bound."""
    if bound is not None and (isinstance(bound, bool) or not isinstance(bound, (int, float)) or not bound >= 0):
        raise LlmaskError(f"{name} is a number from 0 on, not {bound!r}", help=help)
