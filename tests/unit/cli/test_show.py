"""Drawings of documents, with and without colours."""

from __future__ import annotations

import io
import itertools
from typing import Any

import pytest

import llmask
from llmask.cli import main
from llmask.cli.sampling import Step
from llmask.cli.show import draw_steps, has_colours

STEPS = [Step(ord("a"), 5), Step(ord("\n"), 12), Step(0xC3, 1), Step(256, 2)]


def test_tokens_stand_in_brackets_without_colours(byte_tokenizer: Any) -> None:
    assert draw_steps(byte_tokenizer, STEPS, is_coloured=False) == "[a]5 [␊]12 [\\xc3]1 [<end>]2"


@pytest.mark.parametrize(("is_terminal", "asked"), [(True, None), (True, ""), (True, "1"), (False, None), (False, "1")])
def test_only_terminals_get_colours(is_terminal: bool, asked: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    if asked is not None:
        monkeypatch.setenv("NO_COLOR", asked)
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: is_terminal)
    assert has_colours(stream) is (is_terminal and not asked)


def test_what_is_shown_in_a_pipe_has_no_escapes(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "--regex", "ab", "--show"]) == 0
    captured = capfd.readouterr()
    assert captured.out == "ab\n"
    assert captured.err.startswith("[a")
    assert "\x1b" not in captured.err


def test_neighbouring_tokens_have_different_colours(byte_tokenizer: Any) -> None:
    pieces = draw_steps(byte_tokenizer, STEPS, is_coloured=True).split(" ")
    assert pieces[0] == "\x1b[30;46ma\x1b[0m\x1b[2m5\x1b[0m"
    backgrounds = [piece.partition("m")[0] for piece in pieces]
    assert all(left != right for left, right in itertools.pairwise(backgrounds))


def test_special_tokens_are_drawn_by_name() -> None:
    tokenizer = llmask.Tokenizer.from_bytes([b"a", b"<call>", b"<eos>"], eos=2, special=[1])
    assert draw_steps(tokenizer, [Step(1, 1), Step(0, 2), Step(2, 1)], is_coloured=False) == "[<call>]1 [a]2 [<end>]1"
