"""Models that need no download: what they prefer, and that their documents end."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from llmask import Compiler
from llmask.cli.endings import Endings
from llmask.cli.sampling import write_document
from llmask.cli.text_models import NeutralSource, NgramSource

# Nothing limits its strings, numbers, arrays or depth.
ENDLESS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "mail": {"type": "string", "format": "email"},
        "number": {"type": "number"},
        "list": {"type": "array", "items": {"type": "integer"}},
        "children": {"type": "array", "items": {"$ref": "#"}},
    },
    "required": ["text", "mail", "number", "list", "children"],
    "additionalProperties": False,
}


def test_first_bytes_are_equally_likely_in_a_foreign_vocabulary(tiny_tokenizer: Any) -> None:
    source = NeutralSource(Endings(tiny_tokenizer, False, 1000))
    tokens = [token for token in range(tiny_tokenizer.vocab_size) if tiny_tokenizer.token_bytes(token)[:1] in b"ntx"]
    allowed = np.array([token for token in tokens if tiny_tokenizer.token_bytes(token)], np.int64)
    weights = np.exp(source.logits([], allowed))
    by_byte = dict.fromkeys("ntx", 0.0)
    for token, weight in zip(allowed.tolist(), weights.tolist(), strict=True):
        by_byte[tiny_tokenizer.token_bytes(token)[:1].decode()] += weight
    assert by_byte == pytest.approx({"n": 1, "t": 1, "x": 1})


def documents(tokenizer: Any, source: Any, n_documents: int) -> list[Any]:
    grammar = Compiler(tokenizer).json_schema(ENDLESS)
    written = []
    for seed in range(n_documents):
        steps = write_document(grammar, source, np.random.default_rng(seed), 1.0, 1000, lambda text: None)
        text = tokenizer.decode_bytes([step.token for step in steps[:-1]])
        assert b"\n" not in text
        written.append(json.loads(text))
    return written


@pytest.mark.long
def test_neutral_documents_end_though_the_schema_limits_nothing(default_tokenizer: Any) -> None:
    written = documents(default_tokenizer, NeutralSource(Endings(default_tokenizer, True, 1000)), 20)
    assert len({json.dumps(document) for document in written}) == 20


@pytest.mark.long
def test_documents_of_the_ngram_model_end_though_the_schema_limits_nothing(default_tokenizer: Any) -> None:
    from llmask.defaults import NgramModel

    source = NgramSource(NgramModel.load_default(), Endings(default_tokenizer, True, 1000))
    assert len({json.dumps(document) for document in documents(default_tokenizer, source, 20)}) == 20
