"""Arrays of a bounded length that differ from those before them: what may follow leads to another one."""

from __future__ import annotations

import json
import random
from typing import Any

import jsonschema
import pytest

import llmask
from tests.reference.definition import read_mask

FLAG = {"type": "boolean"}
NUMBER = {"type": "number"}
COUNT = {"type": "integer", "minimum": 0}
TEXT = {"type": "string"}


def lists_of(*items: Any, **more: Any) -> dict[str, Any]:
    inner = {"type": "array", "prefixItems": list(items), "minItems": len(items), "items": False, **more}
    return {"type": "array", "uniqueItems": True, "items": inner}


@pytest.fixture(scope="module")
def compiler(byte_tokenizer: Any) -> llmask.Compiler:
    return llmask.Compiler(byte_tokenizer)


@pytest.mark.parametrize(
    ("schema", "text", "wanted"),
    [
        (lists_of(FLAG, FLAG), "[[true,true],[true,", "f"),
        (lists_of(FLAG, FLAG), "[[true,true],[true,false],[", "f"),
        (lists_of(FLAG, FLAG, minItems=1), "[[true,true],[true,false],[", "ft"),
        (lists_of(FLAG, FLAG, minItems=1), "[[true,true],[true,false],[true", "]"),
        (lists_of(FLAG, FLAG, minItems=1), "[[true],[true", ","),
        (lists_of(TEXT, FLAG), '[["a",true],["a",false],["b",', "ft"),
        (lists_of(TEXT, FLAG), '[["a",true],["a",', "f"),
        (lists_of(FLAG, TEXT), '[[true,"a"],[true,"a"', None),
        (lists_of(COUNT, COUNT), "[[1,0],[1,", "123456789"),
        (lists_of(FLAG, lists_of(FLAG)["items"]), "[[true,[false]],[true,[", "t"),
        (
            {"type": "array", "uniqueItems": True, "items": {"type": "array", "maxItems": 1}},
            "[[],[",
            '"-0123456789[fnt{',
        ),
    ],
)
def test_what_may_follow(compiler: llmask.Compiler, schema: Any, text: str, wanted: str | None) -> None:
    matcher = compiler.json_schema(schema, whitespace="compact").matcher()
    if wanted is None:
        with pytest.raises(llmask.TokenRejected):
            matcher.accept_bytes(text.encode())
        return
    matcher.accept_bytes(text.encode())
    found = {chr(token) for token in read_mask(matcher, 257) if 0x20 <= token < 0x7F}
    assert found == {*wanted}


def test_a_string_goes_on_where_all_that_could_follow_is_known(compiler: llmask.Compiler) -> None:
    matcher = compiler.json_schema(lists_of(TEXT, FLAG)).matcher()
    matcher.accept_bytes(b'[["a",true],["a",false],["a')
    assert matcher.validate_tokens(list(b'"')) == 0
    assert matcher.validate_tokens(list(b"a")) == 1


def test_many_pairs_of_numbers_meet_no_limit(compiler: llmask.Compiler) -> None:
    grammar = compiler.json_schema(lists_of(NUMBER, NUMBER))
    pairs = [[at // 20, at % 20 + 0.5] for at in range(400)]
    assert grammar.accepts(json.dumps(pairs))
    assert not grammar.accepts(json.dumps([*pairs, pairs[77]]))


def test_random_documents_and_walks(compiler: llmask.Compiler, rng: random.Random, scaled: Any) -> None:
    kinds = {"true": FLAG, '"a"': TEXT, "1": COUNT, "null": {"type": ["null", "string"]}, "[1]": {"maxItems": 2}}
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
