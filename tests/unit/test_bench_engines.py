"""Every adapter of the benchmark does what the worker asks of it, so that engines differ and adapters do not."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from bench.data import own_rows
from bench.engines import ADAPTERS, CompileError, adapter, is_installed


def make(name: str, whitespace: str) -> Any:
    if not is_installed(name):
        pytest.skip(f"{name} is not installed: pip install '.[bench]'")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the engines' own imports are theirs to mend
        return adapter(name)(whitespace, "default")


@pytest.mark.parametrize(
    ("name", "whitespace"), [(name, kind) for name in ADAPTERS for kind in adapter(name).kinds_of_whitespace]
)
def test_a_document_is_taken_token_by_token(name: str, whitespace: str) -> None:
    pytest.importorskip("tiktoken", reason="documents are tokenized by tiktoken: pip install '.[test]'")
    engine = make(name, whitespace)
    row = {"flexible": "object-closed", "compact": "object-compact"}[whitespace]
    case = next(found for found in own_rows(whitespace) if found.id == row)
    grammar = engine.compile(case.schema)
    instance = case.instances[0]
    sequence = engine.start(grammar)
    for token in instance.token_ids:
        engine.fill(sequence)
        assert engine.is_allowed(token)
        assert not any(engine.is_allowed(end) for end in engine.eos_ids)
        assert not engine.is_accepting(sequence)
        assert engine.accept(sequence, token)
    engine.fill(sequence)
    assert engine.is_accepting(sequence)
    assert all(engine.is_allowed(end) for end in engine.eos_ids)


@pytest.mark.parametrize("name", ADAPTERS)
def test_trying_a_text_leaves_the_sequence_as_it_is(name: str) -> None:
    engine = make(name, adapter(name).kinds_of_whitespace[-1])
    sequence = engine.start(engine.compile({"enum": ["ab", "ac"]}))
    after = engine.advance(sequence, '"a')
    assert after is not None
    assert engine.advance(after, "d") is None
    end = engine.advance(after, 'b"')
    assert engine.is_accepting(end)
    assert not engine.is_accepting(after)
    assert not engine.is_accepting(sequence)
    assert engine.advance(sequence, '"ac"') is not None


@pytest.mark.parametrize("name", ADAPTERS)
def test_patterns_and_choices_can_be_compiled(name: str) -> None:
    engine = make(name, "flexible")
    for grammar, kind in (("x[0-9]{2}", "regex"), (["x12", "y.*"], "choice")):
        sequence = engine.start(engine.compile(grammar, kind))
        assert engine.is_accepting(engine.advance(sequence, "x12")), kind
        assert engine.advance(sequence, "z") is None, kind


@pytest.mark.parametrize("name", ADAPTERS)
def test_a_schema_that_makes_no_sense_is_refused(name: str) -> None:
    engine = make(name, "flexible")
    with pytest.raises(CompileError):
        engine.compile({"type": "something"})


@pytest.mark.parametrize("name", ADAPTERS)
def test_a_token_that_is_not_allowed_is_refused(name: str) -> None:
    engine = make(name, "flexible")
    sequence = engine.start(engine.compile({"enum": ["ab"]}))
    letter = engine.vocabulary.tokens.index(b"z")
    engine.fill(sequence)
    assert not engine.is_allowed(letter)
    assert not engine.accept(sequence, letter)
