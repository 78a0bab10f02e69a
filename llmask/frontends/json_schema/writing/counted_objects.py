"""Objects that count their keys, in the order of the schema.

Keys are counted by a guard (`maxProperties`, `minProperties`). A key that is declared stands once; a free key might be
repeated, so objects in which that matters are written in `set_objects.py`.

    choose[i] -key i, counted-> . -":"-> . -value-> after[i+1]     after -"}"-> end  if the count is large enough

In: a `CountedObject`. Out: states and edges between two given states. Cost: about 5 us a property.
"""

from __future__ import annotations

from typing import NamedTuple

from llmask.frontends.json_schema.meaning.object_layout import Cell, Entry
from llmask.frontends.json_schema.meaning.place import SchemaAt
from llmask.frontends.json_schema.meaning.satisfiable import Need
from llmask.frontends.json_schema.reading.pointers import Path, pointer
from llmask.frontends.json_schema.writing.writer import Writer
from llmask.grammar.kinds import NO_GUARD, UNBOUNDED, GuardId, RuleId, StateId


class CountedObject(NamedTuple):
    """A layout that counts something. `low` is above the number of required keys, or 0.

    is_any_order    declared keys come in any order
    """

    entries: list[Entry]
    cells: list[Cell]
    low: int
    high: int | None
    path: Path
    is_any_order: bool

    @property
    def repeats_matter(self) -> bool:
        """Whether the repetition of a free key could make an invalid object look valid."""
        return bool(self.cells) and self.low > 1


def emit_counted(writer: Writer, wanted: CountedObject, rule: RuleId, start: StateId, end: StateId, depth: int) -> None:
    """Edges from `start` to `end` over every object as wanted."""
    if wanted.low > 1 or wanted.high is not None:
        counted = writer.rules.rule(pointer(wanted.path))
        writer.rules.call(start, counted, end)
        rule, start = counted, writer.rules.start_state(counted)
        end = writer.rules.state(counted)
        writer.rules.final(end)
    _Chain(writer, wanted, rule, depth).write(start, end)


class _Chain:
    """Writer of one object's states. `low` is 0, 1 (not empty) or, with counting, more; `high` needs counting."""

    def __init__(self, writer: Writer, wanted: CountedObject, rule: RuleId, depth: int) -> None:
        self.writer = writer
        self.wanted = wanted
        self.rule = rule
        self.depth = depth
        self.cap = max(wanted.low, wanted.high or 0)
        self.is_counted = wanted.low > 1 or wanted.high is not None

    def guard(self, low: int = 0, room_for: int = 0, add: int = 0) -> GuardId:
        """Guard that asks for `low` keys so far, and for `room_for` keys below the greatest number."""
        if not self.is_counted:
            return NO_GUARD
        high = UNBOUNDED if self.wanted.high is None else self.wanted.high - room_for
        return self.writer.rules.guard(max(low, 0), high, add, self.cap)

    def write(self, start: StateId, end: StateId) -> None:
        writer, wanted, rule = self.writer, self.wanted, self.rule
        rules, lexemes = writer.rules, writer.punctuation
        scan, state = rules.scan, rules.state
        needed = sum(entry.is_required for entry in wanted.entries)  # required keys from here on
        need = Need({}, set(), {}, wanted.low)
        if wanted.low > 1:
            writer.needs[end] = need
        choose = state(rule)
        if needed or wanted.low:
            scan(start, lexemes.open_object, choose)
        else:
            opened = state(rule)
            scan(start, lexemes.open_object, opened)
            rules.skip(opened, choose)
            scan(opened, lexemes.close_object, end)
        n_left = len(wanted.entries)
        may_end = self.guard(low=wanted.low)
        for entry in wanted.entries:
            n_left -= 1
            needed -= entry.is_required
            key = writer.key_node(entry.name, entry.schemas)
            after = state(rule)
            add = self.guard(0, 0 if entry.is_required else 1 + needed, 1)
            need.members[self._write_value(choose, key, add, entry.schemas, after)] = after
            if n_left or wanted.cells:
                following = state(rule)
                if not entry.is_required:
                    rules.skip(choose, following, NO_GUARD if wanted.cells else self.guard(wanted.low - n_left))
                scan(after, lexemes.comma, following, NO_GUARD if needed else self.guard(room_for=1))
                choose = following
            if not needed:
                scan(after, lexemes.close_object, end, may_end)
        if wanted.cells:
            after = state(rule)
            for cell in wanted.cells:
                add = self.guard(room_for=1, add=1)
                need.free[self._write_value(choose, cell.keys, add, cell.schemas, after)] = after
            scan(after, lexemes.comma, choose, self.guard(room_for=1))
            scan(after, lexemes.close_object, end, may_end)

    def _write_value(self, here: StateId, key: int, add: GuardId, schemas: list[SchemaAt], after: StateId) -> StateId:
        """A key and its value; gives the state before the value."""
        rules = self.writer.rules
        named, value = rules.state(self.rule), rules.state(self.rule)
        rules.scan(here, key, named, add)
        rules.scan(named, self.writer.punctuation.colon, value)
        self.writer.place(schemas, self.rule, value, after, self.depth)
        if self.wanted.low > 1:
            self.writer.note_counted(value, after, schemas)
        return value
