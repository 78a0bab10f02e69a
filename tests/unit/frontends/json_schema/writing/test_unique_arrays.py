"""`uniqueItems`: items that all differ, in every way of writing them."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from llmask.errors import LimitExceeded, UnsatisfiableSchema
from llmask.frontends.json_schema import SchemaOptions
from llmask.frontends.json_schema.meaning.array_layout import ArrayLayout
from llmask.frontends.json_schema.meaning.conjunction import conjunction_of
from llmask.frontends.json_schema.meaning.matching import Matching
from llmask.frontends.json_schema.reading.pointers import ROOT
from llmask.frontends.json_schema.writing.translation import Translation
from llmask.frontends.json_schema.writing.unique_arrays import refuses_equal_items
from llmask.limits import Limits
from tests.unit.frontends.json_schema.small_worlds import assert_exactly, cases, dead_end, rooted, some_of, valid_values

UNIQUE = {"type": "array", "uniqueItems": True}


def test_the_way_of_writing_does_not_make_a_difference(judge: Any) -> None:
    grammar = judge.grammar({**UNIQUE, "items": {"type": ["string", "number", "object"]}})
    for text in (r'["a","\u0061"]', "[1,1.0]", "[10,10.00]", "[0,-0]", r'["é","\u00e9"]', r'[{"a":1},{"\u0061":1.0}]'):
        assert not grammar.accepts(text), text
    for text in (r'["a","\u0062"]', "[1,10]", '["a","aa"]', '["1",1]', '[{"a":1},{"a":1,"b":1}]'):
        assert grammar.accepts(text), text


def test_arrays_within_arrays_differ_by_what_they_hold(judge: Any) -> None:
    schema = {**UNIQUE, "items": {**UNIQUE, "items": {"type": "integer"}}}
    judge.agrees(schema, [[[1], [2], [1, 2], [2, 1]], [[], [1]]], [[[1], [1]], [[1, 1]], [[], []], [[1, 2], [1, 2]]])


@pytest.mark.parametrize(
    "schema",
    [
        {"items": {"type": "boolean"}, "minItems": 3},
        {"prefixItems": [{"const": 1}, {"const": 1}], "minItems": 2},
        {"items": {"enum": [1, 1.0]}, "minItems": 2},
        {"minItems": 2, "maxItems": 1},
    ],
    ids=str,
)
def test_too_few_values_are_known_beforehand(judge: Any, schema: Any) -> None:
    with pytest.raises(UnsatisfiableSchema):
        judge.grammar({**UNIQUE, **schema})


MANY = [f"w{at}" for at in range(65)]


def test_the_last_of_many_items_leaves_no_item_without_a_value(judge: Any) -> None:
    """Only 64 of the items that had to come were looked at: `["w0"` was allowed here, and 65 more are not to be had."""
    schema = {**UNIQUE, "prefixItems": [{"enum": ["x", *MANY]}], "items": {"enum": MANY}, "minItems": 66}
    grammar = judge.grammar(schema, whitespace="compact")
    assert grammar.matcher().forced_bytes() == b'["x","w'
    judge.agrees(schema, [["x", *MANY], ["x", *MANY[::-1]]], [["x", *MANY[1:]], [*MANY, "x"], [*MANY]])


@pytest.mark.parametrize("low", [66, 10**9])
def test_many_items_without_values_enough_are_known_beforehand(judge: Any, low: int) -> None:
    """The same of the whole array: no document was left, and it compiled."""
    with pytest.raises(UnsatisfiableSchema):
        judge.grammar({**UNIQUE, "prefixItems": [{"enum": MANY}], "items": {"enum": MANY}, "minItems": low})


@pytest.mark.parametrize("beside", [{}, {"contains": {"type": "string"}}], ids=["alone", "contains"])
def test_more_items_than_are_remembered_are_refused(judge: Any, beside: Any) -> None:
    """It compiled, and every document met the limit before it could end."""
    schema = {**UNIQUE, **beside, "minItems": 5}
    limits = Limits(max_unique_values=4)
    with pytest.raises(LimitExceeded) as caught:
        judge.translate(schema, limits=limits)
    assert str(caught.value) == (
        "an array needs 5 items that differ, and at most 4 are remembered (limits.max_unique_values)\n  at #\n"
        "  Use a smaller minItems or raise the limit."
    )
    judge.translate({**schema, "minItems": 4}, limits=limits)
    judge.translate({"anyOf": [{**schema, "maxItems": 4}, {"type": "null"}]}, limits=limits)  # nothing is that array


@pytest.mark.long
@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_alternatives_that_list_values_are_counted_however_many(judge: Any, keyword: str) -> None:
    """More than 64 alternatives were taken to be many values: 66 different ones of 65 were asked for."""
    schema = {**UNIQUE, "items": {keyword: [{"const": name, "title": name} for name in MANY]}}
    with pytest.raises(UnsatisfiableSchema):
        judge.grammar({**schema, "minItems": 66})
    judge.agrees({**schema, "minItems": 65}, [MANY, MANY[::-1]], [MANY[1:], [*MANY[1:], "w1"], [*MANY, "w0"]])


LISTED = st.fixed_dictionaries({"enum": st.lists(st.sampled_from((0, 1, 2, "a")), min_size=1, max_size=3, unique=True)})
ITEMS = [[list(items) for items in product((0, 1, 2, "a"), repeat=n)] for n in range(5)]


@pytest.mark.long
@cases(60, prefix=st.lists(LISTED | st.just(True), min_size=1, max_size=3), items=LISTED, low=st.integers(1, 4))
def test_arrays_of_listed_items_are_those_of_the_definition(judge: Any, prefix: Any, items: Any, low: int) -> None:
    """Beside the small validator of `jsonschema`, every array of four values; and nothing that cannot be ended."""
    schema = {**UNIQUE, "prefixItems": prefix, "items": items, "minItems": low}
    validator = Draft202012Validator(schema)
    try:
        grammar = judge.grammar(schema)
    except UnsatisfiableSchema:
        assert not any(validator.is_valid(array) for arrays in ITEMS for array in arrays)
        return
    for arrays in ITEMS[low:]:
        for array in arrays:
            assert grammar.accepts(json.dumps(array)) == validator.is_valid(array), (schema, array)
    assert dead_end(judge, schema, most=150) is None


def counted_calls(monkeypatch: pytest.MonkeyPatch, name: str) -> list[Any]:
    """Results of a method of `Matching`, from now on."""
    results: list[Any] = []
    method = getattr(Matching, name)

    def counted(*arguments: Any) -> Any:
        results.append(method(*arguments))
        return results[-1]

    monkeypatch.setattr(Matching, name, counted)
    return results


@pytest.mark.long
def test_items_of_one_kind_that_must_all_come_need_no_matching(judge: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of 200 names was asked about, with a matching of its own: 4.7 s a document of 100 of 100 names."""
    names = [f"name{at}" for at in range(200)]
    searches = counted_calls(monkeypatch, "_search")
    for schema in ({"items": {"enum": names}}, {"prefixItems": [{"enum": names}] * 200}):
        grammar = judge.grammar({**UNIQUE, **schema, "minItems": 200, "maxItems": 200}, whitespace="compact")
        for order in (names, names[::-1]):
            matcher = grammar.matcher()
            matcher.accept_bytes(json.dumps(order[:-1], separators=(",", ":"))[:-1].encode())
            assert matcher.forced_bytes() == f',"{order[-1]}"]'.encode()
    assert not searches


