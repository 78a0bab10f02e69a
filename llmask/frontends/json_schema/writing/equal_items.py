"""The negation of `uniqueItems`: two items are equal.

A run through the rule remembers the items that it has read, as for `uniqueItems`. As long as all differ the array goes
on: an item that is new leads back to the loop, one that was there already leads out of it, to items of which nothing is
remembered. There can always be another item, so nothing has to be foreseen; an array whose length has a limit would
have to know which item is the last that can still be equal to one before it, and is refused.

    different[i] -new-> .   -","-> different[i + 1]
    different[i] -again-> taken
    free[i] -any item-> taken       taken -","-> free[i + 1]       taken -"]"-> end

In: the layout of an array. Out: states and edges. Cost: that of an array, twice.
"""

from __future__ import annotations

from llmask.frontends.json_schema.meaning.array_layout import ArrayLayout
from llmask.frontends.json_schema.meaning.place import Part
from llmask.frontends.json_schema.meaning.unsupported import refuse
from llmask.frontends.json_schema.reading.keywords import NOT_UNIQUE
from llmask.frontends.json_schema.reading.pointers import Path, pointer
from llmask.frontends.json_schema.writing.new_values import is_fulfilled
from llmask.frontends.json_schema.writing.writer import Writer
from llmask.grammar.kinds import ANOTHER, CALL_OPEN, NO_GUARD, StateId


def can_be_written(writer: Writer, layout: ArrayLayout) -> bool:
    """Whether there is always room for another item, and nothing but their number and equality counts."""
    return layout.high is None and not layout.counted and is_fulfilled(writer, layout.schemas_at(layout.n_prefix))


def refuses_equal_items(writer: Writer, layout: ArrayLayout, parts: list[Part]) -> bool:
    """Refuse the negation of `uniqueItems`, that two items are equal, beside what limits the number of items.

    Raises
    ------
    UnsupportedSchema
        Unless the caller chose to ignore such keywords.
    """
    if can_be_written(writer, layout):
        return False
    for schema, path, _ in parts:
        if NOT_UNIQUE in schema:
            reason = 'the negation of "uniqueItems" is not supported where the number of items has a limit'
            refuse(writer, "uniqueItems", path, reason)
    return True


def emit_equal_items(writer: Writer, layout: ArrayLayout, path: Path, start: StateId, end: StateId) -> None:
    """Edges from `start` to `end` over every array of a layout of which two items are equal."""
    rules, lexemes = writer.rules, writer.punctuation
    body = rules.rule(pointer(path))
    rules.call(start, body, end)
    last = rules.state(body)
    rules.final(last)
    # the set grows with items that are not remembered, too, where their number counts
    is_counted = layout.low > 2
    add = rules.add_guard(ANOTHER, cap=layout.low) if is_counted else NO_GUARD
    ends = rules.check_guard(layout.low) if is_counted else NO_GUARD
    last_index = layout.n_prefix  # of the items from there on
    different = [rules.state(body) for _ in range(last_index + 1)]  # before each item: all before it differ
    free = [rules.state(body) for _ in range(last_index + 1)]  # two before it are equal
    rules.scan(rules.start_state(body), lexemes.open_array, different[0])
    for index in range(last_index + 1):
        following = min(index + 1, last_index)
        schemas = layout.schemas_at(index)
        rule = writer.rule_of(schemas) if schemas else writer.any_rule()
        after, taken, after_free = rules.state(body), rules.state(body), rules.state(body)
        rules.call_new(different[index], rule, after, kind=CALL_OPEN)
        rules.scan(after, lexemes.comma, different[following])
        rules.call_again(different[index], rule, taken)
        rules.call(free[index], rule, taken)
        rules.skip(taken, after_free, add)
        rules.scan(after_free, lexemes.comma, free[following])
        rules.scan(after_free, lexemes.close_array, last, ends)
