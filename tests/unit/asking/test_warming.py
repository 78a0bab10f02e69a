"""Masks that are built ahead: they are the same masks, a likely document finds them, and bounds are kept."""

from __future__ import annotations

import json
import pickle
import threading
import time
from typing import Any

import numpy as np
import pytest

import llmask
from llmask.asking import warming
from llmask.compiling.compiled_grammar import CompiledGrammar
from llmask.matching.ahead import is_missing

PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer"},
        "born": {"type": "string", "format": "date"},
        "size": {"enum": ["small", "large", "huge"]},
        "friends": {"type": "array", "items": {"$ref": "#"}},
    },
    "additionalProperties": False,
}
DOCUMENTS: list[Any] = [
    {"name": "Ada Lovelace", "age": 36, "born": "2023-06-30", "size": "huge", "friends": []},
    {"age": 5, "friends": [{"name": "Bo", "size": "small"}, {"born": "2024-01-15"}]},
    {},
]


@pytest.fixture
def compiler(default_tokenizer: Any) -> llmask.Compiler:
    return llmask.Compiler(default_tokenizer, cache_bytes=0)


def ids_of(grammar: CompiledGrammar, text: str) -> list[int]:
    """As `encode` has them, without the blank that SentencePiece puts in front."""
    ids = grammar.tokenizer.encode(text)
    return ids if grammar.tokenizer.decode_bytes(ids) == text.encode() else grammar.tokenizer.encode("\n" + text)[2:]


def missing_steps(grammar: CompiledGrammar, text: str) -> list[int]:
    """The steps of a text whose masks are not there; its end is one, too."""
    matcher, found = grammar.matcher(), []
    bitmask = llmask.allocate_bitmask(1, grammar.tokenizer.vocab_size)
    for number, token in enumerate([*ids_of(grammar, text), None]):
        if is_missing(matcher._sequence):
            found.append(number)
            matcher.fill_bitmask(bitmask)
        if token is not None:
            matcher.accept_token(token)
    return found


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize("indent", [None, 2])
def test_likely_documents_find_their_masks(compiler: llmask.Compiler, document: Any, indent: int | None) -> None:
    text = json.dumps(document, indent=indent)
    assert missing_steps(compiler.json_schema(PERSON), text)
    grammar = compiler.json_schema(PERSON)
    done = grammar.warm()
    assert done.explored == 1.0
    assert done.n_masks > 100
    assert missing_steps(grammar, text) == []


@pytest.mark.parametrize(
    "text",
    ["Summer Sale", "a", "of, 31 letters - and much else.", 'a "quoted" word\\n', "0123456789-0123456789-0123456789"],
)
@pytest.mark.parametrize("bounds", [{"maxLength": 32}, {"minLength": 1, "maxLength": 40}])
def test_strings_that_are_counted(compiler: llmask.Compiler, text: str, bounds: dict[str, Any]) -> None:
    grammar = compiler.json_schema({"properties": {"n": {"type": "string", **bounds}}, "additionalProperties": False})
    grammar.warm()
    assert missing_steps(grammar, json.dumps({"n": text})) == []


@pytest.mark.parametrize("tokenizer", ["llama3_tokenizer", "llama_spm_tokenizer", "tiny_tokenizer", "byte_tokenizer"])
def test_other_vocabularies(request: pytest.FixtureRequest, tokenizer: str) -> None:
    """SentencePiece puts a blank in front of a text, and words are split in other ways."""
    grammar = llmask.Compiler(request.getfixturevalue(tokenizer)).json_schema(PERSON)
    assert grammar.warm().n_masks > 100
    text = json.dumps(DOCUMENTS[0])
    assert len(missing_steps(grammar, text)) < len(ids_of(grammar, text)) / 10


def assert_same_masks(first: CompiledGrammar, second: CompiledGrammar, text: str) -> None:
    one, other = first.matcher(), second.matcher()
    masks = llmask.allocate_bitmask(2, first.tokenizer.vocab_size)
    for token in [*first.tokenizer.encode(text), None]:
        one.fill_bitmask(masks, 0)
        other.fill_bitmask(masks, 1)
        assert np.array_equal(masks[0], masks[1])
        if token is not None:
            one.accept_token(token)
            other.accept_token(token)


def test_masks_are_the_same(compiler: llmask.Compiler, default_tokenizer: Any) -> None:
    warmed, plain = compiler.json_schema(PERSON), llmask.Compiler(default_tokenizer).json_schema(PERSON)
    warmed.warm()
    for document in DOCUMENTS:
        assert_same_masks(warmed, plain, json.dumps(document))


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    ['root ::= "a" root "b" | "c"', "root ::= (root root) | [a-z] | root", 'root ::= x*\nx ::= [a-z]+ | "(" x* ")"'],
)
def test_recursion_without_an_end_ends(compiler: llmask.Compiler, text: str) -> None:
    done = compiler.gbnf(text).warm(masks=5000)
    assert done.n_masks > 1
    assert 0 < done.explored <= 1


