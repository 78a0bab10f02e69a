"""Objects that carry the set of the keys read so far: those whose keys come in any order, or must not be repeated.

A run through the rule carries the set (`Rules.add_guard`, `Rules.call_new`): a declared key stands once, required ones
are there when the object ends, and there is always room left for those that are still missing. Free keys are members
without a name where their number counts, and are remembered where a repetition could make an invalid object look valid.

    any order   "{" -> free;  free -key i, not in the set, which gains it-> . -":"-> . -value-> after
    in order    "{" -> choose[0];  choose[i] -key i-> . -":"-> . -value-> after i;  then free keys as below
    free keys   free -key-> . -":"-> . -value-> after
                after -","-> free if another key has room; after -"}"-> end if the required are there

In: a `CountedObject`. Out: states and edges between two given states. Cost: about 5 us a property.
"""

from __future__ import annotations

import json

from llmask.errors import LimitExceeded
from llmask.frontends.json_schema.lexical.strings import spellings_of
from llmask.frontends.json_schema.meaning.object_layout import Entry
from llmask.frontends.json_schema.meaning.place import SchemaAt
from llmask.frontends.json_schema.meaning.satisfiable import Need
from llmask.frontends.json_schema.reading.pointers import pointer
from llmask.frontends.json_schema.writing.counted_objects import CountedObject
from llmask.frontends.json_schema.writing.new_values import kind_of_strings
from llmask.frontends.json_schema.writing.writer import Writer
from llmask.grammar.kinds import ANOTHER, NO_GUARD, UNBOUNDED, GuardId, RuleId, StateId


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
