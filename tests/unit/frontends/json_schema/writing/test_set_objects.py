"""Objects that carry the set of their keys: in any order, each declared key once; repetitions where they matter."""

from __future__ import annotations

import json
from itertools import combinations, permutations
from typing import Any

import pytest
from hypothesis import strategies as st

from llmask.errors import LimitExceeded, LlmaskError, UnsatisfiableSchema
from llmask.frontends.json_schema.meaning import object_layout
from llmask.grammar.kinds import CALL_OPEN, EDGE_FIELDS
from llmask.limits import Limits
from tests.unit.frontends.json_schema import small_worlds

ANY: Any = {"property_order": "any"}
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "string"}, "c": {"type": "null"}},
    "required": ["a", "z"],
}


def test_every_order_of_the_keys_is_accepted(judge: Any) -> None:
    members = {"a": 1, "b": "x", "c": None, "z": [], "free": {}}
    grammar = judge.grammar(SCHEMA, **ANY)
    for n in range(len(members) + 1):
        for chosen in permutations(members.items(), n):
            value = dict(chosen)
            assert judge.accepts(grammar, value) == ("a" in value and "z" in value), value


def test_a_declared_key_stands_once(judge: Any) -> None:
    grammar = judge.grammar(SCHEMA, **ANY)
    assert grammar.accepts('{"z":1,"a":1}')
    assert not grammar.accepts('{"z":1,"a":1,"a":1}')
    assert not grammar.accepts('{"a":1,"b":"","z":0,"b":""}')
    assert not grammar.accepts('{"a":1,"z":1,"z":1}')
    nested = judge.grammar({"properties": {"a": {"properties": {"a": True, "b": True}}, "b": True}}, **ANY)
    assert nested.accepts('{"b":1,"a":{"b":1,"a":2}}')
    assert not nested.accepts('{"b":1,"a":{"b":1,"a":2},"b":1}')


def test_a_key_is_declared_in_each_of_its_spellings(judge: Any) -> None:
    closed = {"properties": {"a": {"type": "integer"}, "b": True}, "additionalProperties": False}
    for schema in (closed, {"properties": {"a": {"type": "integer"}, "b": True}}):
        grammar = judge.grammar(schema, **ANY)
        assert not grammar.accepts(r'{"a":1,"\u0061":"x"}')
        assert not grammar.accepts(r'{"\u0061":"x"}')


def test_room_is_left_for_what_is_required(judge: Any) -> None:
    grammar = judge.grammar({**SCHEMA, "maxProperties": 3}, **ANY)
    assert judge.after(grammar.matcher(), b'{"b":"","z":1,') is not None
    assert judge.after(grammar.matcher(), b'{"b":"","c"') is None
    assert judge.after(grammar.matcher(), b'{"b":"","z":1,"c"') is None
    assert judge.accepts(grammar, {"b": "", "z": 1, "a": 1})
    assert not judge.accepts(grammar, {"b": "", "z": 1, "a": 1, "c": None})


def test_a_key_whose_value_allows_nothing_is_left_out(judge: Any) -> None:
    impossible = {"type": "integer", "minimum": 3, "maximum": 2}
    keys = {"properties": {"a": impossible, "b": True}, "additionalProperties": False}
    schema = {"type": "object", "minProperties": 1, **keys}
    judge.agrees(schema, [{"b": 1}], [{}, {"a": 3}, {"a": 3, "b": 1}], **ANY)
    assert small_worlds.dead_end(judge, schema, **ANY) is None
    with pytest.raises(UnsatisfiableSchema):
        judge.grammar({**schema, "minProperties": 2}, **ANY)
    with pytest.raises(UnsatisfiableSchema):
        judge.grammar({**schema, "required": ["a"]}, **ANY)


def test_recursive_values_that_never_end_are_found(judge: Any) -> None:
    endless = {"type": "array", "items": {"$ref": "#/$defs/endless"}, "minItems": 1}
    schema = {"$defs": {"endless": endless}, "properties": {"a": {"$ref": "#/$defs/endless"}, "b": True, "c": True}}
    assert small_worlds.dead_end(judge, schema, **ANY) is None
    grammar = judge.grammar(schema, **ANY)
    assert judge.accepts(grammar, {"c": 1, "b": 1})
    assert judge.after(grammar.matcher(), b'{"c":1,"a"') is None


