"""Drawings of documents, with and without colours."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import llmask
from llmask.cli.sampling import Step
from llmask.cli.show import draw_steps

STEPS = [Step(ord("a"), 5), Step(ord("\n"), 12), Step(0xC3, 1), Step(256, 2)]


def test_tokens_stand_in_brackets_without_colours(byte_tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert draw_steps(byte_tokenizer, STEPS) == "[a]5 [␊]12 [\\xc3]1 [<end>]2"


def test_neighbouring_tokens_have_different_colours(byte_tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    pieces = draw_steps(byte_tokenizer, STEPS).split(" ")
    assert pieces[0] == "\x1b[30;46ma\x1b[0m\x1b[2m5\x1b[0m"
    backgrounds = [piece.partition("m")[0] for piece in pieces]
    assert all(left != right for left, right in itertools.pairwise(backgrounds))


def test_special_tokens_are_drawn_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    tokenizer = llmask.Tokenizer.from_bytes([b"a", b"<call>", b"<eos>"], eos=2, special=[1])
    assert draw_steps(tokenizer, [Step(1, 1), Step(0, 2), Step(2, 1)]) == "[<call>]1 [a]2 [<end>]1"
