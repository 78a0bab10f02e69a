"""Rules as small automata whose edges scan a lexeme, call a rule, or take nothing: this is parser/load_rules.

W. A. Woods, "Transition network grammars for natural language analysis", CACM 13 (1970). A run through a rule
counts, or carries a set of members, most with a number; guards look at it, and change it. What derives nothing is left
out, so a parser that follows edges never gets into a dead end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .regex import Regex, is_empty

Lexemes = Mapping[int, Regex] | Sequence[Regex]  # by the numbers that rules name

SCAN, CALL, SKIP, CALL_NEW, CALL_PLAIN, CALL_MANY, CALL_OPEN, CALL_AGAIN = range(8)  # kinds of edges
COUNT, ADD, CHECK = range(3)  # kinds of guards
ANOTHER = -1  # a member without a number
EDGE_FIELDS, GUARD_FIELDS, PRIORITY_FIELDS = 5, 5, 3


class Members(NamedTuple):
    """A set: the members with numbers, how many have none, and the texts of values (values.py)."""

    named: frozenset[int] = frozenset()
    others: int = 0
    texts: frozenset[bytes] = frozenset()

    @property
    def size(self) -> int:
        return len(self.named) + self.others + len(self.texts)


Parameter = int | Members  # of a run; 0 at first, and for the empty set


def members_of(parameter: Parameter) -> Members:
    """The set of a run that carries one."""
    return parameter if isinstance(parameter, Members) else Members()


class Guard(NamedTuple):
    """COUNT: bounds, what is added, the most that is counted; ADD: the member (in `low`), most members of those that
    are there and required, most without a number; CHECK: bounds, the members required, and one more than the rule that
    must derive another value (in `cap`; 0 where there is none).
    """

    kind: int
    low: int
    high: int
    add: int
    cap: int
    required: frozenset[int]


class Edge(NamedTuple):
    """`symbol`: a lexeme, or a rule. `is_bare`: the lexeme has nothing ignored before it."""

    kind: int
    symbol: int
    target: int
    guard: int
    priority: int
    is_bare: bool


class Network(NamedTuple):
    """The rules that are left; `edges` and `finals` (guards) by state, `starts` by rule, `rules` by state; `live`: the
    states from which the end of their rule is reached.
    """

    start: int
    starts: list[int]
    rules: list[int]
    edges: dict[int, list[Edge]]
    finals: dict[int, list[int]]
    guards: list[Guard]
    live: set[int]

    def behind(self, number: int, parameter: Parameter) -> Parameter | None:
        """The parameter behind a guard, or None where it does not let through."""
        kind, low, high, add, cap, required = self.guards[number]
        if number == 0:
            return parameter
        if kind == COUNT:
            assert isinstance(parameter, int)
            return min(parameter + add, cap) if low <= parameter <= high else None
        members = members_of(parameter)
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


def read_rules(written: Any, lexemes: Lexemes) -> Network | None:
    """The columns of `llmask.grammar.rules.Rules`; None where the start rule derives nothing."""
    said = written.priorities
    priorities = {said[at]: (said[at + 1], said[at + 2] != 0) for at in range(0, len(said), PRIORITY_FIELDS)}
    rows = [
        (
            written.edges[at],
            Edge(*written.edges[at + 1 : at + EDGE_FIELDS], *priorities.get(at // EDGE_FIELDS, (0, False))),
        )
        for at in range(0, len(written.edges), EDGE_FIELDS)
    ]
    finals: dict[int, list[int]] = defaultdict(list)
    for state, guard in zip(written.finals[::2], written.finals[1::2], strict=True):
        finals[state].append(guard)
    starts = list(written.rule_starts)
    live: set[int] = set()
    found = set(finals)
    while found != live:
        live = found
        useful = [
            (state, edge) for state, edge in rows if edge.target in live and _derives(edge, starts, live, lexemes)
        ]
        found = live | {state for state, _ in useful}
    if starts[written.start] not in live:
        return None
    edges: dict[int, list[Edge]] = defaultdict(list)
    for state, edge in useful:
        edges[state].append(edge)
    guards = [_guard(written, at) for at in range(0, len(written.guards), GUARD_FIELDS)]
    return Network(written.start, starts, list(written.state_rules), edges, finals, guards, live)


def _guard(written: Any, at: int) -> Guard:
    """A guard; the members that it asks for lie at a place of `required`: their number, words, 32 bits each."""
    kind, low, high, add, cap = written.guards[at : at + GUARD_FIELDS]
    words = written.required[add + 2 : add + 2 + written.required[add + 1]] if kind != COUNT else ()
    required = frozenset(32 * i + bit for i, word in enumerate(words) for bit in range(32) if word >> bit & 1)
    return Guard(kind, low, high, add, cap, required)


def _derives(edge: Edge, starts: list[int], live: set[int], lexemes: Lexemes) -> bool:
    """Whether an edge takes something that exists."""
    if edge.kind == SCAN:
        return not is_empty(lexemes[edge.symbol])
    return edge.kind == SKIP or starts[edge.symbol] in live
