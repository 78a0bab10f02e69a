"""Rules of one grammar inside another: a JSON schema or a grammar in a rule, with white space of its own.

Around the part that is put in, the outer grammar says what is ignored; inside, the part does. What the part ignores
is written out as a lexeme before every other one. All these lexemes are *bare*: the outer grammar ignores nothing
before them. The first lexeme of the part has no such lexeme before it. So every rule that the part may begin with is
written twice, once for the beginning, where nothing has been read, and once for all other places:

    value -> "[" value "]" | 1        first: "[" inner ws* "]" | 1        inner: ws* "[" inner ws* "]" | ws* 1

A part may have parts of its own: what it ignores may come before these, and nowhere inside, where all lexemes are
bare already.

A part that is *whole* keeps what may be ignored before its first lexeme and after its last, if it says so.

The empty string is left out of a part, because whoever repeats one must not count it; `derives_nothing_too` says
whether there was one.

In: two `Rules` over nodes of one store. Out: the number of a rule. Cost: about 2 us an edge.
"""

from __future__ import annotations

from llmask.grammar.kinds import (
    CALL,
    COUNT,
    GUARD_FIELDS,
    NO_GUARD,
    PRIORITY_FIELDS,
    SCAN,
    SKIP,
    GuardId,
    RuleId,
    StateId,
)
from llmask.grammar.rules import Rules, compares_values, each_edge
from llmask.grammar.tails import may_end, reached

Edge = tuple[int, int, int, int, int]  # kind, symbol, next state, guard, number


def include(rules: Rules, other: Rules, is_whole: bool = False, is_greedy: bool = False) -> RuleId:
    """Write the rules of `other` into `rules`; priorities of its lexemes count where it is greedy.

    Returns the rule that derives what the start rule of `other` does, except for the empty string.

    `other` must not compare values (`Rules.call_new`): their texts would have white space in them.
    """
    return _Inclusion(rules, other, is_whole, is_greedy).write()


def derives_nothing_too(rules: Rules) -> bool:
    """Whether the start rule derives the empty string."""
    return rules.start in _empty_rules(rules)


