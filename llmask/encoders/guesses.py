r"""Ways to split a text that is still being read.

A splitter decides late where a word ends: a match is noted one character after its end, `\s+(?!\S)` falls back to a
match that it had noted earlier, and of several patterns each cuts the words of the one before. So a reader that may
not look ahead *guesses*: at every character it may take the word to end there or not, and a guess that turns out
wrong is dropped. One guess comes true in the end. For each pattern a guess keeps

    is_match   the present word is a match; otherwise the stretch before the next match
    row        of the pattern's automaton (pattern_automaton.py), in a match
    watched    rows of matches that must fail without being noted again: a word that was taken to end could otherwise
               have been longer, and a stretch could have been a match

    "x  1"     "x", " ", " ", "1" are words by `\s+(?!\S)|\s+|\S`, and both blanks are one in "x   ". After "x"
               and two blanks the guesses are: one word of blanks; and a word that has ended with the first blank,
               while the match of two is watched: a further blank would note it.

A word that a pattern is given ends where a word of the pattern before ends, as a text does.

Guesses without a text that makes them true are left out, and so are all but one of those that nothing can tell apart.

`later_words` shows all ways in which the words of a text may end once more has come: some text comes after each guess
in which the guess is right. Two such texts for each guess are enough to see what all of them have in common: one where
a word ends with the text, and one where it goes on.

In: an automaton of patterns; a text. Out: a graph of guesses; what may come after the text. Cost: 10 to 50 ms once a
splitter; 0.5 us a character and guess.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np

from llmask.encoders.categories import N_CODE_POINTS
from llmask.encoders.pattern_automaton import DEAD, START, Automaton
from llmask.encoders.pretokenize import Splitter
from llmask.errors import LimitExceeded

MOST_GUESSES = 5_000  # the patterns of known models make 70 to 300
MOST_EDGES = 1_000_000

Rows = list[list[int]]
Edge = tuple[bool, int]  # whether a word ends before the character; the guess after it
N_ASCII = 128


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
        """What is left to be watched after a character, or None: a match was noted."""
        if any(self._ended[row][number] for row in watched):
            return None
        return frozenset(self._next[row][number] for row in watched) - {DEAD}

    def may_end(self, level: Level) -> bool:
        """Whether the text may end, or the word that was given."""
        if level.is_match and not self._ended[level.row][self._end]:
            return False
        return self._watch(level.watched, self._end) is not None

    def step(self, level: Level, number: int) -> Iterator[tuple[bool, Level]]:
        """Whether the word ends before a character of a class, and what is known after it."""
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
    """Whether a word ends before a character of a class, and the guess after it: all that may be."""
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


class LaterWords:
    """Ways in which words may end; `spelled` are the bytes that are tokens.

    Raises
    ------
    LimitExceeded : there are too many ways.
    """

    def __init__(self, splitter: Splitter, spelled: bytes) -> None:
        assert splitter.automaton is not None
        self._splitter = splitter
        self._graph = guess_graph(splitter.automaton)
        self._classes = splitter.class_of_code_point
        self._characters: list[list[bytes]] = [[] for _ in range(splitter.n_classes)]  # of each class some, or none
        for text in (*map(chr, range(N_ASCII)), *map(chr, first_characters(splitter, N_ASCII, N_CODE_POINTS))):
            if not text.encode().translate(None, spelled):
                self._characters[self._classes[ord(text)]].append(text.encode())
        self._steps = self._find_steps()

    def _find_steps(self) -> list[tuple[int, bytes]]:
        """Of each guess the first character of a shortest text that makes it right, with the guess after it.

        A guess itself, and no character, where the text may end; where no text is spelled -1.
        """
        steps = [(guess, b"") if may_end else (-1, b"") for guess, may_end in enumerate(self._graph.may_end)]
        is_found = True
        while is_found:
            is_found = False
            known = [target >= 0 for target, _ in steps]
            for guess, lines in enumerate(self._graph.edges):
                for number, line in enumerate(lines if not known[guess] else ()):
                    targets = [to for _, to in line if known[to]]
                    if targets and self._characters[number]:
                        steps[guess] = targets[0], self._characters[number][0]
                        is_found = True
                        break
        return steps

    def _text_of(self, guess: int) -> bytes:
        text = b""
        while self._steps[guess][0] != guess:
            guess, character = self._steps[guess]
            text += character
        return text

    def _after(self, guesses: set[int], text: str) -> set[int]:
        for character in text:
            number = self._classes[ord(character)]
            guesses = {to for guess in guesses for _, to in self._graph.edges[guess][number]}
        return guesses

    def rests(self, word: bytes, cut_off: bytes, first_bytes: np.ndarray) -> list[bytes]:
        """What may come after a text, so that each way in which its words may end is that of some.

        Parameters
        ----------
        word : UTF-8 from a place on where a word begins.
        cut_off : its last bytes, if they begin a character that is not complete.
        first_bytes : bool[256], with which bytes the text may go on.
        """
        try:
            guesses = self._after({0}, word[: len(word) - len(cut_off)].decode())
        except UnicodeDecodeError:
            return []  # stray bytes: nobody writes such a text
        characters = self._characters
        if cut_off:
            characters = [[] for _ in characters]
            for code_point in first_characters(self._splitter, *code_points_of(cut_off)):
                characters[self._classes[code_point]].append(chr(code_point).encode())
        found = []
        for guess in guesses:
            left = {True, False}  # whether a word ends with the text
            for number, line in enumerate(self._graph.edges[guess]):
                completing = (character[len(cut_off) :] for character in characters[number])
                rest = next((rest for rest in completing if first_bytes[rest[0]]), b"")
                for is_end, to in line if rest else ():
                    if self._steps[to][0] >= 0 and (is_end in left or cut_off):
                        found.append(rest + self._text_of(to))
                        left.discard(is_end)
        return found


def code_points_of(cut_off: bytes) -> tuple[int, int]:
    """The code points of the characters that begin with some bytes, as a range."""
    n_bytes = 2 + (cut_off[0] >= 0xE0) + (cut_off[0] >= 0xF0)
    known = cut_off[0] & (0x7F >> n_bytes)
    for byte in cut_off[1:]:
        known = known << 6 | byte & 0x3F
    shift = 6 * (n_bytes - len(cut_off))
    low = max(known << shift, (0x80, 0x800, 0x10000)[n_bytes - 2])
    return low, min((known + 1) << shift, N_CODE_POINTS)


def first_characters(splitter: Splitter, low: int, high: int) -> list[int]:
    """The first code point of each class in a range, without surrogates."""
    firsts = np.unique(splitter.class_of_code_point[low:high], return_index=True)[1] + low
    return [code_point for code_point in firsts.tolist() if not 0xD800 <= code_point < 0xE000]


@cache
def later_words(splitter: Splitter, spelled: bytes) -> LaterWords | None:
    """The ways of a splitter, found once; None: there are too many."""
    try:
        return LaterWords(splitter, spelled)
    except LimitExceeded:
        return None
