"""Strings of a regular expression: the shortest one, and random ones.

Where nothing is intersected or complemented, a node says how long its shortest string is (`distance`,
kernels/regex/constructors.py), so the way to it is found byte by byte. Other nodes are searched through, best first: by
bytes read and bytes needed, as an intersection needs what each of its members does.

In: a node. Out: bytes. Cost: about 20 us a byte where a node is new, 1 us where it is known; MOST_SEARCHED bounds it.
"""

from __future__ import annotations

import ctypes
import sys
from heapq import heapify, heappop, heappush
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from llmask.errors import LimitExceeded, LlmaskError
from llmask.kernels.regex.nodes import BYTE_DISTANCE, MOST_DISTANCE, NodeFlag
from llmask.kernels.tables.kinds import NodeKind
from llmask.kernels.tables.store_layout import STORE
from llmask.regex.notation import MOST_NESTED, list_in

if TYPE_CHECKING:
    from llmask.kernels.table import Table
    from llmask.regex.nodes import RegexNodes

MOST_SEARCHED = 20_000  # nodes that the search for one shortest string may visit, about a second
QUOTE = ord('"')
MOST_KNOWN = 200_000  # nodes whose ways are remembered
STOPS = (0.3, 0.05)  # how often a random string ends where it may, one of them for each string
FIELDS = STORE.record("nodes").names
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def _weights() -> tuple[float, ...]:
    """How often a byte is taken, compared with others: letters often, control characters hardly ever."""
    found = [0.01] * 0x20 + [0.5] * 0x5F + [0.01] * 0x81
    for letter in LETTERS:
        found[ord(letter)] = 2.0
    found[0x20] = 3.0
    found[0x0A] = 0.3
    return tuple(found)


WEIGHTS = _weights()
USUAL_FIRST = sorted(range(256), key=WEIGHTS.__getitem__, reverse=True)


class Way(NamedTuple):
    """Bytes that lead to the same place, the usual ones first, the node there, and how often they are taken."""

    members: bytes
    target: int
    weight: float


