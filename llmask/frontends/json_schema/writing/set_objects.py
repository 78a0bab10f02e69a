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

Where patterns of keys overlap in many ways, a key is remembered until its value begins, and what the value must fulfil
is written for it then (`Rules.follow_guard`). n patterns have 2^n sets of keys: a lexeme for each took 130 ms for 9.

    by its key  free -new key-> . -":"-> told -[follow, the key is forgotten]-> a state for this key -value-> after
                                         told -> a value that any key may have -> after: so `told` leads somewhere

Where keys, and kinds of values, fulfil a condition together (meaning/key_conditions.py), the run carries the set of
members that were read. Each key asks whether some members to come fulfil the condition with it; the bracket asks
whether it is fulfilled. In the order of the schema no member before comes any more.

    any order   "{" -> choose;  choose -key i [add i]-> . -":"-> . -value-> after;  after -","-> choose [one more]
    in order    "{" -> choose[0];  choose[i] -key i [add i]-> . -":"-> . -value-> after[i];  choose[i] -> choose[i+1]
                after[i] -","-> choose[i+1] [one more]
    both        after -"}"-> end [fulfilled]

In: named and free keys, a `ConditionedObject`. Out: states and edges between two given states. Cost: about 5 us a
property.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby

from llmask.errors import LimitExceeded
from llmask.grammar.kinds import ANOTHER, NO_GUARD, OWN, OWN_COUNTED, UNBOUNDED, GuardId, RuleId, StateId

from ..lexical.strings import spellings_of
from ..meaning.contradictions import ALTERNATIVES_HELP
from ..meaning.key_conditions import ConditionedObject
from ..meaning.object_layout import Cell, Entry, key_schemas
from ..meaning.place import Part, SchemaAt, count_range
from ..meaning.satisfiable import Need
from ..reading.pointers import Path, pointer
from .new_values import kind_of_strings
from .writer import Span, Writer


class MembersWriter:
    """Base of what writes the members of one object."""

    def __init__(self, writer: Writer, span: Span) -> None:
        self.writer = writer
        self.rules = writer.rules
        self.span = span

    def open(self, is_needed: bool) -> StateId:
        """Write the opening bracket, and the other where no key is needed; gives the state before the first key."""
        rules, lexemes, span = self.rules, self.writer.punctuation, self.span
        choose = rules.state(span.rule)
        if is_needed:
            rules.scan(span.start, lexemes.open_object, choose)
        else:
            opened = rules.state(span.rule)
            rules.scan(span.start, lexemes.open_object, opened)
            rules.skip(opened, choose)
            rules.scan(opened, lexemes.close_object, span.end)
        return choose

    def value(self, named: StateId, schemas: list[SchemaAt], after: StateId, is_relied_on: bool = True) -> StateId:
        """Write a colon and a value; gives the state before it. `is_relied_on`: by guards, to allow something."""
        value = self.rules.state(self.span.rule)
        self.rules.scan(named, self.writer.punctuation.colon, value)
        self.writer.place(schemas, self.span.rule, value, after, self.span.depth)
        if is_relied_on:
            self.writer.note_counted(value, after, schemas)
        return value

    def new_key(self, here: StateId, keys: int, named: StateId, guard: GuardId) -> None:
        """Write a key that is not in the set."""
        kind = kind_of_strings(self.writer.nodes, keys)
        self.rules.call_new(here, _rule_of_keys(self.writer, keys), named, guard, kind)


def _rule_of_keys(writer: Writer, keys: int) -> RuleId:
    """Rule of the keys of a node; variants without some of them can be made."""

    def rule_over(node: int) -> RuleId:
        rule, start, end, _ = writer.new_rule("keys")
        writer.rules.scan(start, node, end)
        return rule

    def make() -> RuleId:
        rule = rule_over(keys)

        def variant(texts: list[bytes]) -> RuleId | None:
            nodes = writer.nodes
            read = spellings_of(nodes, json.loads(b"[%s]" % b",".join(texts)))
            left = nodes.without(keys, [read])
            return None if nodes.is_empty(left) else rule_over(left)

        writer.variants[rule] = variant
        return rule

    return writer.own_rule(("keys", keys), make)


