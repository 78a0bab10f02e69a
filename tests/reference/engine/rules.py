"""Rules as small automata whose edges scan a lexeme, call a rule, or take nothing: this is parser/load_rules.

W. A. Woods, "Transition network grammars for natural language analysis", CACM 13 (1970). A run through a rule
counts, or carries a set of members, most with a number; guards look at it, and change it. What derives nothing is left
out, so a parser that follows edges never gets into a dead end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

from .regex import Regex, is_empty

Lexemes = Mapping[int, Regex] | Sequence[Regex]  # by the numbers that rules name

SCAN, CALL, SKIP, CALL_NEW, CALL_PLAIN, CALL_OPEN, CALL_AGAIN = range(7)  # kinds of edges
COUNT, ADD, CHECK, MORE = range(4)  # kinds of guards
Required = frozenset[int] | tuple[tuple[int, ...], ...]  # members, or the nodes of a condition
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
    are there and required, most without a number (in `cap`; of a member with one: those below it do not come any more);
    CHECK: bounds, the members required, and one more than the rule that must derive another value (in `cap`; 0 where
    there is none); MORE: members below `low` do not come any more, most members.
    """

    kind: int
    low: int
    high: int
    add: int
    cap: int
    required: Required


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
            is_met = low <= members.size <= high and _n_to_come(required, members.named) == 0
            return parameter if is_met else None
        if kind == MORE:
            return parameter if members.size + _n_to_come(required, members.named, low, one_more=True) <= high else None
        if low in members.named:
            return None
        after = members._replace(named=members.named | {low})
        if low == ANOTHER:
            after = members._replace(others=members.others + 1)
        if after.size + _n_to_come(required, after.named, 0 if low == ANOTHER else cap) > high:
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
    size, n = (0, 0) if kind == COUNT else written.required[add : add + 2]
    required: Required
    if size < 0:
        required = tuple(tuple(written.required[add + 2 + 3 * i : add + 5 + 3 * i]) for i in range(n))
    else:
        words = written.required[add + 2 : add + 2 + n] if n else ()
        required = frozenset(32 * i + bit for i, word in enumerate(words) for bit in range(32) if word >> bit & 1)
    return Guard(kind, low, high, add, cap, required)


def _n_to_come(required: Required, named: frozenset[int], passed: int = 0, one_more: bool = False) -> float:
    """The fewest members that a set lacks; of a condition (nodes: member, then what follows where it is absent, and
    where it is there) the fewest with which the set fulfils it: at least one of them, none below `passed`.
    """
    if isinstance(required, frozenset):
        return len(required - named)
    fewest = {0: (inf, inf), 1: (0, inf)}  # by node: any number, one or more
    for number, (member, absent, there) in enumerate(required, 2):
        come = fewest[there][0] + 1
        if member in named:
            fewest[number] = fewest[there]
        elif member < passed:
            fewest[number] = fewest[absent]
        else:
            fewest[number] = min(fewest[absent][0], come), min(fewest[absent][1], come)
    return fewest[len(fewest) - 1][one_more]


def _derives(edge: Edge, starts: list[int], live: set[int], lexemes: Lexemes) -> bool:
    """Whether an edge takes something that exists."""
    if edge.kind == SCAN:
        return not is_empty(lexemes[edge.symbol])
    return edge.kind == SKIP or starts[edge.symbol] in live