def test_many_names_meet_a_limit(judge: Any) -> None:
    schema = {"properties": {f"p{at}": True for at in range(5)}}
    judge.grammar(schema, **ANY, limits=Limits(max_tracked_names=5))
    with pytest.raises(LimitExceeded) as caught:
        judge.grammar(schema, **ANY, limits=Limits(max_tracked_names=4))
    assert str(caught.value) == (
        "an object of 5 properties in any order: at most 4 are remembered (limits.max_tracked_names)\n  at #\n"
        '  Raise the limit, or use property_order="schema".'
    )


REPEATED: list[tuple[Any, list[str], list[str]]] = [
    ({"minProperties": 2}, ['{"x":1,"y":1}'], ['{"x":1,"x":1}', r'{"x":1,"\u0078":1}', '{"x":1}']),
    ({"not": {"patternProperties": {"^x": {"type": "null"}}}, "type": "object"},
     ['{"x":1}', '{"x":null,"xy":1}', '{"y":1,"x":1}'],
     ['{"x":1,"x":null}', r'{"x":1,"y":2,"\u0078":null}', '{"y":1}', "{}"]),
    ({"not": {"additionalProperties": {"type": "null"}}, "properties": {"a": True}, "type": "object"},
     ['{"a":1}', '{"b":1}', '{"b":null,"c":1}'], ['{"b":1,"b":null}', "{}", '{"b":null}']),
    ({"not": {"propertyNames": {"maxLength": 1}}, "maxProperties": 2, "minProperties": 2},
     ['{"a":1,"bc":1}', '{"bc":1,"a":1}', '{"bc":1,"de":1}'], ['{"bc":1,"bc":1}', '{"a":1,"b":1}', '{"bc":1}']),
]  # fmt: skip


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize(("schema", "valid", "invalid"), REPEATED, ids=[str(row[0]) for row in REPEATED])
def test_a_repeated_key_does_not_make_an_object_valid(
    judge: Any, order: str, schema: Any, valid: list[str], invalid: list[str]
) -> None:
    """The last of equal keys counts to most readers: what an earlier one had does not count."""
    grammar = judge.grammar(schema, property_order=order)
    assert [text for text in valid if not grammar.accepts(text)] == []
    assert [text for text in invalid if grammar.accepts(text)] == []
    assert small_worlds.dead_end(judge, schema, property_order=order) is None


FEW_FREE_KEYS: list[Any] = [
    {"propertyNames": {"enum": ["a", "c"]}, "additionalProperties": {"type": "integer"}},
    {"properties": {"b": {"const": 1}}, "propertyNames": {"enum": ["a", "b", "c"]}, "required": ["b"]},
    {"patternProperties": {"^[ab]$": {"type": "null"}}, "additionalProperties": False, "minProperties": 1},
    {"propertyNames": {"maxLength": 0}, "maxProperties": 3},
]


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("schema", FEW_FREE_KEYS, ids=str)
def test_no_comma_leads_to_a_key_that_is_not_there(judge: Any, schema: Any, order: str) -> None:
    """With unique_keys a comma was offered after the last of few free keys, and nothing after it."""
    options = {"property_order": order, "unique_keys": True}
    assert small_worlds.dead_end(judge, {"type": "object", **schema}, **options) is None
    grammar = judge.grammar(schema, **options)
    for value in ({}, {"a": 1}, {"a": None}, {"b": 1}, {"a": 2, "b": 1, "c": 3}, {"": 1}, {"a": 1, "c": 2}, {"d": 1}):
        assert judge.accepts_in_some_order(grammar, value) == judge.is_valid(schema, value), value


def test_more_keys_than_there_are_cannot_be_asked_for(judge: Any) -> None:
    """Of more than 64 names it was not found out that they run out."""
    names = {"propertyNames": {"enum": [f"k{n}" for n in range(70)]}, "type": "object"}
    judge.grammar({**names, "minProperties": 70})
    with pytest.raises(UnsatisfiableSchema):
        judge.grammar({**names, "minProperties": 71})


