"""Objects: from their layout to the states that read them, properties in the order of the schema.

Properties are written in the order of the schema: declared ones, then required names that are not declared, then free
ones, whose keys exclude the declared names in every spelling.

    "{" -> choose[0]       choose[i] -key i-> . -":"-> . -value-> after[i+1]
    choose[i] -skip-> choose[i+1]  if i is optional
    after[i] -","-> choose[i]      after[i] -"}"-> end  if nothing from i on is required

One comma leads to one state, so a run of n optional properties costs O(n) edges. A long run is cut into fans of about
sqrt(n) properties: the state where a fan begins scans each of its keys and skips to the next fan, so that the parser
holds 2 sqrt(n) items there and not n (50,000 properties went over `max_items`).

    fan -key i-> .  for each i of the fan       fan -skip-> next fan       choose[i] inside of the fan as above

Objects that count their keys, or must have certain ones, whose keys come in any order or must not be repeated, are
written in `set_objects.py`; those that differ from listed ones in `different_objects.py`.

In: parts. Out: states and edges between two given states. Cost: about 3 us a property.
"""

from __future__ import annotations

from array import array
from math import isqrt
from typing import Any

from llmask.grammar.kinds import NO_GUARD, SCAN, SKIP, StateId, pack_edge, pack_edges

from ..meaning.contradictions import BOUNDS_HELP
from ..meaning.finite import with_few_keys_declared
from ..meaning.key_conditions import object_with_keys
from ..meaning.object_layout import Cell, Entry, Layout, layout_of, plain_keys
from ..meaning.place import Part
from ..reading.keywords import EXCEPT, FOLLOWED, SOME_KEY
from ..reading.pointers import ROOT, Path, pointer
from .different_objects import emit_different
from .followed_objects import FollowedObject
from .new_values import can_be_followed
from .set_objects import CountedObject, can_tell_by_key, emit_conditioned
from .writer import Span, Writer

MANY = 32  # optional properties in a row that are cut into fans


def emit_object(writer: Writer, parts: list[Part], span: Span) -> None:
    """Edges over every object that fulfils `parts`."""
    if len(parts) == 1 and parts[0][2].lists_keys and writer.is_in_order and not writer.void:  # most are
        entries, cells = plain_keys(writer, parts[0])
        n_required = sum([entry.is_required for entry in entries])
        return _emit_plain(writer, entries, cells, n_required, 0, span)
    path = parts[0][1] if parts else ROOT
    excepted = [schema[EXCEPT] for schema, _, shape in parts if shape.has_except]
    values = [value for listed in excepted for value in listed if type(value) is dict]
    if not values and any(SOME_KEY in schema for schema, _, shape in parts if shape.has_key_sets):
        return emit_conditioned(writer, object_with_keys(writer, parts, path), path, span)
    layout = layout_of(writer, parts, tells_by_key=not values and can_tell_by_key(writer, parts))
    if values:
        return emit_different(writer, parts, layout, values, span)
    roots = [schema[FOLLOWED] for schema, _, _ in parts if FOLLOWED in schema]
    if roots and can_be_followed(layout):
        return _emit_layout(writer, layout, path, span, roots)
    is_tracked = writer.options.unique_keys
    if layout.cells and (layout.low > 1 or layout.high is not None or is_tracked):
        entries, cells = with_few_keys_declared(writer, layout.entries, layout.cells, layout.low)
        layout = layout._replace(entries=entries, cells=cells)
    return _emit_layout(writer, layout, path, span)


def _emit_layout(writer: Writer, layout: Layout, path: Path, span: Span, roots: list[Any] | None = None) -> None:
    entries, cells, low, high, _ = layout
    if writer.void:
        # of values that were found to allow nothing, see `Translation.run`
        kept = [entry for entry in entries if writer.place_key(entry.schemas) not in writer.void]
        lost = [entry.name for entry in entries if entry.is_required and entry not in kept]
        if lost:
            help = "make it optional, or mend its schema"
            return writer.nothing(f'the required property "{lost[0]}" allows no value', path, help)
        entries = kept
        cells = [cell for cell in cells if writer.place_key(cell.schemas) not in writer.void]
    n_required = sum([entry.is_required for entry in entries])
    if high is not None:
        if high < low:
            return writer.nothing(f"minProperties is {low} and maxProperties is {high}", path, BOUNDS_HELP)
        if high < n_required:
            help = 'raise maxProperties, or take names out of "required"'
            return writer.nothing(f"{n_required} properties are required and maxProperties is {high}", path, help)
        if high == n_required:
            entries = [entry for entry in entries if entry.is_required]
            cells = []
        if not cells and len(entries) <= high:
            high = None
    if low <= n_required:
        low = 0
    elif not cells and len(entries) < low:
        help = "lower minProperties, or allow more keys"
        return writer.nothing(f"minProperties is {low}, but only {len(entries)} keys are allowed", path, help)
    is_any_order = len(entries) + (len(cells) > 0) > 1 and _is_any_order(writer, len(entries), path)
    if roots:
        return FollowedObject(writer, entries, low, high, is_any_order, path, span, roots[0]).write()
    is_tracked = writer.options.unique_keys and bool(cells)
    if is_any_order or high is not None or low > 1 or is_tracked or any(cell.parts for cell in cells):
        return CountedObject(writer, entries, cells, low, high, is_any_order, path, span).write()
    return _emit_plain(writer, entries, cells, n_required, low, span)


