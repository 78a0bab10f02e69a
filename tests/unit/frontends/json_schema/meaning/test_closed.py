"""`closed=True`: which keys an object takes, beside the schema that says so with `unevaluatedProperties`."""

from __future__ import annotations

import copy
import itertools
import json
import random
from typing import Any

import pytest

from llmask import Compiler, LimitExceeded, Limits
from llmask.errors import GrammarError, UnsatisfiableSchema, UnsupportedSchema
from llmask.frontends.json_schema.ledger import CLOSED
from llmask.frontends.json_schema.meaning.closed import closed_object
from tests.unit.frontends.json_schema.random_schemas import random_schema

SHUT = {"unevaluatedProperties": False}
A, B, C = ({"properties": {name: {"type": "integer"}}} for name in "abc")
OBJECT = {"type": "object"}
OBJECTS = [dict.fromkeys(names, 1) for n in range(4) for names in itertools.combinations("abcd", n)]
VALUES = [*OBJECTS, {"a": "x"}, {"b": True}, 1, None, "a", [], [{"a": 1}, {"a": 1, "d": 1}]]
TREE: dict[str, Any] = {
    "$defs": {"node": {**OBJECT, "properties": {"a": {"$ref": "#/$defs/node"}, "b": {"type": "integer"}}}},
    "$ref": "#/$defs/node",
}
TREES = [{"a": {"b": 1}}, {"a": {"a": {}}}, {"a": {"c": 1}}, {"a": {"a": {"d": 1}}}, {"c": {}}, {}]
DISCRIMINATED = {
    "oneOf": [
        {**OBJECT, "properties": {"a": {"const": 1}, "b": {}}, "required": ["a"]},
        {**OBJECT, "properties": {"a": {"const": "x"}, "c": {}}, "required": ["a"]},
    ]
}
CONDITIONAL = {
    **OBJECT,
    "properties": {"a": {"enum": [1, "x"]}},
    "if": {"properties": {"a": {"const": "x"}}, "required": ["a"]},
    "then": B,
    "else": C,
}
KINDS = [*VALUES, {"a": "x"}, {"a": "x", "b": 1}, {"a": "x", "c": 1}, {"a": 1, "b": 1}, {"a": 1, "c": 1}]

# a schema, and what it means with `closed=True`
SAME_AS: list[tuple[Any, Any, list[Any]]] = [
    (A, {**A, **SHUT}, VALUES),
    ({**OBJECT, "properties": {}}, {**OBJECT, "properties": {}, **SHUT}, VALUES),
    ({"type": ["object", "integer"], **A}, {"type": ["object", "integer"], **A, **SHUT}, VALUES),
    ({"allOf": [A, B]}, {"allOf": [A, B], **SHUT}, VALUES),
    ({**C, "allOf": [A, {"allOf": [B]}]}, {**C, "allOf": [A, {"allOf": [B]}], **SHUT}, VALUES),
    ({"anyOf": [A, B]}, {"anyOf": [A, B], **SHUT}, VALUES),
    ({**C, "anyOf": [A, B]}, {**C, "anyOf": [A, B], **SHUT}, VALUES),
    (
        {"anyOf": [{**A, "required": ["a"]}, {"type": "integer"}, {**B, "required": ["b"]}]},
        {"anyOf": [{**A, "required": ["a"]}, {"type": "integer"}, {**B, "required": ["b"]}], **SHUT},
        VALUES,
    ),
    (DISCRIMINATED, {**DISCRIMINATED, **SHUT}, KINDS),
    (CONDITIONAL, {**CONDITIONAL, **SHUT}, KINDS),
    ({**A, "dependentSchemas": {"a": B}}, {**A, "dependentSchemas": {"a": B}, **SHUT}, VALUES),
    ({**A, "dependentRequired": {"a": ["b"]}}, {**A, "dependentRequired": {"a": ["b"]}, **SHUT}, VALUES),
    ({**A, "not": {"required": ["a"]}}, {**A, "not": {"required": ["a"]}, **SHUT}, VALUES),
    ({"$defs": {"x": A}, "$ref": "#/$defs/x"}, {"$defs": {"x": A}, "$ref": "#/$defs/x", **SHUT}, VALUES),
    (
        {"$defs": {"x": {"$ref": "#/$defs/y"}, "y": A}, "allOf": [{"$ref": "#/$defs/x"}, B]},
        {"$defs": {"x": {"$ref": "#/$defs/y"}, "y": A}, "allOf": [{"$ref": "#/$defs/x"}, B], **SHUT},
        VALUES,
    ),
    (TREE, {"$defs": {"node": {**TREE["$defs"]["node"], **SHUT}}, "$ref": "#/$defs/node"}, TREES),
    ({"items": A}, {"items": {**A, **SHUT}}, VALUES),
    ({"additionalProperties": A}, {"additionalProperties": {**A, **SHUT}}, [*VALUES, {"x": {"a": 1}}, {"x": {"b": 1}}]),
    # two schemas of one property are closed together
    (
        {"allOf": [{"properties": {"a": A}}, {"properties": {"a": B}}]},
        {"properties": {"a": {"allOf": [A, B], **SHUT}}, **SHUT},
        [{"a": one} for one in OBJECTS],
    ),
]
# schemas that are not changed
EXPLICIT: list[Any] = [
    True,
    {},
    OBJECT,
    {"required": ["a"]},
    {**A, "additionalProperties": True},
    {**A, "additionalProperties": {"type": "integer"}},
    {**A, "additionalProperties": False},
    {**A, "patternProperties": {"^x": {}}},
    {**A, "patternProperties": {}, "unevaluatedProperties": True},
    {**A, "unevaluatedProperties": False},
    {**A, "unevaluatedProperties": {"type": "null"}},
    {"allOf": [A, {"additionalProperties": True}]},
    {"allOf": [A, {"patternProperties": {"^x": {}}}]},
    {"$defs": {"open": {"additionalProperties": True}}, **A, "$ref": "#/$defs/open"},
    {**A, "enum": [{"a": 1, "z": 2}]},
    {"allOf": [A, {"const": {"a": 1, "z": 2}}]},
    {"type": "array", "items": {"type": "integer"}},
]


