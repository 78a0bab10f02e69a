"""Documents written under masks are valid, and from every point of them there is a way to an end."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.generators.crowded import crowded_schema
from tests.generators.judge import Judge
from tests.generators.schemas import random_schema
from tests.long import walks
from tests.long.completion import Completion, DeadEnd
from tests.long.corpora import maskbench
from tests.long.subject import Subject

MOST_REFUSED = 0.12  # of MaskBench's schemas; lower it when the engine refuses fewer


def test_documents_of_real_schemas_are_valid(shared_dir: Path, subject: Subject, costly: Callable[[int], int]) -> None:
    rng = random.Random(20261121)
    entries = rng.sample(maskbench(), costly(30))
    schemas = [(entry.id, entry.schema) for entry in entries]
    known = {entry.id: entry.documents for entry in entries}
    report = walks.run(subject, schemas, 4 * len(schemas), rng, n_probes=2, known=known)
    assert report.faults == []
    refused = sum(n for what, n in report.counts.items() if what.startswith("refused"))
    assert refused <= MOST_REFUSED * len(schemas), report.counts
    assert report.counts["not judged"] <= 0.05 * len(schemas), report.counts
    assert min(report.counts[way] for way in walks.WAYS) > len(schemas)


@pytest.mark.parametrize("draw", [random_schema, crowded_schema])
def test_documents_of_random_schemas_are_valid(
    draw: Callable[[random.Random], object], subject: Subject, costly: Callable[[int], int]
) -> None:
    rng = random.Random(20261121)
    schemas = walks.drawn_schemas(costly(30), rng, draw)
    report = walks.run(subject, schemas, 2 * len(schemas), rng, n_probes=6)
    assert report.faults == []
    counts = report.counts
    assert sum(counts[way] for way in walks.WAYS) > len(schemas) // 3
    assert counts["no end was found"] <= 0.03 * counts["points from which an end was looked for"]


LEVEL = {"type": "object", "additionalProperties": False, "minProperties": 1, "maxProperties": 1}


@pytest.mark.long
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "required": [f"key{n:02}" for n in range(49)]},  # 49 required keys have 49! orders
        {"type": "array", "minItems": 300, "items": {"required": ["a", "b"], "type": "object"}},
        {"type": "array", "uniqueItems": True, "minItems": 30},
        {"type": "object", "patternProperties": {"b$": {}}, "unevaluatedProperties": False, "minProperties": 3},
        {"type": "array", "uniqueItems": True, "minItems": 6, "items": {"type": "string", "pattern": "^(?:ab|c)*$"}},
        {"type": "object", "minProperties": 1, "propertyNames": {"allOf": [{"pattern": text} for text in "abcdf"]}},
        {
            "$ref": "#/$defs/n",
            "$defs": {
                "n": {
                    "anyOf": [
                        {**LEVEL, "required": ["a"], "properties": {"a": {"$ref": "#/$defs/n"}}},
                        {**LEVEL, "required": ["b"], "properties": {"b": {"type": "null"}}},
                    ]
                }
            },
        },
    ],
)
def test_ends_are_found(subject: Subject, schema: dict[str, Any]) -> None:
    ending = Completion(subject.tokenizer).ending(subject.grammar(schema).matcher())
    assert ending is not None
    assert walks.fault(Judge(schema), ending) is None


def test_a_search_finds_an_end_of_what_is_open(subject: Subject) -> None:
    grammar = subject.grammar({"type": "array", "items": {"enum": [10, "ab", [True]]}, "minItems": 1, "maxItems": 3})
    completion = Completion(subject.tokenizer)
    for text, ending in ((b'[10,"a', b'b"]'), (b"[1", b"0]"), (b'["ab",10,[tr', b"ue]]")):
        matcher = grammar.matcher()
        matcher.accept_bytes(text)
        assert completion.searched(matcher) == ending
        assert matcher.text() == text


def test_an_empty_mask_and_a_prefix_without_an_end_are_dead_ends(subject: Subject) -> None:
    matcher = subject.grammar({"enum": ["ab"]}).matcher()
    completion = Completion(subject.tokenizer)
    matcher.fill_bitmask(completion.bitmask)

    class Stuck:
        """A matcher with an empty mask after its first byte."""

        def fill_bitmask(self, bitmask: object) -> None:
            bitmask[:] = 0  # type: ignore[index]

    with pytest.raises(DeadEnd, match="the mask is empty"):
        completion.choices(Stuck())  # type: ignore[arg-type]
    completion.choices = lambda matcher: []  # type: ignore[method-assign]
    with pytest.raises(DeadEnd, match="no document begins with"):
        completion.searched(matcher)


def test_a_fault_is_a_document_that_is_no_json_or_not_valid() -> None:
    judge = Judge({"type": "integer"})
    assert walks.fault(judge, b"12") is None
    assert walks.fault(judge, b"1.5") == "not valid"
    assert str(walks.fault(judge, b"[1")).startswith("no JSON")
    assert str(walks.fault(judge, b'"\xff"')).startswith("no JSON")


@pytest.mark.long
def test_first_bytes_are_chosen_alike(subject: Subject) -> None:
    walker = walks.Walker(subject.tokenizer)
    matcher = subject.grammar({"type": "string"}).matcher()
    matcher.accept_bytes(b'"a')
    allowed, rng = walker.allowed(matcher), random.Random(1)
    chosen = [walker.chosen(allowed, walks.FIRST_BYTE, rng) for _ in range(3000)]
    n_quotes = sum(subject.tokenizer.token_bytes(token)[:1] == b'"' for token in chosen)
    n_first_bytes = len({subject.tokenizer.token_bytes(int(token))[:1] for token in allowed})
    assert 0.5 < n_quotes / (3000 / n_first_bytes) < 2
