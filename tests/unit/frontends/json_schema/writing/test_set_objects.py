"""Objects that carry the set of their keys: in any order, each declared key once; repetitions where they matter."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from itertools import combinations, permutations, product
from typing import Any

import pytest
from hypothesis import strategies as st

from llmask.errors import LimitExceeded, LlmaskError, TokenRejected, UnsatisfiableSchema
from llmask.frontends.json_schema.meaning.object_layout import Cell, Entry
from llmask.frontends.json_schema.reading.pointers import ROOT
from llmask.frontends.json_schema.writing import translation
from llmask.frontends.json_schema.writing.set_objects import CountedObject
from llmask.limits import Limits
from tests.unit.frontends.json_schema.small_worlds import (
    NAMES,
    TEXTS,
    assert_exactly,
    cases,
    dead_end,
    rooted,
    some_of,
    tagged,
    valid_values,
)

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
    assert dead_end(judge, schema, **ANY) is None
    with pytest.raises(UnsatisfiableSchema):
        judge.grammar({**schema, "minProperties": 2}, **ANY)
    with pytest.raises(UnsatisfiableSchema):
        judge.grammar({**schema, "required": ["a"]}, **ANY)


def test_recursive_values_that_never_end_are_found(judge: Any) -> None:
    endless = {"type": "array", "items": {"$ref": "#/$defs/endless"}, "minItems": 1}
    schema = {"$defs": {"endless": endless}, "properties": {"a": {"$ref": "#/$defs/endless"}, "b": True, "c": True}}
    assert dead_end(judge, schema, **ANY) is None
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
    (
        {"minProperties": 2},
        ['{"x":1,"y":1}', '{"x":1,"x":1,"y":1}'][:1],
        ['{"x":1,"x":1}', r'{"x":1,"\u0078":1}', '{"x":1}'],
    ),
    (
        {"not": {"patternProperties": {"^x": {"type": "null"}}}, "type": "object"},
        ['{"x":1}', '{"x":null,"xy":1}', '{"y":1,"x":1}'],
        ['{"x":1,"x":null}', r'{"x":1,"y":2,"\u0078":null}', '{"y":1}', "{}"],
    ),
    (
        {"not": {"additionalProperties": {"type": "null"}}, "properties": {"a": True}, "type": "object"},
        ['{"a":1}', '{"b":1}', '{"b":null,"c":1}'],
        ['{"b":1,"b":null}', "{}", '{"b":null}'],
    ),
    (
        {"not": {"propertyNames": {"maxLength": 1}}, "maxProperties": 2, "minProperties": 2},
        ['{"a":1,"bc":1}', '{"bc":1,"a":1}', '{"bc":1,"de":1}'],
        ['{"bc":1,"bc":1}', '{"a":1,"b":1}', '{"bc":1}'],
    ),
]


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize(("schema", "valid", "invalid"), REPEATED, ids=[str(row[0]) for row in REPEATED])
def test_a_repeated_key_does_not_make_an_object_valid(
    judge: Any, order: str, schema: Any, valid: list[str], invalid: list[str]
) -> None:
    """The last of equal keys counts to most readers: what an earlier one had does not count."""
    grammar = judge.grammar(schema, property_order=order)
    assert [text for text in valid if not grammar.accepts(text)] == []
    assert [text for text in invalid if grammar.accepts(text)] == []
    assert dead_end(judge, schema, property_order=order) is None


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
    assert dead_end(judge, {"type": "object", **schema}, **options) is None
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
        assert dead_end(judge, schema, property_order=order) is None
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
    assert dead_end(judge, schema, property_order=order) is None
    judge.agrees(schema, [None], [{}, {"b": 1}, {"a": {}}, {"a": {"b": 1}, "b": 1}], property_order=order)
    with pytest.raises(UnsatisfiableSchema):
        judge.grammar({"$ref": "#/$defs/d", "$defs": definitions}, property_order=order)
    definitions["d"]["properties"] = {"a": {"anyOf": [{"$ref": "#/$defs/d"}, {"type": "null"}]}, "b": True}
    definitions["d"].pop("patternProperties", None)
    assert dead_end(judge, schema, property_order=order) is None


def test_the_rules_grow_with_the_keys_not_with_their_orders(judge: Any) -> None:
    def n_edges(n: int) -> int:
        schema = {"properties": {f"p{at}": {"type": "null"} for at in range(n)}, "required": ["p0"]}
        return len(judge.translate(schema, **ANY).rules.edges)

    assert n_edges(80) < 2.2 * n_edges(40)


@cases(60, schema=tagged(2020))
def test_any_order_allows_each_document_of_the_schemas_order(judge: Any, schema: Any) -> None:
    root = rooted(schema, True, 2020)
    try:
        narrow, wide = judge.grammar(root), judge.grammar(root, **ANY)
    except LlmaskError:
        return
    for texts in TEXTS:
        accepted = [narrow.accepts(text) for text in texts]
        assert [wide.accepts(text) for text in texts] == [any(accepted)] * len(texts), json.dumps(root)


NAMED = {"properties": {"a": {"type": "integer"}, "b": True, "c": True}, "additionalProperties": False}
TABLE: list[tuple[str, Any, list[Any], list[Any]]] = [
    ("at most", {"maxProperties": 1}, [{}, {"x": 1}], [{"x": 1, "y": 1}]),
    ("none", {"maxProperties": 0}, [{}], [{"x": 1}]),
    ("one at least", {"minProperties": 1}, [{"x": 1}, {"x": 1, "y": 1}], [{}]),
    (
        "two of three names",
        {**NAMED, "minProperties": 2},
        [{"a": 1, "c": 1}, {"b": 1, "c": 1}],
        [{}, {"b": 1}, {"b": 1, "x": 1}],
    ),
    (
        "exactly two",
        {**NAMED, "minProperties": 2, "maxProperties": 2},
        [{"a": 1, "b": 1}],
        [{"a": 1}, {"a": 1, "b": 1, "c": 1}],
    ),
    (
        "room for what is required",
        {**NAMED, "required": ["c"], "maxProperties": 2},
        [{"c": 1}, {"a": 1, "c": 1}],
        [{}, {"a": 1, "b": 1}],
    ),
    (
        "required names and free keys",
        {"required": ["b"], "properties": {"a": True}, "maxProperties": 2},
        [{"b": 1}, {"a": 1, "b": 1}, {"b": 1, "z": 1}],
        [{"a": 1}, {"a": 1, "z": 1}, {"a": 1, "b": 1, "z": 1}],
    ),
    (
        "one key has another value",
        {**NAMED, "type": "object", "not": {"properties": {"b": {"type": "null"}, "c": {"type": "null"}}}},
        [{"b": 1}, {"a": 1, "b": None, "c": 1}],
        [{}, {"a": 1}, {"b": None, "c": None}],
    ),
    (
        "one of the names matches",
        {**NAMED, "type": "object", "not": {"patternProperties": {"^[ab]": {"const": 1}}}},
        [{"a": 2}, {"b": None, "c": 1}],
        [{}, {"a": 1}, {"c": 2}, {"a": 1, "b": 1}],
    ),
    (
        "one of the names is refused",
        {**NAMED, "type": "object", "not": {"propertyNames": {"enum": ["a", "b"]}}, "maxProperties": 2},
        [{"c": 1}, {"a": 1, "c": 1}],
        [{}, {"a": 1, "b": 1}, {"a": 1, "b": 1, "c": 1}],
    ),
    (
        "keys of two sets",
        {
            **NAMED,
            "type": "object",
            "maxProperties": 2,
            "allOf": [{"not": {"patternProperties": {pattern: {"const": 1}}}} for pattern in ("[ab]", "[bc]")],
        },
        [{"b": 2}, {"a": 2, "c": 2}],
        [{"a": 2}, {"c": 2}, {"a": 1, "b": 1}, {"b": 1, "c": 2}, {}],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "valid", "invalid"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_grammar_and_jsonschema_agree(judge: Any, schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    judge.agrees(schema, valid, invalid)
    judge.agrees(schema, valid, invalid, property_order="any")


def test_repetition_matters_only_where_free_keys_are_counted() -> None:
    plain = CountedObject([Entry("a", [], False)], [Cell(0, [])], 0, 3, ROOT, False)
    assert not plain.repeats_matter
    assert plain._replace(low=2).repeats_matter
    assert not plain._replace(low=2, cells=[]).repeats_matter


MEMBER = st.sampled_from((True, False, {"type": "integer"}, {"const": "a"}))
SMALL = some_of(
    ("properties", st.dictionaries(st.sampled_from(NAMES), MEMBER, max_size=2)),
    ("patternProperties", st.dictionaries(st.sampled_from(("^a", "[ab]", "b|c")), MEMBER, max_size=1)),
    ("required", st.lists(st.sampled_from(NAMES), max_size=2, unique=True)),
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


@cases(150, schema=CLOSED)
def test_random_closed_objects_agree(judge: Any, schema: Any) -> None:
    root = rooted(schema, True, 2020)
    assert assert_exactly(judge, root, valid_values(root, 2020))


@cases(100, one=SMALL, other=SMALL)
def test_random_open_objects_agree(judge: Any, one: Any, other: Any) -> None:
    for schema in ({"allOf": [one, other]}, {"allOf": [one, {"not": other}]}):
        root = rooted(schema, True, 2020)
        assert_exactly(judge, root, valid_values(root, 2020))


@cases(40, schema=CLOSED)
def test_every_object_that_is_begun_can_be_ended(judge: Any, schema: Any) -> None:
    assert dead_end(judge, schema) is None
    assert dead_end(judge, schema, property_order="any") is None


VALUES = [{"type": "string"}, {"type": "integer"}, {"enum": ["x", 1]}, {"minimum": 2}, True, False, {}]
WORLD: list[dict[str, Any]] = [
    dict(zip(names, values, strict=True))
    for n in range(4)
    for names in combinations(("a", "b", "c", "z", "zz"), n)
    for values in product(("x", 1, 2, None), repeat=n)
]


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every choice of objects is written by a condition."""
    monkeypatch.setattr(translation, "MANY_WAYS", 0)
    monkeypatch.setattr(translation, "MANY_PAIRS", -1)
    monkeypatch.setattr(translation, "MOST_PAIRS", -1)


