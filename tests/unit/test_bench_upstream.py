"""llmask in MaskBench's own harness, against a stub of its `Engine` and what its runner calls."""

from __future__ import annotations

import importlib
import json
import sys
from importlib.metadata import version
from types import ModuleType
from typing import Any

import pytest

import llmask

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")


class StubEngine:
    """What MaskBench's `Engine` is, as far as its runner uses it."""

    tokenizer: Any
    tokenizer_model_id: str

    def __init__(self) -> None:
        self.multi = False

    def get_name(self) -> str:
        return self.get_id()  # type: ignore[attr-defined, no-any-return]

    def get_version(self) -> str:
        return version(self.get_module())  # type: ignore[attr-defined]


@pytest.fixture
def engine(monkeypatch: Any) -> Any:
    """The adapter, after the stub took the place of MaskBench."""
    module = ModuleType("maskbench.engine")
    module.Engine = StubEngine  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "maskbench", ModuleType("maskbench"))
    monkeypatch.setitem(sys.modules, "maskbench.engine", module)
    monkeypatch.delitem(sys.modules, "bench.upstream.llmask_engine", raising=False)
    found = importlib.import_module("bench.upstream.llmask_engine").LlmaskEngine()
    bpe = tokenizers.ByteLevelBPETokenizer()
    bpe.train_from_iterator(['{"name": "Ada", "age": 36}'] * 9, vocab_size=300, special_tokens=["</s>"])
    found.tokenizer = bpe._tokenizer
    found.init()
    return found


def verdict(engine: Any, document: Any) -> bool:
    """Whether a document is accepted, as MaskBench's runner finds it."""
    engine.reset()
    for token in engine.tokenizer.encode(json.dumps(document, ensure_ascii=False), add_special_tokens=False).ids:
        engine.compute_mask()
        if not engine.commit_token(token):
            return False
    return True


def test_the_runner_gets_its_verdicts(engine: Any) -> None:
    schema = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}
    engine.compile_grammar(schema)
    assert verdict(engine, {"age": 36})
    assert not verdict(engine, {"age": "36"})
    assert not verdict(engine, {})
    assert verdict(engine, {"age": 1, "name": "Ada"})


def test_what_does_not_compile_raises(engine: Any) -> None:
    with pytest.raises(llmask.LlmaskError):
        engine.compile_grammar({"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}, "required": ["a"]})


def test_its_names(engine: Any) -> None:
    assert (engine.get_id(), engine.get_name()) == ("llmask", "llmask")
    assert engine.get_version() == llmask.__version__