class CountedObject(MembersWriter):
    """Every object of some keys that counts something, or carries the set of its keys.

    Parameters
    ----------
    low, high : how many keys there may be; `low` is above the number of required keys, or 0.
    is_any_order : declared keys come in any order.

    Attributes
    ----------
    is_tracked : free keys are remembered: their repetition could make an invalid object look valid.
    has_set : a run carries the set; else a count is enough.

    Raises
    ------
    LimitExceeded
        When a set would have more than `limits.max_tracked_names` keys that have a name.
    """

    def __init__(
        self,
        writer: Writer,
        entries: list[Entry],
        cells: list[Cell],
        low: int,
        high: int | None,
        is_any_order: bool,
        path: Path,
        span: Span,
    ) -> None:
        self.entries = entries
        self.cells = cells
        self.low = low if low > 1 else 0
        self.high = UNBOUNDED if high is None else high
        self.is_any_order = is_any_order
        self.is_tracked = bool(cells) and (low > 1 or writer.options.unique_keys)
        remembers = is_any_order or self.is_tracked
        self.has_set = remembers or any(cell.parts for cell in cells)
        most = writer.options.limits.max_tracked_names
        if len(entries) > most and (remembers or (self.has_set and high is not None)):
            raise LimitExceeded(
                f"an object of {len(entries)} properties in any order: at most {most} are remembered"
                " (limits.max_tracked_names)",
                pointer(path),
                'Raise the limit, or use property_order="schema".',
            )
        super().__init__(writer, writer.rule_within(span, path))
        self.is_empty_refused = low > 0
        self.required = [at for at, entry in enumerate(entries) if entry.is_required]
        self.need = Need({}, set(), {}, self.low)
        if self.has_set:
            # another key may follow as long as there is one, and room for it
            most = self.high if cells else min(self.high, len(entries))
            self.goes_on = NO_GUARD if most == UNBOUNDED else self.rules.check_guard(0, most - 1)
            required = self.required if is_any_order else ()
            has_end = self.low or required
            self.ends = self.rules.check_guard(self.low, UNBOUNDED, required) if has_end else NO_GUARD
        else:
            self.goes_on, self.ends = self.count(room_for=1), self.count(low)

    def count(self, low: int = 0, room_for: int = 0, add: int = 0) -> GuardId:
        """Guard of a count: at least `low` keys so far, and `room_for` keys below the greatest number."""
        if not self.low and self.high == UNBOUNDED:
            return NO_GUARD
        high = self.high - (room_for if self.high < UNBOUNDED else 0)
        cap = max(self.low, self.high if self.high < UNBOUNDED else 0)
        return self.rules.guard(max(low, 0), high, add, cap)

    def add(self, member: int, needed: int = 0) -> GuardId:
        """Guard of a key; `needed` is the number of keys that must still come."""
        if not self.has_set:
            return self.count(room_for=0 if member in self.required else 1 + needed, add=1)
        counts = self.low or self.high < UNBOUNDED
        if not counts and (member == ANOTHER or not self.is_any_order):
            return NO_GUARD
        if self.high == UNBOUNDED:
            return self.rules.add_guard(member, cap=self.low if member == ANOTHER else UNBOUNDED)
        return self.rules.add_guard(member, self.high, self.required)

    def write(self) -> None:
        """Write the edges of the span."""
        if self.ends != NO_GUARD if self.has_set else self.low:
            self.writer.needs[self.span.end] = self.need
        choose = self.open(is_needed=bool(self.required) or self.is_empty_refused)
        if not self.is_any_order:
            choose = self._write_in_order(choose)
        if self.is_any_order or self.cells:
            self._write_free(choose)

    def _write_in_order(self, choose: StateId) -> StateId:
        """Write the declared keys in order; gives the state before the free ones."""
        rules, lexemes, (rule, _, end, _) = self.rules, self.writer.punctuation, self.span
        needed = len(self.required)  # required keys from here on
        for at, entry in enumerate(self.entries):
            needed -= entry.is_required
            after = rules.state(rule)
            self._write_entry(at, entry, choose, after, needed)
            if at + 1 < len(self.entries) or self.cells:
                following = rules.state(rule)
                if not entry.is_required:
                    self._skip_entry(at, choose, following)
                rules.scan(after, lexemes.comma, following, NO_GUARD if needed else self.goes_on)
                choose = following
            if not needed:
                rules.scan(after, lexemes.close_object, end, self.ends)
        return choose

    def _write_free(self, choose: StateId) -> None:
        rules, lexemes, (rule, _, end, _) = self.rules, self.writer.punctuation, self.span
        after = rules.state(rule)
        for at, entry in enumerate(self.entries if self.is_any_order else ()):
            self._write_entry(at, entry, choose, after)
        for cell in self.cells:
            named = rules.state(rule)
            if self.is_tracked or cell.parts:
                self.new_key(choose, cell.keys, named, self.add(ANOTHER) if self.high < UNBOUNDED else NO_GUARD)
            else:
                rules.scan(choose, cell.keys, named, self.add(ANOTHER))
            if cell.parts:
                value = self._write_by_key(named, cell.schemas, after, cell.parts)
            else:
                value = self._write_value(named, cell.schemas, after)
            self.need.free[value] = after
        rules.scan(after, lexemes.comma, choose, self.goes_on)
        rules.scan(after, lexemes.close_object, end, self.ends)

    def _write_by_key(self, named: StateId, schemas: list[SchemaAt], after: StateId, parts: list[Part]) -> StateId:
        """Write a colon and what the key asks for; gives the state before a value that any key may have."""
        rules, writer, (rule, _, _, depth) = self.rules, self.writer, self.span
        told, value = rules.state(rule), rules.state(rule)
        rules.scan(named, writer.punctuation.colon, told)
        whose = OWN if self.high == UNBOUNDED else OWN_COUNTED
        rules.skip(told, value, rules.follow_guard(len(writer.following), whose=whose))

        def state_after(texts: list[bytes]) -> StateId:
            asked = key_schemas(writer, parts, json.loads(texts[0]))

            def make() -> StateId:
                state = rules.state(rule)
                writer.place(asked, rule, state, after, depth)
                return state

            return writer.own_rule(("value", after, writer.place_key(asked)), make)

        writer.following.append(state_after)
        writer.place(schemas, rule, value, after, depth)
        writer.note_counted(value, after, schemas)
        return value

    def _skip_entry(self, at: int, here: StateId, there: StateId) -> None:
        n_left = len(self.entries) - at - 1
        self.rules.skip(here, there, NO_GUARD if self.cells else self.count(self.low - n_left))

    def _write_entry(self, at: int, entry: Entry, here: StateId, after: StateId, needed: int = 0) -> StateId:
        """Write a key, a colon and a value; gives the state after the key."""
        named = self.rules.state(self.span.rule)
        key = self.writer.key_node(entry.name, entry.schemas)
        self.rules.scan(here, key, named, self.add(at, needed))
        value = self._write_value(named, entry.schemas, after)
        self.need.members[value] = after
        if entry.is_required and self.is_any_order:
            self.need.required.add(value)
        return named

    def _write_value(self, named: StateId, schemas: list[SchemaAt], after: StateId) -> StateId:
        return self.value(named, schemas, after, is_relied_on=self.has_set or self.low > 0)


