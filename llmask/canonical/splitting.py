"""Where words may end in a text that is being read: an automaton over characters for a tokenizer's splitter.

Its rows are sets of guesses (encoders/guesses.py) with a state of the table of names (names.py). How tokens are read
with it says kernels/canonical/split.py. A row is never without a text that goes on from it.

In: an encoder, names. Out: arrays. Cost: 50 ms, 19 to 45 rows for known patterns; names add some hundreds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..encoders.categories import two_level
from ..encoders.guesses import guess_graph
from ..errors import LimitExceeded, VocabularyError
from ..kernels.canonical.split import BREAKS, DEAD, FITS, INSIDE, N_MARKS, START
from .names import COMPLETE, name_table

if TYPE_CHECKING:
    from ..encoders.pretokenize import Splitter

MOST_ROWS = 5_000
MOST_CLASSES = 250
N_ASCII = 128
NO_NAMES = np.zeros((1, 1), np.int32)

State = tuple[frozenset[int], int]  # guesses, a state of the table of names


class SplitAutomaton:
    """Rows of guesses.

    Attributes
    ----------
    class_of_code_point : uint8[1114112], with `class_index` and `class_blocks` as pretokenize_scan.py reads them.
    n_classes : how many there are.
    rows : int32[n_rows, n_classes, N_MARKS], the row after a character with a mark; DEAD, START.
    may_end : bool[n_rows], whether the text may end.
    ends : bool[n_rows, N_ASCII], the characters that end the word and leave all texts after them possible.

    Raises
    ------
    VocabularyError : names that do not keep apart.
    LimitExceeded : there are too many rows.
    """

    def __init__(self, splitter: Splitter, names: list[str]) -> None:
        automaton = splitter.automaton
        assert automaton is not None
        self._find_classes(splitter, "".join(sorted(set("".join(names)))))
        self._table = self._table_of(names)
        graph = guess_graph(automaton)
        self._n_guesses = len(graph.edges)  # then the same again, where the word must not end yet
        going_on = [[[edge for edge in line if not edge[0]] for line in lines] for lines in graph.edges]
        self._edges = graph.edges + going_on
        self._may_end = graph.may_end + [False] * self._n_guesses
        self._states: list[State] = [(frozenset(), 0), (frozenset({0}), 0)]
        self._numbers = {state: number for number, state in enumerate(self._states)}
        self._lines: list[list[list[int]]] = []
        self.find_rows()

    def row_going_on(self, row: int, part: int) -> int:
        """The row of what a row guesses, but the guesses of `part`, which it has, too, are that the word goes on.

        DEAD where nothing is left.
        """
        guesses, place = self._states[row]
        going_on = self._states[part][0]
        kept = frozenset(guess + self._n_guesses for guess in going_on if any(self._edges[guess + self._n_guesses]))
        return self._row_of((guesses - going_on | kept, place))

    def _row_of(self, state: State) -> int:
        if not state[0]:
            return DEAD
        number = self._numbers.setdefault(state, len(self._states))
        if number == len(self._states):
            self._states.append(state)
            if len(self._states) > MOST_ROWS:
                raise LimitExceeded(
                    f"canonical masks need more than {MOST_ROWS} rows for the split patterns and user-defined tokens",
                    help="compile without canonical=True",
                )
        return number

    def find_rows(self) -> None:
        """Make the lines of the rows that have none."""
        while len(self._lines) < len(self._states):
            guesses, place = self._states[len(self._lines)]
            lines = []
            for number, plain in enumerate(self._plain_class):
                place_after = int(self._table[place, number]) if len(self._table) > 1 else 0
                ending = frozenset(to for guess in guesses for ends, to in self._edges[guess][plain] if ends)
                going_on = frozenset(to for guess in guesses for ends, to in self._edges[guess][plain] if not ends)
                line = [DEAD] * N_MARKS
                for mark, found in ((FITS, ending | going_on), (BREAKS, ending), (INSIDE, going_on)):
                    if place_after != COMPLETE:
                        line[mark] = self._row_of((found, place_after))
                lines.append(line)
            self._lines.append(lines)
        self.rows = np.array(self._lines, np.int32)
        self.may_end = np.array([any(self._may_end[guess] for guess in guesses) for guesses, _ in self._states])
        self.ends = self._find_ends()

    def _find_classes(self, splitter: Splitter, characters: str) -> None:
        """Classes of characters: the splitter's, and one for each character of a name."""
        assert splitter.automaton is not None
        self._plain_class = list(range(splitter.n_classes))
        self.class_of_code_point = splitter.class_of_code_point
        self.class_index, self.class_blocks = splitter.automaton.class_index, splitter.automaton.class_blocks
        if characters:
            if splitter.n_classes + len(characters) > MOST_CLASSES:
                raise VocabularyError(
                    f"canonical masks are not built for this vocabulary: its user-defined tokens have "
                    f"{len(characters)} different characters",
                    help="compile without canonical=True",
                )
            classes = self.class_of_code_point.copy()
            for character in characters:
                self._plain_class.append(int(classes[ord(character)]))
                classes[ord(character)] = len(self._plain_class) - 1
            self.class_of_code_point = classes
            self.class_index, self.class_blocks = two_level(classes)
        self.n_classes = len(self._plain_class)

    def _table_of(self, names: list[str]) -> npt.NDArray[np.int32]:
        classes = self.class_of_code_point
        table = name_table([[int(classes[ord(c)]) for c in name] for name in names], self.n_classes)
        if table is None:
            raise VocabularyError(
                "canonical masks are not built for this vocabulary: the names of its user-defined tokens overlap",
                help="compile without canonical=True",
            )
        return table if names else NO_NAMES

    def _find_ends(self) -> npt.NDArray[np.bool_]:
        states = self._states
        ends = np.zeros((len(states), N_ASCII), bool)
        for number in np.unique(self.class_of_code_point[:N_ASCII]).tolist():
            fresh = states[self.rows[START, number, FITS]]
            for row in range(START, len(states)):
                guesses, place = states[self.rows[row, number, BREAKS]]
                # a row without fresh guesses is dead: an empty set of them is a part of every set
                if guesses and guesses >= fresh[0] and place == fresh[1]:
                    ends[row, self.class_of_code_point[:N_ASCII] == number] = True
        return ends