def random_object(rng: random.Random, depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "object"} if rng.random() < 0.5 else {}
    if rng.random() < 0.7:
        names = rng.sample("abc", rng.randint(1, 3))
        made["properties"] = {name: rng.choice(VALUES) for name in names}
    if rng.random() < 0.5:
        made["required"] = rng.sample("abc", rng.randint(1, 2))
    if rng.random() < 0.4:
        made["additionalProperties"] = rng.choice((False, *VALUES))
    if rng.random() < 0.2:
        made["patternProperties"] = {rng.choice(("^[az]", "z", "^b$")): rng.choice(VALUES)}
    if rng.random() < 0.1:
        made["propertyNames"] = rng.choice(({"pattern": "^[abz]"}, {"maxLength": 1}, {"enum": ["a", "zz"]}))
    if depth and rng.random() < 0.6:
        keyword = rng.choice(("anyOf", "oneOf", "allOf", "not"))
        inside = [random_object(rng, depth - 1) for _ in range(rng.randint(1, 3))]
        made[keyword] = inside[0] if keyword == "not" else inside
    if rng.random() < 0.2:
        made[rng.choice(("minProperties", "maxProperties"))] = rng.randint(0, 3)
    if rng.random() < 0.2:
        made["dependentRequired"] = {rng.choice("abc"): rng.sample("abc", 2)}
    return made


