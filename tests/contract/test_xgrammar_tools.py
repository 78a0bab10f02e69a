"""XGrammar's tool calls of the same families: it takes the calls that are written here."""

from __future__ import annotations

from typing import Any

import pytest

import llmask

from .tool_calls import CALLS, PARAMETERS, XGRAMMAR

xgrammar = pytest.importorskip("xgrammar", reason="xgrammar is not installed")

TOOLS = [{"type": "function", "function": {"name": "weather", "parameters": PARAMETERS}}]
TEXT = "I look it up.\n"
DISTANT = "minimax"  # wants an empty section of reasoning where there is to be none


@pytest.mark.parametrize("model", XGRAMMAR)
def test_xgrammar_takes_the_same_calls(model: str) -> None:
    from xgrammar.testing import _is_grammar_accept_string as accepts

    for choice in ("auto", "required"):
        tag = xgrammar.get_model_structural_tag(XGRAMMAR[model], tools=TOOLS, tool_choice=choice, reasoning=False)
        before = "\n\n" if XGRAMMAR[model] == "deepseek_v3_2" and choice == "required" else ""
        before = "\n</think>\n\n\n\n" + ("\n" if choice == "required" else "") if XGRAMMAR[model] == DISTANT else before
        assert accepts(xgrammar.Grammar.from_structural_tag(tag), before + CALLS[model])


@pytest.mark.parametrize("model", [model for model in XGRAMMAR if model != "gpt-oss"])
def test_its_structural_tags_are_read(byte_tokenizer: Any, model: str) -> None:
    tag = xgrammar.get_model_structural_tag(XGRAMMAR[model], tools=TOOLS, tool_choice="auto", reasoning=True)
    matcher = llmask.Compiler(byte_tokenizer).structural_tag(tag).matcher()
    matcher.accept_bytes(f"I think</think>\n\n{TEXT}".encode() if XGRAMMAR[model] != "llama" else TEXT.encode())
    matcher.accept_bytes(CALLS[model].encode())
    assert matcher.is_accepting()
