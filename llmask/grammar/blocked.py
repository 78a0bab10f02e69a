r"""Lexemes that longest match never lets end, because they go on with whatever has to follow them.

    "let" NAME "in"     NAME = /[a-z]+/: after a NAME only `i` may come, and every NAME goes on with `i`
    "/*" TEXT "*/"      TEXT = /(.|\n)+/: the same with `*`

A lexeme A is blocked in a place of the grammar where the text may not end and every byte that may follow is taken:

    for each string a of A and each byte b that may follow there,  a b  begins a string of A

No document has it there, so its edge can be left out; then less may follow what is before it, and more is blocked.
Where in the end nothing is derived any more, no document exists. Where A only may be followed by a byte that it takes,
and need not, nothing is told: see llmask/asking/dead_ends.py.

No such search is needed where longest match leads into no dead end; there are conditions that are quick to see, and
enough (`has_no_dead_ends`). Wherever a text is, let some lexeme end, and go on with the shortest derivation from
there: first x, then y, ... That reaches an end if each lexeme of a derivation can be written so that it is read as
such:

(1)  it has a string that no lexeme of a higher priority matches, and, after it, one of two conditions holds:
(2)  a *separator* ends every lexeme: a byte s with which something ignored begins and no lexeme, and with which no
     lexeme goes on where another one may end. From each place of what is ignored, more of it leads to a quiet place:
     one where it may end, and goes on with no byte with which a lexeme begins
         %ignore /[ \n]+/ | /#[^\n]*/        after `#...` a line end, which begins the next one
(3)  or what may follow a lexeme never begins with a byte with which another lexeme that is expected there goes on
     (overlaps.py)

In: `Rules` for longest match. Out: what is blocked. Cost: about 2 us an edge; only lexemes that may go on with all
bytes that follow (`RegexNodes.extensions`) are walked through. The conditions: two looks at each lexeme; for (2) also
at pairs with one lexeme that goes on with a separator, for (3) at all pairs, MOST_STEPS of them at most.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import inf
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from llmask.errors import LimitExceeded
from llmask.grammar import overlaps
from llmask.grammar.derivations import Rests
from llmask.grammar.kinds import EDGE_FIELDS, SCAN, SKIP, SKIP_LATE
from llmask.grammar.overlaps import Overlaps, following
from llmask.grammar.rules import Rules
from llmask.grammar.tails import Edge, Network, reached, union

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes
    from llmask.regex.strings import Strings

END = 1 << 256  # besides the bits of bytes: the text may end, or a token may come that the grammar names
MOST_STATES = 1000  # of a lexeme that is walked through
MOST_EDGES = 100  # of grammars whose pairs of lexemes are all compared
MOST_STEPS = 500
MOST_IGNORED_STATES = 200  # of what is ignored
N_TRIES = 4  # strings of a lexeme, besides a shortest one


class Blocked(NamedTuple):
    """A lexeme that never ends before one that has to follow it, by their nodes, and the rule that has it."""

    lexeme: int
    needed: int
    rule: int


def blocked(nodes: RegexNodes, strings: Strings, network: Network) -> tuple[list[Blocked], bool]:
    """What is blocked, what is nearest to the start first; and whether nothing is derived without it. See the module.

    Of grammars with lazy lexemes, or rules that are written while they are read, nothing is told.

    Parameters
    ----------
    strings : of the same store.
    network : of the rules; edges that no document takes are taken out.
    """
    rules = network.rules
    if not is_plain(nodes, network):
        return [], False
    look = _Look(nodes, strings, rules)
    found: list[Blocked] = []
    while True:
        edges = look.blocked_edges(network)
        if not edges:
            return found, False
        found += look.named(network, edges)
        for state, edge in edges:
            network.edges[state].remove(edge)
        ends = Rests(network, lambda _: 1).ends
        if ends[rules.rule_starts[rules.start]] == inf:
            return found, True
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
        self._first_of = cache(lambda node: END if nodes.names_tokens(node) else nodes.first_bytes(node))
        self._always = cache(self._taken_always)

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
        scans, own = network.scans()
        may_follow = following(network, own)
        return [
            Blocked(edge.symbol, scans[_lowest(may_follow[edge.target])].symbol, self._rules.state_rules[state])
            for state, edge in edges
        ]

    def _takes_all(self, node: int, may_follow: int) -> bool:
        """Whether a lexeme goes on with each of some bytes wherever it may end."""
        if may_follow & END or self._nodes.names_tokens(node):
            return False
        if may_follow & ~self._nodes.extensions(node, node)[0]:
            return False  # the cheap condition: most lexemes never go on with what follows them
        return may_follow & ~self._always(node) == 0

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
                        taken &= union(1 << byte for way in self._strings.ways(target) for byte in way.members)
        except LimitExceeded:
            return 0
        return taken if len(seen) <= MOST_STATES else 0


def _in_order(network: Network) -> list[int]:
    """The states, those nearest to the start first."""
    starts = network.rules.rule_starts

    def after(state: int) -> Iterator[int]:
        for edge in network.edges[state]:
            if edge.kind not in (SCAN, SKIP):
                yield starts[edge.symbol]
            yield edge.target

    return reached([starts[network.rules.start]], after)


def _lowest(bits: int) -> int:
    return (bits & -bits).bit_length() - 1


def has_no_dead_ends(nodes: RegexNodes, strings: Strings, network: Network) -> bool:
    """See the module.

    Parameters
    ----------
    strings : of the same store.
    network : of the rules.
    """
    rules = network.rules
    edges = [edge for here in network.edges for edge in here if edge.kind == SCAN]
    if not is_plain(nodes, network) or any(nodes.names_tokens(edge.symbol) for edge in edges):
        return False
    lowest: dict[int, int] = {}
    highest: dict[int, int] = {}
    for edge in edges:
        lowest[edge.symbol] = min(edge.priority, lowest.get(edge.symbol, edge.priority))
        highest[edge.symbol] = max(edge.priority, highest.get(edge.symbol, edge.priority))
    if lowest != highest or rules.ignored in lowest:
        return False
    look = _Conditions(nodes, strings, lowest)
    try:
        is_anywhere = rules.ignored_repeats and not any(edge.is_bare for edge in edges)
        if rules.ignored is not None and is_anywhere and look.has_separator(rules.ignored):
            return look.is_each_read()
        return len(rules.edges) // EDGE_FIELDS <= MOST_EDGES and look.never_overlaps(rules) and look.is_each_read()
    except LimitExceeded:
        return False


class _Conditions:
    """The lexemes of a grammar, by node, with their priorities."""

    def __init__(self, nodes: RegexNodes, strings: Strings, priorities: dict[int, int]) -> None:
        self._nodes = nodes
        self._strings = strings
        self._priorities = priorities
        self._first = {lexeme: nodes.first_bytes(lexeme) for lexeme in priorities}
        self._all_first = union(self._first.values())

    def has_separator(self, ignored: int) -> bool:
        """Condition (2)."""
        nodes = self._nodes
        first = nodes.first_bytes(ignored)
        if any(first & other and nodes.extensions(ignored, lexeme)[0] for lexeme, other in self._first.items()):
            return False
        left = first & ~self._all_first
        for rival, begins in ((ignored, first), *self._first.items()):
            if not left & nodes.extensions(nodes.ALL, rival)[0]:  # the bytes with which it goes on
                continue
            for lexeme, other in self._first.items():
                if begins & other:
                    left &= ~nodes.extensions(lexeme, rival)[0]
        return left != 0 and self._leads_to_quiet(ignored, first & ~self._all_first)

    def _leads_to_quiet(self, ignored: int, begins: int) -> bool:
        """Whether each place of what is ignored leads to a quiet one; `begins` are bytes that begin it anew."""
        into: dict[int, list[int]] = {}
        quiet = []
        order = [ignored]
        seen = {ignored}
        for here in order:  # grows
            ways = self._strings.ways(here)
            goes_on = sum(1 << byte for way in ways for byte in way.members)
            targets = [way.target for way in ways]
            if here != ignored and self._nodes.is_nullable(here):
                if not goes_on & self._all_first:
                    quiet.append(here)
                fresh = begins & ~goes_on
                targets += [
                    way.target for way in self._strings.ways(ignored) if any(fresh >> byte & 1 for byte in way.members)
                ]
            for target in targets:
                into.setdefault(target, []).append(here)
                if target not in seen:
                    seen.add(target)
                    order.append(target)
            if len(order) > MOST_IGNORED_STATES:
                return False
        return len(reached(quiet, lambda here: into.get(here, ()))) == len(seen)

    def never_overlaps(self, rules: Rules) -> bool:
        """Condition (3). What is ignored goes on with itself, and need not be followed by itself."""
        look = Overlaps(self._nodes, rules, overlaps.MOST_STEPS - MOST_STEPS)
        pairs = look.find() if look.is_whole else None
        if pairs is None:
            return False
        ignored = rules.ignored
        if ignored is not None and self._nodes.extensions(ignored, ignored)[0] & self._all_first:
            return False
        return pairs <= {(ignored, ignored)}

    def is_each_read(self) -> bool:
        """Condition (1)."""
        for lexeme, priority in self._priorities.items():
            rivals = [
                rival
                for rival, other in self._priorities.items()
                if other > priority
                and self._first[rival] & self._first[lexeme]
                and self._nodes.extensions(lexeme, rival)[1]
            ]
            if rivals and not any(
                not any(self._nodes.matches(rival, text) for rival in rivals) for text in self._some(lexeme)
            ):
                return False
        return True

    def _some(self, lexeme: int) -> list[bytes]:
        random = Random(1)
        return [self._strings.shortest(lexeme), *(self._strings.sample(lexeme, random, n) for n in range(N_TRIES))]
