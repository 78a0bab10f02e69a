"""Schemas that are refused: the whole message of each."""

from __future__ import annotations

from typing import Any

import pytest

from llmask.errors import GrammarError, LimitExceeded, LlmaskError, UnsatisfiableSchema, UnsupportedSchema
from llmask.limits import Limits

IGNORE = 'Remove it, or pass unsupported="ignore" to accept that.'
LOCAL = "Name a place of this schema, such as #/$defs/name."
REGISTER = "Register it with registry=, or name a place of this schema, such as #/$defs/name."

TABLE: list[tuple[Any, type[LlmaskError], str]] = [
    (
        3,
        GrammarError,
        "a schema must be an object or a boolean, not 3\n"
        "  at #\n"
        '  write an object such as {"type": "string"}, or true for any value',
    ),
    (
        {"properties": {"a": []}},
        GrammarError,
        "a schema must be an object or a boolean, not an empty list\n"
        "  at #/properties/a\n"
        '  give one of them, or {"anyOf": [...]} where any may hold',
    ),
    # where a schema is negated its members are looked at before they are written
    (
        {"not": {"oneOf": [1.5, {"minLength": 1}]}},
        GrammarError,
        "a schema must be an object or a boolean, not 1.5\n"
        "  at #/not/oneOf/0\n"
        '  write an object such as {"type": "string"}, or true for any value',
    ),
    (
        {"not": {"properties": {"a": "object"}}},
        GrammarError,
        'a schema must be an object or a boolean, not \'object\'\n  at #/not/properties/a\n  write {"type": "object"}',
    ),
    (
        {"not": {"patternProperties": {"a": None}}},
        GrammarError,
        "a schema must be an object or a boolean, not None\n"
        "  at #/not/patternProperties/a\n"
        '  write {} for any value, or {"type": "null"} for null',
    ),
    ({1: 2}, GrammarError, "the keys of a schema must be strings\n  at #\n  write them in quotes"),
    (
        {"properties": {"a/b": {"type": "text"}}},
        GrammarError,
        "\"type\" must be the name of a JSON type or a list of such names, not 'text'\n  at #/properties/a~1b/type\n"
        '  did you mean "string"?',
    ),
    (
        {"type": ["null", "Int"]},
        GrammarError,
        '"type" must be the name of a JSON type or a list of such names, not a list\n  at #/type\n'
        '  "Int" is none of them: did you mean "integer"?',
    ),
    (
        {"type": "anything"},
        GrammarError,
        "\"type\" must be the name of a JSON type or a list of such names, not 'anything'\n  at #/type\n"
        '  the types are "array", "boolean", "integer", "null", "number", "object", "string"; '
        "without one it is any value",
    ),
    (
        {"minLength": -1},
        GrammarError,
        '"minLength" must be a non-negative integer, not -1\n'
        "  at #/minLength\n"
        "  write a whole number from 0 on, such as 3",
    ),
    (
        {"maxItems": "3"},
        GrammarError,
        "\"maxItems\" must be a non-negative integer, not '3'\n  at #/maxItems\n  write it without quotes: 3",
    ),
    (
        {"minimum": float("inf")},
        GrammarError,
        '"minimum" must be a number, not inf\n  at #/minimum\n  write a number, such as 3 or 0.5',
    ),
    (
        {"required": "a"},
        GrammarError,
        '"required" must be a list of names, not \'a\'\n  at #/required\n  write a list: ["name"]',
    ),
    (
        {"properties": 3},
        GrammarError,
        '"properties" must be an object whose values are schemas, not 3\n'
        "  at #/properties\n"
        '  write each name with its schema: {"name": {"type": "string"}}',
    ),
    ({"enum": 3}, GrammarError, '"enum" must be a list of values, not 3\n  at #/enum\n  write a list: ["a", "b"]'),
    (
        {"const": "\ud800"},
        GrammarError,
        "the string '\\ud800' holds a lone surrogate, which is no text\n  at #\n  take it out",
    ),
    (
        {"$ref": "#/$defs/a"},
        GrammarError,
        f'"$ref" names #/$defs/a, and nothing stands there\n  at #/$ref\n  {LOCAL}',
    ),
    ({"$ref": "#a"}, GrammarError, f'"$ref" names #a, and nothing stands there\n  at #/$ref\n  {LOCAL}'),
    (
        {"$ref": "#/title", "title": "t"},
        GrammarError,
        f'"$ref" names #/title, which is no schema (an object or a boolean)\n  at #/$ref\n  {LOCAL}',
    ),
    (
        {"$id": "https://example.org/", "$ref": "http://[a"},
        UnsupportedSchema,
        f'"$ref" names the document http://[a, which is not part of the schema\n  at #/$ref\n  {REGISTER}',
    ),
    (
        {"minLength": -(10**5000)},
        GrammarError,
        '"minLength" must be a non-negative integer, not a number of very many digits\n'
        "  at #/minLength\n"
        "  write a whole number from 0 on, such as 3",
    ),
    (
        {"const": 10**20000},
        LimitExceeded,
        "a listed number has more than 10000 digits\n  at #\n  Describe it by bounds.",
    ),
    (
        {"$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}, "items": {"$ref": "#/$defs/a"}},
        GrammarError,
        "the schema refers to itself without describing anything\n"
        "  at #/$defs/a\n"
        "  describe something before the reference comes back: a type, or properties that hold it",
    ),
    (
        {"$ref": "https://example.org/other.json"},
        UnsupportedSchema,
        '"$ref" names the document https://example.org/other.json, which is not part of the schema\n  at #/$ref\n'
        f"  {REGISTER}",
    ),
    (
        {"items": {"not": {"uniqueItems": True}, "maxItems": 2}},
        UnsupportedSchema,
        'the negation of "uniqueItems" is not supported where the number of items has a limit'
        f"\n  at #/items/not/uniqueItems\n  {IGNORE}",
    ),
    (
        {"uniqueItems": True, "items": {"enum": [*range(20)]}, "contains": {"minimum": 9}, "minItems": 20},
        UnsupportedSchema,
        "items that must differ and are counted have more than 10 values that may run out\n  at #\n"
        '  Leave out "uniqueItems" or "contains".',
    ),
    (
        {"type": "array", "uniqueItems": True, "prefixItems": [{"const": 1}, {"const": 1.0}], "minItems": 2},
        UnsatisfiableSchema,
        "no document fulfils the schema: the items that must be there do not have enough different values\n"
        "  at #\n"
        "  lower how many are needed, allow more values, or take out uniqueItems",
    ),
    (
        {"type": "array", "uniqueItems": True, "contains": {"enum": [1, 2]}, "minContains": 3},
        UnsatisfiableSchema,
        "no document fulfils the schema: there are not enough different items of those that must be there\n"
        "  at #\n"
        "  lower how many are needed, allow more values, or take out uniqueItems",
    ),
    (
        {"not": {"type": ["null", "boolean", "number", "string", "array", "object"]}},
        UnsatisfiableSchema,
        "no document fulfils the schema: the schema is false\n"
        "  at #/not\n"
        "  write true, or {}, for any value, or take out what asks for one here",
    ),
    (
        {"type": "string", "oneOf": [{"type": "null"}, {"type": "boolean"}]},
        UnsatisfiableSchema,
        "no document fulfils the schema: none of the alternatives fulfils the other keywords\n"
        "  at #\n"
        "  let one of them agree with the keywords beside them",
    ),
    (
        {"if": {"$ref": "#"}, "then": True, "else": False},
        GrammarError,
        "the schema refers to itself without describing anything\n"
        "  at #\n"
        "  describe something before the reference comes back: a type, or properties that hold it",
    ),
    (
        {"$ref": "#/allOf/0", "unevaluatedProperties": False, "allOf": [{"$ref": "#"}]},
        GrammarError,
        "the schema refers to itself without describing anything\n"
        "  at #\n"
        "  describe something before the reference comes back: a type, or properties that hold it",
    ),
    (
        {"dependencies": {"a": 3}},
        GrammarError,
        '"dependencies" must hold schemas or lists of names\n'
        "  at #/dependencies/a\n"
        '  write them so: {"name": ["other"]}, or {"name": {"required": ["other"]}}',
    ),
    (
        {"type": "integer", "minimum": 3, "maximum": 2},
        UnsatisfiableSchema,
        "no document fulfils the schema: no integer fulfils all of its keywords\n  at #\n"
        "  minimum is 3 and maximum is 2: lower the one, or raise the other",
    ),
    (
        {"type": "number", "allOf": [{"minimum": 5}, {"exclusiveMaximum": 5}, {"minimum": 1}]},
        UnsatisfiableSchema,
        "no document fulfils the schema: no number fulfils all of its keywords\n  at #\n"
        "  minimum is 5 and exclusiveMaximum is 5: lower the one, or raise the other",
    ),
    (
        {"type": "string", "minLength": 4, "maxLength": 3},
        UnsatisfiableSchema,
        "no document fulfils the schema: no string fulfils all of its keywords\n  at #\n"
        "  minLength is 4 and maxLength is 3: lower the one, or raise the other",
    ),
    (
        {"type": "integer", "minimum": 10**5000, "maximum": 2},
        UnsatisfiableSchema,
        "no document fulfils the schema: no integer fulfils all of its keywords\n  at #\n"
        "  minimum is a number of very many digits and maximum is 2: lower the one, or raise the other",
    ),
    (
        {
            "required": ["a"],
            "type": "object",
            "properties": {"a": {"type": "string", "pattern": "^a{3}$", "maxLength": 2}},
        },
        UnsatisfiableSchema,
        "no document fulfils the schema: no string fulfils all of its keywords\n"
        "  at #/properties/a\n"
        "  no value is left by pattern, maxLength: change one of them, or take it out",
    ),
    (
        {"allOf": [{"type": "string"}, {"type": "null"}]},
        UnsatisfiableSchema,
        "no document fulfils the schema: no type fulfils all of the schemas that hold here\n  at #/allOf/0\n"
        '  "string" and "null" exclude each other; write anyOf where one of the schemas is enough, or take one out',
    ),
    (
        {"type": "array", "minItems": 2, "maxItems": 1},
        UnsatisfiableSchema,
        "no document fulfils the schema: minItems is 2 and maxItems is 1\n  at #\n  lower the one, or raise the other",
    ),
    (
        {"type": "object", "minProperties": 2, "maxProperties": 1},
        UnsatisfiableSchema,
        "no document fulfils the schema: minProperties is 2 and maxProperties is 1\n"
        "  at #\n"
        "  lower the one, or raise the other",
    ),
    (
        {"type": "object", "required": ["b"], "additionalProperties": False},
        UnsatisfiableSchema,
        "no document fulfils the schema: the schema is false\n"
        "  at #/additionalProperties\n"
        '  "b" is required and not declared: add it to "properties"',
    ),
    (
        {"type": "object", "minProperties": 3, "properties": {"a": {}}, "additionalProperties": False},
        UnsatisfiableSchema,
        "no document fulfils the schema: minProperties is 3, but only 1 keys are allowed\n"
        "  at #\n"
        "  lower minProperties, or allow more keys",
    ),
]


@pytest.mark.parametrize(("schema", "kind", "message"), TABLE, ids=[row[2].splitlines()[0][:60] for row in TABLE])
def test_message(judge: Any, schema: Any, kind: type[LlmaskError], message: str) -> None:
    with pytest.raises(LlmaskError) as caught:
        judge.translate(schema)
    assert type(caught.value) is kind
    assert str(caught.value) == message


def test_a_malformed_pattern_names_its_place(judge: Any) -> None:
    with pytest.raises(GrammarError) as caught:
        judge.translate({"properties": {"a": {"pattern": "(a"}}})
    assert caught.value.message.startswith('"pattern": ')
    assert caught.value.where is not None
    assert caught.value.where.startswith("#/properties/a/pattern, ")


def test_what_allows_nothing_is_left_out_where_it_is_optional(judge: Any) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 3, "maximum": 2}, "b": {"enum": []}}}
    judge.agrees(schema, [{}, {"c": 1}], [{"a": 1}, {"b": 1}, {"a": 1, "c": 1}])


