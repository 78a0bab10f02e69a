"""What files that write rules ask of the translation, which dispatches a place to one of them.

In: places. Out: rules. Cost: see translation.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable

from llmask.frontends.json_schema.meaning.context import Context
from llmask.frontends.json_schema.meaning.place import Conjunction, SchemaAt
from llmask.frontends.json_schema.reading.pointers import Path
from llmask.grammar.kinds import RuleId, StateId


class Writer(Context, ABC):
    """A context in which places are written as rules."""

    __slots__ = ()

    @abstractmethod
    def place(self, schemas: list[SchemaAt], rule: RuleId, start: StateId, end: StateId, depth: int) -> None:
        """Let everything that fulfils `schemas` stand between two states, now or later."""

    @abstractmethod
    def rule_of(self, schemas: list[SchemaAt]) -> RuleId:
        """Rule of everything that fulfils `schemas`."""

    @abstractmethod
    def any_rule(self) -> RuleId:
        """Rule of every JSON value."""

    @abstractmethod
    def own_rule(self, key: Hashable, make: Callable[[], RuleId]) -> RuleId:
        """A rule that is no place of the schema, made once for `key`."""

    @abstractmethod
    def write_conjunction(
        self, conjunction: Conjunction, path: Path, rule: RuleId, start: StateId, end: StateId, depth: int
    ) -> None:
        """Write the alternatives of a place, one choice after the other."""

    @abstractmethod
    def write_waiting(self) -> None:
        """Write the places that wait."""
