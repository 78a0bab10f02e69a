"""How values that differ from earlier ones are called for: the kinds of `Rules.call_new`.

Different texts of a string are different values, as their escapes are resolved before they are compared, and so are
different literals. Objects and arrays have several writings, but no token holds the whole of one with two keys, or with
a number in another writing; numbers themselves are so short that some do. Of open values there is always another one,
so that nothing has to be left out beforehand: strings that may go on, objects that may have another free key, arrays
that may have another item; whatever alternatives say of keys by their names. Objects and arrays whose members are known
are called for as open ones where what may become one before them is followed (followed_objects.py).

In: schemas of a place, or a node of strings. Out: a kind of edge. Cost: 0.1 ms for a string, once each.
"""

from __future__ import annotations

from collections.abc import Iterator

from llmask.grammar.kinds import CALL_NEW, CALL_OPEN, CALL_PLAIN, UNBOUNDED
from llmask.regex.nodes import RegexNodes

from ..lexical.strings import free_string, once, other_strings
from ..meaning.array_layout import ArrayLayout
from ..meaning.choices import overlaps, pairs_to_prove, settle
from ..meaning.conjunction import conjunction_of, with_alternative
from ..meaning.context import Context
from ..meaning.finite import finite_values
from ..meaning.object_layout import Layout, layout_of
from ..meaning.place import Conjunction, Part, SchemaAt, types_of
from ..meaning.scalars import range_of, string_node
from ..meaning.synthetic import of_types
from ..reading.pointers import Path

SCALARS = ("string", "number", "boolean", "null")
MOST_DEPTH = 3  # objects with required members
MOST_CHOICES = 2  # that are looked into
MOST_ALTERNATIVES = 8
MOST_ITEMS = 64  # of an array that is followed: each is written
MOST_SCALARS = 1024  # where none of them is an object or array
MOST_FOLLOWED = 500  # members of an object that is followed
MOST_COUNTED = 64  # where maxProperties counts them
MOST_VALUES = 64  # of a required member, to see that it has one


def kind_of_place(context: Context, schemas: list[SchemaAt], is_followed: bool = False) -> int:
    """Kind of edge that calls for a new value of a place; `is_followed`: known objects may be followed."""
    conjunction = settle(context, conjunction_of(context, schemas))
    if conjunction.false_at is not None or _may_be_number(context, conjunction):
        return CALL_NEW
    for one in _alternatives(context, conjunction):
        if one is None or not _all_are_open(context, one.parts, is_followed and not one.choices):
            return CALL_PLAIN
    return CALL_OPEN


def _may_be_number(context: Context, conjunction: Conjunction, depth: int = 0) -> bool:
    """Whether a number may be among the values; yes is said where looking for it takes long."""
    types = types_of(conjunction.parts)
    if conjunction.false_at is not None or ("number" not in types and "integer" not in types):
        return False
    if not conjunction.choices or depth == MOST_CHOICES or len(conjunction.choices[0].schemas) > MOST_ALTERNATIVES:
        return True
    chosen = (with_alternative(context, conjunction, 0, [one]) for one in conjunction.choices[0].schemas)
    return any(_may_be_number(context, settle(context, one), depth + 1) for one in chosen)


def _alternatives(context: Context, conjunction: Conjunction, depth: int = 0) -> Iterator[Conjunction | None]:
    """The first alternatives that list no values; None for those that are not looked into.

    What such a one leaves of choices speaks of named keys alone, so that other keys may be there or not.
    """
    if conjunction.false_at is not None:
        return
    whole = None if any(shape.has_values for _, _, shape in conjunction.parts) else conjunction
    if not conjunction.choices:
        yield whole
        return
    members = conjunction.choices[0].schemas
    if len(members) > MOST_ALTERNATIVES or depth == MOST_CHOICES or _has_overlaps(context, conjunction):
        is_whole = all(_names_keys(context, one) for choice in conjunction.choices for one in choice.schemas)
        yield whole if is_whole else None
    if depth == MOST_CHOICES or _has_overlaps(context, conjunction):
        return
    for member in members[:MOST_ALTERNATIVES]:
        chosen = settle(context, with_alternative(context, conjunction, 0, [member]))
        yield from _alternatives(context, chosen, depth + 1)


def _names_keys(context: Context, member: SchemaAt) -> bool:
    """Whether an alternative speaks of types and of keys by their names, and of nothing else."""
    found = conjunction_of(context, [member])
    for schema, _, shape in found.parts:
        if shape.has_string or shape.has_number or shape.has_array or shape.has_values or shape.has_except:
            return False
        if shape.has_unevaluated or schema.get("additionalProperties", True) not in (True, {}):
            return False
        if shape.has_object and not shape.lists_keys:
            return False
    return all(_names_keys(context, one) for choice in found.choices for one in choice.schemas)


def _has_overlaps(context: Context, conjunction: Conjunction) -> bool:
    """Whether alternatives of the first choice may lack values because others have them, too."""
    choice = conjunction.choices[0]
    if choice.keyword != "oneOf":
        return False
    rest = conjunction.copy()
    del rest.choices[0]
    return bool(overlaps(context, rest, choice, pairs_to_prove(context, rest, choice)))


def _all_are_open(context: Context, parts: list[Part], is_followed: bool) -> bool:
    """Whether all values are strings, objects or arrays that can go on in infinitely many ways."""
    for kind in types_of(parts):
        if kind == "string":
            is_open = _is_open(context, parts)
        elif kind == "object":
            layout = layout_of(context, parts, context.tells_by_key)
            is_open = _objects_are_open(context, layout) or (is_followed and can_be_followed(layout))
        elif kind == "array":
            arrays = ArrayLayout(context, parts)
            is_open = (is_followed and most_followed_items(context, arrays) > 0) or _arrays_are_open(context, arrays)
        else:
            is_open = False
        if not is_open:
            return False
    return True


