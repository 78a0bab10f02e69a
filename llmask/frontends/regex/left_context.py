r"""What a pattern must remember of the text on the left of a position.

`^`, `\b` and lookbehind ask whether the text so far belongs to some language ("is empty", "ends in a word character",
"ends in foo"). Derivatives of these languages by whole characters are finitely many, so the text so far matters only
through a *state*, the tuple of the derivatives. A lookbehind that looks ahead in turn, (?<=\bfoo), also says
something about the rest of the text; its language is a formula whose variable stands for the position asked about
(`Equations.rests`). Patterns have one or two languages and two to four states; a pattern
that never looks left has one state.
Source: J. A. Brzozowski, "Derivatives of Regular Expressions", JACM 11 (1964), section 5.

    \bfoo    state 0: nothing or a non-word character on the left    state 1: a word character on the left

In: the languages, as nodes or formulas over whole characters. Out: states and the words between them. Cost: states x
classes of characters x languages.
"""

from __future__ import annotations

from llmask.frontends.regex.alphabet import Alphabet
from llmask.frontends.regex.budget import Kind
from llmask.frontends.regex.equations import Equations, Tail
from llmask.regex.code_points import NO_TEXT, TEXT, CodePointSet

STATES = Kind(400, "the pattern's lookbehinds need more than {} states", "Shorten their repetitions.")


class LeftContext:
    """States of the text so far; the state of the empty text is 0.

    Attributes
    ----------
    alphabet : classes of characters that no language tells apart.
    states : derivatives of each language.
    next_state : the state after a character of each class.
    forgets : whether the last character alone decides the state.
    """

    def __init__(self, alphabet: Alphabet, languages: list[Tail], equations: Equations) -> None:
        self.alphabet = alphabet
        self.nodes = alphabet.nodes
        self.equations = equations
        self.states: list[tuple[Tail, ...]] = [tuple(languages)]
        self.next_state: list[list[int]] = []
        numbers = {self.states[0]: 0}
        for state in self.states:
            row = []
            for character in range(len(alphabet.classes)):
                after = tuple(equations.derivative(language, alphabet, character) for language in state)
                if after not in numbers:
                    numbers[after] = len(self.states)
                    self.states.append(after)
                row.append(numbers[after])
            self.next_state.append(row)
            equations.budget.spend(STATES, 1)
        self.forgets = all(row == self.next_state[0] for row in self.next_state)

    def rests(self, language: int, state: int) -> int:
        """Node of the rests of the text with which the text so far belongs to a language, by number."""
        return self.equations.rests(self.states[state][language])

    def split(self, members: CodePointSet, state: int) -> dict[int, CodePointSet]:
        """Part characters by the state they lead to."""
        classes = self.alphabet.classes
        found: dict[int, CodePointSet] = {}
        for number, next_state in enumerate(self.next_state[state]):
            part = members.intersect(classes[number]) if len(classes) > 1 else members
            if part.bounds:
                found[next_state] = part.union(found[next_state]) if next_state in found else part
        return found

    def words(self, state: int, goals: frozenset[int]) -> int:
        """Node of the texts that lead from `state` to one of `goals`."""
        if not self.forgets:
            return self.alphabet.automaton(self.next_state, [s in goals for s in range(len(self.states))], state)
        char = self.alphabet.spelling.char
        last = NO_TEXT.union(*(members for goal, members in self.split(TEXT, state).items() if goal in goals))
        ends = char(self.nodes, last)
        if last == TEXT:
            return self.nodes.repeat(ends, int(state not in goals), None)
        longer = self.nodes.concat([self.nodes.repeat(char(self.nodes, TEXT), 0, None), ends])
        return self.nodes.union([self.nodes.EPSILON, longer]) if state in goals else longer
