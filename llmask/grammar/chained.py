"""Rules whose runs may wait for each other's end in a long chain, at the end of which all of them may end at once.

    list: item list tail?       after n items, the n runs of list may end, or each of them may read its tail

These are the rules in a circle of calls behind which the caller may end. Where nothing but the end may follow, tails.py
makes a loop of the circle; for what is left, rows hold such chains as one item each (kernels/parser/leo_items.py). It
is no matter of meaning: rules that are named here, or not, change only how items are kept.

In: `Rules`. Out: their column `chained`. Cost: about 1 us an edge.
"""

from __future__ import annotations

from array import array

from llmask.grammar.closures import components
from llmask.grammar.kinds import CALL, EDGE_FIELDS, SKIP
from llmask.grammar.rules import Rules


def chain(rules: Rules) -> Rules:
    """The same rules, those in such circles noted; guards are not looked at."""
    may_end = _may_end(rules)
    calls: list[list[int]] = [[] for _ in rules.names]
    for at in range(0, len(rules.edges), EDGE_FIELDS):
        state, kind, symbol, target = rules.edges[at : at + 4]
        if kind == CALL and may_end[target]:
            calls[rules.state_rules[state]].append(symbol)
    found = [members for members in components(calls) if len(members) > 1 or members[0] in calls[members[0]]]
    rules.chained = array("i", sorted(rule for members in found for rule in members))
    return rules


def _may_end(rules: Rules) -> list[bool]:
    """By state: whether the rule may end there without anything more."""
    into: list[list[tuple[int, int]]] = [[] for _ in rules.state_rules]  # states before, and rules called from there
    calling: list[list[tuple[int, int]]] = [[] for _ in rules.names]
    for at in range(0, len(rules.edges), EDGE_FIELDS):
        state, kind, symbol, target = rules.edges[at : at + 4]
        if kind == SKIP:
            into[target].append((state, -1))
        elif kind == CALL:
            into[target].append((state, symbol))
            calling[symbol].append((state, target))
    found = [False] * len(rules.state_rules)
    waiting = list(rules.finals[::2])
    while waiting:
        here = waiting.pop()
        if found[here]:
            continue
        found[here] = True
        waiting += [
            state for state, rule in into[here] if not found[state] and (rule < 0 or found[rules.rule_starts[rule]])
        ]
        rule = rules.state_rules[here]
        if rules.rule_starts[rule] == here:
            waiting += [state for state, target in calling[rule] if found[target]]
    return found
