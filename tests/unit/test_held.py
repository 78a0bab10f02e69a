"""What a grammar holds, beside what Python's allocator has given out for it."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

import llmask
from llmask.held import bytes_held

N = 60
NAMES = [f"p{number}" for number in range(9)]
KINDS: dict[str, Callable[[Any, int], Any]] = {
    "object": lambda compiler, i: compiler.json_schema(
        {"type": "object", "properties": {"id": {"const": f"tenant{i}"}, "n": {"type": "integer"}}, "required": ["id"]}
    ),
    "references": lambda compiler, i: compiler.json_schema(
        {"$defs": {f"a{i}": {"type": "array", "items": {"$ref": f"#/$defs/a{i}"}}}, "$ref": f"#/$defs/a{i}"}
    ),
    "text": lambda compiler, i: compiler.json_schema('{"description": "' + f"{i} a text" * 300 + '", "enum": [1]}'),
    "unique": lambda compiler, i: compiler.json_schema(
        {"type": "array", "items": {"enum": ["a", "b", f"e{i}"]}, "uniqueItems": True}
    ),
    "any order": lambda compiler, i: compiler.json_schema(
        {"properties": {f"{name}{i}": {"type": "integer"} for name in NAMES}, "required": [f"p1{i}"]},
        property_order="any",
    ),
    "lark": lambda compiler, i: compiler.lark(f'start: a ("," a)*\na: "x{i}" b?\nb: /[a-z]+/ | "(" start ")"'),
    "gbnf": lambda compiler, i: compiler.gbnf(f'root ::= "x{i}" a*\na ::= [a-z] | "(" root ")"'),
    "regex": lambda compiler, i: compiler.regex(f"a{i}[a-z]+"),
    "choice": lambda compiler, i: compiler.choice([f"a{i}", "b", "c"]),
}


def held_of(compiler: Any, grammar: Any) -> int:
    """As the compiler counts it, with the key under which it remembers the grammar."""
    key = next(key for key, entry in compiler._cache._entries.items() if entry.grammar is grammar)
    return bytes_held((key, grammar))


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_counted_is_what_was_allocated(default_tokenizer: Any, kind: str) -> None:
    # tables alone were counted: a third to a half of what a small grammar holds
    compiler = llmask.Compiler(default_tokenizer)
    for i in range(10):
        KINDS[kind](compiler, i)
    gc.collect()
    tracemalloc.start(1)
    try:
        before = tracemalloc.get_traced_memory()[0]
        grammars = [KINDS[kind](compiler, 100 + i) for i in range(N)]
        gc.collect()
        objects = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    allocated = objects + sum(grammar.bytes_used for grammar in grammars)
    counted = sum(held_of(compiler, grammar) for grammar in grammars)
    assert 0.85 < counted / allocated < 1.15


def test_what_all_grammars_share_is_not_counted(default_tokenizer: Any) -> None:
    compiler = llmask.Compiler(default_tokenizer)
    for kind in KINDS.values():
        before = held_of(compiler, kind(compiler, 1001))
        for i in range(100):
            compiler.json_schema({"properties": {f"q{i}": {"type": "string", "pattern": f"^a{i}$"}}})
        assert held_of(compiler, kind(compiler, 1002)) < 1.1 * before


def test_objects_that_refer_to_each_other_are_counted_once() -> None:
    text = "x" * 1000
    circle: list[Any] = [text, text]
    circle.append(circle)
    assert 1000 < bytes_held([circle, text]) < 1300
