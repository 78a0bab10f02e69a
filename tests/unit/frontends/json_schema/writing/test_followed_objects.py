"""Objects that differ from those before them: whatever was written, what may follow leads to another one."""

from __future__ import annotations

import json
import random
from itertools import permutations
from typing import Any

import jsonschema
import pytest

import llmask
from llmask.frontends.json_schema.writing.followed_objects import FollowedObject
from tests.reference.definition import read_mask
from tests.unit.frontends.json_schema.small_worlds import dead_end

FLAG = {"type": "boolean"}
OPEN = {"type": "string"}
COUNT = {"type": "integer", "minimum": 0}
KIND = {"enum": ["a", "ab", 1, None]}
WORDS = {"type": "string", "pattern": "^[ab]{0,2}$"}
CLOSED = {"additionalProperties": False}
ORDERS = ["any", "schema"]


def object_of(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False, "required": [*required]}


def array_of(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "array", "uniqueItems": True, "items": object_of(*required, **properties)}


def lists_of(*items: Any, **more: Any) -> dict[str, Any]:
    inner = {"type": "array", "prefixItems": list(items), "minItems": len(items), "items": False, **more}
    return {"type": "array", "uniqueItems": True, "items": inner}


def tags(items: Any, **more: Any) -> dict[str, Any]:
    return {"type": "array", "uniqueItems": True, "items": items, **more}


PAIR = object_of("x", "y", x=COUNT, y=COUNT)
SOME = {"anyOf": [object_of(flag=FLAG, x=COUNT), {"type": "null"}, FLAG]}


