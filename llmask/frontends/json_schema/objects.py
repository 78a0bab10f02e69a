"""Objects: from property maps to the states that read them.

Properties are written in the order of the schema: declared ones, then required names that are not declared, then free
ones, whose keys exclude the declared names in every spelling. Several parts are combined exactly: a key is described
by what each part says of it (its property, every pattern that matches it, or additionalProperties), and free keys are
divided into cells by the patterns that match them, each cell with its own key language; cells without any key are
left out.

    "{" -> choose[0]       choose[i] -key i-> . -":"-> . -value-> after[i+1]
    choose[i] -skip-> choose[i+1]  if i is optional
    after[i] -","-> choose[i]      after[i] -"}"-> end  if nothing from i on is required

One comma leads to one state, so a run of n optional properties costs O(n) edges. A long run is cut into fans of about
sqrt(n) properties: the state where a fan begins scans each of its keys and skips to the next fan, so that the parser
holds 2 sqrt(n) items there and not n (50,000 properties went over `max_items`).

    fan -key i-> .  for each i of the fan       fan -skip-> next fan       choose[i] inside of the fan as above

`maxProperties` counts the keys that were written, which are at least as many as there are different ones.
`minProperties` is exact without counting up to 1, and by counting where no free key (which might be repeated) is
allowed; otherwise it is refused unless `required` implies it.

In: parts. Out: states and edges between two given states. Cost: about 3 us a property.
"""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from llmask.frontends.json_schema.conjunction import is_false
from llmask.frontends.json_schema.counts import count_range
from llmask.frontends.json_schema.names import name_language
from llmask.frontends.json_schema.pointers import ROOT, pointer
from llmask.frontends.json_schema.strings import (
    free_string,
    matches_pattern,
    other_strings,
    pattern_string,
    spellings_of,
)
from llmask.frontends.json_schema.unsupported import refuse, refuse_unenforced
from llmask.grammar.rules import NO_GUARD, SCAN, SKIP, UNBOUNDED, GuardId, RuleId, StateId

if TYPE_CHECKING:
    from llmask.frontends.json_schema.conjunction import Part, SchemaAt
    from llmask.frontends.json_schema.translation import Translation


MANY = 32  # optional properties in a row that are cut into fans


class Entry(NamedTuple):
    """A key with a name of its own."""

    name: str
    schemas: list[SchemaAt]
    is_required: bool


class Cell(NamedTuple):
    """Free keys that the same patterns match: the node of the keys, what their values must fulfil."""

    keys: int
    schemas: list[SchemaAt]


class Layout(NamedTuple):
    """One object: named keys in order, free keys, and how many keys there may be (`high` None: any number)."""

    entries: list[Entry]
    cells: list[Cell]
    low: int
    high: int | None


def emit_object(
    translation: Translation, parts: list[Part], rule: RuleId, start: StateId, end: StateId, depth: int
) -> None:
    """Edges from `start` to `end` over every object that fulfils `parts`."""
    path = parts[0][1] if parts else ROOT
    for schema, at, shape in parts:
        if shape.unenforced_object:
            refuse_unenforced(translation, shape.unenforced_object, schema, at)
    layout = _layout(translation, parts)
    entries, cells, low, high = layout
    n_required = 0
    for entry in entries:
        n_required += entry.is_required
    if high is not None:
        if high < low:
            return translation.nothing(f"minProperties is {low} and maxProperties is {high}", path)
        if high < n_required:
            return translation.nothing(f"{n_required} properties are required and maxProperties is {high}", path)
        if high == n_required:
            entries = [entry for entry in entries if entry.is_required]
            cells = []
        if not cells and len(entries) <= high:
            high = None
    if low <= n_required:
        low = 0
    elif not cells and len(entries) < low:
        return translation.nothing(f"minProperties is {low}, but only {len(entries)} keys are allowed", path)
    elif low > 1 and cells:
        reason = '"minProperties" above 1 is not supported where keys are free to repeat'
        refuse(translation, "minProperties", path, reason)
        low = 0
    if low > 1 or high is not None:
        counted = translation.rules.rule(pointer(path))
        translation.rules.call(start, counted, end)
        rule, start = counted, translation.rules.start_state(counted)
        end = translation.rules.state(counted)
        translation.rules.final(end)
    _Chain(translation, rule, depth, low, high).write(entries, cells, n_required, start, end)
    return None


