"""How many bytes the shortest string of a regular expression has.

Exact where the expression is put together without intersection and complement, by its structure; these two are searched
breadth first through derivatives, up to a bound, and are at least as long as their longest operand beyond it.

In: a store, its nodes. Out: bytes (`NEVER` for no string). Cost: 2 us a node; a search 2 us a derivative.
"""

from __future__ import annotations

from llmask.kernels import engine
from llmask.kernels.regex.nodes import (
    FLAGS,
    K_AND,
    K_BYTES,
    K_CONCAT,
    K_DFA,
    K_EMPTY,
    K_EPSILON,
    K_LITERAL,
    K_NOT,
    K_REPEAT,
    K_UNION,
    KIND,
    LOW,
    MAP,
    NODE_FIELDS,
    NULLABLE,
    A,
    B,
)
from llmask.kernels.tables import store_layout
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
            fields = self._blocks.ints(store_layout.NODES, here * NODE_FIELDS, NODE_FIELDS)
            missing = [part for part in self._parts(fields) if part not in known]
            if missing:
                waiting += missing
                continue
            waiting.pop()
            known[here] = self._length(here, fields)
        return known[node]

    def after(self, node: int, byte: int) -> float:
        """The same for what may follow one byte."""
        return self.of(self._store.run(engine.DERIVATIVE, node, byte))

    def _parts(self, fields: list[int]) -> list[int]:
        if fields[KIND] == K_CONCAT:
            return fields[A : B + 1]
        if fields[KIND] in (K_UNION, K_AND):
            return self._blocks.items(store_layout.NODE_LISTS, fields[A])
        return [fields[A]] if fields[KIND] == K_REPEAT else []

    def _length(self, node: int, fields: list[int]) -> float:
        kind, known = fields[KIND], self._known
        if node in known:
            return known[node]
        if fields[FLAGS] & NULLABLE or kind == K_EPSILON:
            return 0
        if kind == K_EMPTY:
            return NEVER
        if kind == K_BYTES:
            return 1
        if kind == K_LITERAL:
            return fields[B]
        if kind == K_CONCAT:
            return known[fields[A]] + known[fields[B]]
        if kind == K_UNION:
            return min(known[part] for part in self._parts(fields))
        if kind == K_REPEAT:
            return fields[LOW] * known[fields[A]]
        if kind == K_DFA:
            return self._automaton(fields[A])[fields[B]]
        least = 1.0 if kind == K_NOT else max(known[part] for part in self._parts(fields))
        return self._searched(node, least)

    def _automaton(self, number: int) -> list[float]:
        """The distances of an automaton's states from accepting ones."""
        if number not in self._automata:
            _, width, first, said = self._blocks.ints(store_layout.DFAS, 4 * number, 4)
            n = (said - first) // width
            self._automata[number] = self._blocks.ints(store_layout.DFA_POOL, said, 2 * n)[1::2]
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
                    there = self._store.run(engine.DERIVATIVE, here, byte)
                    if there in seen:
                        continue
                    seen.add(there)
                    fields = self._blocks.ints(store_layout.NODES, there * NODE_FIELDS, NODE_FIELDS)
                    if fields[FLAGS] & NULLABLE:
                        return max(least, min(best, length))
                    if fields[KIND] not in (K_AND, K_NOT):
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
        class_map = self._blocks.at(store_layout.NODES, node * NODE_FIELDS + MAP)
        classes = self._blocks.raw(store_layout.CLASS_MAPS + 1, class_map * 256, 256)
        return [classes.index(number) for number in range(max(classes) + 1)]
