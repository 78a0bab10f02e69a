"""The bench of canonical masks: walks end, and its judges would notice what is wrong."""

from __future__ import annotations

import random
from typing import Any

import pytest

import llmask
from bench.canonical import Walker, run_forced
from bench.data import own_rows


@pytest.mark.long
def test_walks_are_judged() -> None:
    tok = llmask.Tokenizer.default()
    canonical = Walker(tok, 10, 100)
    plain = Walker(tok, 10, 100)
    for seed in range(6):
        canonical.walk(llmask.Compiler(tok, canonical=True).regex("[a-z]{1,6} [0-9]{1,5}"), random.Random(seed))
        plain.walk(llmask.Compiler(tok).regex("[a-z]{1,6} [0-9]{1,5}"), random.Random(seed))
    assert canonical.counts["walks"] == 6
    assert canonical.counts["dead ends"] == canonical.counts["not canonical"] == canonical.counts["unfinished"] == 0
    assert plain.counts["not canonical"] > 0


@pytest.mark.long
def test_walks_without_an_end_are_judged_as_far_as_they_are_certain() -> None:
    tok = llmask.Tokenizer.default()
    canonical, plain = Walker(tok, 10, 12), Walker(tok, 10, 12)
    for seed in range(6):
        canonical.walk(llmask.Compiler(tok, canonical=True).regex("([a-z]{3} ){40}"), random.Random(seed))
        plain.walk(llmask.Compiler(tok).regex("([a-z]{3} ){40}"), random.Random(seed))
    assert canonical.counts["unfinished"] == plain.counts["unfinished"] == 6
    assert canonical.counts["not canonical"] == 0
    assert canonical.counts["tokens of these not judged"] < 12
    assert plain.counts["not canonical"] > 0


def test_forced_tokens_of_our_own_cases(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr("bench.canonical.chosen_rows", lambda limit, seed: own_rows()[:8])
    assert run_forced(llmask.Tokenizer.default(), 8, 1)
    assert "0 not canonical" in capsys.readouterr().out