def following(compiler: llmask.Compiler, schema: dict[str, Any], text: str, order: str) -> str:
    """The bytes that may come next, white space aside."""
    matcher = compiler.json_schema(schema, property_order=order, whitespace="compact").matcher()
    matcher.accept_bytes(text.encode())
    allowed = read_mask(matcher, 257)
    return "".join(chr(token) for token in sorted(allowed) if 0x20 <= token < 0x7F)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("schema", "text", "wanted"),
    [
        (array_of("name", name=OPEN, flag=FLAG), '{"name":"x"},{"name":"x"', ","),
        (array_of("name", name=OPEN, flag=FLAG), '{"name":"x","flag":true},{"name":"x"', ",}"),
        (array_of("name", name=OPEN, flag=FLAG), '{"name":"x","flag":true},{"name":"x","flag":', "f"),
        (array_of("name", name=OPEN, flag=FLAG), '{"name":"x","flag":true},{"name":"y","flag":', "ft"),
        (array_of("name", "flag", name=OPEN, flag=FLAG), '{"name":"x","flag":true},{"name":"x","flag":', "f"),
        (array_of("name", name=OPEN, kind=KIND), '{"name":"x","kind":"a"},{"name":"x","kind":"a', "b"),
        (array_of("name", name=OPEN, count=COUNT), '{"name":"x","count":0},{"name":"x","count":', "123456789"),
        (array_of(flag=FLAG, count=COUNT), '{"flag":true},{"flag":true', ","),
        (array_of(flag=FLAG, count=COUNT), '{"flag":true,"count":1},{"flag":true,"count":1', "0123456789"),
        (array_of("words", words=WORDS, name=OPEN), '{"words":"a"},{"words":"a"', ","),
        (array_of("name", name=OPEN, inner=array_of(b=FLAG)), '{"name":"x","inner":[]},{"name":"x","inner":[', "{"),
        (array_of("p", p=PAIR), '{"p":{"x":1,"y":0}},{"p":{"x":1,"y":', "123456789"),
        (array_of("p", p=PAIR), '{"p":{"x":1,"y":1}},{"p":{"x":1,"y":1', "0123456789"),
        (array_of("p", p=PAIR, flag=FLAG), '{"p":{"x":1,"y":0}},{"p":{"x":1,"y":0', ".}"),
        (array_of("p", "flag", p=PAIR, flag=FLAG), '{"p":{"x":1,"y":0},"flag":true},{"p":{"x":1,"y":0},"flag":', "f"),
        (array_of("p", p=object_of(q=PAIR)), '{"p":{}},{"p":{', '"'),
        (array_of("p", p=object_of(q=PAIR)), '{"p":{"q":{"x":1,"y":0}}},{"p":{"q":{"x":1,"y":', "123456789"),
        (array_of("p", p=object_of("x", x=KIND)), '{"p":{"x":"a"}},{"p":{"x":1}},{"p":{"x":"a', "b"),
        (array_of("p", p=object_of("x", x=FLAG)), '{"p":{"x":true}},{"p":{"x":', "f"),
        (array_of("p", p=object_of("x", x=FLAG)), '{"p":{"x":true}},{"p":{"x":false}', "}"),
        (array_of("p", p=SOME), '{"p":null},{"p":true},{"p":{}},{"p":', "f{"),
        (array_of("p", p=SOME), '{"p":null},{"p":{}},{"p":{"flag":true}},{"p":{"flag":', "ft"),
        (array_of("p", p=SOME), '{"p":{}},{"p":{"flag":true}},{"p":{"flag":true', ","),
        (array_of("p", p={"type": "array", "items": PAIR, "maxItems": 1}), '{"p":[]},{"p":[', "{"),
        (array_of("p", p={"type": "array", "items": FLAG, "maxItems": 1}), '{"p":[]},{"p":[true]},{"p":[', "f"),
        (array_of(flag=FLAG), '{},{"flag":true}', ",]"),
        (tags({**object_of(a=FLAG, b=FLAG, c=FLAG), "minProperties": 2}), '{"a":true', ","),
        (tags({**object_of(a=FLAG, n=COUNT), "minProperties": 2}), '{"a":true,"n":0},{"a":true,"n":', "123456789"),
        (tags({**object_of(a=FLAG, b={"const": 1}), "minProperties": 1}), '{"a":true},{"a":true', ","),
        (tags({**object_of(a=FLAG), "minProperties": 1}), '{"a":true},{"a":false}', "]"),
        (tags({**object_of(a=FLAG, n=COUNT), "maxProperties": 1}), '{"a":true},{"n":0},{"n":', "123456789"),
        (array_of(flag=FLAG), '{},{"flag":true},{"flag":false}', "]"),
        (array_of(flag=FLAG, kind=KIND), '{"flag":true,', '"'),
        (lists_of(FLAG, FLAG), "[true,true],[true,", "f"),
        (lists_of(FLAG, FLAG), "[true,true],[true,false],[", "f"),
        (lists_of(FLAG, FLAG, minItems=1), "[true,true],[true,false],[", "ft"),
        (lists_of(FLAG, FLAG, minItems=1), "[true,true],[true,false],[true", "]"),
        (lists_of(FLAG, FLAG, minItems=1), "[true],[true", ","),
        (lists_of(OPEN, FLAG), '["a",true],["a",false],["b",', "ft"),
        (lists_of(OPEN, FLAG), '["a",true],["a",', "f"),
        (lists_of(COUNT, COUNT), "[1,0],[1,", "123456789"),
        (lists_of(FLAG, lists_of(FLAG)["items"]), "[true,[false]],[true,[", "t"),
        ({"type": "array", "uniqueItems": True, "items": {"type": "array", "maxItems": 1}}, "[],[", '"0123456789[fnt{'),
        (array_of("p", p=tags(FLAG)), '{"p":[true,false]},{"p":[true', "]"),
        (array_of("p", p=tags(FLAG, minItems=1)), '{"p":[true]},{"p":[true,false]},{"p":[', "f"),
        (array_of("p", p=tags(KIND, minItems=2, maxItems=2)), '{"p":["a",1]},{"p":["a","ab"]},{"p":["a",', "n"),
        (array_of("p", p=tags(COUNT, maxItems=2)), '{"p":[1,0]},{"p":[1', ",.0123456789]"),
        (array_of("p", p=tags(COUNT, maxItems=2)), '{"p":[1,0]},{"p":[1,', "123456789"),
        ({"type": "array", "uniqueItems": True, "items": tags(FLAG)}, "[],[true],[true,false],[", "f"),
    ],
)
def test_what_may_follow(compiler: llmask.Compiler, schema: Any, text: str, wanted: str, order: str) -> None:
    assert following(compiler, schema, "[" + text, order).replace("-", "") == wanted


