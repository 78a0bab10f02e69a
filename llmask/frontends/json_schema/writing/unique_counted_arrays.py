"""Arrays whose items all differ and are counted by kinds: `uniqueItems` beside `contains`.

Values that could run out while they are needed are *scarce*: a position, or a kind, has few of them. Which of
them were read is part of a state, so every array that cannot be completed is found like any other that derives
nothing. All other items are remembered as in `unique_arrays.py` and counted as in `arrays.py`: each way to read one
has a rule of its own, so that the values read can be left out of it.

    (position, counts, scarce values read) -a scarce value-> (position + 1, counts', one more)
                                           -any other, new-> (position + 1, counts', the same)

In: the layout of an array. Out: states and edges between two given states. Cost: about 10 us a state and value.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from llmask.errors import UnsupportedSchema
from llmask.grammar.kinds import NO_GUARD, RuleId

from ..meaning.array_layout import ArrayLayout, Counted
from ..meaning.contradictions import DIFFERENT_HELP
from ..meaning.finite import finite_values
from ..meaning.instances import equality_key, fulfils
from ..meaning.place import SchemaAt
from ..meaning.synthetic import negated
from ..reading.pointers import Path, pointer
from .arrays import WAY_WORK, CountingWriter, Counts, Item, Read
from .stricter_items import may_be_stricter, stricter_rule
from .unique_arrays import check_number, without_values
from .writer import Span, Writer

FEW = 10  # scarce values


def emit_unique_counted_array(writer: Writer, layout: ArrayLayout, path: Path, span: Span) -> None:
    """Edges over every array of a layout whose items all differ.

    Raises
    ------
    UnsupportedSchema
        When more than `FEW` values are scarce.
    LimitExceeded
        When there are too many positions, counts or sets to tell apart.
    """
    check_number(writer, layout, path)
    if not _UniqueCountedArray(writer, layout, path, writer.rule_within(span, path)).write():
        writer.nothing("there are not enough different items of those that must be there", path, DIFFERENT_HELP)


class _UniqueCountedArray(CountingWriter):
    def __init__(self, writer: Writer, layout: ArrayLayout, path: Path, span: Span) -> None:
        super().__init__(writer, layout, path, span)
        self._known: dict[Any, bool] = {}
        self.scarce = self._scarce_values()
        listed = writer.synthetic(("refused", frozenset(self.scarce)), lambda: {"enum": [*self.scarce.values()]})
        self.others = [negated(writer, listed, path)] if self.scarce else []

    def _scarce_values(self) -> dict[Any, Any]:
        """Values of every way to read an item that has no more of them than may be read before it is not needed.

        Of the values of a kind, those read where the kind is not counted yet are lost to it; others are counted.
        """
        n_prefix = self.layout.n_prefix
        lost = max(n_prefix, *(kind.first for kind in self.kinds))
        most = max(FEW, lost + self.layout.low + sum(kind.least for kind in self.kinds))
        scarce: dict[Any, Any] = {}
        for index in range(lost + 1):
            for ways in product(*[self._members(kind, index) for kind in self.kinds]):
                self.writer.count_work(WAY_WORK)
                schemas = self.layout.schemas_at(min(index, n_prefix), *(one for way in ways for one in way))
                found = finite_values(self.writer, schemas, most)
                scarce |= {equality_key(value, self.path): value for value in found or ()}
                if len(scarce) > FEW:
                    raise UnsupportedSchema(
                        f"items that must differ and are counted have more than {FEW} values that may run out",
                        pointer(self.path),
                        'Leave out "uniqueItems" or "contains".',
                    )
        return scarce

    def _members(self, kind: Counted, index: int) -> list[list[SchemaAt]]:
        """What an item that is counted for a kind fulfils, and one that is not."""
        if index < kind.first:
            return [[]]
        return [[kind.member], [] if kind.greatest is None else [negated(self.writer, *kind.member)]]

    def _items_after(self, here: Read) -> Iterator[Item]:
        n_read, counts, read = here
        position = min(n_read + 1, self.last)
        members = self.layout.schemas_at(min(n_read, self.layout.n_prefix))
        for key, value in self.scarce.items():
            self.writer.count_work()
            if key not in read and self._fulfils(key, value, members):
                counted = self._with(n_read, counts, key, value)
                if counted is not None:
                    yield (position, counted, read | {key}), [({"enum": [value]}, self.path)], None, NO_GUARD
        for there, schemas, _, _ in super()._items_after(here):
            place = [*schemas, *self.others]
            if finite_values(self.writer, place, 0) != []:
                rule = self._rule_of(place)
                may_run_out = n_read and self._may_run_out(place)
                guard = self.writer.rules.check_guard(another_of=rule) if may_run_out else NO_GUARD
                yield there, place, rule, guard

    def _with(self, index: int, counts: Counts, key: Any, value: Any) -> Counts | None:
        """Counts after one more scarce value; None where it must not come."""
        more = []
        for n, kind, cap in zip(counts, self.kinds, self.caps, strict=True):
            is_counted = index >= kind.first and self._fulfils(key, value, [kind.member])
            if is_counted and kind.greatest is not None and n >= cap:
                return None
            more.append(min(n + is_counted, cap))
        return tuple(more)

    def _fulfils(self, key: Any, value: Any, schemas: list[SchemaAt]) -> bool:
        """Whether a scarce value fulfils schemas."""
        asked = key, self.writer.place_key(schemas)
        if asked not in self._known:
            self._known[asked] = fulfils(self.writer, value, schemas)
        return self._known[asked]

    def _may_run_out(self, schemas: list[SchemaAt]) -> bool:
        """Whether there are few values."""
        most = self.writer.options.limits.max_unique_values
        return finite_values(self.writer, schemas, most) is not None

    def _rule_of(self, schemas: list[SchemaAt]) -> RuleId:
        writer, path = self.writer, self.path

        def make() -> RuleId:
            rule, start, end, _ = writer.new_rule(pointer(path))
            writer.rules.call(start, writer.rule_of(schemas), end)
            writer.variants[rule] = lambda texts: without_values(writer, schemas, texts, path)
            if not self._may_run_out(schemas) and may_be_stricter(writer, schemas):
                writer.stricter[rule] = lambda texts: stricter_rule(writer, schemas, texts, path)
            return rule

        return writer.own_rule(("different", writer.place_key(schemas)), make)
