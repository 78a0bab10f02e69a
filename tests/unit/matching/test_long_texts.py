"""Texts given at once go in parts: what passes token by token passes as a whole, too."""

from __future__ import annotations

import json
import pickle
import random
from pathlib import Path
from typing import Any

import pytest

import llmask
from llmask.cli import main

LONG = "abcz" * 1500
LIMITS = llmask.Limits(max_lexer_states=2000)  # a third of what the text needs


@pytest.fixture
def compiler(byte_tokenizer: Any) -> llmask.Compiler:
    return llmask.Compiler(byte_tokenizer, limits=LIMITS, cache_bytes=0)


def test_every_door_takes_a_text_that_needs_more_states_than_one_call_may_make(compiler: llmask.Compiler) -> None:
    """A bounded string of 25,000 characters was refused with "one call needs more than 25000 new lexer states"."""
    assert compiler.regex("^[a-y]{1,9000}$").accepts(LONG) is False
    assert compiler.regex("^[a-z]{1,9000}$").accepts(LONG)
    assert compiler.gbnf("root ::= [a-z]{1,9000}").accepts(LONG)
    schema = {"type": "string", "maxLength": 6000}
    assert compiler.json_schema(schema).accepts(f'"{LONG}"')
    assert compiler.json_schema({**schema, "minLength": 5999}).explain(f'"{LONG}a"').keyword == "maxLength"
    assert compiler.json_schema({**schema, "minLength": 2}).matcher().explain(f'"{LONG}"').is_allowed
    matcher = compiler.lark('start: name "!"\nname[capture]: /[a-z]{3,9000}/').matcher()
    matcher.accept_bytes(LONG.encode())
    matcher.accept_bytes(b"!")
    assert matcher.captures() == {"name": LONG.encode()}


def test_it_is_one_step_and_a_refusal_names_the_byte(compiler: llmask.Compiler) -> None:
    matcher = compiler.json_schema({"type": "string", "maxLength": 6000}).matcher()
    with pytest.raises(llmask.TokenRejected) as caught:
        matcher.accept_bytes(f'"{LONG}a"'.encode())
    assert caught.value.message.startswith("byte 6001 of ")
    assert caught.value.message.endswith("; expected '\"'")
    assert matcher.tokens == []
    matcher.accept_bytes(f'"{LONG}'.encode())
    assert pickle.loads(pickle.dumps(matcher)).text() == matcher.text()
    matcher.rollback(1)
    assert matcher.text() == b""


def test_behind_a_prefix_too(compiler: llmask.Compiler) -> None:
    """`explain` took a document without its prefix, and so did `accept_bytes` as a bytearray."""
    grammar = compiler.json_schema({"type": "string", "maxLength": 6000})
    matcher = grammar.matcher(prefix=b": ")
    assert not matcher.explain('"a').is_allowed
    assert matcher.explain(': "a').is_allowed
    with pytest.raises(llmask.TokenRejected, match=r"^byte 0 of '\"a' cannot come next; expected ': '"):
        matcher.accept_bytes(bytearray(b'"a'))
    with pytest.raises(llmask.TokenRejected, match=r"^byte 1 of ':a' cannot come next; expected ' '"):
        matcher.accept_bytes(b":a")
    with pytest.raises(llmask.TokenRejected, match=r"^byte 2 of ': a' cannot come next; expected '\"'"):
        matcher.accept_bytes(b": a")
    matcher.accept_bytes(f': "{LONG}"'.encode())
    assert matcher.is_accepting()


def test_tables_are_exchanged_between_the_parts(byte_tokenizer: Any) -> None:
    """A text that fits into tables of its own was refused beside what others had left there."""
    limits = llmask.Limits(renew_grammar_bytes=350_000, max_grammar_bytes=500_000)
    grammar = llmask.Compiler(byte_tokenizer, limits=limits).json_object()
    nested = ('["' + "x" * 30 + '",') * 150 + "1" + "]" * 150
    first = f'{{"a": {nested}}}'  # it fills 270,000 bytes
    second = f'{{"a": {first}}}'
    assert grammar.accepts(first)
    assert grammar._loaded.n_renewals == 0
    matcher = grammar.matcher()
    matcher.accept_bytes(second[:5].encode())
    matcher.accept_bytes(second[5:].encode())
    assert grammar._loaded.n_renewals == 1
    assert matcher.is_accepting()
    matcher.rollback(1)
    assert matcher.text() == second[:5].encode()
    assert grammar.accepts(first)


def test_random_documents_whole_and_token_by_token(default_tokenizer: Any, rng: random.Random) -> None:
    letters = 'abz é€"\\\n😀'
    schema = {
        "items": {"properties": {"a": {"maxLength": 3000}, "b": {"minLength": 100, "pattern": "^[^z]*$"}}},
        "maxItems": 9,
    }
    grammar = llmask.Compiler(default_tokenizer, limits=LIMITS).json_schema(schema)
    verdicts = set()
    for _ in range(12):
        values = [
            {
                "a": "".join(rng.choices(letters, k=rng.randint(2960, 3001))),
                "b": "".join(rng.choices(letters.replace("z", "y"), k=rng.choice((99, 100, 4000, 4000)))),
            }
            for _ in range(rng.randint(1, 4))
        ]
        text = json.dumps(values, ensure_ascii=rng.random() < 0.5)
        matcher = grammar.matcher()
        is_taken = all(matcher.accept(token) for token in default_tokenizer.encode(text))
        verdicts.add(is_taken)
        assert grammar.accepts(text) == (is_taken and matcher.is_accepting())
    assert verdicts == {True, False}


def test_the_command_checks_a_long_instance(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    instance = tmp_path / "long.json"
    schema = json.dumps({"type": "string", "maxLength": 27_000})
    for n, code in ((26_999, 0), (27_001, 1)):
        instance.write_text(json.dumps("é" * n), encoding="utf-8")
        assert main(["check", schema, "--instance", str(instance)]) == code
    assert b"too many characters (maxLength 27000)" in capfdbinary.readouterr().out