@pytest.mark.parametrize("order", ORDERS)
def test_a_string_goes_on_where_all_that_could_follow_is_known(compiler: llmask.Compiler, order: str) -> None:
    schema = array_of("name", name=OPEN, flag=FLAG)
    objects = ['{"name":"x"}', '{"name":"x","flag":true}', '{"name":"x","flag":false}']
    for n in range(3):
        for known in permutations(objects, n):
            assert '"' in following(compiler, schema, f'[{",".join(known)}{"," if n else ""}{{"name":"x', order)
    found = following(compiler, schema, f'[{",".join(objects)},{{"name":"x', order)
    assert '"' not in found
    assert "y" in found


def test_what_was_passed_over_does_not_come(compiler: llmask.Compiler) -> None:
    """In the order of the schema a key that was left out tells nothing apart any more."""
    schema = array_of(name=OPEN, flag=FLAG)
    assert following(compiler, schema, '[{},{"flag":true},{"', "schema") == "fn"
    assert following(compiler, schema, '[{},{"flag":true},{"flag":', "schema") == "f"
    assert following(compiler, schema, '[{},{"flag":true},{"flag":false},{"', "schema") == "n"
    assert following(compiler, schema, '[{},{"flag":true},{"flag":false},{"', "any") == "fn"
    assert following(compiler, schema, '[{},{"flag":true},{"flag":false},{"flag":true', "any") == ","


@pytest.mark.parametrize("order", ORDERS)
def test_what_another_alternative_wrote_is_not_missing_here(compiler: llmask.Compiler, order: str) -> None:
    def kind(value: str, **more: Any) -> dict[str, Any]:
        properties = {"name": OPEN, "kind": {"const": value}, **more}
        return {"type": "object", "properties": properties, "additionalProperties": False, "required": [*properties]}

    schema = {"type": "array", "uniqueItems": True, "items": {"anyOf": [kind("a"), kind("b", flag=FLAG)]}}
    text = '[{"name":"x","kind":"b","flag":true},{"name":"x","kind":"b","flag":false},{"name":"x"'
    assert following(compiler, schema, text, order) == ","
    assert following(compiler, schema, text + ',"kind":"', order) == "a"
    assert '"' not in following(compiler, schema, f'{text},"kind":"a"}},{{"name":"x', order)


FLAGS = array_of("flag", flag=FLAG)["items"]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "items",
    [
        {**FLAGS, "properties": {"flag": FLAG, "more": {"$ref": "#/items"}}, "required": ["more"]},
        {"properties": {"flag": FLAG}, "required": ["z"], "propertyNames": {"enum": ["flag"]}, **CLOSED},
        {"type": "object", "if": {"required": ["z"]}, "then": {"propertyNames": {"enum": ["a"]}}, "else": FLAGS},
    ],
)
def test_an_object_that_never_ends_does_not_begin(compiler: llmask.Compiler, items: Any, order: str) -> None:
    """A required member was offered although nothing is a value of it."""
    schema = {"type": "array", "uniqueItems": True, "items": items}
    matcher = compiler.json_schema(schema, property_order=order).matcher()
    with pytest.raises(llmask.TokenRejected):
        matcher.accept_bytes(b'[{"more":{')
    assert b"more" not in matcher.text()


def test_a_list_of_nothing_is_the_only_one(compiler: llmask.Compiler) -> None:
    never = {"type": "object", "properties": {"a": {"not": {}}}, "required": ["a"]}
    schema = {"type": "array", "uniqueItems": True, "items": {"type": "array", "items": never}}
    assert following(compiler, schema, "[[]", "schema") == "]"


def test_numbers_of_too_many_digits_are_refused_at_the_end(compiler: llmask.Compiler) -> None:
    schema = array_of("name", name=OPEN, number={"type": "number"})
    text = '[{"name":"x","number":1e999999999999},{"name":"x","number":1e99999999999'
    assert "9" in following(compiler, schema, text, "any")
    with pytest.raises(llmask.TokenRejected):
        following(compiler, schema, text + "9}", "any")