class Strings:
    """Strings of the nodes of one store; used by one thread at a time.

    Parameters
    ----------
    nodes, table, lock : of the store.
    most_searched : nodes that the search for one shortest string may visit, 50 us each.

    Attributes
    ----------
    lengths : what `length` has found so far.
    """

    def __init__(self, nodes: RegexNodes, table: Table, lock: Any, most_searched: int = MOST_SEARCHED) -> None:
        self._nodes = nodes
        self._table = table
        self._lock = lock
        self._most_searched = most_searched
        self._ways: dict[int, list[Way]] = {}
        self._maps: dict[int, list[bytes]] = {}
        self.lengths: dict[int, int] = {}
        self._bounds: dict[int, int] = {}
        self._forced: dict[int, tuple[bytes, int]] = {}

    def length(self, node: int) -> int:
        """Length of a shortest string, in bytes.

        Raises
        ------
        LimitExceeded : it is longer than a million bytes, or the search for it takes too long.
        LlmaskError : the node means tokens, whatever their text.
        """
        found = self.lengths.get(node)
        if found is None:
            if self._nodes.names_tokens(node):
                raise LlmaskError("the grammar names tokens, which are no text", help="it has no sentences in bytes")
            record = self._record(node)
            if record["flags"] & NodeFlag.HIDES:
                found = self._searched(node)
            elif record["distance"] >= MOST_DISTANCE:
                raise LimitExceeded("a lexeme has no short string", help="shorten its repetition")
            else:
                found = record["distance"] // BYTE_DISTANCE
            self.lengths[node] = found
        return found

    def lexeme_length(self, node: int) -> int:
        """Length of a shortest string that is not empty."""
        return self.length(node) or 1 + min((self.length(way.target) for way in self.ways(node)), default=0)

    def ways(self, node: int) -> list[Way]:
        """What may come next, by classes of bytes that lead to the same node."""
        found = self._ways.get(node)
        if found is None:
            if len(self._ways) > MOST_KNOWN:
                self._ways.clear()
                self._maps.clear()
            found = self._ways[node] = self._find_ways(node)
        return found

    def forced(self, node: int) -> tuple[bytes, int]:
        """The bytes that all strings of a node begin with, as far as its ways tell, and the node after them."""
        found = self._forced.get(node)
        if found is None:
            text, target = bytearray(), node
            while self.length(target) > 0 and len(ways := self.ways(target)) == 1 and len(ways[0].members) == 1:
                text += ways[0].members
                target = ways[0].target
            found = self._forced[node] = bytes(text), target
        return found

    def shortest(self, node: int) -> bytes:
        """A shortest string that is not empty; of several that with the most usual letters."""
        found = bytearray()
        while not found or self.length(node):
            ways = self.ways(node)
            least = min(self.length(way.target) for way in ways)
            way = max((way for way in ways if self.length(way.target) == least), key=lambda way: way.weight)
            found.append(way.members[0])
            node = way.target
        return bytes(found)

    def sample(self, node: int, random: Random, n_bytes: int) -> bytes:
        """A random string that is not empty; when it has `n_bytes` it takes the shortest way to an end.

        None is left out, but most have letters rather than control characters.
        """
        found = bytearray()
        stops = random.choice(STOPS)
        while True:
            ways = self.ways(node)
            if found and (not ways or (self._nodes.is_nullable(node) and random.random() < stops)):
                return bytes(found)
            if len(found) >= n_bytes:
                if found and self.length(node) == 0:
                    return bytes(found)
                if self.length(node) > 0 and self._record(node)["flags"] & NodeFlag.HIDES:
                    ways = [way for way in ways if way.target in self.lengths]  # of one of the nearest it was noted
                least = min(self.length(way.target) for way in ways)
                ways = [way for way in ways if self.length(way.target) == least]
            way = random.choices(ways, [way.weight for way in ways])[0]
            found.append(random.choices(way.members, [WEIGHTS[byte] for byte in way.members])[0])
            node = way.target

    def _find_ways(self, node: int) -> list[Way]:
        record = self._record(node)
        hides = record["flags"] & NodeFlag.HIDES
        found: dict[int, bytes] = {}
        for members in self._classes(record["map"]):
            target = self._nodes.derivative(node, members[0])
            if target in found:
                found[target] = bytes(sorted(found[target] + members, key=WEIGHTS.__getitem__, reverse=True))
            elif target != self._nodes.EMPTY and not (hides and self._nodes.is_empty(target)):
                found[target] = members
        return [
            Way(members, target, WEIGHTS[members[0]] * min(len(members), 8) ** 0.5) for target, members in found.items()
        ]

    def _classes(self, class_map: int) -> list[bytes]:
        """Bytes by their class, the usual ones first."""
        found = self._maps.get(class_map)
        if found is None:
            with self._lock:  # a block may be moved while it grows
                classes = ctypes.string_at(self._table.view.class_maps.pool.address + 256 * class_map, 256)
            members = [bytearray() for _ in range(max(classes) + 1)]
            for byte in USUAL_FIRST:
                members[classes[byte]].append(byte)
            found = self._maps[class_map] = list(map(bytes, members))
        return found

    def _record(self, node: int) -> dict[str, int]:
        """The record of a node (kernels/tables/store_layout.py); what is read of it never changes."""
        with self._lock:
            numbers = self._table.read(STORE.nodes, len(FIELDS) * node, len(FIELDS)).tolist()
        return dict(zip(FIELDS, numbers, strict=True))

    def _bound(self, node: int, depth: int = 0) -> int:
        """A length that no string of a node goes below."""
        found = self._bounds.get(node)
        if found is None:
            record = self._record(node)
            found = record["distance"] // BYTE_DISTANCE
            if record["flags"] & NodeFlag.HIDES and record["kind"] != NodeKind.NOT:  # then it is a guess
                if depth > MOST_NESTED:
                    return 0
                if record["kind"] == NodeKind.CONCAT:
                    found = self._bound(record["a"], depth + 1) + self._bound(record["b"], depth + 1)
                elif record["kind"] == NodeKind.REPEAT:
                    found = record["low"] * self._bound(record["a"], depth + 1)
                else:
                    with self._lock:
                        members = list_in(self._table, STORE.node_lists, record["a"])
                    bounds = [self._bound(member, depth + 1) for member in members]
                    found = min(bounds) if record["kind"] == NodeKind.UNION else max(bounds)
            self._bounds[node] = found
        return found

    def _searched(self, root: int) -> int:
        """The length for a node; noted, too, for all nodes that were come by, as far as it is certain.

        It is where a way was found that is no longer than one at such a depth may be at least: no string of the root is
        shorter than `least`.
        """
        depths = {root: 0}
        before: dict[int, list[int]] = {}
        known: list[tuple[int, int]] = []
        waiting = [(0, 0, root)]  # a bound of all strings through a node, its depth below 0
        least = sys.maxsize
        while waiting and waiting[0][0] < least:
            length, rank, node = heappop(waiting)
            depth = -rank
            if depth > depths[node]:
                continue
            if depth + self._bound(node) > length:
                heappush(waiting, (depth + self._bound(node), rank, node))
                continue
            left = 0 if self._nodes.is_nullable(node) else self.lengths.get(node)
            if left is None and self._bound(node) <= 1 and self._closes(node):
                left = 1  # a quote ends most strings that hide: other ways are dear to find
            if left is not None:
                known.append((left, node))
                least = min(least, depth + left)
                continue
            for way in self.ways(node):
                before.setdefault(way.target, []).append(node)
                if depth + 1 < depths.get(way.target, sys.maxsize):
                    depths[way.target] = depth + 1
                    heappush(waiting, (length, rank - 1, way.target))
            if len(depths) > self._most_searched:
                raise LimitExceeded(
                    f"the search for the shortest string of a lexeme visits more than {self._most_searched} places",
                    help="simplify what is intersected or complemented in it",
                )
        assert least < sys.maxsize, "an empty node is no lexeme"
        heapify(known)
        seen: set[int] = set()
        while known:
            left, node = heappop(known)
            if node not in seen:
                seen.add(node)
                if depths[node] + left <= least:
                    self.lengths[node] = left
                for other in before.get(node, ()):
                    heappush(known, (left + 1, other))
        return least

    def _closes(self, node: int) -> bool:
        target = self._nodes.derivative(node, QUOTE)
        closes = self._nodes.is_nullable(target)
        if closes:
            self.lengths[target] = 0
        return closes
