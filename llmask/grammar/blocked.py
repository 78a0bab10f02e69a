r"""Lexemes that longest match never lets end, because they go on with whatever has to follow them.

    "let" NAME "in"     NAME = /[a-z]+/: behind a NAME only `i` may come, and every NAME goes on with `i`
    "/*" TEXT "*/"      TEXT = /(.|\n)+/: the same with `*`

A lexeme A is blocked in a place of the grammar where the text may not end and every byte that may follow is taken:

    for each string a of A and each byte b that may follow there,  a b  begins a string of A

No document has it there, so its edge can be left out; then less may follow what stands before it, and more is blocked.
Where in the end nothing is derived any more, no document exists. Where A only may be followed by a byte that it takes,
and need not, nothing is told: see llmask/asking/dead_ends.py.

In: `Rules` for longest match. Out: what is blocked. Cost: about 2 us an edge; only lexemes that may go on with all
bytes that follow (`RegexNodes.extensions`) are walked through.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from llmask.errors import LimitExceeded
from llmask.grammar.kinds import SCAN, SKIP, SKIP_LATE
from llmask.grammar.lengths import Rests
from llmask.grammar.overlaps import following
from llmask.grammar.rules import Rules
from llmask.grammar.tails import Edge, Network

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes
    from llmask.regex.strings import Strings

END = 1 << 256  # beside the bits of bytes: the text may end, or a token may come that the grammar names
MOST_STATES = 1000  # of a lexeme that is walked through


class Blocked(NamedTuple):
    """A lexeme that never ends before one that has to follow it, by their nodes, and the rule that has it."""

    lexeme: int
    needed: int
    rule: int


class Verdict(NamedTuple):
    """What is blocked, what is nearest to the start first; and whether nothing is derived without it."""

    found: list[Blocked]
    is_empty: bool


def blocked(nodes: RegexNodes, strings: Strings, network: Network) -> Verdict:
    """See the module. Of grammars with lazy lexemes, or rules that are written while they are read, nothing is told.

    Parameters
    ----------
    strings : of the same store.
    network : of the rules; edges that no document takes are taken out.
    """
    rules = network.rules
    if not is_plain(nodes, network):
        return Verdict([], is_empty=False)
    look = _Look(nodes, strings, rules)
    found: list[Blocked] = []
    while True:
        edges = look.blocked_edges(network)
        if not edges:
            return Verdict(found, is_empty=False)
        found += look.named(network, edges)
        for state, edge in edges:
            network.edges[state].remove(edge)
        ends = Rests(network, lambda _: 1).ends
        if ends[rules.rule_starts[rules.start]] == inf:
            return Verdict(found, is_empty=True)
        for state, here in enumerate(network.edges):
            network.edges[state] = [
                edge
                for edge in here
                if ends[edge.target] < inf and (edge.kind in (SCAN, SKIP) or ends[rules.rule_starts[edge.symbol]] < inf)
            ]


def is_plain(nodes: RegexNodes, network: Network) -> bool:
    """Whether all states are written, and no lexeme ends before it has to."""
    return not any(
        edge.kind == SKIP_LATE or (edge.kind == SCAN and nodes.is_lazy(edge.symbol))
        for edges in network.edges
        for edge in edges
    )


class _Look:
    def __init__(self, nodes: RegexNodes, strings: Strings, rules: Rules) -> None:
        self._nodes = nodes
        self._strings = strings
        self._rules = rules
        self._first: dict[int, int] = {}
        self._always: dict[int, int] = {}

    def blocked_edges(self, network: Network) -> list[tuple[int, Edge]]:
        """The edges that no document takes, and their states, from the start on."""
        own = [0] * len(network.edges)
        ignored = 0 if self._rules.ignored is None else self._first_of(self._rules.ignored)
        for state, edges in enumerate(network.edges):
            for edge in edges:
                if edge.kind == SCAN:
                    own[state] |= self._first_of(edge.symbol) | ignored
        at_end = END | (ignored if self._rules.ignored_at_ends else 0)
        may_follow = following(network, own, at_end)
        return [
            (state, edge)
            for state in _in_order(network)
            for edge in network.edges[state]
            if edge.kind == SCAN and self._takes_all(edge.symbol, may_follow[edge.target])
        ]

    def named(self, network: Network, edges: list[tuple[int, Edge]]) -> list[Blocked]:
        """The same with the first lexeme of those that have to follow."""
        scans = [edge for here in network.edges for edge in here if edge.kind == SCAN]
        own = [0] * len(network.edges)
        number = 0
        for state, here in enumerate(network.edges):
            for edge in here:
                if edge.kind == SCAN:
                    own[state] |= 1 << number
                    number += 1
        may_follow = following(network, own)
        return [
            Blocked(edge.symbol, scans[_lowest(may_follow[edge.target])].symbol, self._rules.state_rules[state])
            for state, edge in edges
        ]

    def _first_of(self, node: int) -> int:
        found = self._first.get(node)
        if found is None:
            found = END if self._nodes.names_tokens(node) else self._nodes.first_bytes(node)
            self._first[node] = found
        return found

    def _takes_all(self, node: int, may_follow: int) -> bool:
        """Whether a lexeme goes on with each of some bytes wherever it may end."""
        if may_follow & END or self._nodes.names_tokens(node):
            return False
        if may_follow & ~self._nodes.extensions(node, node)[0]:
            return False  # the cheap condition: most lexemes never go on with what follows them
        if node not in self._always:
            self._always[node] = self._taken_always(node)
        return may_follow & ~self._always[node] == 0

    def _taken_always(self, root: int) -> int:
        """The bytes that a lexeme goes on with wherever it may end; none where that is not decided."""
        taken = END - 1
        waiting = [root]
        seen: set[int] = set()
        try:
            while waiting and len(seen) <= MOST_STATES and taken:
                ways = self._strings.ways(waiting.pop())
                for target in {way.target for way in ways} - seen:
                    seen.add(target)
                    waiting.append(target)
                    if self._nodes.is_nullable(target):
                        taken &= _union(way.members for way in self._strings.ways(target))
        except LimitExceeded:
            return 0
        return taken if len(seen) <= MOST_STATES else 0


def _in_order(network: Network) -> list[int]:
    """The states, those nearest to the start first."""
    rules = network.rules
    order = [rules.rule_starts[rules.start]]
    seen = set(order)
    for state in order:  # grows
        for edge in network.edges[state]:
            starts = [] if edge.kind in (SCAN, SKIP) else [rules.rule_starts[edge.symbol]]
            for target in (*starts, edge.target):
                if target not in seen:
                    seen.add(target)
                    order.append(target)
    return order


def _union(sets: Iterable[bytes]) -> int:
    found = 0
    for members in sets:
        for byte in members:
            found |= 1 << byte
    return found


def _lowest(bits: int) -> int:
    return (bits & -bits).bit_length() - 1
