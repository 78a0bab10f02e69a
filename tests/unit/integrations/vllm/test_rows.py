"""The rows of a step in one call, with stand-ins for vLLM's manager and its requests."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import llmask
from llmask.integrations.vllm.backend import Backend, Grammar
from llmask.integrations.vllm.rows import rows_at_once, write_rows


@pytest.fixture(autouse=True)
def together(monkeypatch: Any) -> None:
    monkeypatch.setattr("llmask.integrations.vllm.rows.FEW_ROWS", 0)


@pytest.fixture(scope="module")
def compiler(byte_tokenizer: Any) -> llmask.Compiler:
    return llmask.Compiler(byte_tokenizer)


def grammars(compiler: llmask.Compiler) -> list[Grammar]:
    """One at its beginning, one further on, one that has ended, one on its own grammar."""
    found = [Grammar(compiler.regex(pattern).matcher()) for pattern in ("ab", "ab", "a", "[0-9]+")]
    assert found[1].accept_tokens("1", [97])
    assert found[2].accept_tokens("2", [97, 256])
    return found


def expected(compiler: llmask.Compiler, made: list[Grammar]) -> Any:
    words = llmask.allocate_bitmask(len(made), compiler.tokenizer.vocab_size)
    for row, grammar in enumerate(made):
        if grammar.is_terminated():
            words[row] = -1
        else:
            grammar.matcher.fill_bitmask(words, row)
    return words


def test_rows_are_those_of_each_grammar(compiler: llmask.Compiler) -> None:
    made = grammars(compiler)
    words = np.full_like(expected(compiler, made), 7)
    write_rows(words, made)
    np.testing.assert_array_equal(words, expected(compiler, made))
    before = words.copy()
    write_rows(words[:, :8], made)  # the model has fewer logits
    np.testing.assert_array_equal(words[:, :8], before[:, :8])


def test_a_row_that_cannot_be_filled_keeps_no_other(compiler: llmask.Compiler, monkeypatch: Any) -> None:
    made = grammars(compiler)
    right = llmask.Matcher.fill_bitmask

    def fails(self: Any, bitmask: Any, row: int = 0, budget: int | None = None) -> bool:
        if self is made[3].matcher:
            raise llmask.LimitExceeded("too much work")
        return right(self, bitmask, row, budget)

    monkeypatch.setattr(llmask.Matcher, "fill_bitmask", fails)
    monkeypatch.setattr(llmask.Batch, "fill", lambda batch, *_: batch._matchers[-1].fill_bitmask(None))
    words = np.zeros_like(expected(compiler, made[:3]), shape=(4, 9))
    write_rows(words, made)
    np.testing.assert_array_equal(words[:3], expected(compiler, made[:3]))
    assert words[3].tolist() == [0] * 8 + [1]  # it may only end


def manager_of(compiler: llmask.Compiler, made: list[Grammar], **changes: Any) -> tuple[Any, Any, list[list[str]]]:
    """A manager, its requests, and the names that vLLM's own call was asked for."""
    asked: list[list[str]] = []
    backend = Backend(None, None, compiler.tokenizer.vocab_size)
    words = llmask.allocate_bitmask(len(made), compiler.tokenizer.vocab_size)
    parts = {"reasoner_cls": None, "enable_in_reasoning": False, "backend": backend}
    config = SimpleNamespace(num_speculative_tokens=0)
    bitmask = SimpleNamespace(numpy=lambda: words)
    manager = SimpleNamespace(**{"vllm_config": config, "_grammar_bitmask": bitmask, **parts, **changes})
    requests = {
        str(n): SimpleNamespace(structured_output_request=SimpleNamespace(_grammar=grammar, reasoning_ended=n != 1))
        for n, grammar in enumerate(made)
    }

    def own(self: Any, requests: Any, names: list[str], drafts: Any) -> Any:
        asked.append(names)
        words[0] = 5
        return words[: len(names)]

    call = rows_at_once(own)
    return (lambda: call(manager, requests, list(requests), {})), words, asked


def test_vllm_is_not_asked_for_what_is_known(compiler: llmask.Compiler) -> None:
    made = grammars(compiler)
    call, _, asked = manager_of(compiler, made)
    np.testing.assert_array_equal(call(), expected(compiler, made))
    assert asked == []


def test_rows_that_think_are_vllms_own(compiler: llmask.Compiler) -> None:
    made = grammars(compiler)
    call, _, asked = manager_of(compiler, made, reasoner_cls=object)
    found = call()
    assert asked == [["1"]]
    assert set(found[1].tolist()) == {5}
    np.testing.assert_array_equal(np.delete(found, 1, 0), np.delete(expected(compiler, made), 1, 0))


@pytest.mark.parametrize(
    "changes",
    [
        {"backend": None},
        {"_grammar_bitmask": None},
        {"vllm_config": SimpleNamespace(num_speculative_tokens=2)},
    ],
)
def test_what_is_not_known_is_left_to_vllm(compiler: llmask.Compiler, changes: Any) -> None:
    call, _, asked = manager_of(compiler, grammars(compiler), **changes)
    call()
    assert asked == [["0", "1", "2", "3"]]


def test_a_manager_without_the_parts_is_left_to_vllm(compiler: llmask.Compiler) -> None:
    made = grammars(compiler)
    asked: list[Any] = []
    call = rows_at_once(lambda self, requests, names, drafts: asked.append(names))
    backend = Backend(None, None, compiler.tokenizer.vocab_size)
    config = SimpleNamespace(num_speculative_tokens=0)
    call(SimpleNamespace(backend=backend, vllm_config=config), dict.fromkeys("ab", made), ["a", "b"], {})
    assert asked == [["a", "b"]]
