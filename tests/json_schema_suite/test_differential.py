"""Random schemas of every keyword beside `jsonschema`: few refusals, no difference, input that is worth it."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.generators.drafts import OLDER, older_schema
from tests.generators.judge import Judge
from tests.generators.schemas import VOCABULARY
from tests.long.differential import (
    ANY,
    DRAWN,
    FALSE,
    FRACTION,
    MUTATED,
    OF_CORPUS,
    REJECTED,
    Comparison,
    Corpus,
    text_of,
)
from tests.long.subject import Subject

SEED = 20261121
N_PAIRS = 4000
MOST_REFUSED = 0.56  # share of the schemas; lower it when the engine refuses fewer
MOST_DIFFERENCES = {FALSE: 10, FRACTION: 2, REJECTED: 0, "written and not valid": 2, "dead end": 0}


def test_random_pairs_agree_with_jsonschema(subject: Subject, costly: Callable[[int], int]) -> None:
    n_pairs = costly(N_PAIRS)
    counts = Comparison(subject, SEED, n_walks=5).run(n_pairs)
    text = text_of(counts)
    pairs, schemas = counts.pairs, counts.schemas
    assert sum(pairs[kind] for kind in (DRAWN, MUTATED, ANY)) == pairs["all"] == pairs["valid"] + pairs["invalid"]
    assert pairs["valid"] >= 0.3 * n_pairs, text
    assert pairs[MUTATED] >= 0.3 * n_pairs, text
    assert pairs["invalid"] >= 0.15 * n_pairs, text
    assert schemas["not judged"] + pairs["limit reached"] <= 0.01 * schemas["all"], text
    rare = [keyword for keyword in VOCABULARY if counts.keywords[keyword] < 0.02 * schemas["all"]]
    assert not rare, text
    assert schemas["refused"] <= MOST_REFUSED * schemas["all"], text
    for what, most in MOST_DIFFERENCES.items():
        found = [entry for entry in counts.differences if entry["what"] == what]
        assert len(found) <= most * max(1, n_pairs // N_PAIRS), text


@pytest.mark.long
def test_random_pairs_of_older_drafts_agree_with_jsonschema(subject: Subject, scaled: Callable[[int], int]) -> None:
    n_pairs = scaled(2000)
    counts = Comparison(subject, SEED, n_walks=5, draw=older_schema).run(n_pairs)
    text = text_of(counts)
    assert counts.differences == [], text
    assert counts.pairs["valid"] >= 0.3 * n_pairs, text
    assert counts.pairs["invalid"] >= 0.15 * n_pairs, text
    assert counts.schemas["not judged"] + counts.pairs["limit reached"] <= 0.01 * counts.schemas["all"], text
    assert counts.schemas["refused"] <= 0.1 * counts.schemas["all"], text
    rare = [keyword for keyword in OLDER if counts.keywords[keyword] < 0.02 * counts.schemas["all"]]
    assert not rare, text


def test_changed_schemas_of_a_corpus_agree_with_jsonschema(subject: Subject, costly: Callable[[int], int]) -> None:
    counts = Comparison(subject, SEED, n_walks=5, draw=Corpus(SEED)).run(costly(1000))
    assert counts.differences == [], text_of(counts)
    assert counts.pairs[OF_CORPUS] > 0


def test_a_difference_is_found_made_smaller_and_written_so_that_it_repeats(subject: Subject) -> None:
    comparison = Comparison(subject, 1)
    schema = {"type": "object", "properties": {"a": {"maximum": 5}, "b": {"type": "string"}}, "maxProperties": 3}
    grammar = subject.grammar({**schema, "properties": {}})  # a grammar that forgot something
    original, subject_grammar = Subject.grammar, subject.grammar
    assert subject_grammar(schema) is not None
    try:
        Subject.grammar = lambda self, schema, *rest, **options: original(self, _forgetful(schema), *rest, **options)  # type: ignore[method-assign]
        comparison._pair(schema, grammar, MUTATED, {"b": "x", "a": 7}, False)
    finally:
        Subject.grammar = original  # type: ignore[method-assign]
    [difference] = comparison.counts.differences
    assert difference["what"] == FALSE
    assert difference["schema"] == {"properties": {"a": {"maximum": 0}}}
    assert json.loads(difference["document"]) == {"a": 1}
    assert not Judge(difference["schema"]).is_valid(difference["document"])


def _forgetful(schema: object) -> object:
    return {**schema, "properties": {}} if isinstance(schema, dict) and "properties" in schema else schema


def test_items_that_differ_and_do_not_are_no_array(subject: Subject) -> None:
    assert subject.grammar({"uniqueItems": True, "not": {"uniqueItems": True}}) is None
    grammar = subject.grammar({"anyOf": [{"type": "null"}, {"uniqueItems": True, "not": {"uniqueItems": True}}]})
    assert subject.accepts(grammar, "null")
    assert not subject.accepts(grammar, '[0,""]')
