"""Masks agree with llguidance, bit by bit, but for causes that are predicates in `bench/agreement.py`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import EFFORT


def test_every_differing_bit_has_a_cause(shared_dir: Path, costly: Callable[[int], int]) -> None:
    pytest.importorskip("llguidance", reason="llguidance is the judge here: pip install '.[test]'")
    pytest.importorskip("tiktoken", reason="documents are tokenized by tiktoken: pip install '.[test]'")
    from bench.agreement import compare

    n_wanted = costly(125)
    found, n_schemas = compare(n_wanted)
    sys.stdout.write(found.summary(n_schemas) + "\n")
    assert n_schemas == n_wanted or EFFORT > 1, "the corpus has too few schemas that both accept"
    assert found.unexplained == []
    assert found.n_identical + found.n_only_solidus > 0.7 * found.n_positions
