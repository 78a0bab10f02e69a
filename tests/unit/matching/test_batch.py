"""A batch of masks is what single calls write, in the rows asked for; errors leave the bitmask alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import llmask

UNTOUCHED = 0x1234567


@pytest.fixture(scope="module")
def matchers(tiny_tokenizer: Any) -> list[Any]:
    compiler = llmask.Compiler(tiny_tokenizer)
    grammars = [compiler.regex("[ab]*c"), compiler.json_schema({"type": "integer"}), compiler.choice(["name", "nul"])]
    made = []
    for text in (b"", b"a", b"ab", b"abc"):
        made.append(grammars[0].matcher())
        made[-1].accept_bytes(text)
    for text in (b"", b"-", b"12"):
        made.append(grammars[1].matcher())
        made[-1].accept_bytes(text)
    return [*made, grammars[2].matcher()]


def batch_for(tokenizer: Any, n_rows: int) -> Any:
    return np.full((n_rows, (tokenizer.vocab_size + 31) // 32), UNTOUCHED, np.int32)


@pytest.mark.parametrize("threads", [None, 0, 1, 2, 3, 100])
def test_a_batch_equals_single_masks(matchers: list[Any], tiny_tokenizer: Any, threads: int | None) -> None:
    batch = batch_for(tiny_tokenizer, len(matchers) + 2)
    results = llmask.fill_bitmasks(matchers, batch, threads=threads)
    for number, matcher in enumerate(matchers):
        single = batch_for(tiny_tokenizer, 1)
        assert matcher.fill_bitmask(single) == results[number]
        assert np.array_equal(single[0], batch[number])
    assert (batch[len(matchers) :] == UNTOUCHED).all()


@pytest.mark.parametrize("rows", [[5, 0, 3], (5, 0, 3), np.array([5, 0, 3]), iter([5, 0, 3])])
def test_rows_may_come_in_any_order_and_kind(matchers: list[Any], tiny_tokenizer: Any, rows: Any) -> None:
    batch = batch_for(tiny_tokenizer, 6)
    llmask.fill_bitmasks(iter(matchers[:3]), batch, rows=rows)
    for row, matcher in zip([5, 0, 3], matchers, strict=False):
        single = batch_for(tiny_tokenizer, 1)
        matcher.fill_bitmask(single)
        assert np.array_equal(batch[row], single[0])
    assert (batch[[1, 2, 4]] == UNTOUCHED).all()


def test_an_empty_batch_is_fine(tiny_tokenizer: Any) -> None:
    batch = batch_for(tiny_tokenizer, 1)
    assert llmask.fill_bitmasks([], batch) == []
    assert llmask.fill_bitmasks([], batch, threads=4) == []
    assert (batch == UNTOUCHED).all()


@pytest.mark.parametrize("rows", [[0, 8], [0, -1], [0, 0], [0], [0, 1.0], [0, None]])
def test_wrong_rows_leave_the_bitmask_alone(matchers: list[Any], tiny_tokenizer: Any, rows: Any) -> None:
    batch = batch_for(tiny_tokenizer, 8)
    with pytest.raises(llmask.LlmaskError):
        llmask.fill_bitmasks(matchers[:2], batch, rows=rows)
    assert (batch == UNTOUCHED).all()


@pytest.mark.parametrize("threads", [None, 2])
def test_an_error_of_one_matcher_reaches_the_caller(threads: int | None) -> None:
    tokenizer = llmask.Tokenizer.from_bytes([b"a", b"</s>"], eos=1)
    stuck, free = (llmask.Compiler(tokenizer).regex(pattern).matcher() for pattern in ("b", "a*"))
    with pytest.raises(llmask.VocabularyError, match="no token of the vocabulary spells"):
        llmask.fill_bitmasks([free, stuck], batch_for(tokenizer, 2), threads=threads)


def test_the_rest_of_a_wide_row_is_cleared(matchers: list[Any], tiny_tokenizer: Any) -> None:
    n_words = (tiny_tokenizer.vocab_size + 31) // 32
    batch = np.full((2, n_words + 5), -1, np.int32)
    llmask.fill_bitmasks(matchers[:2], batch)
    assert (batch[:, n_words:] == 0).all()
