"""`unevaluatedProperties` and `unevaluatedItems`: what every way to hold evaluates."""

from __future__ import annotations

import copy
import itertools
import json
import random
from typing import Any

import pytest
from hypothesis import strategies as st

from llmask import Compiler, LimitExceeded, Limits
from llmask.errors import GrammarError, UnsatisfiableSchema, UnsupportedSchema
from llmask.frontends.json_schema import SchemaOptions, ledger
from llmask.frontends.json_schema.meaning.evaluated import cases_of
from llmask.frontends.json_schema.reading.pointers import ROOT
from llmask.frontends.json_schema.writing.translation import Translation
from tests.unit.frontends.json_schema.random_schemas import random_schema
from tests.unit.frontends.json_schema.small_worlds import assert_exactly, booleans, cases, rooted, some_of, valid_values

A, B = {"properties": {"a": True}}, {"properties": {"b": True}}
CLOSED = {"unevaluatedProperties": False}


def test_draft_2019_evaluates_nothing_by_contains(judge: Any) -> None:
    # jsonschema reads 2019-09 like 2020-12 here; 2019-09 core, section 9.3.1.3 names no `contains`
    schema = {"contains": {"type": "null"}, "unevaluatedItems": {"type": "integer"}}
    old = judge.grammar({"$schema": "https://json-schema.org/draft/2019-09/schema", **schema})
    new = judge.grammar({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})
    assert not judge.accepts(old, [1, None])
    assert judge.accepts(new, [1, None])


def test_tree_extended_by_a_dynamic_reference(judge: Any) -> None:
    schema = {
        "$id": "https://example.org/strict",
        "$dynamicAnchor": "node",
        "$ref": "tree",
        **CLOSED,
        "$defs": {
            "tree": {
                "$id": "tree",
                "$dynamicAnchor": "node",
                "type": "object",
                "properties": {"data": True, "children": {"type": "array", "items": {"$dynamicRef": "#node"}}},
            }
        },
    }
    valid = [{"data": 1}, {"children": [{"data": 2, "children": []}]}]
    judge.agrees(schema, [], [{"daat": 1}, {"children": [{"daat": 1}]}])
    grammar = judge.grammar(schema)
    assert all(judge.accepts_in_some_order(grammar, value) for value in valid)


def n_cases(judge: Any, schema: Any, **options: Any) -> int:
    translation = Translation(judge.nodes, schema, SchemaOptions(**options))
    return len(cases_of(translation, schema, ROOT))


def test_subsets_of_alternatives_are_told_apart_only_by_what_they_evaluate(judge: Any) -> None:
    plain = [{"required": [name]} for name in "abcdef"]
    alike = [{"properties": {"a": {"const": at}}} for at in range(6)]
    apart = [{"properties": {name: True}} for name in "abcd"]
    assert n_cases(judge, {"anyOf": plain, **CLOSED}) == 1
    assert n_cases(judge, {"anyOf": alike, **CLOSED}) == 6
    assert n_cases(judge, {"anyOf": apart, **CLOSED}) == 15
    assert n_cases(judge, {"anyOf": [*apart, *plain], **CLOSED}) == 16
    assert n_cases(judge, {"oneOf": apart, **CLOSED}) == 4


def test_too_many_cases_meet_a_limit(judge: Any) -> None:
    schema = {"anyOf": [{"properties": {f"k{at}": True}} for at in range(5)], **CLOSED}
    assert n_cases(judge, schema, limits=Limits(max_schema_cases=31)) == 31
    with pytest.raises(LimitExceeded, match="max_schema_cases"):
        n_cases(judge, schema, limits=Limits(max_schema_cases=10))


MEMBER = some_of(
    ("properties", st.dictionaries(st.sampled_from("abc"), st.sampled_from((True, {"type": "integer"})), max_size=2)),
    ("patternProperties", st.just({"^[bc]": True})),
    ("required", st.sampled_from((["a"], ["b"]))),
    ("prefixItems", st.sampled_from(([True], [True, {"type": "integer"}]))),
    ("contains", st.sampled_from(({"type": "integer"}, {"const": "a"}))),
    ("minItems", st.just(1)),
    most=2,
)
SOME = st.lists(MEMBER, min_size=1, max_size=2)
WHOLE = st.tuples(
    some_of(
        ("unevaluatedProperties", booleans(2020) | st.just({"type": "string"})),
        ("unevaluatedItems", booleans(2020) | st.just({"type": "string"})),
        ("properties", st.just({"a": True})),
    ),
    some_of(
        ("allOf", SOME),
        ("anyOf", SOME),
        ("oneOf", SOME),
        ("not", MEMBER),
        ("if", MEMBER),
        ("then", MEMBER),
        ("else", MEMBER),
        ("dependentSchemas", st.dictionaries(st.sampled_from("ab"), MEMBER, max_size=1)),
    ),
).map(lambda pair: pair[0] | pair[1])


