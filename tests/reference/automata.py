"""Regular languages as complete deterministic automata, by the constructions of a textbook.

The exhaustive tests compare whole masks with these. Nothing is shared with the engine: it takes derivatives, here are
products and subset constructions (Hopcroft, Motwani, Ullman, "Introduction to Automata Theory", chapters 3 and 4).
Whether a string is live is a question of reachability, so no bound on completions is needed.

In: operations. Out: `Dfa`, minimal, states numbered in breadth-first order from 0, so equal languages are equal tuples.
Cost: milliseconds; automata here have a dozen states.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import NamedTuple

from tests.reference.definition import Language, all_strings


class Dfa(NamedTuple):
    """A complete automaton; state 0 is the start.

    alphabet   one letter for each class of bytes that no expression tells apart
    step       step[state][place of the letter in the alphabet]
    accepting  accepting[state]
    """

    alphabet: bytes
    step: tuple[tuple[int, ...], ...]
    accepting: tuple[bool, ...]

    def state_after(self, string: bytes) -> int:
        state = 0
        for letter in string:
            state = self.step[state][self.alphabet.index(letter)]
        return state

    def live_states(self) -> frozenset[int]:
        """States from which an accepting one can be reached."""
        live = {state for state, accepts in enumerate(self.accepting) if accepts}
        while more := {state for state in range(len(self.step)) if state not in live and live & {*self.step[state]}}:
            live |= more
        return frozenset(live)

    def language(self, max_bytes: int) -> Language:
        """Live strings and sentences up to `max_bytes`."""
        live_states = self.live_states()
        live, sentences = set(), set()
        for string in all_strings(self.alphabet, max_bytes):
            state = self.state_after(string)
            if state in live_states:
                live.add(string)
            if self.accepting[state]:
                sentences.add(string)
        return Language(frozenset(live), frozenset(sentences), max_bytes)


def _explore(
    alphabet: bytes, start: Hashable, step: Callable[[Hashable, int], Hashable], accepts: Callable[[Hashable], bool]
) -> Dfa:
    """Number everything that is reachable from `start`, then merge what no string tells apart (Moore)."""
    numbers: dict[Hashable, int] = {start: 0}
    queue, rows = [start], []
    for state in queue:
        row = []
        for letter in range(len(alphabet)):
            target = step(state, letter)
            if target not in numbers:
                numbers[target] = len(queue)
                queue.append(target)
            row.append(numbers[target])
        rows.append(row)
    blocks = [int(accepts(state)) for state in queue]
    while True:
        signatures: dict[tuple[int, ...], int] = {}
        finer = [
            signatures.setdefault((blocks[state], *(blocks[target] for target in row)), len(signatures))
            for state, row in enumerate(rows)
        ]
        if len(set(finer)) == len(set(blocks)):
            break
        blocks = finer
    order: dict[int, int] = {}
    for block in finer:  # states come in breadth-first order, so their blocks do
        order.setdefault(block, len(order))
    steps: list[tuple[int, ...]] = [()] * len(order)
    accepting = [False] * len(order)
    for state, row in enumerate(rows):
        steps[order[finer[state]]] = tuple(order[finer[target]] for target in row)
        accepting[order[finer[state]]] = accepts(queue[state])
    return Dfa(alphabet, tuple(steps), tuple(accepting))


def byte_set(alphabet: bytes, letters: Iterable[int]) -> Dfa:
    """Strings of one letter out of `letters`."""
    wanted = set(letters)
    return _explore(
        alphabet,
        "start",
        lambda state, letter: "end" if state == "start" and alphabet[letter] in wanted else "dead",
        lambda state: state == "end",
    )


def epsilon(alphabet: bytes) -> Dfa:
    """The empty string alone."""
    return _explore(alphabet, "start", lambda state, letter: "dead", lambda state: state == "start")


def complement(left: Dfa) -> Dfa:
    return Dfa(left.alphabet, left.step, tuple(not accepts for accepts in left.accepting))


def _product(left: Dfa, right: Dfa, both: Callable[[bool, bool], bool]) -> Dfa:
    return _explore(
        left.alphabet,
        (0, 0),
        lambda pair, letter: (left.step[pair[0]][letter], right.step[pair[1]][letter]),  # type: ignore[index]
        lambda pair: both(left.accepting[pair[0]], right.accepting[pair[1]]),  # type: ignore[index]
    )


def union(left: Dfa, right: Dfa) -> Dfa:
    return _product(left, right, lambda one, other: one or other)


def intersect(left: Dfa, right: Dfa) -> Dfa:
    return _product(left, right, lambda one, other: one and other)


def concat(left: Dfa, right: Dfa) -> Dfa:
    """Subsets of right's states beside left's state; wherever left accepts, right begins."""

    def enter(state: int, others: frozenset[int]) -> tuple[int, frozenset[int]]:
        return state, others | {0} if left.accepting[state] else others

    return _explore(
        left.alphabet,
        enter(0, frozenset()),
        lambda pair, letter: enter(left.step[pair[0]][letter], frozenset(right.step[r][letter] for r in pair[1])),  # type: ignore[index]
        lambda pair: any(right.accepting[state] for state in pair[1]),  # type: ignore[index]
    )


def star(inner: Dfa) -> Dfa:
    """Any number of strings of `inner`, none included."""

    def close(states: frozenset[int]) -> frozenset[int]:
        return states | {0} if any(inner.accepting[state] for state in states) else states

    def step(states: Hashable, letter: int) -> Hashable:
        if states == "start":
            states = frozenset([0])
        return close(frozenset(inner.step[state][letter] for state in states))  # type: ignore[attr-defined]

    return _explore(
        inner.alphabet,
        "start",
        step,
        lambda states: states == "start" or any(inner.accepting[state] for state in states),  # type: ignore[attr-defined]
    )


def repeat(inner: Dfa, low: int, high: int | None) -> Dfa:
    """From `low` to `high` strings of `inner`; None is unbounded."""
    result = epsilon(inner.alphabet)
    for _ in range(low):
        result = concat(result, inner)
    if high is None:
        return concat(result, star(inner))
    optional = union(epsilon(inner.alphabet), inner)
    for _ in range(high - low):
        result = concat(result, optional)
    return result