@pytest.mark.parametrize(("schema", "meant", "values"), SAME_AS)
@pytest.mark.parametrize("order", ["schema", "any"])
def test_places_that_declare_keys_take_no_others(
    judge: Any, schema: Any, meant: Any, values: list[Any], order: str
) -> None:
    grammar = judge.grammar(copy.deepcopy(schema), closed=True, property_order=order)
    for value in values:
        assert judge.accepts_in_some_order(grammar, value) == judge.is_valid(meant, value), value
        if judge.is_valid(meant, value):
            assert judge.is_valid(schema, value)


@pytest.mark.parametrize("schema", EXPLICIT)
def test_what_speaks_of_other_keys_stays_as_it_is(judge: Any, schema: Any) -> None:
    one, other = (judge.translate(copy.deepcopy(schema), closed=is_closed).rules for is_closed in (False, True))
    assert list(one.edges) == list(other.edges)


def test_each_alternative_decides_for_itself(judge: Any) -> None:
    schema = {"anyOf": [{**A, "required": ["a"]}, {**B, "required": ["b"], "additionalProperties": True}], **OBJECT}
    grammar = judge.grammar(schema, closed=True, property_order="any")
    verdicts = {json.dumps(value): judge.accepts_in_some_order(grammar, value) for value in OBJECTS}
    assert verdicts == {json.dumps(value): "b" in value or value == {"a": 1} for value in OBJECTS}


def test_older_drafts_are_closed_as_well(judge: Any) -> None:
    for draft in ("http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-07/schema#"):
        grammar = judge.grammar({"$schema": draft, "allOf": [A, B]}, closed=True)
        assert judge.accepts(grammar, {"a": 1, "b": 1})
        assert not judge.accepts_in_some_order(grammar, {"a": 1, "c": 1})
    grammar = judge.grammar({**A, "nullable": True, **OBJECT}, closed=True, dialect="openapi-3.0")
    assert [judge.accepts(grammar, value) for value in (None, {"a": 1}, {"b": 1})] == [True, True, False]


def test_items_that_are_counted_or_must_differ_are_closed(judge: Any) -> None:
    """Closed items may have few values; so they run out, which is to be known before the array is long."""
    few = {**OBJECT, "properties": {"a": {"enum": [1, 2]}}}
    grammar = judge.grammar({"type": "array", "items": few, "uniqueItems": True}, closed=True)
    assert judge.accepts(grammar, [{"a": 1}, {}, {"a": 2}])
    assert not judge.accepts(grammar, [{"a": 1}, {"d": 1}])
    matcher = judge.after(grammar.matcher(), b'[{"a": 1}, {}, {"a": 2}')
    assert matcher.forced_bytes() == b"]" or judge.after(matcher, b",") is None
    with pytest.raises(UnsatisfiableSchema):
        judge.grammar({"type": "array", "items": few, "uniqueItems": True, "minItems": 4}, closed=True)
    contained = {"type": "array", "contains": {**A, "required": ["a"]}, "items": B}
    counted = judge.grammar(contained, closed=True, property_order="any")
    assert judge.accepts(counted, [{"b": 1}, {"a": 1, "b": 2}])
    assert not judge.accepts(counted, [{"a": 1, "c": 1}])
    assert not judge.accepts(counted, [{"a": 1, "b": 2}, {"c": 1}])


