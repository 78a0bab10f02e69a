"""Whether a value fulfils schemas: a small validator for the values of `const` and `enum`, which may meet other
keywords.

It reads the same parts and choices as the grammar does, and asks the same nodes for strings, so both agree. Numbers
are compared as written; true is not 1, and 1 is 1.0. Source: JSON Schema 2020-12 core, section 4.2.2 (instance
equality).

In: a value, schemas. Out: yes or no. Cost: linear in the value for each schema that looks at it.
"""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from typing import Any

from llmask.errors import GrammarError, LimitExceeded
from llmask.work import spend

from ..lexical.listed_numbers import exact_decimal
from ..lexical.numbers import NumberRange
from ..lexical.strings import free_string
from ..reading.keywords import EXCEPT, SOME_KEY, is_number
from ..reading.pointers import Path, pointer
from .array_layout import ArrayLayout
from .conjunction import conjunction_of
from .context import Context
from .object_layout import key_schemas, keys_node
from .place import Conjunction, Part, SchemaAt, types_of
from .scalars import matches_pattern, range_of, string_node

MAX_VALUE_DEPTH = 100
DEEP, KEY_WORK = 2, 2  # units for a member of what is so deep in a value: parts that are shared are read many times
VALUE_WORK = 4  # an array or object beside keywords, besides its parts: layouts are made for it


def type_of(value: Any, path: Path) -> str:
    """JSON type of a value; "integer" for a number without a fraction."""
    if value is None:
        return "null"
    if type(value) is bool:
        return "boolean"
    if type(value) is str:
        return "string"
    if type(value) is list:
        return "array"
    if type(value) is dict:
        return "object"
    if type(value) is int:
        return "integer"
    if is_number(value):
        exact = exact_decimal(value)
        return "integer" if exact == exact.to_integral_value() else "number"
    raise GrammarError(
        f"{value!r} is not a JSON value", pointer(path), "give a dict, list, str, number, True, False or None"
    )


def equality_key(value: Any, path: Path, depth: int = 0) -> Any:
    """Something that two values share exactly when they are equal as JSON."""
    if depth > MAX_VALUE_DEPTH:
        raise LimitExceeded(
            f"a value of const or enum is nested deeper than {MAX_VALUE_DEPTH}",
            pointer(path),
            "Describe it by a schema.",
        )
    if type(value) is int:
        return "number", value  # equal to a `Decimal` of the same number, as their hashes are
    kind = type_of(value, path)
    if depth >= DEEP and kind in ("array", "object"):
        spend(1 + KEY_WORK * len(value))
    if kind == "array":
        return kind, tuple(equality_key(member, path, depth + 1) for member in value)
    if kind == "object":
        return kind, frozenset((name, equality_key(member, path, depth + 1)) for name, member in value.items())
    if type(value) in (float, Decimal):
        return "number", exact_decimal(value)  # equal decimals have equal hashes, 0.10 and 0.1, 0 and -0
    return kind, value


def allowed_values(part: Part) -> list[Any] | None:
    """Values that a part's own `enum` and `const` leave, or None when it has neither."""
    schema, path, shape = part
    if not shape.has_values:
        return None
    values = list(schema["enum"]) if "enum" in schema else [schema["const"]]
    if shape.has_const and "enum" in schema:
        constant = equality_key(schema["const"], path)
        values = [value for value in values if equality_key(value, path) == constant]
    return values


def listed_by(context: Context, schema: Any, path: Path) -> list[Any] | None:
    """Values that a schema lists and does not refuse again; None when it lists none, or applies others in place."""
    if type(schema) is not dict:
        return None
    part = schema, path, context.shape(schema, path)
    if not part[2].is_plain:
        return None
    listed = allowed_values(part)
    return None if listed is None else fulfilling(context, listed, [part])


def fulfils(context: Context, value: Any, schemas: list[SchemaAt]) -> bool:
    """Whether `value` fulfils all of `schemas`."""
    context.count_work()
    return bool(fulfilling_all(context, [value], conjunction_of(context, schemas)))


