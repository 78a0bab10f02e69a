"""Where leaving out what was read takes too much, a stricter rule stands in: sound, never empty, counted."""

from __future__ import annotations

import contextlib
import json
import random
from typing import Any

import jsonschema
import pytest

import llmask
from llmask.frontends.json_schema.writing import new_values, translation
from llmask.work import metered
from tests.reference.definition import read_mask

NAMES = [f"n{i}" for i in range(29)]
# Of each of the first six names some others exclude it, and one of four must be there: a form that file formats take.
FILES: dict[str, Any] = {
    "type": "array",
    "uniqueItems": True,
    "items": {
        "type": "object",
        "properties": {name: {"type": "string"} for name in NAMES},
        "additionalProperties": False,
        "anyOf": [{"required": [name]} for name in NAMES[:4]],
        "dependencies": {NAMES[i]: {"not": {"required": [NAMES[(i + 1) % 6]]}} for i in range(6)},
    },
}
SMALL: dict[str, Any] = {
    "type": "array",
    "uniqueItems": True,
    "items": {
        "type": ["object", "null"],
        "properties": {"a": {"type": "string"}, "b": {"type": "integer"}, "c": {"enum": [1, 2]}},
        "required": ["c"],
        "additionalProperties": False,
        "minProperties": 2,
    },
}


def test_a_document_of_many_objects_in_any_order_never_meets_a_limit(default_tokenizer: Any) -> None:
    # each object multiplied the ways to differ: steps of 1.7 s, and then LimitExceeded in the middle of the document
    grammar = llmask.Compiler(default_tokenizer).json_schema(FILES, property_order="any")
    mask = llmask.allocate_bitmask(1, default_tokenizer.vocab_size)
    choose = random.Random(5)
    matcher = grammar.matcher()
    matcher.accept_bytes(b"[")
    for number in range(8):
        names = [*choose.sample(NAMES[7:], 9), NAMES[6], NAMES[number % 4]]
        choose.shuffle(names)
        text = ",".join(f'"{name}":"{number}"' for name in names)
        for token in default_tokenizer.encode(f"{{{text}}},"):
            matcher.fill_bitmask(mask)
            matcher.accept_token(token)


@pytest.fixture
def not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """No known objects are followed, so that rules without these are written."""
    monkeypatch.setattr(new_values, "MOST_FOLLOWED", 0)


@pytest.fixture
def always_stricter(monkeypatch: pytest.MonkeyPatch) -> None:
    """No work at all for the exact rules, so that the stricter one stands in wherever there is one."""
    monkeypatch.setattr(translation, "VARIANT_SHARE", 10**9)


@pytest.mark.usefixtures("always_stricter", "not_followed")
@pytest.mark.parametrize("order", ["schema", "any"])
def test_what_the_stricter_rule_allows_is_valid_and_can_be_ended(tiny_tokenizer: Any, scaled: Any, order: str) -> None:
    grammar = llmask.Compiler(tiny_tokenizer).json_schema(SMALL, property_order=order, whitespace="compact")
    choose = random.Random(11)
    judge = jsonschema.Draft202012Validator(SMALL)
    longest = 0
    for _ in range(scaled(60)):
        matcher = grammar.matcher()
        while not matcher.is_terminated() and len(matcher.tokens) < 120:
            allowed = sorted(read_mask(matcher, tiny_tokenizer.vocab_size))
            matcher.accept_token(choose.choice(allowed))
        if not matcher.is_terminated():
            matcher.accept_tokens(matcher.finishing_tokens())
            assert matcher.is_accepting()
        document = json.loads(matcher.text())
        judge.validate(document)
        longest = max(longest, len(document))
    assert longest > 2


@pytest.mark.usefixtures("always_stricter", "not_followed")
def test_it_refuses_what_differs_in_no_certain_property_and_takes_the_rest(tiny_tokenizer: Any) -> None:
    grammar = llmask.Compiler(tiny_tokenizer).json_schema(SMALL, property_order="any")
    matcher = grammar.matcher()
    matcher.accept_bytes(b'[{"a": "x", "c": 1}, ')
    for differs in (b'{"a": "y", "c": 1}', b'{"c": 1, "b": 3}', b'{"b": 3, "a": "x", "c": 2}'):
        twin = matcher.fork()
        twin.accept_bytes(differs + b"]")
        assert twin.is_accepting()
    with pytest.raises(llmask.TokenRejected):  # equal
        matcher.fork().accept_bytes(b'{"c": 1, "a": "x"}')
    with pytest.raises(llmask.TokenRejected):  # too strict: it differs, but in a property of two values
        matcher.fork().accept_bytes(b'{"c": 2, "a": "x"}')


