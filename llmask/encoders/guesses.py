r"""Ways to split a text that is still being read.

A splitter decides late where a word ends: a match is noted one character after its end, `\s+(?!\S)` falls back to a
match that it had noted earlier, and of several patterns each cuts the words of the one before. So a reader that may
not look ahead *guesses*: at every character it may take the word to end there or not, and a guess that turns out
wrong is dropped. One guess comes true in the end. For each pattern a guess keeps

    is_match   the present word is a match; otherwise the stretch before the next match
    row        of the pattern's automaton (pattern_automaton.py), in a match
    watched    rows of matches that must fail without being noted again: a word that was taken to end could otherwise
               have been longer, and a stretch could have been a match

    "x  1"     "x", " ", " ", "1" are words by `\s+(?!\S)|\s+|\S`, and both blanks are one in "x   ". Behind "x"
               and two blanks the guesses are: one word of blanks; and a word that has ended with the first blank,
               while the match of two is watched: a further blank would note it.

A word that a pattern is given ends where a word of the pattern before ends, as a text does.

Guesses without a text that makes them true are left out, and so are all but one of those that nothing can tell apart.

In: an automaton of patterns. Out: a graph of guesses. Cost: 10 to 50 ms.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..errors import LimitExceeded
from .pattern_automaton import DEAD, START, Automaton

MOST_GUESSES = 5_000  # the patterns of known models make 70 to 300
MOST_EDGES = 1_000_000

Rows = list[list[int]]
Edge = tuple[bool, int]  # whether a word ends before the character; the guess behind it


class Level(NamedTuple):
    """A guess about one pattern."""

    is_match: bool
    row: int
    watched: frozenset[int]


Guess = tuple[Level, ...]
BEGINNING: Guess = ()  # before any text


class GuessGraph(NamedTuple):
    """Guesses by number; the first is that before any text.

    edges      for each guess and class of characters where it may lead
    may_end    of each guess, whether the text may end
    """

    edges: list[list[list[Edge]]]
    may_end: list[bool]


class _Pattern:
    """How guesses about one pattern go on."""

    def __init__(self, transitions: Rows, ended: Rows) -> None:
        self._next = transitions
        self._ended = ended
        self._end = len(transitions[0]) - 1  # class of the end of a text

    def begin(self, number: int) -> Iterator[Level]:
        """Words that begin with a character of a class."""
        row = self._next[START][number]
        if row != DEAD:
            yield Level(True, row, frozenset())
        yield Level(False, DEAD, frozenset({row} - {DEAD}))

    def _watch(self, watched: frozenset[int], number: int) -> frozenset[int] | None:
        """What is left to be watched behind a character, or None: a match was noted."""
        if any(self._ended[row][number] for row in watched):
            return None
        return frozenset(self._next[row][number] for row in watched) - {DEAD}

    def may_end(self, level: Level) -> bool:
        """Whether the text may end, or the word that was given."""
        if level.is_match and not self._ended[level.row][self._end]:
            return False
        return self._watch(level.watched, self._end) is not None

    def step(self, level: Level, number: int) -> Iterator[tuple[bool, Level]]:
        """Whether the word ends before a character of a class, and what is known behind it."""
        watched = self._watch(level.watched, number)
        if watched is None:
            return
        fresh = self._next[START][number]
        if not level.is_match:
            yield False, Level(False, DEAD, watched | {fresh} - {DEAD})
            if fresh != DEAD:
                yield True, Level(True, fresh, watched)
            return
        following = self._next[level.row][number]
        if following != DEAD:
            yield False, Level(True, following, watched)
        if self._ended[level.row][number]:
            for begun in self.begin(number):
                yield True, begun._replace(watched=begun.watched | watched | {following} - {DEAD})


def guess_graph(automaton: Automaton) -> GuessGraph:
    """The guesses of some patterns.

    Raises
    ------
    LimitExceeded : there are more than MOST_GUESSES, or they lead to each other in more than MOST_EDGES ways.
    """
    width = automaton.n_classes + 1
    patterns = []
    for table in automaton.transitions:
        entries = table.reshape(-1, width)
        patterns.append(_Pattern(((entries >> 1) // width).tolist(), (entries & 1).tolist()))
    numbers: dict[Guess, int] = {BEGINNING: 0}
    guesses = [BEGINNING]
    edges: list[list[list[Edge]]] = []
    n_edges = 0
    while len(edges) < len(guesses):
        lines = []
        for number in range(automaton.n_classes):
            line = []
            for is_end, reached in _step(patterns, guesses[len(edges)], number):
                if reached not in numbers:
                    numbers[reached] = len(guesses)
                    guesses.append(reached)
                line.append((is_end, numbers[reached]))
            lines.append(line)
        edges.append(lines)
        n_edges += sum(map(len, lines))
        _check(len(guesses), n_edges)
    may_end = [
        all(pattern.may_end(level) for pattern, level in zip(patterns, guess, strict=False)) for guess in guesses
    ]
    return _merged(_possible(GuessGraph(edges, may_end)))


def _check(n_guesses: int, n_edges: int) -> None:
    if n_guesses > MOST_GUESSES or n_edges > MOST_EDGES:
        raise LimitExceeded(
            f"the split patterns of this vocabulary leave more than {MOST_GUESSES} ways open",
            help="compile without canonical=True",
        )


def _step(patterns: list[_Pattern], guess: Guess, number: int) -> list[tuple[bool, Guess]]:
    """Whether a word ends before a character of a class, and the guess behind it: all that may be."""
    found: list[tuple[bool, Guess]] = [(guess == BEGINNING, ())]
    for place, pattern in enumerate(patterns):
        longer: list[tuple[bool, Guess]] = []
        for is_end, levels in found:
            if not is_end:
                steps = list(pattern.step(guess[place], number))
            elif guess == BEGINNING or pattern.may_end(guess[place]):
                steps = [(True, level) for level in pattern.begin(number)]
            else:
                steps = []
            longer += [(ends, (*levels, level)) for ends, level in steps]
            _check(len(longer), 0)
        found = longer
    return found


def _possible(graph: GuessGraph) -> GuessGraph:
    """Without the guesses that no text makes true."""
    sources: list[set[int]] = [set() for _ in graph.edges]
    for source, lines in enumerate(graph.edges):
        for line in lines:
            for _, target in line:
                sources[target].add(source)
    waiting = [number for number, may_end in enumerate(graph.may_end) if may_end]
    kept = set(waiting)
    while waiting:
        fresh = sources[waiting.pop()] - kept
        kept |= fresh
        waiting += fresh
    return _renumbered(graph, {number: place for place, number in enumerate(sorted(kept))})


def _merged(graph: GuessGraph) -> GuessGraph:
    """With one guess in place of those that no text tells apart."""
    blocks: list[int] = [0] * len(graph.edges)
    n_blocks = 0
    while True:
        numbers: dict[object, int] = {}
        blocks = [
            numbers.setdefault(
                (may_end, blocks[guess], *(frozenset((ends, blocks[to]) for ends, to in line) for line in lines)),
                len(numbers),
            )
            for guess, (lines, may_end) in enumerate(zip(graph.edges, graph.may_end, strict=True))
        ]
        if len(numbers) == n_blocks:
            return _renumbered(graph, dict(enumerate(blocks)))
        n_blocks = len(numbers)


def _renumbered(graph: GuessGraph, numbers: dict[int, int]) -> GuessGraph:
    """With other numbers; guesses without one are dropped, and of those with the same the first is kept."""
    edges: dict[int, list[list[Edge]]] = {}
    may_end: dict[int, bool] = {}
    for guess, number in numbers.items():
        if number not in edges:
            lines = graph.edges[guess]
            edges[number] = [sorted({(ends, numbers[to]) for ends, to in line if to in numbers}) for line in lines]
            may_end[number] = graph.may_end[guess]
    places = range(len(edges))
    return GuessGraph([edges[place] for place in places], [may_end[place] for place in places])
