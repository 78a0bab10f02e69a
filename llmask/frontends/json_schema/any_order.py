"""Objects whose keys come in any order: one state for each set of witnesses, and the keys written so far as a set.

A run through the rule carries the set of the keys that it has read (`Rules.add_guard`): a declared key stands once,
required ones are there when the object ends, and there is always room left for those that are still missing. Free
keys are members without a name where their number counts.

    "{" -> choose -key i, not in the set, which gains it-> . -":"-> . -value-> after
    after -","-> choose  if another key has room      after -"}"-> end  if the required ones are in the set

In: a `CountedObject`. Out: states and edges between two given states. Cost: about 5 us a property and witness.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llmask.errors import LimitExceeded
from llmask.frontends.json_schema.counted_objects import CountedObject, subsets, witnessed
from llmask.frontends.json_schema.pointers import pointer
from llmask.frontends.json_schema.unsupported import refuse
from llmask.grammar.rules import ANOTHER, NO_GUARD, UNBOUNDED, GuardId, RuleId, StateId

if TYPE_CHECKING:
    from llmask.frontends.json_schema.conjunction import SchemaAt
    from llmask.frontends.json_schema.translation import Translation


def emit_any_order(
    translation: Translation, wanted: CountedObject, rule: RuleId, start: StateId, end: StateId, depth: int
) -> None:
    """Edges from `start` to `end` over every object as wanted, its keys in any order.

    Raises
    ------
    LimitExceeded
        When more than `limits.max_tracked_names` keys have a name.
    """
    most = translation.options.limits.max_tracked_names
    if len(wanted.entries) > most:
        raise LimitExceeded(
            f"an object of {len(wanted.entries)} properties in any order: at most {most} are remembered"
            " (limits.max_tracked_names)",
            pointer(wanted.path),
            'Raise the limit, or use property_order="schema".',
        )
    if wanted.repeats_matter:
        keyword = "minProperties" if wanted.low > 1 else "not"
        refuse(translation, keyword, wanted.path, f'"{keyword}" is not supported where keys are free to repeat')
        wanted = wanted._replace(low=min(wanted.low, 1))
    rules = translation.rules
    body = rules.rule(pointer(wanted.path))
    rules.call(start, body, end)
    last = rules.state(body)
    rules.final(last)
    _AnyOrder(translation, wanted, body, depth).write(rules.start_state(body), last)


class _AnyOrder:
    def __init__(self, translation: Translation, wanted: CountedObject, rule: RuleId, depth: int) -> None:
        self.translation = translation
        self.wanted = wanted
        self.rule = rule
        self.depth = depth
        rules = translation.rules
        n_names = len(wanted.entries)
        self.high = UNBOUNDED if wanted.high is None else wanted.high
        self.required = [at for at, entry in enumerate(wanted.entries) if entry.is_required]
        # another key may follow as long as there is one, and room for it
        most = self.high if wanted.cells else min(self.high, n_names)
        self.goes_on = NO_GUARD if most == UNBOUNDED else rules.check_guard(0, most - 1)
        self.counts_free = wanted.low > 1 or wanted.high is not None
        needs_check = bool(self.required) or wanted.low > 1
        self.ends = rules.check_guard(wanted.low, UNBOUNDED, self.required) if needs_check else NO_GUARD

    def add(self, member: int, seen: int) -> GuardId:
        """Guard of a key, after which the witnesses `seen` were read; those unseen keep room for one key."""
        if self.high == UNBOUNDED:
            return self.translation.rules.add_guard(member)
        room = 0 if seen == self.wanted.all_seen else 1
        return self.translation.rules.add_guard(member, self.high - room, self.required)

    def write(self, start: StateId, end: StateId) -> None:
        translation, wanted, rule = self.translation, self.wanted, self.rule
        rules, lexemes = translation.rules, translation.punctuation
        choose = [rules.state(rule) for _ in range(wanted.all_seen + 1)]  # by the witnesses seen
        after = [rules.state(rule) for _ in choose]
        if self.required or wanted.low or wanted.all_seen:
            rules.scan(start, lexemes.open_object, choose[0])
        else:
            opened = rules.state(rule)
            rules.scan(start, lexemes.open_object, opened)
            rules.skip(opened, choose[0])
            rules.scan(opened, lexemes.close_object, end)
        for seen, here in enumerate(choose):
            for at, entry in enumerate(wanted.entries):
                key = translation.key_node(entry.name, entry.schemas)
                self._write_value(here, key, self.add(at, seen), entry.schemas, after[seen])
            for cell in wanted.cells:
                for added in subsets(cell.witnesses & ~seen):
                    there = seen | added
                    add = self.add(ANOTHER, there) if self.counts_free else NO_GUARD
                    self._write_value(here, cell.keys, add, witnessed(wanted, cell.schemas, added), after[there])
            rules.scan(after[seen], lexemes.comma, here, self.goes_on)
        rules.scan(after[-1], lexemes.close_object, end, self.ends)

    def _write_value(self, here: StateId, key: int, add: GuardId, schemas: list[SchemaAt], after: StateId) -> None:
        """A key and its value."""
        rules = self.translation.rules
        named, value = rules.state(self.rule), rules.state(self.rule)
        rules.scan(here, key, named, add)
        rules.scan(named, self.translation.punctuation.colon, value)
        self.translation.place(schemas, self.rule, value, after, self.depth)
        self.translation.note_counted(value, schemas)
