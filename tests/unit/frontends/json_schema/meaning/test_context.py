"""What is known of the schema in hand."""

from __future__ import annotations

from typing import Any

import pytest

from llmask.errors import GrammarError, LimitExceeded, UnsupportedSchema
from llmask.frontends.json_schema import SchemaOptions
from llmask.frontends.json_schema.meaning.context import Context
from llmask.frontends.json_schema.reading.pointers import ROOT
from llmask.grammar.kinds import StateId
from llmask.limits import Limits


def context(judge: Any, schema: Any, **options: Any) -> Context:
    return Context(judge.nodes, schema, SchemaOptions(**options))


def test_schemas_of_the_same_keys_share_a_shape(judge: Any) -> None:
    here = context(judge, True)
    one, other = {"type": "string", "minLength": 1}, {"type": "null", "minLength": 2}
    assert here.shape(one, ROOT) is here.shape(other, ROOT)
    assert here.shape(one, ROOT) is not here.shape({"minLength": 1, "type": "string"}, ROOT)


def test_values_are_checked_once_and_each(judge: Any) -> None:
    here = context(judge, True)
    here.shape({"minLength": 1}, ROOT)
    with pytest.raises(GrammarError, match='"minLength" must be a non-negative integer, not -1'):
        here.shape({"minLength": -1}, ROOT)
    with pytest.raises(GrammarError, match="a schema must be an object or a boolean, not 'string'"):
        here.shape("string", ROOT)


def test_a_shape_is_read_by_the_draft_of_its_document(judge: Any) -> None:
    inner = {"$schema": "http://json-schema.org/draft-04/schema#", "id": "https://example.org/inner", "const": 1}
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "const": 1}
    here = context(judge, schema)
    assert here.shape(schema, ROOT).has_const
    assert not context(judge, inner).shape(inner, ROOT).has_const


def test_keywords_of_other_drafts_are_noted_once(judge: Any) -> None:
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", "const": 1}
    here = context(judge, schema)
    here.shape(schema, ROOT)
    here.ignore("const", "#/const", "another reason")
    assert list(here.warnings) == ["#/const"]
    assert "draft" in here.warnings["#/const"]


def test_long_values_are_shortened_in_messages(judge: Any) -> None:
    for value, shown in (
        ("x" * 60, "'" + "x" * 36 + "..."),
        ({}, "an empty object"),
        ([], "an empty list"),
        ({"a": 1}, "an object"),
        ([1], "a list"),
        (-(10**5000), "a number of"),
    ):
        with pytest.raises(GrammarError) as caught:
            context(judge, True).shape({"minLength": value}, ROOT)
        assert f"not {shown}" in caught.value.message


def test_what_is_made_for_a_key_is_kept(judge: Any) -> None:
    here = context(judge, True)
    made = here.synthetic(("a", 1), lambda: {"type": "null"})
    assert here.synthetic(("a", 1), lambda: {"type": "string"}) is made


def test_work_and_depth_are_limited(judge: Any) -> None:
    here = context(judge, True, limits=Limits(max_schema_keywords=10, max_schema_depth=3))
    here.count_work(10)
    with pytest.raises(LimitExceeded, match="max_schema_keywords"):
        here.count_work()
    here.check_depth(3, ROOT)
    with pytest.raises(LimitExceeded) as caught:
        here.check_depth(4, (ROOT, "items"))
    assert caught.value.where == "#/items"
    deep: Any = ROOT
    for _ in range(400):
        deep = (deep, "items")
    with pytest.raises(LimitExceeded) as caught:
        here.check_depth(4, deep)
    assert caught.value.where == "#" + 13 * "/items" + "/..., a place below"


def test_a_place_is_known_by_its_schemas_in_any_order(judge: Any) -> None:
    one, other = {"type": "string"}, {"type": "string"}
    here = context(judge, {"allOf": [one, other]})
    places = [(one, (ROOT, "allOf", 0)), (other, (ROOT, "allOf", 1))]
    assert here.place_key(places) == here.place_key(places[::-1])
    assert here.place_key(places) != here.place_key(places[:1])


def test_references_are_followed_to_all_their_targets(judge: Any) -> None:
    schema = {"$ref": "#/$defs/a", "$dynamicRef": "#b", "$defs": {"a": {"type": "null"}, "b": {"$dynamicAnchor": "b"}}}
    here = context(judge, schema)
    found = here.targets(schema, ROOT, here.shape(schema, ROOT))
    assert [target for target, _ in found] == [schema["$defs"]["a"], schema["$defs"]["b"]]


def test_values_that_always_exist_need_not_be_noted(judge: Any) -> None:
    here = context(judge, {"properties": {"a": {"type": "string"}, "b": {"type": "string", "minLength": 2}}})
    end = StateId(9)
    for at, name in enumerate("ab"):
        here.note_counted(StateId(at), end, [(here.schema["properties"][name], (ROOT, "properties", name))])
    here.note_counted(StateId(2), end, [])
    assert list(here.counted) == [1]