def can_tell_by_key(writer: Writer, parts: list[Part]) -> bool:
    """Whether a `CountedObject` may have free keys that the value depends on: not where these are remembered."""
    return writer.tells_by_key and count_range(parts, "minProperties", "maxProperties")[0] <= 1


# --- keys and kinds of values that fulfil a condition


def emit_conditioned(writer: Writer, wanted: ConditionedObject | str, path: Path, span: Span) -> None:
    """Edges over every object as wanted; none where it is a reason why there is no object."""
    if isinstance(wanted, str):
        return writer.nothing(wanted, path, ALTERNATIVES_HELP)
    return _ConditionedObject(writer, wanted, writer.rule_within(span, path)).write()


class _ConditionedObject(MembersWriter):
    def __init__(self, writer: Writer, wanted: ConditionedObject, span: Span) -> None:
        super().__init__(writer, span)
        self.wanted = wanted
        self.is_in_order = writer.options.property_order == "schema"
        self.ends = self.rules.check_guard(required=wanted.condition)
        self.numbers: dict[StateId, Sequence[int]] = {}  # of members, by the state before their value
        self.need = writer.needs[span.end] = Need({}, set(), {}, 0, wanted.condition, self.numbers)

    def write(self) -> None:
        wanted = self.wanted
        choose = self.open(is_needed=wanted.condition.n_to_come(()) > 0)
        after = self.rules.state(self.span.rule)
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
        after, following = self.rules.state(self.span.rule), self.rules.state(self.span.rule)
        self._write_members(members, choose, after)
        self.rules.skip(choose, following)
        self._write_end(after, following, passed)
        return following

    def _write_members(self, members: list[tuple[int, Entry]], choose: StateId, after: StateId) -> None:
        for member, entry in members:
            passed = member if self.is_in_order else 0
            add = self.rules.add_guard(member, required=self.wanted.condition, passed=passed)
            named = self.rules.state(self.span.rule)
            self.rules.scan(choose, self.writer.key_node(entry.name, entry.schemas), named, add)
            self._write_value(named, entry.schemas, after, (member,))

    def _write_free(self, choose: StateId, after: StateId, passed: int) -> None:
        rules, condition = self.rules, self.wanted.condition
        for keys, schemas, members in self.wanted.cells:
            chosen, before = rules.state(self.span.rule), choose
            for member in members:
                rules.skip(before, chosen, rules.add_guard(member, required=condition, passed=passed))
                before = rules.state(self.span.rule)
                rules.skip(choose, before, rules.check_guard(required=[member]))
            guards = [NO_GUARD] if self.wanted.goes_on or not members else []
            if self.is_in_order and not members:
                guards = [self.ends, rules.more_guard(condition, passed)]
            for guard in guards:
                rules.skip(before, chosen, guard)
            named = rules.state(self.span.rule)
            if self.wanted.is_tracked:
                self.new_key(chosen, keys, named, NO_GUARD)
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
        rules.scan(after, lexemes.close_object, self.span.end, self.ends)

    def _write_value(self, named: StateId, schemas: list[SchemaAt], after: StateId, members: Sequence[int]) -> None:
        """A colon and a value, which makes one of some members."""
        value = self.value(named, schemas, after)
        if members:
            self.need.members[value] = after
            self.numbers[value] = members
