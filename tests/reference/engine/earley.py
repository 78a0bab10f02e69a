"""Earley's parser over networks, its rows interned: this is kernels/parser.

    item    (state of a rule, count or set of its run, origin row)
    kernel  the items made by a scan, and by completions into earlier rows: a row's identity
    row     its kernel, and what is predicted from it

J. Earley, "An efficient context-free parsing algorithm", CACM 13 (1970); rules that derive the empty string are skipped
where they are predicted (J. Aycock, N. Horspool, "Practical Earley parsing", The Computer Journal 45, 2002). So nothing
is completed in the row in which it began, and the step from row to row is a function of the row and of what is scanned.
"""

from __future__ import annotations

from collections.abc import Iterable

from .rules import CALL, SCAN, SKIP, Network, Parameter

Item = tuple[int, Parameter, int]
Kernel = frozenset[Item]


class Parser:
    """The rows met so far, by number; row 0 is the first."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.kernels: list[Kernel] = []
        self.rows: list[frozenset[Item]] = []
        self.numbers: dict[Kernel, int] = {}
        self.nullable = self._nullable_rules()
        first = self._advanced({(network.starts[network.start], 0, 0)})
        self._add(first)  # no later row is this one, as nothing ignored may stand before it

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
            called = {self.network.starts[rule] for rule, _ in self._calls(waiting.pop())}
            fresh = self._advanced({(start, 0, row) for start in called}) - items
            items |= fresh
            waiting += fresh
        return frozenset(items)

    def _calls(self, item: Item) -> list[tuple[int, Item]]:
        """The rules that an item calls, each with the item behind it."""
        return [(symbol, after) for kind, symbol, after in self._edges(item) if kind == CALL]

    def _edges(self, item: Item) -> list[tuple[int, int, Item]]:
        """Kind and symbol of the edges that let an item through, and the item behind."""
        state, parameter, origin = item
        found = []
        for edge in self.network.edges.get(state, ()):
            after = self.network.behind(edge.guard, parameter)
            if after is not None:
                found.append((edge.kind, edge.symbol, (edge.target, after, origin)))
        return found

    def _advanced(self, items: Iterable[Item]) -> Kernel:
        """Some items, and those that are reached without taking anything."""
        found = set(items)
        waiting = list(found)
        while waiting:
            edges = self._edges(waiting.pop())
            free = {item for kind, symbol, item in edges if kind == SKIP or (kind == CALL and symbol in self.nullable)}
            waiting += free - found
            found |= free
        return frozenset(found)

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

    def expected(self, row: int) -> frozenset[int]:
        """The lexemes that may come next."""
        return frozenset(symbol for item in self.rows[row] for kind, symbol, _ in self._edges(item) if kind == SCAN)

    def accepts(self, row: int) -> bool:
        """Whether the document may end here."""
        start = self.network.start
        return self._ends(item for item in self.rows[row] if item[2] == 0 and self.network.rules[item[0]] == start)

    def goto(self, row: int, lexemes: frozenset[int], stays: bool) -> int:
        """The row after lexemes that end together; `stays`: the ignored one is among them, and the row goes on, too."""
        scanned = {
            after
            for item in self.rows[row]
            for kind, symbol, after in self._edges(item)
            if kind == SCAN and symbol in lexemes
        }
        kernel = set(self._advanced(scanned | (self.kernels[row] if stays else set())))
        waiting = list(kernel)
        while waiting:
            state, parameter, origin = waiting.pop()
            if not self.network.may_end(state, parameter):
                continue
            rule = self.network.rules[state]
            woken = {after for item in self.rows[origin] for called, after in self._calls(item) if called == rule}
            fresh = self._advanced(woken) - kernel
            kernel |= fresh
            waiting += fresh
        return self.intern(frozenset(kernel))
