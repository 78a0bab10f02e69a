"""Rows of the parser: repetition reaches a fixed point, and equal situations share a row."""

from __future__ import annotations

from typing import Any

import pytest

import llmask
from llmask.compiling.made_grammar import MadeGrammar
from llmask.debug import n_rows, row
from llmask.grammar.rules import Rules
from llmask.store.store import Store
from tests.reference.engine.mask import Engine
from tests.reference.regex_nodes import RegexNodes


@pytest.mark.parametrize(
    ("schema", "first", "element"),
    [
        ({"type": "array", "items": {"type": "integer"}}, b"[1", b", 1"),
        ({"type": "array", "items": {"properties": {"a": {"type": "string"}}}}, b'[{"a": ""}', b', {"a": "b"}'),
        ({"type": "object", "additionalProperties": {"type": "null"}}, b'{"a": null', b', "b": null'),
        ({"type": "array", "minItems": 3}, b"[[], [], [1]", b', [[{}], "a"]'),
    ],
)
def test_a_list_reaches_a_fixed_point(tiny_tokenizer: Any, schema: Any, first: bytes, element: bytes) -> None:
    grammar = llmask.Compiler(tiny_tokenizer).json_schema(schema)
    matcher = grammar.matcher()
    matcher.accept_bytes(first + element * 4)
    before = n_rows(grammar)
    matcher.accept_bytes(element * 500)
    assert n_rows(grammar) == before


def test_counted_lists_stop_at_their_bound(tiny_tokenizer: Any) -> None:
    grammar = llmask.Compiler(tiny_tokenizer).json_schema({"type": "array", "items": {"type": "null"}, "maxItems": 50})
    matcher = grammar.matcher()
    matcher.accept_bytes(b"[" + b"null," * 49 + b"null")
    with pytest.raises(llmask.TokenRejected):
        matcher.accept_bytes(b",")
    matcher.accept_bytes(b"]")
    assert matcher.is_accepting()


def test_sequences_share_rows(tiny_tokenizer: Any) -> None:
    grammar = llmask.Compiler(tiny_tokenizer).json_schema(True)
    text = b'{"a": [1, {"b": null}], "c": [[[]]]}'
    grammar.matcher().accept_bytes(text)
    before = n_rows(grammar)
    for _ in range(5):
        grammar.matcher().accept_bytes(text)
    assert n_rows(grammar) == before


def pairs(nodes: Any) -> Rules:
    """A pair of brackets around a pair, or an x."""
    rules = Rules()
    rule = rules.rule("pair")
    start, inner, close, end = rules.start_state(rule), *(rules.state(rule) for _ in range(3))
    rules.scan(start, nodes.literal(b"("), inner)
    rules.call(inner, rule, close)
    rules.scan(close, nodes.literal(b")"), end)
    rules.scan(start, nodes.literal(b"x"), end)
    rules.final(end)
    return rules


def test_rows_are_those_of_the_reference_engine(tiny_tokenizer: Any) -> None:
    store, nodes = Store(tiny_tokenizer, llmask.Limits()), RegexNodes()
    grammar = MadeGrammar(store, pairs(store.nodes))
    engine = Engine(pairs(nodes), nodes.expressions)
    depth = 6
    text = b"(" * depth + b"x" + b")" * depth
    grammar.matcher().accept_bytes(text)
    at = engine.read(text)
    assert at is not None
    assert engine.may_end(at)
    # one row at the start, one for every "(", one after "x", and one after every ")"
    assert engine.parser is not None
    assert n_rows(grammar) == len(engine.parser.rows) == 2 * depth + 2
    for n_closed in range(depth + 2):
        data = b"(" * depth + b"x" + b")" * n_closed
        at = engine.read(data)
        matcher = grammar.matcher()
        if at is None:
            with pytest.raises(llmask.TokenRejected):
                matcher.accept_bytes(data)
            continue
        matcher.accept_bytes(data)
        assert matcher.is_accepting() == engine.may_end(at)


def test_the_rows_of_a_list_in_words(byte_tokenizer: Any) -> None:
    """The element after the comma is awaited by the list, in the row that the element leads back to."""
    grammar = llmask.Compiler(byte_tokenizer).lark('start: "[" (value ("," value)*)? "]"\nvalue: start | "1"')
    matcher = grammar.matcher()
    matcher.accept_bytes(b"[[1],1,")
    assert (
        str(row(matcher))
        == """\
row 5, lexer state 73
  kernel start.2: "," • value (-> 2 | -> 3)    begun in row 0
  scans "1"  of value: • start | "1"    begun in row 5
  scans "["  of start: • "[" -> 1    begun in row 5
  waits for value  of start.2: "," • value (-> 2 | -> 3)    begun in row 0
  waits for start  of value: • start | "1"    begun in row 5"""
    )
    before = row(matcher)
    matcher.accept_bytes(b"1,")
    assert row(matcher) == before
