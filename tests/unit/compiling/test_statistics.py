"""Statistics follow what was done."""

from __future__ import annotations

from typing import Any

import pytest

import llmask
from tests.reference.definition import read_mask
from tests.unit.frontends.json_schema.writing.test_stricter_items import SMALL
from tests.unit.store.test_generation import ROOM, TREE, random_tree


def test_a_compiler_counts_what_it_compiles_refuses_and_finds(tiny_tokenizer: Any) -> None:
    compiler = llmask.Compiler(tiny_tokenizer)
    before = compiler.statistics()
    assert set(before) == {
        *("compiled", "refused", "work", "cache_hits", "cache_grammars", "cache_bytes", "store_bytes"),
        *("store_masks", "store_renewals", "waits", "long_waits", "longest_wait_us"),
    }
    assert all(type(value) is int for value in before.values())
    assert before["compiled"] == before["work"] == before["cache_grammars"] == before["cache_bytes"] == 0
    compiler.json_schema({"enum": ["a", "b"]})
    compiler.regex("[ab]{3}")
    first = compiler.statistics()
    assert (first["compiled"], first["cache_hits"], first["cache_grammars"]) == (2, 0, 2)
    assert first["work"] > 0
    assert first["cache_bytes"] > 0
    assert first["store_bytes"] == compiler._newest_store().bytes_used > 0
    compiler.regex("[ab]{3}")
    assert compiler.statistics() == {**first, "cache_hits": 1}
    with pytest.raises(llmask.UnsatisfiableSchema):
        compiler.json_schema({"type": "integer", "minimum": 2, "maximum": 1})
    found = compiler.statistics()
    assert (found["compiled"], found["refused"], found["cache_grammars"]) == (2, 1, 2)
    assert found["work"] > first["work"]


def test_without_a_cache_nothing_is_found(tiny_tokenizer: Any) -> None:
    compiler = llmask.Compiler(tiny_tokenizer, cache_bytes=0)
    for _ in range(3):
        compiler.json_schema({"const": 1})
    found = compiler.statistics()
    assert (found["compiled"], found["cache_hits"], found["cache_grammars"], found["cache_bytes"]) == (3, 0, 0, 0)


def test_renewals_of_stores_are_counted(tiny_tokenizer: Any) -> None:
    compiler = llmask.Compiler(tiny_tokenizer, limits=llmask.Limits(renew_store_bytes=1))
    for number in range(3):
        compiler.regex(f"a{{{number}}}")
    assert compiler.statistics()["store_renewals"] == 3


def test_a_grammar_counts_what_its_sequences_build(default_tokenizer: Any) -> None:
    compiler = llmask.Compiler(default_tokenizer)
    grammar = compiler.json_schema({"properties": {"a": {"type": "integer", "maximum": 12345}}})
    in_store = compiler.statistics()["store_masks"]
    before = grammar.statistics()
    assert all(type(value) is int for value in before.values())
    assert before["own_masks"] == 0
    matcher = grammar.matcher()
    for byte in b'{"a": 12, "b": ["x"]}':
        read_mask(matcher, default_tokenizer.vocab_size)
        matcher.accept_bytes(bytes([byte]))
    after = grammar.statistics()
    assert after["rows"] > before["rows"]
    assert after["configurations"] > before["configurations"]
    assert after["own_masks"] > 0
    assert compiler.statistics()["store_masks"] > in_store > 0
    assert after["bytes"] == grammar.bytes_used >= before["bytes"]
    assert after["renewals"] == after["cut"] == after["finished"] == after["stricter"] == 0


def test_renewals_of_tables_are_counted(tiny_tokenizer: Any, rng: Any) -> None:
    grammar = llmask.Compiler(tiny_tokenizer, limits=llmask.Limits(renew_grammar_bytes=ROOM)).json_schema(TREE)
    first, n = grammar._loaded.generation, 0
    for _ in range(100):
        matcher = grammar.matcher()
        for byte in random_tree(rng, 25).encode():
            matcher.accept_bytes(bytes([byte]))
            n += grammar._loaded.generation is not first
            first = grammar._loaded.generation
    assert grammar.statistics()["renewals"] == n > 0


def test_sequences_that_met_a_limit_are_counted(tiny_tokenizer: Any) -> None:
    compiler = llmask.Compiler(tiny_tokenizer, limits=llmask.Limits(max_step_work=1))
    matcher = compiler.regex("a(b|c|d){3}").matcher(on_limit="finish")
    bitmask = llmask.allocate_bitmask(1, tiny_tokenizer.vocab_size)
    matcher.fill_bitmask(bitmask)
    assert matcher.grammar.statistics()["finished"] == 1


def test_variants_that_are_stricter_are_counted(tiny_tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llmask.frontends.json_schema.writing.translation.VARIANT_SHARE", 10**9)
    monkeypatch.setattr("llmask.frontends.json_schema.writing.new_values.MOST_FOLLOWED", 0)
    grammar = llmask.Compiler(tiny_tokenizer).json_schema(SMALL, property_order="any")
    grammar.matcher().accept_bytes(b'[{"a": "x", "c": 1}, {"a": "y", "c": 1}]')
    assert grammar.statistics()["stricter"] > 0