def test_keys_have_one_lexeme_each(judge: Any) -> None:
    here = context(judge, True)
    assert here.key_node("a", []) == here.key_node("a", [(True, ROOT)]) != here.key_node("b", [])
    assert judge.nodes.matches(here.key_node("é", []), '"é"'.encode())


CAT = {"type": "object", "properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}}}
DOG = {"type": "object", "properties": {"kind": {"const": "dog"}, "name": {"type": "string"}}}


@pytest.mark.parametrize("word", ["oneOf", "anyOf"])
def test_the_property_that_a_discriminator_names_must_come(judge: Any, word: str) -> None:
    # OpenAPI says so; without the tag nobody knows which alternative was meant
    schema = {word: [{"$ref": "#/$defs/cat"}, DOG], "discriminator": {"propertyName": "kind"}, "$defs": {"cat": CAT}}
    grammar = judge.grammar(schema)
    assert judge.accepts(grammar, {"kind": "cat", "lives": 9})
    assert judge.accepts(grammar, {"kind": "dog"})
    assert not judge.accepts(grammar, {"lives": 9})
    assert not judge.accepts(grammar, {})


@pytest.mark.parametrize("tag", ["kind", {}, {"propertyName": 1}, None])
def test_a_discriminator_that_names_nothing_asks_nothing(judge: Any, tag: Any) -> None:
    assert judge.accepts(judge.grammar({"anyOf": [CAT, DOG], "discriminator": tag}), {"lives": 9})


def test_a_discriminator_beside_no_alternatives_asks_nothing(judge: Any) -> None:
    assert judge.accepts(judge.grammar({**CAT, "discriminator": {"propertyName": "kind"}}), {"lives": 9})


# --- what is refused for want of a way to enforce it

EQUAL_ITEMS = 'the negation of "uniqueItems" is not supported where the number of items has a limit'
# schema, keyword, its place, the reason: nothing else is refused. A row goes when its keyword is enforced.
REFUSED: list[tuple[Any, str, str, str]] = [
    ({"not": {"uniqueItems": True}, "maxItems": 3}, "uniqueItems", "#/not/uniqueItems", EQUAL_ITEMS),
    (
        {"properties": {"a": {"if": {"type": "null"}, "else": {"items": False, "not": {"uniqueItems": True}}}}},
        "uniqueItems",
        "#/properties/a/else/not/uniqueItems",
        EQUAL_ITEMS,
    ),
]
# Beside the same keywords, where they ask nothing that is not enforced.
ACCEPTED: list[Any] = [
    {"uniqueItems": True},
    {"not": {"uniqueItems": True}},
    {"not": {"uniqueItems": True, "type": "string"}, "type": "array"},
    {"not": {"uniqueItems": False, "minItems": 1}},
    {"minProperties": 2, "maxProperties": 2},
    {"not": {"additionalProperties": {"type": "null"}}},
]


@pytest.mark.parametrize(("schema", "keyword", "where", "reason"), REFUSED, ids=[row[3] for row in REFUSED])
def test_what_is_refused_may_be_ignored_and_is_listed_then(
    judge: Any, schema: Any, keyword: str, where: str, reason: str
) -> None:
    with pytest.raises(UnsupportedSchema) as caught:
        judge.translate(schema)
    assert (caught.value.where, caught.value.message) == (where, reason)
    assert caught.value.help == 'Remove it, or pass unsupported="ignore" to accept that.'
    made = judge.translate(schema, unsupported="ignore")
    assert made.warnings == [f'"{keyword}" at {where} is not enforced: {reason}']
    # the ledger once called it enforced, as the warning named a place where no keyword stands
    assert (where.removesuffix(f"/{keyword}"), keyword, f"ignored: {reason}") in made.ledger


@pytest.mark.parametrize("schema", ACCEPTED, ids=str)
def test_what_asks_nothing_of_the_kind_is_accepted(judge: Any, schema: Any) -> None:
    assert judge.translate(schema).warnings == []


def test_what_is_not_ignored_is_still_enforced(judge: Any) -> None:
    schema = {"type": "array", "items": {"type": "integer"}, "not": {"uniqueItems": True, "contains": True}}
    grammar = judge.grammar(schema, unsupported="ignore")
    assert judge.accepts(grammar, [1, 1])
    assert not judge.accepts(grammar, [1, "a"])


def test_unknown_formats_are_annotations_and_listed(judge: Any) -> None:
    grammar = judge.translate({"type": "string", "format": "int32"})
    assert grammar.warnings == [
        '"format" at #/format is not enforced: the format "int32" is unknown, so it is an annotation'
    ]
