"""Strongly connected components of a graph, and what can be reached in it, as sets of bits.

Source: R. Tarjan, "Depth-first search and linear graph algorithms", SIAM Journal on Computing 1 (1972), with a stack
of its own: chains of a million rules are no recursion.

In: the successors of each vertex. Out: components; a bit set for each vertex. Cost: about 1 us an edge.
"""

from __future__ import annotations

from collections.abc import Sequence


def components(successors: Sequence[Sequence[int]]) -> list[list[int]]:
    """Strongly connected components, each behind all that it leads to."""
    n = len(successors)
    order = [-1] * n  # number of a vertex in the order of discovery
    lowest = [0] * n
    on_stack = [False] * n
    stack: list[int] = []
    found: list[list[int]] = []
    n_seen = 0
    for root in range(n):
        if order[root] >= 0:
            continue
        path = [(root, 0)]
        while path:
            vertex, at = path.pop()
            if at == 0:
                order[vertex] = lowest[vertex] = n_seen
                n_seen += 1
                stack.append(vertex)
                on_stack[vertex] = True
            if at < len(successors[vertex]):
                path.append((vertex, at + 1))
                target = successors[vertex][at]
                if order[target] < 0:
                    path.append((target, 0))
                elif on_stack[target]:
                    lowest[vertex] = min(lowest[vertex], order[target])
                continue
            if lowest[vertex] == order[vertex]:
                members: list[int] = []
                while not members or members[-1] != vertex:
                    members.append(stack.pop())
                    on_stack[members[-1]] = False
                found.append(members)
            if path:
                parent = path[-1][0]
                lowest[parent] = min(lowest[parent], lowest[vertex])
    return found


def closure(successors: Sequence[Sequence[int]], own: Sequence[int]) -> list[int]:
    """For each vertex, the union of the bit sets `own` of all vertices that it leads to, itself included."""
    reached = [0] * len(successors)
    for members in components(successors):
        bits = 0
        for vertex in members:
            bits |= own[vertex]
            for target in successors[vertex]:
                bits |= reached[target]
        for vertex in members:
            reached[vertex] = bits
    return reached
