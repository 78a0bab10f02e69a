"""Objects by a condition: what multiplied out is written, and random alternatives are judged as by definition."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from itertools import combinations, permutations, product
from typing import Any

import pytest

from llmask.errors import TokenRejected, UnsatisfiableSchema
from llmask.frontends.json_schema.meaning import key_conditions
from llmask.frontends.json_schema.writing import translation

VALUES = [{"type": "string"}, {"type": "integer"}, {"enum": ["x", 1]}, {"minimum": 2}, True, False, {}]
WORLD: list[dict[str, Any]] = [
    dict(zip(names, values, strict=True))
    for n in range(4)
    for names in combinations(("a", "b", "c", "z", "zz"), n)
    for values in product(("x", 1, 2, None), repeat=n)
]


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every choice of objects is written by a condition; values of keys are divided by what objects can be."""
    monkeypatch.setattr(key_conditions, "MANY_CLASSES", 0)
    monkeypatch.setattr(translation, "MANY_WAYS", 0)
    monkeypatch.setattr(translation, "MANY_PAIRS", -1)


def random_object(rng: random.Random, depth: int, values: list[Any] = VALUES) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "object"} if rng.random() < 0.5 else {}
    if rng.random() < 0.7:
        names = rng.sample("abc", rng.randint(1, 3))
        made["properties"] = {name: rng.choice(values) for name in names}
    if rng.random() < 0.5:
        made["required"] = rng.sample("abc", rng.randint(1, 2))
    if rng.random() < 0.4:
        made["additionalProperties"] = rng.choice((False, *values))
    if rng.random() < 0.2:
        made["patternProperties"] = {rng.choice(("^[az]", "z", "^b$")): rng.choice(values)}
    if rng.random() < 0.1:
        made["propertyNames"] = rng.choice(({"pattern": "^[abz]"}, {"maxLength": 1}, {"enum": ["a", "zz"]}))
    if depth and rng.random() < 0.6:
        keyword = rng.choice(("anyOf", "oneOf", "allOf", "not"))
        inside = [random_object(rng, depth - 1, values) for _ in range(rng.randint(1, 3))]
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


@pytest.mark.long
@pytest.mark.parametrize("property_order", ["any", "schema"])
def test_random_objects_within_objects(
    judge: Any, rng: random.Random, costly: Callable[[int], int], always: None, property_order: str
) -> None:
    """Values are divided by objects, whose values are divided by objects: three levels, told apart by a key or not."""
    kinds = [{"const": "x"}, {"enum": ["x", "y"]}, {"enum": ["z"]}]
    for _ in range(costly(60)):
        inner = [random_object(rng, rng.randint(0, 1)) for _ in range(3)]
        middle = [random_object(rng, 0, [*inner, *inner, True, {"type": "string"}]) for _ in range(4)]
        members = [random_object(rng, 0, [*middle, *inner, {"type": "integer"}]) for _ in range(4)]
        for member in members:
            if rng.random() < 0.6:
                member["properties"] = {"kind": rng.choice(kinds), **member.get("properties", {})}
        schema = {"type": "object", rng.choice(("oneOf", "oneOf", "anyOf")): members}
        try:
            grammar = judge.grammar(schema, property_order=property_order)
        except UnsatisfiableSchema:
            grammar = None
        below: list[Any] = [{}, "x", 2]
        for _ in range(3):
            below += [{key: rng.choice(below) for key in rng.sample(("a", "b", "c", "z"), n)} for n in (1, 1, 2, 3)]
        for _ in range(60):
            keys = rng.sample(("kind", "a", "b", "c", "z"), rng.randint(0, 4))
            value = {key: rng.choice(("x", "y", "z", 1)) if key == "kind" else rng.choice(below) for key in keys}
            accepted = grammar is not None and judge.accepts(grammar, value)
            is_valid = judge.is_valid(schema, value)
            assert accepted == is_valid if property_order == "any" else accepted <= is_valid, (schema, value)


