"""Rules about characters and their neighbours as one small machine: what look-arounds say, said with states.

    rule      start, step(state, kinds of the next character) -> state or REFUSED, may_end(state)
    machine   all rules at once: states are tuples of the rules' states, in minimal form

A text is good when no rule refuses a character and every rule may end. A rule sees of a character only the *kinds*, the
names of the sets that it belongs to.

In: rules, sets of code points. Out: a `Machine`. Cost: states x kinds x rules steps, for host names 0.1 s.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from llmask.frontends.regex.equations import DEAD, minimal
from llmask.regex.code_points import MAX_CODE_POINT, CodePointSet

REFUSED = None
Kinds = frozenset[Any]
Pieces = tuple[tuple[int, int, int], ...]


class Machine(NamedTuple):
    """A deterministic automaton over classes of code points; state 0 starts.

    pieces      (first, last, class) of every run of code points that may occur, ascending; `merged` made them
    next_state  int32[n_states, n_classes], DEAD where a character is refused
    accepting   bool[n_states]
    """

    pieces: Pieces
    next_state: npt.NDArray[np.int32]
    accepting: npt.NDArray[np.bool_]


def merged(pieces: Iterable[tuple[int, int, int]]) -> Pieces:
    """Ascending pieces, those that touch and have the same value made one."""
    found: list[tuple[int, int, int]] = []
    for low, high, value in pieces:
        if found and found[-1][1] == low - 1 and found[-1][2] == value:
            found[-1] = (found[-1][0], high, value)
        else:
            found.append((low, high, value))
    return tuple(found)


class Rule(NamedTuple):
    """What one rule remembers of the text so far.

    start     its state before the first character
    step      the state after a character of these kinds, or REFUSED
    may_end   whether the text may end in a state
    """

    start: Hashable
    step: Callable[[Any, Kinds], Hashable]
    may_end: Callable[[Any], bool] = lambda state: True


def machine_of(
    rules: Iterable[Rule], sets: Mapping[Hashable, CodePointSet], alphabet: CodePointSet, refuses_others: bool = True
) -> Machine:
    """The machine of all rules.

    Parameters
    ----------
    rules, sets : the rules, and the sets that they know by name.
    alphabet : the characters that matter.
    refuses_others : whether all others are refused; else they are taken for whatever keeps the machine small.

    Examples
    --------
    >>> no_two = Rule(False, lambda was, kinds: REFUSED if was and "a" in kinds else "a" in kinds)
    >>> machine_of([no_two], {"a": CodePointSet.of("a")}, CodePointSet.of("ab")).next_state.tolist()
    [[1, 0], [-1, 0]]
    """
    rules = list(rules)
    runs = _runs(sets, alphabet)
    kinds = list(dict.fromkeys(kind for _, _, kind in runs))
    states = [tuple(rule.start for rule in rules)]
    numbers = {states[0]: 0}
    table = []
    for state in states:
        row = []
        for kind in kinds:
            after = []
            for rule, part in zip(rules, state, strict=True):
                after.append(rule.step(part, kind))
                if after[-1] is REFUSED:
                    break
            if after[-1] is REFUSED:
                row.append(DEAD)
                continue
            found = tuple(after)
            if found not in numbers:
                numbers[found] = len(states)
                states.append(found)
            row.append(numbers[found])
        table.append(row)
    accepting = [all(rule.may_end(part) for rule, part in zip(rules, state, strict=True)) for state in states]
    next_state, accepts = minimal(np.array(table, np.int32), np.array(accepting, np.bool_))
    next_state, class_of_kind = np.unique(next_state, axis=1, return_inverse=True)
    classes = dict(zip(kinds, class_of_kind.reshape(-1).tolist(), strict=True))
    if not refuses_others:
        ends = [low - 1 for low, _, _ in runs[1:]] + [MAX_CODE_POINT]
        runs = [(low if i else 0, end, kind) for i, ((low, _, kind), end) in enumerate(zip(runs, ends, strict=True))]
    pieces = merged((low, high, classes[kind]) for low, high, kind in runs)
    return Machine(pieces, np.ascontiguousarray(next_state, np.int32), accepts)


def _runs(sets: Mapping[Hashable, CodePointSet], alphabet: CodePointSet) -> list[tuple[int, int, Kinds]]:
    """The alphabet cut wherever a set begins or ends."""
    changes: dict[int, set[Hashable]] = {bound: set() for bound in alphabet.bounds}
    for name, members in sets.items():
        for bound in members.bounds:
            changes.setdefault(bound, set()).add(name)
    found = []
    here: set[Hashable] = set()
    places = sorted(changes)
    for low, end in pairwise(places):
        here ^= changes[low]
        if low in alphabet:
            found.append((low, end - 1, frozenset(here)))
    return found