def _is_any_order(writer: Writer, n_entries: int, path: Path) -> bool:
    """Whether declared keys come in any order, which the option may leave to their number."""
    order, most = writer.options.property_order, writer.options.limits.max_tracked_names
    if order != "any_or_schema" or n_entries <= most:
        return order != "schema"
    where = pointer(path)
    writer.warnings.setdefault(
        where,
        f"the {n_entries} properties at {where} come in the order of the schema: at most {most} are remembered "
        "(limits.max_tracked_names)",
    )
    return False


def _emit_plain(writer: Writer, entries: list[Entry], cells: list[Cell], n_required: int, low: int, span: Span) -> None:
    """Write an object that counts nothing; `low` is 0, or 1 for an object that must not be empty."""
    rule, start, end, depth = span
    state_rules, add, lexemes = writer.rules.state_rules, writer.rules.edges.frombytes, writer.punctuation
    choose = StateId(len(state_rules))
    if n_required or low:
        state_rules.append(rule)
        add(pack_edge(start, SCAN, lexemes.open_object, choose, NO_GUARD))
    else:
        opened = choose + 1
        state_rules.extend((rule, rule))
        add(pack_edges(start, SCAN, lexemes.open_object, opened, NO_GUARD, opened, SKIP, 0, choose, NO_GUARD))
        add(pack_edge(opened, SCAN, lexemes.close_object, end, NO_GUARD))
    choose = _emit_entries(writer, entries, bool(cells), n_required, choose, span)
    if cells:
        after = StateId(len(state_rules))
        state_rules.append(rule)
        for keys, schemas, *_ in cells:
            named = len(state_rules)
            value = StateId(named + 1)
            state_rules.extend((rule, rule))
            add(pack_edges(choose, SCAN, keys, named, NO_GUARD, named, SCAN, lexemes.colon, value, NO_GUARD))
            writer.place(schemas, rule, value, after, depth)
        add(pack_edge(after, SCAN, lexemes.comma, choose, NO_GUARD))
        add(pack_edge(after, SCAN, lexemes.close_object, end, NO_GUARD))


def _emit_entries(
    writer: Writer, entries: list[Entry], goes_on: bool, needed: int, choose: StateId, span: Span
) -> StateId:
    """Write the declared keys, row by row, and give the state after them: most of the time of compiling is here."""
    rule, _, end, depth = span
    state_rules, add = writer.rules.state_rules, writer.rules.edges.frombytes
    lexemes, known, place = writer.punctuation, writer.keys, writer.place
    colon, comma, close = lexemes.colon, lexemes.comma, lexemes.close_object
    n_left = len(entries)
    fans = _fans(entries) if n_left >= MANY else {}
    fan, left_in_fan = choose, 0
    row = array("i", (rule, rule, rule, rule))
    for name, schemas, is_required, _ in entries:
        if n_left in fans:
            fan, left_in_fan = choose, fans[n_left]
        n_left -= 1
        needed -= is_required
        named: Any = len(state_rules)  # a StateId, which would be called for each of them
        value, after, following = named + 1, named + 2, named + 3
        key = known.get(name)
        if key is None:
            key = writer.key_node(name, schemas)
        add(pack_edges(choose, SCAN, key, named, NO_GUARD, named, SCAN, colon, value, NO_GUARD))
        has_next = n_left or goes_on
        state_rules.extend(row if has_next else row[:3])
        is_in_fan = left_in_fan and choose != fan
        if is_in_fan:
            add(pack_edge(fan, SCAN, key, named, NO_GUARD))
        if has_next and not is_required:
            if is_in_fan or not left_in_fan:
                add(pack_edge(choose, SKIP, 0, following, NO_GUARD))
            if left_in_fan == 1:
                add(pack_edge(fan, SKIP, 0, following, NO_GUARD))
        left_in_fan -= left_in_fan > 0
        choose = following
        place(schemas, rule, value, after, depth)
        # edges out of a place come after the edges into it, as tables are filled from the last edge to the first
        if has_next:
            add(pack_edge(after, SCAN, comma, following, NO_GUARD))
        if not needed:
            add(pack_edge(after, SCAN, close, end, NO_GUARD))
    return choose


def _fans(entries: list[Entry]) -> dict[int, int]:
    """Where fans begin, by the number of entries from there on, and how many entries each has."""
    fans: dict[int, int] = {}
    n = len(entries)
    first = 0
    while first < n:
        end = first
        while end < n and not entries[end].is_required:
            end += 1
        if end - first >= MANY:
            size = isqrt(end - first)
            fans |= {n - at: min(size, end - at) for at in range(first, end, size)}
        first = end + 1
    return fans
