"""Steps build without the store's lock where nobody else writes and little is missing; masks are the same."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import llmask
from llmask.kernels import engine
from llmask.kernels.lexer.states import MISS
from llmask.kernels.tables import memory, store_layout
from llmask.kernels.tables.kinds import Fill
from llmask.kernels.tables.operations import Operation
from llmask.kernels.tables.turns import FORKING, LOCKED
from tests.processes import side_by_side

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 9}, "kind": {"enum": ["one", "other"]}, "n": {}},
    "patternProperties": {"^x": {"type": "integer"}},
}
TEXT = b'{"name": "abc", "kind": "other", "n": [1, {"a": null}], "x1": -20}'


def another(name: str) -> Any:
    """A schema that TEXT is a document of, too."""
    return {**SCHEMA, "properties": {**SCHEMA["properties"], name: {"type": "string"}}}


class Noted:
    """Takes the place of what steps call, and counts what is built without the lock and with it."""

    def __init__(self, store: Any, patch: pytest.MonkeyPatch) -> None:
        self._step_mask, self._step_token, self._run = engine.step_mask, engine.step_token, store.run
        self.alone = self.locked = 0
        patch.setattr(engine, "step_mask", self.step_mask)
        patch.setattr(engine, "step_token", self.step_token)
        patch.setattr(store, "run", self.run)

    def step_mask(self, cell: int, bitmask: Any, row: int) -> int:
        is_missing = engine.fill_mask(cell, bitmask, row) == Fill.MISS
        result: int = self._step_mask(cell, bitmask, row)
        self.alone += is_missing and result != Fill.MISS
        return result

    def step_token(self, cell: int, token: int) -> int:
        is_missing = engine.accept(cell, token) == MISS
        result: int = self._step_token(cell, token)
        self.alone += is_missing and result != MISS
        return result

    def run(self, *arguments: Any, **named: Any) -> int:
        self.locked += 1
        result: int = self._run(*arguments, **named)
        return result


def masks_of(grammar: Any, tokens: list[int]) -> Iterator[bytes]:
    matcher = grammar.matcher()
    bitmask = llmask.allocate_bitmask(1, grammar._loaded.store.tokenizer.vocab_size)
    for token in tokens:
        matcher.fill_bitmask(bitmask)
        yield bitmask.tobytes()
        matcher.accept_token(token)


def spelled(tokenizer: Any, rng: random.Random) -> list[int]:
    """Tokens that spell TEXT, any of those that fit."""
    all_bytes = [tokenizer.token_bytes(token) for token in range(tokenizer.vocab_size)]
    tokens: list[int] = []
    at = 0
    while at < len(TEXT):
        fitting = [token for token, data in enumerate(all_bytes) if data and TEXT.startswith(data, at)]
        tokens.append(rng.choice(fitting))
        at += len(all_bytes[tokens[-1]])
    return tokens


def test_a_step_takes_the_lock_only_when_much_is_missing(default_tokenizer: Any, rng: random.Random) -> None:
    tokens = spelled(default_tokenizer, rng)
    found = []
    for units in (0, 1, 20, None):  # None: as many as there are
        grammar = llmask.Compiler(default_tokenizer).json_schema(SCHEMA)
        slots = grammar._loaded.store.table.slots
        assert slots[store_layout.STORE.quick_work] > 0
        if units is not None:
            slots[store_layout.STORE.quick_work] = units << memory.TICK_BITS
        with pytest.MonkeyPatch.context() as patch:
            noted = Noted(grammar._loaded.store, patch)
            found.append(list(masks_of(grammar, tokens)))
        if units == 0:
            assert noted.alone == 0 < noted.locked
        elif units is None:
            assert noted.locked == 0 < noted.alone
        else:
            assert noted.alone > 0
            assert noted.locked > 0
        assert slots[store_layout.STORE.writer] == 0
    assert found[0] == found[1] == found[2] == found[3]


def test_a_step_leaves_it_to_the_lock_while_another_thread_writes(tiny_tokenizer: Any) -> None:
    grammar = llmask.Compiler(tiny_tokenizer).json_schema(SCHEMA)
    matcher = grammar.matcher()
    address = grammar._loaded.store.table.address
    assert engine.change_writer(address, 0, LOCKED)
    assert not engine.change_writer(address, 0, FORKING)
    assert engine.step_token(matcher._sequence.cell_address, tiny_tokenizer.encode("{")[0]) == MISS
    matched: list[bool] = []
    thread = threading.Thread(target=lambda: matched.append(matcher.accept(tiny_tokenizer.encode("{")[0])))
    thread.start()
    thread.join(0.05)
    assert not matched  # it waits for its turn
    assert engine.change_writer(address, LOCKED, 0)
    thread.join()
    assert matched == [True]


def test_a_thread_that_forks_may_build(tiny_tokenizer: Any) -> None:
    grammar = llmask.Compiler(tiny_tokenizer).json_schema(SCHEMA)
    lock = grammar._loaded.store.lock
    lock.hold()
    assert grammar.matcher().accept(tiny_tokenizer.encode("{")[0])
    assert grammar._loaded.store.table.view.writer == FORKING
    lock.let_go()
    assert grammar._loaded.store.table.view.writer == 0
    with pytest.raises(RuntimeError):
        lock.let_go()


def test_a_fork_inside_of_a_fork_does_not_wait_for_itself(tiny_tokenizer: Any) -> None:
    store = llmask.Compiler(tiny_tokenizer).json_schema(SCHEMA)._loaded.store
    store.lock.hold()
    store.lock.hold()  # by the handler of a signal
    store.lock.let_go()
    store.lock.let_go()
    assert store.table.view.writer == 0
    assert engine.change_writer(store.table.address, 0, FORKING)
    assert engine.change_writer(store.table.address, FORKING, 0)


@pytest.mark.parametrize("asked", ["mask", "token"])
def test_the_turn_is_given_back_where_there_is_no_memory(
    tiny_tokenizer: Any, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    grammar = llmask.Compiler(tiny_tokenizer).json_schema(SCHEMA)
    matcher, builder = grammar.matcher(), grammar._loaded.store.run.__self__

    def fail(*given: Any) -> int:
        writer = LOCKED if given[0] == Operation.IS_NULLABLE else matcher._sequence.cell_address
        assert engine.change_writer(builder.address, 0, writer)
        raise MemoryError

    def step() -> None:
        if asked == "mask":
            matcher.fill_bitmask(llmask.allocate_bitmask(1, tiny_tokenizer.vocab_size))
        else:
            matcher.accept_token(tiny_tokenizer.encode("{")[0])

    with monkeypatch.context() as patch:
        patch.setattr(engine, f"step_{asked}", fail)
        patch.setattr(builder, "_build", fail)
        with pytest.raises(MemoryError):
            step()
        with pytest.raises(MemoryError):
            builder.run(Operation.IS_NULLABLE, 1)
    assert grammar._loaded.store.table.view.writer == 0
    step()


def test_low_limits_and_growing_rules_are_left_to_the_lock(tiny_tokenizer: Any) -> None:
    low = llmask.Compiler(tiny_tokenizer, limits=llmask.Limits(max_lexer_states=10_000)).json_schema(SCHEMA)
    assert low._loaded.store.table.view.quick_work == 0
    growing = llmask.Compiler(tiny_tokenizer).json_schema({"items": {"enum": [1, 2, 3]}, "uniqueItems": True})
    assert growing._loaded.generation.table.view.room == 0
    assert llmask.Compiler(tiny_tokenizer).json_schema(SCHEMA)._loaded.generation.table.view.room > 0


def test_threads_that_build_alone_and_with_the_lock_see_the_same_masks(
    default_tokenizer: Any, rng: random.Random, costly: Callable[[int], int]
) -> None:
    compiler = llmask.Compiler(default_tokenizer)
    tokens = [spelled(default_tokenizer, rng) for _ in range(3)]
    schemas = [another(f"r{number}") for number in range(costly(12))]
    expected = [[list(masks_of(compiler.json_schema(schema), some)) for some in tokens] for schema in schemas]
    again = llmask.Compiler(default_tokenizer)  # where nothing is known
    grammars = [again.json_schema(schema) for schema in schemas]
    wrong: list[int] = []

    def read(number: int) -> None:
        order = random.Random(number)
        for place in order.sample(range(len(grammars)), len(grammars)):
            if list(masks_of(grammars[place], tokens[number])) != expected[place][number]:
                wrong.append(place)
            again.json_schema(another(f"s{number} {place}"))

    side_by_side(read, range(len(tokens)))
    assert not wrong
    assert grammars[0]._loaded.store.table.view.writer == 0


def test_a_mask_is_built_into_the_row_of_the_call(tiny_tokenizer: Any) -> None:
    """Who only looks whether a mask is there leaves its row behind."""
    matcher = llmask.Compiler(tiny_tokenizer).json_schema(SCHEMA).matcher()
    looked, bitmask = (llmask.allocate_bitmask(2, tiny_tokenizer.vocab_size) for _ in range(2))
    looked[:] = bitmask[:] = 0
    assert engine.fill_mask(matcher._sequence.cell_address, looked, 1) == Fill.MISS
    matcher.fill_bitmask(bitmask)
    assert np.any(bitmask[0])
    assert not np.any(bitmask[1])
    assert not np.any(looked)
