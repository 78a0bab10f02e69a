"""Grammars as values: put together, and printed.

    a.union(b)        what a derives, and what b does          a | b
    a.concat(b)       a sentence of a, then one of b           a b
    a.optional()      a sentence of a, or nothing              a?
    a.repeat(1, 3)    one to three sentences of a in a row     a{1,3}

Grammars in GBNF, EBNF, patterns, choices, and Lark grammars with `lexer="exact"` mean what they derive byte by byte,
and what is put together of them does, too: it is compiled as one grammar (llmask/grammar/exact/fusing.py). Grammars
made from JSON schemas, and greedy Lark grammars, go in as they are, with white space of their own
(llmask/grammar/inclusion.py). What happens at the *seam*, where one part ends and another begins or goes on beside it:

- Nothing is ignored there but what a part itself may begin or end with: a Lark grammar its `%ignore`, a schema nothing.
- Parts without greedy ones: all texts count, and no others. Where a lexeme of a schema may end or go on with what
  follows (a number and then a digit), it would have to be split, which is refused with an error.
- With greedy parts: at a seam, too, a lexeme is as long as those allow that are expected there, of all parts, and of
  those that end together the ones with the highest priority are taken. Where that may lose texts of a part, `warnings`
  says so. It never adds any.

In: grammars of one store. Out: one lowered grammar; texts. Cost: that of compiling them, from expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from typing import TYPE_CHECKING, Any

from ..errors import GrammarError, LimitExceeded
from ..grammar.exact.fusing import exact_rules, woven
from ..grammar.expressions import (
    EMPTY,
    Expression,
    Grammar,
    Inclusion,
    Lowered,
    Reference,
    Repeat,
    choice,
    leaves,
    optional,
    parts_of,
    renamed,
    sequence,
)
from ..grammar.inclusion import derives_nothing_too
from ..grammar.kinds import EDGE_FIELDS
from ..grammar.lowering import MOST_COUNT, folded
from ..grammar.rules import Rules, compares_values
from ..store.loaded_grammar import LoadedGrammar
from ..work import spend

if TYPE_CHECKING:
    from ..regex.nodes import RegexNodes

Together = Callable[[list[Expression]], Expression]

START = "start"
MOST_PARTS = 10_000  # lexemes and references; some seconds
PART_WORK = 20  # units, that is microseconds, for each of them
EDGE_WORK = 15  # units for an edge of rules that go in as they are


def joined(nodes: RegexNodes, parts: Iterable[LoadedGrammar], what: str, **options: Any) -> Lowered:
    """The grammar that is called `what`, "union", "concat", "optional" or "repeat", of the parts, compiled as one.

    Raises
    ------
    GrammarError : an option is wrong, a part has what grammars that are put together lose, or lexemes meet that
        cannot be split.
    LimitExceeded : it is too large, or nests too deep.
    """
    together = _way(what, **options)
    try:
        grammar = _together(parts, together)
        return exact_rules(nodes, grammar)._replace(grammar=grammar)
    except RecursionError:
        raise LimitExceeded(
            "the grammar nests deeper than what is left of Python's stack",
            help="put fewer grammars into each other, or do it from fewer nested calls",
        ) from None


def _way(what: str, low: Any = 0, high: Any = None) -> Together:
    if what == "union":
        return choice
    if what == "concat":
        return sequence
    if what == "optional":
        low, high = 0, 1
    bounds = [low] if high is None else [low, high]
    if any(type(bound) is not int or not 0 <= bound <= MOST_COUNT for bound in bounds) or bounds[-1] < low:
        raise GrammarError(
            f"a grammar cannot be repeated {low!r} to {high!r} times",
            help=f"bounds are whole numbers in order, at most {MOST_COUNT}; None is without end",
        )

    def repeated(parts: list[Expression]) -> Expression:
        made = Repeat(parts[0], low, high)
        return parts[0] if (low, high) == (1, 1) or folded(made) == parts[0] else made  # (a?)? is a?

    return repeated


def is_any_greedy(nodes: RegexNodes, lowered: Lowered) -> bool:
    """Whether some part of a grammar that was put together is greedy, or something ignored as long as it can be."""
    rules = {} if lowered.grammar is None else woven(nodes, lowered.grammar).rules
    every = [leaf for rule in rules.values() for leaf in leaves(rule)]
    return any(leaf.is_greedy if isinstance(leaf, Inclusion) else getattr(leaf, "is_longest", False) for leaf in every)


def _together(parts: Iterable[LoadedGrammar], together: Together) -> Grammar:
    """One grammar of several; rules of later ones get new names where they clash."""
    rules: dict[str, Expression] = {START: EMPTY}
    found: list[Expression] = []
    for part in parts:
        grammar = woven(part.store.nodes, _part(part))
        body = grammar.rules[grammar.start]
        refers_to_start = any(
            leaf == Reference(grammar.start) for expression in grammar.rules.values() for leaf in leaves(expression)
        )
        kept = [name for name in grammar.rules if refers_to_start or name != grammar.start]
        names: dict[str, str] = {}
        taken = set(rules)
        for name in kept:
            names[name] = next(new for new in _names(name) if new not in taken)
            taken.add(names[name])
        for name in kept:
            rules[names[name]] = renamed(grammar.rules[name], names)
        found.append(Reference(names[grammar.start]) if refers_to_start else renamed(body, names))
    rules[START] = together(found)
    n_parts = n_inner = n_edges = 0
    for expression in rules.values():
        waiting = [expression]
        for here in waiting:  # grows while it is read
            inner = parts_of(here)
            waiting += inner
            n_parts, n_inner = n_parts + (not inner), n_inner + bool(inner)
            n_edges += len(here.rules.edges) // EDGE_FIELDS if isinstance(here, Inclusion) else 0
    # inner parts count where they outnumber the outer ones: deep nesting of little is what takes long
    spend((n_parts + max(n_inner - n_parts, 0)) * PART_WORK + n_edges * EDGE_WORK)
    if n_parts > MOST_PARTS:
        raise LimitExceeded(
            f"what is put together has more than {MOST_PARTS} parts", help="grammars that stand in it twice count twice"
        )
    return Grammar(rules, START)


def _names(name: str) -> Any:
    yield name
    yield from (f"{name}_{number}" for number in count(2))


def included(part: LoadedGrammar, text: str) -> Expression:
    """A grammar as a part of one in Lark's notation: its rules as they are, written as `text`.

    Raises
    ------
    GrammarError : it has what grammars lose that are put together.
    """
    _refuse_lost(part)
    _refuse_comparing(part.own_rules)
    found = Inclusion(part.own_rules, text, is_greedy=part.is_greedy)
    return optional(found) if derives_nothing_too(part.own_rules) else found


def _refuse_lost(part: LoadedGrammar) -> None:
    """Refuse what is said of rules, and would be lost."""
    grammar = part.grammar
    for name, said in grammar.attributes.items():
        if said.capture or said.temperature or said.max_tokens or (said.ending and said.ending.capture):
            raise GrammarError(
                f'rule "{name}" has a capture, a temperature or max_tokens, which grammars that are put together lose',
                grammar.places.get(name),
                "take it out, or write the grammars as one",
            )
    if grammar.parametric:
        raise GrammarError(
            f'rule "{min(grammar.parametric)}" has a parameter, so its rules are written only while it is read',
            grammar.places.get(min(grammar.parametric)),
            "write what it is put together with into the same grammar",
        )


def _refuse_comparing(rules: Rules) -> None:
    """Refuse rules that compare values, as a schema's may."""
    if compares_values(rules):
        raise GrammarError(
            "a schema that compares texts (uniqueItems, minProperties, ...) cannot be put together with others",
            help="take these keywords out, or use the grammar by itself",
        )


def _part(part: LoadedGrammar) -> Grammar:
    """A grammar in the form in which it goes into others."""
    _refuse_lost(part)
    grammar = part.grammar
    if part.is_greedy:
        whole = Inclusion(part.own_rules, f"%lark {{\n{grammar}\n}}", is_whole=True, is_greedy=True)
        empty = derives_nothing_too(part.own_rules)
        return Grammar({START: optional(whole) if empty else whole})
    for rule in grammar.rules.values():
        for leaf in leaves(rule):
            if isinstance(leaf, Inclusion):
                _refuse_comparing(leaf.rules)
    return grammar
