"""What files that write rules ask of the translation, which dispatches a place to one of them.

In: places. Out: rules. Cost: see translation.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from typing import NamedTuple

from llmask.grammar.kinds import RuleId, StateId

from ..lexical.strings import Made
from ..meaning.context import Context
from ..meaning.place import Conjunction, SchemaAt
from ..reading.pointers import Path, pointer


class Span(NamedTuple):
    """Where something is written: between two states of a rule, so deep in the schema."""

    rule: RuleId
    start: StateId
    end: StateId
    depth: int


class Writer(Context, ABC):
    """A context in which places are written as rules."""

    __slots__ = ()

    @abstractmethod
    def place(self, schemas: list[SchemaAt], rule: RuleId, start: StateId, end: StateId, depth: int) -> None:
        """Write everything that fulfils `schemas` between two states, now or later."""

    @abstractmethod
    def rule_of(self, schemas: list[SchemaAt]) -> RuleId:
        """Rule of everything that fulfils `schemas`, which may be nothing."""

    @abstractmethod
    def any_rule(self) -> RuleId:
        """Rule of every JSON value."""

    @abstractmethod
    def own_rule(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """A rule that is no place of the schema, or a state, made once for `key`."""

    @abstractmethod
    def write_conjunction(self, conjunction: Conjunction, path: Path, span: Span) -> None:
        """Write the alternatives of a place, one choice after the other."""

    @abstractmethod
    def write_waiting(self) -> None:
        """Write the places that wait."""

    def new_rule(self, name: str, depth: int = 0) -> Span:
        """A new rule that ends in its second state."""
        rules = self.rules
        rule = rules.rule(name)
        end = rules.state(rule)
        rules.final(end)
        return Span(rule, rules.start_state(rule), end, depth)

    def rule_within(self, span: Span, path: Path) -> Span:
        """A new rule that a span calls, as what counts or carries a set needs one of its own."""
        within = self.new_rule(pointer(path), span.depth)
        self.rules.call(span.start, within.rule, span.end)
        return within
