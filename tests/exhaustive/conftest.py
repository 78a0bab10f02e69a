"""`tokenizer`: the tokens of small worlds."""

from __future__ import annotations

import pytest

import llmask
from tests.exhaustive.worlds import EOS, SPECIAL, TOKENS


@pytest.fixture(scope="module")
def tokenizer() -> llmask.Tokenizer:
    return llmask.Tokenizer.from_bytes(TOKENS, eos=EOS, special=SPECIAL)
