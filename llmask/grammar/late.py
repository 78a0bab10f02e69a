"""Rules with a parameter, written for one value at a time, when a sequence first needs them.

    list::_ : item list::incr(_) | ""       a run of list::0 goes through the states of list::0, list::1, list::2 ...

A rule for one value that is the last thing another one uses is no call: the run goes on in its states, which are
written again for every rule that calls one of them. So a right-recursive list has one run, and rows do not grow with
its length, whatever the parameter counts (tails.py does that for rules that are known beforehand).

In: a `Grammar` with parameters. Out: `Rules` that grow. Cost: some 100 us a value and rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from llmask.errors import GrammarError, LimitExceeded, UnsatisfiableSchema
from llmask.grammar.expressions import Expression, Grammar, Lexeme, Lowered, leaves
from llmask.grammar.kinds import RuleId, StateId
from llmask.grammar.lowering import Lowering
from llmask.grammar.parametric import Provable, instance_of, is_instance, written_out
from llmask.grammar.rules import Rules

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes


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
        self.rules.ignored_priority = self._lowest_priority() - 1  # not 0: later edges may have priorities
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

    def _ignore(self, lexemes: Sequence[Lexeme]) -> None:
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

    def _lowest_priority(self) -> int:
        """The lowest priority of a lexeme, 0 at most."""
        found = [leaf for rule in self.grammar.rules.values() for leaf in leaves(rule)]
        return min([0, *(leaf.priority for leaf in found if isinstance(leaf, Lexeme))])


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
