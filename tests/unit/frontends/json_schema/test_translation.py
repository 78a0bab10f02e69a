"""Keyword by keyword: the same values are valid for the grammar and for `jsonschema`."""

from __future__ import annotations

import json
from typing import Any

import pytest

ANYTHING = [None, True, False, 0, -1, 1.5, "", "text", [], [1, "a", [None]], {}, {"a": {"b": [1]}}]

CASES: list[tuple[str, Any, list[Any], list[Any]]] = [
    ("true", True, ANYTHING, []),
    ("empty", {}, ANYTHING, []),
    ("annotations", {"title": "t", "default": 3, "x-mine": [1], "$comment": "c"}, ANYTHING, []),
    ("string", {"type": "string"}, ["", "a\nb", 'q"\\', "é😀"], [None, 1, [], {}]),
    ("integer", {"type": "integer"}, [0, -7, 10**30], [1.5, "1", None, True]),
    ("number", {"type": "number"}, [0, 1.5, -2e30, 1e-7], ["1", None, True]),
    ("boolean", {"type": "boolean"}, [True, False], [0, 1, "true", None]),
    ("null", {"type": "null"}, [None], [0, False, "null"]),
    ("several types", {"type": ["integer", "null"]}, [1, None], [1.5, "a", []]),
    ("number and integer", {"type": ["integer", "number"]}, [1, 1.5], ["a"]),
    (
        "enum",
        {"enum": ["a", 1, None, {"b": [1, {}]}, [], True]},
        ["a", 1, None, {"b": [1, {}]}, [], True],
        ["b", 2, {}],
    ),
    ("enum and type", {"type": "string", "enum": ["a", 1, None]}, ["a"], [1, None, "b"]),
    ("enum and length", {"enum": ["a", "bb", 3], "maxLength": 1}, ["a", 3], ["bb"]),
    ("const", {"const": {"a": [1.5, "x"]}}, [{"a": [1.5, "x"]}], [{"a": [1.5]}, {}, None]),
    ("const false is not 0", {"const": False}, [False], [0, None]),
    ("enum of equal numbers", {"enum": [1, 1.0, 2]}, [1, 2], [3]),
    ("const with a whole float", {"const": 2.0}, [2, 2.0], [2.5]),
    ("enum and const", {"enum": [1, 2], "const": 2}, [2], [1]),
    ("lengths", {"type": "string", "minLength": 2, "maxLength": 3}, ["ab", "éé", "😀😀😀"], ["a", "abcd", "😀"]),
    ("length 1.0", {"type": "string", "maxLength": 1.0}, ["", "a"], ["ab"]),
    ("lengths without type", {"minLength": 2}, ["ab", 1, None, []], ["a"]),
    ("pattern searches", {"type": "string", "pattern": "b+"}, ["b", "abbc"], ["", "ac"]),
    ("pattern with anchors", {"type": "string", "pattern": "^[a-c]{2}$"}, ["ab"], ["abc", "a"]),
    ("pattern and length", {"type": "string", "pattern": "^a*$", "minLength": 2}, ["aa"], ["a", "ab"]),
    ("minimum", {"type": "integer", "minimum": 3}, [3, 10, 400], [2, -5, 0]),
    ("maximum", {"type": "number", "maximum": 2.5}, [2.5, 0, -100.25, 2.49], [2.51, 3, 100]),
    ("exclusive bounds", {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, [0.5, 0.001], [0, 1, -0.0]),
    ("bounds without type", {"minimum": 1}, ["a", 2, None], [0]),
    ("multipleOf", {"type": "integer", "multipleOf": 7, "minimum": -20}, [0, 7, -14, 7000], [1, -21, 8]),
    ("multipleOf without type", {"multipleOf": 2}, [4, "x"], [3]),
    ("items", {"type": "array", "items": {"type": "integer"}}, [[], [1], [1, 2, 3]], [["a"], [1, None]]),
    ("items false", {"type": "array", "items": False}, [[]], [[1]]),
    ("array length", {"type": "array", "minItems": 1, "maxItems": 3}, [[1], [1, 2, 3]], [[], [1, 2, 3, 4]]),
    ("long arrays", {"type": "array", "minItems": 5, "items": {"const": 1}}, [[1] * 5, [1] * 9], [[1] * 4, []]),
    ("maxItems 0", {"type": "array", "maxItems": 0}, [[]], [[1]]),
    ("prefixItems", {"prefixItems": [{"type": "integer"}, {"type": "string"}]}, [[], [1], [1, "a", None]], [["a"]]),
    (
        "prefixItems and items",
        {
            "type": "array",
            "prefixItems": [{"type": "null"}],
            "items": {"type": "integer"},
            "minItems": 2,
            "maxItems": 3,
        },
        [[None, 1], [None, 1, 2]],
        [[None], [1, 1], [None, 1, 2, 3], [None, None]],
    ),
    ("prefix longer than maxItems", {"type": "array", "prefixItems": [{}, {}], "maxItems": 1}, [[], [1]], [[1, 2]]),
    (
        "a prefix that ends",
        {"type": "array", "prefixItems": [{}, {"type": "null"}], "items": False, "minItems": 1},
        [[1], [1, None]],
        [[], [1, 2], [1, None, 1]],
    ),
    (
        "properties",
        {"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}},
        [{}, {"a": 1}, {"b": None}, {"a": 1, "b": 2, "c": 3}],
        [{"a": "x"}, [], None],
    ),
    (
        "required",
        {"type": "object", "properties": {"a": {}, "b": {}, "c": {}}, "required": ["b"]},
        [{"b": 1}, {"a": 1, "b": 2}, {"a": 1, "b": 2, "c": 3, "d": 4}],
        [{}, {"a": 1}, {"a": 1, "c": 3}],
    ),
    ("required without properties", {"type": "object", "required": ["x", "y"]}, [{"x": 1, "y": 2}], [{"x": 1}, {}]),
    (
        "closed",
        {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
        [{}, {"a": 1}],
        [{"b": 1}, {"a": 1, "b": 1}],
    ),
    ("free keys only", {"type": "object", "additionalProperties": {"type": "integer"}}, [{}, {"x": 1}], [{"x": "1"}]),
    (
        "a property of schema false",
        {"type": "object", "properties": {"a": False, "b": {}}},
        [{}, {"b": 1}, {"c": 1}],
        [{"a": 1}, {"a": 1, "b": 2}],
    ),
    (
        "patterns",
        {
            "type": "object",
            "properties": {"n": {"type": "null"}},
            "patternProperties": {"^i": {"type": "integer"}},
            "additionalProperties": {"type": "string"},
        },
        [{}, {"n": None, "i1": 3}, {"i": 1, "s": "x"}],
        [{"i1": "x"}, {"s": 1}, {"n": 1}],
    ),
    (
        "patterns that overlap",
        {
            "type": "object",
            "patternProperties": {"a": {"type": ["integer", "string"]}, "b": {"type": ["integer", "null"]}},
        },
        [{"a": "x"}, {"b": None}, {"ab": 1}, {"c": []}],
        [{"ab": "x"}, {"ba": None}, {"a": None}],
    ),
    (
        "a declared name that matches a pattern",
        {
            "type": "object",
            "properties": {"ab": {"type": ["integer", "null"]}},
            "patternProperties": {"^a": {"minimum": 3}},
        },
        [{"ab": 3}, {"ab": None}, {"a": 4}, {"a": "x"}],
        [{"ab": 2}, {"ab": "x"}, {"a": 2}],
    ),
    (
        "a closed object with patterns",
        {"type": "object", "patternProperties": {"^x-": {}}, "additionalProperties": False},
        [{}, {"x-a": 1}],
        [{"y": 1}],
    ),
    (
        "propertyNames",
        {"type": "object", "propertyNames": {"pattern": "^[a-c]+$"}},
        [{}, {"ab": 1}],
        [{"d": 1}, {"": 1}],
    ),
    ("propertyNames of an enum", {"propertyNames": {"enum": ["a", "b"]}}, [{"a": 1, "b": 2}, 3], [{"c": 1}]),
    (
        "propertyNames and properties",
        {"type": "object", "properties": {"a": {}, "bb": {}}, "propertyNames": {"maxLength": 1}},
        [{"a": 1}, {"c": 1}],
        [{"bb": 1}, {"cc": 1}],
    ),
    ("minProperties 1", {"type": "object", "minProperties": 1}, [{"a": 1}], [{}]),
    (
        "minProperties 1 of optional ones",
        {"type": "object", "properties": {"a": {}, "b": {}}, "minProperties": 1, "additionalProperties": False},
        [{"a": 1}, {"b": 1}, {"a": 1, "b": 2}],
        [{}],
    ),
    (
        "minProperties 2 of four",
        {
            "type": "object",
            "properties": {"a": {}, "b": {}, "c": {}, "d": {}},
            "required": ["c"],
            "minProperties": 2,
            "additionalProperties": False,
        },
        [{"a": 1, "c": 1}, {"c": 1, "d": 1}, {"a": 1, "b": 1, "c": 1, "d": 1}],
        [{"c": 1}, {"a": 1, "b": 1}, {}],
    ),
    ("maxProperties", {"type": "object", "maxProperties": 2}, [{}, {"a": 1, "b": 2}], [{"a": 1, "b": 2, "c": 3}]),
    ("maxProperties 0", {"type": "object", "maxProperties": 0, "properties": {"a": {}}}, [{}], [{"a": 1}]),
    (
        "maxProperties keeps room for what is required",
        {"type": "object", "properties": {"a": {}, "b": {}, "c": {}}, "required": ["c"], "maxProperties": 2},
        [{"c": 1}, {"a": 1, "c": 1}, {"b": 1, "c": 1}, {"c": 1, "x": 1}],
        [{"a": 1, "b": 1, "c": 1}, {"a": 1, "b": 1}],
    ),
    (
        "both counts",
        {
            "type": "object",
            "properties": {"a": {}, "b": {}, "c": {}, "d": {}},
            "minProperties": 2,
            "maxProperties": 3,
            "required": ["d"],
            "additionalProperties": False,
        },
        [{"a": 1, "d": 1}, {"b": 1, "c": 1, "d": 1}],
        [{"d": 1}, {"a": 1, "b": 1, "c": 1, "d": 1}],
    ),
    ("anyOf", {"anyOf": [{"type": "integer"}, {"type": "string", "maxLength": 2}]}, [1, "ab"], ["abc", None]),
    (
        "anyOf beside properties",
        {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        },
        [{"a": 1}, {"b": 1}, {"a": 1, "b": 1}],
        [{}, {"c": 1}, {"a": "x"}],
    ),
    (
        "two anyOf",
        {
            "allOf": [
                {"anyOf": [{"type": "integer"}, {"minLength": 2}]},
                {"anyOf": [{"type": "string"}, {"minimum": 5}]},
            ]
        },
        [5, "ab", 7],
        ["a", 3],
    ),
    (
        "allOf of properties",
        {
            "allOf": [
                {"type": "object", "properties": {"a": {"minimum": 1}}, "required": ["a"]},
                {"properties": {"a": {"type": "integer", "maximum": 3}, "b": {"type": "string"}}, "required": ["b"]},
            ]
        },
        [{"a": 1, "b": ""}, {"a": 3, "b": "x", "c": None}],
        [{"a": 0, "b": ""}, {"a": 4, "b": ""}, {"a": 1}, {"a": 1.5, "b": ""}],
    ),
    (
        "allOf with a closed schema",
        {
            "type": "object",
            "properties": {"a": {}, "b": {}},
            "allOf": [{"properties": {"a": {}}, "additionalProperties": False}],
        },
        [{}, {"a": 1}],
        [{"b": 1}, {"c": 1}],
    ),
    (
        "allOf of strings",
        {"allOf": [{"type": "string", "pattern": "^a"}, {"pattern": "b$"}, {"maxLength": 4}]},
        ["ab", "axyb"],
        ["a", "b", "axxyb"],
    ),
    (
        "allOf of divisors",
        {"type": "integer", "allOf": [{"multipleOf": 4}, {"multipleOf": 6}]},
        [0, 12, -24],
        [4, 6, 8],
    ),
    (
        "allOf of arrays",
        {"type": "array", "allOf": [{"prefixItems": [{"type": "integer"}]}, {"items": {"minimum": 3}, "maxItems": 2}]},
        [[], [3], [4, "a"]],
        [[2], ["a"], [3, 2], [3, 3, 3]],
    ),
    ("oneOf of types", {"oneOf": [{"type": "integer"}, {"type": "string"}]}, [1, "a"], [None, 1.5]),
    (
        "oneOf with a discriminator",
        {
            "type": "object",
            "required": ["kind"],
            "oneOf": [
                {"properties": {"kind": {"const": "a"}, "n": {"type": "integer"}}},
                {"properties": {"kind": {"enum": ["b", "c"]}, "n": {"type": "string"}}},
            ],
        },
        [{"kind": "a", "n": 1}, {"kind": "c", "n": "x"}, {"kind": "b"}],
        [{"kind": "a", "n": "x"}, {"kind": "d"}, {}],
    ),
    (
        "oneOf of ranges",
        {"oneOf": [{"type": "integer", "minimum": 5}, {"type": "number", "maximum": 3}]},
        [5, 3, 0.5],
        [4],
    ),
    ("oneOf of lengths", {"type": "string", "oneOf": [{"maxLength": 2}, {"minLength": 4}]}, ["ab", "abcd"], ["abc"]),
    (
        "oneOf of closed objects",
        {
            "oneOf": [
                {"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": False},
                {"type": "object", "properties": {"b": {}}, "required": ["b"], "additionalProperties": False},
            ]
        },
        [{"a": 1}, {"b": 1}],
        [{}, {"a": 1, "b": 1}],
    ),
    ("not false", {"type": "null", "not": False}, [None], [1]),
    ("an optional property of not {}", {"properties": {"a": {"not": {}}}}, [{}, {"b": 1}, 3], [{"a": 1}]),
    ("uniqueItems of one", {"type": "array", "uniqueItems": True, "maxItems": 1}, [[], [1]], [[1, 1]]),
    ("if alone", {"if": {"type": "string"}}, ANYTHING, []),
]


@pytest.mark.parametrize(("schema", "valid", "invalid"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_grammar_and_jsonschema_agree(judge: Any, schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    judge.agrees(schema, valid, invalid)


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"), [case[1:] for case in CASES[::4]], ids=[c[0] for c in CASES[::4]]
)
def test_the_rules_mean_the_same_to_their_twin(judge: Any, schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    twin = judge.twin(schema)
    for value in [*valid[:6], *invalid]:
        text = json.dumps(value, ensure_ascii=False).encode()
        assert twin.may_end(twin.read(text)) == judge.accepts(judge.grammar(schema), value)


def test_properties_keep_the_order_of_the_schema(judge: Any) -> None:
    grammar = judge.grammar({"properties": {"b": {}, "a": {}}, "required": ["z", "a", "y"]})
    assert judge.accepts(grammar, {"b": 1, "a": 2, "z": 3, "y": 4, "free": 5})
    assert not judge.accepts(grammar, {"a": 2, "b": 1, "z": 3, "y": 4})
    assert not judge.accepts(grammar, {"a": 2, "y": 4, "z": 3})
    assert not judge.accepts(grammar, {"free": 5, "a": 2, "z": 3, "y": 4})


def test_properties_of_combined_schemas_keep_the_order_of_the_text(judge: Any) -> None:
    schema = {
        "type": "object",
        "allOf": [{"properties": {"a": {}}}, {"anyOf": [{"properties": {"b": {}}}, {"properties": {"c": {}}}]}],
        "properties": {"d": {}},
        "oneOf": [{"properties": {"e": {"const": 1}}, "required": ["e"]}, {"properties": {"f": {}, "e": False}}],
        "required": ["z"],
    }
    grammar = judge.grammar(schema)
    assert judge.accepts(grammar, {"a": 1, "b": 1, "d": 1, "e": 1, "z": 1, "free": 1})
    assert judge.accepts(grammar, {"a": 1, "c": 1, "d": 1, "f": 1, "z": 1})
    for first, second in ("ba", "da", "db", "ed", "fd", "ze"):
        names = dict.fromkeys((first, second, "z"), 1)
        assert judge.is_valid(schema, names) == judge.accepts_in_some_order(grammar, names)
        assert not judge.accepts(grammar, names), names


def test_propertynames_is_no_keyword_of_draft_4(judge: Any) -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "propertyNames": {"pattern": "^[0-9]+$"},
        "patternProperties": {".*": {}},
        "enum": [{"x": 1}, {"1": 1}],
    }
    judge.agrees(schema, [{"x": 1}, {"1": 1}], [{"y": 1}])
    del schema["enum"]
    judge.agrees(schema, [{"x": 1}, {"1": 1}], [])


def test_a_declared_key_has_one_spelling_and_is_no_free_key_in_any(judge: Any) -> None:
    grammar = judge.grammar({"type": "object", "properties": {"né": {"type": "integer"}}})
    assert judge.accepts_text(grammar, '{"né":1}')
    for key in ("n\\u00e9", "\\u006eé", "\\u006E\\u00E9"):
        assert not judge.accepts_text(grammar, f'{{"{key}":1}}')
        assert not judge.accepts_text(grammar, f'{{"{key}":"x"}}')
    assert judge.accepts_text(grammar, '{"n\\u00e9e":"x"}')


def test_white_space_stands_between_lexemes_in_runs_of_limited_length(judge: Any) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array"}}}
    grammar = judge.grammar(schema, max_whitespace=3)
    assert judge.accepts_text(grammar, '{ \n\t"a"\r :   [ 1 ,2 ] }')
    assert not judge.accepts_text(grammar, '{    "a":[]}')
    assert not judge.accepts_text(grammar, ' {"a":[]}')
    assert not judge.accepts_text(grammar, '{"a":[]} ')
    compact = judge.grammar(schema, whitespace="compact")
    assert judge.accepts_text(compact, '{"a":[1,2]}')
    assert not judge.accepts_text(compact, '{"a": [1,2]}')


def test_free_strings_take_every_escape_and_patterns_see_the_text(judge: Any) -> None:
    grammar = judge.grammar({"type": "string", "pattern": "^é?/$", "maxLength": 2})
    for text in ('"é/"', '"\\u00e9\\/"', '"\\u00E9\\u002f"', '"/"'):
        assert judge.accepts_text(grammar, text)
    assert not judge.accepts_text(grammar, '"\\ud800"')
    surrogates = judge.grammar({"type": "string", "maxLength": 1, "minLength": 1})
    assert judge.accepts_text(surrogates, '"\\ud83d\\ude00"')
    assert not judge.accepts_text(surrogates, '"\\ud83d"')


def test_numbers_with_bounds_have_no_exponent_and_zero_may_be_negative(judge: Any) -> None:
    assert judge.accepts_text(judge.grammar({"type": "number"}), "-1.5E+10")
    bounded = judge.grammar({"type": "number", "minimum": 0})
    assert judge.accepts_text(bounded, "-0.0")
    assert judge.accepts_text(bounded, "150.00")
    assert not judge.accepts_text(bounded, "1e2")
    assert not judge.accepts_text(judge.grammar({"type": "number", "exclusiveMinimum": 0}), "-0")


def test_draft_4_exclusive_bounds_and_item_lists(judge: Any) -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "properties": {
            "n": {"type": "number", "minimum": 1, "exclusiveMinimum": True, "maximum": 2, "exclusiveMaximum": False},
            "t": {"type": "array", "items": [{"type": "null"}], "additionalItems": {"type": "integer"}},
        },
        "type": "object",
    }
    judge.agrees(
        schema, [{"n": 1.5}, {"n": 2}, {"t": [None, 1]}, {"t": []}], [{"n": 1}, {"n": 3}, {"t": [1]}, {"t": [None, ""]}]
    )


def test_old_drafts_ignore_what_stands_beside_a_reference(judge: Any) -> None:
    schema = {
        "definitions": {"s": {"type": "string"}},
        "properties": {"a": {"$ref": "#/definitions/s", "maxLength": 1}},
    }
    judge.agrees(schema, [{"a": "x"}], [{"a": "xy"}, {"a": 1}])
    judge.agrees({"$schema": "http://json-schema.org/draft-07/schema#", **schema}, [{"a": "xy"}], [{"a": 1}])


def test_recursion_through_merged_schemas_ends(judge: Any) -> None:
    schema = {
        "$defs": {
            "base": {"type": "object", "properties": {"next": {"$ref": "#/$defs/base"}, "n": {"type": "integer"}}},
            "node": {
                "allOf": [
                    {"$ref": "#/$defs/base"},
                    {"properties": {"next": {"$ref": "#/$defs/node"}}, "required": ["n"]},
                ]
            },
        },
        "$ref": "#/$defs/node",
    }
    judge.agrees(schema, [{"n": 1}, {"next": {"next": {"n": 3}, "n": 2}, "n": 1}], [{}, {"next": {}, "n": 1}])


def test_a_schema_referring_to_itself_through_allof_ends(judge: Any) -> None:
    schema = {
        "$defs": {
            "foo": {"type": "object", "properties": {"more": {"allOf": [{"$ref": "#/$defs/foo"}, {"type": "object"}]}}}
        },
        "$ref": "#/$defs/foo",
    }
    judge.agrees(schema, [{}, {"more": {"more": {}}}], [{"more": 1}])
