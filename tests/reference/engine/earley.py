"""Earley's parser over networks, its rows interned: this is kernels/parser.

    item    (state of a rule, count or set of its run, origin row)
    kernel  the items made by a scan, and by completions into earlier rows: a row's identity
    row     its kernel, and what is predicted from it

J. Earley, "An efficient context-free parsing algorithm", CACM 13 (1970); rules that derive the empty string are skipped
where they are predicted (J. Aycock, N. Horspool, "Practical Earley parsing", The Computer Journal 45, 2002). So nothing
is completed in the row in which it began, and the step from row to row is a function of the row and of what is scanned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from .rules import CALL, CHECK, SCAN, SKIP, Edge, Network, Parameter, members_of
from .values import Values, after_value

Item = tuple[int, Parameter, int]
Kernel = frozenset[Item]


class Parser:
    """The rows met so far, by number; row 0 is the first."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.kernels: list[Kernel] = []
        self.rows: list[frozenset[Item]] = []
        self.numbers: dict[Kernel, int] = {}
        self.nullable: set[int] = set()
        self.nullable_of: Network | None = None
        first = self._advanced({(self.network.starts[self.network.start], 0, 0)})
        self._add(first)  # no later row is this one, as nothing ignored may stand before it

    @property
    def network(self) -> Network:
        assert self.values.network is not None
        return self.values.network

    # --- rows

    def intern(self, kernel: Kernel) -> int:
        """The row of a kernel."""
        if kernel not in self.numbers:
            self.numbers[kernel] = self._add(kernel)
        return self.numbers[kernel]

    def _add(self, kernel: Kernel) -> int:
        row = len(self.rows)
        self.kernels.append(kernel)
        self.rows.append(self._predicted(kernel, row))
        return row

    def _predicted(self, kernel: Kernel, row: int) -> frozenset[Item]:
        """The items of a kernel, and of the rules that they call."""
        items = set(kernel)
        waiting = list(kernel)
        while waiting:
            called = {self.network.starts[rule] for rule in self._calls(waiting.pop())}
            fresh = self._advanced({(start, 0, row) for start in called}) - items
            items |= fresh
            waiting += fresh
        return frozenset(items)

    def _calls(self, item: Item) -> Iterator[int]:
        """The rules that an item calls."""
        for edge, _ in self._edges(item):
            rule = self.values.called(edge, item[1])
            if rule is not None:
                yield rule

    def _edges(self, item: Item) -> list[tuple[Edge, Item]]:
        """The edges that let an item through, and the item behind."""
        state, parameter, origin = item
        found = []
        for edge in self.network.edges.get(state, ()):
            after = self.network.behind(edge.guard, parameter)
            guard = self.network.guards[edge.guard]
            if after is None or (guard.kind == CHECK and guard.cap and not self._has_another(guard.cap - 1, parameter)):
                continue
            found.append((edge, (edge.target, after, origin)))
        return found

    def _has_another(self, rule: int, parameter: Parameter) -> bool:
        return self.values.without(rule, members_of(parameter).texts) is not None

    def _advanced(self, items: Iterable[Item]) -> Kernel:
        """Some items, and those that are reached without taking anything."""
        if self.nullable_of is not self.network:
            self.nullable_of = self.network
            self.nullable = self._nullable_rules()
        found = set(items)
        waiting = list(found)
        while waiting:
            edges = self._edges(waiting.pop())
            free = {after for edge, after in edges if edge.kind == SKIP or self._takes_nothing(edge)}
            waiting += free - found
            found |= free
        return frozenset(found)

    def _takes_nothing(self, edge: Edge) -> bool:
        return edge.kind == CALL and edge.symbol in self.nullable

    def _nullable_rules(self) -> set[int]:
        """The rules that derive the empty string."""
        self.nullable: set[int] = set()
        while True:
            found = {
                rule for rule, start in enumerate(self.network.starts) if self._ends(self._advanced({(start, 0, 0)}))
            }
            if found == self.nullable:
                return found
            self.nullable = found

    def _ends(self, items: Iterable[Item]) -> bool:
        return any(self.network.may_end(state, parameter) for state, parameter, _ in items)

    # --- what is asked of a row

    def scans(self, row: int) -> list[tuple[Edge, Item]]:
        """The edges over lexemes that may come next, and the items behind."""
        return [pair for item in self.rows[row] for pair in self._edges(item) if pair[0].kind == SCAN]

    def begins_value(self, row: int) -> bool:
        """Whether a value begins whose text is recorded."""
        return any(edge.kind > SKIP for item in self.rows[row] for edge, _ in self._edges(item))

    def accepts(self, row: int) -> bool:
        """Whether the document may end here."""
        start = self.network.start
        return self._ends(item for item in self.rows[row] if item[2] == 0 and self.network.rules[item[0]] == start)

    def goto(self, row: int, lexemes: frozenset[int], ignored_priority: int | None, texts: Mapping[int, bytes]) -> int:
        """The row after lexemes that end together.

        Of them only the edges of the highest priority are taken, bare ones and others apart. `ignored_priority`: of
        the ignored one, which competes with all, or None where it has not ended; if it wins, the row goes on, too.
        `texts`: what was read since a row, of those in which values begin that must differ.
        """
        scans = [(edge, after) for edge, after in self.scans(row) if edge.symbol in lexemes]
        least = {is_bare: {edge.priority for edge, _ in scans if edge.is_bare == is_bare} for is_bare in (False, True)}
        if ignored_priority is not None:
            least = {is_bare: priorities | {ignored_priority} for is_bare, priorities in least.items()}
        taken = {after for edge, after in scans if edge.priority == max(least[edge.is_bare])}
        if ignored_priority == max(max(priorities) for priorities in least.values() if priorities):
            taken |= self.kernels[row]
        kernel = set(self._advanced(taken))
        waiting = list(kernel)
        while waiting:
            state, parameter, origin = waiting.pop()
            if self.network.may_end(state, parameter):
                fresh = self._advanced(self._woken(self.network.rules[state], origin, texts)) - kernel
                kernel |= fresh
                waiting += fresh
        return self.intern(frozenset(kernel))

    def _woken(self, rule: int, origin: int, texts: Mapping[int, bytes]) -> Iterator[Item]:
        """The items behind a rule that began in a row and ends here."""
        for item in self.rows[origin]:
            for edge, after in self._edges(item):
                if self.values.called(edge, item[1]) != rule:
                    continue
                if edge.kind == CALL:
                    yield after
                    continue
                parameter = after_value(edge, item[1], texts[origin])
                if parameter is not None:
                    yield edge.target, parameter, item[2]
