"""`llmask.generate`: what is judged before a framework is asked; more in tests/contract/test_generation.py."""

from __future__ import annotations

import datetime as dt
import inspect
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import llmask
from llmask.errors import GrammarError, LlmaskError
from llmask.samplers.generation import SCHEMA_OPTIONS

MODEL = SimpleNamespace(generate=None, config=SimpleNamespace())
TOKENIZER = SimpleNamespace(chat_template=None)


def test_callbacks_can_be_called(default_tokenizer: Any) -> None:
    grammar = llmask.Compiler(default_tokenizer).regex("a")
    for name in ("on_value", "on_event"):
        with pytest.raises(LlmaskError, match=f"{name} is called with a number"):
            llmask.generate(MODEL, TOKENIZER, grammar, "x", **{name: "print"})


@pytest.mark.parametrize("processor", [len, SimpleNamespace(), {"a": 1}])
def test_processors_are_a_list(default_tokenizer: Any, processor: Any) -> None:
    grammar = llmask.Compiler(default_tokenizer).regex("a")
    with pytest.raises(LlmaskError) as caught:
        llmask.generate(MODEL, TOKENIZER, grammar, "x", logits_processor=processor)
    assert str(caught.value) == (
        f"logits_processor is a list of processors, not {type(processor).__name__}\n"
        "  put it into a list: logits_processor=[...]; llmask.generate adds its own"
    )


class Llama:
    """A model of llama-cpp-python as far as it is asked: it writes what is allowed, at random."""

    model_path = ""

    def __init__(self, tokenizer: llmask.Tokenizer) -> None:
        self.tokenizer, self.options = tokenizer, {}

    def n_ctx(self) -> int:
        return 2000

    create_chat_completion = None

    def token_bos(self) -> int:
        return 5

    def create_completion(self, prompt: Any, max_tokens: int, logits_processor: Any, **options: Any) -> Any:
        self.options, ids, rng = options, [5, 6], np.random.default_rng(1)
        while ids[-1] not in self.tokenizer.eos_ids:
            scores = rng.normal(size=self.tokenizer.vocab_size).astype(np.single)
            for one in logits_processor:
                scores = one(np.array(ids, np.intc), scores)
            ids.append(int(scores.argmax()))
        return {"choices": [{"finish_reason": "stop"}]}


Llama.__module__ = "llama_cpp"


@pytest.fixture
def llama(default_tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setitem(sys.modules, "llama_cpp", SimpleNamespace(LogitsProcessorList=list))
    return Llama(default_tokenizer)


def test_options_of_schemas_go_to_the_compiler_and_others_to_the_framework(llama: Any) -> None:
    schema = {"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"]}
    written = llmask.generate(llama, llama.tokenizer, schema, "x", max_tokens=60, closed=True, temperature=0.5)
    assert written == {"a": 1}
    assert llama.options == {"temperature": 0.5}
    with pytest.raises(GrammarError, match="the option indent must be"):
        llmask.generate(llama, llama.tokenizer, schema, "x", indent=-1)
    assert set(SCHEMA_OPTIONS) == set(inspect.signature(llmask.Compiler.json_schema).parameters) - {"self", "schema"}


def test_a_type_gives_values_of_it_whoever_reads_it(llama: Any) -> None:
    pydantic = pytest.importorskip("pydantic", minversion="2")
    msgspec = pytest.importorskip("msgspec", reason="msgspec is not installed")
    attrs = pytest.importorskip("attrs", reason="attrs is not installed")
    fields = {"day": dt.date, "ok": bool}
    made = attrs.make_class("Made", {name: attrs.field(type=kind) for name, kind in fields.items()})
    for source in (pydantic.create_model("Model", **fields), msgspec.defstruct("Struct", [*fields.items()]), made):
        value = llmask.generate(llama, llama.tokenizer, source, "x", max_tokens=60, whitespace="compact")
        assert type(value) is source
        assert type(value.day) is dt.date
