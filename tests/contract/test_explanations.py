"""Explanations of random schemas and documents: never an error, and what refuses is what another validator reports."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

import pytest

from llmask import Compiler, LlmaskError, Tokenizer
from tests.generators.instances import Drawer, mutated
from tests.generators.schemas import random_schema
from tests.long.explanations import errors_of

pytest.importorskip("jsonschema", reason="the judge is not installed: pip install '.[test]'")


@pytest.mark.long
def test_reasons_are_errors_of_another_validator(
    byte_tokenizer: Tokenizer, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    compiler = Compiler(byte_tokenizer)
    n_told, wrong = 0, []
    for _ in range(scaled(50)):
        schema = random_schema(rng)
        try:
            grammar = compiler.json_schema(schema, property_order="any", literals="any")
        except LlmaskError:
            continue
        drawer = Drawer(schema, rng)
        for document in [mutated(rng, drawer.value()) for _ in range(4)]:
            text = json.dumps(document, ensure_ascii=False)
            try:
                found = grammar.explain(text)
                assert found.is_allowed == grammar.accepts(text)
            except LlmaskError:  # the document needs more than a step may take
                continue
            assert str(found)
            reported = errors_of(schema, document)
            if found.is_allowed or not reported or found.note is not None:
                continue
            n_told += 1
            if (found.instance_pointer, found.keyword or None) not in reported:
                wrong.append((schema, document, repr(found), found.instance_pointer, reported))
    assert n_told > scaled(4)
    assert len(wrong) <= n_told // 20, wrong