def test_a_list_ends_where_its_rows_are_the_same(compiler: llmask.Compiler) -> None:
    done = compiler.json_schema({"type": "array", "items": {"type": "array", "items": {"type": "null"}}}).warm()
    assert done.explored == 1.0
    assert done.n_masks < 200


def test_where_no_text_is_found_nothing_is_known(compiler: llmask.Compiler) -> None:
    assert compiler.json_schema({"type": "string", "minLength": 100_000}).warm() == (0.0, 0)
    keys = {"patternProperties": {"^.{600}$": True}, "minProperties": 1, "additionalProperties": False}
    assert compiler.json_schema({"type": "object", **keys}).warm().n_masks == 1


def test_bounds(compiler: llmask.Compiler) -> None:
    wide = {"properties": {f"key{number}": {"type": "string"} for number in range(200)}}
    assert compiler.json_schema(wide).warm(0).n_masks == 0
    assert 20 <= compiler.json_schema(wide).warm(masks=20).n_masks < 60
    grammar = compiler.json_schema(wide)
    done = grammar.warm(seconds=0.01)
    assert done.explored < 1
    assert grammar.warm(masks=5000).n_masks > done.n_masks


@pytest.mark.parametrize("bound", [-1, "1", True, float("nan"), [1], np.zeros(2)])
def test_what_is_no_bound_is_refused(compiler: llmask.Compiler, default_tokenizer: Any, bound: Any) -> None:
    for ask in (
        lambda: compiler.choice(["a"]).warm(bound),
        lambda: compiler.choice(["a"]).warm(masks=bound),
        lambda: llmask.Compiler(default_tokenizer, warm=bound),
    ):
        with pytest.raises(llmask.LlmaskError, match="is a number from 0 on"):
            ask()


def test_grammars_of_which_nothing_is_known_in_bytes(compiler: llmask.Compiler) -> None:
    for text in ('start: "a" <[65]> "b"', 'start: a "."\na[max_tokens=3]: /[a-z]+/', 'start: a::0\na::_: "b"'):
        assert compiler.lark(text).warm() == warming.Warmed(0.0, 0)


def test_limits_end_in_no_error(default_tokenizer: Any) -> None:
    grammar = llmask.Compiler(default_tokenizer, llmask.Limits(max_rows=8)).json_schema(PERSON)
    assert grammar.warm().n_masks > 0
    with pytest.raises(llmask.LimitExceeded):
        missing_steps(grammar, json.dumps(DOCUMENTS[0]))


def test_tables_are_not_filled_beyond_their_room(default_tokenizer: Any) -> None:
    grammar = llmask.Compiler(default_tokenizer, llmask.Limits(renew_grammar_bytes=100_000)).json_schema(PERSON)
    assert grammar.warm().explored < 1
    assert grammar.bytes_used < 200_000


def test_a_compiler_warms_what_it_compiles(default_tokenizer: Any) -> None:
    compiler = llmask.Compiler(default_tokenizer, warm=10)
    for each in (compiler, pickle.loads(pickle.dumps(compiler))):
        assert missing_steps(each.json_schema(PERSON), json.dumps(DOCUMENTS[1])) == []


def test_braces_may_follow_each_other_without_end(default_tokenizer: Any) -> None:
    """What comes after each of them was looked for first: a RecursionError."""
    assert llmask.Compiler(default_tokenizer).lark('start: "{" start "}" | "x"').warm(masks=20).n_masks == 7


def test_canonical_masks_are_no_obstacle(default_tokenizer: Any) -> None:
    grammar = llmask.Compiler(default_tokenizer, canonical=True).json_schema(PERSON)
    assert grammar.warm().n_masks > 100
    missing_steps(grammar, json.dumps(DOCUMENTS[0]))


def test_several_threads_warm_and_read_at_once(compiler: llmask.Compiler) -> None:
    grammar = compiler.json_schema(PERSON)
    faults: list[BaseException] = []

    def run(work: Any) -> None:
        try:
            work()
        except BaseException as fault:
            faults.append(fault)

    def read() -> None:
        for document in DOCUMENTS * 3:
            missing_steps(grammar, json.dumps(document))

    works = [grammar.warm, read, grammar.warm, read, lambda: [grammar.sample(seed) for seed in range(20)]]
    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    until = time.monotonic() + 60
    for thread in threads:
        thread.join(max(until - time.monotonic(), 0))
        assert not thread.is_alive()
    assert faults == []
    assert missing_steps(grammar, json.dumps(DOCUMENTS[0])) == []
