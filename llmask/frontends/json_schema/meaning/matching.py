"""Items that must come and have listed values: which of the values they cannot do without.

Items find different values iff no k of them have fewer than k values together (P. Hall, "On representatives of
subsets", 1935). A matching in the bipartite graph of items and values decides it; items with the same values are one
node that takes several. A value is needed iff every complete matching has it, that is, iff no alternating path leads
from a free value to it (A. L. Dulmage, N. S. Mendelsohn, "Coverings of bipartite graphs", 1958).

    {1, 2}, {1}, {3, 4}    each complete matching has 1 and 2; of 3 and 4 either can be given up

When a sequence has read one item more, the matching that answered for the items before lacks one value at most, and an
augmenting path (C. Berge, "Two theorems in graph theory", 1957) finds another. A matching from nothing for each value
asked about lost: 0.2 s a question where 100 items have 100 values.

In: items, then positions and used values. Out: needed values. Cost: a microsecond an item; an augmenting path 50 ns a
value of each item that it visits.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Set

Matched = dict[Hashable, int]  # value -> node that has it
NONE: frozenset[int] = frozenset()


class Matching:
    """Items that must come, each with a list of the values that it may be.

    Parameters
    ----------
    items : position, values, and how many items of these values come one after the other from that position on.

    Attributes
    ----------
    is_complete : whether all items find different values.
    last_position : of an item, -1 without items.
    """

    def __init__(self, items: Iterable[tuple[int, Iterable[Hashable], int]]) -> None:
        nodes: dict[frozenset[Hashable], int] = {}
        self._items = [(position, nodes.setdefault(frozenset(values), len(nodes)), n) for position, values, n in items]
        self._values = list(nodes)
        self._all: frozenset[Hashable] = frozenset().union(*self._values)
        self.last_position = max((position for position, _, _ in self._items), default=-1)
        # the last question's position, how many values each node has for the items after it, and which
        self._position, self._wanted = -1, self._wanted_after(-1)
        self._whole: Matched = {}
        self._last = self._whole
        self.is_complete = self._complete(self._whole, _lacking(self._whole, self._wanted), set(self._all))

    def needed(self, position: int, used: Set[Hashable], asked: Iterable[Hashable]) -> set[Hashable]:
        """The values of `asked` without which the items after `position` do not find one each, none of them in `used`.

        Of items that come one after the other, `position` may be none but the last.
        """
        if position == self._position:
            matched = self._last.copy()
            lacking = [matched.pop(value) for value in used & matched.keys()]
        else:
            self._position, self._wanted = position, self._wanted_after(position)
            matched = max((_kept(known, self._wanted, used) for known in (self._last, self._whole)), key=len)
            lacking = _lacking(matched, self._wanted)
        free = set(self._all - used - matched.keys())
        self._complete(matched, lacking, free)
        self._last = matched
        loose: set[int] = set()  # nodes that can exchange what they have, and those that cannot
        bound: set[int] = set()
        needed = set()
        for value in asked:
            node = matched.get(value, -1)
            if node >= 0 and node not in loose and node not in bound:
                ways, end = self._search(node, matched, free, set(matched), loose)
                if end < 0:
                    bound.update(ways)
                while end >= 0:
                    loose.add(end)
                    end = ways[end][0]
            if node in bound:
                needed.add(value)
        return needed

    def _wanted_after(self, position: int) -> list[int]:
        """How many values each node is to have for the items after `position`."""
        wanted = [0] * len(self._values)
        for first, node, n in self._items:
            if first > position:
                wanted[node] += min(n, len(self._all) + 1)
        return wanted

    def _complete(self, matched: Matched, lacking: list[int], free: set[Hashable]) -> bool:
        """Give nodes one value more each time that they are named, out of `free`; whether there are enough.

        In one round over the nodes a value is tried once, so that a round costs no more than the graph has edges.
        """
        while lacking:
            untried = set(matched)
            left = [node for node in lacking if not self._augment(node, matched, free, untried)]
            if len(left) == len(lacking):
                return False
            lacking = left
        return True

    def _augment(self, node: int, matched: Matched, free: set[Hashable], untried: set[Hashable]) -> bool:
        """Give a node one more value: a free one, or one of a node that takes another instead."""
        ways, end = self._search(node, matched, free, untried, NONE)
        if end < 0:
            return False
        few, many = sorted((self._values[end], free), key=len)
        value = next(value for value in few if value in many)
        free.remove(value)
        while end >= 0:
            matched[value] = end
            end, value = ways[end]
        return True

    def _search(
        self, node: int, matched: Matched, free: set[Hashable], untried: set[Hashable], ends: Set[int]
    ) -> tuple[dict[int, tuple[int, Hashable]], int]:
        """Nodes that are reached from a node when each takes values of others, and the first that needs none of them.

        With each goes the node before it, -1 before the first one, and the value that it gives to that one. The first
        that needs none may take a free value or is one of `ends`; -1 where all of them need one.
        """
        ways: dict[int, tuple[int, Hashable]] = {node: (-1, None)}
        takers = [node]
        for taker in takers:  # which grows
            values = self._values[taker]
            if taker in ends or not values.isdisjoint(free):
                return ways, taker
            reached = values & untried
            untried -= reached
            for value in reached:
                giver = matched[value]
                if giver not in ways:
                    ways[giver] = taker, value
                    takers.append(giver)
        return ways, -1


def _lacking(matched: Matched, wanted: list[int]) -> list[int]:
    """Nodes that have fewer values than wanted, each as often as it lacks one."""
    left = list(wanted)
    for node in matched.values():
        left[node] -= 1
    return [node for node, n in enumerate(left) for _ in range(n)]


def _kept(matched: Matched, wanted: list[int], used: Set[Hashable]) -> Matched:
    """What is left of a matching for other numbers of values wanted, without those used."""
    left = list(wanted)
    kept = {}
    for value, node in matched.items():
        if left[node] and value not in used:
            left[node] -= 1
            kept[value] = node
    return kept
