"""Remembered grammars stay within their bytes, all that they hold included."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import llmask

LIMIT = 2 * 2**20


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


def small(i: int) -> Any:
    return {"type": "object", "properties": {"id": {"const": f"tenant{i}"}, "n": {"type": "integer"}}}


def test_many_small_schemas_take_no_more_than_the_limit(default_tokenizer: Any) -> None:
    # 25,000 of them took 500 MB where 256 were allowed, as tables alone were counted
    compiler = llmask.Compiler(default_tokenizer, cache_bytes=LIMIT)
    for i in range(20):
        compiler.json_schema(small(i))
    gc.collect()
    tracemalloc.start(1)
    try:
        before = tracemalloc.get_traced_memory()[0]
        for i in range(20, 400):
            compiler.json_schema(small(i))
        gc.collect()
        objects = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    tables = sum(entry.grammar.bytes_used for entry in compiler._cache._entries.values())
    assert len(compiler._cache) < 380
    assert 0.8 * LIMIT < objects + tables < 1.2 * LIMIT
    assert 0.8 * LIMIT < compiler._cache.bytes_used < 1.1 * LIMIT


def test_what_a_grammar_gains_while_it_is_used_is_counted(default_tokenizer: Any) -> None:
    compiler = llmask.Compiler(default_tokenizer)
    schema = {"type": "array", "items": {"enum": [f"value {i}" for i in range(40)]}, "uniqueItems": True}
    grammar = compiler.json_schema(schema)
    before = compiler._cache.bytes_used
    tables = grammar.bytes_used
    matcher = grammar.matcher()
    matcher.accept_bytes(b"[" + b", ".join(b'"value %d"' % i for i in range(40)) + b"]")
    assert compiler._cache.bytes_used - before > grammar.bytes_used - tables  # rules without some of the values


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_counted_is_about_what_was_allocated(default_tokenizer: Any, kind: str) -> None:
    # tables alone were counted: a third to a half of what a small grammar holds
    compiler = llmask.Compiler(default_tokenizer)
    for i in range(10):
        KINDS[kind](compiler, i)
    gc.collect()
    counted = -compiler._cache.bytes_used
    tracemalloc.start(1)
    try:
        before = tracemalloc.get_traced_memory()[0]
        grammars = [KINDS[kind](compiler, 100 + i) for i in range(N)]
        gc.collect()
        objects = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    counted += compiler._cache.bytes_used
    allocated = objects + sum(grammar.bytes_used for grammar in grammars)
    assert 0.6 < counted / allocated < 1.3


def test_a_grammar_of_a_store_that_was_renewed_meanwhile_is_not_kept(tiny_tokenizer: Any) -> None:
    # another thread renewed the store while a grammar was compiled: remembered, it kept the old store alive
    compiler = llmask.Compiler(tiny_tokenizer)
    old = weakref.ref(compiler._newest_store())

    def compile_slowly() -> Any:
        grammar = compiler.choice(["of the old store"])
        with compiler._lock:
            compiler._store = compiler._new_store()
        return grammar._loaded

    grammar = compiler._cached(("slow",), compile_slowly)
    assert grammar._loaded.store is old()
    assert compiler._cached(("slow",), lambda: compiler.choice(["a"])._loaded) is not grammar
    del grammar
    gc.collect()
    assert old() is None


@pytest.mark.slow
@pytest.mark.parametrize("keywords", [{"type": "string", "minLength": 1}, {"type": "integer"}])
def test_what_frontends_remember_is_a_part_of_the_store(default_tokenizer: Any, keywords: dict[str, Any]) -> None:
    # patterns of tenants: the tables grew by 2 KB a schema, the memory by 6
    compiler = llmask.Compiler(default_tokenizer, cache_bytes=0)
    store = compiler._newest_store()

    def use(first: int) -> None:
        for i in range(first, first + 200):
            limit = {"pattern": f"^a{i}$"} if keywords["type"] == "string" else {"minimum": i}
            compiler.json_schema({"properties": {f"n{i}": {**keywords, **limit}}})

    use(0)
    gc.collect()
    tables, counted = store.table.bytes_used, store.bytes_used
    tracemalloc.start(1)
    try:
        before = tracemalloc.get_traced_memory()[0]
        use(1000)
        gc.collect()
        objects = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    allocated = objects + store.table.bytes_used - tables
    assert 0.7 < (store.bytes_used - counted) / allocated < 1.4
