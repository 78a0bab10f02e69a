"""Every keyword with a schema that speaks of it, values that fulfil it, and values that do not.

Both `jsonschema` and the grammars judge them; the lists of `not` of the same schema are these, exchanged.

In: nothing. Out: `CASES`, and `INTERNAL` for keywords that only negations write. Cost: none.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from llmask.frontends.json_schema.reading import keywords

DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"


class Case(NamedTuple):
    """A schema, what fulfils it, what does not."""

    schema: dict[str, Any]
    valid: list[Any]
    invalid: list[Any]


CASES: dict[str, Case] = {
    "type": Case({"type": ["integer", "null"]}, [1, None], ["a", 1.5, [], {}]),
    "enum": Case({"enum": [1, "a", [1]]}, [1, "a", [1]], [2, "b", [], [2]]),
    "const": Case({"const": {"a": 1}}, [{"a": 1}], [{"a": 2}, {}, {"a": 1, "b": 1}, "a"]),
    "$ref": Case({"$ref": "#/$defs/x", "$defs": {"x": {"type": "null"}}}, [None], [1, "a", {}]),
    "allOf": Case({"allOf": [{"minimum": 1}, {"maximum": 3}]}, [1, 3, "a"], [0, 4]),
    "anyOf": Case({"anyOf": [{"type": "null"}, {"minLength": 1, "type": "string"}]}, [None, "a"], ["", 1]),
    "oneOf": Case({"oneOf": [{"minimum": 2}, {"multipleOf": 2}]}, [3, 0], [1, 2, 4]),
    "not": Case({"not": {"type": "string"}}, [1, None, []], ["", "a"]),
    "if": Case({"if": {"minimum": 5}, "then": {"multipleOf": 5}}, [1, 5, 10, "a"], [6, 11]),
    "then": Case({"if": {"type": "string"}, "then": {"maxLength": 1}}, ["", "a", 1], ["ab"]),
    "else": Case({"if": {"type": "string"}, "else": {"type": "null"}}, ["a", None], [1, []]),
    "dependentSchemas": Case(
        {"dependentSchemas": {"a": {"maxProperties": 1}}}, [{}, {"a": 1}, {"b": 1, "c": 1}, 1], [{"a": 1, "b": 1}]
    ),
    "dependentRequired": Case({"dependentRequired": {"a": ["b"]}}, [{}, {"b": 1}, {"a": 1, "b": 1}, 1], [{"a": 1}]),
    "dependencies": Case(
        {"$schema": DRAFT_7, "dependencies": {"a": ["b"], "c": {"maxProperties": 1}}},
        [{}, {"a": 1, "b": 1}, {"c": 1}, 1],
        [{"a": 1}, {"b": 1, "c": 1}],
    ),
    "unevaluatedProperties": Case(
        {"properties": {"a": True}, "unevaluatedProperties": False}, [{}, {"a": 1}, 1], [{"b": 1}, {"a": 1, "b": 1}]
    ),
    "unevaluatedItems": Case({"prefixItems": [True], "unevaluatedItems": False}, [[], [1], "a"], [[1, 2]]),
    "$dynamicRef": Case(
        {"$dynamicRef": "#x", "$defs": {"x": {"$dynamicAnchor": "x", "type": "null"}}}, [None], [1, "a", []]
    ),
    "$recursiveRef": Case(
        {"$schema": DRAFT_2019, "type": ["array", "null"], "items": {"$recursiveRef": "#"}},
        [None, [], [None, [None]]],
        [1, [1], [[1]]],
    ),
    "minLength": Case({"minLength": 2}, ["ab", "éé", 1], ["", "é"]),
    "maxLength": Case({"maxLength": 1}, ["", "é", 11], ["ab"]),
    "pattern": Case({"pattern": "^a"}, ["a", "ab", 1], ["", "ba"]),
    "format": Case({"format": "date"}, ["2024-02-29", 1], ["2023-02-29", ""]),
    "minimum": Case({"minimum": 1.5}, [1.5, 2, "a"], [1, -3]),
    "maximum": Case({"maximum": 1.5}, [1.5, -2, "a"], [2, 1.75]),
    "exclusiveMinimum": Case({"exclusiveMinimum": 1}, [1.5, 2, "a"], [1, 0]),
    "exclusiveMaximum": Case({"exclusiveMaximum": 1}, [0.5, 0, "a"], [1, 2]),
    "multipleOf": Case({"multipleOf": 0.5}, [0, 1.5, -2, "a"], [0.25, 1.75]),
    "items": Case({"items": {"type": "integer"}}, [[], [1, 2], "a"], [["a"], [1, None]]),
    "additionalItems": Case(
        {"$schema": DRAFT_7, "items": [{"type": "null"}], "additionalItems": {"type": "integer"}},
        [[], [None], [None, 1, 2], "a"],
        [[1], [None, "a"]],
    ),
    "prefixItems": Case({"prefixItems": [{"type": "null"}, {"type": "integer"}]}, [[], [None, 1, "a"], "a"], [[1]]),
    "minItems": Case({"minItems": 2}, [[1, 2], "a"], [[], [1]]),
    "maxItems": Case({"maxItems": 1}, [[], [1], "a"], [[1, 2]]),
    "contains": Case({"contains": {"type": "integer"}}, [[1], ["a", 2], "a"], [[], ["a"]]),
    "minContains": Case({"contains": {"type": "integer"}, "minContains": 2}, [[1, 2], [1, "a", 2], "a"], [[], [1]]),
    "maxContains": Case({"contains": {"type": "integer"}, "maxContains": 1}, [[1], [1, "a"], "a"], [[], [1, 2]]),
    "uniqueItems": Case(
        {"items": {"enum": [1, 2]}, "maxItems": 2, "uniqueItems": True}, [[], [1], [1, 2], "a"], [[1, 1], [2, 2]]
    ),
    "properties": Case({"properties": {"a": {"type": "integer"}}}, [{}, {"a": 1}, {"b": "x"}, 1], [{"a": "x"}]),
    "patternProperties": Case(
        {"patternProperties": {"^x": {"type": "integer"}}}, [{}, {"x": 1}, {"a": "x"}, 1], [{"x": "a"}, {"xy": None}]
    ),
    "additionalProperties": Case(
        {"properties": {"a": True}, "additionalProperties": {"type": "null"}},
        [{}, {"a": 1}, {"b": None}, 1],
        [{"b": 1}],
    ),
    "propertyNames": Case({"propertyNames": {"maxLength": 1}}, [{}, {"a": 1}, 1], [{"ab": 1}, {"a": 1, "bc": 1}]),
    "required": Case({"required": ["a"]}, [{"a": 1}, {"a": 1, "b": 2}, 1], [{}, {"b": 1}]),
    "minProperties": Case({"minProperties": 1}, [{"a": 1}, {"a": 1, "b": 2}, 1], [{}]),
    "maxProperties": Case({"maxProperties": 1}, [{}, {"a": 1}, 1], [{"a": 1, "b": 2}]),
    "$defs": Case({"$defs": {"x": {"minimum": 1}}, "items": {"$ref": "#/$defs/x"}}, [[1], ["a"], 0], [[0], [1, 0]]),
    "definitions": Case(
        {"definitions": {"x": {"minimum": 1}}, "items": {"$ref": "#/definitions/x"}}, [[1], ["a"], 0], [[0], [1, 0]]
    ),
}

# Schemas whose negation, or the negation of that, is written with these, or the objects that are none of some.
INTERNAL: dict[Any, dict[str, Any]] = {
    keywords.NOT: {"anyOf": [{"minimum": 1}, {"type": "array"}]},
    keywords.ALL_OF: {"anyOf": [{"minimum": 1}, {"type": "array"}]},
    keywords.ANY_OF: {"not": {"allOf": [{"type": "integer"}, False]}},
    keywords.EXCEPT: {"enum": [1, "a"]},
    keywords.SPELLED: {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
        "additionalProperties": False,
        "not": {"enum": [{"a": "x", "b": 1}]},
    },
    keywords.FOLLOWED: {
        "items": {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False},
        "uniqueItems": True,
    },
    keywords.NO_PATTERN: {"pattern": "^a"},
    keywords.NO_FORMAT: {"format": "date"},
    keywords.NO_MULTIPLE: {"multipleOf": 2},
    keywords.NO_INTEGER: {"type": "integer"},
    keywords.PREFIX: {"prefixItems": [{"type": "integer"}]},
    keywords.COUNTED: {"contains": {"type": "integer"}},
    keywords.NOT_UNIQUE: {"uniqueItems": True},
    keywords.SOME_KEY: {"additionalProperties": {"type": "integer"}},
    keywords.EVERY_KEY: {"additionalProperties": {"type": "integer"}},
}