class _Chain:
    """Writer of one object's states. `low` is 0, 1 (not empty) or, with counting, more; `high` needs counting."""

    def __init__(self, translation: Translation, rule: RuleId, depth: int, low: int, high: int | None) -> None:
        self.translation = translation
        self.rule = rule
        self.depth = depth
        self.low = low
        self.high = high
        self.cap = max(low, high or 0)
        self.is_counted = low > 1 or high is not None

    def guard(self, low: int = 0, room_for: int = 0, add: int = 0) -> GuardId:
        """Guard that asks for `low` keys so far, and for `room_for` keys below `high`."""
        if not self.is_counted:
            return NO_GUARD
        high = UNBOUNDED if self.high is None else self.high - room_for
        return self.translation.rules.guard(max(low, 0), high, add, self.cap)

    def write(self, entries: list[Entry], cells: list[Cell], n_required: int, start: StateId, end: StateId) -> None:
        translation, rule, depth = self.translation, self.rule, self.depth
        rules, lexemes = translation.rules, translation.punctuation
        scan, state = rules.scan, rules.state
        choose = state(rule)
        if n_required or self.low:
            scan(start, lexemes.open_object, choose)
        else:
            opened = state(rule)
            scan(start, lexemes.open_object, opened)
            rules.skip(opened, choose)
            scan(opened, lexemes.close_object, end)
        n_left, needed = len(entries), n_required  # needed: required keys from here on
        may_end = self.guard(low=self.low)
        key_of = translation.key_node
        if not self.is_counted:
            choose = self._write_plain(entries, bool(cells), needed, choose, end)
            entries = []
        for name, schemas, is_required in entries:
            n_left -= 1
            needed -= is_required
            named, value, after = state(rule), state(rule), state(rule)
            following = state(rule) if n_left or cells else None
            scan(choose, key_of(name, schemas), named, self.guard(0, 0 if is_required else 1 + needed, 1))
            scan(named, lexemes.colon, value)
            translation.place(schemas, rule, value, after, depth)
            if self.low > 1:
                translation.counted.append((value, schemas[0][1] if schemas else ROOT))
            if following is not None:
                if not is_required:
                    rules.skip(choose, following, self.guard(self.low - n_left) if not cells else NO_GUARD)
                scan(after, lexemes.comma, following, NO_GUARD if needed else self.guard(room_for=1))
                choose = following
            if not needed:
                scan(after, lexemes.close_object, end, may_end)
        if cells:
            after = state(rule)
            for keys, schemas in cells:
                named, value = state(rule), state(rule)
                scan(choose, keys, named, self.guard(room_for=1, add=1))
                scan(named, lexemes.colon, value)
                translation.place(schemas, rule, value, after, depth)
            scan(after, lexemes.comma, choose, self.guard(room_for=1))
            scan(after, lexemes.close_object, end, may_end)

    def _write_plain(self, entries: list[Entry], goes_on: bool, needed: int, choose: StateId, end: StateId) -> StateId:
        """The same for entries that nothing counts, row by row: most of the time of compiling is here."""
        translation, rule, depth = self.translation, self.rule, self.depth
        state_rules, edges = translation.rules.state_rules, translation.rules.edges
        lexemes, key_of, place = translation.punctuation, translation.key_node, translation.place
        colon, comma, close = lexemes.colon, lexemes.comma, lexemes.close_object
        n_left = len(entries)
        fans = _fans(entries) if n_left >= MANY else {}
        fan, left_in_fan = choose, 0
        for name, schemas, is_required in entries:
            if n_left in fans:
                fan, left_in_fan = choose, fans[n_left]
            n_left -= 1
            needed -= is_required
            named = len(state_rules)
            value, after, following = StateId(named + 1), StateId(named + 2), StateId(named + 3)
            key = key_of(name, schemas)
            edges.extend((choose, SCAN, key, named, NO_GUARD, named, SCAN, colon, value, NO_GUARD))
            has_next = n_left or goes_on
            if has_next:
                state_rules.extend((rule, rule, rule, rule))
            else:
                state_rules.extend((rule, rule, rule))
            is_in_fan = left_in_fan and choose != fan
            if is_in_fan:
                edges.extend((fan, SCAN, key, named, NO_GUARD))
            if has_next and not is_required:
                if is_in_fan or not left_in_fan:
                    edges.extend((choose, SKIP, 0, following, NO_GUARD))
                if left_in_fan == 1:
                    edges.extend((fan, SKIP, 0, following, NO_GUARD))
            left_in_fan -= left_in_fan > 0
            choose = following
            place(schemas, rule, value, after, depth)
            # edges out of a place stand behind those into it, as tables are filled from the last edge to the first
            if has_next:
                edges.extend((after, SCAN, comma, following, NO_GUARD))
            if not needed:
                edges.extend((after, SCAN, close, end, NO_GUARD))
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


# --- layout


