"""The grammar of a request of SGLang, without SGLang: its state and its masks, in NumPy."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from llmask import Compiler, Limits, Tokenizer, allocate_bitmask
from llmask.errors import LimitExceeded, LlmaskError
from llmask.integrations.sglang.grammar import RequestGrammar, filter_tokens, within_tokens
from llmask.matching.matcher import Matcher

EOS = 256


def made(pattern: str, tokenizer: Any, limits: Limits | None = None) -> RequestGrammar:
    return RequestGrammar(Compiler(tokenizer, limits=limits).regex(pattern), "regex", pattern)


def allowed(grammar: RequestGrammar) -> set[int]:
    mask: Any = allocate_bitmask(2, grammar.grammar.tokenizer.vocab_size)
    grammar.fill_vocab_mask(mask, 1)
    assert (mask[0] == -1).all()
    return set(np.flatnonzero(np.unpackbits(mask[1].view(np.uint8), bitorder="little")).tolist())


def test_tokens_move_it_and_are_taken_back_across_the_end(byte_tokenizer: Any) -> None:
    grammar = made("ab?", byte_tokenizer)
    assert allowed(grammar) == {ord("a")}
    for token, after in ((ord("a"), {ord("b"), EOS}), (ord("b"), {EOS}), (EOS, {EOS})):
        grammar.accept_token(token)
        assert grammar.current_token == token
        assert allowed(grammar) == after
    assert grammar.is_terminated()
    grammar.rollback(2)
    assert not grammar.is_terminated()
    assert allowed(grammar) == {ord("b"), EOS}


def test_a_refused_token_is_a_value_error_and_changes_nothing(byte_tokenizer: Any) -> None:
    grammar = made("ab", byte_tokenizer)
    grammar.accept_token(ord("a"))
    for token in (ord("x"), EOS, -1, 10**30):
        with pytest.raises(ValueError, match="expected"):
            grammar.accept_token(token)
    assert grammar.current_token == ord("a")
    assert allowed(grammar) == {ord("b")}


def test_what_comes_after_the_end_counts_for_rollback(byte_tokenizer: Any) -> None:
    grammar = made("a", byte_tokenizer)
    for token in (ord("a"), EOS, 5, 6):
        grammar.accept_token(token)
    grammar.rollback(2)
    assert grammar.is_terminated()
    grammar.rollback(1)
    assert not grammar.is_terminated()
    assert allowed(grammar) == {EOS}
    for count in (2, -1, 1.5, None):
        with pytest.raises(LlmaskError):
            grammar.rollback(count)  # type: ignore[arg-type]
    assert allowed(grammar) == {EOS}


def test_a_copy_begins_another_text(byte_tokenizer: Any) -> None:
    grammar = made("ab", byte_tokenizer)
    grammar.accept_token(ord("a"))
    copy = grammar.copy()
    assert (copy.kind, copy.source, copy.grammar) == ("regex", "ab", grammar.grammar)
    assert allowed(copy) == {ord("a")}
    assert copy.current_token is None
    copy.accept_token(ord("a"))
    copy.accept_token(ord("b"))
    assert allowed(grammar) == {ord("b")}


def test_where_no_mask_can_be_made_the_text_may_only_end(caplog: pytest.LogCaptureFixture) -> None:
    """No token spells what comes after "a": an error would end SGLang's scheduler, and all that it serves."""
    grammar = made("ab", Tokenizer.from_bytes([b"a", b"c", b""], eos=2))
    grammar.accept_token(0)
    with caplog.at_level(logging.ERROR):
        assert allowed(grammar) == {2}
    assert "no token of the vocabulary" in caplog.text
    assert allowed(grammar) == {2}
    assert len(caplog.records) == 1
    with pytest.raises(ValueError, match="only end"):
        grammar.accept_token(1)
    assert not grammar.is_terminated()
    grammar.accept_token(2)
    assert grammar.is_terminated()
    grammar.rollback(1)
    assert not grammar.is_terminated()
    assert allowed(grammar) == {2}
    grammar.rollback(1)
    assert allowed(grammar) == {0}


