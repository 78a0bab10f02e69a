"""Objects and arrays of a bounded length that differ from those before them, as long as they can become another one.

While a member may still come that can always go on, in endlessly many ways (an open string, a free array), nothing has
to be left out. Where none may, the known objects are asked for that this one may still become (`Rules.follow_guard`):
those that have the members which were read. What follows is written for these, and almost always that is what is
written anyway; what leads to no other object is left out:

    completions(R)    how many objects can come of the members R that are left: for each the number of its values, and
                      one more if it may be absent
    value v of e      is left out if completions(R without e) of the known objects have it: all that can come are known
    "}" and ","       where the object is known as it is; where no key is left that has a value
    nothing is left   the member before is refused at its last byte: it can go on, or its rule leaves it out

    any order   choose -key i [add i]-> . -":"-> . -value-> done -[follow]-> after
                after -","-> choose    after -"}"-> end, if the required ones are there
    in order    choose[i] -key i-> ... done[i] -[follow]-> after[i] -","-> choose[i + 1]
                choose[i] -skip-> choose[i + 1]  if i is optional; [follow] where it is the last one that can go on
    array       item[i] -value-> done[i] -[follow]-> after[i] -","-> item[i + 1]
                after[i] -"]"-> end, if there are enough

In: the layout of an object without free keys, or of an array. Out: states and edges between two given states; later,
states for known ones. Cost: that of an object in any order; a state for k known ones 50 us and 10 us for each and each
member.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import partial
from math import inf
from typing import Any

from llmask.errors import LimitExceeded
from llmask.grammar.kinds import CALL_OPEN, StateId

from ..lexical.number_machines import MAX_DIGITS
from ..meaning.array_layout import ArrayLayout
from ..meaning.finite import finite_values
from ..meaning.instances import equality_key, values_of_texts
from ..meaning.object_layout import Entry
from ..meaning.place import SchemaAt
from ..reading.pointers import Path
from .different_objects import all_but
from .new_values import kind_of_place, most_followed_items
from .set_objects import CountedObject
from .writer import Span, Writer

Members = dict[int, Any]  # values by the numbers of members


def _can_be_listed(value: Any) -> bool:
    """Whether no number has too many digits."""
    if type(value) is list or type(value) is dict:
        return all(map(_can_be_listed, value.values() if type(value) is dict else value))
    if type(value) is Decimal:
        return max(abs(value.adjusted()), len(value.as_tuple().digits)) <= MAX_DIGITS
    return type(value) is not int or abs(value) < 10**MAX_DIGITS


class Followed:
    """An object or array, and what is remembered of it as long as sequences are read.

    Attributes
    ----------
    schemas : of its members, by number.
    open_members, last_open : members that can always go on; the last of them, or -1.
    done : by member, the state after its value.
    """

    def __init__(self, writer: Writer, schemas: list[list[SchemaAt]], path: Path, span: Span) -> None:
        self.writer = writer
        self.schemas = schemas
        self.path = path
        self.span = span
        self.open_members = [at for at, one in enumerate(schemas) if kind_of_place(writer, one) == CALL_OPEN]
        self.last_open = max(self.open_members, default=-1)
        self.done: list[StateId] = []
        self._values: dict[int, dict[Any, Any] | None] = {}

    def follow(
        self,
        here: StateId,
        target: StateId,
        state_for: Callable[[list[Any]], StateId | None],
        required: Iterable[int] = (),
    ) -> None:
        """A skip for which known values are followed: `state_for` gives the state to go on in, None for nowhere."""

        def following(texts: list[bytes]) -> StateId | None:
            try:
                values = values_of_texts(texts)
            except LimitExceeded:  # see `_key_of`
                return target
            return state_for(values)

        self.writer.rules.skip(here, target, self.writer.rules.follow_guard(len(self.writer.following), required))
        self.writer.following.append(following)

    def write_without(self, at: int, refused: dict[Any, Any], value: StateId) -> None:
        """Write a value of a member, any but the refused ones; the run goes on as after every value."""
        rules = self.writer.rules
        done = rules.state(self.span.rule)
        others = all_but(self.writer, list(refused.values()), self.path)
        self.writer.place([*self.schemas[at], others], self.span.rule, value, done, self.span.depth)
        rules.skip(done, self.done[at])

    def completions(self, left: list[int]) -> float:
        """How many values can come of the members that are left."""
        raise NotImplementedError  # the kinds of objects below say it

    def refused(self, at: int, after: list[int], known: list[Members]) -> dict[Any, Any]:
        """Values of a member after which all that can come is known; none of one that can go on."""
        if at in self.open_members:
            return {}
        n_completions = self.completions(after)
        if n_completions > len(known):
            return {}
        times: dict[Any, list[Any]] = {}
        for members in known:
            if at in members and all(other == at or self._can_come(other, members, after) for other in members):
                key = self._key_of(members[at])
                if key is not None:
                    times.setdefault(key, []).append(members[at])
        return {key: values[0] for key, values in times.items() if len(values) >= n_completions}

    def _key_of(self, value: Any) -> Any:
        """What equal values share; None where no schema can list it: such objects are refused at their ends."""
        return equality_key(value, self.path) if _can_be_listed(value) else None

    def _can_come(self, at: int, members: Members, after: list[int]) -> bool:
        values = self.values_of(at)
        return at in after and (values is None or self._key_of(members[at]) in values)

    def has_others(self, at: int, refused: dict[Any, Any]) -> bool:
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


class FollowedObject(CountedObject, Followed):
    """Every object of some members, in a rule that calls for new values.

    Attributes
    ----------
    named : by member, the state after its key.
    """

    def __init__(self, writer: Writer, entries: list[Entry], is_any_order: bool, path: Path, span: Span) -> None:
        CountedObject.__init__(self, writer, entries, [], 0, None, is_any_order, path, span)
        Followed.__init__(self, writer, [entry.schemas for entry in entries], path, self.span)
        self.names = [entry.name for entry in entries]
        self.number_of = {name: at for at, name in enumerate(self.names)}
        self.named: list[StateId] = []
        self._done_before: dict[StateId, StateId] = {}

    # --- the object

    def open(self, is_needed: bool) -> StateId:
        """As `MembersWriter.open`; where no member can always go on, known objects are followed from here on."""
        if self.last_open >= 0:
            return super().open(is_needed)
        rules, lexemes, span = self.rules, self.writer.punctuation, self.span
        opened, begun, choose = (rules.state(span.rule) for _ in range(3))
        rules.scan(span.start, lexemes.open_object, opened)
        self._follow(opened, begun, 0, may_close=True)
        rules.skip(begun, choose)
        if not is_needed:
            rules.scan(begun, lexemes.close_object, span.end)
        return choose

    def _follow(self, here: StateId, target: StateId, first: int, may_close: bool) -> None:
        """Follow known objects before member number `first` or a later one; `may_close`: no comma was read."""
        required = self.open_members if self.is_any_order else ()
        self.follow(here, target, lambda values: self._state_for(values, target, first, may_close), required)

    def _skip_entry(self, at: int, here: StateId, there: StateId) -> None:
        if at == self.last_open:
            self._follow(here, there, at + 1, may_close=False)
        else:
            super()._skip_entry(at, here, there)

    def _write_entry(self, at: int, entry: Entry, here: StateId, after: StateId, needed: int = 0) -> StateId:
        if after not in self._done_before:
            done = self._done_before[after] = self.rules.state(self.span.rule)
            if self.is_any_order or at >= self.last_open:
                self._follow(done, after, 0 if self.is_any_order else at + 1, may_close=True)
            else:
                self.rules.skip(done, after)
        self.done.append(self._done_before[after])
        self.named.append(super()._write_entry(at, entry, here, self.done[at], needed))
        return self.named[at]

    def _write_value(self, named: StateId, schemas: list[SchemaAt], after: StateId) -> StateId:
        return self.value(named, schemas, after)

    # --- what may follow, for known objects

    def _state_for(self, values: list[Any], target: StateId, first: int, may_close: bool) -> StateId | None:
        """The state in which an object goes on that may become one of some values; None where all it can be is known.

        One of the values is a list of the object as it was read.
        """
        ((read,),) = (value for value in values if type(value) is list)
        left = [at for at in range(first, len(self.names)) if self.names[at] not in read]
        found = [self._left_of(value, read, left) for value in values if type(value) is dict]
        known = [members for members in found if members is not None and (members or may_close)]
        is_whole = {*left}.isdisjoint(self.required)
        may_end = may_close and is_whole and {} not in known
        refused = {at: self.refused(at, self._after(at, left), known) for at in self._next(left)}
        keys = [at for at, others in refused.items() if self.has_others(at, others)]
        if len(keys) == len(refused) and not any(refused.values()) and may_end == (may_close and is_whole):
            return target
        if not keys and not may_end:
            return None
        rules, lexemes = self.writer.rules, self.writer.punctuation
        here = rules.state(self.span.rule)
        if may_end:
            rules.scan(here, lexemes.close_object, self.span.end)
        chosen = here
        if keys and may_close and read:
            chosen = rules.state(self.span.rule)
            rules.scan(here, lexemes.comma, chosen)
        for at in keys:
            named = rules.state(self.span.rule)
            rules.scan(chosen, self.writer.key_node(self.names[at], self.schemas[at]), named, self.add(at))
            if refused[at]:
                value = rules.state(self.span.rule)
                rules.scan(named, lexemes.colon, value)
                self.write_without(at, refused[at], value)
            else:
                rules.skip(named, self.named[at])
        return here

    def _left_of(self, value: dict[str, Any], read: dict[str, Any], left: list[int]) -> Members | None:
        """The members of a known object that are still to come; None where they cannot come."""
        members = {self.number_of.get(name, -1): member for name, member in value.items() if name not in read}
        is_possible = members.keys() <= {*left} and {*left}.intersection(self.required) <= members.keys()
        return members if is_possible else None

    def _next(self, left: list[int]) -> list[int]:
        """Members that may come next."""
        if self.is_any_order:
            return left
        first = min((at for at in left if at in self.required), default=len(self.names))
        return [at for at in left if at <= first]

    def _after(self, at: int, left: list[int]) -> list[int]:
        """Members that are left after one of them."""
        return [other for other in left if other != at and (self.is_any_order or other > at)]

    def completions(self, left: list[int]) -> float:
        """As `Followed.completions`."""
        found = 1.0
        for at in left:
            values = self.values_of(at)
            found *= inf if values is None else len(values) + (at not in self.required)
        return found


# --- arrays


class FollowedArray(Followed):
    """Every array of a layout, in a rule that calls for new values."""

    def __init__(self, writer: Writer, layout: ArrayLayout, path: Path, span: Span) -> None:
        high = most_followed_items(layout)
        schemas = [layout.schemas_at(at) for at in range(high)]
        super().__init__(writer, schemas, path, writer.rule_within(span, path))
        self.low = layout.low
        self.items: list[StateId] = []  # by position, the state before its value

    def write(self) -> None:
        """Write the edges of the span."""
        rules, lexemes = self.writer.rules, self.writer.punctuation
        here = rules.state(self.span.rule)
        rules.scan(self.span.start, lexemes.open_array, here)
        for at in range(len(self.schemas) + 1):  # `here` is where `at` items were read
            if at > self.last_open:
                after = rules.state(self.span.rule)
                self.follow(here, after, partial(self._state_for, target=after))
                here = after
            if at >= self.low:
                rules.scan(here, lexemes.close_array, self.span.end)
            if at < len(self.schemas):
                item, done = rules.state(self.span.rule), rules.state(self.span.rule)
                if at == 0:
                    rules.skip(here, item)
                else:
                    rules.scan(here, lexemes.comma, item)
                self.writer.place(self.schemas[at], self.span.rule, item, done, self.span.depth)
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
        here = rules.state(self.span.rule)
        if may_end:
            rules.scan(here, lexemes.close_array, self.span.end)
        if goes_on:
            item = here
            if at > 0:
                item = rules.state(self.span.rule)
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
