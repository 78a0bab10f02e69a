"""Random schemas are schemas, their instances are what they claim, and shrinking keeps what it is told to keep."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest

from tests.generators.instances import Drawer
from tests.generators.judge import Judge, read
from tests.generators.schemas import VOCABULARY, keywords_of, random_schema
from tests.generators.shrink import reductions, shrink


@pytest.mark.long
def test_random_schemas_are_schemas_with_all_keywords(rng: random.Random, scaled: Callable[[int], int]) -> None:
    n_schemas = max(300, scaled(300))
    found: Counter[str] = Counter()
    for _ in range(n_schemas):
        schema = random_schema(rng)
        jsonschema.Draft202012Validator.check_schema(schema)
        found.update(list(keywords_of(schema)))
        Judge(schema).is_valid("1")  # every reference leads somewhere, none to itself
    assert [keyword for keyword in VOCABULARY if found[keyword] < 0.02 * n_schemas] == []


def test_half_of_the_drawn_instances_are_valid(rng: random.Random, scaled: Callable[[int], int]) -> None:
    n_valid = n_drawn = 0
    for _ in range(scaled(120)):
        schema = random_schema(rng)
        judge, drawer = Judge(schema), Drawer(schema, rng)
        for _ in range(10):
            n_drawn += 1
            n_valid += judge.is_valid(json.dumps(drawer.value()))
    assert n_valid > 0.4 * n_drawn


def test_shrinking_keeps_the_difference() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 4}, "b": True}, "required": ["a"]}
    document = {"b": [1, 2], "a": "long enough"}

    def differs(schema: Any, document: Any) -> bool:
        text = json.dumps(document)
        return isinstance(schema, dict) and '"maxLength"' in json.dumps(schema) and not Judge(schema).is_valid(text)

    small, least = shrink(schema, document, differs)
    assert differs(small, least)
    assert len(json.dumps(small)) <= len('{"properties": {"a": {"maxLength": 0}}}')
    assert len(json.dumps(least)) <= len('{"a": "l"}')


def test_reductions_are_smaller_and_end() -> None:
    value = {"a": [1, {"b": "xy"}], "c": -2.5}
    for smaller in reductions(value):
        assert len(json.dumps(smaller)) <= len(json.dumps(value)), smaller
        assert read(json.dumps(smaller)) is not None
    assert list(reductions(0)) == list(reductions("")) == list(reductions([])) == []
