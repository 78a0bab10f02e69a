"""Grammars of every kind and option, each with texts that it accepts and refuses; and what is compared of two."""

from __future__ import annotations

import random
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from referencing import Registry
from referencing.jsonschema import DRAFT7, DRAFT202012

import llmask
from tests.reference.definition import read_mask

OBJECT = {
    "type": "object",
    "properties": {"zip": {"type": "string", "format": "zip"}, "ö": {"enum": [1.5, "é\n", None, {"a": [True]}]}},
    "required": ["ö"],
}
EXACT = '{"enum": [0.10000000000000000000001, 1.0, 1, 1e400, "\\u0000number 0\\u0000", "\\ud800"], "type": "number"}'
CALLS = [{"type": "function", "function": {"name": "add", "parameters": OBJECT}}, {"name": "sub"}]
TAG = {
    "type": "structural_tag",
    "format": {
        "type": "triggered_tags",
        "triggers": ["<f="],
        "tags": [{"begin": "<f=a>", "content": {"type": "json_schema", "json_schema": OBJECT}, "end": "</f>"}],
    },
}
REPEATED = {"type": "array", "uniqueItems": True, "items": {"enum": ["a", "b", "c"]}}
Make = Callable[[llmask.Compiler], llmask.CompiledGrammar]


def registry() -> Registry[Any]:
    """Documents that refer to each other; one stands inside of another, one is never needed."""
    inner = {"$id": "urn:inner", "type": "object", "properties": {"n": {"$ref": "urn:seven#/definitions/n"}}}
    outer = {"$id": "urn:outer", "$defs": {"a/b~c": inner}, "type": "array", "items": {"$ref": "urn:inner"}}
    return Registry().with_resources([
        ("urn:outer", DRAFT202012.create_resource(outer)),
        ("urn:inner", DRAFT202012.create_resource(inner)),
        ("urn:seven", DRAFT7.create_resource({"definitions": {"n": {"const": Decimal("0.30000000000000000001")}}})),
        ("urn:never", DRAFT202012.create_resource({"description": "x" * 5000})),
    ])  # fmt: skip


