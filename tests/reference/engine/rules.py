"""Rules as small automata whose edges scan a lexeme, call a rule, or take nothing: this is parser/load_rules.

W. A. Woods, "Transition network grammars for natural language analysis", CACM 13 (1970). A run through a rule
counts, or carries a set of members, most with a number; guards look at it, and change it. What derives nothing is left
out, so a parser that follows edges never gets into a dead end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

from .regex import Regex, is_empty

SCAN, CALL, SKIP = range(3)  # kinds of edges
COUNT, ADD, CHECK = range(3)  # kinds of guards
ANOTHER = -1  # a member without a number
EDGE_FIELDS, GUARD_FIELDS = 5, 5


class Members(NamedTuple):
    """A set: the members with numbers, and how many have none."""

    named: frozenset[int] = frozenset()
    others: int = 0

    @property
    def size(self) -> int:
        return len(self.named) + self.others


Parameter = int | Members  # of a run; 0 at first, and for the empty set


class Guard(NamedTuple):
    """COUNT: bounds, what is added, the most that is counted; ADD: the member (in `low`), most members of those that
    are there and required, most without a number; CHECK: bounds, and the members required.
    """

    kind: int
    low: int
    high: int
    add: int
    cap: int
    required: frozenset[int]


class Edge(NamedTuple):
    """`symbol`: a lexeme, or a rule."""

    kind: int
    symbol: int
    target: int
    guard: int


class Network(NamedTuple):
    """The rules that are left; `edges` and `finals` (guards) by state, `starts` by rule, `rules` by state."""

    start: int
    starts: list[int]
    rules: list[int]
    edges: dict[int, list[Edge]]
    finals: dict[int, list[int]]
    guards: list[Guard]

    def behind(self, number: int, parameter: Parameter) -> Parameter | None:
        """The parameter behind a guard, or None where it does not let through."""
        kind, low, high, add, cap, required = self.guards[number]
        if number == 0:
            return parameter
        if kind == COUNT:
            assert isinstance(parameter, int)
            return min(parameter + add, cap) if low <= parameter <= high else None
        members = parameter if isinstance(parameter, Members) else Members()
        if kind == CHECK:
            return parameter if required <= members.named and low <= members.size <= high else None
        if low in members.named:
            return None
        after = members._replace(named=members.named | {low})
        if low == ANOTHER:
            after = members._replace(others=members.others + 1)
        if after.size + len(required - after.named) > high:
            return None
        return parameter if low == ANOTHER and members.size >= cap else after

    def may_end(self, state: int, parameter: Parameter) -> bool:
        """Whether a run may end in a state of its rule."""
        return any(self.behind(guard, parameter) is not None for guard in self.finals.get(state, ()))


def read_rules(written: Any, lexemes: Mapping[int, Regex]) -> Network | None:
    """The columns of `llmask.grammar.rules.Rules`; None where the start rule derives nothing."""
    rows = [written.edges[at : at + EDGE_FIELDS] for at in range(0, len(written.edges), EDGE_FIELDS)]
    finals: dict[int, list[int]] = defaultdict(list)
    for state, guard in zip(written.finals[::2], written.finals[1::2], strict=True):
        finals[state].append(guard)
    starts = list(written.rule_starts)
    live: set[int] = set()  # states from which the end of their rule is reached
    found = set(finals)
    while found != live:
        live = found
        useful = [row for row in rows if row[3] in live and _derives(row, starts, live, lexemes)]
        found = live | {row[0] for row in useful}
    if starts[written.start] not in live:
        return None
    edges: dict[int, list[Edge]] = defaultdict(list)
    for state, kind, symbol, target, guard in useful:
        edges[state].append(Edge(kind, symbol, target, guard))
    guards = [_guard(written, at) for at in range(0, len(written.guards), GUARD_FIELDS)]
    return Network(written.start, starts, list(written.state_rules), edges, finals, guards)


def _guard(written: Any, at: int) -> Guard:
    """A guard; the members that it asks for lie at a place of `required`: their number, words, 32 bits each."""
    kind, low, high, add, cap = written.guards[at : at + GUARD_FIELDS]
    words = written.required[add + 2 : add + 2 + written.required[add + 1]] if kind != COUNT else ()
    required = frozenset(32 * i + bit for i, word in enumerate(words) for bit in range(32) if word >> bit & 1)
    return Guard(kind, low, high, add, cap, required)


def _derives(row: Any, starts: list[int], live: set[int], lexemes: Mapping[int, Regex]) -> bool:
    """Whether an edge takes something that exists."""
    _, kind, symbol, _, _ = row
    return kind == SKIP or (starts[symbol] in live if kind == CALL else not is_empty(lexemes[symbol]))