@pytest.mark.parametrize("reference", ["", "#", "#t"])
def test_a_dynamic_anchor_that_is_met_on_the_way(judge: Any, reference: str) -> None:
    """Schemas were named before it as if each had one meaning, and not found after it."""
    asked = [{"properties": {"e": {"$dynamicRef": reference}}}, {"type": "array"}]
    schema = {
        "anyOf": asked,
        "not": {"enum": [{"b": ""}, {"q": 0, "e": True}]},
        "$defs": {"d": {"$dynamicAnchor": "t"}},
    }
    grammar = judge.grammar(schema, property_order="any")
    assert [judge.accepts(grammar, one) for one in ({"e": ""}, {"b": ""}, {"e": {"e": 1}, "q": 0})] == [
        True,
        False,
        True,
    ]


SAID: list[Any] = [{"const": "x"}, {"const": 1}, {"enum": ["x", 2]}, {"minimum": 2}]
SAID += [{"const": at} for at in range(3, 9)]
SAID_OF_STRINGS: list[Any] = [{"pattern": "x"}, {"type": "string", "pattern": "^x"}, {"minLength": 2}, {"maxLength": 1}]
SAID_OF_STRINGS += [
    {"pattern": "1$"},
    {"type": "string"},
    {"pattern": "^x1", "maxLength": 2},
    {"not": {"pattern": "y"}},
]


@pytest.mark.parametrize("said", [SAID, SAID_OF_STRINGS], ids=["any", "strings"])
@pytest.mark.parametrize("n", [2, 4, 6, 8, 12])
def test_many_conditions_on_one_key(
    judge: Any, rng: random.Random, costly: Callable[[int], int], n: int, said: list[Any]
) -> None:
    """The values of a key are divided by all that conditions say of them, at whatever number this is found too dear."""
    then = [{}, {"required": ["a"]}, {"required": ["b"]}, {"properties": {"a": {"not": said[0]}}}]
    for _ in range(costly(12)):
        asked = [{"if": {"properties": {"a": rng.choice(said)}}, "then": rng.choice(then)} for _ in range(n)]
        told = [{"properties": {"a": rng.choice(said)}, "required": rng.sample("ab", 1)} for _ in range(n // 2)]
        schema = {"type": "object", "allOf": asked, rng.choice(("anyOf", "oneOf")): told}
        try:
            grammar = judge.grammar(schema, property_order="any")
        except UnsatisfiableSchema:
            grammar = None
        for value in rng.sample(WORLD, 60):
            value = {key: rng.choice(("x", "", "y", "x1", "xy1")) if one == "x" else one for key, one in value.items()}
            accepted = grammar is not None and judge.accepts(grammar, value)
            assert accepted == judge.is_valid(schema, value), (schema, value)


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


KEYS = [f"k{at}" for at in range(8)]


def builder(at: int) -> Any:
    properties = {key: {"type": "string"} for key in (KEYS[at - 2], KEYS[at - 1], KEYS[at])}
    options = {"type": "object", "properties": properties, "additionalProperties": False}
    more = {"type": "object", "additionalProperties": options}
    return {"properties": {"builder": {"const": f"b{at}"}, "more": more, "options": options}}


@pytest.mark.parametrize("property_order", ["any", "schema"])
def test_alternatives_that_no_required_key_tells_apart(judge: Any, property_order: str, rng: random.Random) -> None:
    """Angular's workspace took more than 5 million units: each of nine builders beside the negations of the others."""
    schema = {"type": "object", "oneOf": [builder(at) for at in range(8)]}
    grammar = judge.grammar(schema, property_order=property_order)
    verdicts = set()
    for _ in range(300):
        some = [dict.fromkeys(rng.sample(KEYS, rng.randint(0, 3)), rng.choice(("x", "x", 1))) for _ in "abc"]
        value = {"builder": f"b{rng.randint(0, 8)}", "more": {"p": some[0], "q": some[1]}, "options": some[2]}
        value = {key: value[key] for key in value if rng.random() < (0.3 if key == "builder" else 0.9)}
        verdicts.add(("builder" in value, judge.is_valid(schema, value)))
        accepted, is_valid = judge.accepts(grammar, value), judge.is_valid(schema, value)
        assert accepted == is_valid if property_order == "any" else accepted <= is_valid, value
    assert len(verdicts) == 4
    texts = [judge.walk(grammar, rng) for _ in range(20)]
    assert all(judge.is_valid(schema, json.loads(text)) for text in texts if text)


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
