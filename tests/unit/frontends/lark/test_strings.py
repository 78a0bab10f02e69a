"""Strings of grammars, escapes read."""

from __future__ import annotations

import pytest

from llmask.errors import GrammarError
from llmask.frontends.lark.strings import read_string
from llmask.frontends.places import Source, Spot


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("", ""),
        ("plain é日", "plain é日"),
        (r"\\\"\n\r\t\f", '\\"\n\r\t\f'),
        (r"\x41\u00e9\U0001F600", "Aé😀"),
        (r"\ud83d\ude00", "😀"),
        (r"\\n", r"\n"),
    ],
)
def test_escapes(written: str, text: str) -> None:
    assert read_string(written, Spot.nowhere()) == text


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (r"ab\q", r"the escape \q has no meaning"),
        (r"\/", r"\/ is two characters to Lark and one to llguidance"),
        (r"\b", r"\b is two characters to Lark and one to llguidance"),
        (r"\x4", r"the escape \x has no meaning"),
        (r"\ud800", "half a surrogate pair is no text"),
        (r"\U00110000", "this is beyond the last character, U+10FFFF"),
    ],
)
def test_bad_escapes(written: str, message: str) -> None:
    spot = Spot(Source(f'"{written}"'), 0, len(written) + 2)
    with pytest.raises(GrammarError) as caught:
        read_string(written, spot)
    assert caught.value.message == message
    assert caught.value.where is not None
