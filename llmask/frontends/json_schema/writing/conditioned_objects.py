"""Objects whose keys, and kinds of values, fulfil a condition together (meaning/key_conditions.py).

A run through the rule carries the set of members that were read. Each key asks whether some members to come fulfil the
condition with it; the bracket asks whether it is fulfilled. In the order of the schema no member before comes any more.

    any order   "{" -> choose;  choose -key i [add i]-> . -":"-> . -value-> after;  after -","-> choose [one more]
    in order    "{" -> choose[0];  choose[i] -key i [add i]-> . -":"-> . -value-> after[i];  choose[i] -> choose[i+1]
                after[i] -","-> choose[i+1] [one more]
    both        after -"}"-> end [fulfilled]

In: a `ConditionedObject`. Out: states and edges between two given states. Cost: about 5 us a member.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from llmask.frontends.json_schema.meaning.contradictions import ALTERNATIVES_HELP
from llmask.frontends.json_schema.meaning.key_conditions import ConditionedObject
from llmask.frontends.json_schema.meaning.object_layout import Entry
from llmask.frontends.json_schema.meaning.place import SchemaAt
from llmask.frontends.json_schema.meaning.satisfiable import Need
from llmask.frontends.json_schema.reading.pointers import Path, pointer
from llmask.frontends.json_schema.writing.new_values import kind_of_strings
from llmask.frontends.json_schema.writing.set_objects import rule_of_keys
from llmask.frontends.json_schema.writing.writer import Writer
from llmask.grammar.kinds import NO_GUARD, RuleId, StateId


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