class _Inclusion:
    """One grammar on its way into another.

    Attributes
    ----------
    inner, first : by rule of the part, the rules that are written.
    edges, finals : by state of the part.
    bare : numbers of its edges before which nothing is ignored: the edges of parts of its own.
    parts : its rules that read nothing else.
    spaced_ends : whether what is ignored may stand before the first lexeme and after the last.
    """

    def __init__(self, rules: Rules, other: Rules, is_whole: bool, is_greedy: bool) -> None:
        self.rules = rules
        self.other = other
        self.edges = _edges_of(other)
        assert not compares_values(other), "its caller has seen to it"
        self.finals = _finals_of(other)
        columns = [other.priorities[n::PRIORITY_FIELDS] for n in range(PRIORITY_FIELDS)]
        self.priorities = dict(zip(columns[0], columns[1], strict=True)) if is_greedy else {}
        self.bare = {number for number, is_bare in zip(columns[0], columns[2], strict=True) if is_bare}
        self.ignored_priority = other.ignored_priority if is_greedy else 0
        self.parts = self._parts()
        self.inner: dict[int, RuleId] = {}
        self.first: dict[int, RuleId] = {}
        self.waiting: list[tuple[int, bool]] = []
        self.guards: dict[int, GuardId] = {}
        self.empty = _empty_rules(other)
        self.spaced_ends = is_whole and other.ignored is not None and other.ignored_at_ends

    def write(self) -> RuleId:
        """Write what the start rule uses."""
        rule = self._rule(self.other.start, self.other.ignored is not None or self.other.start in self.empty)
        if self.spaced_ends:
            rule = self._with_ends(rule)
        while self.waiting:
            self._write_rule(*self.waiting.pop())
        self.rules.n_members = max(self.rules.n_members, self.other.n_members)
        return rule

    def _with_ends(self, inside: RuleId) -> RuleId:
        """What is ignored after a rule, or by itself where the rule derives the empty string."""
        rules = self.rules
        rule = rules.rule(f"{self.other.names[self.other.start]} and what is ignored")
        begin, end = rules.start_state(rule), rules.state(rule)
        rules.call(begin, inside, end)
        self._ignored(end, end)
        if self.other.start in self.empty:
            self._ignored(begin, end)
        rules.final(end)
        return rule

    def _ignored(self, begin: StateId, end: StateId) -> None:
        assert self.other.ignored is not None
        self.rules.scan(begin, self.other.ignored, end, priority=self.ignored_priority, is_bare=True)

    def _rule(self, rule: int, is_first: bool) -> RuleId:
        written = self.first if is_first else self.inner
        if rule not in written:
            written[rule] = self.rules.rule(self.other.names[rule])
            self.waiting.append((rule, is_first))
        return written[rule]

    def _write_rule(self, rule: int, is_first: bool) -> None:
        """Write a rule; the states in which nothing has been read are not those in which something has."""
        rules = self.rules
        written = (self.first if is_first else self.inner)[rule]
        is_outside = rule not in self.parts
        start = (self.other.rule_starts[rule], is_first)
        states: dict[tuple[int, bool], StateId] = {start: rules.start_state(written)}
        waiting = [start]

        def reach(state: int, nothing_read: bool) -> StateId:
            place = state, nothing_read
            if place not in states:
                states[place] = rules.state(written)
                waiting.append(place)
            return states[place]

        while waiting:
            state, nothing_read = place = waiting.pop()
            here = states[place]
            for guard in () if nothing_read else self.finals.get(state, ()):
                rules.final(here, self._guard(guard))
            spaced: StateId | None = None
            for kind, symbol, target, guard, number in self.edges.get(state, ()):
                own = self._guard(guard)
                begin = here
                if number not in self.bare if kind == SCAN else is_outside and kind == CALL and symbol in self.parts:
                    begin = spaced = self._spaced(written, here, nothing_read) if spaced is None else spaced
                if kind == SCAN:
                    after = reach(target, False)
                    rules.scan(begin, symbol, after, own, self.priorities.get(number, 0), is_bare=True)
                elif kind == CALL:
                    rules.call(begin, self._rule(symbol, nothing_read), reach(target, False), own)
                    if nothing_read and symbol in self.empty:
                        rules.skip(here, reach(target, True), own)
                else:
                    rules.skip(here, reach(target, nothing_read), own)

    def _parts(self) -> set[int]:
        """The rules that only read lexemes which are bare; the start rule is not one of them."""
        if not self.bare:
            return set()
        callers: dict[int, set[int]] = {}
        spaced = []
        for state, leaving in self.edges.items():
            rule = self.other.state_rules[state]
            for kind, symbol, _, _, number in leaving:
                if kind == CALL:
                    callers.setdefault(symbol, set()).add(rule)
                elif kind == SCAN and number not in self.bare:
                    spaced.append(rule)
        others = reached(spaced, lambda rule: callers.get(rule, ()))
        return set(range(len(self.other.names))) - {self.other.start, *others}

    def _spaced(self, rule: RuleId, state: StateId, nothing_read: bool) -> StateId:
        """The state after `state` and what is ignored there."""
        if self.other.ignored is None or (nothing_read and not self.spaced_ends):
            return state
        spaced = self.rules.state(rule)
        self.rules.skip(state, spaced)
        self._ignored(spaced if self.other.ignored_repeats else state, spaced)
        return spaced

    def _guard(self, guard: int) -> GuardId:
        found = NO_GUARD if guard == NO_GUARD else self.guards.get(guard)
        if found is None:
            row = self.other.guards[guard * GUARD_FIELDS : (guard + 1) * GUARD_FIELDS]
            found = self.guards[guard] = self.rules.copied_guard(self.other, tuple(row))
        return found


def _edges_of(rules: Rules) -> dict[int, list[Edge]]:
    found: dict[int, list[Edge]] = {}
    for number, (state, kind, symbol, target, guard) in enumerate(each_edge(rules.edges)):
        found.setdefault(state, []).append((kind, symbol, target, guard, number))
    return found


def _finals_of(rules: Rules) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for state, guard in zip(rules.finals[::2], rules.finals[1::2], strict=True):
        found.setdefault(state, []).append(guard)
    return found


def _empty_rules(rules: Rules) -> set[int]:
    """Rules that derive the empty string. What is counted is never empty; rules that carry sets write brackets."""
    lows = zip(rules.guards[::GUARD_FIELDS], rules.guards[1::GUARD_FIELDS], strict=True)
    passes = [kind == COUNT and low <= 0 for kind, low in lows]
    edges = [edge[:4] for edge in each_edge(rules.edges) if edge[1] in (SKIP, CALL) and passes[edge[4]]]
    finals = [state for state, guard in zip(rules.finals[::2], rules.finals[1::2], strict=True) if passes[guard]]
    ends = may_end(rules, edges, finals)
    return {rule for rule, start in enumerate(rules.rule_starts) if ends[start]}