@pytest.mark.long
@cases(120, schema=WHOLE)
def test_random_schemas_agree(judge: Any, schema: Any) -> None:
    for one in (schema, {"not": schema}):
        root = rooted(one, True, 2020)
        assert_exactly(judge, root, valid_values(root, 2020))


def test_a_schema_that_is_in_several_places_is_looked_at_once(judge: Any) -> None:
    # 2^40 leaves, of which each was looked at
    schema: dict[str, Any] = {"type": "object", "required": ["a"]}
    for _ in range(40):
        schema = {"anyOf": [schema, schema]}
    context = Translation(judge.nodes, schema, SchemaOptions(limits=Limits(max_schema_keywords=10_000)))
    assert len(cases_of(context, schema, ROOT)) == 1


SHUT = {"unevaluatedProperties": False}
OF_A, OF_B, OF_C = ({"properties": {name: {"type": "integer"}}} for name in "abc")
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
    "then": OF_B,
    "else": OF_C,
}
KINDS = [*VALUES, {"a": "x"}, {"a": "x", "b": 1}, {"a": "x", "c": 1}, {"a": 1, "b": 1}, {"a": 1, "c": 1}]

# a schema, and what it means with `closed=True`
SAME_AS: list[tuple[Any, Any, list[Any]]] = [
    (OF_A, {**OF_A, **SHUT}, VALUES),
    ({**OBJECT, "properties": {}}, {**OBJECT, "properties": {}, **SHUT}, VALUES),
    ({"type": ["object", "integer"], **OF_A}, {"type": ["object", "integer"], **OF_A, **SHUT}, VALUES),
    ({"allOf": [OF_A, OF_B]}, {"allOf": [OF_A, OF_B], **SHUT}, VALUES),
    ({**OF_C, "allOf": [OF_A, {"allOf": [OF_B]}]}, {**OF_C, "allOf": [OF_A, {"allOf": [OF_B]}], **SHUT}, VALUES),
    ({"anyOf": [OF_A, OF_B]}, {"anyOf": [OF_A, OF_B], **SHUT}, VALUES),
    ({**OF_C, "anyOf": [OF_A, OF_B]}, {**OF_C, "anyOf": [OF_A, OF_B], **SHUT}, VALUES),
    (
        {"anyOf": [{**OF_A, "required": ["a"]}, {"type": "integer"}, {**OF_B, "required": ["b"]}]},
        {"anyOf": [{**OF_A, "required": ["a"]}, {"type": "integer"}, {**OF_B, "required": ["b"]}], **SHUT},
        VALUES,
    ),
    (DISCRIMINATED, {**DISCRIMINATED, **SHUT}, KINDS),
    (CONDITIONAL, {**CONDITIONAL, **SHUT}, KINDS),
    ({**OF_A, "dependentSchemas": {"a": OF_B}}, {**OF_A, "dependentSchemas": {"a": OF_B}, **SHUT}, VALUES),
    ({**OF_A, "dependentRequired": {"a": ["b"]}}, {**OF_A, "dependentRequired": {"a": ["b"]}, **SHUT}, VALUES),
    ({**OF_A, "not": {"required": ["a"]}}, {**OF_A, "not": {"required": ["a"]}, **SHUT}, VALUES),
    ({"$defs": {"x": OF_A}, "$ref": "#/$defs/x"}, {"$defs": {"x": OF_A}, "$ref": "#/$defs/x", **SHUT}, VALUES),
    (
        {"$defs": {"x": {"$ref": "#/$defs/y"}, "y": OF_A}, "allOf": [{"$ref": "#/$defs/x"}, OF_B]},
        {"$defs": {"x": {"$ref": "#/$defs/y"}, "y": OF_A}, "allOf": [{"$ref": "#/$defs/x"}, OF_B], **SHUT},
        VALUES,
    ),
    (TREE, {"$defs": {"node": {**TREE["$defs"]["node"], **SHUT}}, "$ref": "#/$defs/node"}, TREES),
    ({"items": OF_A}, {"items": {**OF_A, **SHUT}}, VALUES),
    (
        {"additionalProperties": OF_A},
        {"additionalProperties": {**OF_A, **SHUT}},
        [*VALUES, {"x": {"a": 1}}, {"x": {"b": 1}}],
    ),
    # two schemas of one property are closed together
    (
        {"allOf": [{"properties": {"a": OF_A}}, {"properties": {"a": OF_B}}]},
        {"properties": {"a": {"allOf": [OF_A, OF_B], **SHUT}}, **SHUT},
        [{"a": one} for one in OBJECTS],
    ),
]
# schemas that are not changed
EXPLICIT: list[Any] = [
    True,
    {},
    OBJECT,
    {"required": ["a"]},
    {**OF_A, "additionalProperties": True},
    {**OF_A, "additionalProperties": {"type": "integer"}},
    {**OF_A, "additionalProperties": False},
    {**OF_A, "patternProperties": {"^x": {}}},
    {**OF_A, "patternProperties": {}, "unevaluatedProperties": True},
    {**OF_A, "unevaluatedProperties": False},
    {**OF_A, "unevaluatedProperties": {"type": "null"}},
    {"allOf": [OF_A, {"additionalProperties": True}]},
    {"allOf": [OF_A, {"patternProperties": {"^x": {}}}]},
    {"$defs": {"open": {"additionalProperties": True}}, **OF_A, "$ref": "#/$defs/open"},
    {**OF_A, "enum": [{"a": 1, "z": 2}]},
    {"allOf": [OF_A, {"const": {"a": 1, "z": 2}}]},
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
    schema = {
        "anyOf": [{**OF_A, "required": ["a"]}, {**OF_B, "required": ["b"], "additionalProperties": True}],
        **OBJECT,
    }
    grammar = judge.grammar(schema, closed=True, property_order="any")
    verdicts = {json.dumps(value): judge.accepts_in_some_order(grammar, value) for value in OBJECTS}
    assert verdicts == {json.dumps(value): "b" in value or value == {"a": 1} for value in OBJECTS}


def test_older_drafts_are_closed_as_well(judge: Any) -> None:
    for draft in ("http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-07/schema#"):
        grammar = judge.grammar({"$schema": draft, "allOf": [OF_A, OF_B]}, closed=True)
        assert judge.accepts(grammar, {"a": 1, "b": 1})
        assert not judge.accepts_in_some_order(grammar, {"a": 1, "c": 1})
    grammar = judge.grammar({**OF_A, "nullable": True, **OBJECT}, closed=True, dialect="openapi-3.0")
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
    contained = {"type": "array", "contains": {**OF_A, "required": ["a"]}, "items": OF_B}
    counted = judge.grammar(contained, closed=True, property_order="any")
    assert judge.accepts(counted, [{"b": 1}, {"a": 1, "b": 2}])
    assert not judge.accepts(counted, [{"a": 1, "c": 1}])
    assert not judge.accepts(counted, [{"a": 1, "b": 2}, {"c": 1}])


def test_values_of_an_enumeration_stay_as_they_are_listed(judge: Any) -> None:
    listed = [{"a": {"b": 1, "c": 2}, "d": [{"a": 1, "z": 1}]}]
    schema = {"enum": listed, "properties": {"a": {"properties": {"b": {}}}, "d": {"items": OF_A}}}
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
        judge.grammar({**OBJECT, **OF_A, "required": ["b"]}, closed=True)


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
    schema = {**OF_A, "allOf": [{**OF_B, "additionalProperties": True}, {"enum": [1], **OF_C}]}
    fates = {entry[0]: entry[2] for entry in judge.translate(schema, closed=True).ledger if entry[1] == "properties"}
    assert fates == {"#": f"enforced: {ledger.CLOSED}", "#/allOf/0": "enforced", "#/allOf/1": "enforced"}
    assert all(ledger.CLOSED not in entry[2] for entry in judge.translate(schema).ledger)
    two = {"properties": {"a": {}, "b": {}}}
    assert judge.translate(two, closed=True).ledger == [
        ("#", "properties", f"enforced: properties are written in this order; {ledger.CLOSED}")
    ]


def test_the_cache_and_saved_grammars_know_the_option(byte_tokenizer: Any) -> None:
    compiler = Compiler(byte_tokenizer)
    opened, shut = compiler.json_schema(OF_A), compiler.json_schema(OF_A, closed=True)
    assert opened is not shut
    for grammar, is_closed in ((opened, False), (shut, True)):
        again = Compiler(byte_tokenizer).load(grammar.save())
        assert again.accepts('{"z": 1}') is not is_closed
    with pytest.raises(GrammarError, match="the option closed must be False or True, not 1"):
        compiler.json_schema(OF_A, closed=1)  # type: ignore[arg-type]


def test_the_schema_of_the_caller_is_left_alone(byte_tokenizer: Any) -> None:
    schema = {**OBJECT, **copy.deepcopy(OF_A)}
    before = copy.deepcopy(schema)
    Compiler(byte_tokenizer).json_schema(schema, closed=True)
    assert schema == before
