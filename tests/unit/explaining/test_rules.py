"""The rules that are being read, with a dot and the line of their text."""

from __future__ import annotations

from typing import Any

import pytest

from llmask import Compiler

GBNF = '# numbers in brackets\nroot ::= "a" item+ "c"\nitem ::= "<" item* ">" | num\nnum ::= [0-9] num | "."'
LARK = '// numbers\nstart: pair* "c"\n?pair.2: "<" NUM ">" pair\n     | "-"\nNUM: /[0-9]+/'


@pytest.mark.parametrize(
    ("kind", "grammar", "text", "lines"),
    [
        ("gbnf", GBNF, b"a<<", {"line 3"}),
        ("ebnf", GBNF, b"a", {"line 2"}),
        ("lark", LARK, b"<1>", {"line 3"}),
        ("lark", LARK, b"", {"line 2"}),
    ],
)
def test_rules_have_lines(byte_tokenizer: Any, kind: str, grammar: str, text: bytes, lines: set[str]) -> None:
    matcher = getattr(Compiler(byte_tokenizer), kind)(grammar).matcher()
    matcher.accept_bytes(text)
    rules = matcher.position().rules
    assert lines <= {rule.partition(": ")[0] for rule in rules}
    assert all("•" in rule for rule in rules)


def test_after_the_end_there_are_none(byte_tokenizer: Any) -> None:
    matcher = Compiler(byte_tokenizer).gbnf('root ::= "a"').matcher()
    matcher.accept_bytes(b"a")
    matcher.accept_token(next(iter(byte_tokenizer.eos_ids)))
    assert matcher.position().rules == []


def test_other_rules_have_no_line(byte_tokenizer: Any) -> None:
    compiler = Compiler(byte_tokenizer)
    for grammar in (compiler.regex("a+"), compiler.json_schema({"type": "array"}), compiler.choice(["a", "b"])):
        assert all("line" not in rule for rule in grammar.matcher().position().rules)
