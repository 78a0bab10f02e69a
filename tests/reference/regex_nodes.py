"""The expressions of the reference engine by number: the twin of `llmask.regex.nodes.RegexNodes`, for frontends.

A frontend that writes its lexemes into these nodes makes rules that the reference engine reads: `expressions` says what
each number stands for. What is written is in tests/reference/engine/regex.py; here are only numbers, and what frontends
ask of a node.

In: the same calls as the compiled nodes. Out: node ids. Cost: no care is taken; it is an oracle.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from functools import reduce
from typing import Any

from tests.reference.engine import regex
from tests.reference.engine.regex import Regex, derivative, is_empty, is_nullable, letters


class RegexNodes:
    """All expressions that were asked for.

    Attributes
    ----------
    expressions : what each node is.
    memo : a place for frontends to remember what they built.
    variant_key : what the memo is about, see `variant`.
    """

    EMPTY = 0
    EPSILON = 1
    ALL = 2

    def __init__(self) -> None:
        self.expressions: list[Regex] = []
        self.memo: dict[Any, Any] = {}
        self.variant_key: Any = None
        self._ids: dict[Regex, int] = {}
        self._automata: dict[Any, regex.Automaton] = {}
        for reserved in (regex.EMPTY, regex.EPSILON, regex.ALL):
            self._node(reserved)

    @property
    def n_nodes(self) -> int:
        return len(self.expressions)

    def remembered(self, key: Any) -> dict[Any, Any]:
        """A part of the memo."""
        found: dict[Any, Any] = self.memo.setdefault(key, {})
        return found

    def variant(self, key: Any) -> RegexNodes:
        """The same nodes with another memo."""
        other = copy(self)
        other.memo = self.remembered(("variant", key))
        other.variant_key = key
        return other

    # --- building

    def byte_set(self, mask: int) -> int:
        """One byte; bit b of `mask` allows byte b."""
        return self._node(regex.byte_set(byte for byte in range(256) if mask >> byte & 1))

    def literal(self, data: bytes) -> int:
        return self._node(self._joined(regex.byte_set([byte]) for byte in data))

    def words(self, words: Iterable[bytes]) -> int:
        """Any of `words`."""
        return self.union([self.literal(word) for word in words])

    def concat(self, ids: Sequence[int]) -> int:
        return self._node(self._joined(self._all(ids)))

    def union(self, ids: Iterable[int]) -> int:
        return self._node(regex.either(self._all(ids)))

    def intersect(self, ids: Iterable[int]) -> int:
        return self._node(regex.both(self._all(ids)))

    def complement(self, node: int) -> int:
        """Every byte string that `node` does not accept."""
        return self._node(regex.negated(self.expressions[node]))

    def without(self, node: int, others: Iterable[int]) -> int:
        """What `node` accepts and none of `others`."""
        return self.intersect([node, self.complement(self.union(others))])

    def repeat(self, node: int, low: int, high: int | None = None) -> int:
        """`low` to `high` times; None means without end."""
        if low < 0 or (high is not None and high < low):
            raise ValueError(f"cannot repeat {low} to {high} times")
        return self._node(regex.repeated(self.expressions[node], low, high))

    def dfa(self, class_of_byte: Any, next_state: Any, accepting: Any) -> int:
        """A finite automaton that starts in state 0; -1 is the dead state."""
        rows = [[int(state) for state in row] for row in next_state]
        ends = tuple(map(bool, accepting))
        live: set[int] = set()
        found = {state for state, is_end in enumerate(ends) if is_end}
        while found != live:
            live = found
            found = live | {state for state, row in enumerate(rows) if live & set(row)}
        rows = tuple(tuple(state if state in live else -1 for state in row) for row in rows)
        said = tuple(map(int, class_of_byte)), rows, ends
        made = self._automata.setdefault(said, regex.Automaton(*said))
        return self._node(regex.automaton(made, 0 if 0 in live else -1))

    def name(self, node: int, name: str) -> int:
        """Nothing is printed here."""
        return node

    def name_characters(self, node: int, members: Any) -> None:
        """Nothing is printed here."""

    def mark_character(self, node: int) -> None:
        """Nothing is counted here."""

    def mark_units(self, node: int, are_all: bool) -> None:
        """Nothing follows from it here."""

    def put_extensions_of_words(self, node: int, words: Iterable[bytes]) -> None:
        """Nothing is remembered here."""

    # --- asking

    def names_tokens(self, node: int) -> bool:
        """No grammar over these nodes names tokens."""
        del node
        return False

    def is_lazy(self, node: int) -> bool:
        """There are no lazy expressions here."""
        return False

    def is_nullable(self, node: int) -> bool:
        return is_nullable(self.expressions[node])

    def is_empty(self, node: int) -> bool:
        """Whether no string at all is accepted."""
        return is_empty(self.expressions[node])

    def derivative(self, node: int, byte: int) -> int:
        """What may follow after `byte`."""
        return self._node(derivative(self.expressions[node], byte))

    def matches(self, node: int, data: bytes) -> bool:
        return is_nullable(reduce(derivative, data, self.expressions[node]))

    def first_bytes(self, node: int) -> int:
        """Bytes that a string may begin with."""
        return sum(1 << byte for byte in range(256) if not is_empty(derivative(self.expressions[node], byte)))

    def is_open(self, node: int) -> bool:
        """Whether every beginning that leads on leads on without end."""
        live: dict[Regex, set[Regex]] = {}
        start = self.expressions[node]
        waiting = [start]
        while waiting:
            left = waiting.pop()
            if left not in live:
                targets = {derivative(left, byte) for byte in letters(left)}
                live[left] = {target for target in targets if not is_empty(target)}
                waiting += live[left]
        going = {left for left in live if live[left]}
        endless = going
        while any(not live[left] & endless for left in endless):  # take out what ends after so many steps
            endless = {left for left in endless if live[left] & endless}
        return start in endless and going <= endless

    def extensions(self, one: int, other: int) -> tuple[int, bool]:
        """Bytes by which a string of `one` goes on to a string of `other`, and whether some string is in both."""
        found, may_both_end = 0, False
        first = self.expressions[one], self.expressions[other]
        waiting = [(derivative(first[0], byte), derivative(first[1], byte)) for byte in range(256)]
        seen: set[tuple[Regex, Regex]] = set()
        while waiting:
            left, right = pair = waiting.pop()
            if pair in seen or is_empty(left) or is_empty(right):
                continue
            seen.add(pair)
            if is_nullable(left):
                may_both_end |= is_nullable(right)
                found |= sum(1 << byte for byte in range(256) if not is_empty(derivative(right, byte)))
            waiting += [(derivative(left, byte), derivative(right, byte)) for byte in range(256)]
        return found, may_both_end

    # --- inside

    def _all(self, ids: Iterable[int]) -> list[Regex]:
        return [self.expressions[node] for node in ids]

    def _joined(self, parts: Iterable[Regex]) -> Regex:
        return reduce(lambda tail, head: regex.then(head, tail), reversed(list(parts)), regex.EPSILON)

    def _node(self, expression: Regex) -> int:
        if expression not in self._ids:
            self._ids[expression] = len(self.expressions)
            self.expressions.append(expression)
        return self._ids[expression]
