"""How many bytes the shortest string of a regular expression has.

Exact where the expression is put together without intersection and complement, by its structure; these two are searched
breadth first through derivatives, up to a bound, and are at least as long as their longest operand beyond it.

In: a store, its nodes. Out: bytes (`NEVER` for no string). Cost: 2 us a node; a search 2 us a derivative.
"""

from __future__ import annotations

from llmask.kernels.machine.views import RecordView
from llmask.kernels.tables.kinds import NodeKind
from llmask.kernels.tables.operations import Operation
from llmask.kernels.tables.store_layout import STORE
from llmask.store.store import Store

from .blocks import Blocks

NEVER = float("inf")
MOST_SEARCHED = 400  # nodes of one search


class Lengths:
    """Shortest strings of one store's nodes, remembered."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._blocks = Blocks(store.table)
        self._known: dict[int, float] = {}
        self._automata: dict[int, list[float]] = {}

    def of(self, node: int) -> float:
        """Bytes of the shortest string, or a number that is not above it."""
        known = self._known
        if node in known:
            return known[node]
        waiting = [node]
        while waiting:
            here = waiting[-1]
            fields = self._store.table.view.nodes[here]
            missing = [part for part in self._parts(fields) if part not in known]
            if missing:
                waiting += missing
                continue
            waiting.pop()
            known[here] = self._length(here, fields)
        return known[node]

    def after(self, node: int, byte: int) -> float:
        """The same for what may follow one byte."""
        return self.of(self._store.run(Operation.DERIVATIVE, node, byte))

    def _parts(self, fields: RecordView) -> list[int]:
        if fields.kind == NodeKind.CONCAT:
            return [fields.a, fields.b]
        if fields.kind in (NodeKind.UNION, NodeKind.AND):
            return self._blocks.items(STORE.node_lists, fields.a)
        return [fields.a] if fields.kind == NodeKind.REPEAT else []

    def _length(self, node: int, fields: RecordView) -> float:
        kind, known = fields.kind, self._known
        if node in known:
            return known[node]
        if fields.nullable or kind == NodeKind.EPSILON:
            return 0
        if kind == NodeKind.EMPTY:
            return NEVER
        if kind == NodeKind.BYTES:
            return 1
        if kind == NodeKind.LITERAL:
            return fields.b
        if kind == NodeKind.CONCAT:
            return known[fields.a] + known[fields.b]
        if kind == NodeKind.UNION:
            return min(known[part] for part in self._parts(fields))
        if kind == NodeKind.REPEAT:
            return fields.low * known[fields.a]
        if kind == NodeKind.DFA:
            return self._automaton(fields.a)[fields.b]
        least = 1.0 if kind == NodeKind.NOT else max(known[part] for part in self._parts(fields))
        return self._searched(node, least)

    def _automaton(self, number: int) -> list[float]:
        """The distances of an automaton's states from accepting ones."""
        if number not in self._automata:
            dfa = self._store.table.view.dfas[number]
            n = (dfa.said - dfa.first) // dfa.width
            self._automata[number] = self._blocks.ints(STORE.dfa_pool, dfa.said, 2 * n)[1::2]
        return self._automata[number]

    def _searched(self, node: int, least: float) -> float:
        """Breadth first, one byte of each class; what is known of a node on the way ends its branch."""
        seen, layer, length = {node}, [node], 0
        best = NEVER
        while layer and length < best:
            length += 1
            after = []
            for here in layer:
                for byte in self._representatives(here):
                    there = self._store.run(Operation.DERIVATIVE, here, byte)
                    if there in seen:
                        continue
                    seen.add(there)
                    fields = self._store.table.view.nodes[there]
                    if fields.nullable:
                        return max(least, min(best, length))
                    if fields.kind not in (NodeKind.AND, NodeKind.NOT):
                        best = min(best, length + self.of(there))
                    elif there in self._known:
                        best = min(best, length + self._known[there])
                    else:
                        after.append(there)
            if len(seen) > MOST_SEARCHED:
                return max(least, min(best, length + 1))
            layer = after
        return max(least, best)

    def _representatives(self, node: int) -> list[int]:
        """A byte of each class of the node's class map."""
        class_map = self._store.table.view.nodes[node].map
        classes = self._blocks.raw(STORE.class_maps + 1, class_map * 256, 256)
        return [classes.index(number) for number in range(max(classes) + 1)]
