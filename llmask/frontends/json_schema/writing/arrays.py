"""Arrays: from item schemas and counts to the states that read them.

    "[" -> first      item[i] -value-> after[i]      after[i] -","-> item[i+1]      after[i] -"]"-> end

Items with a schema of their own (`prefixItems`, or a list under `items` in older drafts) are a chain; the others are
a loop whose commas are counted where `minItems` or `maxItems` reach into it, so `maxItems: 10000` needs no more
states than 2. The first item of the loop stands outside of the count: whether anything can be derived never depends
on it. What counts certain items (`contains`) is written in `contained.py`.

In: parts. Out: states and edges between two given states. Cost: about 2 us an item schema.
"""

from __future__ import annotations

from llmask.frontends.json_schema.meaning.array_layout import ArrayLayout
from llmask.frontends.json_schema.meaning.contradictions import BOUNDS_HELP
from llmask.frontends.json_schema.reading.pointers import Path, pointer
from llmask.frontends.json_schema.writing.writer import Writer
from llmask.grammar.kinds import NO_GUARD, UNBOUNDED, RuleId, StateId


def emit_array(
    writer: Writer, layout: ArrayLayout, path: Path, rule: RuleId, start: StateId, end: StateId, depth: int
) -> None:
    """Edges from `start` to `end` over every array of a layout that counts items by their number only."""
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
        counted = rules.rule(pointer(path))
        rules.call(start, counted, end)
        rule, start = counted, rules.start_state(counted)
        end = rules.state(counted)
        rules.final(end)
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
