"""JSON Schema from its definition: whether an instance is valid, for every draft from 4 to 2020-12.

Plain and slow, with annotations for `unevaluatedProperties` and `unevaluatedItems`. It follows references with the
package's own `References`, so that the official suite judges them before any grammar is made; everything else is
written from the specification. `format` and the content keywords are not asserted.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from llmask.frontends.json_schema.reading.keywords import DRAFT_4, DRAFT_6, DRAFT_7, DRAFT_2019, DRAFT_2020
from llmask.frontends.json_schema.reading.pointers import ROOT, Path
from llmask.frontends.json_schema.reading.references import References

OLD = (DRAFT_4, DRAFT_6, DRAFT_7)
DEEPEST = 300


class Evaluated:
    """Properties and items of one instance that some schema has looked at."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.items: set[int] = set()

    def add(self, other: Evaluated) -> None:
        self.names |= other.names
        self.items |= other.items


class SchemaValidator:
    """Judge of instances; a schema that declares no draft is read as 2020-12."""

    def __init__(self, schema: Any, registry: Any = None) -> None:
        self.references = References(schema, registry)
        self.schema = self.references.root

    def is_valid(self, instance: Any) -> bool:
        return self._evaluate(self.schema, ROOT, instance, 0) is not None

    def _evaluate(self, schema: Any, path: Path, instance: Any, depth: int) -> Evaluated | None:
        """What was looked at, or None where the instance is not valid."""
        if type(schema) is bool:
            return Evaluated() if schema else None
        assert depth < DEEPEST, "the schema refers to itself without end"
        done = Evaluated()

        def holds(below: Any, at: Path, value: Any) -> bool:
            """Whether another value, of a member or a name, fulfils a schema."""
            return self._evaluate(below, at, value, depth + 1) is not None

        def here(below: Any, *keys: str | int) -> bool:
            """Whether the instance itself fulfils a schema, which then counts for what was looked at."""
            return at_place(below, (path, *keys))

        def at_place(below: Any, at: Path) -> bool:
            found = self._evaluate(below, at, instance, depth + 1)
            if found is not None:
                done.add(found)
            return found is not None

        draft = self.references.draft_at(schema, path) or DRAFT_2020
        if "$ref" in schema:
            if not at_place(*self.references.resolve(schema["$ref"], path)):
                return None
            if draft in OLD:
                return done
        if (
            "$dynamicRef" in schema
            and draft == DRAFT_2020
            and not at_place(*self.references.resolve_dynamic(schema["$dynamicRef"], path))
        ):
            return None
        if (
            "$recursiveRef" in schema
            and draft == DRAFT_2019
            and not at_place(*self.references.resolve_recursive(schema["$recursiveRef"], path))
        ):
            return None
        if not all(_holds_alone(keyword, value, schema, instance, draft) for keyword, value in schema.items()):
            return None
        if not self._combine(schema, here, draft):
            return None
        if type(instance) is dict and not _object(schema, path, instance, draft, done, here, holds):
            return None
        if type(instance) is list and not _array(schema, path, instance, draft, done, holds):
            return None
        return done

    def _combine(self, schema: dict[str, Any], here: Callable[..., bool], draft: int) -> bool:
        if not all(here(below, "allOf", index) for index, below in enumerate(schema.get("allOf", []))):
            return False
        for keyword, most in (("anyOf", None), ("oneOf", 1)):
            if keyword in schema:  # every branch counts for what was looked at
                n_valid = sum([here(below, keyword, index) for index, below in enumerate(schema[keyword])])
                if n_valid == 0 or n_valid > (most or n_valid):
                    return False
        if "not" in schema and here(schema["not"], "not"):
            return False
        if "if" in schema and draft not in (DRAFT_4, DRAFT_6):
            branch = "then" if here(schema["if"], "if") else "else"
            return branch not in schema or here(schema[branch], branch)
        return True


def _object(
    schema: dict[str, Any],
    path: Path,
    instance: dict[str, Any],
    draft: int,
    done: Evaluated,
    here: Callable[..., bool],
    holds: Callable[..., bool],
) -> bool:
    own: set[str] = set()
    for name, below in schema.get("properties", {}).items():
        if name in instance:
            own.add(name)
            if not holds(below, (path, "properties", name), instance[name]):
                return False
    for pattern, below in schema.get("patternProperties", {}).items():
        for name in instance:
            if re.search(pattern, name):
                own.add(name)
                if not holds(below, (path, "patternProperties", pattern), instance[name]):
                    return False
    if "additionalProperties" in schema:
        for name in set(instance) - own:
            own.add(name)
            if not holds(schema["additionalProperties"], (path, "additionalProperties"), instance[name]):
                return False
    if "propertyNames" in schema and draft != DRAFT_4:
        at = (path, "propertyNames")
        if not all(holds(schema["propertyNames"], at, name) for name in instance):
            return False
    for keyword in ("dependencies", "dependentSchemas", "dependentRequired"):
        if keyword != "dependencies" and draft in OLD:
            continue
        for name, below in schema.get(keyword, {}).items():
            if name in instance:
                if type(below) is list:
                    if not all(other in instance for other in below):
                        return False
                elif not here(below, keyword, name):
                    return False
    done.names |= own
    if "unevaluatedProperties" in schema and draft not in OLD:
        for name in set(instance) - done.names:
            if not holds(schema["unevaluatedProperties"], (path, "unevaluatedProperties"), instance[name]):
                return False
        done.names |= set(instance)
    return True


