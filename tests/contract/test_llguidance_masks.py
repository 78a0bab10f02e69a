"""Masks agree with llguidance, bit by bit, but for causes that are predicates in `tests/long/llguidance_masks.py`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import EFFORT
from tests.long.llguidance_masks import as_declared, compare

DRAFT_4 = "http://json-schema.org/draft-04/schema#"


def test_every_differing_bit_has_a_cause(shared_dir: Path, costly: Callable[[int], int]) -> None:
    pytest.importorskip("llguidance", reason="llguidance is the judge here: pip install '.[test]'")
    pytest.importorskip("tiktoken", reason="documents are tokenized by tiktoken: pip install '.[test]'")
    n_wanted = costly(125)
    found, n_schemas = compare(n_wanted)
    sys.stdout.write(found.summary(n_schemas) + "\n")
    assert n_schemas == n_wanted or EFFORT > 1, "the corpus has too few schemas that both accept"
    assert found.unexplained == []
    assert found.n_identical + found.n_only_solidus > 0.7 * found.n_positions


def test_what_its_draft_ignores_goes_from_a_schema() -> None:
    schema = {
        "$schema": DRAFT_4,
        "properties": {"a": {"$ref": "#/definitions/a", "minimum": 3}, "const": {"const": 2, "type": "integer"}},
        "definitions": {"a": {}},
    }
    properties = {"a": {"$ref": "#/definitions/a"}, "const": {"type": "integer"}}
    assert as_declared({**schema, "const": 1}) == {**schema, "properties": properties}
    for extra in ({}, {"$schema": "https://json-schema.org/draft/2020-12/schema"}):
        newer = {"$ref": "#/$defs/a", "const": 1, "$defs": {"a": {}}, **extra}
        assert as_declared(newer) is newer
