"""Rules with a parameter of 64 bits, written for one value at a time, when a sequence first needs them.

    list::_ : item list::incr(_) | ""       a run of list::0 goes through the states of list::0, list::1, list::2 ...

A rule for one value that is the last thing another one uses is no call: the run goes on in its states, which are
written again for every rule that calls one of them. So a right-recursive list has one run, and rows do not grow with
its length, whatever the parameter counts (tails.py does that for rules that are known beforehand).

    perm::_ : "a" perm::set_bit(0) %if bit_clear(0) | ... | "" %if is_ones([0:3])

The rule of one value is an ordinary one, named `perm::5`. Whether it derives something has to be known before it is
written: a rule that does not may not be entered. That is found by going depth first to what it uses, for each value by
itself, and is remembered (`Provable`); a grammar for which it takes too many steps is refused, as the question is
NP-hard (every condition on 64 bits can be asked).

In: a `Grammar` with parameters. Out: `Rules` that grow. Cost: some 100 us a value and rule; 3 us a part and value to
know whether it derives something.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Sequence as Items
from typing import TYPE_CHECKING, Any

from llmask.errors import GrammarError, LimitExceeded, UnsatisfiableSchema
from llmask.grammar.expressions import (
    Call,
    Choice,
    Conditional,
    Expression,
    Grammar,
    Inclusion,
    Lexeme,
    Lowered,
    Reference,
    Repeat,
    TokenSet,
    kept,
    leaves,
)
from llmask.grammar.kinds import RuleId, StateId
from llmask.grammar.lowering import Lowering
from llmask.grammar.rules import Rules

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes

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

    def written(leaf: Expression) -> Expression | None:
        if isinstance(leaf, Conditional):
            return kept(leaf.part, written) if leaf.condition.holds(value) else None
        if isinstance(leaf, Call):
            return Reference(instance_name(leaf.name, leaf.change.of(value)))
        return leaf

    return kept(expression, written)


class _Missing(Exception):
    """A rule that has to be answered first."""

    def __init__(self, name: str) -> None:
        self.name = name


class Provable:
    """The rules for which something holds, as far as it was asked: a set to look into.

    Parameters
    ----------
    rules : of a grammar, by name.
    of_lexeme : whether it holds for a lexeme.
    of_other : whether it holds for token sets and inclusions.
    """

    def __init__(self, rules: Mapping[str, Expression], of_lexeme: Callable[[Lexeme], bool], of_other: bool) -> None:
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


class LateLowering(Lowering):
    """One grammar on its way to `Rules`, as long as sequences are read.

    Attributes
    ----------
    late, late_of : numbers of late skips, and what they stand for: the rule whose run it is, and the rule for a value.
    tails : ends of rules for one value: what is called before one goes on there, as part of the same run.
    """

    def __init__(self, nodes: RegexNodes, grammar: Grammar) -> None:
        super().__init__(nodes, grammar)
        self.late: dict[tuple[RuleId, str], int] = {}
        self.late_of: list[tuple[RuleId, str]] = []
        self.tails: set[int] = set()

    def write(self) -> Rules:
        """Write what has no parameter."""
        super().write()
        found = [leaf for rule in self.grammar.rules.values() for leaf in leaves(rule)]
        lowest = min([0, *(leaf.priority for leaf in found if isinstance(leaf, Lexeme))])
        self.rules.ignored_priority = lowest - 1  # not 0: later edges may have priorities
        self._chain()
        return self.rules

    def _chain(self) -> None:
        """Note that runs of new rules may wait in chains; which of them do is not known beforehand."""
        chained = self.rules.chained
        if any(
            said.temperature is not None or said.max_tokens is not None for said in self.grammar.attributes.values()
        ):
            return  # rows have to tell whose terminal is read
        chained.extend(range(chained[-1] + 1 if chained else 0, len(self.rules.names)))

    def _look_into_rules(self) -> None:
        rules, parametric = self.grammar.rules, self.grammar.parametric
        self.productive = Provable(rules, lambda lexeme: not self.is_empty(lexeme), True)
        self.nullable = Provable(rules, self.is_nullable, False)
        start, place = self.grammar.start, self.grammar.places.get(self.grammar.start)
        if start in parametric:
            raise GrammarError(
                f'the start rule "{start}" has a parameter', place, f"begin with a rule that gives it: {start}::0"
            )
        if start not in self.productive:
            raise UnsatisfiableSchema(
                f'the grammar derives nothing: rule "{start}" never gets to an end',
                place,
                "look at the conditions: some value has to let every rule end",
            )
        plain = [name for name in rules if name not in parametric]
        self._warn(self.productive, plain)
        left = {name: self._without(self._plain(rules[name]), self.productive) for name in plain}
        self.expressions = {name: found for name, found in left.items() if found is not None}

    def _plain(self, expression: Expression) -> Expression:
        """What a rule without parameter derives, its calls by name."""
        found = written_out(expression, 0)
        assert found is not None, "conditions stand in rules with a parameter"
        return found

    def _write_rule(self, name: str) -> None:
        """Write a rule; one for a value as a start state that leads on when a run gets there."""
        if not is_instance(name):
            super()._write_rule(name)
            return
        rule = self.ids[name]
        start = self.rules.start_state(rule)
        self.rules.skip_late(start, self._late(rule, name))
        if name in self.nullable:
            self.rules.final(start)

    def _late(self, rule: RuleId, name: str) -> int:
        """Number of the late skip to the beginning of a rule for one value, as part of the runs of another one."""
        key = (rule, name)
        found = self.late.get(key)
        if found is None:
            found = self.late[key] = len(self.late_of)
            self.late_of.append(key)
            self.rules.late_names.append(name)
        return found

    def _called(self, rule: RuleId, name: str, begin: StateId, end: StateId) -> None:
        if end in self.tails and is_instance(name):
            self.rules.skip_late(begin, self._late(rule, name))
        else:
            super()._called(rule, name, begin, end)

    def _ignore(self, lexemes: Items[Lexeme]) -> None:
        for name in self.grammar.parametric:
            self._refuse_ignored(name, self.grammar.rules[name], lexemes)
        super()._ignore(lexemes)

    def _expression(self, name: str) -> Expression:
        if is_instance(name):
            raise LimitExceeded(
                f'rule "{name}" may be empty, and is repeated a counted number of times',
                help="let it derive something, or repeat it without bounds",
            )
        return super()._expression(name)

    def make_late(self, number: int) -> StateId:
        """Write what a late skip leads to, and all new rules that it uses; the same number gives the same state.

        Raises
        ------
        LimitExceeded : it takes too long to find out whether a rule derives anything.
        """
        found = self.rules.late_states.get(number)
        if found is None:
            forget = self._undo()
            try:
                found = self._write_late(number)
            except BaseException:  # a limit, an interrupt: others go on with these rules
                forget()
                raise
            self.rules.late_states[number] = found
        return found

    def _write_late(self, number: int) -> StateId:
        rule, name = self.late_of[number]
        template, value = instance_of(name)
        expression = written_out(self.grammar.rules[template], value)
        left = None if expression is None else self._without(expression, self.productive)
        assert left is not None, "it was proven to derive something"
        found = self.rules.state(rule)
        end = self.rules.state(rule)
        self.rules.final(end)
        self.tails.add(end)
        self._between(rule, left, found, end)
        self._write_waiting()
        self._chain()
        return found

    def _undo(self) -> Callable[[], None]:
        """A function that forgets what will have been written; no rule waits now."""
        sizes, n_late, inclusions = self.rules.sizes(), len(self.late_of), self.inclusions
        grown: list[dict[Any, Any]] = [self.ids, self.counting, inclusions, self.regions, self.late]
        lengths = [len(known) for known in grown]

        def forget() -> None:
            self.inclusions = inclusions
            for known, length in zip(grown, lengths, strict=True):
                while len(known) > length:
                    known.popitem()  # the newest
            self.rules.cut(sizes)
            self.waiting.clear()
            del self.late_of[n_late:], self.rules.late_names[n_late:]
            self.tails = {state for state in self.tails if state < len(self.rules.state_rules)}

        return forget


def lower(nodes: RegexNodes, grammar: Grammar) -> Lowered:
    """Rules of a grammar.

    Raises
    ------
    GrammarError : a rule refers to one that is not defined.
    UnsatisfiableSchema : the start rule derives nothing; the message says why.
    """
    lowering = LateLowering(nodes, grammar) if grammar.parametric else Lowering(nodes, grammar)
    make_late = lowering.make_late if isinstance(lowering, LateLowering) else None
    return Lowered(lowering.write(), lowering.warnings, grammar, lowering.regions, make_late=make_late)
