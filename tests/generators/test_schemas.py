"""Random schemas are schemas, their instances are what they claim, and shrinking keeps what it is told to keep."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest

from tests.generators.instances import Drawer, mutated
from tests.generators.judge import Judge, identity, read
from tests.generators.schemas import VOCABULARY, keywords_of, random_schema, random_value
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


def test_the_same_seed_draws_the_same() -> None:
    one, two = (random_schema(random.Random(5)) for _ in range(2))
    assert one == two
    assert one != random_schema(random.Random(6))


def test_half_of_the_drawn_instances_are_valid(rng: random.Random, scaled: Callable[[int], int]) -> None:
    n_valid = n_drawn = 0
    for _ in range(scaled(120)):
        schema = random_schema(rng)
        judge, drawer = Judge(schema), Drawer(schema, rng)
        for _ in range(10):
            n_drawn += 1
            n_valid += judge.is_valid(json.dumps(drawer.value()))
    assert n_valid > 0.4 * n_drawn


def is_one_change(one: Any, two: Any) -> bool:
    """Whether one member or item is all that differs; a renamed key is gone here and new there."""
    if isinstance(one, dict) and isinstance(two, dict):
        names = [name for name in {*one, *two} if identity([one.get(name)]) != identity([two.get(name)])]
        return len(names) <= 1 or (len(names) == 2 and len(two) <= len(one))
    if isinstance(one, list) and isinstance(two, list) and one and two:
        if len(one) == len(two):
            return sum(identity(a) != identity(b) for a, b in zip(one, two, strict=True)) <= 1
        long, short = sorted((one, two), key=len, reverse=True)
        return any(identity(long[:place] + long[place + 1 :]) == identity(short) for place in range(len(long)))
    return True


def test_a_mutation_is_one_change(rng: random.Random) -> None:
    n_same = 0
    for _ in range(2000):
        value = random_value(rng)
        other = mutated(rng, value)
        assert is_one_change(value, other), (value, other)
        n_same += identity(value) == identity(other)
    assert n_same < 200


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
