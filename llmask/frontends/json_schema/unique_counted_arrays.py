"""Arrays whose items all differ and are counted by kinds: `uniqueItems` beside `contains`.

Where the items have few values altogether, a state is the set of those that were read: which of them are of a kind is
known, so every array that cannot be completed is found like any other that derives nothing. Elsewhere each way to
read an item is remembered as in `unique_arrays.py`, and counted as in `contained.py`.

    (values read, counts) -another value-> (one more, counts')

In: the layout of an array. Out: states and edges between two given states. Cost: about 10 us a set and value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llmask.errors import LimitExceeded, UnsupportedSchema
from llmask.frontends.json_schema.contained import CountingWriter, Counts
from llmask.frontends.json_schema.finite import finite_values
from llmask.frontends.json_schema.instances import equality_key, fulfils
from llmask.frontends.json_schema.pointers import Path, pointer
from llmask.frontends.json_schema.unique_arrays import without_values
from llmask.grammar.rules import NO_GUARD, GuardId, RuleId, StateId

if TYPE_CHECKING:
    from llmask.frontends.json_schema.arrays import ArrayLayout
    from llmask.frontends.json_schema.conjunction import SchemaAt
    from llmask.frontends.json_schema.translation import Translation

FEW = 10  # values that items have altogether
MAX_SETS = 20_000


def emit_unique_counted_array(
    translation: Translation, layout: ArrayLayout, path: Path, rule: RuleId, start: StateId, end: StateId, depth: int
) -> None:
    """Edges from `start` to `end` over every array of a layout whose items all differ.

    Raises
    ------
    UnsupportedSchema
        When values that are counted are few, and items before the counted ones may take them.
    LimitExceeded
        When there are too many positions, counts or sets to tell apart.
    """
    values: dict[Any, Any] | None = {}
    for index in range(layout.n_prefix + 1):
        found = finite_values(translation, layout.schemas_at(index), FEW)
        if found is None or values is None:
            values = None
            break
        values |= {equality_key(value, path): value for value in found}
    if values is not None and len(values) <= FEW:
        return _FewValues(translation, layout, path, rule, depth, values).write(start, end)
    for kind in layout.counted:
        counted = finite_values(translation, [*layout.schemas_at(layout.n_prefix), kind.member], kind.least)
        if counted is None or kind.least == 0:
            continue
        if kind.first > 0 or layout.n_prefix > 0:
            raise UnsupportedSchema(
                "items that must differ, of which some with few values are counted, are supported only where all"
                " items have one schema",
                pointer(path),
                'Leave out "uniqueItems" or "contains".',
            )
        if len(counted) < kind.least:
            return translation.nothing("there are not enough different items of those that must be contained", path)
    body = translation.rules.rule(pointer(path))
    translation.rules.call(start, body, end)
    last = translation.rules.state(body)
    translation.rules.final(last)
    return _ManyValues(translation, layout, path, body, depth).write(translation.rules.start_state(body), last)


class _ManyValues(CountingWriter):
    """Each way to read an item has a rule of its own, so that the values read can be left out of it."""

    def write_item(self, here: StateId, schemas: list[SchemaAt], there: StateId) -> None:
        self.translation.rules.call_new(here, self._rule_of(schemas), there)

    def guard_of(self, schemas: list[SchemaAt]) -> GuardId:
        if finite_values(self.translation, schemas, self.translation.options.limits.max_unique_values) is None:
            return NO_GUARD
        return self.translation.rules.check_guard(another_of=self._rule_of(schemas))

    def _rule_of(self, schemas: list[SchemaAt]) -> RuleId:
        translation, path = self.translation, self.path

        def make() -> RuleId:
            rules = translation.rules
            rule = rules.rule(pointer(path))
            last = rules.state(rule)
            rules.final(last)
            items = translation.rule_of(schemas) if schemas else translation.any_rule()
            rules.call(rules.start_state(rule), items, last)
            translation.variants[rule] = lambda texts: without_values(translation, schemas, texts, path)
            return rule

        found: RuleId = translation.own_rule(("different", translation.place_key(schemas)), make)
        return found


class _FewValues:
    def __init__(
        self,
        translation: Translation,
        layout: ArrayLayout,
        path: Path,
        rule: RuleId,
        depth: int,
        values: dict[Any, Any],
    ) -> None:
        self.translation = translation
        self.layout = layout
        self.path = path
        self.rule = rule
        self.depth = depth
        self.values = values

    def write(self, start: StateId, end: StateId) -> None:
        """Write the sets that can be reached."""
        translation, layout = self.translation, self.layout
        rules, lexemes = translation.rules, translation.punctuation
        nothing_read: tuple[frozenset[Any], Counts] = (frozenset(), (0,) * len(layout.counted))
        before = {nothing_read: rules.state(self.rule)}
        rules.scan(start, lexemes.open_array, before[nothing_read])
        if self._may_end(*nothing_read):
            opened = rules.state(self.rule)
            rules.scan(start, lexemes.open_array, opened)
            rules.scan(opened, lexemes.close_array, end)
        waiting = [nothing_read]
        while waiting:
            here = waiting.pop()
            read, counts = here
            if layout.high is not None and len(read) >= layout.high:
                continue
            for key, value in self.values.items():
                translation.count_work()
                there = self._with(read, counts, key, value)
                if there is None:
                    continue
                after = rules.state(self.rule)
                translation.place([({"enum": [value]}, self.path)], self.rule, before[here], after, self.depth)
                if self._may_end(*there):
                    rules.scan(after, lexemes.close_array, end)
                if there not in before:
                    if len(before) >= MAX_SETS:
                        raise LimitExceeded(f"an array has more than {MAX_SETS} sets of different items to tell apart")
                    before[there] = rules.state(self.rule)
                    waiting.append(there)
                rules.scan(after, lexemes.comma, before[there])

    def _with(self, read: frozenset[Any], counts: Counts, key: Any, value: Any) -> tuple[frozenset[Any], Counts] | None:
        """What was read after one more value; None where it must not stand here."""
        translation, layout = self.translation, self.layout
        index = len(read)
        if key in read or not fulfils(translation, value, layout.schemas_at(min(index, layout.n_prefix))):
            return None
        more = []
        for n, kind in zip(counts, layout.counted, strict=True):
            is_counted = index >= kind.first and fulfils(translation, value, [kind.member])
            if is_counted and kind.greatest is not None and n >= kind.greatest:
                return None
            cap = kind.least if kind.greatest is None else kind.greatest
            more.append(min(n + is_counted, cap))
        return read | {key}, tuple(more)

    def _may_end(self, read: frozenset[Any], counts: Counts) -> bool:
        return len(read) >= self.layout.low and all(
            n >= kind.least for n, kind in zip(counts, self.layout.counted, strict=True)
        )
