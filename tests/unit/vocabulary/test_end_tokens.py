"""Which tokens end a sequence, by declaration and by name."""

from __future__ import annotations

from llmask.vocabulary.end_tokens import CONTROL_END_NAMES, END_NAMES, find_end_ids
from llmask.vocabulary.vocabulary import TokenType


def find(tokens: list[bytes], declared: list[int] = (), kind: TokenType = TokenType.CONTROL) -> tuple[int, ...]:
    return find_end_ids(declared, lambda text: tokens.index(text) if text in tokens else -1, lambda token: kind)


def test_declared_ids_come_first_and_once():
    assert find([b"a", b"<|eot_id|>", b"b"], [2, 1]) == (2, 1)


def test_every_well_known_name_is_found():
    for name in END_NAMES:
        assert find([b"a", name], kind=TokenType.NORMAL) == (1,)
    for name in CONTROL_END_NAMES:
        assert find([b"a", name]) == (1,)
        assert find([b"a", name], kind=TokenType.USER_DEFINED) == ()


def test_end_of_message_does_not_end_a_gpt_oss_turn():
    assert find([b"<|end|>", b"<|call|>", b"<|return|>"]) == (2, 1)
    assert find([b"<|end|>", b"<|call|>"]) == (0, 1)
