"""The tokens that a request may write, as a budget: thoughts, drafts, refusals."""

from __future__ import annotations

from typing import Any

import pytest

import llmask
from llmask.integrations.room import Room, check_least_length, check_room, takes_budget, wants_budget

END = 256  # of byte_tokenizer
A, C = ord("a"), ord("c")


@pytest.fixture(scope="module")
def compiler(byte_tokenizer: Any) -> llmask.Compiler:
    return llmask.Compiler(byte_tokenizer)


class Request:
    """Counts what it has written, and follows it with a grammar from `begin` on."""

    def __init__(self, matcher: Any, most: int, n_drafts: int = 0) -> None:
        self.matcher = matcher
        self.n_written = 0
        self.room = Room(matcher, most, lambda: self.n_written, n_drafts)

    def write(self, token: int) -> None:
        self.n_written += 1
        self.draft(token)

    def draft(self, token: int) -> None:
        self.matcher.accept_token(token)
        self.room.look(len(self.matcher._sequence.history))

    def allowed(self) -> set[int]:
        mask = llmask.allocate_bitmask(1, self.matcher.grammar.tokenizer.vocab_size)
        if self.room.is_near:
            self.room.fill(mask, 0, len(self.matcher._sequence.history))
        else:
            self.matcher.fill_bitmask(mask)
        return {token for token in (A, C, END) if mask[0, token // 32] >> (token % 32) & 1}


def test_the_last_token_is_the_end(compiler: llmask.Compiler) -> None:
    request = Request(compiler.regex("a*").matcher(), 3)
    assert request.allowed() == {A, END}
    for _ in range(2):
        request.write(A)
    assert request.allowed() == {END}


def test_a_budget_that_is_far_is_not_looked_at(compiler: llmask.Compiler) -> None:
    request = Request(compiler.regex("[ac]*").matcher(), 100_000)
    request.room.look(0)
    assert not request.room.is_near
    seen: list[int] = []
    request.room.matcher = None  # type: ignore[assignment]  # whoever looks fails
    for _ in range(50):
        request.n_written += 1
        request.room.look(request.n_written)
        seen.append(request.n_written)
    assert len(seen) == 50


def test_what_was_thought_is_taken_of_it(compiler: llmask.Compiler) -> None:
    request = Request(compiler.regex("a*").matcher(), 10)
    request.n_written = 7
    assert request.allowed() == {A, END}
    request.write(A)
    request.write(A)
    assert request.allowed() == {END}


@pytest.mark.parametrize("n_thought", [9, 10, 500])
def test_too_little_left_is_the_shortest_end(compiler: llmask.Compiler, n_thought: int) -> None:
    request = Request(compiler.regex("a{3}c*").matcher(), 10)
    request.n_written = n_thought
    for _ in range(3):
        assert request.allowed() == {A}
        request.write(A)
    assert request.allowed() == {END}


def test_drafts_count_though_they_are_not_written(compiler: llmask.Compiler) -> None:
    request = Request(compiler.regex("a*").matcher(), 4)
    request.write(A)
    request.draft(A)
    assert request.allowed() == {A, END}
    request.draft(A)
    assert request.allowed() == {END}
    request.matcher.rollback(2)
    request.room.look(1)
    assert request.allowed() == {A, END}
    request.write(A)
    request.write(A)
    assert request.allowed() == {END}


def test_a_thought_may_end_among_drafts(compiler: llmask.Compiler) -> None:
    """How many drafts came before the grammar is not known, so all that there can be are taken off at first."""
    request = Request(compiler.regex("a*").matcher(), 10, n_drafts=3)
    request.n_written = 5  # two drafts end the thought, the third is the grammar's
    assert request.room.left(0) == 2
    request.draft(A)
    assert request.room.left(1) == 1
    assert request.allowed() == {END}
    request.matcher.rollback(1)
    request.n_written = 7
    request.write(A)
    assert request.allowed() == {A, END}


def test_without_a_known_end_there_is_no_budget(compiler: llmask.Compiler, monkeypatch: Any) -> None:
    request = Request(compiler.regex("a*").matcher(), 2)
    right = llmask.Matcher.fill_bitmask

    def fails(self: Any, bitmask: Any, row: int = 0, budget: int | None = None) -> bool:
        if budget is not None:
            raise llmask.LimitExceeded("no end is known")
        return right(self, bitmask, row)

    monkeypatch.setattr(llmask.Matcher, "fill_bitmask", fails)
    assert request.allowed() == {A, END}


def test_what_a_request_says_of_its_budget() -> None:
    assert wants_budget(None)
    assert wants_budget({"other": 1})
    assert wants_budget({"budget": True})
    assert not wants_budget({"budget": False})
    assert not wants_budget({"budget": 0})  # as servers read it that know numbers and texts only
    for wrong in ("no", 2, []):
        with pytest.raises(llmask.GrammarError, match="true or false"):
            wants_budget({"budget": wrong})


def test_grammars_without_known_ways_take_none(compiler: llmask.Compiler) -> None:
    assert takes_budget(compiler.regex("a").matcher())
    assert not takes_budget(compiler.regex("a").matcher(stop_tokens=[C]))
    assert not takes_budget(compiler.lark("start: t\nt[max_tokens=3]: /a+/").matcher())


def test_too_few_tokens_are_refused_with_the_least(compiler: llmask.Compiler) -> None:
    matcher = compiler.regex("a{4}").matcher()
    for most in (None, 1, 5, 6):
        check_room(matcher, most, "max_tokens")
    for most in (2, 4):
        with pytest.raises(llmask.BudgetError, match=f"max_tokens is {most}.*takes 5 tokens") as caught:
            check_room(matcher, most, "max_tokens")
        assert caught.value.least == 5


def test_an_end_that_is_forbidden_where_nothing_else_may_come_is_refused(compiler: llmask.Compiler) -> None:
    for pattern, least in (("a{4}", 4), ("a{4}", 0), ("a+", 9), ("a*", 9)):
        check_least_length(compiler.regex(pattern).matcher(), least, "min_tokens")
    with pytest.raises(llmask.GrammarError, match=r"min_tokens is 5.*complete after 4 tokens"):
        check_least_length(compiler.regex("a{4}").matcher(), 5, "min_tokens")
