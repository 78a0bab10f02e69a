"""Rules with a parameter of 64 bits: what they derive for one value, and whether they derive something at all.

    perm::_ : "a" perm::set_bit(0) %if bit_clear(0) | ... | "" %if is_ones([0:3])

The rule of one value is an ordinary one, named `perm::5`; of those only what a sequence gets to is ever written
(lowering.py). Whether it derives something has to be known before: a rule that does not may not be entered. That is
found by going depth first to what it uses, for each value by itself, and is remembered; a grammar for which it takes
too many steps is refused, as the question is NP-hard (every condition on 64 bits can be asked).

In: the rules of a grammar, with conditions and calls. Out: expressions without. Cost: 3 us a part and value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NoReturn

from llmask.errors import LimitExceeded
from llmask.grammar.expressions import (
    Call,
    Choice,
    Conditional,
    Expression,
    Inclusion,
    Lexeme,
    Reference,
    Repeat,
    Sequence,
    TokenSet,
    choice,
    sequence,
)

MOST_STEPS = 200_000  # values of rules that one answer may look at
MOST_PARTS = 600_000  # parts of those rules
MOST_KNOWN = 1_000_000
SIGN = "::"


def instance_name(rule: str, value: int) -> str:
    """The name of a rule for one value."""
    return f"{rule}{SIGN}{value}"


def instance_of(name: str) -> tuple[str, int]:
    """Rule and value of a name; 0 for rules without a parameter."""
    rule, sign, value = name.partition(SIGN)
    return rule, int(value) if sign else 0


def is_instance(name: str) -> bool:
    """Whether a name is that of a rule for one value."""
    return SIGN in name


def written_out(expression: Expression, value: int) -> Expression | None:
    """What a part of a rule derives for one value, without conditions; None where none is fulfilled."""
    if isinstance(expression, Conditional):
        return written_out(expression.part, value) if expression.condition.holds(value) else None
    if isinstance(expression, Call):
        return Reference(instance_name(expression.name, expression.change.of(value)))
    if isinstance(expression, Sequence):
        parts = [written_out(part, value) for part in expression.parts]
        left = [part for part in parts if part is not None]
        return sequence(left) if len(left) == len(parts) else None
    if isinstance(expression, Choice):
        options = [option for part in expression.options if (option := written_out(part, value)) is not None]
        return choice(options) if options else None
    if isinstance(expression, Repeat):
        part = written_out(expression.part, value)
        if part is None:
            return sequence(()) if expression.low == 0 else None
        return Repeat(part, expression.low, expression.high)
    return expression


class _Missing(Exception):
    """A rule that has to be answered first."""

    def __init__(self, name: str) -> None:
        self.name = name


class Provable:
    """The rules of which something holds, as far as it was asked: a set to look into.

    Parameters
    ----------
    rules : of a grammar, by name.
    of_lexeme : whether it holds of a lexeme.
    of_other : whether it holds of token sets and inclusions.
    """

    def __init__(
        self,
        rules: Mapping[str, Expression],
        of_lexeme: Callable[[Lexeme], bool],
        of_other: bool,
    ) -> None:
        self._rules = rules
        self._of_lexeme = of_lexeme
        self._of_other = of_other
        self._known: dict[str, bool] = {}
        self._tentative: set[str] = set()
        self._in_progress: dict[str, None] = {}
        self._is_tainted = False
        self._n_parts = 0

    def __contains__(self, name: object) -> bool:
        assert isinstance(name, str)
        if name not in self._known:
            if len(self._known) > MOST_KNOWN:
                self._known.clear()
            self._solve(name)
        return self._known[name]

    def _solve(self, goal: str) -> None:
        self._in_progress = {goal: None}
        self._tentative.clear()
        self._n_parts = 0
        for _ in range(MOST_STEPS):
            if self._n_parts > MOST_PARTS:
                break
            name = next(reversed(self._in_progress))
            rule, value = instance_of(name)
            self._is_tainted = False
            try:
                holds = self._holds(self._rules[rule], value)
            except _Missing as missing:
                self._in_progress[missing.name] = None
                continue
            del self._in_progress[name]
            if holds:
                self._known[name] = True
                self._tentative.clear()  # what was taken as false may have used it
            elif self._is_tainted and self._in_progress:
                self._tentative.add(name)
            else:
                self._known[name] = False
            if not self._in_progress:
                return
        self._refuse(goal)

    def _refuse(self, goal: str) -> NoReturn:
        raise LimitExceeded(
            f'whether rule "{goal}" derives anything takes more than {MOST_STEPS} steps, or looks at more than '
            f"{MOST_PARTS} parts of rules",
            help="use fewer bits, or conditions that leave a way to the end open",
        )

    def _of_name(self, name: str) -> bool:
        known = self._known.get(name)
        if known is not None:
            return known
        if name in self._in_progress or name in self._tentative:
            self._is_tainted = True
            return False
        raise _Missing(name)

    def _holds(self, expression: Expression, value: int) -> bool:
        """Whether it holds of a part of a rule, as far as is known."""
        self._n_parts += 1
        if isinstance(expression, Lexeme):
            return self._of_lexeme(expression)
        if isinstance(expression, (TokenSet, Inclusion)):
            return self._of_other
        if isinstance(expression, Reference):
            return self._of_name(expression.name)
        if isinstance(expression, Call):
            return self._of_name(instance_name(expression.name, expression.change.of(value)))
        if isinstance(expression, Conditional):
            return expression.condition.holds(value) and self._holds(expression.part, value)
        if isinstance(expression, Repeat):
            return expression.low == 0 or self._holds(expression.part, value)
        missing: _Missing | None = None
        is_choice = isinstance(expression, Choice)
        for part in expression.options if isinstance(expression, Choice) else expression.parts:
            try:
                if self._holds(part, value) == is_choice:
                    return is_choice  # one option that holds is enough, and one part that does not
            except _Missing as found:
                missing = missing or found
        if missing is not None:
            raise missing
        return not is_choice
