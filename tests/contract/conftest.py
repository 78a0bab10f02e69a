"""What the contracts of several frameworks begin with: a tokenizer of transformers, and a grammar of SCHEMA."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.tiny_models import SCHEMA, make_hf_tokenizer


@pytest.fixture(scope="module")
def hf_tokenizer() -> Any:
    return make_hf_tokenizer()


@pytest.fixture(scope="module")
def grammar(compiler: Any) -> Any:
    return compiler.json_schema(SCHEMA, whitespace="compact")