def test_unique_keys_are_compared_as_they_are_read(judge: Any) -> None:
    grammar = judge.grammar({"properties": {"a": True}}, unique_keys=True)
    for text in ('{"x":1,"y":1}', '{"a":1,"x":{"x":1}}', '{"x":1,"xx":1,"":0}', '{"x":[{"y":1},{"y":1}]}'):
        assert grammar.accepts(text), text
    for text in ('{"x":1,"x":1}', r'{"x":1,"\u0078":1}', '{"x":{"y":1,"y":1}}', '{"a":1,"x":1,"y":1,"x":1}'):
        assert not grammar.accepts(text), text


def test_a_key_that_is_asked_for_whose_value_allows_nothing_is_not_forgotten(judge: Any) -> None:
    """Free keys whose values allow nothing are left out; the key that `not` asks for went with them: {} was valid."""
    void = {"additionalProperties": {"type": "string"}, "allOf": [{"additionalProperties": {"type": "null"}}]}
    schema = {**void, "type": "object", "not": {"patternProperties": {"^.$": {"type": "integer"}}}}
    for order in ("schema", "any"):
        with pytest.raises(UnsatisfiableSchema):
            judge.grammar(schema, property_order=order)
        one = {"anyOf": [schema, {"type": "null"}]}
        judge.agrees(one, [None], [{}, {"b": 1}, {"b": "a"}], property_order=order)


