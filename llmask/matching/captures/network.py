"""Rules of a grammar as networks of states, the form that the positional parser walks.

Networks are made when the parser gets to them. A counted repetition is a network of its own, whose state is the number
of copies so far; a copy that is empty is not counted, and where copies may be empty there may be any smaller number of
them.

In: a `Grammar`. Out: a `Network`. Cost: about 2 us a part.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from llmask.grammar.expressions import (
    Choice,
    Expression,
    Grammar,
    Inclusion,
    Lexeme,
    Reference,
    Repeat,
    Sequence,
    TokenSet,
)
from llmask.grammar.late import Provable, instance_of, written_out
from llmask.grammar.lowering import derives_empty

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes

SCAN, TOKEN, CALL, INCLUDE, SKIP = range(5)  # kinds of edges


class Edge(NamedTuple):
    """From a state to another.

    what  node of a lexeme, token set, name of a network, or inclusion
    """

    kind: int
    what: object
    target: int


class Counter(NamedTuple):
    """Bounds of a network that counts; `high` None: without end, and more than `low` is not counted."""

    low: int
    high: int | None


class Network:
    """Networks by name: a rule's under its name, a counted part's under its expression.

    Attributes
    ----------
    starts, ends : of each network, its first and last state.
    owner : of each state, its network.
    edges : of each state.
    counters : of the networks that count; their one edge calls a copy and comes back.
    not_empty : a lexeme as the lexer knows it where the empty string was taken out.
    """

    def __init__(self, nodes: RegexNodes, grammar: Grammar) -> None:
        self.nodes = nodes
        self.edges: list[list[Edge]] = []
        self.owner: list[object] = []
        self.starts: dict[object, int] = {}
        self.ends: dict[object, int] = {}
        self.counters: dict[object, Counter] = {}
        self.not_empty = cache(lambda node: nodes.without(node, [nodes.EPSILON]) if nodes.is_nullable(node) else node)
        self.nullable = Provable(grammar.rules, self._is_nullable, False)
        self._rules = grammar.rules
        self._waiting: list[tuple[object, Expression]] = []

    def start_of(self, name: object) -> int:
        """The first state of a network, which is made when it is first asked for."""
        if name not in self.starts:
            assert isinstance(name, str)
            rule, value = instance_of(name)
            found = written_out(self._rules[rule], value)
            if found is None:  # it derives nothing
                self.starts[name], self.ends[name] = self._state(name), self._state(name)
            else:
                self._begin(name, found)
        while self._waiting:
            inner, expression = self._waiting.pop()
            self._between(inner, expression, self.starts[inner], self.ends[inner])
        return self.starts[name]

    def _is_nullable(self, lexeme: Lexeme) -> bool:
        return self.nodes.is_nullable(lexeme.node)

    def _state(self, name: object) -> int:
        self.edges.append([])
        self.owner.append(name)
        return len(self.edges) - 1

    def _begin(self, name: object, expression: Expression) -> None:
        self.starts[name] = self._state(name)
        self.ends[name] = self._state(name)
        self._waiting.append((name, expression))

    def _between(self, name: object, expression: Expression, begin: int, end: int) -> None:
        edges = self.edges[begin]
        if isinstance(expression, Lexeme):
            edges.append(Edge(SCAN, expression.node, end))
            if self._is_nullable(expression):
                edges.append(Edge(SKIP, None, end))
        elif isinstance(expression, TokenSet):
            edges.append(Edge(TOKEN, expression, end))
        elif isinstance(expression, Reference):
            edges.append(Edge(CALL, expression.name, end))
        elif isinstance(expression, Inclusion):
            edges.append(Edge(INCLUDE, expression, end))
        elif isinstance(expression, Sequence):
            here = begin
            for part in expression.parts[:-1]:
                after = self._state(name)
                self._between(name, part, here, after)
                here = after
            if expression.parts:
                self._between(name, expression.parts[-1], here, end)
            else:
                edges.append(Edge(SKIP, None, end))
        elif isinstance(expression, Repeat):
            self._repeated(name, expression, begin, end)
        else:
            assert isinstance(expression, Choice), "calls and conditions are written out"
            for option in expression.options:
                first = self._state(name)
                self.edges[begin].append(Edge(SKIP, None, first))
                self._between(name, option, first, end)

    def _repeated(self, name: object, expression: Repeat, begin: int, end: int) -> None:
        low, high = expression.low, expression.high
        if high == 0:
            self.edges[begin].append(Edge(SKIP, None, end))
        elif high == 1 or (high is None and low <= 1):
            first, last = self._state(name), self._state(name)
            self.edges[begin].append(Edge(SKIP, None, first))
            self._between(name, expression.part, first, last)
            if high is None:
                self.edges[last].append(Edge(SKIP, None, first))
            self.edges[last].append(Edge(SKIP, None, end))
            if low == 0:
                self.edges[begin].append(Edge(SKIP, None, end))
        else:
            if expression not in self.starts:
                self._begin_counter(expression)
            self.edges[begin].append(Edge(CALL, expression, end))

    def _begin_counter(self, expression: Repeat) -> None:
        low = 0 if derives_empty(expression.part, self.nullable, self._is_nullable) else expression.low
        self.counters[expression] = Counter(low, expression.high)
        start = self.starts[expression] = self.ends[expression] = self._state(expression)
        copy = ("copy", expression.part)
        if copy not in self.starts:
            self._begin(copy, expression.part)
        self.edges[start].append(Edge(CALL, copy, start))
