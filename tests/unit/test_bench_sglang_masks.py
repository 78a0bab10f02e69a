"""The measurement of masks in SGLang: its document is one of its schema's, and figures stand side by side."""

from __future__ import annotations

from typing import Any

from bench import sglang_masks
from llmask import Compiler


def test_the_document_is_one_of_the_schema(default_tokenizer: Any) -> None:
    matcher = Compiler(default_tokenizer).json_schema(sglang_masks.SCHEMA).matcher()
    matcher.accept_bytes(sglang_masks.DOCUMENT.encode())
    assert matcher.is_accepting()


def test_a_figure_that_is_missing_is_a_dash() -> None:
    text = sglang_masks.table({"llmask": {"a": "1 / 2", "b": "3"}, "other": {"b": "4"}})
    assert text.splitlines()[1:] == ["|---|---:|---:|", "| a | 1 / 2 | - |", "| b | 3 | 4 |"]
    assert text.startswith("| us, batches of 1 / 64 / 256 | llmask | other |")
