"""The suite of adapters, driven over plain matchers: that it stands by itself, and that it finds what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from llmask import Compiler
from llmask.errors import TokenRejected
from tests.contract import conformance


class TestMatchers(conformance.AdapterConformance):
    kind = conformance.MatcherDriver


class Forgetful(conformance.MatcherDriver):
    """Its state is that of the row's number: it takes the last token of each row and nothing back."""

    def _move(self, row: int, tokens: conformance.Row) -> None:
        matcher = self._matchers[row]
        if matcher is not None and tokens:
            matcher.accept_token(tokens[-1])


class Loose(conformance.MatcherDriver):
    """Refuses nothing beyond the vocabulary."""

    def allowed(self, rows: list[conformance.Row]) -> conformance.Allowed:
        allowed = super().allowed(rows)
        allowed[:, self._vocab_size :] = True
        return allowed


class Empty(conformance.MatcherDriver):
    """Leaves nothing after a token that is refused."""

    def allowed(self, rows: list[conformance.Row]) -> conformance.Allowed:
        allowed = super().allowed(rows)
        for row, tokens in enumerate(rows):
            allowed[row] &= self._tokens[row] == tokens
        return allowed


@pytest.mark.parametrize(
    ("kind", "scenario"),
    [
        (Forgetful, "beams_permute_and_repeat_rows"),
        (Forgetful, "prefixes_shrink"),
        (Forgetful, "several_tokens_come_at_once"),
        (Forgetful, "the_end_is_taken_back"),
        (Loose, "logits_beyond_the_vocabulary_are_refused"),
        (Empty, "drafts_are_illegal"),
        (Empty, "drafts_are_padded_with_minus_one"),
    ],
)
def test_an_adapter_that_is_wrong_is_found(kind: Any, scenario: str) -> None:
    compiler: Compiler = conformance.made_compiler()
    conformance.SCENARIOS["rows_grow_token_by_token"](conformance.MatcherDriver(), compiler)
    with pytest.raises((AssertionError, TokenRejected)):
        conformance.SCENARIOS[scenario](kind(), compiler)


def test_layouts_are_views_of_the_same_values() -> None:
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    strides = {
        layout: conformance.laid_out(values, layout).strides for layout in ("contiguous", "every third", "columns")
    }
    assert strides == {"contiguous": (16, 4), "every third": (48, 12), "columns": (4, 12)}
    assert (conformance.laid_out(values, "reversed") == values).all()


def test_scores_that_were_changed_are_seen() -> None:
    scores = conformance.random_scores(2, 5)
    masked = scores.copy()
    masked[0, 3] = -np.inf
    assert np.flatnonzero(~conformance.kept(scores, masked)).tolist() == [3]
    masked[1, 1] += 1
    with pytest.raises(AssertionError):
        conformance.kept(scores, masked)
