r"""Exact lexing of grammars that include many schemas, without a look into each.

`fusing.exact_rules` looks at every pair of lexemes that may be expected together, those of included rules too, which
takes 15 ms a schema. Among the lexemes of one JSON schema the longest match changes nothing
(json_schema/lexical/lexemes.py), so it is enough to look at its ends. Here each included grammar is a *seal* in the
grammar around it, a lexeme that begins with the same bytes. The grammar around them is looked at as ever, and then at
each place of a seal:

    before      no other lexeme that is expected with it begins with one of its bytes
    behind      no lexeme of the included grammar goes on, where a last one of them ends, with a byte that may follow

so while it is read nothing else is, and its end is where it seems to be. Where that is not so, the longer way is gone.

In: a `Grammar` whose inclusions are of JSON schemas. Out: `Rules` for the greedy lexer that derive exactly the same.
Cost: about 1 ms a schema.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from llmask.grammar.exact.fusing import exact_rules
from llmask.grammar.expressions import (
    Choice,
    Expression,
    Grammar,
    Inclusion,
    Lexeme,
    Reference,
    Repeat,
    Sequence,
    choice,
    sequence,
)
from llmask.grammar.inclusion import include
from llmask.grammar.kinds import CALL, EDGE_FIELDS, SCAN, SKIP, RuleId
from llmask.grammar.lower import lower
from llmask.grammar.lowered import Lowered
from llmask.grammar.overlaps import MOST_EDGES, MOST_STEPS, Overlaps, may_end
from llmask.grammar.tails import Network

if TYPE_CHECKING:
    from llmask.grammar.rules import Rules
    from llmask.regex.nodes import RegexNodes

NEVER = b"\xff"  # no byte of UTF-8; behind it a seal cannot be mistaken for anything


class Seal(NamedTuple):
    """An included grammar as a lexeme.

    node        the lexeme
    going_on    bit b is set where the included grammar may end and go on with byte b
    """

    node: int
    going_on: int


def sealed_rules(nodes: RegexNodes, grammar: Grammar) -> Lowered:
    """Rules that derive what a grammar does, byte by byte.

    Parameters
    ----------
    grammar : whose inclusions are of JSON schemas.

    Raises
    ------
    GrammarError : an inclusion stands where something else may begin, or go on, with the same bytes.
    UnsatisfiableSchema : the start rule derives nothing.
    LimitExceeded : a lexeme is too large to be spelled out.
    """
    sealing = _Sealing(nodes)
    rules = {name: sealing.sealed(rule) for name, rule in grammar.rules.items()}
    rules.update(sealing.rules)
    lowered = exact_rules(nodes, Grammar(rules, grammar.start, places=grammar.places))
    if not _are_apart(nodes, lowered.rules, {seal.node: seal for seal in sealing.seals.values()}):
        return exact_rules(nodes, grammar)
    _open(nodes, lowered.rules, sealing)
    return Lowered(lowered.rules, lowered.warnings, grammar, is_exact=True)


class _Sealing:
    """Puts seals into a grammar.

    Attributes
    ----------
    seals : of each inclusion.
    rules : one for each place of a seal, as those who look forget who called a rule.
    inclusions : by rule, what was included.
    """

    def __init__(self, nodes: RegexNodes) -> None:
        self.nodes = nodes
        self.never = Lexeme(nodes.literal(NEVER), "/\\xff/")
        self.seals: dict[Inclusion, Seal] = {}
        self.rules: dict[str, Expression] = {}
        self.inclusions: dict[str, Inclusion] = {}

    def sealed(self, expression: Expression) -> Expression:
        """An expression with seals in place of inclusions."""
        if isinstance(expression, Inclusion):
            return self._place(expression)
        if isinstance(expression, Repeat):
            return Repeat(self.sealed(expression.part), expression.low, expression.high)
        if isinstance(expression, Sequence):
            return Sequence(tuple(map(self.sealed, expression.parts)))
        if isinstance(expression, Choice):
            return Choice(tuple(map(self.sealed, expression.options)))
        return expression

    def _place(self, inclusion: Inclusion) -> Reference:
        if inclusion not in self.seals:
            self.seals[inclusion] = _seal(self.nodes, inclusion, len(self.seals))
        name = f"inclusion {len(self.rules)}"
        here = Reference(name)
        # recursion in the middle, or the seal would become a part of a larger lexeme
        middle = sequence([self.never, here, self.never])
        self.rules[name] = choice([Lexeme(self.seals[inclusion].node, inclusion.text), middle])
        self.inclusions[name] = inclusion
        return here


def _seal(nodes: RegexNodes, inclusion: Inclusion, number: int) -> Seal:
    rules = lower(nodes, Grammar({"start": inclusion})).rules
    network = Network(rules)
    lexemes = {edge.symbol for edges in network.edges for edge in edges if edge.kind == SCAN}
    every = nodes.union(sorted(lexemes))
    going_on = 0
    for lexeme in _last(rules, network):
        going_on |= nodes.extensions(lexeme, every)[0]
    begin = nodes.byte_set(nodes.first_bytes(nodes.union(sorted(_first(rules, network)))))
    node = nodes.concat([begin, nodes.literal(NEVER + str(number).encode())])
    return Seal(node, going_on)


def _first(rules: Rules, network: Network) -> set[int]:
    """The lexemes that documents begin with; rules that may be empty are passed."""
    found: set[int] = set()
    seen = {rules.rule_starts[rules.start]}
    waiting = list(seen)
    ends = may_end(network)
    while waiting:
        for kind, symbol, target, *_ in network.edges[waiting.pop()]:
            if kind == SCAN:
                found.add(symbol)
                continue
            start = target if kind == SKIP else rules.rule_starts[symbol]
            new = {start} | ({target} if ends[start] else set())
            waiting += new - seen
            seen |= new
    return found


def _last(rules: Rules, network: Network) -> set[int]:
    """The lexemes that documents end with."""
    found: set[int] = set()
    ends = may_end(network)
    ending = {rules.start}  # rules at whose end the document may end
    waiting = [rules.start]
    while waiting:
        for state in network.states[waiting.pop()]:
            for edge in network.edges[state]:
                if not ends[edge.target]:
                    continue
                if edge.kind == SCAN:
                    found.add(edge.symbol)
                elif edge.kind == CALL and edge.symbol not in ending:
                    ending.add(RuleId(edge.symbol))
                    waiting.append(RuleId(edge.symbol))
    return found


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
            if any(rivals >> rival & 1 for rival in (*mine, *theirs)):
                self.is_apart = False
            if any(self.first_of_place[target] & seal.going_on for target in targets):
                self.is_apart = False
        return super().look(one, other)


def _are_apart(nodes: RegexNodes, rules: Rules, seals: Mapping[int, Seal]) -> bool:
    if len(rules.edges) > MOST_EDGES * EDGE_FIELDS:
        return False
    apart = _Apart(nodes, rules, seals)
    apart.find()
    return apart.is_apart and apart.n_steps <= MOST_STEPS


def _open(nodes: RegexNodes, rules: Rules, sealing: _Sealing) -> None:
    """Write what was included in place of the seals."""
    assert not rules.priorities, "exact lexing has none, so edges may change their numbers"
    edges = array("i")
    opened: list[tuple[int, Inclusion]] = []
    for at in range(0, len(rules.edges), EDGE_FIELDS):
        state, kind, symbol, target, guard = rules.edges[at : at + EDGE_FIELDS]
        inclusion = sealing.inclusions.get(rules.names[rules.state_rules[state]])
        if inclusion is None:
            edges.extend((state, kind, symbol, target, guard))
        elif kind == SCAN and symbol == sealing.seals[inclusion].node:
            opened.append((len(edges), inclusion))
            edges.extend((state, CALL, symbol, target, guard))
    rules.edges = edges
    written: dict[Inclusion, RuleId] = {}
    for at, inclusion in opened:
        if inclusion not in written:
            written[inclusion] = include(rules, inclusion.rules)
        rules.edges[at + 2] = written[inclusion]