def test_values_of_an_enumeration_stay_as_they_are_listed(judge: Any) -> None:
    listed = [{"a": {"b": 1, "c": 2}, "d": [{"a": 1, "z": 1}]}]
    schema = {"enum": listed, "properties": {"a": {"properties": {"b": {}}}, "d": {"items": A}}}
    assert judge.accepts(judge.grammar(schema, closed=True), listed[0])


def test_alternatives_that_exclude_each_other_are_not_combined(judge: Any) -> None:
    """Thirty kinds of objects have 2**30 subsets, of which none of two kinds allows anything."""
    kinds = [{**OBJECT, "properties": {"kind": {"const": n}, f"x{n}": {}}, "required": ["kind"]} for n in range(30)]
    grammar = judge.grammar({"anyOf": kinds}, closed=True)
    assert judge.accepts(grammar, {"kind": 7, "x7": 1})
    assert not judge.accepts(grammar, {"kind": 7, "x8": 1})


def test_too_many_ways_are_a_limit(judge: Any) -> None:
    schema = {"anyOf": [{"properties": {f"x{n}": {}}} for n in range(30)]}
    with pytest.raises(LimitExceeded, match="max_schema_cases"):
        judge.grammar(schema, closed=True, limits=Limits(max_schema_cases=100))


@pytest.mark.parametrize(
    "schema", [{"$ref": "#"}, {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}]
)
def test_references_to_nothing_are_told(judge: Any, schema: Any) -> None:
    with pytest.raises(GrammarError, match="refers to itself without describing anything"):
        judge.grammar(schema, closed=True)


def test_a_required_key_that_nothing_declares_is_refused(judge: Any) -> None:
    with pytest.raises(UnsatisfiableSchema):
        judge.grammar({**OBJECT, **A, "required": ["b"]}, closed=True)


def test_closed_documents_are_valid_for_the_schema_as_it_is_written(judge: Any) -> None:
    rng = random.Random(7)
    n_documents = 0
    for _ in range(150):
        schema = random_schema(rng, 3)
        try:
            grammar = judge.grammar(copy.deepcopy(schema), closed=True)
        except (UnsatisfiableSchema, UnsupportedSchema, LimitExceeded):
            continue
        for _ in range(3):
            text = judge.walk(grammar, rng)
            if text:
                n_documents += 1
                assert judge.is_valid(schema, json.loads(text)), (schema, text)
    assert n_documents > 150


def test_the_ledger_says_where_it_holds(judge: Any) -> None:
    schema = {**A, "allOf": [{**B, "additionalProperties": True}, {"enum": [1], **C}]}
    fates = {entry[0]: entry[2] for entry in judge.translate(schema, closed=True).ledger if entry[1] == "properties"}
    assert fates == {"#": f"enforced: {CLOSED}", "#/allOf/0": "enforced", "#/allOf/1": "enforced"}
    assert all(CLOSED not in entry[2] for entry in judge.translate(schema).ledger)
    two = {"properties": {"a": {}, "b": {}}}
    assert judge.translate(two, closed=True).ledger == [
        ("#", "properties", f"enforced: properties are written in this order; {CLOSED}")
    ]


def test_the_cache_and_saved_grammars_know_the_option(byte_tokenizer: Any) -> None:
    compiler = Compiler(byte_tokenizer)
    opened, shut = compiler.json_schema(A), compiler.json_schema(A, closed=True)
    assert opened is not shut
    for grammar, is_closed in ((opened, False), (shut, True)):
        again = Compiler(byte_tokenizer).load(grammar.save())
        assert again.accepts('{"z": 1}') is not is_closed
    with pytest.raises(GrammarError, match="the option closed must be False or True, not 1"):
        compiler.json_schema(A, closed=1)  # type: ignore[arg-type]


def test_the_schema_of_the_caller_is_left_alone(byte_tokenizer: Any) -> None:
    schema = {**OBJECT, **copy.deepcopy(A)}
    before = copy.deepcopy(schema)
    Compiler(byte_tokenizer).json_schema(schema, closed=True)
    assert schema == before
    assert closed_object(schema) == {**before, "additionalProperties": False}
    assert schema == before
