"""Random schemas of older drafts are schemas of theirs, with the keywords that 2020-12 has no more."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest

from llmask.frontends.json_schema.reading.keywords import KEYWORDS, SINCE, UNTIL, draft_of
from tests.generators.drafts import DRAFTS, OLDER, older_schema
from tests.generators.judge import Judge
from tests.generators.schemas import keywords_of
from tests.long.differential import check


@pytest.mark.long
def test_they_are_schemas_of_the_draft_that_they_declare(rng: random.Random, scaled: Callable[[int], int]) -> None:
    n_schemas = max(300, scaled(300))
    found: Counter[str] = Counter()
    declared: Counter[str] = Counter()
    for _ in range(n_schemas):
        schema = older_schema(rng)
        check(schema)
        draft = draft_of(schema)
        used = {keyword for keyword in keywords_of(schema) if keyword in KEYWORDS}
        assert [one for one in used if not SINCE.get(one, 0) <= draft <= UNTIL.get(one, draft)] == [], schema
        Judge(schema).is_valid("1")  # every reference leads somewhere
        found.update(used)
        declared[schema["$schema"]] += 1
    assert [keyword for keyword in OLDER if found[keyword] < 0.02 * n_schemas] == []
    assert min(declared[draft] for draft in DRAFTS.values()) > n_schemas // 8