def fulfilling_all(context: Context, values: list[Any], conjunction: Conjunction) -> list[Any]:
    """The `values` that fulfil every part and choice; in alternatives that list values they are looked up."""
    if conjunction.false_at is not None:
        return []
    values = fulfilling(context, values, conjunction.parts)
    for keyword, path, schemas, _ in conjunction.choices:
        n_listed: Counter[Any] = Counter()
        others = []
        for member in schemas:
            listed = listed_by(context, *member)
            if listed is None:
                others.append(member)
            else:
                n_listed.update({equality_key(value, path) for value in listed})
        context.count_work(len(values) + len(schemas))
        kept = []
        for value in values:
            n_valid = n_listed[equality_key(value, path)]
            n_valid += sum(fulfils(context, value, [member]) for member in others)
            if n_valid == 1 or (n_valid and keyword != "oneOf"):
                kept.append(value)
        values = kept
    return values


def fulfilling(context: Context, values: list[Any], parts: list[Part]) -> list[Any]:
    """The `values` that fulfil the own keywords of all `parts`; what all of them need is made once."""
    if not parts:
        return values
    path = parts[0][1]
    types = types_of(parts)
    listed = [allowed_values(part) for part in parts]
    key_sets = [{equality_key(other, path) for other in others} for others in listed if others is not None]
    excluded = {equality_key(other, path) for schema, _, shape in parts if shape.has_except for other in schema[EXCEPT]}
    strings = None
    numbers = None
    others = [part for part in parts if not part[2].has_except]
    found = []
    for value in values:
        kind = type_of(value, path)
        if kind not in types and not (kind == "integer" and "number" in types):
            continue
        if key_sets or excluded:
            key = equality_key(value, path)
            if key in excluded or not all(key in keys for keys in key_sets):
                continue
        if kind == "string":
            if strings is None:
                strings = string_node(context, others)
                is_free = strings == free_string(context.nodes)
            holds = (is_free and value.isascii()) or matches_pattern(context, strings, value)
        elif kind in ("integer", "number"):
            if numbers is None:
                numbers = range_of(context, others, "number") or NumberRange()
            holds = numbers.holds(value)
        elif kind == "array":
            holds = _array_fulfils(context, value, parts)
        else:
            holds = kind != "object" or _object_fulfils(context, value, parts)
        if holds:
            found.append(value)
    return found


def _array_fulfils(context: Context, value: list[Any], parts: list[Part]) -> bool:
    context.count_work(VALUE_WORK)
    layout = ArrayLayout(context, parts)
    if layout.low > len(value) or (layout.high is not None and len(value) > layout.high):
        return False
    if not all(fulfils(context, member, layout.written_at(index)) for index, member in enumerate(value)):
        return False
    for first, schema, least, greatest in layout.counted:
        n = sum(fulfils(context, member, [schema]) for member in value[first:])
        if n < least or (greatest is not None and n > greatest):
            return False
    if layout.is_unique or layout.is_not_unique:
        n_distinct = len({equality_key(member, parts[0][1]) for member in value})
        return not (layout.is_unique and n_distinct < len(value)) and not (
            layout.is_not_unique and n_distinct == len(value)
        )
    return True


def _object_fulfils(context: Context, value: dict[str, Any], parts: list[Part]) -> bool:
    context.count_work(VALUE_WORK)
    for schema, path, shape in parts:
        if not all(name in value for name in schema.get("required", ())):
            return False
        if not schema.get("minProperties", 0) <= len(value) <= schema.get("maxProperties", len(value)):
            return False
        if shape.has_names:
            names = [(schema["propertyNames"], (path, "propertyNames"))]
            if not all(fulfils(context, name, names) for name in value):
                return False
        if SOME_KEY in schema:
            keys, wanted = schema[SOME_KEY]
            node = keys_node(context, keys)
            if not any(
                matches_pattern(context, node, name) and fulfils(context, member, [wanted])
                for name, member in value.items()
            ):
                return False
    return all(fulfils(context, member, key_schemas(context, parts, name)) for name, member in value.items())


def values_of_texts(texts: list[bytes]) -> list[Any]:
    """Values that were read and must be told from others."""
    try:
        values: list[Any] = json.loads(b"[%s]" % b",".join(texts), parse_float=Decimal)
        return values
    except (ArithmeticError, ValueError):  # an exponent that no Decimal holds, more digits than Python reads
        raise LimitExceeded(
            "an item that has to differ from others holds a number of too many digits",
            help="Give numbers bounds where items must differ.",
        ) from None
    except RecursionError:
        raise LimitExceeded(
            "an item that has to differ from others is nested too deeply",
            help="Describe the items by a schema of bounded depth.",
        ) from None
