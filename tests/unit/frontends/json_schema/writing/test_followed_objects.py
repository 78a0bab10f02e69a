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

FLAG = {"type": "boolean"}
OPEN = {"type": "string"}
COUNT = {"type": "integer", "minimum": 0}
KIND = {"enum": ["a", "ab", 1, None]}
WORDS = {"type": "string", "pattern": "^[ab]{0,2}$"}
CLOSED = {"additionalProperties": False}
ORDERS = ["any", "schema"]


def array_of(*required: str, **properties: Any) -> dict[str, Any]:
    items = {"type": "object", "properties": properties, "additionalProperties": False, "required": [*required]}
    return {"type": "array", "uniqueItems": True, "items": items}


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


@pytest.mark.parametrize("order", ORDERS)
def test_where_all_values_are_known_no_comma_comes(compiler: llmask.Compiler, order: str) -> None:
    schema = array_of(flag=FLAG, kind={"enum": [1, 2]})
    objects = [{}, *({"flag": flag} for flag in (True, False)), *({"kind": kind} for kind in (1, 2))]
    objects += [{"flag": flag, "kind": kind} for flag in (True, False) for kind in (1, 2)]
    for n in range(1, len(objects)):
        text = json.dumps(objects[:n], separators=(",", ":"))[:-1]
        assert following(compiler, schema, text, order) == ",]"
        assert following(compiler, schema, text + ",", order) == "{"
    assert following(compiler, schema, json.dumps(objects, separators=(",", ":"))[:-1], order) == "]"
    assert following(compiler, schema, '[{"flag":true,', order) == '"'


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


def random_items(rng: random.Random, depth: int = 0) -> dict[str, Any]:
    kinds: list[Any] = [OPEN, FLAG, COUNT, KIND, WORDS, {"type": ["string", "null"]}]
    if depth < 2:
        kinds += [array_of(**random_items(rng, depth + 1)), {"type": "array", "items": KIND, "uniqueItems": True}]
        kinds.append(array_of(**random_items(rng, depth + 1))["items"])
    return {name: rng.choice(kinds) for name in rng.sample(["a", "b", "ab"], rng.randint(1, 3))}


def random_value(rng: random.Random, schema: dict[str, Any]) -> Any:
    """One of few values of a schema."""
    if "enum" in schema:
        return rng.choice(schema["enum"])
    if schema["type"] == "object":
        names = [name for name in schema["properties"] if name in schema["required"] or rng.random() < 0.6]
        rng.shuffle(names)
        return {name: random_value(rng, schema["properties"][name]) for name in names}
    if schema["type"] == "array":
        return [random_value(rng, schema["items"]) for _ in range(rng.choice([0, 1, 1, 2, 3]))]
    if schema["type"] == "boolean":
        return rng.random() < 0.5
    if schema["type"] == "integer":
        return rng.choice([0, 1, 10])
    return rng.choice(["", "a", "b", "ab"])


def test_random_documents(compiler: llmask.Compiler, rng: random.Random, scaled: Any) -> None:
    n_valid = 0
    for _ in range(scaled(40)):
        properties = random_items(rng)
        schema = array_of(*(name for name in properties if rng.random() < 0.4), **properties)
        grammar = compiler.json_schema(schema, property_order="any")
        judge = jsonschema.Draft202012Validator(schema)
        for _ in range(20):
            values = [random_value(rng, schema["items"]) for _ in range(rng.randint(1, 6))]
            is_valid = judge.is_valid(values)
            n_valid += is_valid
            assert grammar.accepts(json.dumps(values)) == is_valid, (schema, values)
    assert n_valid > 10


@pytest.mark.parametrize("order", ORDERS)
def test_random_walks_get_to_an_end(compiler: llmask.Compiler, rng: random.Random, scaled: Any, order: str) -> None:
    """Every mask allows something, and all that it allows can be taken."""
    for _ in range(scaled(25)):
        properties = random_items(rng)
        schema = array_of(*(name for name in properties if rng.random() < 0.4), **properties)
        matcher = compiler.json_schema(schema, property_order=order, whitespace="compact").matcher()
        judge = jsonschema.Draft202012Validator(schema)
        while len(matcher.tokens) < 150:
            allowed = sorted(read_mask(matcher, 257) - {256})
            if not allowed:
                break
            for token in allowed:
                assert matcher.accept(token), (schema, matcher.text(), token)
                matcher.rollback(1)
            likely = [token for token in allowed if chr(token) in '{}[]",:ab01tfn' and not matcher.is_accepting()]
            matcher.accept_token(rng.choice(likely or allowed))
        matcher.accept_tokens(matcher.finishing_tokens())
        judge.validate(json.loads(matcher.text()))