def test_nothing_is_asked_for_as_long_as_a_member_can_tell(
    compiler: llmask.Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A document of 15 optional properties in any order was refused, or took seconds."""
    monkeypatch.setattr(FollowedObject, "_state_for", None)
    schema = array_of(**{f"p{i}": OPEN for i in range(15)}, flag=FLAG)
    grammar = compiler.json_schema(schema, property_order="any")
    objects = [{f"p{(i + j) % 15}": "same" for j in range(7)} for i in range(12)]
    assert grammar.accepts(json.dumps(objects))
    assert not grammar.accepts(json.dumps([*objects, objects[3]]))
    nested = array_of("p", p=object_of("q", q=PAIR))  # each was written without all before it
    pairs = [{"p": {"q": {"x": at, "y": at // 2}}} for at in range(80)]
    assert compiler.json_schema(nested, property_order="any").accepts(json.dumps(pairs))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "item",
    [
        object_of("a", a=object_of("b", b=object_of("c", c=object_of("d", d=FLAG)))),
        object_of("b", a=object_of(a=FLAG), b=object_of("b", b={"enum": ["a", "ab"]})),
        object_of("a", "c", a=object_of("a", a=FLAG), c=FLAG),
        object_of(a={"anyOf": [object_of(b=FLAG), {"type": "null"}]}),
        object_of("a", a={"type": "array", "items": object_of("a", a=FLAG), "maxItems": 1}, b={"const": 1}),
        {"type": "array", "items": object_of("a", a=FLAG), "minItems": 1, "maxItems": 2},
        {"type": "array", "items": KIND, "uniqueItems": True, "maxItems": 2},
        {"type": "array", "items": FLAG, "uniqueItems": True},
        object_of("a", a={"type": "array", "items": {"enum": [1, 2, 3]}, "uniqueItems": True, "minItems": 1}),
        {**object_of(a=FLAG, b={"const": 1}), "minProperties": 1},
        {**object_of(a={"const": 0}, b={"const": 1}, c=FLAG), "minProperties": 2},
        {**object_of("b", a=FLAG, b={"const": 1}, c={"const": 2}), "minProperties": 2},
        object_of(a={**object_of(a=FLAG, b={"const": 1}), "minProperties": 1}, b={"const": 1}),
        {**object_of(a=FLAG, b={"const": 1}), "minProperties": 1, "maxProperties": 1},
        {**object_of(a={"const": 0}, b={"const": 1}, c=FLAG), "maxProperties": 2},
        {**object_of("c", a=FLAG, b={"const": 1}, c={"const": 2}), "maxProperties": 2},
        {**object_of(a=FLAG, b={"const": 1}, c={"const": 2}), "minProperties": 2, "maxProperties": 2},
    ],
)
def test_every_array_of_a_small_world_can_be_ended(judge: Any, item: Any, order: str) -> None:
    assert dead_end(judge, {"type": "array", "uniqueItems": True, "items": item}, 3000, property_order=order) is None


SIMPLE: list[Any] = [OPEN, FLAG, COUNT, KIND, WORDS, {"type": ["string", "null"]}, {"type": "integer"}]


def some_item(rng: random.Random, depth: int = 0) -> dict[str, Any]:
    """An object, or a list, whose members are simple or of one more level."""
    members = [some_item(rng, depth + 1) if depth < 2 and rng.random() < 0.4 else rng.choice(SIMPLE) for _ in range(3)]
    if rng.random() < 0.3:
        low, high = sorted(rng.choices(range(3), k=2))
        return {"type": "array", "prefixItems": members[:2], "items": False, "minItems": low, "maxItems": high}
    if rng.random() < 0.3:
        bounds = rng.choice([{}, {"maxItems": 2}, {"minItems": 1, "maxItems": 3}]) if depth else {"maxItems": 3}
        return {"type": "array", "uniqueItems": rng.random() < 0.7, "items": members[0], **bounds}
    names = rng.sample(["a", "b", "ab"], rng.randint(1, 3))
    required = [name for name in names if rng.random() < 0.4]
    found = object_of(*required, **dict(zip(names, members, strict=False)))
    if rng.random() < 0.6:
        low, high = sorted(rng.choices(range(max(len(required), 1), 4), k=2))
        found |= rng.choice([{"minProperties": min(low, len(names))}, {"maxProperties": high}, {}])
        found |= rng.choice([{"minProperties": min(low, len(names)), "maxProperties": high}, {}])
    return {"anyOf": [found, {"type": "null"}]} if depth and rng.random() < 0.3 else found


def some_value(rng: random.Random, schema: dict[str, Any], order: str) -> Any:
    """One of few values, nearly always of a schema."""
    if rng.random() < 0.02:
        schema = rng.choice(SIMPLE)
    if "anyOf" in schema:
        schema = rng.choice(schema["anyOf"])
    if "enum" in schema:
        return rng.choice(schema["enum"])
    if schema["type"] == "object":
        names = [name for name in schema["properties"] if name in schema["required"] or rng.random() < 0.6]
        if order == "any":
            rng.shuffle(names)
        return {name: some_value(rng, schema["properties"][name], order) for name in names}
    if schema["type"] == "array":
        each = schema.get("prefixItems", [])
        n = rng.randint(schema.get("minItems", 0), schema.get("maxItems", 3))
        return [some_value(rng, each[at] if each else schema["items"], order) for at in range(n)]
    if schema["type"] == "boolean":
        return rng.random() < 0.5
    if schema["type"] == "integer":
        return rng.choice([0, 1, 10])
    return None if schema["type"] == "null" else rng.choice(["", "a", "b", "ab"])


@pytest.mark.parametrize("order", ORDERS)
def test_random_documents_and_walks(compiler: llmask.Compiler, rng: random.Random, scaled: Any, order: str) -> None:
    """Every mask allows something, and all that it allows can be taken."""
    n_valid = 0
    for _ in range(scaled(40)):
        schema = {"type": "array", "uniqueItems": True, "items": some_item(rng)}
        grammar = compiler.json_schema(schema, property_order=order, whitespace="compact")
        judge = jsonschema.Draft202012Validator(schema)
        for _ in range(20):
            values = [some_value(rng, schema["items"], order) for _ in range(rng.randint(1, 6))]
            is_valid = judge.is_valid(values)
            n_valid += is_valid
            assert grammar.accepts(json.dumps(values, separators=(",", ":"))) == is_valid, (schema, values)
        matcher = grammar.matcher()
        while len(matcher.tokens) < 100:
            allowed = sorted(read_mask(matcher, 257) - {256})
            if not allowed:
                break
            for token in allowed:
                assert matcher.validate_tokens([token]) == 1, (schema, matcher.text(), token)
            likely = [token for token in allowed if chr(token) in '{}[]",:ab01tfn' and not matcher.is_accepting()]
            matcher.accept_token(rng.choice(likely or allowed))
        matcher.accept_tokens(matcher.finishing_tokens())
        judge.validate(json.loads(matcher.text()))
    assert n_valid > 100


def test_a_string_of_an_array_goes_on_where_all_that_could_follow_is_known(compiler: llmask.Compiler) -> None:
    for schema, text in (
        (lists_of(OPEN, FLAG), b'[["a",true],["a",false],["a'),
        (lists_of(FLAG, OPEN), b'[[true,"a"],[true,"a'),
    ):
        matcher = compiler.json_schema(schema).matcher()
        matcher.accept_bytes(text)
        assert matcher.validate_tokens(list(b'"')) == 0
        assert matcher.validate_tokens(list(b"a")) == 1


def test_many_pairs_of_numbers_meet_no_limit(compiler: llmask.Compiler) -> None:
    grammar = compiler.json_schema(lists_of({"type": "number"}, {"type": "number"}))
    pairs = [[at // 20, at % 20 + 0.5] for at in range(400)]
    assert grammar.accepts(json.dumps(pairs))
    assert not grammar.accepts(json.dumps([*pairs, pairs[77]]))
