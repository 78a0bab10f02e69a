"""The bench's own reader of GGUF files gives what the `gguf` package reads."""

from __future__ import annotations

import pytest
from gguf import GGUFReader

from bench.vocabularies import SOURCES, read_arrays


@pytest.mark.slow
def test_arrays_are_those_of_the_gguf_package() -> None:
    path = SOURCES["default"].path
    fields = GGUFReader(str(path)).fields
    for name in ("tokenizer.ggml.tokens", "tokenizer.ggml.token_type", "tokenizer.ggml.merges"):
        found = [item.decode() if isinstance(item, bytes) else item for item in read_arrays(path)[name]]
        assert found == fields[name].contents()
