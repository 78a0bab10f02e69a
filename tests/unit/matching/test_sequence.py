"""Whatever a sequence is doing when an interrupt comes, it is then done as a whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import llmask
from tests.unit.interrupted import interrupted

DOCUMENT = b'{"a": [12, "abc"'
DONE: dict[str, Callable[[Any], Any]] = {
    "accept_token": lambda matcher: matcher.accept_token(matcher.grammar.tokenizer.encode(",")[0]),
    "accept_bytes": lambda matcher: matcher.accept_bytes(b", 1"),
    "accept_tokens": lambda matcher: matcher.accept_tokens(matcher.grammar.tokenizer.encode(", 1]")),
    "validate_tokens": lambda matcher: matcher.validate_tokens(matcher.grammar.tokenizer.encode(", 1]}}")),
    "rollback": lambda matcher: matcher.rollback(2),
    "reset": lambda matcher: matcher.reset(),
}


def shown(matcher: llmask.Matcher) -> tuple[Any, ...]:
    bitmask = llmask.allocate_bitmask(1, matcher.grammar.tokenizer.vocab_size)
    matcher.fill_bitmask(bitmask)
    return matcher.tokens, matcher.text(), bitmask.tobytes(), matcher.is_accepting()


@pytest.fixture(scope="module", params=["plain", "prefixed", "max_tokens", "canonical", "stopping", "thinking"])
def begun(request: pytest.FixtureRequest, default_tokenizer: llmask.Tokenizer) -> llmask.Matcher:
    """Matchers of every kind in the middle of a document, of tokens and of bytes."""
    compiler = llmask.Compiler(default_tokenizer, canonical=request.param == "canonical")
    text = DOCUMENT
    if request.param == "max_tokens":
        matcher = compiler.lark("start: /[^é]*/ word\nword[max_tokens=30]: /é.*/").matcher()
        text = b"\xc3\xa9" + DOCUMENT
    elif request.param == "prefixed":
        matcher = compiler.json_object().matcher(prefix=b'{"a": [12, "abc", 1]')
    elif request.param == "thinking":
        matcher = llmask.Reasoning(compiler.json_object(), [5]).matcher(prefix=b'{"a": [12, "abc", 1]', stop_tokens=[7])
        matcher.accept_tokens([3, 5])
    else:
        stops = [7] if request.param == "stopping" else None
        matcher = compiler.json_object().matcher(stop_tokens=stops)
    matcher.accept_tokens(default_tokenizer.encode(text[:-4].decode()))
    matcher.accept_bytes(text[-4:])
    return matcher


@pytest.mark.long
@pytest.mark.parametrize("name", DONE)
def test_an_interrupt_anywhere_leaves_the_state_before_or_the_state_after(begun: llmask.Matcher, name: str) -> None:
    """After Ctrl+C in `accept_token` the matcher had the new tokens and the old mask, or the reverse."""
    after = begun.fork()
    DONE[name](after)
    wanted = [shown(begun), shown(after)]
    n_left = 0
    for matcher in interrupted(begun.fork, DONE[name]):
        n_left += 1
        assert shown(matcher) in wanted
        matcher.rollback(len(matcher.tokens) - len(begun.tokens) + 1 if len(matcher.tokens) >= len(begun.tokens) else 0)
        assert len(matcher.tokens) < len(begun.tokens)
    assert n_left > 3
