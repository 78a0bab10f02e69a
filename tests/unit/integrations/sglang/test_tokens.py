"""The number of tokens of a request of SGLang, with stand-ins for its manager and requests."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from llmask import Compiler, allocate_bitmask
from llmask.integrations.sglang.grammar import RequestGrammar
from llmask.integrations.sglang.tokens import within_tokens

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


def made(pattern: str, tokenizer: Any) -> RequestGrammar:
    return RequestGrammar(Compiler(tokenizer).regex(pattern), "regex", pattern)


def allowed(grammar: RequestGrammar) -> set[int]:
    mask: Any = allocate_bitmask(1, grammar.grammar.tokenizer.vocab_size)
    grammar.fill_vocab_mask(mask, 0)
    return {token for token in (A, EOS) if mask[0, token // 32] >> (token % 32) & 1}


def test_the_last_token_is_the_end(byte_tokenizer: Any) -> None:
    request = shown(Request(made("a*", byte_tokenizer), 3))
    request.write(A)
    assert allowed(request.grammar) == {A, EOS}
    request.write(A)
    assert allowed(request.grammar) == {EOS}
    request.output_ids.pop()
    request.grammar.rollback(1)
    assert allowed(request.grammar) == {A, EOS}


def test_a_jump_over_certain_text_counts(byte_tokenizer: Any) -> None:
    request = shown(Request(made("a*", byte_tokenizer), 4))
    request.write(A)
    request.output_ids = [A, A, A]
    request.grammar.jump_and_retokenize([A], [A, A, A], -1)
    assert allowed(request.grammar) == {EOS}


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
