"""Small grammars with values that must differ, and who writes variants of their rules.

A rule of values is one lexeme over letters (or a list of literals); its variant without some texts is the lexeme
intersected with the complement of those texts.

In: nodes. Out: rules and functions that make variants. Cost: none to speak of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llmask.grammar.kinds import ANOTHER, UNBOUNDED, RuleId
from llmask.grammar.rules import Rules

SQUARE = (b"[", b",", b"]")


class UniqueWorld:
    """Rules with values that must differ.

    Attributes
    ----------
    rules : the grammar.
    asked : what variants were asked for.
    """

    def __init__(self, nodes: Any, spaces: bytes = b"") -> None:
        self.nodes = nodes
        self.rules = Rules()
        if spaces:
            self.rules.ignored = nodes.repeat(nodes.literal(spaces), 1, 3)
        self.asked: list[tuple[int, list[bytes]]] = []
        self._lexemes: dict[int, int] = {}
        self._variants: dict[tuple[int, frozenset[bytes]], RuleId | None] = {}

    def value(self, lexeme: int) -> RuleId:
        """A rule of one lexeme, of which there can be variants."""
        rule = self.rules.rule("value")
        end = self.rules.state(rule)
        self.rules.scan(self.rules.start_state(rule), lexeme, end)
        self.rules.final(end)
        self._lexemes[rule] = lexeme
        return rule

    def words(self, *words: bytes) -> int:
        """The lexeme that is one of `words`."""
        return int(self.nodes.union([self.nodes.literal(word) for word in words]))

    def make_variant(self, rule: RuleId, texts: list[bytes]) -> RuleId | None:
        """See `llmask.grammar.rules.MakeVariant`."""
        self.asked.append((rule, texts))
        key = (int(rule), frozenset(texts))
        if key not in self._variants:
            lexeme = self.nodes.intersect([self._lexemes[rule], self.nodes.complement(self.words(*texts))])
            self._variants[key] = None if self.nodes.is_empty(lexeme) else self.value(lexeme)
        return self._variants[key]

    def array(
        self,
        item: RuleId,
        kind: int,
        low: int = 0,
        high: int = UNBOUNDED,
        marks: Sequence[bytes] = SQUARE,
        is_finite: bool = False,
    ) -> RuleId:
        """A rule of arrays whose items differ; `low` is at most 1."""
        rules, rule = self.rules, self.rules.rule("array")
        start, first, after, following, end = rules.start_state(rule), *(rules.state(rule) for _ in range(4))
        opening, comma, closing = (self.nodes.literal(mark) for mark in marks)
        rules.scan(start, opening, first)
        rules.call_new(first, item, after, kind=kind)
        rules.scan(after, comma, following, rules.check_guard(high=high - 1, another_of=item if is_finite else None))
        rules.call_new(following, item, after, kind=kind)
        if low == 0:
            rules.scan(first, closing, end)
        rules.scan(after, closing, end)
        rules.final(end)
        return rule

    def plain_array(self, item: RuleId, marks: Sequence[bytes] = SQUARE) -> RuleId:
        """A rule of non-empty arrays whose items may be the same."""
        rules, rule = self.rules, self.rules.rule("array")
        start, first, after, end = rules.start_state(rule), *(rules.state(rule) for _ in range(3))
        opening, comma, closing = (self.nodes.literal(mark) for mark in marks)
        rules.scan(start, opening, first)
        rules.call(first, item, after)
        rules.scan(after, comma, first)
        rules.scan(after, closing, end)
        rules.final(end)
        return rule

    def members(self, names: Sequence[bytes], key: RuleId, kind: int, high: int, required: Sequence[int]) -> RuleId:
        """A rule of objects `{x,y}`: names in any order, and other keys beside them that differ."""
        rules, rule = self.rules, self.rules.rule("members")
        start, first, after, following, end = rules.start_state(rule), *(rules.state(rule) for _ in range(4))
        rules.scan(start, self.nodes.literal(b"{"), first)
        for state in (first, following):
            for number, name in enumerate(names):
                rules.scan(state, self.nodes.literal(name), after, rules.add_guard(number, high, required))
            rules.call_new(state, key, after, rules.add_guard(ANOTHER, high, required), kind)
        rules.scan(after, self.nodes.literal(b","), following, rules.check_guard(high=high - 1))
        for state in (first, after):
            rules.scan(state, self.nodes.literal(b"}"), end, rules.check_guard(required=required))
        rules.final(end)
        return rule

    def start_with(self, *alternatives: RuleId) -> UniqueWorld:
        """The start rule: one of several."""
        rules = self.rules
        rules.start = rules.rule("start")
        end = rules.state(rules.start)
        for rule in alternatives:
            rules.call(rules.start_state(rules.start), rule, end)
        rules.final(end)
        return self