def followed_part(context: Context, schemas: list[SchemaAt], path: Path) -> tuple[list[SchemaAt], list[SchemaAt]]:
    """The objects or arrays among the values of a member that can be followed, and the other values; [] for none."""
    found: list[list[SchemaAt]] = []
    can_all = True
    for kinds in (("object",), ("array",), SCALARS):
        wanted = [*schemas, of_types(context, kinds, path)]
        one = settle(context, conjunction_of(context, wanted))
        is_there = one.false_at is None and len(types_of(one.parts)) > 0
        found.append(wanted if is_there else [])
        if is_there and kinds is not SCALARS:
            is_plain = not one.choices and not any(shape.has_values for _, _, shape in one.parts)
            can_all &= is_plain and (
                can_be_followed(layout_of(context, one.parts))
                if kinds == ("object",)
                else most_followed_items(context, ArrayLayout(context, one.parts)) > 0
            )
    objects, arrays, others = found
    return (objects or arrays, others) if can_all and not (objects and arrays) else ([], [])


def can_be_followed(layout: Layout) -> bool:
    """Whether known objects can be followed while one is read, see followed_objects.py."""
    n_entries = len(layout.entries)
    most = MOST_FOLLOWED if layout.high is None or layout.high >= n_entries else MOST_COUNTED
    return not (layout.cells or layout.asks_for_keys) and max(layout.low, 1) <= n_entries <= most


def _objects_are_open(context: Context, layout: Layout) -> bool:
    """Whether another free key may always follow."""
    if layout.high is not None:
        return False
    nodes = context.nodes
    others = other_strings(nodes, [entry.name for entry in layout.entries]) if layout.cells else nodes.EMPTY
    for keys, schemas, *_ in layout.cells:
        is_infinite = keys == others or kind_of_strings(nodes, keys) == CALL_OPEN
        if is_infinite and is_fulfilled(context, schemas):
            return True
    return False


def most_followed_items(context: Context, layout: ArrayLayout) -> int:
    """How many items an array has at most, if known arrays can be followed (followed_objects.py), else 0."""
    high = layout.high
    if high is None and any(member is False for member, _ in layout.written_at(layout.n_prefix)):
        high = layout.n_prefix
    if layout.is_unique and high != 0:
        most = context.options.limits.max_unique_values
        last = layout.n_prefix if high is None else min(high - 1, layout.n_prefix)
        values = [finite_values(context, layout.schemas_at(at), most) for at in range(last + 1)]
        if values[0] is not None and layout.n_prefix == 0:
            high = min(len(values[0]), UNBOUNDED if high is None else high)
        elif any(one is not None for one in values):
            return 0  # an item may have to leave its value to a later one, see unique_arrays.py
    if layout.is_not_unique or layout.counted or high is None or not layout.low <= high <= MOST_SCALARS:
        return 0
    each = (conjunction_of(context, layout.schemas_at(at)).parts for at in range(min(high, layout.n_prefix + 1)))
    return high if high <= MOST_ITEMS or all({"object", "array"}.isdisjoint(types_of(one)) for one in each) else 0


def _arrays_are_open(context: Context, layout: ArrayLayout) -> bool:
    """Whether another item may always follow."""
    if layout.high is not None or layout.is_not_unique or layout.counted:
        return False
    schemas = layout.schemas_at(layout.n_prefix)
    if layout.is_unique and finite_values(context, schemas, context.options.limits.max_unique_values) is not None:
        return False
    return is_fulfilled(context, schemas)


def is_fulfilled(context: Context, schemas: list[SchemaAt], depth: int = 0) -> bool:
    """Whether it is plain to see that some value fulfils schemas."""
    found = settle(context, conjunction_of(context, schemas))
    if not found.parts and not found.choices:
        return found.false_at is None
    for one in _alternatives(context, found):
        if one is not None and not one.choices and _has_value(context, one.parts, depth):
            return True
    return bool(finite_values(context, schemas, MOST_VALUES))


def _has_value(context: Context, parts: list[Part], depth: int) -> bool:
    """Whether it is plain to see that there is an open string, a number, an empty array, or an object."""
    types = types_of(parts)
    for kind in ("number", "integer"):
        wanted = range_of(context, parts, kind) if kind in types else None
        if kind in types and (wanted is None or wanted.low is None or wanted.high is None):
            return True
    if "object" in types:
        layout = layout_of(context, parts, context.tells_by_key)
        required = [entry.schemas for entry in layout.entries if entry.is_required]
        is_looked_at = len(required) <= (MOST_VALUES if depth < MOST_DEPTH else 0)
        can_end = is_looked_at and layout.low <= len(required) and not layout.asks_for_keys
        if can_end and all(is_fulfilled(context, schemas, depth + 1) for schemas in required):
            return True
    return ("array" in types and ArrayLayout(context, parts).low == 0) or _is_open(context, parts)


def _is_open(context: Context, parts: list[Part]) -> bool:
    if "string" not in types_of(parts):
        return False
    return kind_of_strings(context.nodes, string_node(context, parts)) == CALL_OPEN


def kind_of_strings(nodes: RegexNodes, node: int) -> int:
    """Kind of edge that calls for a new string of a node."""
    if node == free_string(nodes):
        return CALL_OPEN
    return once(nodes, (__name__, node), lambda: CALL_OPEN if nodes.is_open(node) else CALL_PLAIN)
