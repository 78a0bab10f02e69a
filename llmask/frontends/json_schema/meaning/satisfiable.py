"""Which states can lead to the end of their rule, and which places allow something.

Guards are looked at as far as an object asks for members: it can end once all required ones, and as many as it needs at
least, were found to allow something. Asked only when some place was found to allow nothing, to tell a document that can
do without it from one that cannot, and where guards rely on members. Every lexeme here is known not to be empty: the
places that would scan an empty one write no edge.

In: rules. Out: sets of states. Cost: linear in the edges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from llmask.grammar.diagrams import Condition
from llmask.grammar.kinds import CALLS, EDGE_FIELDS, StateId
from llmask.grammar.rules import Rules


class Need(NamedTuple):
    """What must allow something before an object can end: members by the state before and the one after their value.

    members    declared ones
    required   the members that must be there
    free       one of these may come any number of times
    least      how many there must be
    condition  what they must fulfil together, by their numbers
    """

    members: dict[StateId, StateId]
    required: set[StateId]
    free: dict[StateId, StateId]
    least: int
    condition: Condition | None = None
    numbers: Mapping[StateId, Sequence[int]] = {}

    def is_met_by(self, found: Callable[[StateId], int]) -> bool:
        """Whether the members that were found to allow something are enough."""
        there = [state for state in self.members if found(state)]
        n_found = self.least if any(map(found, self.free)) else len(there)
        if n_found < self.least or not self.required.issubset(there):
            return False
        return self.condition is None or self.condition.can_hold({at for one in there for at in self.numbers[one]})


def productive_states(rules: Rules) -> bytearray:
    """1 for each state from which a final state can be reached, every rule called on the way deriving something."""
    return states_that_lead_on(rules, {}, ())[0]


def part_without_end(rules: Rules) -> str:
    """Name of a rule that derives nothing, reached from the start, which derives nothing either.

    Of rules that call each other without end the one at which the way from the start comes back to itself.
    """
    productive = productive_states(rules)
    calls: dict[int, list[int]] = {}
    for at in range(0, len(rules.edges), EDGE_FIELDS):
        state, kind, symbol = rules.edges[at : at + 3]
        if kind in CALLS and not productive[rules.rule_starts[symbol]]:
            calls.setdefault(rules.state_rules[state], []).append(symbol)
    rule, seen = int(rules.start), set[int]()
    while rule not in seen and rule in calls:
        seen.add(rule)
        rule = calls[rule][0]
    return rules.names[rule]


def states_that_lead_on(
    rules: Rules,
    needs: Mapping[StateId, Need],
    ends: Iterable[StateId],
    known: bytes | bytearray = b"",
    n_known_edges: int = 0,
) -> tuple[bytearray, bytearray]:
    """1 for each state from which a final state can be reached, and for each from which one of `ends` can.

    Parameters
    ----------
    needs : by the last state of an object's rule, which is final when its needs are met.
    ends : states after places; the states after the members of `needs` belong to them.
    known : what was found for the first states; needs and ends are of other states, and edges out of others begin at
        `n_known_edges`.
    """
    edges = np.array(rules.edges[n_known_edges * EDGE_FIELDS :]).reshape(-1, EDGE_FIELDS)
    edges = edges[np.argsort(edges[:, 3], kind="stable")]
    n_states, n_known = len(rules.state_rules), len(known)
    # edges into state s: first[s - n_known] to first[s - n_known + 1]
    first = np.searchsorted(edges[:, 3], np.arange(n_known, n_states + 1)).tolist()
    sources = edges[:, 0].tolist()
    rule_starts = np.array(rules.rule_starts)  # no view: one that a traceback keeps alive would not let the array grow
    is_call = np.isin(edges[:, 1], CALLS)
    # start state of the rule that an edge calls, -1 for other edges
    starts = np.where(is_call, rule_starts[np.where(is_call, edges[:, 2], 0)], -1).tolist()
    need_of = {start: last for last, need in needs.items() for start in (*need.members, *need.free)}
    # a state twice: on the way to a final state, and, n_states further, to the end of a place
    ends = {*ends, *(end for need in needs.values() for end in (*need.members.values(), *need.free.values()))}
    reached = bytearray(known) + bytearray(2 * n_states - n_known)
    waiting = [state for state in rules.finals[::2] if state >= n_known and state not in needs]
    asked = set(needs)  # needs with members that were found since they were looked at
    waiting += [n_states + state for state in ends]
    for state in waiting:
        reached[state] = 1
    calls: dict[int, list[int]] = {}  # start state of a rule -> sources of its calls whose end is reached already
    while waiting or asked:
        if not waiting:
            met = [end for end in asked if needs[end].is_met_by(lambda state: reached[n_states + state])]
            asked.clear()
            for end in met:
                reached[end] = 1
            waiting += met
            continue
        here = waiting.pop()
        shift = n_states if here >= n_states else 0
        found = calls.pop(here, [])
        for at in range(first[here - shift - n_known], first[here - shift - n_known + 1]):
            start = starts[at]
            if start == -1 or reached[start]:
                found.append(sources[at] + shift)
            else:
                calls.setdefault(start, []).append(sources[at] + shift)
        last = need_of.get(StateId(here - n_states)) if shift else None
        if last is not None and not reached[last]:
            asked.add(last)
        for state in found:
            if not reached[state]:
                reached[state] = 1
                waiting.append(state)
    return reached[:n_states], reached[n_states:]