@pytest.mark.long
def test_many_items_of_two_values_are_matched_once(judge: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """600 of them took 27 s to compile: a matching of all for each value that one of them may leave to others."""
    searches = counted_calls(monkeypatch, "_search")
    schema = {**UNIQUE, "prefixItems": [{"enum": [at, at + 1]} for at in range(600)], "minItems": 600}
    grammar = judge.grammar(schema, whitespace="compact", numbers="plain")
    assert len(searches) <= 605
    searches.clear()
    matcher = grammar.matcher()
    for at in range(600):
        matcher.accept_bytes(b"[0" if at == 0 else f",{at + (at > 20)}".encode())
        if at == 21:
            assert matcher.forced_bytes().startswith(b",23,24,25,26")
    assert matcher.forced_bytes() == b""
    assert matcher.text().endswith(b",599,600")
    assert len(searches) < 600 * 20


ITEM = st.sampled_from(
    (True, {"type": "boolean"}, {"enum": [1, "a", None]}, {"const": 1}, {"type": ["integer", "null"]}, {"maxItems": 1})
)
ARRAY = some_of(
    ("items", ITEM),
    ("prefixItems", st.lists(ITEM, min_size=1, max_size=3)),
    ("minItems", st.integers(0, 3)),
    ("maxItems", st.integers(1, 3)),
    ("anyOf", st.just([{"maxItems": 1}, {"items": {"type": ["integer", "string"]}}])),
)


@pytest.mark.long
@cases(100, schema=ARRAY)
def test_random_arrays_agree(judge: Any, schema: Any) -> None:
    root = rooted({**UNIQUE, **schema}, True, 2020)
    assert assert_exactly(judge, root, valid_values(root, 2020))


@cases(40, schema=ARRAY)
def test_every_array_that_is_begun_can_be_ended(judge: Any, schema: Any) -> None:
    assert dead_end(judge, {**UNIQUE, **schema}, most=250) is None


def test_rules_without_a_text_share_what_is_no_text(judge: Any) -> None:
    """The mask behind a quote asks for a rule without each text that may end there: thirty times all objects."""
    members = {f"k{at}": {"enum": [at, {"a": at}]} for at in range(100)}
    objects = {"type": "object", "properties": members, "additionalProperties": False}
    schema = {"type": "array", "uniqueItems": True, "items": {"anyOf": [{"type": "string"}, objects, {"enum": [[1]]}]}}
    translation = Translation(judge.nodes, schema, SchemaOptions())
    translation.run()
    rule = next(iter(translation.variants))

    def n_edges(texts: list[bytes]) -> int:
        before = len(translation.rules.edges)
        translation.make_variant(rule, texts)
        return len(translation.rules.edges) - before

    first = n_edges([b'"a"'])
    assert first > 100
    assert n_edges([b'"b"']) < first / 10
    assert n_edges([b'"a"', b'"b"']) < first / 10
    assert n_edges([b'{"k0":0}']) > 100
    valid = [["a", {"k0": 0}, [1], "b", {"k0": {"a": 0}}], [{"k0": 0}, {"k1": 1}, "a"], []]
    invalid = [["a", {"k0": 0}, "a"], [{"k0": 0}, "a", {"k0": 0}], [[1], "a", [1]], [{"a": 1}], [1]]
    judge.agrees(schema, valid, invalid)


@pytest.mark.parametrize("property_order", ["any", "schema"])
@pytest.mark.parametrize(
    "item",
    [
        {"type": "array", "minItems": 20, "maxItems": 4},
        {"type": "array", "contains": {"const": 1}, "items": {"const": 2}},
        {"type": "object", "minProperties": 3, "maxProperties": 1},
        {"type": "object", "required": ["a"], "properties": {"a": {"type": "array", "minItems": 2, "maxItems": 1}}},
    ],
)
def test_items_that_have_no_value_are_not_waited_for(judge: Any, item: Any, property_order: str) -> None:
    """Of lists of these only the empty one is there: after it no comma comes."""
    schema = {**UNIQUE, "items": {"type": "array", "items": item}}
    assert dead_end(judge, schema, property_order=property_order) is None
    judge.agrees(schema, [[], [[]]], [[[], []], [[[]]]], property_order=property_order)


def test_a_number_that_was_read_can_go_on_but_not_end(judge: Any) -> None:
    matcher = judge.grammar({"type": "array", "uniqueItems": True}).matcher()
    matcher.accept_bytes(b"[0,1,0")
    assert matcher.validate_tokens(list(b",")) == 0
    assert matcher.validate_tokens(list(b".")) == 1


def test_many_items_of_any_type_ask_for_no_rules(judge: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Translation, "make_variant", None)
    grammar = judge.grammar({"type": "array", "uniqueItems": True})
    items = ",".join(f'{at},"{at}",{{"a":{at}}},[{at}]' for at in range(100))
    assert grammar.accepts(f"[{items},null,false,true]")


TYPES = st.lists(st.sampled_from(("null", "boolean", "number", "string", "array")), min_size=1, max_size=4, unique=True)


@pytest.mark.long
@cases(80, types=TYPES, low=st.integers(0, 2), is_equal=st.booleans())
def test_random_items_of_many_types_agree(judge: Any, types: Any, low: int, is_equal: bool) -> None:
    wanted: Any = {"not": {"uniqueItems": True}} if is_equal else {"uniqueItems": True, "maxItems": 3}
    schema = {"type": "array", "items": {"type": types}, "minItems": low, **wanted}
    root = rooted(schema, True, 2020)
    assert assert_exactly(judge, root, valid_values(root, 2020))
    assert dead_end(judge, schema) is None


EQUAL = {"type": "array", "not": {"uniqueItems": True}}


def test_lines_may_be_indented(judge: Any) -> None:
    grammar = judge.grammar(EQUAL, indent=2)
    assert grammar.accepts('[\n  {\n    "a": 1\n  },\n  2,\n  {\n    "a": 1\n  }\n]')
    assert not grammar.accepts('[\n  {\n    "a": 1\n  },\n  2,\n  {\n    "a": 2\n  }\n]')


@pytest.mark.parametrize(
    "schema", [{}, {"minItems": 3}, {"maxItems": 3}, {"items": False}, {"contains": True}], ids=str
)
def test_arrays_with_room_for_another_item_can_be_written(judge: Any, schema: Any) -> None:
    translation = Translation(judge.nodes, schema, SchemaOptions())
    parts = conjunction_of(translation, [({"type": "array", **schema}, ROOT)]).parts
    is_refused = refuses_equal_items(translation, ArrayLayout(translation, parts), parts)
    assert is_refused == (schema not in ({}, {"minItems": 3}))


SMALL = some_of(
    ("items", st.sampled_from((True, {"type": "integer"}, {"enum": [1, "a"]}, {"type": ["object", "string"]}))),
    ("prefixItems", st.lists(st.sampled_from((True, {"type": "integer"}, {"const": "a"})), min_size=1, max_size=2)),
    ("minItems", st.integers(0, 3)),
    ("contains", st.sampled_from(({"const": 1}, {"type": "null"}))),
    most=3,
)


@pytest.mark.long
@cases(150, small=SMALL)
def test_random_arrays_with_equal_items_agree(judge: Any, small: Any) -> None:
    for schema in ({**small, **EQUAL}, {"not": {**small, "uniqueItems": True}}):
        root = rooted(schema, True, 2020)
        assert_exactly(judge, root, valid_values(root, 2020))


@cases(30, small=SMALL)
def test_every_array_with_equal_items_can_be_ended(judge: Any, small: Any) -> None:
    assert dead_end(judge, {**small, **EQUAL}) is None


def test_one_item_is_equal_to_no_other(judge: Any) -> None:
    """Of what was read of such lists, another item left out lists of one; a document ended in an error there."""
    judge.agrees(
        {"type": "array", "anyOf": [{"not": {"uniqueItems": True}, "maxItems": 1}, {"maxItems": 0}]}, [[]], [[1]]
    )
    never = {"contains": {}, "maxContains": 0, "uniqueItems": True}
    schema = {"uniqueItems": True, "items": {"not": {"properties": {"x": never}}}}
    judge.agrees(schema, [[{"x": [0]}, {"x": []}], [{"x": [0]}, {"x": [1]}]], [[{"x": [0]}, {"x": [0]}], [{}]])
