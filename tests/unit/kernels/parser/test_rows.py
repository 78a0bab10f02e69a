"""Rows of the parser: repetition reaches a fixed point, and equal situations share a row."""

from __future__ import annotations

from typing import Any

import pytest

import llmask
from llmask.debug import n_rows, row
from tests.reference.earley_twin import EarleyTwin


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


def test_rows_are_the_sets_of_the_twin(tiny_tokenizer: Any) -> None:
    # As many different rows as the twin has different Earley sets, up to the naming of origins.
    from llmask.compiling.compiled import CompiledGrammar
    from llmask.grammar.rules import Rules
    from llmask.store.store import Store

    store = Store(tiny_tokenizer, llmask.Limits())
    rules = Rules()  # pair -> "(" pair ")" | "x"
    rule = rules.rule("pair")
    start, inner, close, end = rules.start_state(rule), *(rules.state(rule) for _ in range(3))
    rules.scan(start, store.nodes.literal(b"("), inner)
    rules.call(inner, rule, close)
    rules.scan(close, store.nodes.literal(b")"), end)
    rules.scan(start, store.nodes.literal(b"x"), end)
    rules.final(end)
    grammar = CompiledGrammar(store, rules)
    twin = EarleyTwin(rules, store.nodes)
    depth = 6
    text = b"(" * depth + b"x" + b")" * depth
    grammar.matcher().accept_bytes(text)
    assert twin.may_end(twin.read(text))
    # one row at the start, one for every "(", one after "x", and one after every ")"
    assert n_rows(grammar) <= 2 * depth + 3
    for n_closed in range(depth + 2):
        data = b"(" * depth + b"x" + b")" * n_closed
        places = twin.read(data)
        matcher = grammar.matcher()
        if not places:
            with pytest.raises(llmask.TokenRejected):
                matcher.accept_bytes(data)
            continue
        matcher.accept_bytes(data)
        assert matcher.is_accepting() == twin.may_end(places)


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
