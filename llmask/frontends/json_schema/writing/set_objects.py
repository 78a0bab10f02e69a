"""Objects that count their keys, or carry the set of the keys read so far.

Keys are counted by a guard (`maxProperties`, `minProperties`) in the order of the schema:

    choose[i] -key i, counted-> . -":"-> . -value-> after[i+1]     after -"}"-> end  if the count is large enough

Where keys come in any order, or must not be repeated, a run through the rule carries the set (`Rules.add_guard`,
`Rules.call_new`): a declared key comes once, required ones are there when the object ends, and there is always room
left for those that are still missing. Free keys are members without a name where their number counts, and are
remembered where a repetition could make an invalid object look valid.

    any order   "{" -> free;  free -key i, not in the set, which gains it-> . -":"-> . -value-> after
    in order    "{" -> choose[0];  choose[i] -key i-> . -":"-> . -value-> after i;  then free keys as below
    free keys   free -key-> . -":"-> . -value-> after
                after -","-> free if another key has room; after -"}"-> end if the required are there

Where keys, and kinds of values, fulfil a condition together (meaning/key_conditions.py), the run carries the set of
members that were read. Each key asks whether some members to come fulfil the condition with it; the bracket asks
whether it is fulfilled. In the order of the schema no member before comes any more.

    any order   "{" -> choose;  choose -key i [add i]-> . -":"-> . -value-> after;  after -","-> choose [one more]
    in order    "{" -> choose[0];  choose[i] -key i [add i]-> . -":"-> . -value-> after[i];  choose[i] -> choose[i+1]
                after[i] -","-> choose[i+1] [one more]
    both        after -"}"-> end [fulfilled]

In: a `CountedObject`, a `ConditionedObject`. Out: states and edges between two given states. Cost: about 5 us a
property.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from llmask.errors import LimitExceeded
from llmask.frontends.json_schema.lexical.strings import spellings_of
from llmask.frontends.json_schema.meaning.contradictions import ALTERNATIVES_HELP
from llmask.frontends.json_schema.meaning.key_conditions import ConditionedObject
from llmask.frontends.json_schema.meaning.object_layout import Cell, Entry
from llmask.frontends.json_schema.meaning.place import SchemaAt
from llmask.frontends.json_schema.meaning.satisfiable import Need
from llmask.frontends.json_schema.reading.pointers import Path, pointer
from llmask.frontends.json_schema.writing.new_values import kind_of_strings
from llmask.frontends.json_schema.writing.writer import Writer
from llmask.grammar.kinds import ANOTHER, NO_GUARD, UNBOUNDED, GuardId, RuleId, StateId


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


def emit_set_object(
    writer: Writer, wanted: CountedObject, rule: RuleId, start: StateId, end: StateId, depth: int
) -> None:
    """Edges from `start` to `end` over every object as wanted.

    Raises
    ------
    LimitExceeded
        When more than `limits.max_tracked_names` keys have a name.
    """
    most = writer.options.limits.max_tracked_names
    if len(wanted.entries) > most:
        raise LimitExceeded(
            f"an object of {len(wanted.entries)} properties in any order: at most {most} are remembered"
            " (limits.max_tracked_names)",
            pointer(wanted.path),
            'Raise the limit, or use property_order="schema".',
        )
    rules = writer.rules
    body = rules.rule(pointer(wanted.path))
    rules.call(start, body, end)
    last = rules.state(body)
    rules.final(last)
    _SetObject(writer, wanted, body, depth).write(rules.start_state(body), last)


class _SetObject:
    def __init__(self, writer: Writer, wanted: CountedObject, rule: RuleId, depth: int) -> None:
        self.writer = writer
        self.wanted = wanted
        self.rule = rule
        self.depth = depth
        rules = writer.rules
        self.is_any_order = wanted.is_any_order
        self.is_tracked = wanted.repeats_matter or (bool(wanted.cells) and writer.options.unique_keys)
        self.high = UNBOUNDED if wanted.high is None else wanted.high
        self.counts = wanted.low > 1 or wanted.high is not None
        self.required = [at for at, entry in enumerate(wanted.entries) if entry.is_required]
        # another key may follow as long as there is one, and room for it
        most = self.high if wanted.cells else min(self.high, len(wanted.entries))
        self.goes_on = NO_GUARD if most == UNBOUNDED else rules.check_guard(0, most - 1)
        low = wanted.low if wanted.low > 1 else 0
        required = self.required if self.is_any_order else ()
        self.ends = rules.check_guard(low, UNBOUNDED, required) if low or required else NO_GUARD
        self.need = Need({}, set(), {}, low)

    def add(self, member: int) -> GuardId:
        """Guard of a key."""
        if not self.counts and (member == ANOTHER or not self.is_any_order):
            return NO_GUARD
        if self.high == UNBOUNDED:
            cap = self.wanted.low if member == ANOTHER else UNBOUNDED
            return self.writer.rules.add_guard(member, cap=cap)
        return self.writer.rules.add_guard(member, self.high, self.required)

    def write(self, start: StateId, end: StateId) -> None:
        """Edges from `start` to `end`, the last state of the rule."""
        if self.ends != NO_GUARD:
            self.writer.needs[end] = self.need
        wanted, rule = self.wanted, self.rule
        rules, lexemes = self.writer.rules, self.writer.punctuation
        choose = rules.state(rule)
        if self.required or wanted.low:
            rules.scan(start, lexemes.open_object, choose)
        else:
            opened = rules.state(rule)
            rules.scan(start, lexemes.open_object, opened)
            rules.skip(opened, choose)
            rules.scan(opened, lexemes.close_object, end)
        if not self.is_any_order:
            choose = self._write_in_order(choose, end)
        self._write_free(choose, end)

    def _write_in_order(self, choose: StateId, end: StateId) -> StateId:
        """Write the declared keys in order; gives the state before the free ones."""
        wanted, rule = self.wanted, self.rule
        rules, lexemes = self.writer.rules, self.writer.punctuation
        needed = len(self.required)
        for at, entry in enumerate(wanted.entries):
            needed -= entry.is_required
            after, following = rules.state(rule), rules.state(rule)
            self._write_entry(at, entry, choose, after)
            if not entry.is_required:
                rules.skip(choose, following)
            rules.scan(after, lexemes.comma, following, NO_GUARD if needed else self.goes_on)
            if not needed:
                rules.scan(after, lexemes.close_object, end, self.ends)
            choose = following
        return choose

    def _write_free(self, choose: StateId, end: StateId) -> None:
        wanted, rule = self.wanted, self.rule
        rules, lexemes = self.writer.rules, self.writer.punctuation
        after = rules.state(rule)
        if self.is_any_order:
            for at, entry in enumerate(wanted.entries):
                self._write_entry(at, entry, choose, after)
        for cell in wanted.cells:
            named = rules.state(rule)
            if self.is_tracked:
                add = self.add(ANOTHER) if self.high < UNBOUNDED else NO_GUARD
                keys = rule_of_keys(self.writer, cell.keys)
                rules.call_new(choose, keys, named, add, kind_of_strings(self.writer.nodes, cell.keys))
            else:
                rules.scan(choose, cell.keys, named, self.add(ANOTHER))
            self.need.free[self._write_value(named, cell.schemas, after)] = after
        rules.scan(after, lexemes.comma, choose, self.goes_on)
        rules.scan(after, lexemes.close_object, end, self.ends)

    def _write_entry(self, at: int, entry: Entry, here: StateId, after: StateId) -> None:
        named = self.writer.rules.state(self.rule)
        key = self.writer.key_node(entry.name, entry.schemas)
        self.writer.rules.scan(here, key, named, self.add(at))
        value = self._write_value(named, entry.schemas, after)
        self.need.members[value] = after
        if entry.is_required and self.is_any_order:
            self.need.required.add(value)

    def _write_value(self, named: StateId, schemas: list[SchemaAt], after: StateId) -> StateId:
        """A colon and a value; gives the state before the value."""
        rules = self.writer.rules
        value = rules.state(self.rule)
        rules.scan(named, self.writer.punctuation.colon, value)
        self.writer.place(schemas, self.rule, value, after, self.depth)
        self.writer.note_counted(value, after, schemas)
        return value


def rule_of_keys(writer: Writer, keys: int) -> RuleId:
    """Rule of the keys of a node; variants without some of them can be made."""

    def make() -> RuleId:
        rule = _rule_over(writer, keys)

        def variant(texts: list[bytes]) -> RuleId | None:
            nodes = writer.nodes
            read = spellings_of(nodes, json.loads(b"[%s]" % b",".join(texts)))
            left = nodes.without(keys, [read])
            return None if nodes.is_empty(left) else _rule_over(writer, left)

        writer.variants[rule] = variant
        return rule

    found: RuleId = writer.own_rule(("keys", keys), make)
    return found


def _rule_over(writer: Writer, node: int) -> RuleId:
    """A rule of one lexeme."""
    rules = writer.rules
    rule = rules.rule("keys")
    last = rules.state(rule)
    rules.final(last)
    rules.scan(rules.start_state(rule), node, last)
    return rule


# --- keys and kinds of values that fulfil a condition


def emit_conditioned(
    writer: Writer, wanted: ConditionedObject | str, path: Path, start: StateId, end: StateId, depth: int
) -> None:
    """Edges from `start` to `end` over every object as wanted; none where it is a reason why there is no object."""
    if isinstance(wanted, str):
        return writer.nothing(wanted, path, ALTERNATIVES_HELP)
    rules = writer.rules
    body = rules.rule(pointer(path))
    rules.call(start, body, end)
    last = rules.state(body)
    rules.final(last)
    return _ConditionedObject(writer, wanted, body, last, depth).write(rules.start_state(body))


class _ConditionedObject:
    def __init__(self, writer: Writer, wanted: ConditionedObject, rule: RuleId, last: StateId, depth: int) -> None:
        self.writer = writer
        self.rules = writer.rules
        self.wanted = wanted
        self.rule = rule
        self.last = last
        self.depth = depth
        self.is_in_order = writer.options.property_order == "schema"
        self.ends = self.rules.check_guard(required=wanted.condition)
        self.numbers: dict[StateId, Sequence[int]] = {}  # of members, by the state before their value
        self.need = writer.needs[last] = Need({}, set(), {}, 0, wanted.condition, self.numbers)

    def write(self, start: StateId) -> None:
        """Edges from `start` on."""
        wanted, rules, lexemes = self.wanted, self.rules, self.writer.punctuation
        choose = rules.state(self.rule)
        if wanted.condition.n_to_come(()):
            rules.scan(start, lexemes.open_object, choose)
        else:
            opened = rules.state(self.rule)
            rules.scan(start, lexemes.open_object, opened)
            rules.skip(opened, choose)
            rules.scan(opened, lexemes.close_object, self.last)
        after = rules.state(self.rule)
        passed = 0
        if self.is_in_order:
            for _, same_name in groupby(wanted.entries, key=lambda one: one[1].name):
                members = list(same_name)
                passed = members[-1][0] + 1
                choose = self._write_name(members, choose, passed)
        else:
            self._write_members(wanted.entries, choose, after)
        if wanted.cells or not self.is_in_order:
            self._write_free(choose, after, passed)
            self._write_end(after, choose, passed)

    def _write_name(self, members: list[tuple[int, Entry]], choose: StateId, passed: int) -> StateId:
        """Write a name in order, with values of each class; gives the state before the next one."""
        after, following = self.rules.state(self.rule), self.rules.state(self.rule)
        self._write_members(members, choose, after)
        self.rules.skip(choose, following)
        self._write_end(after, following, passed)
        return following

    def _write_members(self, members: list[tuple[int, Entry]], choose: StateId, after: StateId) -> None:
        for member, entry in members:
            passed = member if self.is_in_order else 0
            add = self.rules.add_guard(member, required=self.wanted.condition, passed=passed)
            named = self.rules.state(self.rule)
            self.rules.scan(choose, self.writer.key_node(entry.name, entry.schemas), named, add)
            self._write_value(named, entry.schemas, after, (member,))

    def _write_free(self, choose: StateId, after: StateId, passed: int) -> None:
        rules, condition = self.rules, self.wanted.condition
        for keys, schemas, members in self.wanted.cells:
            chosen, before = rules.state(self.rule), choose
            for member in members:
                rules.skip(before, chosen, rules.add_guard(member, required=condition, passed=passed))
                before = rules.state(self.rule)
                rules.skip(choose, before, rules.check_guard(required=[member]))
            guards = [NO_GUARD] if self.wanted.goes_on or not members else []
            if self.is_in_order and not members:
                guards = [self.ends, rules.more_guard(condition, passed)]
            for guard in guards:
                rules.skip(before, chosen, guard)
            named = rules.state(self.rule)
            if self.wanted.is_tracked:
                kind = kind_of_strings(self.writer.nodes, keys)
                rules.call_new(chosen, rule_of_keys(self.writer, keys), named, NO_GUARD, kind)
            else:
                rules.scan(chosen, keys, named)
            self._write_value(named, schemas, after, members)

    def _write_end(self, after: StateId, choose: StateId, passed: int) -> None:
        """The bracket, where the condition is fulfilled, and a comma where a key may come: none below `passed`."""
        rules, wanted, lexemes = self.rules, self.wanted, self.writer.punctuation
        if not all(cell.members for cell in wanted.cells):
            rules.scan(after, lexemes.comma, choose)
        else:
            rules.scan(after, lexemes.comma, choose, rules.more_guard(wanted.condition, passed))
            for cell in wanted.cells if wanted.goes_on else ():  # there may be another key of the same kind
                rules.scan(after, lexemes.comma, choose, rules.check_guard(required=[cell.members[-1]]))
        rules.scan(after, lexemes.close_object, self.last, self.ends)

    def _write_value(self, named: StateId, schemas: list[SchemaAt], after: StateId, members: Sequence[int]) -> None:
        """A colon and a value, which makes one of some members."""
        rules = self.rules
        value = rules.state(self.rule)
        if members:
            self.need.members[value] = after
            self.numbers[value] = members
        rules.scan(named, self.writer.punctuation.colon, value)
        self.writer.place(schemas, self.rule, value, after, self.depth)
        self.writer.note_counted(value, after, schemas)
