"""Where longest match would change what a grammar derives: lexemes that may end where another one may go on.

The lexer follows the longest match: at a byte with which one of the expected lexemes goes on, all lexemes that could
end before that byte are given up. Nothing is lost by it where no byte is both: for all lexemes A and B that may be
expected together,

    A . (bytes that may follow A) . anything    does not meet    B

    statement: NAME "=" NAME | "if" NAME      NAME = /[a-z]+/      after "if", `x` may follow, and NAME goes on with `x`

Which lexemes are expected together is told by pairs of places in the grammar, a place being the set of lexemes
(edges) that may come next after one: both places begin at the start, and go on by lexemes that may end at the same
byte. Whoever called a rule is not remembered, so pairs may be told that no text leads to, and none is left out: where
no pair is told, longest match is exact.

In: `Rules`. Out: pairs of lexemes, or that it is not decided. Cost: some ms for a grammar of a hundred lexemes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from llmask.errors import LimitExceeded
from llmask.grammar.kinds import EDGE_FIELDS, SCAN, SKIP
from llmask.grammar.rules import Rules
from llmask.grammar.tails import Network, bits_of, closure, union
from llmask.regex.word_lists import stems_of
from llmask.work import spend

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes

FREE_STEPS, STEP_WORK = 20_000, 2  # steps that take nothing, as lists of tools take many; units for each further one
MOST_STEPS = 100_000  # pairs of lexemes in pairs of places looked at, in all looks; about half a second
MOST_STEPS_OF_ALL = 300_000  # with the steps of looks that take all lexemes to be expected together
MOST_PAIRS = 100_000  # pairs of lexemes that begin with the same byte
MOST_FOLLOWING = 300_000  # edges that may be next in a place, of all places: after each of n names, or none, all others
FREE_FOLLOWING = 20_000  # of these; each further one takes FOLLOWING_WORK
FOLLOWING_WORK = 2
MOST_EDGES = 10_000  # the sets of edges that may be next take 12 MB


def overlaps(nodes: RegexNodes, rules: Rules, n_steps: int = 0) -> tuple[set[tuple[int, int]] | None, int]:
    """Pairs (A, B) of lexemes, by node: A may end where B goes on with what may follow A.

    Where there are too many places, all lexemes are taken to be expected together; where there are too many lexemes,
    too, nothing is known: None. Also the steps taken, counted on from `n_steps`, the steps of earlier looks: splitting
    and looking again must not take the same time over and over.
    """
    if len(rules.edges) > MOST_EDGES * EDGE_FIELDS:
        return None, n_steps
    look = Overlaps(nodes, rules, n_steps)
    return look.find() if look.is_whole else None, look.n_steps


class Overlaps:
    """The places of one grammar.

    Attributes
    ----------
    lexemes : nodes of the lexemes; below they are called by their place here.
    places : the sets of edges that may be next; bit e is for the e-th edge over a lexeme.
    after : for each place, the lexemes expected there, and for each the places that they lead to.
    is_whole : False where that is too much to write down.
    """

    def __init__(self, nodes: RegexNodes, rules: Rules, n_steps: int = 0) -> None:
        self.nodes = nodes
        self.n_steps = n_steps
        network = Network(rules)
        edges, own = network.scans()
        expected = following(network, own)  # for each state, the edges that may come next: FIRST and FOLLOW
        numbers: dict[int, int] = {}
        for edge in edges:
            numbers.setdefault(edge.symbol, len(numbers))
        if rules.ignored is not None:
            numbers.setdefault(rules.ignored, len(numbers))
        self.lexemes = list(numbers)
        self.places: list[int] = []
        self._place_of: dict[int, int] = {}
        self.after: list[dict[int, set[int]]] = []
        self.start = self._place(expected[rules.rule_starts[rules.start]])
        targets = [expected[edge.target] for edge in edges]
        n_following = 0
        self.is_whole = True
        for place, bits in enumerate(self.places):  # grows
            n_following += bits.bit_count()
            spend(FOLLOWING_WORK * max(min(bits.bit_count(), n_following - FREE_FOLLOWING), 0))
            if n_following > MOST_FOLLOWING:
                self.is_whole = False
                return
            found: dict[int, set[int]] = {}
            for number in bits_of(bits):
                found.setdefault(numbers[edges[number].symbol], set()).add(self._place(targets[number]))
            if rules.ignored is not None:
                found.setdefault(numbers[rules.ignored], set()).add(place)
            self.after.append(found)
        self.first = [self._extensions(nodes.EPSILON, node)[0] for node in self.lexemes]
        beginning = [0] * 256  # for each byte, the lexemes that may begin with it
        for lexeme, first in enumerate(self.first):
            for byte in bits_of(first):
                beginning[byte] |= 1 << lexeme
        self.related = [union(beginning[byte] for byte in bits_of(first)) for first in self.first]
        self._tell_stems_apart()
        self.first_of_place = [union(self.first[lexeme] for lexeme in found) for found in self.after]
        self.pairs: set[tuple[int, int]] = set()

    def _tell_stems_apart(self) -> None:
        """Relate lexemes that begin with certain texts to those only where one is the beginning of the other.

        Of n tools each has such a lexeme.
        """
        having: dict[bytes, int] = {}  # by stem, the lexemes that may begin with it
        near: dict[int, int] = {}
        for lexeme, node in enumerate(self.lexemes):
            stems = stems_of(self.nodes, node)
            if all(stems):
                near.update((lexeme, 0) for _ in stems)
                for stem in stems:
                    having[stem] = having.get(stem, 0) | 1 << lexeme
        for stem, lexemes in having.items():
            spend(len(stem) // 32)
            for end in range(1, len(stem) + 1):
                shorter = having.get(stem[:end], 0)
                for lexeme in bits_of(shorter):
                    near[lexeme] |= lexemes
                for lexeme in bits_of(lexemes) if shorter else ():
                    near[lexeme] |= shorter
        every = union(1 << lexeme for lexeme in near)
        for lexeme, bits in near.items():
            self.related[lexeme] = self.related[lexeme] & ~every | bits

    def _place(self, bits: int) -> int:
        found = self._place_of.setdefault(bits, len(self.places))
        if found == len(self.places):
            self.places.append(bits)
        return found

    def _extensions(self, one: int, other: int) -> tuple[int, bool]:
        try:
            if one == self.nodes.EPSILON:
                return self.nodes.first_bytes(other), False
            return self.nodes.extensions(one, other)
        except LimitExceeded:
            spend(0)
            return 2**256 - 1, True

    def find(self) -> set[tuple[int, int]] | None:
        """Go through all pairs of places that may be reached together."""
        seen = {(self.start, self.start)}
        waiting = [(self.start, self.start)]
        while waiting:
            one, other = waiting.pop()
            found = self.look(one, other)
            if self.n_steps > MOST_STEPS:
                return self._of_all()
            for pair in found:
                pair = min(pair), max(pair)
                if pair not in seen:
                    seen.add(pair)
                    waiting.append(pair)
        return self.pairs

    def followers(self, lexeme: int, rival: int) -> list[int]:
        """Lexemes, by node, that may follow one and begin with a byte with which its rival goes on."""
        number = self.lexemes.index(lexeme)
        taken = self._extensions(lexeme, rival)[0]
        targets = {target for found in self.after for target in found.get(number, ())}
        following = {after for target in targets for after in self.after[target] if self.first[after] & taken}
        return [self.lexemes[after] for after in sorted(following)]

    def look(self, one: int, other: int) -> set[tuple[int, int]]:
        """Compare the lexemes of two places; the pairs of places after lexemes that may end together."""
        mine, theirs = self.after[one], self.after[other]
        found: set[tuple[int, int]] = set()
        expected = sum(1 << lexeme for lexeme in theirs)
        for lexeme, targets in mine.items():
            rivals_of_it = expected & self.related[lexeme]
            self.n_steps += rivals_of_it.bit_count()
            spend(STEP_WORK * max(min(rivals_of_it.bit_count(), self.n_steps - FREE_STEPS), 0))
            if self.n_steps > MOST_STEPS:
                break
            for rival in bits_of(rivals_of_it):
                rivals = theirs[rival]
                self._compare(lexeme, targets, rival)
                self._compare(rival, rivals, lexeme)
                if lexeme == rival or self._extensions(self.lexemes[lexeme], self.lexemes[rival])[1]:
                    self.n_steps += len(targets) * len(rivals)
                    if self.n_steps > MOST_STEPS:
                        return found
                    found.update((target, after) for target in targets for after in rivals)
        return found

    def _compare(self, lexeme: int, targets: set[int], rival: int) -> None:
        followers = union(self.first_of_place[target] for target in targets)
        if followers and followers & self._extensions(self.lexemes[lexeme], self.lexemes[rival])[0]:
            self.pairs.add((self.lexemes[lexeme], self.lexemes[rival]))

    def _of_all(self) -> set[tuple[int, int]] | None:
        """The same, if any two lexemes may be expected together."""
        n_pairs = sum(related.bit_count() for related in self.related)
        self.n_steps += n_pairs
        if n_pairs > MOST_PAIRS or self.n_steps > MOST_STEPS_OF_ALL:
            return None
        targets: list[set[int]] = [set() for _ in self.lexemes]
        for found in self.after:
            for lexeme, after in found.items():
                targets[lexeme] |= after
        for lexeme in range(len(self.lexemes)):
            for rival in bits_of(self.related[lexeme]):
                self._compare(lexeme, targets[lexeme], rival)
        return self.pairs


def following(network: Network, own: Sequence[int], at_end: int = 0) -> list[int]:
    """For each state, the union of the bit sets `own` of all states that the next lexeme may leave, in its own rule or
    after it; of `at_end`, too, where nothing has to come any more.
    """
    rules = network.rules
    n_states = len(network.edges)
    n_rules = len(rules.names)
    ends = network.may_end()
    inner = closure([[*network.silent_steps(state, ends)] for state in range(n_states)], own)
    after = [0] * n_rules  # what follows a call of a rule
    after[rules.start] = at_end
    callers: list[list[int]] = [[] for _ in range(n_rules)]
    for state, edges in enumerate(network.edges):
        for edge in edges:
            if edge.kind not in (SCAN, SKIP):
                after[edge.symbol] |= inner[edge.target]
                if ends[edge.target]:
                    callers[edge.symbol].append(rules.state_rules[state])
    follow = closure(callers, after)
    return [inner[state] | (follow[rules.state_rules[state]] if ends[state] else 0) for state in range(n_states)]
