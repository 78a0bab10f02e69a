r"""When longest match leads into no dead end: conditions that are quick to see, and enough.

Wherever a text stands, let some lexeme end, and go on with the shortest derivation from there: first x, then y, ...
That reaches an end if each lexeme of a derivation can be written so that it is read as such:

(1)  it has a string that no lexeme of a higher priority matches, and after it either
(2)  a *separator* ends every lexeme: a byte s with which something ignored begins and no lexeme, and with which no
     lexeme goes on where another one may end. From each place of what is ignored, more of it leads to a quiet place:
     one where it may end, and goes on with no byte with which a lexeme begins
         %ignore /[ \n]+/ | /#[^\n]*/        behind `#...` a line end, which begins the next one
(3)  or what may follow a lexeme never begins with a byte with which one that is expected beside it goes on
     (overlaps.py)

In: `Rules` for longest match. Out: True, or False where it was not seen. Cost: two looks at each lexeme; for (2) also
at pairs of which one goes on with a separator, for (3) at all pairs, of which there may be MOST_STEPS.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from llmask.errors import LimitExceeded
from llmask.grammar import overlaps
from llmask.grammar.blocked import is_plain
from llmask.grammar.kinds import EDGE_FIELDS, SCAN
from llmask.grammar.overlaps import Overlaps
from llmask.grammar.rules import Rules
from llmask.grammar.tails import Network

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes
    from llmask.regex.strings import Strings

MOST_EDGES = 100  # of grammars whose pairs of lexemes are all compared
MOST_STEPS = 500
MOST_STATES = 200  # of what is ignored
N_TRIES = 4  # strings of a lexeme, besides a shortest one


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
    look = _Look(nodes, strings, lowest)
    try:
        stands_anywhere = rules.ignored_repeats and not any(edge.is_bare for edge in edges)
        if rules.ignored is not None and stands_anywhere and look.has_separator(rules.ignored):
            return look.is_each_read()
        return len(rules.edges) // EDGE_FIELDS <= MOST_EDGES and look.never_overlaps(rules) and look.is_each_read()
    except LimitExceeded:
        return False


class _Look:
    """The lexemes of a grammar, by node, with their priorities."""

    def __init__(self, nodes: RegexNodes, strings: Strings, priorities: dict[int, int]) -> None:
        self._nodes = nodes
        self._strings = strings
        self._priorities = priorities
        self._first = {lexeme: nodes.first_bytes(lexeme) for lexeme in priorities}
        self._all_first = 0
        for first in self._first.values():
            self._all_first |= first

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
            if len(order) > MOST_STATES:
                return False
        leads = set(quiet)
        for here in quiet:  # grows
            for before in into.get(here, ()):
                if before not in leads:
                    leads.add(before)
                    quiet.append(before)
        return len(leads) == len(seen)

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
