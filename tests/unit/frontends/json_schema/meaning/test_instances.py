"""Values against schemas, beside `jsonschema`."""

from __future__ import annotations

import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from llmask.errors import GrammarError, LimitExceeded, UnsupportedSchema
from llmask.frontends.json_schema import SchemaOptions
from llmask.frontends.json_schema.meaning import instances
from llmask.frontends.json_schema.meaning.instances import equality_key, fulfils, type_of
from llmask.frontends.json_schema.writing.translation import Translation
from llmask.work import metered
from tests.unit.frontends.json_schema.random_schemas import random_schema, random_value


def test_random_values_are_judged_as_by_jsonschema(
    judge: Any, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    n_valid = 0
    for _ in range(scaled(300)):
        schema = random_schema(rng)
        translation = Translation(judge.nodes, schema, SchemaOptions())
        for _ in range(5):
            value = random_value(rng)
            try:
                expected = judge.is_valid(schema, value)
                assert fulfils(translation, value, [(schema, ())]) == expected, (schema, value)
                n_valid += expected
            except UnsupportedSchema:
                break
    assert n_valid > 50


@pytest.mark.parametrize(
    ("one", "other", "are_equal"),
    [
        (1, 1.0, True),
        (0, -0.0, True),
        (1, True, False),
        (0, False, False),
        (0.1, Decimal("0.10"), True),
        ("1", 1, False),
        (None, False, False),
        ([1, [2]], [1.0, [2]], True),
        ([1, 2], [2, 1], False),
        ({"a": 1, "b": [None]}, {"b": [None], "a": 1.0}, True),
        ({"a": 1}, {"a": 1, "b": 1}, False),
        (10**40, 10**40 + 1, False),
    ],
)
def test_equality_is_that_of_json(one: Any, other: Any, are_equal: bool) -> None:
    assert (equality_key(one, ()) == equality_key(other, ())) == are_equal


def test_values_whose_parts_are_shared_are_counted_as_often_as_they_are_read() -> None:
    # 16 lists were 2^17 ones, read at every level, until the work of the grammar was spent: 5 s where 0.2 s were given
    value: list[Any] = ["a", {"b": []}]
    for _ in range(16):
        value = [value, value]
    with metered(10_000, "max_compile_work"), pytest.raises(LimitExceeded, match="max_compile_work"):
        equality_key(value, ())


def test_types_of_values() -> None:
    values = [None, True, "a", [], {}, 3, 3.0, 3.5, Decimal("2.0"), Decimal("2.5")]
    kinds = ["null", "boolean", "string", "array", "object", "integer", "integer", "number", "integer", "number"]
    assert [type_of(value, ()) for value in values] == kinds
    with pytest.raises(GrammarError):
        type_of(float("nan"), ())


@pytest.mark.parametrize("n", [100, 200])
@pytest.mark.parametrize("beside", [{"type": ["string", "null"]}, {"minLength": 2}, {"enum": ["v1", None]}], ids=str)
def test_work_on_listed_values_is_linear(
    judge: Any, monkeypatch: pytest.MonkeyPatch, n: int, beside: dict[str, Any]
) -> None:
    """50,000 strings beside a list of types took minutes: each was compared with each."""
    n_calls = 0

    def counted(*arguments: Any) -> Any:
        nonlocal n_calls
        n_calls += 1
        return equality_key(*arguments)

    monkeypatch.setattr(instances, "equality_key", counted)
    schema = {"allOf": [{"enum": [f"v{at}" for at in range(n)]}, beside]}
    Translation(judge.nodes, schema, SchemaOptions()).run()
    assert n <= n_calls <= 4 * n
