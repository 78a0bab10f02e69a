r"""Texts that show all ways in which the words of a text may end once more has come.

Where a word ends may be decided late: of `aab|\s+(?!\S)|\s+|.` the blanks of "  a" are one word if "ab" comes next, and
two words otherwise. Each way is a guess (guesses.py), and some text comes after it in which the guess is right. Two
such texts for each guess are enough to see what all of them have in common: one where a word ends with the text, and
one where it goes on.

In: a splitter, a text. Out: what may come behind the text. Cost: 50 ms once a splitter; 0.5 us a character and guess.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ..errors import LimitExceeded
from .categories import N_CODE_POINTS
from .guesses import guess_graph
from .pretokenize import Splitter

N_ASCII = 128


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
        """Of each guess the first character of a shortest text that makes it right, with the guess behind it.

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
        """What may come behind a text, so that each way in which its words may end is that of some.

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
