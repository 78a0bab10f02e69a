"""Listings beside masks that were built without them: searches for an end build masks, too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import llmask
from llmask.kernels.tables.operations import Operation

SCHEMAS = [
    {"type": "object", "properties": {"name": {"type": "string"}, "n": {"type": "integer"}}},
    {"type": "array", "items": {"enum": ["one", "two", "three"]}, "uniqueItems": True},
]
DOCUMENTS = [b'{"name": "two words", "n": 12}', b'["one", "three", "two"]']


@pytest.mark.parametrize(("schema", "document"), list(zip(SCHEMAS, DOCUMENTS, strict=True)))
def test_masks_are_the_same_where_they_were_known_without_listings(
    default_tokenizer: Any, schema: Any, document: bytes
) -> None:
    masks = []
    for is_known in (False, True):
        grammar = llmask.Compiler(default_tokenizer, canonical=True, cache_bytes=0).json_schema(schema)
        matcher, bitmask = grammar.matcher(), llmask.allocate_bitmask(1, default_tokenizer.vocab_size)
        found = []
        for token in default_tokenizer.encode(document.decode()):
            if is_known:
                matcher._sequence.generation.run(Operation.BUILD_MASK, matcher._sequence.configuration)
            matcher.fill_bitmask(bitmask)
            found.append(bitmask.copy())
            matcher.accept_token(token)
        masks.append(np.concatenate(found))
    assert (masks[0] == masks[1]).all()
