"""Names of earlier releases do what their successors do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import llmask
from llmask import deprecated


@pytest.fixture(scope="module")
def grammar(tiny_tokenizer: Any) -> Any:
    return llmask.Compiler(tiny_tokenizer).regex("a+")


def test_batches(grammar: Any, tiny_tokenizer: Any) -> None:
    token = tiny_tokenizer.encode("a")[0]
    matchers = [grammar.matcher(), None]
    one, other = (llmask.allocate_bitmask(2, tiny_tokenizer.vocab_size) for _ in range(2))
    assert llmask.fill_bitmasks(matchers, one) == llmask.Batch(matchers).fill(other)
    assert (one == other).all()
    assert llmask.accept_batch(matchers, [token, 0]) == [True, True]
    llmask.rollback_batch(matchers, [1, 0])
    assert len(matchers[0]) == 0  # type: ignore[arg-type]


def test_who_uses_a_name_with_a_successor_is_told(grammar: Any, tiny_tokenizer: Any) -> None:
    with pytest.warns(DeprecationWarning, match="read_ahead goes with llmask .*; use llmask.Batch"):
        llmask.read_ahead([grammar.matcher()])
    token = tiny_tokenizer.encode("a")[0]
    with pytest.warns(DeprecationWarning, match="ReasoningMatcher goes with llmask .*; use llmask.Reasoning"):
        matcher = llmask.ReasoningMatcher(grammar.matcher(), [token], 5)
    assert matcher.is_thinking


def test_the_page_has_every_name_and_its_end() -> None:
    page = (Path(__file__).parents[2] / "docs" / "versions.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `") and deprecated.ENDS in line]
    for name in ("fill_bitmasks", "accept_batch", "rollback_batch", *deprecated.SUCCESSORS):
        assert any(f"`{name}" in row for row in rows), name
        assert name not in llmask.__all__
        assert getattr(llmask, name) is getattr(deprecated, name)


def test_what_users_see_of_a_matcher(grammar: Any) -> None:
    shown = [name for name in dir(grammar.matcher()) if not name.startswith("_")]
    assert len(shown) <= 30
