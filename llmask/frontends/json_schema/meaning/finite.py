"""Places with few values: all of them, listed.

Where values must differ from each other, a place that has few of them runs out, so that has to be known beforehand.
What is not found out is taken to have many: a place with a choice of many alternatives that list no values, or values
nested deep.

In: schemas that hold at one place, a greatest number of values. Out: the values, or None.
Cost: microseconds for types and ranges; about 75 us for each state of a pattern that is looked at, once each.
"""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from typing import Any

from llmask.frontends.regex.json_strings import RAW, SHORT_ESCAPES
from llmask.regex.code_points import TEXT, CodePointSet
from llmask.regex.nodes import RegexNodes
from llmask.regex.utf8 import utf8_char

from ..lexical.numbers import NumberRange, multiples_between
from ..lexical.strings import free_string, once
from .array_layout import ArrayLayout
from .choices import is_void, settle
from .conjunction import conjunction_of, with_alternative
from .context import Context
from .instances import allowed_values, equality_key, fulfilling, fulfilling_all, listed_by
from .object_layout import Cell, Entry, entries_of, layout_of
from .place import Conjunction, Part, SchemaAt, types_of
from .scalars import range_of, string_node

MAX_ALTERNATIVES = 64  # besides those that list values
MAX_DEPTH = 5
FEW_KEYS = 64  # free keys that are so few are written as declared ones
MAX_MULTIPLES = 4  # more of them than values: some may be excluded
MAX_LEVELS = 200  # bytes of a string
ROWS_PER_UNIT = 2  # arrays that are made, counted in subschemas visited
STATE_WORK = 20  # a state of a pattern, counted in subschemas visited


def finite_values(context: Context, schemas: list[SchemaAt], most: int, depth: int = 0) -> list[Any] | None:
    """Every value that fulfils `schemas`, each once; None when there are more than `most`, or it is not found out."""
    if depth > MAX_DEPTH:
        return None
    conjunction = conjunction_of(context, schemas)
    found = _values_of(context, conjunction, most, depth)
    if found is None:
        return [] if is_void(context, conjunction) else None
    path = schemas[0][1] if schemas else ()
    distinct = {equality_key(value, path): value for value in found}
    context.count_work(len(distinct))
    kept = fulfilling_all(context, list(distinct.values()), conjunction)
    return kept if len(kept) <= most else None


def _values_of(context: Context, conjunction: Conjunction, most: int, depth: int) -> list[Any] | None:
    """Values among which are all that fulfil a conjunction."""
    conjunction = settle(context, conjunction)
    if conjunction.false_at is not None:
        return []
    if not conjunction.choices:
        return _values_of_parts(context, conjunction.parts, most, depth)
    found: list[Any] = []
    schemas = conjunction.choices[0].schemas
    if len(schemas) > MAX_ALTERNATIVES + MAX_MULTIPLES * most:
        return None
    others = []
    for member in schemas:
        listed = listed_by(context, *member)
        if listed is None:
            others.append(member)
        else:
            found += listed
    if len(others) > MAX_ALTERNATIVES:
        return None
    found = fulfilling(context, found, conjunction.parts)
    for member in others:
        values = _values_of(context, with_alternative(context, conjunction, 0, [member]), most, depth)
        if values is None or len(found) > most:
            return None
        found += values
    return found


def _values_of_parts(context: Context, parts: list[Part], most: int, depth: int) -> list[Any] | None:
    for part in parts:
        listed = allowed_values(part)
        if listed is not None:
            return fulfilling(context, listed, parts)
    found: list[Any] = []
    for kind in types_of(parts):
        if kind == "null":
            values: list[Any] | None = [None]
        elif kind == "boolean":
            values = [False, True]
        elif kind == "string":
            values = texts_of(context, string_node(context, parts), most)
        elif kind == "array":
            values = _arrays(context, ArrayLayout(context, parts), most, depth)
        elif kind == "object":
            values = _objects(context, parts, most, depth)
        else:
            values = _numbers(range_of(context, parts, kind), kind == "integer", most)
        if values is None or len(found) > most:
            return None
        found += values
    return found


def _numbers(wanted: NumberRange | None, is_integer: bool, most: int) -> list[Any] | None:
    if wanted is None or wanted.low is None or wanted.high is None:
        return None
    if wanted.low >= wanted.high:
        return [wanted.low] if wanted.low == wanted.high and wanted.holds(wanted.low) else []
    if wanted.divisor is None and not is_integer and not wanted.is_integer:
        return None
    multiples = multiples_between(wanted.divisor or Fraction(1), wanted.low, wanted.high, MAX_MULTIPLES * most + 1)
    return None if multiples is None else [value for value in multiples if wanted.holds(value)]


