r"""Exact lexing of grammars that include many schemas, without a look into each.

`fusing.exact_rules` looks at every pair of lexemes that may be expected together, lexemes of included rules, too, which
takes 15 ms a schema. Among the lexemes of one JSON schema the longest match changes nothing
(json_schema/lexical/lexemes.py), so it is enough to look at its ends. Here each included grammar is a *seal* in the
grammar around it, a lexeme that begins with the same bytes. The grammar around them is looked at as ever, and then at
each place of a seal:

    before      no other lexeme that is expected with it goes on where a first one of its ends, nor the reverse
    after       no lexeme of the included grammar goes on, where a last one of them ends, with a byte that may follow

so while it is read nothing else is, and its end is where it seems to be. Where that is not so, the longer way is gone.

In: a `Grammar` whose inclusions are of JSON schemas. Out: `Rules` for the greedy lexer that derive exactly the same.
Cost: about 1 ms a schema.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from llmask.errors import GrammarError, UnsatisfiableSchema
from llmask.grammar.exact.fusing import exact_rules
from llmask.grammar.expressions import Expression, Grammar, Inclusion, Lexeme, Lowered, rebuilt
from llmask.grammar.inclusion import include
from llmask.grammar.kinds import CALL, EDGE_FIELDS, PRIORITY_FIELDS, SCAN, RuleId
from llmask.grammar.overlaps import MOST_EDGES, MOST_STEPS, Overlaps
from llmask.grammar.rules import Rules, one_lexeme
from llmask.grammar.tails import Network, reached, union

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes

NEVER = b"\xff"  # no byte of UTF-8; after it a seal cannot be mistaken for anything


class Seal(NamedTuple):
    """An included grammar as a lexeme.

    node        the lexeme
    firsts      the first lexemes of the included grammar, as one
    going_on    bit b is set where the included grammar may end and go on with byte b
    """

    node: int
    firsts: int
    going_on: int


def sealed_rules(nodes: RegexNodes, grammar: Grammar) -> Lowered:
    """Rules that derive what a grammar does, byte by byte.

    Parameters
    ----------
    grammar : whose inclusions are of JSON schemas.

    Raises
    ------
    GrammarError : an inclusion is where something else may begin, or go on, with the same bytes.
    UnsatisfiableSchema : the start rule derives nothing.
    LimitExceeded : a lexeme is too large to be spelled out.
    """
    seals: dict[Inclusion, Seal] = {}

    def sealed(part: Expression) -> Expression:
        """A part with seals in place of inclusions; each has rules of its own, as those who look forget who called."""
        if not isinstance(part, Inclusion):
            return rebuilt(part, sealed)
        seal = seals[part] = seals.get(part) or _seal(nodes, part, len(seals))
        if seal.node == nodes.EMPTY:
            return Lexeme(nodes.EMPTY, part.text)  # whoever needs it says so
        return Inclusion(one_lexeme(seal.node, False, "seal"), part.text)

    rules = {name: sealed(rule) for name, rule in grammar.rules.items()}
    try:
        lowered = exact_rules(nodes, Grammar(rules, grammar.start, places=grammar.places))
    except UnsatisfiableSchema:
        raise
    except GrammarError:  # a seal would have to be split
        return exact_rules(nodes, grammar)
    if len(lowered.rules.edges) > MOST_EDGES * EDGE_FIELDS:
        return exact_rules(nodes, grammar)
    apart = _Apart(nodes, lowered.rules, {seal.node: seal for seal in seals.values()})
    apart.find()
    if not apart.is_apart or apart.n_steps > MOST_STEPS:
        return exact_rules(nodes, grammar)
    _open(lowered.rules, {seal.node: inclusion for inclusion, seal in seals.items()})
    return Lowered(lowered.rules, lowered.warnings, grammar, is_exact=True)


def _seal(nodes: RegexNodes, inclusion: Inclusion, number: int) -> Seal:
    rules = inclusion.rules
    network = Network(rules)
    going_on = 0
    lexemes = {edge.symbol for edges in network.edges for edge in edges if edge.kind == SCAN}
    every = nodes.union(sorted(lexemes if rules.ignored is None else {*lexemes, rules.ignored}))
    for lexeme in _last(rules, network):
        going_on |= nodes.extensions(lexeme, lexeme if inclusion.is_prefix_code else every)[0]
    firsts = nodes.union(sorted(_first(rules, network)))
    node = nodes.concat([nodes.byte_set(nodes.first_bytes(firsts)), nodes.literal(NEVER + str(number).encode())])
    return Seal(node, firsts, going_on)


def _first(rules: Rules, network: Network) -> set[int]:
    """The lexemes that documents begin with; rules that may be empty are passed."""
    ends = network.may_end()
    states = reached([rules.rule_starts[rules.start]], lambda state: network.silent_steps(state, ends))
    return {edge.symbol for state in states for edge in network.edges[state] if edge.kind == SCAN}


def _last(rules: Rules, network: Network) -> set[int]:
    """The lexemes that documents end with."""
    ends = network.may_end()

    def last(rule: int, kind: int) -> list[int]:
        edges = (edge for state in network.states[rule] for edge in network.edges[state])
        return [edge.symbol for edge in edges if edge.kind == kind and ends[edge.target]]

    ending = reached([int(rules.start)], lambda rule: last(rule, CALL))  # rules at whose end the document may end
    return {lexeme for rule in ending for lexeme in last(rule, SCAN)}


class _Apart(Overlaps):
    """Looks at the places of seals on the way."""

    def __init__(self, nodes: RegexNodes, rules: Rules, seals: Mapping[int, Seal]) -> None:
        self.seals = seals
        self.is_apart = True
        super().__init__(nodes, rules)

    def look(self, one: int, other: int) -> set[tuple[int, int]]:
        """See the module's text for what is looked at."""
        mine, theirs = self.after[one], self.after[other]
        for lexeme, targets in (*mine.items(), *theirs.items()):
            seal = self.seals.get(self.lexemes[lexeme])
            if seal is None:
                continue
            rivals = self.related[lexeme] & ~(1 << lexeme)
            for rival, after in (*mine.items(), *theirs.items()):
                if rivals >> rival & 1 and self._meet(seal, rival, after):
                    self.is_apart = False
            if any(self.first_of_place[target] & seal.going_on for target in targets):
                self.is_apart = False
        return super().look(one, other)

    def _meet(self, seal: Seal, rival: int, after: set[int]) -> bool:
        """Whether another lexeme goes on where a first one of a seal ends, or ends there, or where that may go on."""
        theirs = self.seals.get(self.lexemes[rival])
        other = self.lexemes[rival] if theirs is None else theirs.firsts
        onwards, both = self.nodes.extensions(seal.firsts, other)
        following = -1 if theirs is not None else union(self.first_of_place[place] for place in after)
        return bool(onwards or both or self.nodes.extensions(other, seal.firsts)[0] & following)


def _open(rules: Rules, inclusions: Mapping[int, Inclusion]) -> None:
    """Write what was included in place of the seals, which are named by their nodes."""
    written: dict[Inclusion, RuleId] = {}
    opened = set()
    for at in range(0, len(rules.edges), EDGE_FIELDS):
        inclusion = inclusions.get(rules.edges[at + 2]) if rules.edges[at + 1] == SCAN else None
        if inclusion is not None:
            if inclusion not in written:
                written[inclusion] = include(rules, inclusion.rules)
            rules.edges[at + 1], rules.edges[at + 2] = CALL, written[inclusion]
            opened.add(at // EDGE_FIELDS)
    kept = [
        rules.priorities[at : at + PRIORITY_FIELDS]
        for at in range(0, len(rules.priorities), PRIORITY_FIELDS)
        if rules.priorities[at] not in opened
    ]
    rules.priorities = array("i", chain.from_iterable(kept))
