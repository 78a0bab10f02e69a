r"""Right recursion as a loop: a rule that calls another one as the last thing it does goes on there instead.

    list: item "," list | item          list: start -item-> more -","-> start      more -> end

A right-recursive list of n elements keeps n runs open that all end at its end, so every row is a new one and the last
step completes them one by one: n rows of n items. As a loop it has as many rows as a left-recursive one. It is the
elimination of tail calls (G. Steele, "Debunking the 'expensive procedure call' myth", 1977) on networks; J. Leo's
transitive items ("A general context-free parsing algorithm running in linear time on every LR(k) grammar without using
lookahead", Theoretical Computer Science 82, 1991) do the same while parsing, and also where what follows the call may
be empty or not; such calls stay calls here, see kernels/parser/leo_items.py.

Rules that call each other in a circle of tail calls become one network each, with a copy of the others. Rules that
count or carry a set are left alone: their runs have to stay apart.

What no loop can replace is *chained* (`Rules.chained`): the runs of such rules may wait in a long chain for each
other's end, where all of them may end at once, and rows hold the chain as one item. It is no matter of
meaning: rules that are chained, or not, change only how items are kept.

    list: item list tail?       after n items, the n runs of list may end, or each of them may read its tail

Circles of calls are strongly connected components. Source: R. Tarjan, "Depth-first search and linear graph
algorithms", SIAM Journal on Computing 1 (1972), with a stack of its own: chains of a million rules are no recursion.

In: `Rules`. Out: `Rules` with the same numbers of rules; components of graphs. Cost: about 2 us an edge.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import reduce
from operator import or_
from typing import NamedTuple, TypeVar

from llmask.grammar.kinds import CALL, EDGE_FIELDS, NO_GUARD, PRIORITY_FIELDS, SCAN, SKIP, GuardId, RuleId, StateId
from llmask.grammar.rules import Rules, each_edge
from llmask.work import spend

Vertex = TypeVar("Vertex")


def components(successors: Sequence[Sequence[int]]) -> list[list[int]]:
    """Strongly connected components of a graph in reverse topological order, given the successors of each vertex."""
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


def reached(first: Iterable[Vertex], successors: Callable[[Vertex], Iterable[Vertex]]) -> list[Vertex]:
    """All vertices that some lead to, these included, the nearest first."""
    order = [*first]
    seen = set(order)
    for vertex in order:  # grows
        for target in successors(vertex):
            if target not in seen:
                seen.add(target)
                order.append(target)
    return order


def union(sets: Iterable[int]) -> int:
    """The union of bit sets."""
    return reduce(or_, sets, 0)


def bits_of(bits: int) -> list[int]:
    """Places of the bits that are set."""
    found = []
    while bits:
        lowest = bits & -bits
        found.append(lowest.bit_length() - 1)
        bits ^= lowest
    return found


MOST_STATES = 30_000  # copies of states that all circles of rules may take, circles of few states first; 10 us each
FREE_EDGES = 2000
EDGE_WORK = 3  # units for a further edge: whoever looks at a network has written it, and goes over it several times


class Edge(NamedTuple):
    """An edge as it is in `Rules.edges` and `Rules.priorities`, without the state that it leaves."""

    kind: int
    symbol: int
    target: int
    guard: int
    priority: int = 0
    is_bare: int = 0


class Network:
    """`Rules` by state.

    Attributes
    ----------
    edges : leaving each state.
    finals : guards of the ends of a rule in each state.
    states : of each rule.
    """

    def __init__(self, rules: Rules) -> None:
        n_states = len(rules.state_rules)
        self.rules = rules
        spend(EDGE_WORK * max(len(rules.edges) // EDGE_FIELDS - FREE_EDGES, 0))
        self.edges: list[list[Edge]] = [[] for _ in range(n_states)]
        priorities = {
            rules.priorities[at]: rules.priorities[at + 1 : at + PRIORITY_FIELDS]
            for at in range(0, len(rules.priorities), PRIORITY_FIELDS)
        }
        for number, (state, kind, symbol, target, guard) in enumerate(each_edge(rules.edges)):
            priority, is_bare = priorities.get(number, (0, 0))
            self.edges[state].append(Edge(kind, symbol, target, guard, priority, is_bare))
        self.finals: list[list[int]] = [[] for _ in range(n_states)]
        for first in range(0, len(rules.finals), 2):
            self.finals[rules.finals[first]].append(rules.finals[first + 1])
        self.states: list[list[int]] = [[] for _ in rules.names]
        for state, rule in enumerate(rules.state_rules):
            self.states[rule].append(state)

    def scans(self) -> tuple[list[Edge], list[int]]:
        """The edges over lexemes, and for each state the bit set of the numbers of those that leave it."""
        found: list[Edge] = []
        own = [0] * len(self.edges)
        for state, edges in enumerate(self.edges):
            for edge in edges:
                if edge.kind == SCAN:
                    own[state] |= 1 << len(found)
                    found.append(edge)
        return found, own

    def silent_steps(self, state: int, ends: Sequence[bool]) -> Iterator[int]:
        """The states that one leads to before a lexeme; `ends` as `may_end` tells them."""
        for edge in self.edges[state]:
            if edge.kind == SKIP:
                yield edge.target
            elif edge.kind != SCAN:
                start = self.rules.rule_starts[edge.symbol]
                yield start
                if ends[start]:
                    yield edge.target

    def may_end(self) -> list[bool]:
        """For each state, whether its rule may end there without another byte."""
        steps = (
            (state, edge.kind, edge.symbol, edge.target)
            for state, edges in enumerate(self.edges)
            for edge in edges
            if edge.kind != SCAN
        )
        return may_end(self.rules, steps)


def may_end(rules: Rules, edges: Iterable[tuple[int, ...]], finals: Iterable[int] | None = None) -> list[bool]:
    """For each state, whether its rule may end there without another byte.

    Parameters
    ----------
    edges : state, kind, symbol and target of each edge that skips or calls.
    finals : states that rules end in; None: all of them.
    """
    into: list[list[tuple[int, int]]] = [[] for _ in rules.state_rules]  # the state before, and the rule called or -1
    calls: list[list[tuple[int, int]]] = [[] for _ in rules.names]  # states before and after each call of a rule
    for state, kind, symbol, target in edges:
        if kind == SKIP:
            into[target].append((state, -1))
        else:
            into[target].append((state, symbol))
            calls[symbol].append((state, target))
    ends = [False] * len(rules.state_rules)
    waiting = list(rules.finals[::2] if finals is None else finals)
    while waiting:
        state = waiting.pop()
        if ends[state]:
            continue
        ends[state] = True
        waiting += [source for source, rule in into[state] if rule < 0 or ends[rules.rule_starts[rule]]]
        if rules.rule_starts[rules.state_rules[state]] == state:
            waiting += [source for source, target in calls[rules.state_rules[state]] if ends[target]]
    return ends


def join_tails(rules: Rules, apart: Container[int] = ()) -> Rules:
    """The same grammar without circles of tail calls, except of rules `apart`, whose runs have to stay apart."""
    network = Network(rules)
    circles = _circles(network, apart)
    if not circles:
        return rules
    joined = rules.without_rules()
    joined.start = rules.start
    for name in rules.names:
        joined.rule(name)
    for rule in range(len(rules.names)):
        _copy(network, joined, RuleId(rule), circles.get(rule, frozenset()))
    return joined


def _copy(network: Network, joined: Rules, rule: RuleId, circle: frozenset[int]) -> None:
    """Write a rule, going on at the beginning of the rules of its circle where it ends with a call of them."""
    rules = network.rules
    own: dict[int, StateId] = {rules.rule_starts[rule]: joined.start_state(rule)}
    waiting = [rule]
    copied = set(waiting)

    def state_of(state: int) -> StateId:
        if state not in own:
            own[state] = joined.state(rule)
        return own[state]

    while waiting:
        for state in network.states[waiting.pop()]:
            here = state_of(state)
            for guard in network.finals[state]:
                joined.final(here, GuardId(guard))
            for kind, symbol, target, guard, priority, is_bare in network.edges[state]:
                if kind == CALL and symbol in circle and _ends(network, target):
                    joined.skip(here, state_of(rules.rule_starts[symbol]))
                    if symbol not in copied:
                        copied.add(RuleId(symbol))
                        waiting.append(RuleId(symbol))
                elif kind == SCAN:
                    joined.scan(here, symbol, state_of(target), GuardId(guard), priority, bool(is_bare))
                elif kind == SKIP:
                    joined.skip(here, state_of(target), GuardId(guard))
                else:
                    joined.call_as(kind, here, RuleId(symbol), state_of(target), GuardId(guard))


def _circles(network: Network, apart: Container[int]) -> dict[int, frozenset[int]]:
    """For each rule in a circle of tail calls, the rules of that circle."""
    rules = network.rules
    is_plain = [
        rule not in apart
        and all(
            edge.guard == NO_GUARD and edge.kind in (SCAN, CALL, SKIP)
            for state in states
            for edge in network.edges[state]
        )
        and all(guard == NO_GUARD for state in states for guard in network.finals[state])
        for rule, states in enumerate(network.states)
    ]
    calls: list[list[int]] = [[] for _ in rules.names]
    for state, edges in enumerate(network.edges):
        rule = rules.state_rules[state]
        for edge in edges:
            if edge.kind == CALL and is_plain[rule] and is_plain[edge.symbol] and _ends(network, edge.target):
                calls[rule].append(edge.symbol)
    found: dict[int, frozenset[int]] = {}
    circles = [
        (len(members) * sum(len(network.states[rule]) for rule in members), members)
        for members in components(calls)
        if len(members) > 1 or members[0] in calls[members[0]]
    ]
    n_left = MOST_STATES
    for n_states, members in sorted(circles):
        n_left -= n_states
        if n_left < 0:
            break
        found.update(dict.fromkeys(members, frozenset(members)))
    return found


def _ends(network: Network, state: int) -> bool:
    """Whether all that can be done in a state is to end the rule."""
    here = reached([state], lambda at: [edge.target for edge in network.edges[at] if edge.kind == SKIP])
    guards = [guard for at in here for guard in network.finals[at]]
    edges = [edge for at in here for edge in network.edges[at]]
    return bool(guards) and not any(guards) and all(edge.kind == SKIP and edge.guard == NO_GUARD for edge in edges)


def chain(rules: Rules) -> Rules:
    """The same rules, with those noted that are in a circle of calls after which the caller may end.

    Guards are not looked at.
    """
    edges = [edge[:4] for edge in each_edge(rules.edges) if edge[1] != SCAN]
    ends = may_end(rules, edges)
    calls: list[list[int]] = [[] for _ in rules.names]
    for state, kind, symbol, target in edges:
        if kind == CALL and ends[target]:
            calls[rules.state_rules[state]].append(symbol)
    found = [members for members in components(calls) if len(members) > 1 or members[0] in calls[members[0]]]
    rules.chained = array("i", sorted(rule for members in found for rule in members))
    return rules
