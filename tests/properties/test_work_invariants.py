"""How much work is done, counted and not timed: what was compiled, built or walked once is not done again.

Counters are read from the tables (kernels/tables/store_layout.py, kernels/tables/grammar_layout.py), so these tests see
a slow path that returns right answers.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba.core.sigutils import normalize_signature

import llmask
from llmask.kernels.machine import compiling, jit
from llmask.kernels.tables import store_layout
from tests.properties.test_matchers import PATTERNS, SCHEMAS

STORE_COUNTERS = {
    "regex nodes": "n_nodes",
    "lexemes": "n_lexemes",
    "lexer states": "state_keys",
    "transitions": "n_transitions",
    "masks": "n_masks",
    "listed tokens": "n_token_lists",
    "exits": "n_exits",
    "bytes of the store": "",
}
GRAMMAR_COUNTERS = {
    "rows": "kernels",
    "pool of rows": "n_row_entries",
    "configurations": "n_configurations",
    "lists of crossing tokens": "crossings",
    "own masks": "n_own_masks",
    "bytes of the grammar": "",
}
OUTLINE = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "parts": {"type": "array", "items": {"$ref": "#"}}},
    "required": ["title", "parts"],
    "additionalProperties": {"type": "number"},
}

# The most of the trie that a mask inside a string with maxLength may walk. Slices hold the tokens of up to 4, 6, 10
# and 30 code points and of any length (store/slices.py). Worst is a string with room for 9 more: it takes the slice of
# 6 and walks all longer tokens, 55 % of Llama 3's trie; 10 take 18 %, 30 and more 2 %. A state that takes no slice at
# all walks 90 % at 9 and 98 % at 30 and more, so 0.6 tells the two apart.
MOST_WALKED = 0.6
LONGEST = 10_000


def counters(grammar: Any) -> dict[str, int]:
    """What the grammar and its store hold by now."""
    read = ((grammar._loaded.store.table, STORE_COUNTERS), (grammar._loaded.generation.table, GRAMMAR_COUNTERS))
    return {name: count(table, slot) for table, counted in read for name, slot in counted.items()}


def count(table: Any, slot: str) -> int:
    """A number of a table, or how many lists it has."""
    found = getattr(table.view, slot) if slot else table.bytes_used
    return int(getattr(found, "count", found))


def feed(matcher: Any, tokens: list[int], bitmask: Any) -> None:
    """Fill and accept, token after token, with a fork and a rollback on the way."""
    for place, token in enumerate(tokens):
        matcher.fill_bitmask(bitmask)
        matcher.accept_token(token)
        if place % 7 == 6:
            matcher.fork().rollback(3)
            matcher.rollback(2)
            matcher.accept_tokens(tokens[place - 1 : place + 1])
    matcher.fill_bitmask(bitmask)


def refuse_to_build(*_: Any, **__: Any) -> int:
    raise AssertionError("something was built again")


def assert_nothing_new(grammar: Any, documents: list[list[int]], monkeypatch: pytest.MonkeyPatch) -> None:
    """The documents, fed a second time, leave every counter as it is and never ask for the writing door."""
    bitmask = llmask.allocate_bitmask(1, grammar.tokenizer.vocab_size)
    for tokens in documents:
        feed(grammar.matcher(), tokens, bitmask)
    before = counters(grammar)
    with monkeypatch.context() as patch:
        patch.setattr(grammar._loaded.store, "run", refuse_to_build)
        for tokens in documents:
            feed(grammar.matcher(), tokens, bitmask)
    assert counters(grammar) == before


def outline(rng: random.Random, depth: int) -> dict[str, Any]:
    """A document of OUTLINE."""
    parts = [outline(rng, depth - 1) for _ in range(rng.randint(0, 3))] if depth else []
    return {"title": "x" * rng.randint(0, 20), "parts": parts, f"key{rng.randrange(100)}": rng.uniform(-1e9, 1e9)}


def test_a_repeated_document_builds_nothing(
    default_tokenizer: Any, rng: random.Random, monkeypatch: pytest.MonkeyPatch
) -> None:
    grammar = llmask.Compiler(default_tokenizer).json_schema(OUTLINE)
    documents = [default_tokenizer.encode(json.dumps(outline(rng, depth))) for depth in (0, 1, 2, 3, 4)]
    assert_nothing_new(grammar, documents, monkeypatch)


def test_repeated_documents_of_maskbench_build_nothing(
    maskbench_rows: list[dict[str, Any]],
    llama3_tokenizer: Any,
    rng: random.Random,
    scaled: Callable[[int], int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiler = llmask.Compiler(llama3_tokenizer)
    n_repeated = 0
    for row in rng.sample(maskbench_rows, scaled(60)):
        try:
            grammar = compiler.json_schema(row["schema"])
        except llmask.LlmaskError:
            continue
        documents = [llama3_tokenizer.encode(json.dumps(test["data"])) for test in row["tests"] if test["valid"]]
        taken = [tokens for tokens in documents if grammar.matcher().validate_tokens(tokens) == len(tokens)]
        assert_nothing_new(grammar, taken, monkeypatch)
        n_repeated += len(taken)
    assert n_repeated > 0


def test_every_door_keeps_its_one_signature(tiny_tokenizer: Any, rng: random.Random) -> None:
    # What callers hand over varies (NumPy's integers, masks of several rows, views); a door compiled for one of these
    # kinds in the middle of a generation would halt it for a minute.
    compiler = llmask.Compiler(tiny_tokenizer)
    n_vocab = tiny_tokenizer.vocab_size
    tall = llmask.allocate_bitmask(5, n_vocab)
    wide = np.zeros((2, tall.shape[1] + 3), np.int32)
    grammars = [compiler.json_schema(schema) for schema in SCHEMAS] + [compiler.regex(text) for text in PATTERNS]
    for grammar in [*grammars, compiler.choice(["yes", "no"]), compiler.json_object()]:
        matcher = grammar.matcher()
        for _ in range(12):
            matcher.fill_bitmask(tall, np.int64(rng.randrange(5)))
            matcher.fill_bitmask(wide, row=1)
            allowed = np.flatnonzero(np.unpackbits(wide[1].view(np.uint8), bitorder="little")[:n_vocab])
            if matcher.is_terminated() or not len(allowed):
                break
            matcher.validate_tokens(allowed[:20])
            matcher.accept_token(rng.choice(allowed))
            matcher.forced_bytes()
        matcher.rollback(np.int16(1))
        forks = [matcher.fork() for _ in range(4)]
        llmask.fill_bitmasks(forks, tall, rows=np.array([3, 1, 0, 2]), threads=2)
        llmask.apply_bitmask(np.zeros((5, n_vocab), np.float32), tall)
        matcher.reset()
        with pytest.raises(llmask.TokenRejected):
            matcher.accept_bytes(b"\xff")
    tiny_tokenizer.decode(tiny_tokenizer.encode('{"name": "é😀"}'))
    n_doors = 0
    for group in compiling.READY:
        for dispatcher, signature in compiling.DECLARED[group]:
            declared, _ = normalize_signature(signature)
            assert dispatcher.signatures == [declared], dispatcher.py_func.__name__
            n_doors += 1
    assert jit.PREBUILT or n_doors > 3  # test_prebuilt.py says it of prebuilt doors


def walked(matcher: Any, bitmask: Any) -> int:
    """Trie nodes visited for the next mask, 0 where it was known."""
    slots = matcher.grammar.store.table.slots
    slots[store_layout.STORE.walked] = 0
    matcher.fill_bitmask(bitmask)
    return int(slots[store_layout.STORE.walked])


def test_no_mask_in_a_bounded_string_walks_the_whole_trie(llama3_tokenizer: Any) -> None:
    # A state with room for k more characters is the same one for every maxLength, so one string that uses up its
    # 10,000 characters passes the states of all shorter bounds.
    compiler = llmask.Compiler(llama3_tokenizer)
    bitmask = llmask.allocate_bitmask(1, llama3_tokenizer.vocab_size)
    matcher = compiler.json_schema({"type": "string", "maxLength": LONGEST}).matcher()
    matcher.accept_bytes(b'"')
    n_nodes = {}
    for left in range(LONGEST, -1, -1):
        n_nodes[left] = walked(matcher, bitmask)
        if left:
            matcher.accept_bytes(b"a")
    n_trie = matcher.grammar.store.table.view.n_trie
    assert sum(n > 0 for n in n_nodes.values()) > 100, "the counter stands still"
    most = max(n_nodes, key=n_nodes.__getitem__)
    assert n_nodes[most] <= MOST_WALKED * n_trie, f"{n_nodes[most]} of {n_trie} nodes with {most} characters left"
    assert max(n for left, n in n_nodes.items() if left >= 30) <= 0.05 * n_trie


@pytest.mark.parametrize("bound", ["maxLength", "minLength"])
def test_a_bounded_string_walks_as_little_in_a_store_of_its_own(bound: str, llama3_tokenizer: Any) -> None:
    bitmask = llmask.allocate_bitmask(1, llama3_tokenizer.vocab_size)
    for length in (1, 9, 10, 29, 30, 1000, LONGEST):
        matcher = llmask.Compiler(llama3_tokenizer).json_schema({"type": "string", bound: length}).matcher()
        matcher.accept_bytes(b'"')
        n_trie = matcher.grammar.store.table.view.n_trie
        for byte in b"a \xc3\xa9":
            assert walked(matcher, bitmask) <= MOST_WALKED * n_trie, (bound, length, byte)
            if bound == "maxLength" and length == 1:
                break
            matcher.accept_bytes(bytes([byte]))


@pytest.mark.parametrize("pattern", ["^[A-Za-z]", "^.*$", "^[^\\u0000]+$"])
def test_a_pattern_that_refuses_nothing_more_walks_as_little_as_the_bound_alone(
    pattern: str, llama3_tokenizer: Any
) -> None:
    # The intersection any* & any{0,r} hid from the slices that any{0,r} takes them: 97 % of the trie at every step.
    bitmask = llmask.allocate_bitmask(1, llama3_tokenizer.vocab_size)
    schema = {"type": "string", "pattern": pattern, "maxLength": 300}
    matcher = llmask.Compiler(llama3_tokenizer).json_schema(schema).matcher()
    matcher.accept_bytes(b'"a')
    n_trie = matcher.grammar.store.table.view.n_trie
    for byte in b"bcdefgh ijk":
        assert walked(matcher, bitmask) <= 0.05 * n_trie
        matcher.accept_bytes(bytes([byte]))
