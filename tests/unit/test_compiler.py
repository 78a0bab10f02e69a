"""Compilers: what is cached, for how long, and that equal-looking arguments are told apart."""

from __future__ import annotations

import dataclasses
import gc
import inspect
import json
import weakref
from typing import Any

import pytest

import llmask
from llmask.frontends.json_schema import SchemaOptions
from tests.reference.definition import read_mask


def is_document(grammar: Any, text: str) -> bool:
    matcher = grammar.matcher()
    try:
        matcher.accept_bytes(text.encode())
    except llmask.TokenRejected:
        return False
    return bool(matcher.is_accepting())


@pytest.fixture(scope="module")
def compiler(tiny_tokenizer: Any) -> Any:
    return llmask.Compiler(tiny_tokenizer)


def test_equal_arguments_give_the_same_grammar(compiler: Any) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    assert compiler.json_schema(schema) is compiler.json_schema(json.loads(json.dumps(schema)))
    assert compiler.json_schema(schema) is compiler.json_schema(json.dumps(schema))
    assert compiler.regex("a+") is compiler.regex("a+")
    assert compiler.choice(["a", "b"]) is compiler.choice(("a", "b"))
    assert compiler.json_object() is compiler.json_schema({"type": "object"})


def test_other_options_give_another_grammar(compiler: Any) -> None:
    schema = {"type": "array", "items": {"type": "string", "format": "date"}}
    options: list[dict[str, Any]] = [
        {},
        {"whitespace": "compact"},
        {"max_whitespace": 3},
        {"format": "annotate"},
        {"formats": {"date": "^x$"}},
        {"indent": 1},
        {"whitespace": " "},
        {"escapes": "minimal"},
        {"literals": "any"},
    ]
    made = [compiler.json_schema(schema, **option) for option in options]
    assert len(set(map(id, made))) == len(options)
    verdicts = [
        [
            is_document(grammar, text)
            for text in (
                *('["2020-01-31"]', '[ "2020-01-31"]', '[    "2020-01-31"]', '["x"]'),
                *('[\n "2020-01-31"\n]', '[ "2020-01-31" ]', '["2020-01-3\\u0031"]'),
            )
        ]
        for grammar in made
    ]
    assert verdicts == [
        [True, True, True, False, True, True, True],
        [True, False, False, False, False, False, True],
        [True, True, False, False, True, True, True],
        [True, True, True, True, True, True, True],
        [False, False, False, True, False, False, False],
        [False, False, False, False, True, False, False],
        [False, False, False, False, False, True, False],
        [True, True, True, False, True, True, False],
        [True, True, True, False, True, True, True],
    ]
    for option, grammar in zip(options, made, strict=True):
        assert compiler.json_schema(schema, **option) is grammar


def test_schemas_that_python_finds_equal_are_told_apart(compiler: Any) -> None:
    assert is_document(compiler.json_schema({"const": True}), "true")
    assert not is_document(compiler.json_schema({"const": 1}), "true")
    assert is_document(compiler.json_schema({"const": 1}), "1")
    assert is_document(compiler.json_schema(True), "3")
    assert is_document(compiler.json_schema({"enum": [False, 0]}), "false")


def test_every_option_of_a_schema_can_be_given() -> None:
    given = set(inspect.signature(llmask.Compiler.json_schema).parameters) - {"self", "schema"}
    assert given == {field.name for field in dataclasses.fields(SchemaOptions)} - {"limits"}


def test_a_schema_that_python_nearly_finds_equal_is_no_hit(compiler: Any) -> None:
    # {1: {}} was found under the key of {"1": {}}, as both have one JSON text
    compiler.json_schema({"properties": {"1": {}}})
    with pytest.raises(llmask.GrammarError):
        compiler.json_schema({"properties": {1: {}}})
    compiler.json_schema({"enum": [1]})
    with pytest.raises(llmask.GrammarError):
        compiler.json_schema({"enum": (1,)})


def test_numbers_of_a_text_are_exact_and_cached(compiler: Any) -> None:
    text = '{"type": "number", "maximum": 0.1000000000000000000001}'
    grammar = compiler.json_schema(text)
    assert is_document(grammar, "0.1000000000000000000001")
    assert not is_document(grammar, "0.1000000000000000000002")
    assert compiler.json_schema(text.encode()) is grammar
    assert compiler.json_schema('{"maximum": 1.5}') is compiler.json_schema({"maximum": 1.5})


