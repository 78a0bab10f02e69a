"""The store: growth that changes nothing, memory that is given back, limits named, one lock for all threads."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import pytest

import llmask
from llmask.kernels.tables import store_layout
from llmask.limits import Limits
from llmask.store.store import Store
from tests.processes import side_by_side
from tests.reference.definition import read_mask

SCHEMAS: list[Any] = [
    {"type": "array", "items": {"type": "integer", "minimum": low, "maximum": low + 40}} for low in range(8)
] + [{"properties": {f"key{number}": {"type": "string", "maxLength": number}}} for number in range(8)]
DOCUMENT = b'{"a": [-1.5e3, "b\\n", true, null], "c" : {"d": [[[]]]}}'


def walk(matcher: Any, text: bytes = DOCUMENT) -> list[set[int]]:
    masks = []
    for byte in text:
        masks.append(read_mask(matcher, matcher.grammar.tokenizer.vocab_size))
        matcher.accept_bytes(bytes([byte]))
    return masks


def test_grammars_of_one_compiler_share_a_store(tiny_tokenizer: Any) -> None:
    compiler = llmask.Compiler(tiny_tokenizer)
    assert compiler.regex("a")._loaded.store is compiler.json_object()._loaded.store is compiler._newest_store()


def test_what_grew_under_other_grammars_gives_the_same_masks(tiny_tokenizer: Any) -> None:
    fresh = walk(llmask.Compiler(tiny_tokenizer).json_schema(True).matcher())
    compiler = llmask.Compiler(tiny_tokenizer)
    early = compiler.json_schema(True)
    half = len(DOCUMENT) // 2
    matcher = early.matcher()
    masks = walk(matcher, DOCUMENT[:half])
    before = compiler._newest_store().bytes_used
    for number in range(300):
        other = compiler.regex(f"[ab]{{{number}}}(x|y{number})[^b]*").matcher()
        other.accept_bytes(b"ab" * (number // 2))
        read_mask(other, tiny_tokenizer.vocab_size)
    compiler.choice([f"some text {number}" for number in range(5000)])
    assert compiler._newest_store().bytes_used > 2 * before
    assert compiler._newest_store() is early._loaded.store
    assert masks + walk(matcher, DOCUMENT[half:]) == fresh
    assert walk(early.matcher()) == fresh
    assert walk(compiler.json_schema(True).matcher()) == fresh


def test_a_warm_store_does_not_grow(tiny_tokenizer: Any) -> None:
    compiler = llmask.Compiler(tiny_tokenizer, cache_bytes=0)

    def work() -> int:
        for schema in SCHEMAS:
            matcher = compiler.json_schema(schema).matcher()
            text = b"[12, 13]" if "items" in schema else b'{"a": "b"}'
            walk(matcher, text)
        return compiler._newest_store().bytes_used

    work()
    assert work() == work()


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096


@pytest.mark.long
def test_memory_is_flat_over_two_thousand_grammars(tiny_tokenizer: Any) -> None:
    # With reference cycles, or blocks that nobody gives back, this grew by 100 KB a grammar.
    if not Path("/proc/self/statm").exists():
        pytest.skip("resident memory is read from /proc")
    compiler = llmask.Compiler(tiny_tokenizer, cache_bytes=0)

    def work(n_grammars: int) -> None:
        for number in range(n_grammars):
            matcher = compiler.json_schema(SCHEMAS[number % len(SCHEMAS)]).matcher()
            matcher.accept_bytes(b"[" if number % len(SCHEMAS) < 8 else b'{"a": [')
            read_mask(matcher, tiny_tokenizer.vocab_size)

    work(200)
    gc.collect()
    gc.disable()
    try:
        bytes_before, before = compiler._newest_store().bytes_used, resident_bytes()
        work(2000)
        assert compiler._newest_store().bytes_used == bytes_before
        assert resident_bytes() - before < 8 * 2**20
    finally:
        gc.enable()


def test_memory_of_stores_is_given_back(tiny_tokenizer: Any) -> None:
    if not Path("/proc/self/statm").exists():
        pytest.skip("resident memory is read from /proc")

    def work(n_stores: int) -> None:
        for _ in range(n_stores):
            Store(tiny_tokenizer, Limits()).nodes.literal(b"x" * 100_000)

    work(10)
    gc.collect()
    before = resident_bytes()
    work(60)
    assert resident_bytes() - before < 16 * 2**20


def test_a_store_dies_at_once_with_its_last_user(tiny_tokenizer: Any) -> None:
    # A cycle (store, nodes, bound method) kept dead stores until the next collection: 100 MB each.
    gc.disable()
    try:
        compiler = llmask.Compiler(tiny_tokenizer)
        grammar = compiler.json_schema(True)
        store, matcher = weakref.ref(compiler._newest_store()), grammar.matcher()
        walk(matcher)
        before = tiny_tokenizer.store_bytes
        assert before >= compiler._newest_store().bytes_used > 0
        del compiler, grammar
        assert store() is not None
        assert tiny_tokenizer.store_bytes == before
        del matcher
        assert store() is None
        assert tiny_tokenizer.store_bytes < before
    finally:
        gc.enable()


def test_nothing_that_frontends_remember_keeps_a_store_alive(tiny_tokenizer: Any) -> None:
    # What they remember belongs to the nodes; one entry that pointed back to them kept 100 MB till the next collection.
    schema = {
        "type": "object",
        "properties": {f"name {n}": {"pattern": f"^[a-z]{{{n}}}"} for n in range(80)} | {"on": {"format": "date"}},
        "patternProperties": {"^x-": True},
        "additionalProperties": {"enum": [f"word {n}" for n in range(100)] + [1.5, {"a": [None]}]},
    }
    gc.collect()
    gc.disable()
    try:
        compiler = llmask.Compiler(tiny_tokenizer)
        tables = weakref.ref(compiler._newest_store().table)
        walk(compiler.json_schema(schema).matcher(), b'{"name 1":')
        walk(compiler.regex(r"(?i)\w+\b[^a]?").matcher(), b"")
        compiler.choice(map(str, range(1000)))
        with pytest.raises(llmask.UnsupportedSchema):
            compiler.json_schema({"not": {"uniqueItems": True}, "maxItems": 2})
        del compiler
        assert tables() is None
    finally:
        gc.enable()


@pytest.mark.slow
def test_the_next_grammar_gets_a_new_store_when_half_of_the_limit_is_used(tiny_tokenizer: Any) -> None:
    fresh = Store(tiny_tokenizer, Limits()).bytes_used
    limit = 6 * fresh
    compiler = llmask.Compiler(tiny_tokenizer, limits=Limits(max_store_bytes=limit), cache_bytes=0)
    old = compiler.json_schema(True)
    matcher = old.matcher()
    masks = walk(matcher, DOCUMENT[:20])
    number = 0
    while compiler._newest_store() is old._loaded.store:
        assert old._loaded.store.bytes_used <= limit // 2
        number += 1
        compiler.regex(f"x{{{number}}}" + "y" * 2000 + str(number))
        assert number < 10_000
    new = compiler.json_schema(True)
    assert new._loaded.store is compiler._newest_store() is not old._loaded.store
    assert new._loaded.store.bytes_used < old._loaded.store.bytes_used
    # sequences of both generations go on, and agree
    assert masks + walk(matcher, DOCUMENT[20:]) == walk(new.matcher())


def test_a_new_store_for_every_grammar_is_slow_but_right(tiny_tokenizer: Any) -> None:
    fresh = Store(tiny_tokenizer, Limits()).bytes_used
    compiler = llmask.Compiler(tiny_tokenizer, limits=Limits(max_store_bytes=2 * fresh))
    first, second = compiler.json_schema(True), compiler.json_schema({"type": "object"})
    assert first._loaded.store is not second._loaded.store
    assert walk(first.matcher()) == walk(llmask.Compiler(tiny_tokenizer).json_schema(True).matcher())


def test_a_limit_is_named_once_and_then_forgotten(tiny_tokenizer: Any) -> None:
    store = Store(tiny_tokenizer, Limits(max_emptiness_steps=3))
    nodes = store.nodes
    hard = nodes.intersect([nodes.repeat(nodes.literal(b"ab"), 5), nodes.repeat(nodes.literal(b"abab"), 5)])
    for _ in range(2):
        with pytest.raises(llmask.LimitExceeded) as caught:
            nodes.is_empty(hard)
        assert str(caught.value) == (
            "deciding whether a pattern is empty needs more than 3 derivatives (limits.max_emptiness_steps)\n"
            "  simplify the grammar (shorter repetitions, fewer alternatives) or raise the limit"
        )
    assert nodes.matches(nodes.literal(b"ok"), b"ok")


def test_threads_build_nodes_of_one_store(tiny_tokenizer: Any) -> None:
    store = Store(tiny_tokenizer, Limits())
    found: list[list[int]] = [[] for _ in range(4)]

    def work(number: int) -> None:
        for size in range(200):
            found[number].append(store.nodes.repeat(store.nodes.literal(b"ab" * size), size, 2 * size))

    side_by_side(work, range(4))
    assert all(nodes == found[0] for nodes in found)
    assert len(set(found[0])) == 200
    for size in (1, 7, 199):
        assert store.nodes.matches(found[0][size], b"ab" * size * size)


def test_the_vocabulary_of_a_store(tiny_tokenizer: Any) -> None:
    store = Store(tiny_tokenizer, Limits())
    slots = store.table.slots
    assert slots[store_layout.STORE.n_vocab] == tiny_tokenizer.vocab_size
    assert slots[store_layout.STORE.n_words] == store.n_words == 10
    assert slots[store_layout.STORE.n_eos] == 1
    assert slots[store_layout.STORE.n_trie] == len(tiny_tokenizer._parts.trie.node)
    assert store.bytes_used > store.table.bytes_used
    assert store.slice_arrays is Store(tiny_tokenizer, Limits()).slice_arrays  # made once a tokenizer


def test_many_ids_with_the_same_bytes(tiny_tokenizer: Any) -> None:
    tokenizer = llmask.Tokenizer.from_bytes([b"a", b"b", b"a", b"</s>", b"a", b"b", b"a"], eos=3)
    matcher = llmask.Compiler(tokenizer).regex("ab").matcher()
    assert read_mask(matcher, 7) == {0, 2, 4, 6}
    matcher.accept_token(4)
    assert read_mask(matcher, 7) == {1, 5}
