"""The sampling loop: allowed ids, softmax, the end of a document and a document without end."""

from __future__ import annotations

import random
import re
from collections import Counter
from typing import Any

import numpy as np
import pytest

from llmask import Compiler
from llmask.cli.sampling import allowed_tokens, choose, write_document
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
