"""Repetition where a grammar says it in other ways: recursion at the ends of a rule, repetitions of repetitions.

After D. Arden, "Delayed-logic and finite-state machines", 1961: R = A R | B is A* B, R = R A | B is B A*, and
R = R A R | B is B (A B)*.

In: an expression. Out: an expression that derives the same. Cost: about a microsecond a part.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from llmask.grammar.expressions import Choice, Expression, Reference, Repeat, Sequence, choice, sequence

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
    if isinstance(expression, Sequence):
        return sequence([folded(part, rules) for part in expression.parts])
    if isinstance(expression, Choice):
        return choice([folded(option, rules) for option in expression.options])
    if not isinstance(expression, Repeat):
        return expression
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
