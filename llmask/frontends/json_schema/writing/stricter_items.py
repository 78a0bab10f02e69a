"""Items that are plain to see to differ from those before them: what is written where all that do would take too much.

With property_order="any" the objects that differ from each of n others are a product of n choices: of the property in
which they do. Here one property is chosen that has another value than in all of them:

    not {"a": 1, "b": 2}, not {"a": 3, "c": 4}    ->    "a" is there, and neither 1 nor 3

Every such object differs from all others, so nothing invalid is allowed; some that differ otherwise are refused. Only
properties are taken that have more values than can be listed, so one is always left. Where all have arrays, objects or
numbers of too many digits, one may be of another type than those. Where none is left, objects differ that have more
properties than each of the others, and arrays do that are longer; strings, numbers and literals are told apart as ever.

In: schemas of an item, the values before it. Out: a rule, or None. Cost: a few times that of the item's schemas.
"""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from functools import partial
from typing import Any

from llmask.grammar.kinds import EDGE_FIELDS, RuleId
from llmask.work import spend

from ..lexical.number_machines import MAX_DIGITS
from ..meaning.conjunction import conjunction_of
from ..meaning.finite import finite_values
from ..meaning.instances import equality_key
from ..meaning.object_layout import key_schemas
from ..meaning.place import Part, SchemaAt, types_of
from ..meaning.satisfiable import productive_states
from ..meaning.synthetic import all_of, any_of, of_types
from ..reading.pointers import Path
from .different_objects import all_but
from .writer import Writer

MOST_PROPERTIES = 3  # that are taken as alternatives; each is written with all that the item's schema says
UNLISTED = Decimal("Infinity")  # in place of numbers that no schema lists, as they have too many digits
SCALARS = ("string", "number", "boolean", "null")
UNLISTED_TYPES = {dict: "object", list: "array", Decimal: "number"}


def may_be_stricter(writer: Writer, schemas: list[SchemaAt]) -> bool:
    """Whether a stricter rule may have to stand in for that of items: where they may be objects or arrays."""
    return not {"object", "array"}.isdisjoint(types_of(conjunction_of(writer, schemas).parts))


def stricter_rule(writer: Writer, schemas: list[SchemaAt], texts: list[bytes], path: Path) -> RuleId | None:
    """Rule of values of `schemas` that plainly differ from the values written as `texts`; None: no value does.

    Parameters
    ----------
    texts : at most `limits.max_unique_values`.
    """
    values: list[Any] = json.loads(b"[%s]" % b",".join(texts), parse_float=_number, parse_int=_number)
    parts = conjunction_of(writer, schemas).parts
    types = types_of(parts)
    objects = [value for value in values if type(value) is dict]
    found: list[SchemaAt] = []
    if "object" in types:
        found += _differing_in_one(writer, parts, objects, path) or _differing_in_one(
            writer, parts, objects, path, True
        )
        if not found:
            found.append(_larger(writer, "object", "minProperties", objects, path))
    if "array" in types:
        arrays = [value for value in values if type(value) is list]
        found.append(_larger(writer, "array", "minItems", arrays, path))
    scalars = [kind for kind in SCALARS if kind in types or (kind == "number" and "integer" in types)]
    if UNLISTED in values:
        scalars = [kind for kind in scalars if kind != "number"]
        values = [value for value in values if type(value) is not Decimal]
    if scalars:
        kinds = of_types(writer, scalars, path)
        listed = [value for value in values if type(value) not in (dict, list)]
        found.append(all_of(writer, [kinds, all_but(writer, listed, path)], path) if listed else kinds)
    rule = writer.rule_of([*schemas, any_of(writer, found, path)])
    writer.write_waiting()
    rules = writer.rules
    spend(len(rules.edges) // EDGE_FIELDS // 4)
    return rule if productive_states(rules)[rules.start_state(rule)] else None


def _differing_in_one(
    writer: Writer, parts: list[Part], objects: list[dict[str, Any]], path: Path, in_type: bool = False
) -> list[SchemaAt]:
    """Schemas of the objects that have another value in one property than each of `objects` has there.

    `in_type`: properties that have values there which are not listed; the other value is of none of their types.
    """
    most = writer.options.limits.max_unique_values
    described = [schema["properties"] for schema, _, shape in parts if shape.has_object and "properties" in schema]
    times = Counter(name for value in objects for name in value)
    names = list(dict.fromkeys([*times, *(name for properties in described for name in properties)]))
    names.sort(key=lambda name: -times[name])  # what the others have, this one will have, too
    found: list[SchemaAt] = []
    for name in names:
        taken = [value[name] for value in objects if name in value]
        members = writer.closed(key_schemas(writer, parts, name))
        unlisted = {UNLISTED_TYPES[type(value)] for value in taken if type(value) in (dict, list) or value == UNLISTED}
        listed = [value for value in taken if type(value) not in (dict, list) and value != UNLISTED]
        if bool(unlisted) != in_type:
            continue
        if any(member is False for member, _ in members):
            continue
        if finite_values(writer, members, most) is not None:
            continue
        schema: dict[str, Any] = {"type": "object", "required": [name]}
        others = [all_but(writer, listed, path)] if listed else []
        if unlisted:
            kinds = [kind for kind in ("object", "array", *SCALARS) if kind not in unlisted]
            others.append(of_types(writer, kinds, path))
        if others:
            other = others[0] if len(others) == 1 else all_of(writer, others, path)
            schema["properties"] = {name: other[0]}
        key = ("differs in", name, *sorted(unlisted), frozenset(equality_key(value, path) for value in listed))
        found.append((writer.synthetic(key, partial(dict, schema)), path))
        if len(found) == MOST_PROPERTIES:
            break
    return found


def _number(text: str) -> Decimal:
    """A number exactly, or UNLISTED."""
    try:
        value = Decimal(text)
    except ArithmeticError:  # an exponent that no Decimal holds
        return UNLISTED
    return value if max(abs(value.adjusted()), len(value.as_tuple().digits)) <= MAX_DIGITS else UNLISTED


def _larger(writer: Writer, kind: str, keyword: str, values: list[Any], path: Path) -> SchemaAt:
    """The schema of what has more parts than each of `values`."""
    least = 1 + max(map(len, values), default=-1)
    return writer.synthetic(("larger", kind, least), lambda: {"type": kind, keyword: least}), path
