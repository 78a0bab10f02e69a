"""Rules of one grammar inside another: a JSON schema or a grammar in a rule, with white space of its own.

Around the part that is put in, the outer grammar says what is ignored; inside, the part does. What it ignores is
written out: each lexeme takes it in front, `ws* "{"`, and is *bare*, so the outer grammar ignores nothing there. The
first lexeme of the part takes none. So every rule that the part may begin with is written twice, once for the
beginning, where nothing has been read, and once for all other places:

    value -> "[" value "]" | 1        first: "[" inner ws*"]" | 1        inner: ws*"[" inner ws*"]" | ws*1

In: two `Rules` over nodes of one store. Out: the number of a rule. Cost: about 2 us an edge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llmask.grammar.rules import (
    CALL,
    CALL_NEW,
    EDGE_FIELDS,
    GUARD_FIELDS,
    PRIORITY_FIELDS,
    SCAN,
    SKIP,
    GuardId,
    RuleId,
    Rules,
    StateId,
)

if TYPE_CHECKING:
    from llmask.derivatives.nodes import RegexNodes


def include(rules: Rules, nodes: RegexNodes, other: Rules) -> RuleId:
    """Write the rules of `other` into `rules`.

    Returns the rule that derives what the start rule of `other` does.

    `other` must not compare values (`Rules.call_new`): their texts would have white space in them.
    """
    return _Inclusion(rules, nodes, other).write()


class _Inclusion:
    """One grammar on its way into another.

    Attributes
    ----------
    inner, first : by rule of the part, the rules that are written.
    edges, finals : by state of the part.
    """

    def __init__(self, rules: Rules, nodes: RegexNodes, other: Rules) -> None:
        self.rules = rules
        self.nodes = nodes
        self.other = other
        self.edges: dict[int, list[tuple[int, int, int, int, int]]] = {}
        for number, at in enumerate(range(0, len(other.edges), EDGE_FIELDS)):
            state, kind, symbol, target, guard = other.edges[at : at + EDGE_FIELDS]
            assert kind < CALL_NEW, "whoever puts it in has seen to it"
            self.edges.setdefault(state, []).append((kind, symbol, target, guard, number))
        self.finals = dict(zip(other.finals[::2], other.finals[1::2], strict=True))
        columns = [other.priorities[n::PRIORITY_FIELDS] for n in range(PRIORITY_FIELDS)]
        self.priorities = dict(zip(columns[0], columns[1], strict=True))
        self.inner: dict[int, RuleId] = {}
        self.first: dict[int, RuleId] = {}
        self.waiting: list[tuple[int, bool]] = []
        self.guards: dict[int, GuardId] = {}
        self.spaced: dict[int, int] = {}
        if other.ignored is not None:
            blank = other.ignored
            self.blanks = nodes.repeat(blank, 0, None if other.ignored_repeats else 1)

    def write(self) -> RuleId:
        """Write what the start rule uses."""
        rule = self._rule(self.other.start, self.other.ignored is not None)
        while self.waiting:
            self._write_rule(*self.waiting.pop())
        self.rules.n_members = max(self.rules.n_members, self.other.n_members)
        return rule

    def _rule(self, rule: int, is_first: bool) -> RuleId:
        written = self.first if is_first else self.inner
        if rule not in written:
            written[rule] = self.rules.rule(self.other.names[rule])
            self.waiting.append((rule, is_first))
        return written[rule]

    def _write_rule(self, rule: int, is_first: bool) -> None:
        rules = self.rules
        written = (self.first if is_first else self.inner)[rule]
        start = (self.other.rule_starts[rule], is_first)
        states: dict[tuple[int, bool], StateId] = {start: rules.start_state(written)}
        waiting = [start]
        while waiting:
            at = waiting.pop()
            state, nothing_read = at
            if state in self.finals:
                rules.final(states[at], self._guard(self.finals[state]))
            for kind, symbol, target, guard, number in self.edges.get(state, ()):
                after = (target, nothing_read and kind == SKIP)
                if after not in states:
                    states[after] = rules.state(written)
                    waiting.append(after)
                self._write_edge((kind, symbol, number), states[at], states[after], self._guard(guard), nothing_read)

    def _write_edge(
        self, edge: tuple[int, int, int], begin: StateId, end: StateId, guard: GuardId, nothing_read: bool
    ) -> None:
        kind, symbol, number = edge
        if kind == SCAN and self.nodes.names_tokens(symbol):
            before = begin
            if not nothing_read and self.other.ignored is not None:
                before = self.rules.state(RuleId(self.rules.state_rules[begin]))
                self.rules.scan(begin, self.blanks, before, is_bare=True)
                self.rules.skip(begin, before)
            self.rules.scan(before, symbol, end, guard, is_bare=True)
        elif kind == SCAN:
            lexeme = symbol if nothing_read else self._spaced(symbol)
            self.rules.scan(begin, lexeme, end, guard, self.priorities.get(number, 0), is_bare=True)
        elif kind == CALL:
            self.rules.call(begin, self._rule(symbol, nothing_read), end, guard)
        else:
            self.rules.skip(begin, end, guard)

    def _spaced(self, lexeme: int) -> int:
        """A lexeme with what is ignored in front of it."""
        if self.other.ignored is None:
            return lexeme
        found = self.spaced.get(lexeme)
        if found is None:
            some = lexeme
            if self.nodes.is_nullable(lexeme):
                some = self.nodes.intersect([lexeme, self.nodes.complement(self.nodes.EPSILON)])
            found = self.spaced[lexeme] = self.nodes.concat([self.blanks, some])
        return found

    def _guard(self, guard: int) -> GuardId:
        found = self.guards.get(guard)
        if found is None:
            row = self.other.guards[guard * GUARD_FIELDS : (guard + 1) * GUARD_FIELDS]
            found = self.guards[guard] = self.rules.copied_guard(self.other, tuple(row))
        return found