@pytest.mark.long
@pytest.mark.parametrize("property_order", ["any", "schema"])
def test_random_alternatives(
    judge: Any, rng: random.Random, costly: Callable[[int], int], always: None, property_order: str
) -> None:
    n_written = 0
    for _ in range(costly(120)):
        schema = {**random_object(rng, 2), rng.choice(("anyOf", "oneOf")): [random_object(rng, 1) for _ in range(3)]}
        schema = {"type": "object", **schema}
        try:
            grammar = judge.grammar(schema, property_order=property_order)
        except UnsatisfiableSchema:
            assert not any(judge.is_valid(schema, value) for value in WORLD), schema
            continue
        n_written += 1
        for value in rng.sample(WORLD, 60):
            orders = [dict(members) for members in permutations(value.items())]
            accepted = [judge.accepts(grammar, one) for one in orders]
            if property_order == "any":
                assert len({*accepted}) == 1, (schema, value)
            assert any(accepted) == judge.is_valid(schema, value), (schema, value)
        for _ in range(3):
            text = judge.walk(grammar, rng)
            assert not text or judge.is_valid(schema, json.loads(text)), (schema, text)
    assert n_written > costly(120) / 2


def closed(n: int) -> Any:
    members = [{"properties": {f"k{at}": {"type": "string"}}, "additionalProperties": False} for at in range(n)]
    return {"type": "object", "oneOf": members}