NUMBER = {"type": "number"}


def lists_of(*items: Any, **more: Any) -> dict[str, Any]:
    inner = {"type": "array", "prefixItems": list(items), "minItems": len(items), "items": False, **more}
    return {"type": "array", "uniqueItems": True, "items": inner}


@pytest.mark.parametrize(
    ("schema", "text", "wanted"),
    [
        (lists_of(FLAG, FLAG), "[[true,true],[true,", "f"),
        (lists_of(FLAG, FLAG), "[[true,true],[true,false],[", "f"),
        (lists_of(FLAG, FLAG, minItems=1), "[[true,true],[true,false],[", "ft"),
        (lists_of(FLAG, FLAG, minItems=1), "[[true,true],[true,false],[true", "]"),
        (lists_of(FLAG, FLAG, minItems=1), "[[true],[true", ","),
        (lists_of(OPEN, FLAG), '[["a",true],["a",false],["b",', "ft"),
        (lists_of(OPEN, FLAG), '[["a",true],["a",', "f"),
        (lists_of(FLAG, OPEN), '[[true,"a"],[true,"a"', None),
        (lists_of(COUNT, COUNT), "[[1,0],[1,", "123456789"),
        (lists_of(FLAG, lists_of(FLAG)["items"]), "[[true,[false]],[true,[", "t"),
        (
            {"type": "array", "uniqueItems": True, "items": {"type": "array", "maxItems": 1}},
            "[[],[",
            '"-0123456789[fnt{',
        ),
    ],
)
def test_what_may_follow_in_arrays(compiler: llmask.Compiler, schema: Any, text: str, wanted: str | None) -> None:
    matcher = compiler.json_schema(schema, whitespace="compact").matcher()
    if wanted is None:
        with pytest.raises(llmask.TokenRejected):
            matcher.accept_bytes(text.encode())
        return
    matcher.accept_bytes(text.encode())
    found = {chr(token) for token in read_mask(matcher, 257) if 0x20 <= token < 0x7F}
    assert found == {*wanted}


def test_a_string_of_an_array_goes_on_where_all_that_could_follow_is_known(compiler: llmask.Compiler) -> None:
    matcher = compiler.json_schema(lists_of(OPEN, FLAG)).matcher()
    matcher.accept_bytes(b'[["a",true],["a",false],["a')
    assert matcher.validate_tokens(list(b'"')) == 0
    assert matcher.validate_tokens(list(b"a")) == 1


def test_many_pairs_of_numbers_meet_no_limit(compiler: llmask.Compiler) -> None:
    grammar = compiler.json_schema(lists_of(NUMBER, NUMBER))
    pairs = [[at // 20, at % 20 + 0.5] for at in range(400)]
    assert grammar.accepts(json.dumps(pairs))
    assert not grammar.accepts(json.dumps([*pairs, pairs[77]]))


def test_random_documents_and_walks(compiler: llmask.Compiler, rng: random.Random, scaled: Any) -> None:
    kinds = {"true": FLAG, '"a"': OPEN, "1": COUNT, "null": {"type": ["null", "string"]}, "[1]": {"maxItems": 2}}
    some = ["true", "false", '"a"', '""', "0", "1", "null", "[]", "[0]", "[0,0]"]
    n_valid = 0
    for _ in range(scaled(40)):
        items = [rng.choice(list(kinds.values())) for _ in range(rng.randint(1, 3))]
        schema = lists_of(*items, minItems=rng.randint(0, len(items)))
        grammar, judge = compiler.json_schema(schema, whitespace="compact"), jsonschema.Draft202012Validator(schema)
        for _ in range(20):
            lists = [[rng.choice(some) for _ in range(rng.randint(0, len(items)))] for _ in range(rng.randint(1, 4))]
            text = "[" + ",".join(f"[{','.join(one)}]" for one in lists) + "]"
            is_valid = judge.is_valid(json.loads(text))
            n_valid += is_valid
            assert grammar.accepts(text) == is_valid, (schema, text)
        matcher = grammar.matcher()
        while len(matcher.tokens) < 80:
            allowed = sorted(read_mask(matcher, 257) - {256})
            if not allowed:
                break
            likely = [token for token in allowed if chr(token) in '[]",01tfn' and not matcher.is_accepting()]
            matcher.accept_token(rng.choice(likely or allowed))
        matcher.accept_tokens(matcher.finishing_tokens())
        judge.validate(json.loads(matcher.text()))
    assert n_valid > 20