def _layout(translation: Translation, parts: list[Part]) -> Layout:
    subjects = [part for part in parts if part[2].has_object]
    if not subjects:
        return Layout([], [Cell(free_string(translation.nodes), [])], 0, None)
    if len(subjects) == 1:
        schema, _, shape = subjects[0]
        if "patternProperties" not in schema and not shape.has_names:
            return _plain_layout(translation, subjects[0])
    low, high = count_range(subjects, "minProperties", "maxProperties")
    names: dict[str, bool] = {}
    for schema, _, _ in subjects:
        for name in schema.get("properties", ()):
            names[name] = False
    for schema, _, _ in subjects:
        for name in schema.get("required", ()):
            names[name] = True
    entries = []
    for name, is_required in names.items():
        schemas = key_schemas(translation, subjects, name)
        if is_required or not is_false(schemas):
            entries.append(Entry(name, schemas, is_required))
    return Layout(entries, _cells(translation, subjects, names), low, high)


def _plain_layout(translation: Translation, part: Part) -> Layout:
    """The layout of one part without patterns; most objects are this."""
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
    names: Any = properties
    for name in required:
        if name not in properties:
            entries.append(Entry(name, others, True))
            names = dict.fromkeys((*properties, *required))
    cells = []
    if additional is not False:
        nodes = translation.nodes
        cells = [Cell(other_strings(nodes, names) if names else free_string(nodes), others)]
    return Layout(entries, cells, *count_range([part], "minProperties", "maxProperties"))


def key_schemas(translation: Translation, parts: list[Part], name: str) -> list[SchemaAt]:
    """What the value under the key `name` must fulfil; `false` among it when the key is not allowed."""
    schemas: list[SchemaAt] = []
    for schema, path, shape in parts:
        if not shape.has_object:
            continue
        is_described = False
        if name in schema.get("properties", ()):
            schemas.append((schema["properties"][name], (path, "properties", name)))
            is_described = True
        for pattern, member in schema.get("patternProperties", {}).items():
            node = pattern_string(translation, pattern, path, "patternProperties")
            if matches_pattern(translation, node, name):
                schemas.append((member, (path, "patternProperties", pattern)))
                is_described = True
        if not is_described and "additionalProperties" in schema:
            schemas.append((schema["additionalProperties"], (path, "additionalProperties")))
        if shape.has_names:
            language = name_language(translation, [(schema["propertyNames"], (path, "propertyNames"))])
            if not matches_pattern(translation, language, name):
                schemas.append((False, (path, "propertyNames")))
    return schemas


def _cells(translation: Translation, parts: list[Part], names: dict[str, bool]) -> list[Cell]:
    """Free keys, divided by the patterns that match them."""
    nodes = translation.nodes
    # inside: nodes that hold every key of the group; outside: nodes that hold none of them
    groups: list[tuple[list[int], list[int], list[SchemaAt]]] = [([], [], [])]
    for schema, path, shape in parts:
        if shape.has_names:
            groups[0][0].append(name_language(translation, [(schema["propertyNames"], (path, "propertyNames"))]))
    for schema, path, _ in parts:
        divided = [(inside, outside, schemas, False) for inside, outside, schemas in groups]
        for pattern, member in schema.get("patternProperties", {}).items():
            node = pattern_string(translation, pattern, path, "patternProperties")
            place = (path, "patternProperties", pattern)
            refined = []
            for inside, outside, schemas, is_described in divided:
                translation.count_work()
                if _holds_keys(translation, [*inside, node], outside):
                    refined.append(([*inside, node], outside, [*schemas, (member, place)], True))
                if _holds_keys(translation, inside, [*outside, node]):
                    refined.append((inside, [*outside, node], schemas, is_described))
            divided = refined
        groups = []
        for inside, outside, schemas, is_described in divided:
            if not is_described and "additionalProperties" in schema:
                schemas = [*schemas, (schema["additionalProperties"], (path, "additionalProperties"))]
            if not is_false(schemas):
                groups.append((inside, outside, schemas))
    cells = []
    for inside, outside, schemas in groups:
        declared = [
            name
            for name in names
            if all(matches_pattern(translation, node, name) for node in inside)
            and not any(matches_pattern(translation, node, name) for node in outside)
        ]
        keys = _keys(translation, inside, [*outside, spellings_of(nodes, declared)] if declared else outside)
        if not nodes.is_empty(keys):
            cells.append(Cell(keys, [place for place in schemas if place[0] is not True]))
    return cells


def _keys(translation: Translation, inside: list[int], outside: list[int]) -> int:
    nodes = translation.nodes
    excluded = [nodes.complement(nodes.union(outside))] if outside else []
    return nodes.intersect([*(inside or [free_string(nodes)]), *excluded])


def _holds_keys(translation: Translation, inside: list[int], outside: list[int]) -> bool:
    return not translation.nodes.is_empty(_keys(translation, inside, outside))