def nested(depth: int) -> Any:
    schema: Any = {"type": "integer"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def doubling(depth: int) -> Any:
    """2^depth combinations of lengths."""
    return {"allOf": [{"anyOf": [{"minLength": n}, {"maxLength": 1000 - n}]} for n in range(depth)]}


def nested_list(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


HOSTILE: list[tuple[str, Any, Limits, str]] = [
    ("deep", lambda: nested(100_000), Limits(), "the schema is nested deeper than 400 (limits.max_schema_depth)"),
    (
        "deep allOf",
        {"allOf": [{"allOf": [{"allOf": [{"type": "null"}]}]}]},
        Limits(max_schema_depth=1),
        "the schema is nested deeper than 1 (limits.max_schema_depth)",
    ),
    (
        "exponential",
        doubling(40),
        Limits(max_schema_keywords=2000),
        "compiling the schema visits more than 2000 subschemas (limits.max_schema_keywords)",
    ),
    ("huge count", {"minItems": 10**40}, Limits(), '"minItems" is 2147483647 or more'),
    (
        "many counts",
        {"contains": {"type": "null"}, "minContains": 30_000},
        Limits(),
        "counting the items of the array takes more than 20000 states or 6 kinds of items",
    ),
    (
        "many cases",
        {
            "unevaluatedProperties": False,
            "allOf": [{"anyOf": [{"properties": {f"{at}{n}": True}} for n in range(4)]} for at in range(12)],
        },
        Limits(),
        "unevaluatedProperties or unevaluatedItems must tell apart more than 4096 cases (limits.max_schema_cases)",
    ),
    (
        "many keys that are counted",
        {"type": "object", "minProperties": 600, "not": {"patternProperties": {"^a": False}}},
        Limits(),
        "an object of 1200 keys that are told apart: at most 1024 are remembered (limits.max_tracked_names)",
    ),
    ("deep value", {"const": nested_list(1000)}, Limits(), "a value of const or enum is nested deeper than 100"),
    ("huge bound", {"type": "number", "minimum": 10**5000}, Limits(), "a bound of a number has more than 1200 digits"),
    (
        "huge divisor",
        {"type": "integer", "multipleOf": 1_000_003},
        Limits(),
        "the bounds and divisors of a number need an automaton of more than 20000 states",
    ),
]


@pytest.mark.parametrize(("schema", "limits", "message"), [row[1:] for row in HOSTILE], ids=[row[0] for row in HOSTILE])
def test_hostile_schemas_meet_a_limit(judge: Any, schema: Any, limits: Limits, message: str) -> None:
    with pytest.raises(LimitExceeded) as caught:
        judge.translate(schema() if callable(schema) else schema, limits=limits)
    assert caught.value.message == message


def test_a_cyclic_python_object_meets_a_limit(judge: Any) -> None:
    schema: Any = {"type": "object", "properties": {"r": {"$ref": "#"}}}
    schema["properties"]["a"] = schema
    with pytest.raises(LimitExceeded):
        judge.translate(schema)