def enumerated(n: int) -> Any:
    members = [
        {"properties": {"kind": {"enum": [f"a{at}", f"b{at}"]}, f"x{at}": {"type": "integer"}, "s": {"type": "string"}}}
        for at in range(n)
    ]
    return {"type": "object", "oneOf": [{**member, "additionalProperties": False} for member in members]}


def told(n: int) -> Any:
    return {"oneOf": [{"type": "object", "required": [f"r{at}"]} for at in range(n)]}


def apart(n: int) -> Any:
    return {"type": "object", "allOf": [{"not": {"required": [f"a{at}", f"b{at}"]}} for at in range(n)]}


def dependent(n: int) -> Any:
    names = [f"{letter}{at}" for letter in "ab" for at in range(n)]  # declared in another order than they depend
    properties = {name: {"type": "integer"} for name in names}
    return {"type": "object", "properties": properties, "dependentRequired": {f"a{at}": [f"b{at}"] for at in range(n)}}


@pytest.mark.parametrize("n", [8, 60])
@pytest.mark.parametrize("property_order", ["any", "schema"])
@pytest.mark.parametrize(
    ("make", "valid", "invalid"),
    [
        (closed, [{"k3": "x"}, {"k7": ""}], [{}, {"k3": 1}, {"k3": "x", "k4": "y"}, {"z": 1}, 1, []]),
        (
            enumerated,
            [{"kind": "a3"}, {"kind": "b7", "x7": 1, "s": "t"}, {"x4": 1}],
            [{}, {"s": "t"}, {"kind": "a3", "x4": 1}, {"kind": 1}, {"x3": 1, "x4": 1}, {"kind": "a3", "z": 1}],
        ),
        (told, [{"r3": 1}, {"z": 1, "r7": 2}], [{}, {"r3": 1, "r4": 1}, {"z": 1}, "r3", None]),
        (apart, [{}, {"a1": 1, "b2": 1}, {"z": 1, "a7": 1}], [{"a1": 1, "b1": 1}, {"a1": 1, "a2": 1, "b2": 2}]),
        (dependent, [{}, {"b1": 1}, {"a1": 1, "b1": 2}], [{"a1": 1}, {"a1": 1, "a7": 1, "b1": 1}, {"b1": "x"}]),
    ],
    ids=["closed", "enumerated", "told apart by required", "never both", "dependent"],
)
def test_what_multiplied_out(
    judge: Any, make: Callable[[int], Any], valid: list[Any], invalid: list[Any], n: int, property_order: str
) -> None:
    order = {"property_order": property_order}
    grammar = judge.grammar(make(n), **order)
    for value in valid:
        assert judge.is_valid(make(n), value)
        assert judge.accepts_in_some_order(grammar, value), value
    judge.agrees(make(n), [], invalid, **order)


@pytest.mark.parametrize("property_order", ["any", "schema"])
def test_many_keys_of_certain_sets(judge: Any, property_order: str) -> None:
    schema = {"type": "object", "allOf": [{"not": {"patternProperties": {f"{at}": False}}} for at in "abcdefgh"]}
    valid = [{"abcdefgh": 1}, {"abcd": 1, "z": 2, "ghef": 3}, dict.fromkeys("hgfedcba", 1)]
    judge.agrees(schema, valid, [{}, {"abcdefg": 1}, {"z": 1}, 1], property_order=property_order)
    schema = {"type": "object", "not": {"patternProperties": {"a": {"type": "null"}, "b": {"minimum": 3}, "c": False}}}
    repeated = judge.grammar({"allOf": [schema] * 4, "type": "object"}, property_order=property_order)
    assert not repeated.accepts('{"a":1,"a":null}')  # the last one counts
    judge.agrees(schema, [{"a": 1}, {"b": 1}, {"xc": 1}], [{}, {"a": None, "b": 4}], property_order=property_order)


