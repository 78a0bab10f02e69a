"""Objects whose keys are asked for, counted and forbidden at once: schemas, and with all of it together."""

from __future__ import annotations

import random
from collections import Counter

import jsonschema
import pytest

from tests.generators.crowded import crowded_schema
from tests.generators.schemas import keywords_of

TOGETHER = ("required", "minProperties", "maxProperties", "dependentRequired")


@pytest.mark.long
def test_they_are_schemas_in_which_the_keywords_meet() -> None:
    rng = random.Random(1)
    found: Counter[str] = Counter()
    for _ in range(400):
        schema = crowded_schema(rng)
        jsonschema.Draft202012Validator.check_schema(schema)
        keywords = keywords_of(schema)
        found.update(list(keywords))
        found["together"] += all(keyword in keywords for keyword in TOGETHER)
    assert found["together"] > 100
    for keyword in (*TOGETHER, "patternProperties", "propertyNames", "additionalProperties", "items", "uniqueItems"):
        assert found[keyword] > 60, keyword
