"""Which states can lead to the end of their rule, guards not looked at.

Asked only when some place was found to allow nothing, to tell a document that can do without it from one that cannot.
Every lexeme here is known not to be empty: the places that would scan an empty one write no edge.

In: rules. Out: a set of states. Cost: linear in the edges.
"""

from __future__ import annotations

from llmask.grammar.rules import CALL, EDGE_FIELDS, Rules


def productive_states(rules: Rules) -> set[int]:
    """States from which a final state can be reached, every rule called on the way deriving something."""
    waiting = [rules.finals[at] for at in range(0, len(rules.finals), 2)]
    productive = set(waiting)
    edges = rules.edges
    into: dict[int, list[tuple[int, int]]] = {}  # state -> (state before, rule called on the way or -1)
    calls: dict[int, list[tuple[int, int]]] = {}  # start state of a rule -> (state before, state after)
    for at in range(0, len(edges), EDGE_FIELDS):
        state, kind, symbol, following = edges[at : at + 4]
        start = rules.rule_starts[symbol] if kind == CALL else -1
        into.setdefault(following, []).append((state, start))
        if kind == CALL:
            calls.setdefault(start, []).append((state, following))
    while waiting:
        here = waiting.pop()
        found = [state for state, start in into.get(here, ()) if start == -1 or start in productive]
        found += [state for state, following in calls.get(here, ()) if following in productive]
        for state in found:
            if state not in productive:
                productive.add(state)
                waiting.append(state)
    return productive
