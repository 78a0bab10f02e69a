"""Analysis of a grammar before it is lowered: rules that derive nothing or the empty string, repetition in disguise.

Every question is the least fixed point of a statement about rules. A rule is asked again only when one that it refers
to has been answered (S. Sippu, E. Soisalon-Soininen, "Parsing Theory", volume I, section 4.4), so a chain of a
million rules is no square.

Recursion at the ends of a rule, and repetitions of repetitions, are written as one repetition. After D. Arden,
"Delayed-logic and finite-state machines", 1961: R = A R | B is A* B, R = R A | B is B A*, and R = R A R | B is
B (A B)*.

In: a `Grammar`. Out: names of rules; expressions that derive the same. Cost: linear in the grammar; each lexeme once.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from types import MappingProxyType

from llmask.grammar.expressions import (
    Call,
    Choice,
    Expression,
    Grammar,
    Inclusion,
    Lexeme,
    Reference,
    Repeat,
    Sequence,
    TokenSet,
    choice,
    leaves,
    rebuilt,
    sequence,
)


def productive_rules(rules: Mapping[str, Expression], lexeme_is_empty: Callable[[Lexeme], bool]) -> set[str]:
    """Rules that derive at least one string, given which lexemes match none."""
    return _least(rules, lambda lexeme: not lexeme_is_empty(lexeme), of_other=True)  # their frontend has seen to it


def nullable_rules(rules: Mapping[str, Expression], lexeme_is_nullable: Callable[[Lexeme], bool]) -> set[str]:
    """Rules that derive the empty string, given which lexemes match it."""
    return _least(rules, lexeme_is_nullable, of_other=False)


def derives_empty(
    expression: Expression, nullable: Container[str], lexeme_is_nullable: Callable[[Lexeme], bool]
) -> bool:
    """Whether an expression derives the empty string, if the rules in `nullable` do and no others."""
    return _holds(expression, nullable, lexeme_is_nullable, of_other=False)


def reachable_rules(grammar: Grammar) -> set[str]:
    """Rules that a derivation from the start rule may use."""
    found = {grammar.start}
    waiting = [grammar.start]
    while waiting:
        for leaf in leaves(grammar.rules[waiting.pop()]):
            if isinstance(leaf, (Reference, Call)) and leaf.name not in found:
                found.add(leaf.name)
                waiting.append(leaf.name)
    return found


def _holds(expression: Expression, known: Container[str], of_lexeme: Callable[[Lexeme], bool], of_other: bool) -> bool:
    """Whether a statement holds of an expression, if it does of the rules in `known` and no others.

    It holds of a row where it holds of all parts, and of a choice where it holds of one option.

    Parameters
    ----------
    of_lexeme : whether it holds of a lexeme.
    of_other : whether it holds of token sets and inclusions.
    """
    if isinstance(expression, Lexeme):
        return of_lexeme(expression)
    if isinstance(expression, Reference):
        return expression.name in known
    if isinstance(expression, (TokenSet, Inclusion)):
        return of_other
    if isinstance(expression, Repeat):
        return expression.low == 0 or _holds(expression.part, known, of_lexeme, of_other)
    if isinstance(expression, Sequence):
        return all(_holds(part, known, of_lexeme, of_other) for part in expression.parts)
    assert isinstance(expression, Choice), "calls and conditions are written out"
    return any(_holds(option, known, of_lexeme, of_other) for option in expression.options)


def _least(rules: Mapping[str, Expression], of_lexeme: Callable[[Lexeme], bool], of_other: bool) -> set[str]:
    """The rules for which a statement holds, see `_holds`; no others than it has to."""
    found: set[str] = set()
    users: dict[str, list[str]] = {}
    for name, expression in rules.items():
        for used in {leaf.name for leaf in leaves(expression) if isinstance(leaf, Reference)}:
            users.setdefault(used, []).append(name)
    waiting = list(rules)
    while waiting:
        name = waiting.pop()
        if name not in found and _holds(rules[name], found, of_lexeme, of_other):
            found.add(name)
            waiting += users.get(name, ())
    return found


MOST_COUNT = 10**9  # counters are 32-bit


def as_repetition(name: str, expression: Expression) -> Expression:
    """A rule's expression with direct recursion at its ends as repetition.

        R = R A R | C R | R D | B        R = C* B D* (A C* B D*)*

    A, B, C and D may refer to the rule again: what solves one equation solves the other, whatever they hold, so the
    least solutions are the same.
    """
    between, before, behind, others = (list[Expression]() for _ in range(4))
    for option in expression.options if isinstance(expression, Choice) else (expression,):
        parts = option.parts if isinstance(option, Sequence) else (option,)
        if parts == (Reference(name),):
            continue  # adds nothing
        ends = [part == Reference(name) for part in (*parts[:1], *parts[-1:])]
        if ends == [True, True]:
            between.append(sequence(parts[1:-1]))
        elif ends == [False, True]:
            before.append(sequence(parts[:-1]))
        elif ends == [True, False]:
            behind.append(sequence(parts[1:]))
        else:
            others.append(option)
    if not others or not between + before + behind:
        return expression
    one = sequence([*_many(before), choice(others), *_many(behind)])
    return sequence([one, *_many([sequence([choice(between), one])] if between else [])])


def folded(expression: Expression, rules: Mapping[str, Expression] = MappingProxyType({})) -> Expression:
    """An expression with repetitions of repetitions as one, where no number of copies is left out.

    What is repeated may be a reference to one of `rules`. x{0,3}{2} is x{0,6}, but x{3}{0,2} is not. More than a
    billion copies are as many as there may be: no text reaches them, and fifty counters in each other are all open at
    once.
    """
    if not isinstance(expression, Repeat):
        return rebuilt(expression, lambda part: folded(part, rules))
    part, low, high = folded(expression.part, rules), expression.low, expression.high
    copies = rules.get(part.name) if isinstance(part, Reference) else part
    if isinstance(copies, Repeat) and high != 0 and copies.high != 0:
        inner = MOST_COUNT if copies.high is None else copies.high
        # k copies take from k * copies.low to k * inner; the next one more has to go on from there
        is_dense = copies.low <= 1 if low == 0 else low * inner >= (low + 1) * copies.low - 1
        most = None if high is None or copies.high is None else high * copies.high
        if is_dense and low * copies.low <= MOST_COUNT:
            return Repeat(copies.part, low * copies.low, None if (most or 0) > MOST_COUNT else most)
    return Repeat(part, low, high)


def _many(options: list[Expression]) -> list[Expression]:
    return [Repeat(choice(options))] if options else []
