"""Documents that are read ahead: they are documents, as a model writes them, and their masks are there afterwards."""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
import pytest

import llmask
from llmask.asking import documents
from llmask.asking.documents import documents_of, reading
from llmask.asking.likely import Texts
from llmask.compiling.compiled_grammar import CompiledGrammar
from llmask.kernels.mask.configurations import REFUSED
from llmask.kernels.tables.operations import Operation
from llmask.matching.ahead import is_missing
from tests.unit.asking.test_warming import assert_same_masks, missing_steps

PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "kind": {"enum": ["adult", "child"]},
        "born": {"type": "string", "format": "date"},
        "address": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        "friends": {"type": "array", "items": {"$ref": "#"}},
    },
    "required": ["name", "address"],
}


@pytest.fixture
def compiler(default_tokenizer: Any) -> llmask.Compiler:
    return llmask.Compiler(default_tokenizer, cache_bytes=0)


def written(grammar: CompiledGrammar, work: int = 10**6) -> list[str]:
    texts = Texts(grammar._loaded.store, grammar._loaded.own_rules, grammar._loaded.is_json)
    return [text.decode() for text in documents_of(grammar._loaded.own_rules, texts, work)]


def test_all_options_then_what_must_be_there(compiler: llmask.Compiler) -> None:
    one_line, by_lines, short = written(compiler.json_schema(PERSON))
    friend = {"name": "ab", "address": {"city": "ab"}}
    values = {"name": "ab", "kind": "adult", "born": "2024-01-15", "address": {"city": "ab"}, "friends": [friend] * 2}
    assert one_line == json.dumps(values)
    assert by_lines == json.dumps(values, indent=2)
    assert short == json.dumps(friend)


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"properties": {"b": {}}}}},  # more likely an object than another type
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"type": "object", "minProperties": 3},
        {"type": "array", "minItems": 5, "items": {"type": "string"}},
        {"type": "array", "uniqueItems": True, "minItems": 3, "items": {"type": "string"}},
        {"type": "object", "properties": {f"a{at}": {"enum": [at]} for at in range(5)}, "maxProperties": 3},
        {"oneOf": [{"type": "object", "required": [name]} for name in "abc"]},
        {"anyOf": [{"type": "string"}, {"type": "object", "properties": {"a": {}}, "required": ["a"]}]},
        {"$defs": {"n": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}}}, "$ref": "#/$defs/n"},
    ],
    ids=str,
)
@pytest.mark.parametrize("property_order", ["schema", "any"])
def test_documents_are_documents(compiler: llmask.Compiler, schema: Any, property_order: str) -> None:
    grammar = compiler.json_schema(schema, property_order=property_order)
    found = written(grammar)
    assert all(map(grammar.accepts, found)), found
    assert found[0][0] == ("[" if schema.get("type") == "array" else "{")
    assert written(grammar) == found


def test_other_notations(compiler: llmask.Compiler) -> None:
    arithmetic = compiler.gbnf('root ::= term ("+" term)*\nterm ::= [0-9]+ | "(" root ")"')
    assert written(arithmetic) == ["12+(12)", "(12)"]
    calls = compiler.lark('start: NAME "(" [start ("," start)*] ")"\nNAME: /[a-z]+/\n%ignore " "')
    assert all(map(calls.accepts, written(calls)))
    left = compiler.gbnf('root ::= root "a" | "b"')
    assert written(left)
    assert written(compiler.choice(["yes", "no"])) == ["yes", "no"]


def test_what_is_large_is_begun(compiler: llmask.Compiler) -> None:
    many = {"type": "object", "properties": {f"a{at}": {"type": "string"} for at in range(3000)}}
    found = written(compiler.json_schema(many))
    assert found[0].startswith('{"a0": "ab", "a1": "ab", ')
    assert len(found[0]) < 20 * documents.MOST_STEPS
    assert found[2] == "{}"