@pytest.mark.long
@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize(("low", "high"), [(0, 1), (1, 2), (2, 2), (2, 3), (3, 3), (2, None), (3, None)])
def test_one_key_of_two_sets_counts_once(judge: Any, low: int, high: int | None, order: str) -> None:
    """Where room is limited, one key that was asked for twice counted as two: {"z": 1} had a minimum of two."""
    negated: list[Any] = [
        {"not": {"const": {}}},
        {"not": {"additionalProperties": False}},
        {"not": {"additionalProperties": {"type": "integer"}}},
        {"not": {"properties": {"a": {"type": "null"}}, "patternProperties": {"z$": {"type": "null"}}}},
    ]
    counts = {"minProperties": low} if high is None else {"minProperties": low, "maxProperties": high}
    members: list[Any] = [("z", 1), ("z", None), ("y", 1), ("y", "x"), ("a", 1), ("a", None)]
    values = [dict(chosen) for n in range(5) for chosen in combinations(members, n)]
    for n in (1, 2, 3):
        for chosen in combinations(negated, n):
            schema = {"type": "object", **counts, "allOf": list(chosen)}
            grammar = judge.grammar(schema, property_order=order)
            for value in values:
                assert judge.accepts_in_some_order(grammar, value) == judge.is_valid(schema, value), (schema, value)


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize(
    "void",
    [
        {"type": "object", "required": ["b"], "properties": {"b": False}},
        {"type": "object", "required": ["b"], "additionalProperties": {"type": "object", "required": ["b"]},
         "properties": {"b": {"type": "array", "minItems": 1, "items": False}}},
        {"type": "array", "minItems": 1, "items": {"type": "object", "required": ["b"], "properties": {"b": False}}},
        {"type": ["array", "object"], "minItems": 1, "items": False, "minProperties": 1, "propertyNames": False},
    ],
)  # fmt: skip
def test_a_key_that_asks_for_one_without_values_is_not_written(judge: Any, void: Any, order: str) -> None:
    """Members of type object and array were taken to have values: {"a": 1 could be begun and had no end."""
    for schema in (
        {"dependentRequired": {"a": ["x"]}, "properties": {"x": void}},
        {"dependentRequired": {"a": ["x"]}, "patternProperties": {"^x": void}},
        {"anyOf": [{"properties": {"a": False}}, {"required": ["x", "y"]}], "properties": {"x": void}},
        {"dependentRequired": {"a": ["x"]}, "properties": {"x": {"type": "object", "required": ["y"],
                                                                   "properties": {"y": void}}}},
    ):  # fmt: skip
        schema = {"type": "object", **schema}
        assert small_worlds.dead_end(judge, schema, property_order=order) is None
        judge.agrees(schema, [{}, {"b": 1}], [{"a": 1}, {"a": 1, "x": {}}, {"a": 1, "x": []}], property_order=order)
    with pytest.raises(UnsatisfiableSchema):
        judge.grammar({"type": "object", "required": ["a", "x"], "properties": {"x": void}}, property_order=order)


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize(
    "endless",
    [
        {"required": ["a"], "properties": {"a": {"$ref": "#/$defs/d"}, "b": True}},
        {"required": ["a"], "properties": {"a": {"$ref": "#/$defs/e"}, "b": True}},
        {"minProperties": 2, "properties": {"a": {"$ref": "#/$defs/d"}, "b": True}, "additionalProperties": False},
        {
            "minProperties": 2,
            "required": ["b"],
            "properties": {"b": True},
            "additionalProperties": {"$ref": "#/$defs/d"},
        },
        {"minProperties": 2, "propertyNames": {"enum": ["a", "b"]}, "patternProperties": {"a": {"$ref": "#/$defs/e"}}},
    ],
)
def test_an_object_that_must_hold_itself_cannot_be_begun(judge: Any, endless: Any, order: str) -> None:
    """In any order required keys are a matter of guards, which the search for objects without end did not look at."""
    definitions = {"d": {"type": "object", **endless}, "e": {"type": "object", "required": ["x", "y"], "properties":
                   {"x": {"$ref": "#/$defs/d"}, "y": {"type": "integer"}}}}  # fmt: skip
    schema = {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/d"}], "$defs": definitions}
    assert small_worlds.dead_end(judge, schema, property_order=order) is None
    judge.agrees(schema, [None], [{}, {"b": 1}, {"a": {}}, {"a": {"b": 1}, "b": 1}], property_order=order)
    with pytest.raises(UnsatisfiableSchema):
        judge.grammar({"$ref": "#/$defs/d", "$defs": definitions}, property_order=order)
    definitions["d"]["properties"] = {"a": {"anyOf": [{"$ref": "#/$defs/d"}, {"type": "null"}]}, "b": True}
    definitions["d"].pop("patternProperties", None)
    assert small_worlds.dead_end(judge, schema, property_order=order) is None


def test_the_rules_grow_with_the_keys_not_with_their_orders(judge: Any) -> None:
    def n_edges(n: int) -> int:
        schema = {"properties": {f"p{at}": {"type": "null"} for at in range(n)}, "required": ["p0"]}
        return len(judge.translate(schema, **ANY).rules.edges)

    assert n_edges(80) < 2.2 * n_edges(40)


@small_worlds.cases(60, schema=small_worlds.tagged(2020))
def test_any_order_allows_each_document_of_the_schemas_order(judge: Any, schema: Any) -> None:
    root = small_worlds.rooted(schema, True, 2020)
    try:
        narrow, wide = judge.grammar(root), judge.grammar(root, **ANY)
    except LlmaskError:
        return
    for texts in small_worlds.TEXTS:
        accepted = [narrow.accepts(text) for text in texts]
        assert [wide.accepts(text) for text in texts] == [any(accepted)] * len(texts), json.dumps(root)


def test_free_keys_are_remembered_only_where_they_are_counted_from_below(judge: Any) -> None:
    closed = {"properties": {"a": True, "b": True}, "additionalProperties": False}
    for schema, is_tracked in (
        ({"minProperties": 2}, True),
        ({"maxProperties": 3}, False),
        ({"minProperties": 2, **closed}, False),
    ):
        rules = judge.translate({"type": "object", **schema}).rules
        assert (CALL_OPEN in rules.edges[1::EDGE_FIELDS]) == is_tracked, schema


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("n", [10, 300])
def test_what_a_value_must_fulfil_is_found_when_its_key_is_read(judge: Any, order: str, n: int) -> None:
    """Ten patterns make 2^10 sets of keys and were refused; a mask over those of nine took 130 ms."""
    keys: Any = {"patternProperties": {f"k{at}x": {"minimum": at} for at in range(n)}, "maxProperties": 3}
    schema = {"properties": {"q": {"type": "null"}, "k3x": {"multipleOf": 2}}, "required": ["q"], **keys}
    valid = [{"q": None, "k5x": 5}, {"q": None, "k1xk7x": 7, "z": "a"}, {"q": None, "k3x": 4, "": {"k9x": 8}}]
    invalid = [{"q": None, "k5x": 4}, {"q": None, "k1xk7x": 6}, {"q": None, "k3x": 3}, {**valid[1], "a": 1, "b": 1}]
    judge.agrees(schema, valid, invalid, property_order=order)
    grammar = judge.grammar(schema, property_order=order)
    assert [grammar.accepts(f'{{"q":null,"\\u006b5x":{value}}}') for value in (4, 5)] == [False, True]
    assert judge.after(grammar.matcher(), b'{"q":null,"k9x":8,"') is None
    rules = len(grammar._loaded.own_rules.edges)
    assert grammar.accepts('{"q":null,"yk9xz":9}')
    assert len(grammar._loaded.own_rules.edges) == rules  # as after any key with k9x
    del schema["maxProperties"]
    free = judge.grammar(schema, property_order=order)
    assert len({free.accepts('{"q":null' + ',"k9x":9' * n + "}") and free.statistics()["rows"] for n in (3, 40)}) == 1


PATTERNS = ("a", "^b", "[ab]", "b|c", "^.$", "(?=c)", "^[^a]*$")
VALUES = st.sampled_from((True, False, {"type": "integer"}, {"maximum": 0.75}, {"type": ["string", "null"]}))
BY_KEY = small_worlds.some_of(
    ("properties", st.dictionaries(st.sampled_from(small_worlds.NAMES), VALUES, max_size=1)),
    ("additionalProperties", VALUES),
    ("required", st.lists(st.sampled_from(small_worlds.NAMES), max_size=1)),
    ("propertyNames", st.just({"pattern": "[bc]"})),
    ("maxProperties", st.integers(0, 2)),
)


@small_worlds.cases(60, schema=BY_KEY, patterns=st.dictionaries(st.sampled_from(PATTERNS), VALUES, min_size=2))
def test_values_that_depend_on_their_keys_agree(judge: Any, schema: Any, patterns: Any) -> None:
    root = small_worlds.rooted({"type": "object", "patternProperties": patterns, **schema}, True, 2020)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(object_layout, "FEW_CELLS", 1)
        small_worlds.assert_exactly(judge, root, small_worlds.valid_values(root, 2020))
        assert [small_worlds.dead_end(judge, root, property_order=order) for order in ("schema", "any")] == [None] * 2


MEMBER = st.sampled_from((True, False, {"type": "integer"}, {"const": "a"}))
SMALL = small_worlds.some_of(
    ("properties", st.dictionaries(st.sampled_from(small_worlds.NAMES), MEMBER, max_size=2)),
    ("patternProperties", st.dictionaries(st.sampled_from(("^a", "[ab]", "b|c")), MEMBER, max_size=1)),
    ("required", st.lists(st.sampled_from(small_worlds.NAMES), max_size=2, unique=True)),
    ("propertyNames", st.sampled_from(({"enum": ["a", "b"]}, {"pattern": "[bc]"}))),
    ("minProperties", st.integers(0, 3)),
    ("maxProperties", st.integers(0, 3)),
    most=3,
)
CLOSED = st.tuples(SMALL, SMALL).map(
    lambda pair: {
        "type": "object",
        "properties": {"a": True, "b": True, "c": {"type": ["integer", "string"]}},
        "additionalProperties": False,
        "allOf": [pair[0], {"not": pair[1]}],
    }
)


@small_worlds.cases(150, schema=CLOSED)
def test_random_closed_objects_agree(judge: Any, schema: Any) -> None:
    root = small_worlds.rooted(schema, True, 2020)
    assert small_worlds.assert_exactly(judge, root, small_worlds.valid_values(root, 2020))


@small_worlds.cases(100, one=SMALL, other=SMALL)
def test_random_open_objects_agree(judge: Any, one: Any, other: Any) -> None:
    for schema in ({"allOf": [one, other]}, {"allOf": [one, {"not": other}]}):
        root = small_worlds.rooted(schema, True, 2020)
        small_worlds.assert_exactly(judge, root, small_worlds.valid_values(root, 2020))


@small_worlds.cases(40, schema=CLOSED)
def test_every_object_that_is_begun_can_be_ended(judge: Any, schema: Any) -> None:
    assert small_worlds.dead_end(judge, schema) is None
    assert small_worlds.dead_end(judge, schema, property_order="any") is None