def test_a_comma_waits_for_a_key(judge: Any) -> None:
    grammar = judge.grammar(told(20) | {"properties": {f"r{at}": {"type": "null"} for at in range(20)}})
    assert judge.is_valid(told(20), {"r3": None})
    assert grammar.accepts('{"r3":null}')
    closed_one = judge.grammar(closed(9), property_order="any")
    matcher = closed_one.matcher()
    matcher.accept_bytes(b'{"k3":"x"')
    assert not matcher.accept(ord(","))
    assert matcher.accept(ord("}"))


def test_values_that_allow_nothing_are_no_members(judge: Any, always: None) -> None:
    nothing = {"allOf": [{"$ref": "#/$defs/self"}]}
    schema = {
        "type": "object",
        "$defs": {"self": {"type": "object", "required": ["s"], "properties": {"s": {"$ref": "#/$defs/self"}}}},
        "properties": {"a": nothing, "b": {"type": "null"}},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
    }
    judge.agrees(schema, [{"b": None}], [{}, {"a": 1}, {"a": {"s": 1}, "b": None}])
    with pytest.raises(UnsatisfiableSchema):
        judge.grammar({**schema, "anyOf": [{"required": ["a"]}, {"required": ["a", "b"]}]})


def test_documents_can_be_finished(judge: Any, always: None) -> None:
    for property_order in ("any", "schema"):
        schema = {"type": "object", "oneOf": [{"required": [f"r{at}", f"s{at}"]} for at in range(6)]}
        grammar = judge.grammar(schema, property_order=property_order)
        for begun, end in ((b'{"r2":"a long', b'","s2":0}'), (b"{", b'"r0":0,"s0":0}'), (b'{"s4":1', b',"r4":0}')):
            matcher = grammar.matcher()
            if property_order == "schema" and begun == b'{"s4":1':
                continue  # r4 can come no more
            matcher.accept_bytes(begun)
            assert len(matcher.finishing_tokens()) == len(end)
            assert matcher.least_budget() == len(end) + 1


@pytest.mark.parametrize("property_order", ["any", "schema"])
def test_what_is_counted_has_room(judge: Any, always: None, property_order: str) -> None:
    """A comma was offered for names that had passed, and a brace for an object whose least number no key made."""
    schema = {"type": "object", "properties": {"b": {}, "a": {}}, "anyOf": [{"required": ["b"]}, {"minProperties": 4}]}
    grammar = judge.grammar({**schema, "additionalProperties": False}, property_order=property_order)
    matcher = grammar.matcher()
    matcher.accept_bytes(b'{"b":1')
    assert matcher.accept(ord(","))
    with pytest.raises(TokenRejected):
        matcher.accept_bytes(b'"a":1,')
    counted = judge.grammar({**schema, "maxProperties": 2}, property_order=property_order).matcher()
    counted.accept_bytes(b'{"b":1,"z":1')
    assert not counted.accept(ord(","))
    void = {"properties": {"b": False, "a": {"type": "null"}}, "additionalProperties": False, "minProperties": 1}
    with pytest.raises(UnsatisfiableSchema):
        judge.grammar({**schema, **void, "anyOf": [{"properties": {"a": False}}, {"required": ["b"]}]})


@pytest.mark.parametrize("property_order", ["any", "schema"])
def test_conditions_of_different_sizes(judge: Any, property_order: str) -> None:
    """What was left of the ways down one diagram counted as tried in a larger one: {"a":1,"z":1} was refused."""
    few = {"propertyNames": {"enum": ["b"]}, "not": {"propertyNames": {"enum": ["a", "b"]}}}
    schema = {"type": "object", "allOf": [{"not": {"patternProperties": {"^a": {"enum": []}}}}, {"not": few}]}
    valid = [{"a": 1}, {"a": 1, "ab": 1}, {"a": 1, "z": 1}, {"ab": 1, "z": 1}]
    judge.agrees(schema, valid, [{}, {"b": 1}, {"z": 1}], property_order=property_order)