def _array(
    schema: dict[str, Any], path: Path, instance: list[Any], draft: int, done: Evaluated, holds: Callable[..., bool]
) -> bool:
    listed, rest = "prefixItems", "items"
    if type(schema.get("items")) is list or draft != DRAFT_2020:
        listed = "items" if type(schema.get("items")) is list else ""
        rest = "additionalItems" if listed else "items"
    first = schema.get(listed, [])
    for index, below in enumerate(first[: len(instance)]):
        done.items.add(index)
        if not holds(below, (path, listed, index), instance[index]):
            return False
    if rest in schema:
        for index in range(len(first), len(instance)):
            done.items.add(index)
            if not holds(schema[rest], (path, rest), instance[index]):
                return False
    if "contains" in schema and draft != DRAFT_4:
        at = (path, "contains")
        found = {index for index, value in enumerate(instance) if holds(schema["contains"], at, value)}
        new = draft not in OLD
        if len(found) < (schema.get("minContains", 1) if new else 1):
            return False
        if new and len(found) > schema.get("maxContains", len(found)):
            return False
        if draft == DRAFT_2020:
            done.items |= found
    if "unevaluatedItems" in schema and draft not in OLD:
        for index in set(range(len(instance))) - done.items:
            if not holds(schema["unevaluatedItems"], (path, "unevaluatedItems"), instance[index]):
                return False
        done.items |= set(range(len(instance)))
    return True


def _holds_alone(keyword: str, value: Any, schema: dict[str, Any], instance: Any, draft: int) -> bool:
    """Keywords that apply no other schema."""
    if keyword == "type":
        return any(_is_type(instance, name, draft) for name in ([value] if type(value) is str else value))
    if keyword == "enum":
        return any(_key(other) == _key(instance) for other in value)
    if keyword == "const":
        return draft == DRAFT_4 or _key(value) == _key(instance)
    if type(instance) in (int, float):
        return _number_holds(keyword, value, schema, instance)
    if type(instance) is str:
        return {
            "minLength": lambda: len(instance) >= value,
            "maxLength": lambda: len(instance) <= value,
            "pattern": lambda: re.search(value, instance) is not None,
        }.get(keyword, lambda: True)()
    if type(instance) is list:
        return {
            "minItems": lambda: len(instance) >= value,
            "maxItems": lambda: len(instance) <= value,
            "uniqueItems": lambda: not value or len({_key(item) for item in instance}) == len(instance),
        }.get(keyword, lambda: True)()
    if type(instance) is dict:
        return {
            "minProperties": lambda: len(instance) >= value,
            "maxProperties": lambda: len(instance) <= value,
            "required": lambda: all(name in instance for name in value),
        }.get(keyword, lambda: True)()
    return True


def _number_holds(keyword: str, value: Any, schema: dict[str, Any], instance: float) -> bool:
    if keyword == "minimum":
        return instance > value if schema.get("exclusiveMinimum") is True else instance >= value
    if keyword == "maximum":
        return instance < value if schema.get("exclusiveMaximum") is True else instance <= value
    if keyword == "exclusiveMinimum":
        return type(value) is bool or instance > value
    if keyword == "exclusiveMaximum":
        return type(value) is bool or instance < value
    if keyword == "multipleOf":
        quotient = Decimal(repr(instance)) / Decimal(repr(value))
        return quotient == quotient.to_integral_value()
    return True


def _is_type(instance: Any, name: str, draft: int) -> bool:
    if name == "integer" and type(instance) is float:
        return draft != DRAFT_4 and instance.is_integer()
    kinds = {"null": (type(None),), "boolean": (bool,), "string": (str,), "integer": (int,), "number": (int, float)}
    return type(instance) in {**kinds, "array": (list,), "object": (dict,)}[name]


def _key(value: Any) -> Any:
    """Something equal exactly for equal JSON values: true is not 1, 1 is 1.0."""
    if type(value) is list:
        return "array", tuple(map(_key, value))
    if type(value) is dict:
        return "object", frozenset((name, _key(member)) for name, member in value.items())
    return ("number" if type(value) in (int, float) else type(value).__name__), value
