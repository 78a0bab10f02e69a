r"""What the named groups of a pattern of Python's `re` match, found when it is asked for.

    (?P<day>\d+)-(?P<month>\d+)      on 24-12: day is 24, month is 12

The pattern is parsed once more, its groups kept, and tried on the text in the order in which `re` tries it; so of
several ways to match a text the same one is found. A place of the pattern that failed at a place of the text fails
there again, since what groups have matched is never asked for: it is not tried twice, which bounds the steps where
`re` may take exponentially many. Masks know nothing of groups, and patterns without them cost nothing.

Source: R. Cox, "Regular Expression Matching: the Virtual Machine Approach" (2009), section "Backtracking"; empty rounds
of repetitions end as in CPython's Modules/_sre/sre_lib.h, SRE_OP_MAX_UNTIL and SRE_OP_MIN_UNTIL.

In: a pattern, a text. Out: spans by name. Cost: some microseconds for each place of the pattern and the text.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any, NamedTuple

from llmask.errors import LimitExceeded
from llmask.frontends.regex.python_syntax import PythonParser
from llmask.frontends.regex.shapes import (
    Alternatives,
    Atomic,
    Boundary,
    Chars,
    Edge,
    Lazy,
    Look,
    Named,
    Repeated,
    Sequence,
    width,
)

MOST_STEPS = 2_000_000
CHAR, SPLIT, JUMP, SAVE, HOLDS, LOOK, ATOMIC, ENTER, LOOP, MATCH = range(10)

Groups = list[tuple[str, int, int]]  # names and spans
Saved = Any  # (), or (slot, place, what was saved before)
Rounds = tuple["tuple[int, int] | None", ...]  # of each loop: rounds so far, where the last one began


class Way(NamedTuple):
    """A place of the pattern and one of the text, and how one got there."""

    at: int
    place: int
    rounds: Rounds
    saved: Saved


def named_groups(pattern: str, is_search: bool, text: bytes) -> Groups:
    """Names and spans of the groups that took part in the match, by their ends; none where the text does not match.

    Raises
    ------
    LimitExceeded : it takes too many steps, or the pattern nests too deep.
    """
    try:
        characters = text.decode()
    except UnicodeDecodeError:
        return []
    program = _Program(_GroupParser(pattern).parse())
    saved = _Run(program, characters).match(is_search)
    if saved is None:
        return []
    bytes_before = [0, *accumulate(len(character.encode()) for character in characters)]
    places: dict[int, int] = {}
    while saved:
        slot, place, saved = saved
        places.setdefault(slot, bytes_before[place])
    found = [(name, places[2 * n], places[2 * n + 1]) for n, name in enumerate(program.names) if 2 * n + 1 in places]
    return sorted(found, key=lambda group: (group[2], -group[1]))


class _GroupParser(PythonParser):
    """Keeps named groups, and atomic ones however simple they are."""

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)
        self.name_of: dict[int, str] = {}

    def _group_name(self, start: int, name_start: int) -> None:
        super()._group_name(start, name_start)
        self.name_of[start] = self.data[name_start : self.index - 1]

    def _group(self) -> Any:
        start = self.index
        inner = super()._group()
        return Named(self.name_of[start], inner) if start in self.name_of else inner

    def _atomic(self, inner: Any, start: int) -> Any:
        return Atomic(inner)


class _Program:
    """A pattern as instructions (kind, what, where to go on, where else)."""

    def __init__(self, tree: Any) -> None:
        self.names: list[str] = []
        self.n_loops = 0
        self.code: list[tuple[int, Any, int, int]] = []
        self.start = self._part(tree)

    def _part(self, tree: Any) -> int:
        """Where a part that is tried by itself begins."""
        start = len(self.code)
        self._write(tree)
        self._add(MATCH)
        return start

    def _add(self, kind: int, what: Any = None, on: int = 0, other: int = 0) -> int:
        self.code.append((kind, what, on, other))
        return len(self.code) - 1

    def _write(self, tree: Any) -> None:
        if isinstance(tree, Chars):
            self._add(CHAR, tree.members)
        elif isinstance(tree, (Edge, Boundary)):
            self._add(HOLDS, tree)
        elif isinstance(tree, Sequence):
            for part in tree.parts:
                self._write(part)
        elif isinstance(tree, Alternatives):
            self._write_options(tree.options)
        elif isinstance(tree, Named):
            slot = 2 * len(self.names)
            self.names.append(tree.name)
            self._add(SAVE, slot)
            self._write(tree.inner)
            self._add(SAVE, slot + 1)
        elif isinstance(tree, (Look, Atomic)):
            jump = self._add(JUMP)
            begin = self._part(tree.inner)
            self.code[jump] = (JUMP, None, len(self.code), 0)
            widths = width(tree.inner) if isinstance(tree, Look) and tree.is_lookbehind else None
            self._add(ATOMIC if isinstance(tree, Atomic) else LOOK, (tree, widths), begin)
        else:
            assert isinstance(tree, Repeated)
            self._write_loop(tree)

    def _write_options(self, options: tuple[Any, ...]) -> None:
        jumps = []
        for option in options[:-1]:
            split = self._add(SPLIT)
            self._write(option)
            jumps.append(self._add(JUMP))
            self.code[split] = (SPLIT, None, split + 1, len(self.code))
        if options:
            self._write(options[-1])
        for jump in jumps:
            self.code[jump] = (JUMP, None, len(self.code), 0)

    def _write_loop(self, tree: Repeated) -> None:
        number = self.n_loops
        self.n_loops += 1
        self._add(ENTER, number)
        loop = self._add(LOOP)
        self._write(tree.base)
        self._add(JUMP, None, loop)
        bounds = number, tree.min, tree.max, isinstance(tree, Lazy)
        self.code[loop] = (LOOP, bounds, loop + 1, len(self.code))


class _Run:
    """One text, and what was tried on it."""

    def __init__(self, program: _Program, text: str) -> None:
        self.program = program
        self.text = text
        self.n_steps = 0

    def match(self, is_search: bool) -> Saved:
        """What was saved on the first way to match, or None; () where nothing was."""
        failed: set[tuple[int, int, Rounds]] = set()
        rounds = (None,) * self.program.n_loops
        for begin in range(len(self.text) + 1 if is_search else 1):
            way = Way(self.program.start, begin, rounds, ())
            found = self._first(way, None if is_search else len(self.text), failed)
            if found is not None:
                return found.saved
        return None

    def _first(self, begin: Way, end: int | None, failed: set[tuple[int, int, Rounds]]) -> Way | None:
        """The first way to a match from here, at a place of the text if one is given."""
        ways = [begin]
        while ways:
            way = ways.pop()
            key = way[:3]
            if key in failed:
                continue
            failed.add(key)
            self.n_steps += 1
            if self.n_steps > MOST_STEPS:
                raise LimitExceeded(
                    f"what the groups of the pattern match takes more than {MOST_STEPS} steps to find",
                    help="use fewer repetitions inside each other",
                )
            kind, what, on, other = self.program.code[way.at]
            if kind == MATCH:
                if end is None or way.place == end:
                    return way
            elif kind == CHAR:
                if way.place < len(self.text) and ord(self.text[way.place]) in what:
                    ways.append(way._replace(at=way.at + 1, place=way.place + 1))
            elif kind == JUMP:
                ways.append(way._replace(at=on))
            elif kind == SPLIT:
                ways += [way._replace(at=other), way._replace(at=on)]
            elif kind == SAVE:
                ways.append(way._replace(at=way.at + 1, saved=(what, way.place, way.saved)))
            elif kind == HOLDS:
                if self._holds(what, way.place):
                    ways.append(way._replace(at=way.at + 1))
            elif kind == ENTER:
                ways.append(way._replace(at=way.at + 1, rounds=_with(way.rounds, what, (0, -1))))
            elif kind == LOOP:
                ways += self._round(way, what, on, other)
            else:
                tree, widths = what
                found = self._inside(way._replace(at=on), widths)
                if isinstance(tree, Look):
                    if (found is None) == tree.is_negated:
                        saved = way.saved if found is None else found.saved
                        ways.append(way._replace(at=way.at + 1, saved=saved))
                elif found is not None:
                    ways.append(way._replace(at=way.at + 1, place=found.place, saved=found.saved))
        return None

    def _round(self, way: Way, bounds: tuple[int, int, int | None, bool], body: int, following: int) -> list[Way]:
        """The ways on from where a round of a loop may begin, the last one to be tried first."""
        number, low, high, is_lazy = bounds
        n, last = way.rounds[number] or (0, -1)
        after = n + 1 if high is not None or n < low else n  # more than `low` are not counted without need
        if n < low:
            return [way._replace(at=body, rounds=_with(way.rounds, number, (after, last)))]
        out = way._replace(at=following, rounds=_with(way.rounds, number, None))
        if (high is not None and n >= high) or way.place == last:
            return [out]
        again = way._replace(at=body, rounds=_with(way.rounds, number, (after, way.place)))
        return [again, out] if is_lazy else [out, again]

    def _inside(self, way: Way, widths: tuple[int, int] | None) -> Way | None:
        """The first match of a part by itself: from here on, or up to here."""
        if widths is None:
            return self._first(way, None, set())
        low, high = widths
        for begin in range(way.place - low, max(0, way.place - high) - 1, -1):
            found = self._first(way._replace(place=begin), way.place, set())
            if found is not None:
                return found
        return None

    def _holds(self, tree: Edge | Boundary, place: int) -> bool:
        text = self.text
        if isinstance(tree, Boundary):
            if not text:
                return tree.is_negated and tree.on_empty_text
            before = place > 0 and ord(text[place - 1]) in tree.words
            after = place < len(text) and ord(text[place]) in tree.words
            return (before != after) != tree.is_negated
        if not tree.is_end:
            return place == 0 or ord(text[place - 1]) in tree.terminators
        if place == len(text) or ord(text[place]) in tree.terminators:
            return True
        return place == len(text) - 1 and ord(text[place]) in tree.may_follow


def _with(rounds: Rounds, number: int, value: tuple[int, int] | None) -> Rounds:
    return (*rounds[:number], value, *rounds[number + 1 :])
