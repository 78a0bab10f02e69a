"""What can be said of a grammar before it is parsed: which rules derive nothing, the empty string, or are never used.

Every question is the least fixed point of a statement about rules. A rule is asked again only when one that it refers
to has been answered (S. Sippu, E. Soisalon-Soininen, "Parsing Theory", volume I, section 4.4), so a chain of a
million rules is no square.

In: a `Grammar`. Out: names of rules. Cost: linear in the grammar; each lexeme once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from llmask.grammar.expressions import (
    Choice,
    Expression,
    Grammar,
    Inclusion,
    Lexeme,
    Reference,
    Repeat,
    Sequence,
    TokenSet,
    leaves,
)

Holds = Callable[[Expression], bool]


def productive_rules(rules: Mapping[str, Expression], lexeme_is_empty: Callable[[Lexeme], bool]) -> set[str]:
    """Rules that derive at least one string, given which lexemes match none."""
    found: set[str] = set()

    def holds(expression: Expression) -> bool:
        return derives_some(expression, found, lexeme_is_empty)

    return _least(rules, holds, found)


def derives_some(expression: Expression, productive: set[str], lexeme_is_empty: Callable[[Lexeme], bool]) -> bool:
    """Whether an expression derives a string, if the rules in `productive` do and no others."""
    if isinstance(expression, Lexeme):
        return not lexeme_is_empty(expression)
    if isinstance(expression, Reference):
        return expression.name in productive
    if isinstance(expression, (TokenSet, Inclusion)):
        return True  # their frontend has seen to it
    if isinstance(expression, Repeat):
        return expression.low == 0 or derives_some(expression.part, productive, lexeme_is_empty)
    if isinstance(expression, Sequence):
        return all(derives_some(part, productive, lexeme_is_empty) for part in expression.parts)
    return any(derives_some(option, productive, lexeme_is_empty) for option in expression.options)


def nullable_rules(rules: Mapping[str, Expression], lexeme_is_nullable: Callable[[Lexeme], bool]) -> set[str]:
    """Rules that derive the empty string, given which lexemes match it."""
    found: set[str] = set()

    def holds(expression: Expression) -> bool:
        return derives_empty(expression, found, lexeme_is_nullable)

    return _least(rules, holds, found)


def derives_empty(expression: Expression, nullable: set[str], lexeme_is_nullable: Callable[[Lexeme], bool]) -> bool:
    """Whether an expression derives the empty string, if the rules in `nullable` do and no others."""
    if isinstance(expression, Lexeme):
        return lexeme_is_nullable(expression)
    if isinstance(expression, Reference):
        return expression.name in nullable
    if isinstance(expression, (TokenSet, Inclusion)):
        return False
    if isinstance(expression, Repeat):
        return expression.low == 0 or derives_empty(expression.part, nullable, lexeme_is_nullable)
    if isinstance(expression, Sequence):
        return all(derives_empty(part, nullable, lexeme_is_nullable) for part in expression.parts)
    assert isinstance(expression, Choice)
    return any(derives_empty(option, nullable, lexeme_is_nullable) for option in expression.options)


def reachable_rules(grammar: Grammar) -> set[str]:
    """Rules that a derivation from the start rule may use."""
    found = {grammar.start}
    waiting = [grammar.start]
    while waiting:
        for leaf in leaves(grammar.rules[waiting.pop()]):
            if isinstance(leaf, Reference) and leaf.name not in found:
                found.add(leaf.name)
                waiting.append(leaf.name)
    return found


def _least(rules: Mapping[str, Expression], holds: Holds, found: set[str]) -> set[str]:
    """Fill `found`, which `holds` looks at, with the rules for which it holds."""
    users: dict[str, list[str]] = {}
    for name, expression in rules.items():
        for used in {leaf.name for leaf in leaves(expression) if isinstance(leaf, Reference)}:
            users.setdefault(used, []).append(name)
    waiting = list(rules)
    while waiting:
        name = waiting.pop()
        if name not in found and holds(rules[name]):
            found.add(name)
            waiting += users.get(name, ())
    return found
