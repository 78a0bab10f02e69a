"""Indexes that grow by a bucket at a time: records are found at every size, also after some were taken back."""

from __future__ import annotations

import random
from typing import Any

import llmask
from llmask.limits import Limits
from llmask.store.store import Store
from tests.reference.definition import read_mask


def test_every_record_is_found_at_every_size(tiny_tokenizer: Any) -> None:
    nodes = Store(tiny_tokenizer, Limits()).nodes
    ids: list[int] = []
    for number in range(3000):  # passes 64, 128, ... 2048 buckets
        ids.append(nodes.literal(b"word %d" % number))
        for other in (0, number // 2, number - 1, number):
            assert nodes.literal(b"word %d" % max(other, 0)) == ids[max(other, 0)]
    assert len(set(ids)) == len(ids)
    assert [nodes.literal(b"word %d" % number) for number in range(3000)] == ids


def test_records_taken_back_leave_the_others_in_place(tiny_tokenizer: Any, rng: random.Random) -> None:
    # A row that meets a limit while it is made is forgotten (forget_last_list); the next attempt starts behind the
    # others. Limits are lifted one by one, so this happens at many numbers of rows, those that add a bucket included.
    schema = {"$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}}}, "$ref": "#/$defs/t"}
    text = "".join(rng.choice(["[", "[],", "[[],"]) for _ in range(120)).replace("],]", "]]")
    oracle = llmask.Compiler(tiny_tokenizer).json_schema(schema).matcher()
    grammar = llmask.Compiler(tiny_tokenizer).json_schema(schema)
    matcher = grammar.matcher()

    n_limits = 0
    for byte in b"[" + text.encode():
        oracle.accept_bytes(bytes([byte]))
        for room in range(1000):
            grammar._loaded.generation.table.view.max_rows = grammar._loaded.generation.table.view.kernels.count + room
            try:
                matcher.accept_bytes(bytes([byte]))
                allowed = read_mask(matcher, tiny_tokenizer.vocab_size)
                break
            except llmask.LimitExceeded:
                n_limits += 1
                if matcher.text() == oracle.text():
                    matcher.rollback(1)
        assert matcher.text() == oracle.text()
        assert allowed == read_mask(oracle, tiny_tokenizer.vocab_size)
    assert n_limits > 50
