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


def test_rows_may_lie_apart_and_one_row_may_have_one_dimension(matchers: list[Any], tiny_tokenizer: Any) -> None:
    expected = batch_for(tiny_tokenizer, len(matchers))
    results = llmask.fill_bitmasks(matchers, expected)
    n_words = expected.shape[1]
    around = np.full((2 * len(matchers), n_words + 5), UNTOUCHED, np.int32)
    apart = around[::-2, 2 : 2 + n_words]
    assert llmask.fill_bitmasks(matchers, apart) == results
    assert np.array_equal(apart, expected)
    apart[...] = UNTOUCHED
    for row, matcher in enumerate(matchers):
        assert matcher.fill_bitmask(apart, row) == results[row]
    assert np.array_equal(apart, expected)
    apart[...] = UNTOUCHED
    assert (around == UNTOUCHED).all()
    for matcher, words in zip(matchers, expected, strict=True):
        line = np.full(n_words, UNTOUCHED, np.int32)
        matcher.fill_bitmask(line)
        assert np.array_equal(line, words)
        matcher.fill_bitmask(line, budget=50)
        with pytest.raises(llmask.LlmaskError, match="row 1 of a bitmask"):
            matcher.fill_bitmask(line, 1)
        with pytest.raises(llmask.LlmaskError, match="row 0 of a bitmask"):
            matcher.fill_bitmask(line[:-1])


def test_rows_without_a_grammar_get_all_ones(matchers: list[Any], tiny_tokenizer: Any) -> None:
    expected = batch_for(tiny_tokenizer, len(matchers))
    results = llmask.fill_bitmasks(matchers, expected)
    for budgets in (None, [None] * (len(matchers) + 2)):
        batch = batch_for(tiny_tokenizer, len(matchers) + 3)
        mixed = [None, *matchers[:3], None, *matchers[3:]]
        assert llmask.fill_bitmasks(mixed, batch, budgets=budgets) == [False, *results[:3], False, *results[3:]]
        assert (batch[[0, 4]] == -1).all()
        assert np.array_equal(batch[[1, 2, 3, *range(5, len(mixed))]], expected)
        assert (batch[len(mixed) :] == UNTOUCHED).all()
    batch = batch_for(tiny_tokenizer, 3)
    assert llmask.fill_bitmasks([None, matchers[0]], batch, rows=[2, 0]) == [False, results[0]]
    assert (batch[2] == -1).all()
    assert (batch[1] == UNTOUCHED).all()
    for wrong in (
        lambda: llmask.fill_bitmasks([None, None], batch, rows=[0, 0]),
        lambda: llmask.fill_bitmasks([None, matchers[0]], batch, budgets=[1]),
        lambda: llmask.fill_bitmasks([None] * 4, batch),
        lambda: llmask.fill_bitmasks([None, object()], batch),  # type: ignore[list-item]
        lambda: llmask.fill_bitmasks([None], batch, threads="x"),  # type: ignore[arg-type]
    ):
        before = batch.copy()
        with pytest.raises(llmask.LlmaskError):
            wrong()
        assert np.array_equal(batch, before)


def test_tokens_are_taken_and_given_back_for_a_batch(tiny_tokenizer: Any) -> None:
    grammar = llmask.Compiler(tiny_tokenizer).regex("[ab]*c")
    a, c, x = (
        [tiny_tokenizer.token_bytes(i) for i in range(tiny_tokenizer.vocab_size)].index(t) for t in (b"a", b"c", b"x")
    )
    first, second = grammar.matcher(), grammar.matcher()
    assert llmask.accept_batch([first, None, second], np.array([a, x, x])) == [True, True, False]
    assert llmask.accept_batch(iter([first, first]), iter([a, c])) == [True, True]  # type: ignore[arg-type]
    assert (first.text(), second.text()) == (b"aac", b"")
    with pytest.raises(llmask.LlmaskError, match="a token is an integer, not str"):
        llmask.accept_batch([second, first], [a, "c"])
    with pytest.raises(llmask.LlmaskError, match="2 matchers, but 1 tokens"):
        llmask.accept_batch([second, first], [a])
    with pytest.raises(llmask.LlmaskError, match="a matcher is a Matcher, not str"):
        llmask.accept_batch([second, "m"], [a, a])  # type: ignore[list-item]
    with pytest.raises(llmask.LlmaskError, match="cannot roll back 1 tokens: 0 were accepted\n  at matcher 1"):
        llmask.rollback_batch([first, second], [2, 1])
    with pytest.raises(llmask.LlmaskError, match="a matcher is given twice"):
        llmask.rollback_batch([first, first], [1, 1])
    assert first.text() == b"aac"
    llmask.rollback_batch([first, None, second], [2, 7, 0])
    assert (first.text(), second.text()) == (b"a", b"")


def test_a_batch_that_fails_midway_takes_nothing(tiny_tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    grammar = llmask.Compiler(tiny_tokenizer).regex("[ab]*c")
    token = next(i for i in range(tiny_tokenizer.vocab_size) if tiny_tokenizer.token_bytes(i) == b"a")
    first, second = grammar.matcher(), grammar.matcher()
    accept = llmask.Matcher.accept

    def limited(matcher: Any, token: int) -> bool:
        if matcher is second:
            raise llmask.LimitExceeded("too much")
        return accept(matcher, token)

    monkeypatch.setattr(llmask.Matcher, "accept", limited)
    with pytest.raises(llmask.LimitExceeded):
        llmask.accept_batch([first, second], [token, token])
    assert first.text() == b""
    with pytest.raises(llmask.LimitExceeded):
        second.try_accept_tokens([token])