def test_values_of_objects_that_ask_for_keys_are_closed(judge: Any) -> None:
    inner = {"type": "object", "properties": {"x": {}}}
    schema = {"type": "object", "properties": {"o": inner, "zz": {}}, "not": {"patternProperties": {"^z": False}}}
    grammar = judge.grammar(schema, closed=True)
    assert judge.accepts(grammar, {"o": {"x": 1}, "zz": 1})
    for value in ({"o": {"y": 1}, "zz": 1}, {"o": {"x": 1}}, {"zz": 1, "z": 1}):
        assert not judge.accepts(grammar, value), value


NOTHING = {"type": "object", "properties": {"s": {"$ref": "#/$defs/nothing"}}, "required": ["s"]}


@pytest.mark.parametrize("property_order", ["any", "schema"])
@pytest.mark.parametrize("others", [{"$ref": "#/$defs/nothing"}, False])
def test_no_comma_before_free_keys_that_allow_nothing(judge: Any, others: Any, property_order: str) -> None:
    names = {f"k{at}": {} for at in range(7)}
    told_apart = {"properties": names, "oneOf": [{"required": [name]} for name in names]}
    schema = {"$defs": {"nothing": NOTHING}, "type": "object", **told_apart, "additionalProperties": others}
    matcher = judge.grammar(schema, property_order=property_order).matcher()
    matcher.accept_bytes(b'{"k1":1')
    assert not matcher.accept(ord(","))
    assert matcher.accept(ord("}"))


@pytest.mark.parametrize("property_order", ["any", "schema"])
def test_what_a_condition_asks_for_without_end_is_no_value(judge: Any, always: None, property_order: str) -> None:
    alternatives = [{"required": ["a"]}, {"required": ["a", "b"]}]
    endless = {"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}, "b": {}}, "anyOf": alternatives}
    with pytest.raises(UnsatisfiableSchema):
        judge.grammar({"$defs": {"n": endless}, "$ref": "#/$defs/n"}, property_order=property_order)
    schema = {"$defs": {"n": endless}, "type": "object", "properties": {"t": {"$ref": "#/$defs/n"}, "u": {}}}
    matcher = judge.grammar(schema, property_order=property_order).matcher()
    with pytest.raises(TokenRejected):
        matcher.accept_bytes(b'{"t"')
    ending = {**endless, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    judge.agrees({"$defs": {"n": ending}, "$ref": "#/$defs/n"}, [{"a": {"b": 1}}, {"b": 1}], [{}, {"a": {}}])


def test_what_is_hard_to_divide_is_written_as_alternatives(judge: Any) -> None:
    for values in ([{"$ref": "#"}] * 7, [{"pattern": f"a.{{{8 + at}}}$", "type": "string"} for at in range(7)]):
        members = [{"required": [f"a{at}"], "properties": {"v": one}} for at, one in enumerate(values)]
        assert judge.accepts(judge.grammar({"type": "object", "oneOf": members}), {"a3": 1})


@pytest.mark.parametrize("keyword", ["dependentRequired", "dependentSchemas", "dependencies", "allOf"])
def test_a_long_chain_of_keys_is_not_nested(judge: Any, keyword: str) -> None:
    # each link is an alternative, and 400 of them were called a schema that is nested deeper than 400
    links = {f"a{at}": [f"a{at + 1}"] for at in range(499)}
    schema: dict[str, Any] = {keyword: links}
    if keyword == "dependentSchemas":
        schema = {keyword: {key: {"required": needed} for key, needed in links.items()}}
    elif keyword == "allOf":
        schema = {keyword: [{"if": {"required": [key]}, "then": {"required": n}} for key, n in links.items()]}
    grammar = judge.grammar(schema, property_order="any")
    assert judge.accepts(grammar, {"a498": 1, "a499": 1})
    assert judge.accepts(grammar, {"b": 1})
    assert not judge.accepts(grammar, {"a497": 1, "a498": 1})
