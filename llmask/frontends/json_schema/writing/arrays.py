"""Arrays: from item schemas and counts to the states that read them.

    "[" -> first      item[i] -value-> after[i]      after[i] -","-> item[i+1]      after[i] -"]"-> end

Items with a schema of their own (`prefixItems`, or a list under `items` in older drafts) are a chain; the others are
a loop whose commas are counted where `minItems` or `maxItems` reach into it, so `maxItems: 10000` needs no more
states than 2. The first item of the loop is outside of the count: whether anything can be derived never depends on it.

Where certain items are counted (`contains`, `minContains`, `maxContains`, and their negations), a state is a position
and how many items of each kind were read, so a state from which the array cannot end any more is found like any other
that derives nothing, and left out. An item is read once for each set of kinds that it is counted for: as such it must
fulfil their schemas. Where a kind has a greatest number, an item that is not counted must not fulfil its schema; where
it has none, it may, as the array is then counted on another path.

    (position, counts) -item and S for each S counted, not S for each limited S not counted-> (position + 1, counts')

In: the layout of an array. Out: states and edges between two given states. Cost: about 2 us an item schema, 5 us a
state and set of kinds.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from llmask.errors import LimitExceeded
from llmask.grammar.kinds import NO_GUARD, UNBOUNDED, GuardId, RuleId

from ..meaning.array_layout import ArrayLayout, Counted
from ..meaning.contradictions import BOUNDS_HELP
from ..meaning.place import SchemaAt
from ..meaning.synthetic import negated
from ..reading.pointers import Path, pointer
from .writer import Span, Writer


def emit_array(writer: Writer, layout: ArrayLayout, path: Path, span: Span) -> None:
    """Edges over every array of a layout that counts items by their number only."""
    low, high, n_prefix = layout.low, layout.high, layout.n_prefix
    if high is not None and low > high:
        return writer.nothing(f"minItems is {low} and maxItems is {high}", path, BOUNDS_HELP)
    rules, lexemes = writer.rules, writer.punctuation
    has_loop = high is None or high > n_prefix
    n_chain = n_prefix if high is None else min(n_prefix, high)
    # the loop's first item is number n_chain + 1, so the array has n_chain + 1 + count items after `count` commas in it
    low_count = max(low - n_chain - 1, 0)
    high_count = None if high is None else high - n_chain - 1
    if has_loop and (low_count or high_count is not None):
        span = writer.rule_within(span, path)
    rule, start, end, depth = span
    item = rules.state(rule)
    if low == 0:
        opened = rules.state(rule)
        rules.scan(start, lexemes.open_array, opened)
        rules.scan(opened, lexemes.close_array, end)
        rules.skip(opened, item)
    else:
        rules.scan(start, lexemes.open_array, item)
    for index in range(n_chain):
        after = rules.state(rule)
        writer.place(layout.schemas_at(index), rule, item, after, depth)
        if index + 1 >= low:
            rules.scan(after, lexemes.close_array, end)
        if index + 1 < n_chain or has_loop:
            item = rules.state(rule)
            rules.scan(after, lexemes.comma, item)
    if has_loop:
        after = rules.state(rule)
        writer.place(layout.schemas_at(n_prefix), rule, item, after, depth)
        goes_on = ends = NO_GUARD
        if low_count or high_count is not None:
            most = UNBOUNDED if high_count is None else high_count
            cap = low_count if high_count is None else high_count
            goes_on = rules.guard(0, most - 1 if most < UNBOUNDED else UNBOUNDED, 1, cap)
            ends = rules.guard(low_count)
        if high_count != 0:
            rules.scan(after, lexemes.comma, item, goes_on)
        rules.scan(after, lexemes.close_array, end, ends)
    return None


# --- counted items

MAX_STATES = 20_000  # of one array
WAY_WORK = 10  # an item in one way, counted in subschemas visited
MAX_KINDS = 6  # each doubles the ways to read an item

MAX_SETS = 20_000  # states, and sets of values that were read
Counts = tuple[int, ...]
Read = tuple[int, Counts, frozenset[Any]]  # how many items, counts, scarce values (`unique_counted_arrays`)

# what was read then, what the item fulfils, the rule of new ones if it is compared with others, the guard of its comma
Item = tuple[Read, list[SchemaAt], RuleId | None, GuardId]


class CountingWriter:
    """Writer of one array's states.

    Raises
    ------
    LimitExceeded
        When there are too many positions and counts to tell apart.
    """

    def __init__(self, writer: Writer, layout: ArrayLayout, path: Path, span: Span) -> None:
        self.writer = writer
        self.layout = layout
        self.path = path
        self.span = span
        self.kinds = layout.counted
        # positions from here on are alike: nothing but their counts tells them apart
        alike = max([1, layout.n_prefix, layout.low, *(kind.first for kind in self.kinds)])
        self.last = alike if layout.high is None else layout.high
        self.caps = [kind.least if kind.greatest is None else kind.greatest for kind in self.kinds]
        n_states = self.last + 1
        for cap in self.caps:
            n_states *= cap + 1
        if n_states > MAX_STATES or len(self.kinds) > MAX_KINDS:
            raise LimitExceeded(
                f"counting the items of the array takes more than {MAX_STATES} states or {MAX_KINDS} kinds of items",
                pointer(path),
                "Use smaller minContains, maxContains, minItems and maxItems, or fewer contains.",
            )

    def write(self) -> bool:
        """Write the states that can be reached, position by position; whether the array can end in one of them."""
        layout, lexemes = self.layout, self.writer.punctuation
        rules, (rule, start, end, depth) = self.writer.rules, self.span
        first: Read = (0, (0,) * len(self.kinds), frozenset())
        if self._may_end(first):
            opened = rules.state(rule)
            rules.scan(start, lexemes.open_array, opened)
            rules.scan(opened, lexemes.close_array, end)
        after = {first: start}  # state after the last item
        waiting = [first]
        while waiting:
            here = waiting.pop()
            if layout.high is not None and here[0] >= layout.high:
                continue
            for there, schemas, new, guard in self._items_after(here):
                if there not in after:
                    if len(after) >= MAX_SETS:
                        raise LimitExceeded(
                            f"an array has more than {MAX_SETS} sets of different items to tell apart",
                            pointer(self.path),
                            "Use smaller minContains, maxContains, minItems and maxItems, or fewer contains.",
                        )
                    after[there] = rules.state(rule)
                    waiting.append(there)
                    if self._may_end(there):
                        rules.scan(after[there], lexemes.close_array, end)
                item = rules.state(rule)
                rules.scan(after[here], lexemes.comma if here[0] else lexemes.open_array, item, guard)
                if new is not None:
                    rules.call_new(item, new, after[there])
                else:
                    self.writer.place(schemas, rule, item, after[there], depth)
        return any(map(self._may_end, after))

    def _items_after(self, here: Read) -> Iterator[Item]:
        """Ways to read an item."""
        n_read, counts, read = here
        for target, schemas in self._ways(n_read, counts):
            self.writer.count_work(WAY_WORK)
            place = self.layout.schemas_at(min(n_read, self.layout.n_prefix), *schemas)
            yield (min(n_read + 1, self.last), target, read), place, None, NO_GUARD

    def _may_end(self, here: Read) -> bool:
        n_read, counts, _ = here
        return n_read >= self.layout.low and all(n >= kind.least for n, kind in zip(counts, self.kinds, strict=True))

    def _ways(self, index: int, counts: Counts) -> list[tuple[Counts, list[SchemaAt]]]:
        """For each set of kinds that an item may be counted for: the counts then, and what it must fulfil."""
        options = [
            self._options(kind, n, cap, index) for kind, n, cap in zip(self.kinds, counts, self.caps, strict=True)
        ]
        return [
            (tuple(n for n, _ in chosen), [schema for _, schemas in chosen for schema in schemas])
            for chosen in product(*options)
        ]

    def _options(self, kind: Counted, n: int, cap: int, index: int) -> list[tuple[int, list[SchemaAt]]]:
        if index < kind.first:
            return [(n, [])]
        if kind.greatest is None:
            return [(n, [])] if n == cap else [(n, []), (n + 1, [kind.member])]
        not_counted = (n, [negated(self.writer, *kind.member)])
        return [not_counted] if n == cap else [not_counted, (n + 1, [kind.member])]
