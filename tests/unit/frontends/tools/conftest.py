"""`compiler`: one over a vocabulary of single bytes."""

from __future__ import annotations

from typing import Any

import pytest

import llmask


@pytest.fixture(scope="module")
def compiler(byte_tokenizer: Any) -> llmask.Compiler:
    return llmask.Compiler(byte_tokenizer)