SCHEMAS: dict[str, Make] = {
    "schema": lambda c: c.json_schema(OBJECT),
    "schema as exact text": lambda c: c.json_schema(EXACT),
    "schema of a bool": lambda c: c.json_schema(True),
    "compact": lambda c: c.json_schema(OBJECT, whitespace="compact"),
    "a pattern of white space": lambda c: c.json_schema(OBJECT, whitespace=" ?"),
    "max_whitespace": lambda c: c.json_schema(OBJECT, max_whitespace=1),
    "indent": lambda c: c.json_schema(OBJECT, indent="\t"),
    "property_order": lambda c: c.json_schema({"properties": {"a": True, "b": True}}, property_order="any"),
    "format": lambda c: c.json_schema({"type": "string", "format": "date"}, format="annotate"),
    "formats": lambda c: c.json_schema(OBJECT, formats={"zip": "^[0-9]{5}\u00e9?$"}),
    "unique_keys": lambda c: c.json_schema({"type": "object", "additionalProperties": {"const": 1}}, unique_keys=True),
    "numbers": lambda c: c.json_schema({"type": "number"}, numbers="plain"),
    "escapes": lambda c: c.json_schema({"type": "string"}, escapes={"n", '"'}),
    "literals": lambda c: c.json_schema(OBJECT, literals="any"),
    "dialect": lambda c: c.json_schema({"type": "integer", "nullable": True}, dialect="openapi-3.0"),
    "unsupported": lambda c: c.json_schema({"type": "string", "format": "unknown"}, unsupported="ignore"),
    "registry": lambda c: c.json_schema({"$ref": "urn:outer"}, registry=registry()),
    "registry, from inside": lambda c: c.json_schema({"$ref": "urn:inner"}, registry=registry()),
    "values that differ": lambda c: c.json_schema(REPEATED),
    "json_object": lambda c: c.json_object(indent=1, escapes="minimal"),
}
TEXTS: dict[str, Make] = {
    "regex": lambda c: c.regex("(?P<word>[a-c]+)\u00e9?"),
    "regex, found": lambda c: c.regex("a\nb|c", method="search"),
    "choice": lambda c: c.choice(["yes", 'n"o\n', "\u00e9", ""]),
    "gbnf": lambda c: c.gbnf('root ::= "a" root "b" | [0-9]+ | "\\n"'),
    "ebnf": lambda c: c.ebnf('root ::= "a" root | "b"'),
    "lark": lambda c: c.lark('start: WORD (" " WORD)*\nWORD: /[a-c]+/\n'),
    "lark, exact": lambda c: c.lark('begin: A B\nA: /a+/\nB: "ab"\n', start="begin", lexer="exact"),
    "lark, ties": lambda c: c.lark('start: (A | B)+\nA: "ab"\nB: /[ab]{2}/\n', ties="all"),
    "lark, grammars": lambda c: c.lark(
        'start: @call | "x"', grammars={"call": 'start: "f" @object', "object": OBJECT, "unused": True}
    ),
    "lark, max_tokens": lambda c: c.lark('start: thought "\\n" @a\nthought[max_tokens=3]: /.*/', grammars={"a": True}),
    "lark, captures": lambda c: c.lark('start: a b\na[capture="it"]: /[0-9]+/\nb: "x"'),
    "lark, compiled": lambda c: c.lark(
        'start: @pair "." @pair | @text',
        grammars={"pair": c.regex("a").concat(c.choice(["b"])), "text": 'start: @pair "!"'},
    ),
    "structural tag": lambda c: c.structural_tag(TAG),
    "tools": lambda c: c.tools(
        CALLS, model="qwen-3", tool_choice={"name": "add"}, parallel=False, reasoning="optional"
    ),
    "tools, auto": lambda c: c.tools(CALLS),
    "ready grammar": lambda c: c.grammar("arithmetic"),
    "ready schema": lambda c: c.grammar("sql"),
}
TOGETHER: dict[str, Make] = {
    "union": lambda c: c.json_schema(OBJECT).union(c.choice(["none"])),
    "concat": lambda c: c.regex("a+").concat(c.gbnf('root ::= "b"')),
    "optional": lambda c: c.regex("a{3}").optional(),
    "repeat": lambda c: c.regex("[ab]").repeat(2, 4),
    "repeat without end": lambda c: c.choice(["a", "bc"]).repeat(1),
    "of several": lambda c: c.regex("a").union(c.regex("b")).repeat(0, 3).concat(c.regex("a").union(c.regex("b"))),
}
KINDS = {**SCHEMAS, **TEXTS, **TOGETHER}


def imported(compiler: llmask.Compiler, directory: Path) -> llmask.CompiledGrammar:
    """A grammar with files of its own, which are gone afterwards."""
    (directory / "sub").mkdir()
    files = {"base.lark": "%import .sub.words.WORD\nitem: WORD\n", "sub/words.lark": 'WORD: ("a".."f")+\n'}
    for name, text in files.items():
        (directory / name).write_text(text)
    grammar = compiler.lark('%import .base.item\nstart: item ("," item)*\n', directory=directory)
    for name in files:
        (directory / name).unlink()
    return grammar


def same(one: llmask.CompiledGrammar, other: llmask.CompiledGrammar, seed: int = 0, n_tokens: int = 25) -> None:
    """Assert that two grammars say the same: masks along random documents, warnings, ledger, captures, text."""
    assert str(one) == str(other)
    assert one.warnings == other.warnings
    assert one.ledger == other.ledger
    source = random.Random(seed)
    for _ in range(3):
        walk_together(one.matcher(), other.matcher(), source, n_tokens)


def walk_together(one: Any, other: Any, source: random.Random, n_tokens: int) -> None:
    """Random tokens that both accept, masks compared before each."""
    tokenizer = one.grammar.tokenizer
    masks = [llmask.allocate_bitmask(1, tokenizer.vocab_size) for _ in range(2)]
    for _ in range(n_tokens):
        for matcher, mask in zip((one, other), masks, strict=True):
            matcher.fill_bitmask(mask)
        assert np.array_equal(*masks)
        assert one.is_accepting() == other.is_accepting()
        if one.is_terminated():
            assert other.is_terminated()
            return
        token = source.choice(sorted(read_mask(one, tokenizer.vocab_size)))
        one.accept_token(token)
        other.accept_token(token)
    assert one.text() == other.text()
