"""Which states can lead to the end of their rule, guards not looked at.

Asked only when some place was found to allow nothing, to tell a document that can do without it from one that cannot.
Every lexeme here is known not to be empty: the places that would scan an empty one write no edge.

In: rules. Out: a set of states. Cost: linear in the edges.
"""

from __future__ import annotations

import numpy as np

from llmask.grammar.rules import CALLS, EDGE_FIELDS, Rules


def productive_states(rules: Rules, known: bytes | bytearray = b"", n_known_edges: int = 0) -> bytearray:
    """1 for each state from which a final state can be reached, every rule called on the way deriving something.

    `known`: what was found for the first states; edges out of the others begin at `n_known_edges`.
    """
    edges = np.frombuffer(rules.edges, np.int32)[n_known_edges * EDGE_FIELDS :].reshape(-1, EDGE_FIELDS)
    edges = edges[np.argsort(edges[:, 3], kind="stable")]
    n_states = len(rules.state_rules)
    # edges into state s: first[s - n_known] to first[s - n_known + 1]
    n_known = len(known)
    first = np.searchsorted(edges[:, 3], np.arange(n_known, n_states + 1)).tolist()
    sources = edges[:, 0].tolist()
    rule_starts = np.frombuffer(rules.rule_starts, np.int32)
    is_call = np.isin(edges[:, 1], CALLS)
    # start state of the rule that an edge calls, -1 for other edges
    starts = np.where(is_call, rule_starts[np.where(is_call, edges[:, 2], 0)], -1).tolist()
    calls: dict[int, list[int]] = {}  # start state of a rule -> sources of its calls whose end is productive already
    productive = bytearray(known) + bytearray(n_states - n_known)
    waiting = [state for state in rules.finals[::2] if state >= n_known]
    for state in waiting:
        productive[state] = 1
    while waiting:
        here = waiting.pop()
        found = calls.pop(here, [])
        for at in range(first[here - n_known], first[here - n_known + 1]):
            start = starts[at]
            if start == -1 or productive[start]:
                found.append(sources[at])
            else:
                calls.setdefault(start, []).append(sources[at])
        for state in found:
            if not productive[state]:
                productive[state] = 1
                waiting.append(state)
    return productive
