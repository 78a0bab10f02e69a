"""Lexer states as the debugger shows them: tuples of what is left, made once, and their transitions spread out."""

from __future__ import annotations

from typing import Any

import pytest

import llmask
from llmask import debug


@pytest.fixture(scope="module")
def grammar(byte_tokenizer: Any) -> Any:
    return llmask.Compiler(byte_tokenizer).lark('start: ("if" | NAME)+\nNAME: /[a-z]+/\n%ignore / /')


def test_a_state_is_what_is_left_of_each_lexeme(grammar: Any) -> None:
    matcher = grammar.matcher()
    matcher.accept_bytes(b"i")
    state = debug.lexer_state(matcher)
    left = {one.lexeme: one.left for one in state.lexemes}
    assert left['"if"'] == '"f"'
    assert set(left) == {'"if"', "NAME"}
    matcher.accept_bytes(b"x")
    assert {one.lexeme for one in debug.lexer_state(matcher).lexemes} == {"NAME"}


def test_the_same_bytes_lead_to_the_same_state(grammar: Any) -> None:
    one, other = grammar.matcher(), grammar.matcher()
    one.accept_bytes(b"if abc if")
    other.accept_bytes(b"zz if")
    assert debug.lexer_state(one) == debug.lexer_state(other)


def test_masks_are_the_same_where_transitions_are_spread_out(byte_tokenizer: Any) -> None:
    """Walks read rows of 256 transitions of a state, steps the entries by class; both lead to one place."""
    grammar = llmask.Compiler(byte_tokenizer).regex("[a-m]{2,30}z|[n-y]+")
    matcher, bitmask = grammar.matcher(), llmask.allocate_bitmask(1, byte_tokenizer.vocab_size)
    for byte in b"abcdefg":
        matcher.fill_bitmask(bitmask)
        for token in range(256):
            allowed = bool(bitmask[0, token >> 5] >> (token & 31) & 1)
            data = byte_tokenizer.token_bytes(token)
            assert allowed == (bool(data) and matcher.validate_tokens([token]) == 1)
        matcher.accept_bytes(bytes([byte]))