def _arrays(context: Context, layout: ArrayLayout, most: int, depth: int) -> list[Any] | None:
    found: list[Any] = []
    rows: list[list[Any]] = [[]]
    index = 0
    while True:
        if index >= layout.low:
            found += rows
        if layout.high is not None and index >= layout.high:
            return found
        values = finite_values(context, layout.schemas_at(min(index, layout.n_prefix)), most, depth + 1)
        # of values that differ a row leaves out as many at most as it has
        if values is None or len(rows) * (len(values) - index * layout.is_unique) > most:
            return None
        context.count_work(len(rows) * len(values) // ROWS_PER_UNIT)
        rows = [[*row, value] for row in rows for value in values]
        if layout.is_unique:
            rows = [row for row in rows if len({equality_key(value, ()) for value in row}) == len(row)]
        if len(found) + len(rows) > most:
            return None
        if not rows:
            return found
        index += 1


def _objects(context: Context, parts: list[Part], most: int, depth: int) -> list[Any] | None:
    layout = layout_of(context, parts, context.tells_by_key)
    required = [entry for entry in layout.entries if entry.is_required]
    if any(finite_values(context, entry.schemas, 0, depth + 1) == [] for entry in required):
        return []
    is_full = layout.high is not None and layout.high <= len(required)
    entries = required if is_full else list(layout.entries)
    for cell in () if is_full else layout.cells:
        if not cell.parts and finite_values(context, cell.schemas, 0, depth + 1) == []:
            continue
        names = texts_of(context, cell.keys, most)
        if names is None:
            return None
        entries += entries_of(context, cell, names)
    if len(entries) < layout.low:
        return []
    ways: list[list[Any]] = []
    n = 1
    for entry in entries:
        values = finite_values(context, entry.schemas, most, depth + 1)
        if values is None:
            return None
        ways.append([(entry.name, value) for value in values] + ([] if entry.is_required else [None]))
        n *= len(ways[-1])
        if n > most:
            return None
    return [dict(member for member in members if member is not None) for members in product(*ways)]


def with_few_keys_declared(
    context: Context, entries: list[Entry], cells: list[Cell], n_needed: int
) -> tuple[list[Entry], list[Cell]]:
    """Named and free keys, free ones as declared ones where they are few, so that the others do not run out."""
    entries, left = list(entries), []
    most = min(max(FEW_KEYS, n_needed), context.options.limits.max_tracked_names)
    for cell in cells:
        names = texts_of(context, cell.keys, most)
        if names is None:
            left.append(cell)
        else:
            entries += entries_of(context, cell, sorted(names))
    return entries, left


def texts_of(context: Context, node: int, most: int) -> list[str] | None:
    """Every string that a node made for JSON strings matches; None when there are more than `most`.

    Level by level through the derivatives: what can still become a string becomes different ones from different
    beginnings, so a level with more than `most` beginnings decides. What was found out before counts as work, too, so
    that a limit does not depend on what the store remembers.
    """
    nodes = context.nodes
    if node == free_string(nodes):
        return None
    found, n_states = once(nodes, (__name__, node, most), lambda: _texts_of(nodes, node, most))
    context.count_work(STATE_WORK * n_states)
    return found


def _texts_of(nodes: RegexNodes, node: int, most: int) -> tuple[list[str] | None, int]:
    """The strings, and of how many states the bytes were asked for."""
    plain = once(nodes, (__name__, "plain"), lambda: _plain_strings(nodes))
    level = [(nodes.intersect([node, plain]), b"")]
    known: dict[int, list[tuple[int, int]]] = {}
    found: list[str] = []
    for _ in range(MAX_LEVELS):
        following: list[tuple[int, bytes]] = []
        for here, read in level:
            if here not in known:
                known[here] = _steps(nodes, here)
            for byte, target in known[here]:
                following.append((target, read + bytes([byte])))
            if len(found) + len(following) > most:
                return None, len(known)
        found += [json.loads(read) for target, read in following if nodes.is_nullable(target)]
        level = [(target, read) for target, read in following if target != nodes.EPSILON]
        if not level:
            return (found if len(found) <= most else None), len(known)
    return None, len(known)


def _steps(nodes: RegexNodes, node: int) -> list[tuple[int, int]]:
    first = nodes.first_bytes(node)
    steps = ((byte, nodes.derivative(node, byte)) for byte in range(256) if first >> byte & 1)
    return [(byte, target) for byte, target in steps if target != nodes.EMPTY and not nodes.is_empty(target)]


def _plain_strings(nodes: RegexNodes) -> int:
    """Node of every JSON string in one spelling: raw where that is allowed."""
    short = {character: letter for character, letter in SHORT_ESCAPES.items() if character != "/"}
    escapes = [nodes.literal(f"\\{letter}".encode()) for letter in short.values()]
    escaped = TEXT.subtract(RAW).subtract(CodePointSet.of("".join(short)))
    escapes += [nodes.literal(b"\\u%04x" % code) for low, high in escaped.ranges() for code in range(low, high + 1)]
    body = nodes.repeat(nodes.union([utf8_char(nodes, RAW), *escapes]), 0)
    quote = nodes.literal(b'"')
    return nodes.concat([quote, body, quote])
