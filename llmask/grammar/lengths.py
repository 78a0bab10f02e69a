"""How many bytes a rule takes at least from each of its states to its end.

Guards are not looked at, so a count that is still too low may ask for more: these are lower bounds, and exact without
guards. Source: D. Knuth, "A generalization of Dijkstra's algorithm", Information Processing Letters 6 (1977): the
shortest state is known next, and a call is known when the rule and the state behind it are.

In: a `Network`, and the length of each lexeme. Out: a number for each state, None where no end is reached. Cost: about
2 us an edge.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush

from llmask.grammar.kinds import SCAN, SKIP
from llmask.grammar.tails import Network


def shortest_ends(network: Network, lexeme_length: Callable[[int], int]) -> list[int | None]:
    """See the module."""
    rules = network.rules
    n_states = len(network.edges)
    found: list[int | None] = [None] * n_states
    into: list[list[tuple[int, int, int]]] = [[] for _ in range(n_states)]  # state before, called rule or -1, bytes
    calls: list[list[tuple[int, int]]] = [[] for _ in rules.names]  # states before and behind
    lengths: dict[int, int] = {}
    for state, edges in enumerate(network.edges):
        for edge in edges:
            if edge.kind == SCAN:
                if edge.symbol not in lengths:
                    lengths[edge.symbol] = lexeme_length(edge.symbol)
                into[edge.target].append((state, -1, lengths[edge.symbol]))
            elif edge.kind == SKIP:
                into[edge.target].append((state, -1, 0))
            else:
                into[edge.target].append((state, edge.symbol, 0))
                calls[edge.symbol].append((state, edge.target))
    waiting = [(0, state) for state in range(n_states) if network.finals[state]]
    while waiting:
        length, state = heappop(waiting)
        if found[state] is not None:
            continue
        found[state] = length
        for before, rule, n_bytes in into[state]:
            inside = 0 if rule < 0 else found[rules.rule_starts[rule]]
            if inside is not None and found[before] is None:
                heappush(waiting, (length + n_bytes + inside, before))
        rule = rules.state_rules[state]
        if rules.rule_starts[rule] == state:
            for before, behind in calls[rule]:
                rest = found[behind]
                if rest is not None and found[before] is None:
                    heappush(waiting, (length + rest, before))
    return found