@pytest.mark.parametrize("taken", ["-149e762650799", "[-149e762650799, 500]", '{"c": 1e20000}'])
def test_where_numbers_have_too_many_digits_another_type_differs(tiny_tokenizer: Any, taken: str) -> None:
    # the exact rule lists the number, the stricter one had no property left to differ in: LimitExceeded at the comma
    items = {"type": "object", "propertyNames": {"enum": ["a", "b"]}, "required": ["a"], "maxProperties": 2}
    grammar = llmask.Compiler(tiny_tokenizer).json_schema(
        {"type": "array", "uniqueItems": True, "items": items}, property_order="any"
    )
    matcher = grammar.matcher()
    matcher.accept_bytes(b'[{"b": {}, "a": %s},' % taken.encode())
    read_mask(matcher, tiny_tokenizer.vocab_size)
    matcher.fork().accept_bytes(b' {"a": "x"}]')
    with pytest.raises(llmask.TokenRejected):
        matcher.fork().accept_bytes(b' {"a": %s, "b": {}}' % taken.encode())


OTHERS: dict[str, dict[str, Any]] = {
    "anything": {},
    "free keys": {"type": "object", "additionalProperties": {"type": "integer"}},
    "few values in each": {"anyOf": [{"properties": {"c": {"enum": [1, 2]}}, "type": "object"}, {"type": "string"}]},
    "two keys of anything": {"type": "object", "propertyNames": {"enum": ["a", "b"]}},
    "arrays": {"type": "array", "items": {"type": "boolean"}},
    "nested": {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "string"}}}}},
}


@pytest.mark.usefixtures("always_stricter")
@pytest.mark.parametrize("is_counted", [False, True])
@pytest.mark.parametrize(
    "items", [pytest.param(name, marks=pytest.mark.slow) if name == "free keys" else name for name in OTHERS]
)
def test_items_of_every_type_differ_and_can_be_ended(
    tiny_tokenizer: Any, costly: Any, items: str, is_counted: bool
) -> None:
    # with "contains" and free keys LimitExceeded came in the middle of a document
    schema = {"type": "array", "uniqueItems": True, "items": OTHERS[items], "minItems": 3}
    if is_counted:
        schema |= {"contains": {"type": ["object", "array"], "minProperties": 1, "minItems": 1}, "maxContains": 4}
    grammar = llmask.Compiler(tiny_tokenizer).json_schema(schema, property_order="any", whitespace="compact")
    choose, judge = random.Random(3), jsonschema.Draft202012Validator(schema)
    for _ in range(costly(1)):
        matcher = grammar.matcher()
        while not matcher.is_terminated() and len(matcher.tokens) < 40:
            matcher.accept_token(choose.choice(sorted(read_mask(matcher, tiny_tokenizer.vocab_size))))
        if not matcher.is_terminated():
            matcher.accept_tokens(matcher.finishing_tokens())
            assert matcher.is_accepting()
        judge.validate(json.loads(matcher.text()))


@pytest.mark.usefixtures("not_followed")
def test_a_step_with_little_work_left_does_not_make_later_ones_stricter(tiny_tokenizer: Any) -> None:
    compiler = llmask.Compiler(tiny_tokenizer, cache_bytes=0)
    n_limits = 0
    for left in range(5, 400, 8):
        matcher = compiler.json_schema(SMALL, property_order="any").matcher()
        matcher.accept_bytes(b'[{"a": "x", "c": 1}')
        another = b', {"c": 2, "a": "x"}'  # differs in a property of two values: the exact rule alone takes it
        with metered(10**6, "max_step_work") as meter, contextlib.suppress(llmask.LimitExceeded):
            meter.left = left
            matcher.fork().accept_bytes(another)
        n_limits += meter.left < 0
        matcher.accept_bytes(another)
        assert matcher.grammar.statistics()["stricter"] == 0
    assert n_limits > 5
