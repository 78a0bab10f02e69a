"""Random schemas: what is written under a mask is valid, and what is valid can be written."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Any

import pytest

from llmask.errors import LimitExceeded, UnsatisfiableSchema, UnsupportedSchema
from tests.unit.frontends.json_schema.random_schemas import mutated, random_schema, random_value

# jsonschema reads numbers as binary floats: 53397157275973624128.0 and 9e56 are multiples of 3 only before that
BEYOND_FLOATS = re.compile(rb"\d{15}|\d[eE]")


def has_one_spelling(value: Any) -> bool:
    """Whether a value holds no number such as 1.0, 1e-07 or 1e999, which the grammar may have to write otherwise."""
    if isinstance(value, dict):
        return all(has_one_spelling(member) for member in value.values())
    if isinstance(value, list):
        return all(has_one_spelling(member) for member in value)
    return not isinstance(value, float) or (
        not value.is_integer() and repr(value)[-1].isdigit() and "e" not in repr(value)
    )


def test_random_schemas_and_values(judge: Any, rng: random.Random, scaled: Callable[[int], int]) -> None:
    n_refused = n_valid = n_written = 0
    n_schemas = scaled(400)
    for _ in range(n_schemas):
        schema = random_schema(rng)
        try:
            grammar = judge.grammar(schema)
        except UnsupportedSchema:
            n_refused += 1
            continue
        except UnsatisfiableSchema:
            grammar = None
        values = [random_value(rng) for _ in range(8)]
        if grammar is not None:
            written = [judge.walk(grammar, rng, 400) for _ in range(2)]
            for text in written:
                if text and not BEYOND_FLOATS.search(text):
                    n_written += 1
                    value = json.loads(text)
                    assert judge.is_valid(schema, value), (schema, text)
                    values += [mutated(rng, value) for _ in range(4)]
        for value in values:
            is_valid = judge.is_valid(schema, value)
            n_valid += is_valid
            if not is_valid or has_one_spelling(value):
                accepted = grammar is not None and judge.accepts_in_some_order(grammar, value)
                assert accepted == is_valid, (schema, value)
    assert n_refused < 0.2 * n_schemas
    assert n_valid > n_schemas
    assert n_written > 0.5 * n_schemas


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_combined_random_schemas(judge: Any, keyword: str, rng: random.Random, scaled: Callable[[int], int]) -> None:
    for _ in range(scaled(60)):
        schema = {keyword: [random_schema(rng, 2) for _ in range(2)]}
        for member in schema[keyword]:
            if isinstance(member, dict):
                schema.setdefault("$defs", member.pop("$defs"))
        schema.setdefault("$defs", {"x": True})
        try:
            grammar = judge.grammar(schema)
        except (UnsupportedSchema, UnsatisfiableSchema, LimitExceeded):
            continue
        for _ in range(6):
            value = random_value(rng)
            if has_one_spelling(value) or not judge.is_valid(schema, value):
                assert judge.accepts_in_some_order(grammar, value) == judge.is_valid(schema, value), (schema, value)
