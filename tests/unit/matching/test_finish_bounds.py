"""Where a limit is met, finishing keeps to the limits of a step, and what cannot begin is refused while it compiles."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest

import llmask
from llmask.kernels.tables.memory import TICK_BITS
from llmask.kernels.tables.store_layout import STORE
from llmask.store.generation import Generation
from llmask.work import active
from tests.reference.definition import read_mask

STRANGERS = llmask.Limits.for_untrusted()
PERIODS = ["^(..{28})*$", "^(..{36})*$", "^(..{42})*$"]
FAR = ["(x|y).{42}z", "a.{8}b", "^([a-z]{30},)*$", "(ab|ba).{42}(aa|bb)"]


def strings(patterns: list[str]) -> dict[str, Any]:
    return {"type": "string", "allOf": [{"pattern": pattern} for pattern in patterns]}


def test_no_step_takes_more_than_a_mask_and_the_way_on_may(default_tokenizer: Any, rng: random.Random) -> None:
    """Where a mask met the limit, looking for the end took fifty times as much as a step may, and found none then."""
    grammar = llmask.Compiler(default_tokenizer, limits=STRANGERS, cache_bytes=0).json_schema(strings(FAR))
    store, run, spent = grammar.store, grammar.store.run, 0

    def counted(*arguments: Any, **named: Any) -> int:
        nonlocal spent
        try:
            return run(*arguments, **named)
        finally:
            spent += store.table.slots[STORE.spent] >> TICK_BITS

    store.run = counted  # type: ignore[method-assign]
    most = 0
    for _ in range(2):
        matcher = grammar.matcher(on_limit="finish")
        while not matcher.is_terminated():
            spent = 0
            allowed = sorted(read_mask(matcher, default_tokenizer.vocab_size))
            matcher.accept_token(rng.choice(allowed))
            most = max(most, spent)
        text = json.loads(matcher.text())
        assert all(re.search(pattern, text) for pattern in FAR)
    assert grammar.n_finished == 2
    assert STRANGERS.max_step_work < most < 2.5 * STRANGERS.max_step_work


def test_a_token_that_a_mask_allowed_gets_one_step_more(byte_tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It got 500,000 units: thirty tokens of one document took 0.3 s each."""
    matcher = llmask.Compiler(byte_tokenizer, limits=STRANGERS).regex("ab").matcher(on_limit="finish")
    run, bounds = Generation.run, []

    def exceed_first(self: Any, *arguments: Any) -> int:
        bounds.append(None if active.meter is None else active.meter.most)
        if len(bounds) == 1:
            raise llmask.LimitExceeded("one step takes more than it may")
        return run(self, *arguments)

    monkeypatch.setattr(Generation, "run", exceed_first)
    matcher._sequence._built_after(ord("a"), llmask.matching.sequence.MISS)
    assert bounds == [None, STRANGERS.max_step_work]


def test_what_cannot_begin_is_refused_while_it_compiles(default_tokenizer: Any, byte_tokenizer: Any) -> None:
    """It compiled in a millisecond, and the first mask raised, though "" is a document."""
    compiler = llmask.Compiler(default_tokenizer, limits=STRANGERS)
    with pytest.raises(llmask.LimitExceeded):
        compiler.json_schema(strings(PERIODS))
    assert compiler.statistics()["refused"] == 1
    assert llmask.Compiler(default_tokenizer).json_schema(strings(PERIODS)).accepts('""')
    grammar = llmask.Compiler(byte_tokenizer, limits=STRANGERS).json_schema(strings(PERIODS))
    built = grammar.store.statistics(), grammar.statistics()
    assert read_mask(grammar.matcher(), byte_tokenizer.vocab_size) == {ord('"')}
    assert (grammar.store.statistics(), grammar.statistics()) == built


def test_the_first_mask_may_take_a_step_where_compiling_has_less_left(byte_tokenizer: Any) -> None:
    schema = {"enum": [f"{n:x}" for n in range(300)]}
    alone = llmask.Compiler(byte_tokenizer)  # which builds no mask
    alone.json_schema(schema)
    limits = llmask.Limits(max_compile_work=alone.statistics()["work"], max_step_work=10_000)
    compiler = llmask.Compiler(byte_tokenizer, limits=limits)
    assert compiler.json_schema(schema).accepts('"1f"')
    assert compiler.statistics()["work"] == limits.max_compile_work


def test_a_document_is_ended_where_no_search_finds_its_end(byte_tokenizer: Any) -> None:
    """With limits for grammars of one's own the same schema is compiled, and ends as it can."""
    matcher = llmask.Compiler(byte_tokenizer).json_schema(strings(PERIODS)).matcher(on_limit="finish")
    while not matcher.is_terminated():
        matcher.accept_token(*read_mask(matcher, byte_tokenizer.vocab_size))
    assert matcher.text() == b'""'
