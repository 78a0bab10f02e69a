"""Thinking is free until its end, keeps its budget, and the grammar begins after it, whatever is taken back."""

from __future__ import annotations

import pickle
import random
from typing import Any

import numpy as np
import pytest

import llmask
from llmask.matching.reasoning import think_first

N_LETTERS = 6  # tokens 0 to 5 are letters, 6 has no text, 7 ends the sequence
VOCAB_SIZE, SPECIAL, EOS = 8, 6, 7


@pytest.fixture(scope="module")
def grammar() -> Any:
    letters = [bytes([ord("a") + number]) for number in range(N_LETTERS)]
    tokenizer = llmask.Tokenizer.from_bytes([*letters, b"", b""], eos=EOS, special=[SPECIAL, EOS])
    return llmask.Compiler(tokenizer).regex("(ab)+c")


def mask_of(matcher: Any, **options: Any) -> set[int]:
    words = np.full((1, 2), -1, np.int32)
    matcher.fill_bitmask(words, 0, **options)
    assert not words[0, 1]
    return set(np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little")).tolist())


def defined_mask(tokens: list[int], end: list[int], budget: int | None, total: int | None, least: int) -> set[int]:
    """What may follow thoughts, by trying every way on: the end as soon as possible after each token."""
    allowed = set()
    limits = [limit for limit in (budget, None if total is None else len(tokens) + total - least) if limit is not None]
    for token in range(VOCAB_SIZE):
        after = [*tokens, token]
        if token == EOS and EOS not in end:
            continue
        missing = next(n for n in range(len(end) + 1) if ends_with(after + end[len(end) - n :], end))
        if not limits or len(after) + missing <= min(limits):
            allowed.add(token)
    return allowed


def ends_with(tokens: list[int], end: list[int]) -> bool:
    return tokens[-len(end) :] == end


@pytest.mark.long
@pytest.mark.parametrize("end", [[6], [0, 1], [0, 0, 1], [0, 1, 0, 2], [0, 0, 0], [1, 0, 1, 0, 6], [7]])
@pytest.mark.parametrize("extra", [None, 0, 1, 2, 5])
def test_masks_of_thinking_are_those_of_the_definition(grammar: Any, end: list[int], extra: int | None) -> None:
    rng = random.Random(len(end))
    budget = None if extra is None else len(end) + extra
    for _ in range(30):
        matcher = think_first(grammar.matcher(), end, budget)
        thoughts: list[int] = []
        least = grammar.matcher().least_budget()
        while matcher.is_thinking and len(thoughts) < 12:
            expected = defined_mask(thoughts, end, budget, None, least)
            assert mask_of(matcher) == expected
            if budget is None:
                total = least + len(end) + rng.randrange(3)
                assert mask_of(matcher, budget=total) == defined_mask(thoughts, end, None, total, least)
                with pytest.raises(llmask.BudgetError, match="left for the thinking"):
                    matcher.fill_bitmask(np.zeros((1, 1), np.int32), 0, matcher.least_budget() - 1)
                assert mask_of(matcher, budget=matcher.least_budget())
            forced = matcher.forced_tokens()
            assert bool(forced) == (len(expected) == 1 and len(thoughts) + len(end) - progress(thoughts, end) == budget)
            assert forced == end[progress(thoughts, end) :][: len(forced)]
            for token in range(-1, VOCAB_SIZE + 2):
                assert matcher.fork().accept(token) == (token in expected)
            token = rng.choice(sorted(expected))
            assert matcher.accept(np.int64(token))
            thoughts.append(token)
            assert matcher.is_thinking == (not ends_with(thoughts, end))
        if budget is not None:
            assert len(thoughts) <= budget
        if not matcher.is_thinking:
            assert mask_of(matcher) == {0}


def progress(thoughts: list[int], end: list[int]) -> int:
    return next(n for n in range(len(end), -1, -1) if thoughts[len(thoughts) - n :] == end[:n])


def test_tokens_are_taken_back_across_the_end_of_the_thinking(grammar: Any) -> None:
    rng = random.Random(1)
    tokens = [3, 0, 0, 1, 0, 1, 0, 1, 2, EOS]  # thinking: 3 0 0 1
    matcher = think_first(grammar.matcher(), [0, 1])
    masks = []
    for token in tokens:
        masks.append(mask_of(matcher))
        matcher.accept_token(token)
    masks.append(mask_of(matcher))
    assert (matcher.is_terminated(), matcher.text(), matcher.tokens) == (True, b"ababc", tokens)
    for _ in range(200):
        position = len(matcher)
        if rng.random() < 0.5:
            back = rng.randrange(position + 1)
            matcher.rollback(back)
            position -= back
        else:
            assert matcher.try_accept_tokens([*tokens[position:], 4]) == len(tokens) - position
            position = len(tokens)
        assert mask_of(matcher) == masks[position]
        assert matcher.is_thinking == (position < 4)
        assert matcher.is_terminated() == (position == len(tokens))
        assert matcher.tokens == tokens[:position]
        assert matcher.is_accepting() == (position >= 9)
    matcher.reset()
    assert (matcher.is_thinking, len(matcher), bool(matcher)) == (True, 0, True)


def test_without_thinking_it_is_the_matcher(grammar: Any) -> None:
    matcher = think_first(grammar.matcher(), [SPECIAL], is_thinking=False)
    assert (mask_of(matcher), matcher.is_thinking, matcher.least_budget()) == ({0}, False, 4)
    assert not matcher.accept(SPECIAL)
    with pytest.raises(llmask.TokenRejected, match="cannot come next"):
        matcher.accept_token(SPECIAL)
    matcher.accept_token(0)
    assert matcher.forced_tokens() == grammar.matcher().forced_tokens()[1:]
    matcher.rollback(1)
    assert not matcher.is_thinking


def test_stop_tokens_end_no_thinking(grammar: Any) -> None:
    matcher = think_first(grammar.matcher(stop_tokens=[4]), [SPECIAL])
    assert mask_of(matcher) == {0, 1, 2, 3, 5, SPECIAL}
    with pytest.raises(llmask.TokenRejected, match="the thinking goes on"):
        matcher.accept_token(4)
    assert matcher.try_accept_tokens([3, SPECIAL, 0, 1, 2, 4, 0]) == 6
    assert matcher.is_terminated()


@pytest.mark.parametrize(
    ("end", "budget", "message"),
    [
        ([], None, "cannot end the thinking"),
        ([8], None, "cannot end the thinking"),
        ([-1], None, "cannot end the thinking"),
        (["a"], None, "a token that ends the thinking"),
        (3, None, "token"),
        ("</think>", None, "token"),
        ([1, 2], 1, "cannot end within 1 tokens"),
        ([1], "many", "the budget of the thinking"),
    ],
)
def test_what_cannot_be_meant_is_an_error(grammar: Any, end: Any, budget: Any, message: str) -> None:
    with pytest.raises(llmask.LlmaskError, match=message):
        think_first(grammar.matcher(), end, budget)


def test_wrong_calls_change_nothing(grammar: Any) -> None:
    with pytest.raises(llmask.LlmaskError, match="the answer's matcher"):
        think_first(grammar, [1])
    matcher = think_first(grammar.matcher(), [SPECIAL])
    matcher.try_accept_tokens([3, SPECIAL, 0])
    for n in (-1, 4, "one", 1.5):
        with pytest.raises(llmask.LlmaskError, match="roll"):
            matcher.rollback(n)
    with pytest.raises(llmask.LlmaskError, match="token id"):
        matcher.try_accept_tokens([1, "x"])
    assert matcher.tokens == [3, SPECIAL, 0]
    matcher.reset()
    for bitmask, row in ((np.zeros((1, 1), np.int32), 1), (np.zeros((1, 0), np.int32), 0), (np.zeros((1, 1)), 0)):
        with pytest.raises(llmask.LlmaskError, match="bitmask"):
            matcher.fill_bitmask(bitmask, row)
    with pytest.raises(llmask.LlmaskError, match="row 2 of a bitmask"):
        matcher.fill_drafts(np.zeros((2, 1), np.int32), [1, 2])


def test_a_grammar_that_thinks_makes_such_matchers(grammar: Any) -> None:
    thinking = llmask.Reasoning(grammar, [0, 1], 5)
    assert (thinking.grammar, thinking.end, thinking.budget) == (grammar, (0, 1), 5)
    assert (thinking.tokenizer, thinking.takes_budget) == (grammar.tokenizer, True)
    one, other = thinking.matcher(on_limit="finish"), thinking.matcher(stop_tokens=[4])
    assert one.try_accept_tokens([4, 0, 1, 0]) == 4
    assert len(other) == 0
    assert not other.accept(4)
    assert pickle.loads(pickle.dumps(thinking)).matcher().try_accept_tokens([0, 1, 0]) == 3
    for wrong in ((grammar, [0, 1], 1), (grammar, []), ({}, [0])):
        with pytest.raises(llmask.LlmaskError):
            llmask.Reasoning(*wrong)
