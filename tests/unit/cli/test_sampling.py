"""The sampling loop: allowed ids, softmax, the end of a document and a document without end."""

from __future__ import annotations

import io
import itertools
import random
import re
from collections import Counter
from typing import Any

import numpy as np
import pytest

import llmask
from llmask import Compiler
from llmask.cli import main
from llmask.cli.sampling import Step, allowed_tokens, choose, draw_steps, has_colours, write_document
from llmask.errors import BudgetError, LimitExceeded, VocabularyError


class Flat:
    """Every token is equally likely."""

    def begin(self) -> None:
        self.n_documents = getattr(self, "n_documents", 0) + 1

    def logits(self, ids: list[int], allowed: np.ndarray) -> np.ndarray:
        return np.zeros(len(allowed), np.float32)


def test_allowed_tokens_are_the_set_bits(rng: random.Random) -> None:
    chosen = sorted(rng.sample(range(90), 30))
    words = np.zeros(3, np.uint32)
    for token in chosen:
        words[token // 32] |= np.uint32(1 << token % 32)
    assert allowed_tokens(words.view(np.int32), 90).tolist() == chosen
    assert allowed_tokens(words.view(np.int32), 50).tolist() == [token for token in chosen if token < 50]


def test_tokens_are_chosen_by_softmax() -> None:
    rng = np.random.default_rng(1)
    logits = np.log(np.array([1, 2, 5], np.float32))
    counts = Counter(choose(logits, 1.0, rng) for _ in range(8000))
    assert [round(counts[index] / 1000) for index in range(3)] == [1, 2, 5]
    sharper = Counter(choose(logits, 0.5, rng) for _ in range(30000))
    assert [round(sharper[index] / 1000) for index in range(3)] == [1, 4, 25]


def test_refused_logits_are_never_chosen_and_temperature_0_takes_the_largest() -> None:
    rng = np.random.default_rng(1)
    logits = np.array([-np.inf, 1, -np.inf, 2, -np.inf], np.float32)
    assert {choose(logits, 1.0, rng) for _ in range(200)} == {1, 3}
    assert {choose(logits, 0.0, rng) for _ in range(20)} == {3}
    assert {choose(logits, 1e-9, rng) for _ in range(20)} == {3}
    assert {choose(logits, 5e-324, rng) for _ in range(20)} == {3}  # without NumPy's warning of what overflows


def test_a_model_without_logits_for_the_allowed_tokens_is_an_error() -> None:
    with pytest.raises(VocabularyError) as caught:
        choose(np.full(3, -np.inf, np.float32), 1.0, np.random.default_rng(1))
    assert str(caught.value) == (
        "the model has no usable logit for any token that the grammar allows\n"
        "  use the tokenizer that belongs to this model"
    )


def test_documents_match_and_count_what_was_allowed(byte_tokenizer: Any) -> None:
    grammar = Compiler(byte_tokenizer).regex("[0-9]{3}(x|y)")
    source = Flat()
    reports: list[str] = []
    for seed in range(20):
        steps = write_document(grammar, source, np.random.default_rng(seed), 1.0, 9, reports.append)
        text = byte_tokenizer.decode_bytes([step.token for step in steps[:-1]])
        assert re.fullmatch(rb"[0-9]{3}(x|y)", text)
        assert [step.n_allowed for step in steps] == [10, 10, 10, 2, 1]
        assert steps[-1].token == 256
    assert source.n_documents == 20
    assert reports[:4] == ["1 tokens", "2 tokens", "3 tokens", "4 tokens"]


def test_a_document_that_cannot_end_in_time_is_refused_beforehand(byte_tokenizer: Any) -> None:
    grammar = Compiler(byte_tokenizer).regex("a{9}")
    with pytest.raises(BudgetError) as caught:
        write_document(grammar, Flat(), np.random.default_rng(0), 1.0, 9, lambda text: None)
    assert caught.value.least == 10
    assert str(caught.value) == (
        "--max-tokens 9 is too small: the shortest document found takes 10 tokens, the end of sequence included\n"
        "  give at least --max-tokens 10"
    )
    assert len(write_document(grammar, Flat(), np.random.default_rng(0), 1.0, 10, lambda text: None)) == 10


def test_without_a_budget_a_document_that_does_not_end_is_an_error(byte_tokenizer: Any) -> None:
    grammar = Compiler(byte_tokenizer).lark('start: a "b"{9}\na[max_tokens=9]: /a/')
    with pytest.raises(LimitExceeded) as caught:
        write_document(grammar, Flat(), np.random.default_rng(0), 1.0, 9, lambda text: None)
    assert str(caught.value) == (
        "the document is not finished after 9 tokens\n"
        "  at 'abbbbbbbb' (its last characters)\n"
        "  allow more with --max-tokens, or limit strings and arrays in the schema (maxLength, maxItems)"
    )


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
