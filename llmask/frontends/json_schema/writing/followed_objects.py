"""Objects and arrays of a bounded length that differ from those before them, as long as they can become another one.

While a member may still come that can always go on, in endlessly many ways (an open string, a free array), or two of
endlessly many values (numbers), nothing has to be left out. Where none may, the known values are asked for that this
one may still become (`Rules.follow_guard`): those that have the members which were read. What follows is written for
these, and almost always that is what is written anyway; what leads to no other value is left out:

    completions(R)    how many values can come of the members R that are left: of an object for each the number of its
                      values, and one more if it may be absent; without those that have too few or many members
    value v of e      is left out if completions(R without e) of the known values have it: all that can come are known
    "}" and ","       where the value is known as it is; where no key is left that has a value
    nothing is left   the member before is refused at its last byte: it can go on, or its rule leaves it out

Items of an array that must differ themselves are called for as new ones, as in unique_arrays.py, all of one kind: each
has one value fewer for each item before it.

A member that is an object or array of this kind is followed in the same way within the whole value, its root, where all
other members are there that could tell. Then no value of it is left out beforehand. What is left around it counts, too.
Where `maxProperties` leaves no room for a member that could tell, known values are always asked for.

    any order   choose -key i [add i]-> . -":"-> . -value-> done -[follow]-> after
                after -","-> choose    after -"}"-> end, if the required ones are there
    in order    choose[i] -key i-> ... done[i] -[follow]-> after[i] -","-> choose[i + 1]
                choose[i] -skip-> choose[i + 1]  if i is optional; [follow] where it is the last one that can tell
    array       item[i] -value-> done[i] -[follow]-> after[i] -","-> item[i + 1]
                after[i] -"]"-> end, if there are enough

In: the layout of an object without free keys, or of an array. Out: states and edges between two given states; later,
states for known ones. Cost: that of an object in any order; a state for k known ones 50 us and 10 us for each and each
member, and what a place takes that leaves out values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from decimal import Decimal
from math import inf
from typing import Any

from llmask.errors import LimitExceeded
from llmask.grammar.kinds import CALL_OPEN, GuardId, RuleId, StateId

from ..lexical.number_machines import MAX_DIGITS
from ..meaning.array_layout import ArrayLayout
from ..meaning.finite import finite_values
from ..meaning.instances import equality_key, values_of_texts
from ..meaning.object_layout import Entry
from ..meaning.place import SchemaAt
from ..reading.keywords import FOLLOWED
from ..reading.pointers import Path
from .different_objects import all_but
from .new_values import followed_part, kind_of_place, most_followed_items
from .set_objects import CountedObject
from .unique_arrays import UniqueArray, check_number
from .writer import Span, Writer

LARGE = 10**MAX_DIGITS
Members = dict[int, Any]  # values by the numbers of members


def _can_be_listed(value: Any) -> bool:
    """Whether no number has too many digits."""
    if type(value) is list or type(value) is dict:
        return all(map(_can_be_listed, value.values() if type(value) is dict else value))
    if type(value) is Decimal:
        return max(abs(value.adjusted()), len(value.as_tuple().digits)) <= MAX_DIGITS
    return type(value) is not int or -LARGE < value < LARGE


class Followed(ABC):
    """An object or array, or a member of one, and what is remembered of it as long as sequences are read.

    Attributes
    ----------
    schemas : of its members, by number.
    root : the whole value; of it, `nodes` are all that is followed in it, by their rules.
    open_members : members that can always go on, or are followed themselves, in endlessly many ways.
    endless : others of endlessly many values.
    parts : by member, what can be followed of it, and its other values.
    inner : by member, the rule in which it is followed, and the guard of its calls.
    done : by member, the state after its value.
    least, most : how many members an object may have; where `most` is bounded known values are always followed.
    """

    kind: type
    required: list[int]
    least, most = 0, inf

    def __init__(
        self,
        writer: Writer,
        schemas: list[list[SchemaAt]],
        is_any_order: bool,
        path: Path,
        span: Span,
        root: Followed | None,
        rule: RuleId,
    ) -> None:
        self.writer = writer
        self.schemas = schemas
        self.is_any_order = is_any_order
        self.path = path
        self.span = span
        self.root = root or self
        self.nodes: dict[RuleId, Followed] = {}
        self.root.nodes[rule] = self
        self.inner: dict[int, tuple[RuleId, GuardId]] = {}
        self.done: list[StateId] = []
        self._values: dict[int, dict[Any, Any] | None] = {}
        self.parts = [self.part_of(one) for one in schemas]
        self.open_members: list[int] = []
        self.endless: list[int] = []
        for at, one in enumerate(schemas):
            if kind_of_place(writer, one) == CALL_OPEN:
                self.open_members.append(at)
            elif self.values_of(at) is None:
                followed, others = self.parts[at]
                (self.open_members if followed and not others else self.endless).append(at)

    # --- what is written for all documents

    def asks(self, first: int = 0) -> bool:
        """Whether known values are followed where members from `first` on may come: little can tell them apart then."""
        if self.most != inf:
            return True
        return not any(at >= first for at in self.open_members) and sum(at >= first for at in self.endless) <= 1

    def follow(self, here: StateId, target: StateId, first: int, may_close: bool = True) -> None:
        """A skip for which known values are followed before member `first` or a later one.

        `may_close`: no comma was read.
        """

        def following(texts: list[bytes]) -> StateId | None:
            try:
                values = values_of_texts(texts)
            except LimitExceeded:  # see `_key_of`
                return target
            return self._state_for(values, target, first, may_close)

        members = (self.open_members, self.endless) if self.is_any_order and self.most == inf else ((), ())
        self.writer.rules.skip(here, target, self.writer.rules.follow_guard(len(self.writer.following), *members))
        self.writer.following.append(following)

    def write_member(self, at: int, value: StateId) -> None:
        """Write a value of a member; known ones are followed in it where all others are there that could tell."""
        (followed, scalars), endless = self.parts[at], [*self.open_members, *self.endless]
        others = [other for other in endless if other != at and (self.is_any_order or other > at)]
        others = others if self.most == inf else []  # there may be no room for them
        if not followed or (others and not self.is_any_order):
            return self.place(self.schemas[at], value, self.done[at])
        writer = self.writer
        mark = writer.synthetic(("followed in", id(self.root)), lambda: {FOLLOWED: self.root})
        self.inner[at] = writer.rule_of([*followed, (mark, self.path)]), writer.rules.follow_guard(required=others)
        self._call_inner(at, value)
        return self.place(scalars, value, self.done[at]) if scalars else None

    def _call_inner(self, at: int, value: StateId) -> None:
        rule, guard = self.inner[at]
        self.writer.rules.call(value, rule, self.done[at], guard)

    def part_of(self, schemas: list[SchemaAt]) -> tuple[list[SchemaAt], list[SchemaAt]]:
        """What can be followed of a member of some schemas, and its other values."""
        return followed_part(self.writer, schemas, self.path)

    def place(self, schemas: list[SchemaAt], value: StateId, done: StateId) -> None:
        """Write a value."""
        self.writer.place(schemas, self.span.rule, value, done, self.span.depth)

    def write_without(self, at: int, refused: dict[Any, Any], value: StateId) -> None:
        """Write a value of a member, any but the refused ones; the run goes on as after every value."""
        schemas = self.schemas[at]
        if at in self.inner:
            self._call_inner(at, value)
            schemas = self.parts[at][1]
        self.place([*schemas, all_but(self.writer, list(refused.values()), self.path)], value, self.done[at])

    # --- what may follow, for known values

    def _state_for(self, values: list[Any], target: StateId, first: int, may_close: bool) -> StateId | None:
        """The state in which a value goes on that may become one of some values; None where all it can be is known.

        One of the values is what was read, see `Rules.follow_guard`.
        """
        kind = self.root.kind
        known: list[Any] = [value for value in values if type(value) is kind]
        (levels,) = (value if kind is dict else value[""] for value in values if type(value) is not kind)
        node, n_around, around = self.root, 1.0, []  # how many ways there are to go on around this value
        for level in levels[:-1]:
            *before, at = node.read_of(level, is_whole=False)
            others = node.left([*before, at])
            n_around *= node.completions(others, len(before) + 1)
            around.append((node, before, at, others))
            node = self.root.nodes[node.inner[at][0]]
        read = self.read_of(levels[-1])
        left = [at for at in self.left(read) if at >= first]
        n_read = len(read)
        could_end = may_close and {*left}.isdisjoint(self.required) and n_read >= self.least
        coming = self.next(left, n_read)
        if len(known) < n_around * min(
            [self._fewest(at, left, n_read) for at in coming] + [1] * could_end, default=inf
        ):
            return target
        for node, before, at, others in around:
            found = [node.left_of(value, before, [at, *others]) for value in known]
            known = [one[at] for one in found if one and at in one and node.can_come(one, at, others)]
        found = [self.left_of(value, read, left) for value in known]
        known = [one for one in found if one is not None and (one or may_close)]
        may_end = could_end and known.count({}) < n_around
        refused = {at: self._refused(at, left, n_read, known, n_around) for at in coming}
        keys = [at for at, others in refused.items() if self._has_others(at, others)]
        without = {at: self._refused_here(at, others) for at, others in refused.items()}
        if len(keys) == len(refused) and not any(without.values()) and may_end == could_end:
            return target
        if not keys and not may_end:
            return None
        rules, lexemes = self.writer.rules, self.writer.punctuation
        here = rules.state(self.span.rule)
        if may_end:
            rules.scan(here, lexemes.close_object if self.kind is dict else lexemes.close_array, self.span.end)
        chosen = here
        if keys and may_close and read:
            chosen = rules.state(self.span.rule)
            rules.scan(here, lexemes.comma, chosen)
        for at in keys:
            self.write_choice(at, without[at], chosen)
        return here

    def _refused_here(self, at: int, refused: dict[Any, Any]) -> dict[Any, Any]:
        """The refused values of a member that are not followed in it."""
        if at not in self.inner:
            return refused
        scalars = self.parts[at][1]
        return {key: value for key, value in refused.items() if scalars and type(value) not in (dict, list)}

    def _fewest(self, at: int, left: list[int], n_read: int) -> float:
        """How many values must be known for a member that comes next not to be as ever; inf if it can go on."""
        if at in self.open_members:
            return inf
        values, n_completions = self.values_of(at), self.completions(self.after(at, left), n_read + 1)
        if values and at in self.inner and not self.parts[at][1]:
            n_completions *= len(values)
        return 0 if values == {} else n_completions

    def _refused(self, at: int, left: list[int], n_read: int, known: list[Members], n_around: float) -> dict[Any, Any]:
        """Values of a member after which all that can come is known."""
        if len(known) < n_around * self._fewest(at, left, n_read):
            return {}
        after = self.after(at, left)
        n_completions = n_around * self.completions(after, n_read + 1)
        times: dict[Any, list[Any]] = {}
        for members in known:
            if at in members and self.can_come(members, at, after):
                key = self._key_of(members[at])
                if key is not None:
                    times.setdefault(key, []).append(members[at])
        return {key: values[0] for key, values in times.items() if len(values) >= n_completions}

    def _key_of(self, value: Any) -> Any:
        """What equal values share; None where no schema can list it: such objects are refused at their ends."""
        return equality_key(value, self.path) if _can_be_listed(value) else None

    def can_come(self, members: Members, at: int, after: list[int]) -> bool:
        """Whether all members but number `at` are among those `after` it, with values that they can have."""
        for other, value in members.items():
            values = self.values_of(other)
            if other != at and (other not in after or (values is not None and self._key_of(value) not in values)):
                return False
        return True

    def _has_others(self, at: int, refused: dict[Any, Any]) -> bool:
        """Whether a member has a value that is not refused."""
        values = self.values_of(at)
        return values is None or not values.keys() <= refused.keys()

    def values_of(self, at: int) -> dict[Any, Any] | None:
        """Values of a member by what equal ones share, or None for many."""
        if at not in self._values:
            most = self.writer.options.limits.max_unique_values
            values = finite_values(self.writer, self.schemas[at], most)
            self._values[at] = None if values is None else {equality_key(one, self.path): one for one in values}
        return self._values[at]

    # --- what differs between objects and arrays

    @abstractmethod
    def read_of(self, level: list[Any], is_whole: bool = True) -> list[int]:
        """Numbers of the members that were read, with the one that is not whole."""

    @abstractmethod
    def left_of(self, value: Any, read: list[int], left: list[int]) -> Members | None:
        """The members of a known value that are still to come; None where they cannot come."""

    @abstractmethod
    def next(self, left: list[int], n_read: int) -> list[int]:
        """Members that may come next."""

    @abstractmethod
    def write_choice(self, at: int, refused: dict[Any, Any], here: StateId) -> None:
        """Write a member that comes next, where some values of it are refused without these."""

    @abstractmethod
    def completions(self, left: list[int], n_read: int) -> float:
        """How many values can come of the members that are left."""

    def left(self, read: list[int]) -> list[int]:
        """Members that can still come after some."""
        first = 0 if self.is_any_order else max(read, default=-1) + 1
        return [at for at in range(first, len(self.schemas)) if at not in read]

    def after(self, at: int, left: list[int]) -> list[int]:
        """Members that are left after one of them."""
        return [other for other in left if other != at and (self.is_any_order or other > at)]


class FollowedObject(CountedObject, Followed):
    """Every object of some members, in a rule that calls for new values.

    Attributes
    ----------
    named : by member, the state after its key.
    """

    kind = dict

    def __init__(
        self,
        writer: Writer,
        entries: list[Entry],
        low: int,
        high: int | None,
        is_any_order: bool,
        path: Path,
        span: Span,
        root: Followed | None,
    ) -> None:
        CountedObject.__init__(self, writer, entries, [], low, high, is_any_order, path, span)
        self.least, self.most = low, inf if high is None else high
        schemas = [entry.schemas for entry in entries]
        Followed.__init__(self, writer, schemas, is_any_order, path, self.span, root, span.rule)
        self.number_of = {entry.name: at for at, entry in enumerate(entries)}
        self.named: list[StateId] = []
        self._done_before: dict[StateId, StateId] = {}

    def open(self, is_needed: bool) -> StateId:
        """As `MembersWriter.open`; where few members can tell, known objects are followed from here on."""
        if not self.asks():
            return super().open(is_needed)
        rules, lexemes, span = self.rules, self.writer.punctuation, self.span
        opened, begun, choose = (rules.state(span.rule) for _ in range(3))
        rules.scan(span.start, lexemes.open_object, opened)
        self.follow(opened, begun, 0)
        rules.skip(begun, choose)
        if not is_needed:
            rules.scan(begun, lexemes.close_object, span.end)
        return choose

    def _skip_entry(self, at: int, here: StateId, there: StateId) -> None:
        if self.asks(at + 1) and not self.asks(at):
            skipped = self.rules.state(self.span.rule)
            self.follow(skipped, there, at + 1, may_close=False)
            there = skipped
        super()._skip_entry(at, here, there)

    def _write_entry(self, at: int, entry: Entry, here: StateId, after: StateId, needed: int = 0) -> StateId:
        if after not in self._done_before:
            done = self._done_before[after] = self.rules.state(self.span.rule)
            if self.is_any_order or self.asks(at + 1):
                self.follow(done, after, 0 if self.is_any_order else at + 1)
            else:
                self.rules.skip(done, after)
        self.done.append(self._done_before[after])
        self.named.append(super()._write_entry(at, entry, here, self.done[at], needed))
        return self.named[at]

    def _write_value(self, named: StateId, schemas: list[SchemaAt], after: StateId) -> StateId:
        value = self.rules.state(self.span.rule)
        self.rules.scan(named, self.writer.punctuation.colon, value)
        self.write_member(len(self.named), value)  # the one that is being written
        self.writer.note_counted(value, after, schemas)
        return value

    def read_of(self, level: list[Any], is_whole: bool = True) -> list[int]:
        """As `Followed.read_of`."""
        return [self.number_of[name] for name in level[::2]]

    def left_of(self, value: dict[str, Any], read: list[int], left: list[int]) -> Members | None:
        """As `Followed.left_of`."""
        members = {self.number_of.get(name, -1): member for name, member in value.items()}
        members = {at: member for at, member in members.items() if at not in read}
        is_possible = members.keys() <= {*left} and {*left}.intersection(self.required) <= members.keys()
        return members if is_possible else None

    def next(self, left: list[int], n_read: int) -> list[int]:
        """As `Followed.next`."""
        required = [at for at in left if at in self.required]
        room = self.most - n_read - len(required)
        left = [at for at in left if room > 0 or at in required]
        if self.is_any_order:
            return left
        first = min(required, default=len(self.schemas))
        return [at for n, at in enumerate(left) if at <= first and n_read + len(left) - n >= self.least]

    def write_choice(self, at: int, refused: dict[Any, Any], here: StateId) -> None:
        """As `Followed.write_choice`."""
        rules, entry = self.rules, self.entries[at]
        named = rules.state(self.span.rule)
        rules.scan(here, self.writer.key_node(entry.name, entry.schemas), named, self.add(at))
        if not refused:
            return rules.skip(named, self.named[at])
        value = rules.state(self.span.rule)
        rules.scan(named, self.writer.punctuation.colon, value)
        return self.write_without(at, refused, value)

    def completions(self, left: list[int], n_read: int) -> float:
        """As `Followed.completions`."""
        needed = max(self.least - n_read, 0)
        n_counted = int(needed if self.most == inf else min(self.most - n_read, len(left)))
        found = [1.0] + [0.0] * n_counted  # by how many members came; those beyond are not counted, or cannot come
        for at in left:
            values = self.values_of(at)
            n_values = inf if values is None else len(values)
            more = [one and n_values and one * n_values for one in found]
            without = [0.0] * len(found) if at in self.required else found
            found = [one + other for one, other in zip(without, [0.0, *more], strict=False)]
            found[n_counted] += more[n_counted] if self.most == inf else 0
        return sum(found[needed:])


class FollowedArray(Followed):
    """Every array of a layout, in a rule that calls for new values. Its own items may have to differ, too."""

    kind = list

    def __init__(self, writer: Writer, layout: ArrayLayout, path: Path, span: Span, root: Followed | None) -> None:
        schemas = [layout.schemas_at(at) for at in range(most_followed_items(writer, layout))]
        self.unique = UniqueArray(writer, layout, path) if layout.is_unique else None  # of values that are all alike
        super().__init__(writer, schemas, False, path, writer.rule_within(span, path), root, span.rule)
        self.low = layout.low
        self.required = list(range(layout.low))
        self.items: list[StateId] = []  # by position, the state before its value

    def part_of(self, schemas: list[SchemaAt]) -> tuple[list[SchemaAt], list[SchemaAt]]:
        """As `Followed.part_of`; of two arrays that an item has to differ from the elements of, one is its own."""
        return super().part_of(schemas) if self.unique is None else ([], schemas)

    def place(self, schemas: list[SchemaAt], value: StateId, done: StateId) -> None:
        """As `Followed.place`."""
        if self.unique is None:
            return super().place(schemas, value, done)
        return self.unique.call(0, value, done, schemas)

    def write(self) -> None:
        """Write the edges of the span."""
        if self.unique is not None:
            check_number(self.writer, self.unique.layout, self.path)
        rules, lexemes = self.writer.rules, self.writer.punctuation
        here = rules.state(self.span.rule)
        rules.scan(self.span.start, lexemes.open_array, here)
        for at in range(len(self.schemas) + 1):  # `here` is where `at` items were read
            if self.asks(at):
                after = rules.state(self.span.rule)
                self.follow(here, after, at)
                here = after
            if at >= self.low:
                rules.scan(here, lexemes.close_array, self.span.end)
            if at < len(self.schemas):
                item, done = rules.state(self.span.rule), rules.state(self.span.rule)
                if at == 0:
                    rules.skip(here, item)
                else:
                    rules.scan(here, lexemes.comma, item)
                self.items.append(item)
                self.done.append(done)
                self.write_member(at, item)
                here = done

    def read_of(self, level: list[Any], is_whole: bool = True) -> list[int]:
        """As `Followed.read_of`."""
        return list(range(len(level) + (not is_whole)))

    def left_of(self, value: list[Any], read: list[int], left: list[int]) -> Members | None:
        """As `Followed.left_of`."""
        keys = [self._key_of(item) for item in value] if self.unique is not None else []
        if len({*keys}) < len(keys) or not self.low <= len(value) <= len(self.schemas):
            return None
        return dict(enumerate(value[len(read) :], len(read)))

    def next(self, left: list[int], n_read: int) -> list[int]:
        """As `Followed.next`."""
        return left[:1]

    def write_choice(self, at: int, refused: dict[Any, Any], here: StateId) -> None:
        """As `Followed.write_choice`."""
        if not refused:
            return self.writer.rules.skip(here, self.items[at])
        return self.write_without(at, refused, here)

    def completions(self, left: list[int], n_read: int) -> float:
        """As `Followed.completions`."""
        found, product = 0.0, 1.0
        for at in [*left, len(self.schemas)]:
            found += product if at >= self.low else 0
            if at < len(self.schemas):
                product *= self.n_values(at)
        return found

    def n_values(self, at: int) -> float:
        """How many values an item can have after those before it."""
        values = self.values_of(at)
        return inf if values is None else len(values) - (0 if self.unique is None else at)

    def _has_others(self, at: int, refused: dict[Any, Any]) -> bool:
        values = self.values_of(at)
        return values is None or self.n_values(at) > len(values.keys() & refused.keys())
