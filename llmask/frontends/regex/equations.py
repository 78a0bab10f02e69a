r"""Languages defined by equations: loops around anchors and look-arounds.

`(?:(?!ab).)*c` is the smallest X with  X = c | (not(ab ALL) & . X).  A *tail*, what may follow at a place of the
pattern, is a node where it is known, and where it still depends on such an X a formula: a union of intersections of
atoms (node, X), read "node, then X". Unions and intersections of derivatives of atoms are finitely many, so the
equations are solved by making the automaton of all formulas that characters lead to.
Source: J. A. Brzozowski, E. Leiss, "On equations for regular languages, finite automata, and sequential networks",
Theoretical Computer Science 10 (1980).

The same equations give the *left context*, what a pattern must remember of the text on the left of a position. `^`,
`\b` and lookbehind ask whether the text so far belongs to some language ("is empty", "ends in a word character", "ends
in foo"). Derivatives of these languages by whole characters are finitely many, so the text so far matters only through
a *state*, the tuple of the derivatives. A lookbehind that looks ahead in turn, (?<=\bfoo), also says something about
the rest of the text; its language is a formula whose variable means the position asked about (`Equations.rests`).
Patterns have one or two languages and two to four states; a pattern that never looks left has one state. Source: J. A.
Brzozowski, "Derivatives of Regular Expressions", JACM 11 (1964), section 5.

    \bfoo    state 0: nothing or a non-word character on the left    state 1: a word character on the left

Automata of patterns read *classes* of characters. A pattern names a few sets of characters; what it does depends on a
character only through the sets it belongs to. So classes are the parts into which those sets cut all text: `\bfoo` has
seven bytes' worth of letters in its UTF-8 but four classes: "f", "o", other word characters, all others. Only at the
end are classes opened into bytes. Source: M. Veanes, P. de Halleux, N. Tillmann, "Rex: Symbolic Regular Expression
Explorer", ICST 2010 (minterms); for minimal automata E. F. Moore, "Gedanken-experiments on sequential machines", 1956.

How much work one pattern may be is bounded by counters of steps that every part of its compilation spends from.
Patterns that look around can ask for automata without end, each of them small; so the sum is bounded, too, over
lookbehinds inside lookbehinds and whatever else opens a compilation of its own.

In: equations. Out: one automaton node; states and the words between them. Cost: states x classes of characters x atoms,
bounded by STATES and STEPS; derivatives of every class by every byte, once a store and only when an automaton is asked
for: 1 ms for ASCII, 60 ms for `\w` of Unicode.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import product
from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeVar, Union

import numpy as np
import numpy.typing as npt

from llmask.errors import LimitExceeded
from llmask.regex.code_points import NO_TEXT, TEXT, CodePointSet
from llmask.work import spend

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes

STEP_WORK = 2  # units a step, about


class Kind(NamedTuple):
    """A kind of steps.

    most     how many of them a pattern may take
    message  what it needs more of, with the number as {}
    help     how to mend it
    """

    most: int
    message: str
    help: str


class Budget:
    """What one pattern has spent."""

    def __init__(self) -> None:
        self.spent: Counter[Kind] = Counter()

    def spend(self, kind: Kind, n_steps: int) -> None:
        """Count steps.

        Raises
        ------
        LimitExceeded : there are more of the kind than a pattern may take.
        """
        self.spent[kind] += n_steps
        spend(STEP_WORK * n_steps)
        if self.spent[kind] > kind.most:
            raise LimitExceeded(kind.message.format(kind.most), help=kind.help)


DEAD = -1
Accepting = TypeVar("Accepting", bound=np.generic)
MAX_CLASSES = 250
ROWS = Kind(  # 10 us and 300 bytes each
    60_000,
    "the pattern's look-arounds need automata of more than {} states",
    "Use ranges of ASCII instead of Unicode classes beside them, or shorten the repetitions.",
)
DERIVATIVES = Kind(  # by a byte, 2-4 us each
    400_000,
    "the pattern's look-arounds take more than {} derivatives",
    "Use fewer different characters beside them, or shorten the repetitions.",
)


class Spelling(NamedTuple):
    """How code points become bytes.

    char     node of every spelling of one code point of a set
    literal  node of every spelling of a text
    spell    one of the spellings of a text
    """

    char: Callable[[RegexNodes, CodePointSet], int]
    literal: Callable[[RegexNodes, str], int]
    spell: Callable[[str], bytes]


class Alphabet:
    """Classes of characters.

    Attributes
    ----------
    classes : disjoint sets, together all text.
    """

    def __init__(
        self, nodes: RegexNodes, spelling: Spelling, told_apart: Iterable[CodePointSet], budget: Budget
    ) -> None:
        self.nodes = nodes
        self.budget = budget
        self.spelling = spelling
        self.classes = [TEXT]
        for members in dict.fromkeys(told_apart):
            halves = [half for c in self.classes for half in (c.intersect(members), c.subtract(members))]
            self.classes = [half for half in halves if half.bounds]
            if len(self.classes) > MAX_CLASSES:
                raise LimitExceeded(
                    f"the pattern tells more than {MAX_CLASSES} classes of characters apart beside its look-arounds",
                    help="Split the pattern, or move look-arounds out of repetitions.",
                )
        self._examples: list[bytes] = []
        self._derivatives: dict[tuple[int, int], int] = {}
        self._parts: npt.NDArray[np.int32] | None = None
        self._class_of_byte = np.zeros(256, np.int64)
        self._spellings: dict[bytes, tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]] = {}

    def derivative(self, node: int, character: int) -> int:
        """Derivative of a node over whole characters by any character of a class."""
        if not self._examples:
            self._examples = [self.spelling.spell(chr(members.bounds[0])) for members in self.classes]
        found = self._derivatives.get((node, character))
        if found is None:
            found = node
            self.budget.spend(DERIVATIVES, len(self._examples[character]))
            for byte in self._examples[character]:
                found = self.nodes.derivative(found, byte)
            self._derivatives[node, character] = found
        return found

    def automaton(self, next_state: list[list[int]], accepting: list[bool], start: int = 0) -> int:
        """Node of an automaton over classes.

        Parameters
        ----------
        next_state : a row a state: the state after a character of each class, or DEAD.
        accepting : whether the text may end, a state each.
        start : the first state.
        """
        order = [start, *(state for state in range(len(next_state)) if state != start)]
        places = np.argsort([*order, len(order)])  # DEAD, the last item, stays the last
        places[DEAD] = DEAD
        moved = places[np.array([next_state[state] for state in order], np.int64)]
        table, accepts = minimal(moved.astype(np.int32), np.array([accepting[state] for state in order], np.bool_))
        columns, class_of = np.unique(table, axis=1, return_inverse=True)
        key = class_of.tobytes()  # a pattern asks for hundreds of automata that tell the same classes apart
        if key not in self._spellings:
            self._spellings[key] = self._spelled(class_of.reshape(-1), columns.shape[1])
        return self._open(columns, accepts, *self._spellings[key])

    def _open(
        self,
        table: npt.NDArray[np.int32],
        accepting: npt.NDArray[np.bool_],
        parts: npt.NDArray[np.int32],
        class_of_byte: npt.NDArray[np.int64],
    ) -> int:
        """Node of an automaton over classes, spelled as `_spelled` says."""
        # State s before a character is row s; after bytes that lead to part k of one, row k * n_states + s.
        n_states, n_parts = len(table), len(parts)
        self.budget.spend(ROWS, n_states * n_parts)
        inside = parts[:, None, :] * n_states + np.arange(n_states)[None, :, None]
        whole = table.astype(np.int64).T[np.maximum(DEAD - 1 - parts, 0)].transpose(0, 2, 1)
        dead_or_whole = np.where((parts < DEAD)[:, None, :], whole, DEAD)
        opened = np.where((parts > DEAD)[:, None, :], inside, dead_or_whole).reshape(n_parts * n_states, -1)
        ends = np.zeros(len(opened), dtype=np.bool_)
        ends[:n_states] = accepting
        return self.nodes.dfa(class_of_byte.astype(np.uint8), opened.astype(np.int32), ends)

    def _spelled(
        self, class_of: npt.NDArray[np.int64], n_classes: int
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """How characters are spelled when only `class_of` their classes is asked, in minimal form.

        Returns
        -------
        parts : a row a state inside a character, a column a class of bytes; see `_open_classes`.
        class_of_byte : the column of each byte.
        """
        if self._parts is None:
            opened = np.array(self._open_classes(), dtype=np.int32)
            self._parts, found = np.unique(opened, axis=1, return_inverse=True)
            self._class_of_byte = found.reshape(-1)
        n_parts, n_columns = self._parts.shape
        whole = n_parts + class_of[np.maximum(DEAD - 1 - self._parts, 0)]  # classes are states that nothing leaves
        leads_to = np.where(self._parts < DEAD, whole, self._parts)
        table = np.vstack([leads_to, np.full((n_classes, n_columns), DEAD)]).astype(np.int32)
        table, colors = minimal(table, np.array([0] * n_parts + [*range(1, n_classes + 1)], np.int32))
        is_part = colors == 0
        codes = np.append(np.where(is_part, np.cumsum(is_part) - 1, DEAD - colors), DEAD)
        parts, found = np.unique(codes[table[is_part]], axis=1, return_inverse=True)
        return parts.astype(np.int32), found.reshape(-1)[self._class_of_byte]

    def _open_classes(self) -> list[list[int]]:
        """A row a state inside a character: by byte the next such state, DEAD, or DEAD - 1 - c: class c is whole.

        A state is the rests of all classes' characters. Spellings are no starts of others, so a rest that is done is
        EPSILON, and then all other rests are EMPTY.
        """
        nodes = self.nodes
        start = tuple(self.spelling.char(nodes, members) for members in self.classes)
        key = (__name__, start)
        found: list[list[int]] | None = nodes.memo.get(key)
        if found is not None:
            return found
        states = [start]
        numbers = {(nodes.EMPTY,) * len(start): DEAD, start: 0}
        rows = []
        for state in states:
            row = []
            for after in zip(*map(self._derivatives_by_byte, state), strict=True):
                if after not in numbers:
                    is_whole = nodes.EPSILON in after
                    numbers[after] = DEAD - 1 - after.index(nodes.EPSILON) if is_whole else len(states)
                    if not is_whole:
                        states.append(after)
                row.append(numbers[after])
            rows.append(row)
        nodes.memo[key] = rows
        return rows

    def _derivatives_by_byte(self, node: int) -> list[int]:
        key = (__name__, "derivatives", node)
        found: list[int] | None = self.nodes.memo.get(key)
        if found is None:
            self.budget.spend(DERIVATIVES, 256)
            first = self.nodes.first_bytes(node)
            found = self.nodes.memo[key] = [
                self.nodes.derivative(node, byte) if first >> byte & 1 else self.nodes.EMPTY for byte in range(256)
            ]
        return found


def minimal(
    table: npt.NDArray[np.int32], accepting: npt.NDArray[Accepting]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[Accepting]]:
    """States that no text tells apart made one: split by what they accept until nothing splits.

    `accepting` is whether each accepts, or a number where there are several ways to; state 0 stays the first.
    """
    blocks = accepting.astype(np.int32)
    n_blocks = 0
    while True:
        seen = np.append(blocks, DEAD)  # the last item is what DEAD, -1, finds
        blocks, first = _numbered(np.column_stack([blocks, seen[table]]))
        if len(first) == n_blocks:
            break
        n_blocks = len(first)
    return np.append(blocks, np.int32(DEAD))[table[first]], accepting[first]


def _numbered(rows: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.intp]]:
    """A number for each row, the same for equal ones, in the order of their first places, which come second.

    `np.unique` of rows sorts them, field by field: it took half of the time of patterns with many look-arounds.
    """
    data, width = rows.tobytes(), rows.shape[1] * rows.itemsize
    found: dict[bytes, int] = {}
    numbers = (found.setdefault(data[at : at + width], len(found)) for at in range(0, len(data), width))
    places = np.fromiter(numbers, np.int32, len(rows))
    return places, np.unique(places, return_index=True)[1]


CLOSED = -1  # the variable of an atom that is followed by nothing
HERE = -2  # the variable that means a position in the text; `rests` says what follows there
LOOP = "a repetition around an anchor, look-around or atomic group needs more than {} "
HELP = "Move the look-around out of the repetition, or shorten the repetitions beside it."
STATES = Kind(300, LOOP + "states", HELP)  # a host name with labels of at most 63 characters takes 263
STEPS = Kind(15_000, LOOP + "steps", HELP)  # derivatives of atoms in one pattern; that host name takes 8,600

Atom = tuple[int, int]
Formula = frozenset[frozenset[Atom]]
Tail = Union[int, Formula]  # noqa: UP007 (runtime on 3.10)
LEFT_STATES = Kind(400, "the pattern's lookbehinds need more than {} states", "Shorten their repetitions.")


class Equations:
    """The variables of one pattern.

    Parameters
    ----------
    nodes : where nodes are made.
    any_text : node of all text; every tail is a part of it.
    budget : what the pattern may spend.

    Attributes
    ----------
    definitions : what each variable equals; set once by `define`.
    """

    def __init__(self, nodes: RegexNodes, any_text: int, budget: Budget) -> None:
        self.nodes = nodes
        self.any_text = any_text
        self.definitions: list[Formula] = []
        self.budget = budget

    # --- building

    def variable(self) -> Formula:
        """Add a variable; it equals nothing until it is defined."""
        self.definitions.append(frozenset())
        return frozenset({frozenset({(self.nodes.EPSILON, len(self.definitions) - 1)})})

    def here(self) -> Formula:
        """The position that `rests` is asked about."""
        return frozenset({frozenset({(self.nodes.EPSILON, HERE)})})

    def define(self, variable: Formula, tail: Tail) -> None:
        """Say what a variable equals."""
        ((_, number),) = next(iter(variable))
        self.definitions[number] = self._formula(tail)

    def concat(self, node: int, tail: Tail) -> Tail:
        """`node`, then what may follow."""
        if isinstance(tail, int):
            return self.nodes.concat([node, tail])
        if node == self.nodes.EPSILON:
            return tail
        if len(tail) != 1 or len(next(iter(tail))) != 1:
            named = self.variable()
            self.define(named, tail)
            tail = named
        ((follow, variable),) = next(iter(tail))
        return self._normal([frozenset({(self.nodes.concat([node, follow]), variable)})])

    def union(self, tails: list[Tail]) -> Tail:
        """What any of the tails allows."""
        closed = [tail for tail in tails if isinstance(tail, int)]
        if self.any_text in closed:
            return self.any_text
        if len(closed) == len(tails):
            return self.nodes.union(closed)
        return self._normal(choice for tail in tails for choice in self._formula(tail))

    def intersect(self, node: int, tail: Tail) -> Tail:
        """What both allow."""
        if isinstance(tail, int):
            return self.nodes.intersect([node, tail])
        return self._normal(choice | {(node, CLOSED)} for choice in tail)

    def _formula(self, tail: Tail) -> Formula:
        return self._normal([frozenset({(tail, CLOSED)})]) if isinstance(tail, int) else tail

    def _normal(self, choices: Iterable[frozenset[Atom]]) -> Formula:
        """Merge what nodes can merge, drop what is empty, absorb A & B beside A."""
        alone: dict[int, list[int]] = {}
        joint: set[frozenset[Atom]] = set()
        for choice in choices:
            closed = self.nodes.intersect([node for node, variable in choice if variable == CLOSED] or [self.nodes.ALL])
            atoms = {atom for atom in choice if atom[1] != CLOSED}
            if closed != self.nodes.ALL or not atoms:
                atoms.add((closed, CLOSED))
            if any(node == self.nodes.EMPTY for node, _ in atoms):
                continue
            if len(atoms) == 1:
                ((node, variable),) = atoms
                alone.setdefault(variable, []).append(node)
            else:
                joint.add(frozenset(atoms))
        if self.any_text in alone.get(CLOSED, ()):
            return frozenset({frozenset({(self.any_text, CLOSED)})})
        single = {frozenset({(self.nodes.union(members), variable)}) for variable, members in alone.items()}
        everything = single | joint
        return frozenset(one for one in everything if not any(other < one for other in everything))

    # --- solving

    def solve(self, formula: Formula, alphabet: Alphabet) -> int:
        """Node of a formula whose variables are all defined.

        `alphabet` tells apart whatever characters the nodes of the equations tell apart.

        Raises
        ------
        LimitExceeded
            When the automaton needs more states or steps than a pattern may take.
        """
        numbers = {formula: 0}
        states = [formula]
        table = []
        for state in states:
            row = []
            for character in range(len(alphabet.classes)):
                after = self._derive(state, alphabet, character, frozenset())
                if after and after not in numbers:
                    numbers[after] = len(states)
                    states.append(after)
                row.append(numbers[after] if after else DEAD)
            table.append(row)
            self.budget.spend(STATES, 1)
        return alphabet.automaton(table, [self._is_nullable(state, frozenset()) for state in states])

    def derivative(self, tail: Tail, alphabet: Alphabet, character: int) -> Tail:
        """Derivative by any character of a class."""
        if isinstance(tail, int):
            return alphabet.derivative(tail, character)
        return self._derive(tail, alphabet, character, frozenset())

    def rests(self, tail: Tail, busy: frozenset[int] = frozenset()) -> int:
        """Node of what may follow at the position HERE, when it is reached now; a node holds before anything."""
        if isinstance(tail, int):
            return self.nodes.ALL if self.nodes.is_nullable(tail) else self.nodes.EMPTY
        choices = [self.nodes.intersect([self._rests_of(atom, busy) for atom in choice]) for choice in tail]
        return self.nodes.union(choices)

    def _rests_of(self, atom: Atom, busy: frozenset[int]) -> int:
        node, variable = atom
        if variable == CLOSED:
            return node
        if not self.nodes.is_nullable(node) or variable in busy:
            return self.nodes.EMPTY
        return self.nodes.ALL if variable == HERE else self.rests(self.definitions[variable], busy | {variable})

    def _derive(self, formula: Formula, alphabet: Alphabet, character: int, busy: frozenset[int]) -> Formula:
        """Derivative of a formula.

        A variable met again before any character is taken adds nothing: X = A | (B & X) has the smallest solution A,
        and in a distributive lattice every equation has this form.
        """
        choices: list[frozenset[Atom]] = []
        for choice in formula:
            factors = [self._derive_atom(atom, alphabet, character, busy) for atom in choice]
            self.budget.spend(STEPS, prod(map(len, factors)))
            choices += [frozenset().union(*picked) for picked in product(*factors)]
        return self._normal(choices)

    def _derive_atom(self, atom: Atom, alphabet: Alphabet, character: int, busy: frozenset[int]) -> Formula:
        self.budget.spend(STEPS, 1)
        node, variable = atom
        after: set[frozenset[Atom]] = {frozenset({(alphabet.derivative(node, character), variable)})}
        if variable not in (CLOSED, HERE) and variable not in busy and self.nodes.is_nullable(node):
            after |= self._derive(self.definitions[variable], alphabet, character, busy | {variable})
        return self._normal(after)

    def _is_nullable(self, formula: Formula, busy: frozenset[int]) -> bool:
        return any(all(self._is_atom_nullable(atom, busy) for atom in choice) for choice in formula)

    def _is_atom_nullable(self, atom: Atom, busy: frozenset[int]) -> bool:
        node, variable = atom
        if not self.nodes.is_nullable(node) or variable in busy:
            return False
        return variable == CLOSED or self._is_nullable(self.definitions[variable], busy | {variable})


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
            equations.budget.spend(LEFT_STATES, 1)
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