def test_masks_are_there_and_the_same(compiler: llmask.Compiler) -> None:
    text = '{"name": "Ada", "kind": "child", "address": {"city": "Ely"}}'
    read, plain = compiler.json_schema(PERSON), compiler.json_schema(PERSON)
    done = read.warm("documents")
    assert done.explored == 1.0
    assert done.n_masks > 50
    assert len(missing_steps(plain, text)) > 2 * len(missing_steps(read, text))
    assert_same_masks(read, plain, text)


def test_what_is_hard_to_write_is_begun(compiler: llmask.Compiler) -> None:
    hard = {"type": "string", "pattern": "^(?=.*[a-f]{3})(?=.*[0-9]{4})[a-z0-9]{20,40}$"}
    grammar = compiler.json_schema({"type": "object", "properties": {"a": {"type": "integer"}, "h": hard}})
    assert written(grammar, 300)[0].startswith('{"a": 12')


def test_work_is_bounded(compiler: llmask.Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    grammar = compiler.json_schema(PERSON)
    whole = sum(reading(grammar._loaded, grammar._loaded.own_rules, True))
    monkeypatch.setattr(documents, "DOCUMENT_WORK", 20)
    assert sum(reading(compiler.json_schema(PERSON)._loaded, grammar._loaded.own_rules, True)) < whole
    monkeypatch.setattr(documents, "MOST_EDGES", 1)
    assert compiler.json_schema(PERSON).warm("documents") == (0.0, 0)


def test_tokens_are_read_until_one_is_refused(compiler: llmask.Compiler) -> None:
    grammar = compiler.json_schema(PERSON)
    generation, tokenizer = grammar._loaded.generation, compiler.tokenizer
    ids = np.array(tokenizer.encode('{"name": "'), np.int32)
    some = ids.copy()
    assert generation.run(Operation.READ, generation.start, 0, some) > 0
    assert some[0] < len(ids)
    given = ids.copy()
    reached = generation.run(Operation.READ, generation.start, 10**9, given)
    assert (reached > 0, given[0]) == (True, len(ids))
    matcher = grammar.matcher()
    for token in ids.tolist():
        assert not is_missing(matcher._sequence)
        matcher.accept_token(token)
    assert (matcher._sequence.configuration, is_missing(matcher._sequence)) == (reached, False)
    refused = np.array([*ids, *tokenizer.encode("\n")], np.int32)
    assert generation.run(Operation.READ, generation.start, 10**9, refused) == REFUSED
    assert refused[0] == len(refused)


@pytest.mark.parametrize("cache_bytes", [0, 10**8])
def test_a_helping_thread_reads_what_a_compiler_made(default_tokenizer: Any, cache_bytes: int) -> None:
    compiler = llmask.Compiler(default_tokenizer, cache_bytes=cache_bytes, warm="documents")
    grammar = compiler.json_schema(PERSON)
    matcher = grammar.matcher()
    for token in compiler.tokenizer.encode('{"name": "ab", "kind'):
        matcher.accept_token(token)
    until = time.monotonic() + 10
    while is_missing(matcher._sequence) and time.monotonic() < until:
        time.sleep(0.001)
    assert not is_missing(matcher._sequence)
    many = [compiler.json_schema({"properties": {f"a{at}": PERSON}}) for at in range(20)]
    assert all(grammar.accepts('{"a3": {"name": "", "address": {"city": ""}}}') for grammar in many)


def test_named_tokens_and_limited_rules_are_left_out(compiler: llmask.Compiler) -> None:
    limited = compiler.lark('start: a "!"\na[max_tokens=3]: /[a-z]+/')
    assert limited.warm("documents") == (0.0, 0)


@pytest.mark.parametrize("warm", ["document", "Documents", True, -1])
def test_warm_is_refused(compiler: llmask.Compiler, warm: Any) -> None:
    with pytest.raises(llmask.LlmaskError, match="documents"):
        llmask.Compiler(compiler.tokenizer, warm=warm)
    with pytest.raises(llmask.LlmaskError, match="documents"):
        compiler.json_object().warm(warm)
