"""Arrays of a bounded length that differ from those before them, as followed_objects.py has it of objects.

An array can always go on in an item that can, as long as one is to come: an open string, an object with free keys.
After the last such item (from the beginning, if no item can go on) the known arrays that begin with its items are
followed.

    item[i] -value-> done[i] -[follow]-> after[i] -","-> item[i + 1]     after[i] -"]"-> end, if there are enough

In: the layout of an array. Out: states and edges between two given states; later, states for known arrays. Cost: 10 us
an item; a state for k known arrays 50 us and 10 us for each.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from llmask.frontends.json_schema.meaning.array_layout import ArrayLayout
from llmask.frontends.json_schema.reading.pointers import Path, pointer
from llmask.frontends.json_schema.writing.followed_objects import Followed
from llmask.frontends.json_schema.writing.new_values import most_followed_items
from llmask.frontends.json_schema.writing.writer import Writer
from llmask.grammar.kinds import RuleId, StateId


def emit_followed_array(
    writer: Writer, layout: ArrayLayout, path: Path, rule: RuleId, start: StateId, end: StateId, depth: int
) -> None:
    """Edges from `start` to `end` over every array of a layout, in a rule that calls for new values."""
    body = writer.rules.rule(pointer(path))
    writer.rules.call(start, body, end)
    last = writer.rules.state(body)
    writer.rules.final(last)
    _FollowedArray(writer, layout, path, body, last, depth).write(writer.rules.start_state(body))


class _FollowedArray(Followed):
    def __init__(self, writer: Writer, layout: ArrayLayout, path: Path, rule: RuleId, end: StateId, depth: int) -> None:
        high = most_followed_items(layout)
        schemas = [layout.schemas_at(at) for at in range(high)]
        super().__init__(writer, schemas, range(layout.low), path, rule, depth)
        self.low = layout.low
        self.end = end
        self.items: list[StateId] = []  # by position, the state before its value

    def write(self, start: StateId) -> None:
        """Edges from `start` to the end."""
        rules, lexemes = self.writer.rules, self.writer.punctuation
        last_open = max(self.open, default=-1)
        here = rules.state(self.rule)
        rules.scan(start, lexemes.open_array, here)
        for at in range(len(self.schemas) + 1):  # `here` is where so many items were read
            if at > last_open:
                after = rules.state(self.rule)
                self.follow(here, after, partial(self._state_for, target=after))
                here = after
            if at >= self.low:
                rules.scan(here, lexemes.close_array, self.end)
            if at < len(self.schemas):
                item, done = rules.state(self.rule), rules.state(self.rule)
                if at == 0:
                    rules.skip(here, item)
                else:
                    rules.scan(here, lexemes.comma, item)
                self.writer.place(self.schemas[at], self.rule, item, done, self.depth)
                self.items.append(item)
                self.done.append(done)
                here = done

    def _state_for(self, values: list[Any], target: StateId) -> StateId | None:
        """The state in which an array goes on that may become one of some values; None where all it can be is known.

        One of the values is an object that has the array as it was read.
        """
        ((read,),) = (value.values() for value in values if type(value) is dict)
        at = len(read)
        left = list(range(at, len(self.schemas)))
        lists = [value for value in values if type(value) is list and self.low <= len(value) <= len(self.schemas)]
        known = [dict(enumerate(value[at:], at)) for value in lists]
        may_end = at >= self.low and {} not in known
        refused = self.refused(at, left[1:], known) if left else {}
        goes_on = bool(left) and self.has_others(at, refused)
        if goes_on == bool(left) and not refused and may_end == (at >= self.low):
            return target
        if not goes_on and not may_end:
            return None
        rules, lexemes = self.writer.rules, self.writer.punctuation
        here = rules.state(self.rule)
        if may_end:
            rules.scan(here, lexemes.close_array, self.end)
        if goes_on:
            item = here
            if at > 0:
                item = rules.state(self.rule)
                rules.scan(here, lexemes.comma, item)
            if refused:
                self.write_without(at, refused, item)
            else:
                rules.skip(item, self.items[at])
        return here

    def completions(self, left: list[int]) -> float:
        """As `Followed.completions`."""
        found, product = 0.0, 1.0
        for at in [*left, len(self.schemas)]:
            found += product if at >= self.low else 0
            if at < len(self.schemas):
                values = self.values_of(at)
                product *= float("inf") if values is None else len(values)
        return found
