"""What all schemas of a place say of an object: named keys, free keys, how many, and keys that must be among them.

Several parts are combined exactly: a key is described by what each part says of it (its property, every pattern that
matches it, or additionalProperties), and free keys are divided into cells by the patterns that match them, each cell
with its own key language; cells without any key are left out. Where there would be many, patterns whose values have the
same types divide keys as one, if some value fulfils all of them together: what a value must fulfil depends on its key.

In: parts. Out: a `Layout`. Cost: a microsecond a property; a test of emptiness for each cell and pattern.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import NamedTuple

from llmask.errors import LimitExceeded
from llmask.work import spend

from ..lexical.strings import free_string, other_strings, spellings_of
from ..reading.keywords import EVERY_KEY, SOME_KEY
from ..reading.pointers import pointer
from .conjunction import conjunction_of, is_false, name_language
from .context import Context
from .place import Part, SchemaAt, count_range, types_of
from .scalars import matches_pattern, pattern_string
from .synthetic import KeySet, same_schema

MAX_CELLS = 512  # sets of free keys that the same patterns match
FEW_CELLS = 64  # that are written beforehand
FEW_PATTERNS = 8
CELL_WORK = 50  # two exact tests of emptiness, counted in subschemas visited


class Entry(NamedTuple):
    """A key with a name of its own; `sets` has bit n set where it is in set number n of those that were asked for."""

    name: str
    schemas: list[SchemaAt]
    is_required: bool
    sets: int = 0


class Cell(NamedTuple):
    """Free keys that the same patterns match: the node of the keys, what their values must fulfil.

    With `parts` the keys have different values (`key_schemas`): `schemas` is what values of all of them fulfil.
    """

    keys: int
    schemas: list[SchemaAt]
    sets: int = 0
    parts: list[Part] | None = None


class Layout(NamedTuple):
    """One object: named keys in order, free keys, how many keys there may be (`high` None: any number).

    asks_for_keys  one of some set of keys must be there, too (SOME_KEY), see key_conditions.py
    """

    entries: list[Entry]
    cells: list[Cell]
    low: int
    high: int | None
    asks_for_keys: bool = False


def keys_node(context: Context, keys: KeySet) -> int:
    """Node of every spelling of every key of a set."""
    nodes = context.nodes

    def found_by(pattern: str, is_negated: bool = False) -> int:
        return pattern_string(context, pattern, keys.path, "patternProperties", is_negated)

    members = [other_strings(nodes, keys.without) if keys.without else free_string(nodes)]
    if keys.pattern is not None:
        members.append(found_by(keys.pattern))
    if keys.refused_by is not None:
        members.append(nodes.complement(name_language(context, [keys.refused_by], is_most=True)))
    members += [found_by(pattern, is_negated=True) for pattern in keys.without_patterns]
    return nodes.intersect(members) if len(members) > 1 else members[0]


def layout_of(context: Context, parts: list[Part], tells_by_key: bool = False) -> Layout:
    """The layout of all `parts` together.

    `tells_by_key`: many sets of free keys may be one cell, whose values depend on the key.

    Raises
    ------
    LimitExceeded
        When patterns divide the keys into too many sets.
    """
    layout = _layout_as_written(context, parts, tells_by_key)
    if not context.options.closed:
        return layout
    entries = [entry._replace(schemas=context.closed(entry.schemas)) for entry in layout.entries]
    return layout._replace(
        entries=entries, cells=[cell._replace(schemas=context.closed(cell.schemas)) for cell in layout.cells]
    )


def _layout_as_written(context: Context, parts: list[Part], tells_by_key: bool) -> Layout:
    subjects = [part for part in parts if part[2].has_object]
    if not subjects:
        return Layout([], [Cell(free_string(context.nodes), [])], 0, None)
    if len(subjects) == 1 and subjects[0][2].has_plain_keys:
        return Layout(*plain_keys(context, subjects[0]), *count_range(subjects, "minProperties", "maxProperties"))
    low, high = count_range(subjects, "minProperties", "maxProperties")
    names: dict[str, bool] = {}
    for schema, _, _ in subjects:
        for name in schema.get("properties", ()):
            names[name] = False
    for schema, _, _ in subjects:
        for name in schema.get("required", ()):
            names[name] = True
    context.count_work(len(names) * len(subjects) // 4)
    asks_for_keys = any(SOME_KEY in schema for schema, _, _ in subjects)
    return Layout(*divided_keys(context, subjects, names, [], tells_by_key), low, high, asks_for_keys)


def divided_keys(
    context: Context, subjects: list[Part], names: dict[str, bool], wanted: list[int], tells_by_key: bool = False
) -> tuple[list[Entry], list[Cell]]:
    """Named keys (whether they are required) and free ones, divided by the nodes `wanted`, whose bits they have."""
    entries = []
    for name, is_required in names.items():
        schemas = key_schemas(context, subjects, name)
        if is_required or not is_false(schemas):
            bits = sum(matches_pattern(context, keys, name) << at for at, keys in enumerate(wanted))
            entries.append(Entry(name, schemas, is_required, bits))
    groups = _groups(context, subjects, wanted, FEW_CELLS if tells_by_key else MAX_CELLS)
    if groups is None and tells_by_key:
        groups = _groups(context, subjects, wanted, FEW_CELLS, by_types=True)
        if groups is not None and not any(context.place_key(group.schemas) in context.void for group in groups):
            return entries, [cell._replace(parts=subjects) for cell in _cells(context, groups, names)]
        groups = _groups(context, subjects, wanted, MAX_CELLS)
    if groups is None:
        raise LimitExceeded(
            f"patterns divide the keys of an object into more than {MAX_CELLS} sets",
            pointer(subjects[0][1]),
            "Use fewer patternProperties that overlap.",
        )
    return entries, _cells(context, groups, names)


def plain_keys(context: Context, part: Part) -> tuple[list[Entry], list[Cell]]:
    """Named and free keys of one part without patterns; most objects are this."""
    schema, path, _ = part
    properties = schema.get("properties", {})
    required = schema.get("required", ())
    if len(required) > 4:
        required = dict.fromkeys(required)
    additional = schema.get("additionalProperties", True)
    entries = [
        Entry(name, [(member, (path, "properties", name))], name in required)
        for name, member in properties.items()
        if member is not False or name in required
    ]
    others: list[SchemaAt] = [] if additional is True else [(additional, (path, "additionalProperties"))]
    names = properties
    undeclared = [name for name in required if name not in properties]
    if undeclared:
        names = dict.fromkeys((*properties, *undeclared))
        entries += [Entry(name, others, True) for name in dict.fromkeys(undeclared)]
    if additional is False:
        return entries, []
    nodes = context.nodes
    return entries, [Cell(other_strings(nodes, names) if names else free_string(nodes), others)]


def _patterns(context: Context, part: Part) -> list[tuple[int, SchemaAt]]:
    """Nodes of keys that a part describes by patterns, with what their values must fulfil."""
    schema, path, shape = part

    def make() -> list[tuple[int, SchemaAt]]:
        alike: dict[Hashable, tuple[list[str], SchemaAt]] = {}  # patterns with the same schema are one
        for pattern, member in schema.get("patternProperties", {}).items():
            at = (path, "patternProperties", pattern)
            same = same_schema(context, member, at) if len(schema["patternProperties"]) > 1 else None
            patterns, _ = alike.setdefault(same, ([], (member, at)))
            patterns.append(pattern)
        found = [
            (pattern_string(context, tuple(patterns) if patterns[1:] else patterns[0], path, "patternProperties"), at)
            for patterns, at in alike.values()
        ]
        if shape.has_key_sets and EVERY_KEY in schema:
            keys, member_at = schema[EVERY_KEY]
            found.append((keys_node(context, keys), member_at))
        return found

    return context.synthetic(("patterns", context.identity(schema, path)), make)


def _matching(context: Context, patterns: list[tuple[int, SchemaAt]], name: str) -> list[SchemaAt]:
    """What the patterns say that match a key; of many, halves are asked together, as most match nothing."""
    n = len(patterns)
    if n <= FEW_PATTERNS:
        return [member for node, member in patterns if matches_pattern(context, node, name)]
    found = []
    for half in (patterns[: n // 2], patterns[n // 2 :]):
        nodes = [node for node, _ in half]
        any_of_them = context.synthetic(("any of", *nodes), partial(context.nodes.union, nodes))
        if matches_pattern(context, any_of_them, name):
            found += _matching(context, half, name)
    return found


def key_schemas(context: Context, parts: list[Part], name: str) -> list[SchemaAt]:
    """What the value under the key `name` must fulfil; `false` among it when the key is not allowed."""
    schemas: list[SchemaAt] = []
    spend(1 + len(parts) // 8)
    for part in parts:
        schema, path, shape = part
        if not shape.has_object:
            continue
        is_described = False
        if name in schema.get("properties", ()):
            schemas.append((schema["properties"][name], (path, "properties", name)))
            is_described = True
        if "patternProperties" in schema or shape.has_key_sets:
            described = _matching(context, _patterns(context, part), name)
            schemas += described
            is_described |= bool(described)
        if not is_described and "additionalProperties" in schema:
            schemas.append((schema["additionalProperties"], (path, "additionalProperties")))
        if shape.has_names:
            names = schema["propertyNames"], (path, "propertyNames")
            language = context.synthetic(("names", context.identity(*names)), partial(name_language, context, [names]))
            if not matches_pattern(context, language, name):
                schemas.append((False, (path, "propertyNames")))
    return schemas


def entries_of(context: Context, cell: Cell, names: list[str]) -> list[Entry]:
    """Some keys of a cell as keys with a name of their own."""
    parts, schemas = cell.parts, cell.schemas
    return [Entry(one, key_schemas(context, parts, one) if parts else schemas, False, cell.sets) for one in names]


class _Group(NamedTuple):
    """Keys in all nodes of `inside` and none of `outside`."""

    inside: list[int]
    outside: list[int]
    schemas: list[SchemaAt]
    is_described: bool  # by a pattern of the part in hand
    sets: int


def _groups(
    context: Context, parts: list[Part], wanted: list[int], most: int, by_types: bool = False
) -> list[_Group] | None:
    """All keys that are allowed, divided by the patterns that match them; None for more than `most` groups.

    `by_types`: patterns whose values have the same types count as one, and what each of them says holds together.
    """
    groups = [_Group([], [], [], False, 0)]
    for schema, path, shape in parts:
        if shape.has_names:
            groups[0].inside.append(name_language(context, [(schema["propertyNames"], (path, "propertyNames"))]))
    for part in parts:
        schema, path, _ = part
        patterns = [(node, [member]) for node, member in _patterns(context, part)]
        for node, members in _with_types(context, patterns) if by_types else patterns:
            refined = []
            for group, is_inside in _divided(context, groups, node):
                if is_inside:
                    group = group._replace(schemas=[*group.schemas, *members], is_described=True)
                    if len(group.schemas) > 1 and _allow_nothing(context, group.schemas):
                        continue
                refined.append(group)
            groups = refined
            if len(groups) > most:
                return None
        others: SchemaAt = (schema.get("additionalProperties", True), (path, "additionalProperties"))
        after = []
        for group in groups:
            if not group.is_described and others[0] is not True:
                group = group._replace(schemas=[*group.schemas, others])
            if not is_false(group.schemas):
                schemas = [place for place in group.schemas if place[0] is not True]
                after.append(group._replace(schemas=schemas, is_described=False))
        groups = after
    for at, node in enumerate(wanted):
        groups = [
            group._replace(sets=group.sets | is_inside << at) for group, is_inside in _divided(context, groups, node)
        ]
        if len(groups) > most:
            return None
    return groups


def _cells(context: Context, groups: list[_Group], names: dict[str, bool]) -> list[Cell]:
    """Free keys of groups."""
    nodes = context.nodes
    cells = []
    for group in groups:
        declared = [
            name
            for name in names
            if all(matches_pattern(context, node, name) for node in group.inside)
            and not any(matches_pattern(context, node, name) for node in group.outside)
        ]
        outside = [*group.outside, spellings_of(nodes, declared)] if declared else group.outside
        keys = _keys(context, group.inside, outside)
        if not nodes.is_empty(keys):
            cells.append(Cell(keys, group.schemas, group.sets))
    return cells


def _with_types(context: Context, patterns: list[tuple[int, list[SchemaAt]]]) -> list[tuple[int, list[SchemaAt]]]:
    """Patterns whose values have the same types as one."""
    alike: dict[Hashable, tuple[list[int], list[SchemaAt]]] = {}
    for node, members in patterns:
        conjunction = conjunction_of(context, members)
        types = () if conjunction.false_at is not None else types_of(conjunction.parts)
        nodes, together = alike.setdefault(types, ([], []))
        nodes.append(node)
        together += members
    return [(context.nodes.union(nodes), together) for nodes, together in alike.values()]


def _allow_nothing(context: Context, schemas: list[SchemaAt]) -> bool:
    """Whether it is plain to see that no value fulfils all of them."""
    conjunction = conjunction_of(context, schemas)
    return conjunction.false_at is not None or not types_of(conjunction.parts)


def _divided(context: Context, groups: list[_Group], node: int) -> list[tuple[_Group, bool]]:
    """Each group in two, the one whose keys `node` matches first; those that it does not divide as they are."""
    nodes = context.nodes
    found = []
    for group in groups:
        context.count_work(CELL_WORK)
        context.check_nodes()
        inside, outside = [*group.inside, node], [*group.outside, node]
        if nodes.is_empty(_keys(context, inside, group.outside)):
            found.append((group, False))
        elif nodes.is_empty(_keys(context, group.inside, outside)):
            found.append((group, True))
        else:
            found += [(group._replace(inside=inside), True), (group._replace(outside=outside), False)]
    return found


def _keys(context: Context, inside: list[int], outside: list[int]) -> int:
    nodes = context.nodes
    excluded = [nodes.complement(nodes.union(outside))] if outside else []
    return nodes.intersect([*(inside or [free_string(nodes)]), *excluded])
