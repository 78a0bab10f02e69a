"""From a `Grammar` to `Rules`: each rule becomes an automaton whose edges scan lexemes, call rules, or skip.

A part that is repeated `low` to `high` times is a rule of its own that counts, so {0,100000} takes two states:

    repetition:  begin (final if low <= count) -[count < high]-> part -> begin, the count one higher

There a part must not derive the empty string, or one place in a text would hold every count at once: what is repeated
is the part without its empty string, and the lower bound 0 if it has one. This is the usual removal of empty
derivations (J. Hopcroft, J. Ullman, "Introduction to Automata Theory", section 4.4), done only for what is counted.

Rules that derive nothing are left out, with a warning, and so are rules that are never used. Every such question is the
least fixed point of a statement about rules. A rule is asked again only when one that it refers to has been answered
(S. Sippu, E. Soisalon-Soininen, "Parsing Theory", volume I, section 4.4), so a chain of a million rules is no square.

Recursion at the ends of a rule, and repetitions of repetitions, are written as one repetition. After D. Arden,
"Delayed-logic and finite-state machines", 1961: R = A R | B is A* B, R = R A | B is B A*, and R = R A R | B is
B (A B)*.

In: a `Grammar` and the nodes of its lexemes. Out: `Rules` and warnings. Cost: about 2 us a part.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from collections.abc import Sequence as Items
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from llmask.errors import GrammarError, UnsatisfiableSchema
from llmask.grammar.expressions import (
    EMPTY,
    Attributes,
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
    kept,
    leaves,
    rebuilt,
    sequence,
    written,
)
from llmask.grammar.inclusion import include
from llmask.grammar.kinds import RuleId, StateId
from llmask.grammar.rules import Rules
from llmask.grammar.tails import reached
from llmask.grammar.token_ranges import token_node
from llmask.work import spend

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes

FREE_LEXEMES = 1000
LEXEME_WORK = 10  # units for each further one
REST_WORK = 2  # units for a part that is written once more, after each one before it that may be empty
WITHOUT_EMPTY = "{}, not empty"  # name of a rule's variant; no frontend has names with a blank


def derives_empty(
    expression: Expression, nullable: Container[str], lexeme_is_nullable: Callable[[Lexeme], bool]
) -> bool:
    """Whether an expression derives the empty string, if the rules in `nullable` do and no others."""
    return _holds(expression, nullable, lexeme_is_nullable, of_other=False)


def reachable_rules(grammar: Grammar) -> set[str]:
    """Rules that a derivation from the start rule may use."""

    def used_by(name: str) -> list[str]:
        return [leaf.name for leaf in leaves(grammar.rules[name]) if isinstance(leaf, (Reference, Call))]

    return set(reached([grammar.start], used_by))


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


def provable_rules(rules: Mapping[str, Expression], of_lexeme: Callable[[Lexeme], bool], of_other: bool) -> set[str]:
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
    between, before, after, others = (list[Expression]() for _ in range(4))
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
            after.append(sequence(parts[1:]))
        else:
            others.append(option)
    if not others or not between + before + after:
        return expression
    one = sequence([*_many(before), choice(others), *_many(after)])
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


class Lowering:
    """One grammar on its way to `Rules`.

    Attributes
    ----------
    expressions : by name, every rule that is written, variants without the empty string included.
    ids : rules that are declared; those in `waiting` have no edges yet.
    productive, nullable : rules that derive something, and the empty string.
    """

    def __init__(self, nodes: RegexNodes, grammar: Grammar) -> None:
        self.nodes = nodes
        self.grammar = grammar
        self.warnings: list[str] = []
        self.rules = Rules()
        self.expressions = dict(grammar.rules)
        self.ids: dict[str, RuleId] = {}
        self.waiting: list[str] = []
        self.counting: dict[Repeat, RuleId] = {}
        self.inclusions: dict[tuple[int, bool], RuleId] = {}
        self.regions: dict[int, Attributes] = {}
        self._is_nullable = cache(nodes.is_nullable)
        self._is_empty: dict[int, bool] = {}
        self.nullable: Container[str] = ()
        self.productive: Container[str] = ()

    def write(self) -> Rules:
        """Write everything."""
        self._check_references()
        self._look_into_rules()
        self.rules.start = self._rule(self.grammar.start)
        self._write_waiting()
        if self.grammar.ignored:
            self._ignore(self.grammar.ignored)
        return self.rules

    def _look_into_rules(self) -> None:
        """Find out which rules derive something, and the empty string."""
        # of inclusions and token sets their frontend has seen to it that they derive something
        self.productive = provable_rules(self.grammar.rules, lambda lexeme: not self.is_empty(lexeme), of_other=True)
        self._refuse_nothing(self.productive)
        self._warn(self.productive, self.grammar.rules)
        expressions = {
            name: left
            for name, expression in self.grammar.rules.items()
            if (left := self._without(expression, self.productive)) is not None
        }
        plain = {name: one for name, one in expressions.items() if name not in self.grammar.attributes}
        self.expressions = {name: folded(expression, plain) for name, expression in expressions.items()}
        self.nullable = provable_rules(self.expressions, self.is_nullable, of_other=False)

    def _write_waiting(self) -> None:
        while self.waiting:
            self._write_rule(self.waiting.pop())

    def _write_rule(self, name: str) -> None:
        rule = self.ids[name]
        begin, end = self.rules.start_state(rule), self.rules.state(rule)
        self.rules.final(end)
        first = len(self.rules.names)
        expression = self.expressions[name]
        shared = self.inclusions
        if name in self.grammar.attributes:
            self.inclusions = {}  # what is put in is written once more, for this rule alone
        self._between(rule, expression, begin, end)
        self._keep_attributes(name, rule, first)
        self.inclusions = shared

    def _keep_attributes(self, name: str, rule: RuleId, first: int) -> None:
        """Keep what is said of a rule for its terminal, or for all rules from `first` on that were put in there."""
        said = self.grammar.attributes.get(name)
        if said is None or (said.temperature is None and said.max_tokens is None):
            return
        is_put_in = isinstance(self.expressions[name], Inclusion)
        self.regions.update((number, said) for number in (range(first, len(self.rules.names)) if is_put_in else [rule]))

    def _ignore(self, lexemes: Items[Lexeme]) -> None:
        """Let the lexemes stand anywhere. What the rules expect goes first, or a rule might wait for it for ever."""
        rules = self.rules
        for name in self.ids.keys() & self.expressions.keys():
            self._refuse_ignored(name, self.expressions[name], lexemes)
        rules.ignored = self.nodes.union([lexeme.node for lexeme in lexemes])
        rules.ignored_at_ends = True
        rules.ignored_repeats = not self.grammar.ignores_once
        rules.ignored_priority = min(0, *rules.priorities[1::3], 0) - 1

    def _refuse_ignored(self, name: str, expression: Expression, lexemes: Items[Lexeme]) -> None:
        for leaf in leaves(expression):
            if isinstance(leaf, Lexeme) and leaf.node in {lexeme.node for lexeme in lexemes}:
                raise GrammarError(
                    f'rule "{name}" uses {written(leaf)}, which is ignored everywhere',
                    self.grammar.places.get(name),
                    "take it out of the rule, or ignore something else",
                )

    # --- questions

    def is_nullable(self, lexeme: Lexeme) -> bool:
        """Whether a lexeme matches the empty string."""
        return self._is_nullable(lexeme.node)

    def is_empty(self, lexeme: Lexeme) -> bool:
        """Whether a lexeme matches nothing at all."""
        found = self._is_empty.get(lexeme.node)
        if found is None:
            spend(LEXEME_WORK if len(self._is_empty) > FREE_LEXEMES else 0)
            found = self._is_empty[lexeme.node] = self.nodes.is_empty(lexeme.node)
        return found

    def _check_references(self) -> None:
        rules = self.grammar.rules
        if self.grammar.start not in rules:
            raise GrammarError(f'the start rule "{self.grammar.start}" is not defined', help="define it")
        for name, expression in rules.items():
            for leaf in leaves(expression):
                if isinstance(leaf, (Reference, Call)) and leaf.name not in rules:
                    raise GrammarError(
                        f'rule "{name}" uses "{leaf.name}", which is not defined',
                        self.grammar.places.get(name),
                        "define it",
                    )

    def _refuse_nothing(self, productive: Container[str]) -> None:
        start = self.grammar.start
        if start in productive:
            return
        reachable = reachable_rules(self.grammar)
        for name in self.grammar.rules:
            for leaf in leaves(self.grammar.rules[name]) if name in reachable else ():
                if isinstance(leaf, Lexeme) and self.is_empty(leaf):
                    raise UnsatisfiableSchema(
                        f'the grammar derives nothing: rule "{name}" needs {written(leaf)}, which matches no text',
                        self.grammar.places.get(name),
                        "mend the pattern, or give an alternative to it",
                    )
        name, passed = start, {start}
        while True:  # every rule that derives nothing uses another one; some rule comes again
            name = next(
                leaf.name
                for leaf in leaves(self.grammar.rules[name])
                if isinstance(leaf, Reference) and leaf.name not in productive
            )
            if name in passed:
                break
            passed.add(name)
        raise UnsatisfiableSchema(
            f'the grammar derives nothing: rule "{name}" needs itself without end',
            self.grammar.places.get(name),
            "give it an alternative that ends",
        )

    def _warn(self, productive: Container[str], names: Iterable[str]) -> None:
        reachable = reachable_rules(self.grammar)
        for name in names:
            place = self.grammar.places.get(name)
            where = f" ({place.splitlines()[0]})" if place else ""
            if name not in productive:
                self.warnings.append(f'rule "{name}"{where} derives nothing and is left out')
            elif name not in reachable:
                self.warnings.append(f'rule "{name}"{where} is never used')

    def _without(self, expression: Expression, productive: Container[str]) -> Expression | None:
        """An expression without the options and optional parts that derive nothing; None where nothing is left."""

        def derived(leaf: Expression) -> Expression | None:
            is_empty = isinstance(leaf, Lexeme) and self.is_empty(leaf)
            return None if is_empty or (isinstance(leaf, Reference) and leaf.name not in productive) else leaf

        return kept(expression, derived)

    # --- what is counted must not be empty

    def _not_empty(self, expression: Expression) -> Expression | None:
        """An expression that derives the same but the empty string; None where nothing is left."""
        if not derives_empty(expression, self.nullable, self.is_nullable):
            return expression
        options: list[Expression | None] = []
        if isinstance(expression, Lexeme):
            node = self.nodes.without(expression.node, [self.nodes.EPSILON])
            return None if self.nodes.is_empty(node) else replace(expression, node=node)
        if isinstance(expression, Reference):
            return self._rule_not_empty(expression.name)
        if isinstance(expression, Repeat):
            part = self._not_empty(expression.part)
            if part is None or expression.high == 0:
                return None
            return Repeat(part, 1, expression.high) if expression.high != 1 else part
        if isinstance(expression, Sequence):
            for n, part in enumerate(expression.parts):  # the first one that is not empty; those before it are
                spend(REST_WORK * (len(expression.parts) - n - 1))
                first = self._not_empty(part)
                options.append(None if first is None else sequence((first, *expression.parts[n + 1 :])))
        else:
            assert isinstance(expression, Choice)
            options += [self._not_empty(option) for option in expression.options]
        left = [option for option in options if option is not None]
        return choice(left) if left else None

    def _expression(self, name: str) -> Expression:
        """What a rule derives."""
        return self.expressions[name]

    def _rule_not_empty(self, name: str) -> Expression:
        """A nullable rule without its empty string; it may turn out to derive nothing, which loading takes out."""
        other = WITHOUT_EMPTY.format(name)
        if other not in self.expressions:
            self.expressions[other] = EMPTY  # known from here on: the rule may refer to itself
            found = self._not_empty(self._expression(name))
            self.expressions[other] = Reference(other) if found is None else found
        return Reference(other)

    # --- writing

    def _rule(self, name: str) -> RuleId:
        if name not in self.ids:
            self.ids[name] = self.rules.rule(name)
            self.waiting.append(name)
        return self.ids[name]

    def _between(self, rule: RuleId, expression: Expression, begin: StateId, end: StateId) -> None:
        """Write edges that lead from `begin` to `end` over what an expression derives."""
        rules = self.rules
        if isinstance(expression, Lexeme):
            rules.scan(begin, expression.node, end, priority=expression.priority)
            if self.is_nullable(expression):
                rules.skip(begin, end)
        elif isinstance(expression, TokenSet):
            rules.scan(begin, token_node(self.nodes, expression), end)
        elif isinstance(expression, Reference):
            self._called(rule, expression.name, begin, end)
        elif isinstance(expression, Inclusion):
            rules.call(begin, self._included(expression), end)
        elif isinstance(expression, Sequence):
            self._in_a_row(rule, expression.parts, begin, end)
        elif isinstance(expression, Repeat):
            self._repeated(rule, expression, begin, end)
        else:
            assert isinstance(expression, Choice), "calls and conditions are written out"
            for option in expression.options:
                self._between(rule, option, begin, end)

    def _called(self, rule: RuleId, name: str, begin: StateId, end: StateId) -> None:
        """Write an edge over what a rule derives, as part of `rule`."""
        self.rules.call(begin, self._rule(name), end)

    def _included(self, inclusion: Inclusion) -> RuleId:
        key = id(inclusion.rules), inclusion.is_whole
        if key not in self.inclusions:
            self.inclusions[key] = include(self.rules, inclusion.rules, inclusion.is_whole, inclusion.is_greedy)
        return self.inclusions[key]

    def _in_a_row(self, rule: RuleId, parts: Items[Expression], begin: StateId, end: StateId) -> None:
        if not parts:
            self.rules.skip(begin, end)
        for n, part in enumerate(parts):
            target = end if n == len(parts) - 1 else self.rules.state(rule)
            self._between(rule, part, begin, target)
            begin = target

    def _repeated(self, rule: RuleId, expression: Repeat, begin: StateId, end: StateId) -> None:
        rules = self.rules
        low, high = expression.low, expression.high
        if high == 0:
            rules.skip(begin, end)
        elif high == 1:
            self._between(rule, expression.part, begin, end)
            if low == 0:
                rules.skip(begin, end)
        elif high is None and low <= 1:
            first, last = rules.state(rule), rules.state(rule)
            rules.skip(begin, first)
            self._between(rule, expression.part, first, last)
            rules.skip(last, first)
            rules.skip(last, end)
            if low == 0:
                rules.skip(begin, end)
        else:
            self._counted(expression, begin, end)

    def _counted(self, expression: Repeat, begin: StateId, end: StateId) -> None:
        rules = self.rules
        low, high = expression.low, expression.high
        part: Expression | None = expression.part
        if derives_empty(expression.part, self.nullable, self.is_nullable):
            part, low = self._not_empty(expression.part), 0
        if part is None:
            rules.skip(begin, end)
            return
        if high is None and low <= 1:
            self._repeated(RuleId(rules.state_rules[begin]), Repeat(part, low, None), begin, end)
            return
        found = Repeat(part, low, high)
        if found not in self.counting:
            rule = self.counting[found] = rules.rule(f"repetition {len(self.counting)}")
            first, inside = rules.start_state(rule), rules.state(rule)
            rules.final(first, rules.guard(low=low))
            if high is None:
                rules.skip(first, inside, rules.guard(add=1, cap=low))
            else:
                rules.skip(first, inside, rules.guard(high=high - 1, add=1, cap=high))
            self._between(rule, part, inside, first)
        rules.call(begin, self.counting[found], end)