def test_where_a_limit_is_met_after_a_token_the_text_may_only_end(
    byte_tokenizer: Any, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SGLang's walk of drafts takes what a mask allowed, and catches nothing."""
    grammar = made("abcd", byte_tokenizer)
    grammar.accept_token(ord("a"))

    def meet_limit(matcher: Matcher, token: int) -> None:
        raise LimitExceeded("the tables are full")

    with monkeypatch.context() as patched:
        patched.setattr(Matcher, "accept_token", meet_limit)
        grammar.accept_token(ord("b"))
    assert "the tables are full" in caplog.text
    assert not grammar.is_terminated()
    assert allowed(grammar) == {EOS}
    with pytest.raises(ValueError, match="only end"):
        grammar.accept_token(ord("c"))
    grammar.accept_token(EOS)
    grammar.accept_token(EOS)
    assert grammar.is_terminated()
    assert grammar.n_tokens == 4
    grammar.rollback(2)
    assert not grammar.is_terminated()
    assert allowed(grammar) == {EOS}
    grammar.rollback(1)
    assert allowed(grammar) == {ord("b")}


def test_one_row_of_a_batch_that_fails_leaves_the_others(byte_tokenizer: Any) -> None:
    tokenizer = Tokenizer.from_bytes([b"a", b"c", b""], eos=2)
    failing = made("ab", tokenizer)
    failing.accept_token(0)
    grammars = [made("c+", tokenizer), failing, *(made("[ac]+", tokenizer) for _ in range(9))]
    entries = [SimpleNamespace(row=2 * row, grammar=grammar) for row, grammar in enumerate(grammars)]
    for n_rows in (2, 11, 11):
        mask: Any = allocate_bitmask(22, 3)
        RequestGrammar.fill_vocab_mask_batched(entries[:n_rows], mask)
        expected = [0b10, 0b100, *[0b11] * 9][:n_rows]
        assert mask[: 2 * n_rows : 2, 0].tolist() == expected
        assert (mask[1::2] == -1).all()


def test_grammars_of_other_kinds_fill_their_rows_themselves(byte_tokenizer: Any) -> None:
    class Other:
        def fill_vocab_mask(self, vocab_mask: Any, idx: int) -> None:
            vocab_mask[idx] = 7

    for n_rows in (2, 12):
        mask: Any = allocate_bitmask(12, 257)
        entries = [SimpleNamespace(row=row, grammar=made("a", byte_tokenizer)) for row in range(1, n_rows)]
        RequestGrammar.fill_vocab_mask_batched([*entries, SimpleNamespace(row=0, grammar=Other())], mask)
        assert (mask[0] == 7).all()
        assert (mask[1:n_rows] == np.array([0, 0, 0, 2, 0, 0, 0, 0, 0])).all()


def test_a_bitmask_of_another_kind_is_an_error(byte_tokenizer: Any) -> None:
    grammar = made("a", byte_tokenizer)
    for mask in (np.zeros((1, 2), np.int32), np.zeros((1, 9), np.float32), None):
        with pytest.raises(LlmaskError):
            grammar.fill_vocab_mask(mask, 0)  # type: ignore[arg-type]
    assert allowed(grammar) == {ord("a")}


def test_a_filter_sets_and_clears_bits() -> None:
    mask: Any = np.full((2, 2), 5, np.int32)
    filter_tokens(mask, [31, 32], 1)
    assert mask.tolist() == [[5, 5], [-(2**31), 1]]
    filter_tokens(mask, [0], 1, is_allowed=False)
    assert mask.tolist() == [[5, 5], [-2, -1]]
    filter_tokens(mask, [0], 1, reset_vocab_mask=False)
    assert mask.tolist() == [[5, 5], [-1, -1]]


def test_it_says_what_it_is(byte_tokenizer: Any) -> None:
    grammar = made("a+", byte_tokenizer)
    grammar.accept_token(ord("a"))
    assert repr(grammar) == "<regex grammar of llmask after b'a': 'a+'>"


A, EOS = ord("a"), 256


class Request:
    """What is read and written of a request."""

    def __init__(self, grammar: Any, most: int | None, least: int = 0, custom: Any = None) -> None:
        self.grammar = grammar
        self.sampling_params = SimpleNamespace(max_new_tokens=most, min_new_tokens=least, custom_params=custom)
        self.output_ids: list[int] = []
        self.error: str | None = None

    def set_finish_with_abort(self, message: str) -> None:
        self.error = message

    def write(self, token: int) -> None:
        self.output_ids.append(token)
        self.grammar.accept_token(token)


def shown(request: Request, **arguments: Any) -> Request:
    """The request after the manager has shown its settings to its grammar."""
    seen: list[Any] = []
    within_tokens(lambda self, req: seen.append(req))(
        SimpleNamespace(server_args=SimpleNamespace(**arguments)), request
    )
    assert seen == [request]
    return request


def test_the_last_token_is_the_end(byte_tokenizer: Any) -> None:
    request = shown(Request(made("a*", byte_tokenizer), 3))
    request.write(A)
    assert allowed(request.grammar) == {A, EOS}
    request.write(A)
    assert allowed(request.grammar) == {EOS}
    request.output_ids.pop()
    request.grammar.rollback(1)
    assert allowed(request.grammar) == {A, EOS}


def test_a_grammar_behind_a_thought_is_found(byte_tokenizer: Any) -> None:
    grammar = made("a*", byte_tokenizer)
    request = shown(Request(SimpleNamespace(grammar=grammar), 4), speculative_num_draft_tokens=None)
    request.output_ids = [1, 2, 3]
    assert allowed(grammar) == {EOS}


def test_grammars_of_others_are_left_alone() -> None:
    for grammar in (None, SimpleNamespace(grammar=None)):
        assert shown(Request(grammar, 1)).error is None


@pytest.mark.parametrize(
    ("pattern", "most", "least", "custom", "message"),
    [
        ("a{5}", 4, 0, None, "max_new_tokens is 4"),
        ("a{5}", 9, 6, None, "min_new_tokens is 6"),
        ("a{5}", 9, 0, {"budget": "x"}, "true or false"),
        ("a{5}", 4, 0, {"budget": False}, None),
        ("a{5}", None, 0, None, None),
        ("a{5}", 6, 5, {"thinking_budget": 3}, None),
    ],
)
def test_numbers_that_leave_no_document_are_refused(
    byte_tokenizer: Any, pattern: str, most: int | None, least: int, custom: Any, message: str | None
) -> None:
    request = shown(Request(made(pattern, byte_tokenizer), most, least, custom))
    assert request.error is None if message is None else message in str(request.error)
