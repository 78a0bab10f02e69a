"""`llmask.generate`: what is judged before a framework is asked; more in tests/contract/test_generation.py."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import llmask
from llmask.errors import LlmaskError

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