def test_any_object_takes_the_options_of_white_space(compiler: Any) -> None:
    compact, lines = compiler.json_object(whitespace="compact"), compiler.json_object(indent=2)
    document = {"a": [1, {}], "b": {"c": "é\n"}}
    bare = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
    for grammar, is_bare, is_lines in (
        (compact, True, False),
        (lines, False, True),
        (compiler.json_object(), True, True),
    ):
        assert is_document(grammar, bare) == is_bare
        assert is_document(grammar, json.dumps(document, indent=2)) == is_lines
        assert not is_document(grammar, "[]")
    assert not is_document(compiler.json_object(escapes="minimal"), '{"\\u0061":1}')
    assert not is_document(compiler.json_object(max_whitespace=1), '{  "a":1}')


def test_patterns_and_choices_do_not_share_a_cache_entry(compiler: Any) -> None:
    assert is_document(compiler.regex("a+"), "aa")
    assert is_document(compiler.regex("a+", method="search"), "-aa-")
    assert not is_document(compiler.regex("a+"), "-aa-")
    assert not is_document(compiler.choice(["a+"]), "aa")
    assert is_document(compiler.choice(["a+"]), "a+")


@pytest.mark.parametrize(
    ("choices", "accepted", "refused"),
    [
        (["yes", "no"], ["yes", "no"], ["", "y", "yesno", "yes "]),
        (["a", "ab", "abc"], ["a", "ab", "abc"], ["", "b", "abcd"]),
        (["", "a"], ["", "a"], ["aa"]),
        ([""], [""], ["a"]),
        (["a", "a"], ["a"], ["", "aa"]),
        (["é", "😀", '"'], ["é", "😀", '"'], ["e"]),
        (["x" * 100, "x" * 101], ["x" * 100, "x" * 101], ["x" * 99, "x" * 102]),
        ({"b": 1, "a": 2}, ["a", "b"], ["1"]),
        (iter(["a", "b"]), ["a", "b"], ["ab"]),
    ],
)
def test_choices(compiler: Any, choices: Any, accepted: list[str], refused: list[str]) -> None:
    grammar = compiler.choice(choices)
    assert [text for text in accepted if not is_document(grammar, text)] == []
    assert [text for text in refused if is_document(grammar, text)] == []


def test_the_oldest_grammars_leave_the_cache_first(tiny_tokenizer: Any) -> None:
    compiler = llmask.Compiler(tiny_tokenizer)
    size = compiler.regex("[a-c]{3}x").bytes_used
    small = llmask.Compiler(tiny_tokenizer, cache_bytes=4 * size)
    kept = [weakref.ref(small.regex(f"[a-c]{{3}}{letter}")) for letter in "pqrstuvw"]
    gc.collect()
    is_alive = [reference() is not None for reference in kept]
    assert is_alive == sorted(is_alive)  # the later ones
    assert 0 < sum(is_alive) <= 4


def test_a_used_grammar_stays_in_the_cache(tiny_tokenizer: Any) -> None:
    size = llmask.Compiler(tiny_tokenizer).regex("[a-c]{3}x").bytes_used
    compiler = llmask.Compiler(tiny_tokenizer, cache_bytes=4 * size)
    favourite = compiler.regex("[a-c]{3}x")
    for letter in "pqrstuvw":
        compiler.regex(f"[a-c]{{3}}{letter}")
        assert compiler.regex("[a-c]{3}x") is favourite


def test_without_a_cache_every_grammar_is_new(tiny_tokenizer: Any) -> None:
    compiler = llmask.Compiler(tiny_tokenizer, cache_bytes=0)
    assert compiler.regex("a+") is not compiler.regex("a+")
    assert compiler.json_schema(True) is not compiler.json_schema(True)


def test_a_vocabulary_without_the_bytes_of_json_is_fine_for_patterns() -> None:
    tokenizer = llmask.Tokenizer.from_bytes([b"a", b"ab", b"</s>"], eos=2)
    matcher = llmask.Compiler(tokenizer).regex("aab?").matcher()
    assert read_mask(matcher, 3) == {0}
    matcher.accept_token(0)
    assert read_mask(matcher, 3) == {0, 1}
    matcher.accept_token(1)
    assert read_mask(matcher, 3) == {2}


def test_a_new_store_lets_the_old_one_die(tiny_tokenizer: Any) -> None:
    fresh = llmask.Compiler(tiny_tokenizer).store().bytes_used
    compiler = llmask.Compiler(tiny_tokenizer, limits=llmask.Limits(max_store_bytes=fresh * 4))
    first = weakref.ref(compiler.store())
    grammar = compiler.choice(["kept"])
    number = 0
    while compiler.store() is first():
        number += 1
        compiler.choice([f"{number} {letter} {'x' * 1000}" for letter in range(100)])
        assert number < 1000
    assert grammar.store is first()
    assert is_document(grammar, "kept")
    assert compiler.choice(["kept"]).store is compiler.store()
    del grammar
    gc.collect()
    assert first() is None, "the cache or a cycle keeps the old store alive"
