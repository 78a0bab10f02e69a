"""Documents written under masks are valid, and from every point of them there is a way to an end."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.conformance import walks
from bench.conformance.completion import Completion, DeadEnd, place_after
from bench.conformance.subject import Subject
from tests.generators.judge import Judge

MOST_REFUSED = 0.12  # of MaskBench's schemas; lower it when the engine refuses fewer
MOST_FAULTS_OF_DRAWN = 8
TOO_LONG = {"Github_hard---o41192"}  # 49 required keys in any order: the search ends before the object does


def test_documents_of_real_schemas_are_valid(shared_dir: Path, subject: Subject, scaled: Callable[[int], int]) -> None:
    rng = random.Random(20261121)
    schemas = walks.maskbench_schemas()
    if not schemas:
        pytest.skip(f"no shared data at {shared_dir / 'data' / 'maskbench'}")
    schemas = rng.sample(schemas, scaled(120))
    report = walks.run(subject, schemas, 4 * len(schemas), rng)
    spent = [fault for fault in report.faults if fault["fault"] == "bound spent" and fault["schema"] in TOO_LONG]
    assert [fault for fault in report.faults if fault not in spent] == []
    refused = sum(n for what, n in report.counts.items() if what.startswith("refused"))
    assert refused <= MOST_REFUSED * len(schemas), report.counts
    assert report.counts["bound spent"] == len(spent)
    assert report.counts["not judged"] <= 0.05 * report.counts["endings on the way"], report.counts
    assert min(report.counts[way] for way in walks.WAYS) > len(schemas)


def test_documents_of_random_schemas_are_valid(subject: Subject, scaled: Callable[[int], int]) -> None:
    rng = random.Random(20261121)
    schemas = walks.drawn_schemas(scaled(250), rng)
    report = walks.run(subject, schemas, 2 * len(schemas), rng)
    assert len(report.faults) <= MOST_FAULTS_OF_DRAWN, report.faults
    assert report.counts["dead end"] == report.counts["bound spent"] == 0
    assert sum(report.counts[way] for way in walks.WAYS) > len(schemas) // 3


def test_the_search_closes_what_is_open(subject: Subject) -> None:
    grammar = subject.grammar({"type": "object", "properties": {"a": {"type": "array"}}, "required": ["a"]})
    completion = Completion(subject.tokenizer)
    for text, ending in ((b'{"a": [1, {"b": "x', b'"}]}'), (b'{"a": [-', b"0]}"), (b"", b'{"a":[]}')):
        matcher = grammar.matcher()
        if text:
            matcher.accept_bytes(text)
        assert completion.ending(matcher).ending == ending
        assert matcher.text() == text


def test_a_preference_that_nests_for_ever_is_left(subject: Subject) -> None:
    # "a" comes before "b" in the order of preference, and opens one more level each time.
    level = {"type": "object", "additionalProperties": False, "minProperties": 1, "maxProperties": 1}
    schema = {"$ref": "#/$defs/n", "$defs": {"n": {
        "anyOf": [
            {**level, "required": ["a"], "properties": {"a": {"$ref": "#/$defs/n"}}},
            {**level, "required": ["b"], "properties": {"b": {"type": "null"}}},
        ]
    }}}  # fmt: skip
    found = Completion(subject.tokenizer).ending(subject.grammar(schema).matcher())
    assert found.n_steps < 100
    assert found.ending is not None
    assert found.ending.endswith(b'{"b":null' + b"}" * found.ending.count(b"{"))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "patternProperties": {"b$": {}}, "unevaluatedProperties": False, "minProperties": 3},
        {"type": "object", "required": ["a"], "properties": {"a": {"type": "object", "minProperties": 4}}},
        {"type": "array", "uniqueItems": True, "minItems": 6, "items": {"type": "string", "pattern": "^(?:ab|c)*$"}},
        {"type": "object", "minProperties": 1, "propertyNames": {"allOf": [{"pattern": text} for text in "abcdf"]}},
    ],
)
def test_an_end_is_found_although_texts_are_recorded(subject: Subject, schema: dict[str, object]) -> None:
    found = Completion(subject.tokenizer).ending(subject.grammar(schema).matcher(), walks.required_names(schema))
    assert found.ending is not None
    assert walks.fault(Judge(schema), found.ending) is None


def test_an_empty_mask_and_a_prefix_without_an_end_are_dead_ends(subject: Subject) -> None:
    matcher = subject.grammar({"enum": ["ab"]}).matcher()
    completion = Completion(subject.tokenizer)
    matcher.fill_bitmask(completion.bitmask)

    class Stuck:
        """A matcher with an empty mask after its first byte."""

        def fill_bitmask(self, bitmask: object) -> None:
            bitmask[:] = 0  # type: ignore[index]

    with pytest.raises(DeadEnd, match="the mask is empty"):
        completion.choices(Stuck(), True)  # type: ignore[arg-type]
    completion.choices = lambda matcher, inside: []  # type: ignore[method-assign]
    with pytest.raises(DeadEnd, match="no document begins with"):
        completion.ending(matcher)


def test_a_fault_is_a_document_that_is_no_json_or_not_valid() -> None:
    judge = Judge({"type": "integer"})
    assert walks.fault(judge, b"12") is None
    assert walks.fault(judge, b"1.5") == "not valid"
    assert str(walks.fault(judge, b"[1")).startswith("no JSON")
    assert str(walks.fault(judge, b'"\xff"')).startswith("no JSON")


def test_first_bytes_are_chosen_alike(subject: Subject) -> None:
    walker = walks.Walker(subject.tokenizer)
    matcher = subject.grammar({"type": "string"}).matcher()
    matcher.accept_bytes(b'"a')
    allowed, rng = walker.allowed(matcher), random.Random(1)
    chosen = [walker.chosen(allowed, walks.FIRST_BYTE, rng) for _ in range(3000)]
    n_quotes = sum(subject.tokenizer.token_bytes(token)[:1] == b'"' for token in chosen)
    n_first_bytes = len({subject.tokenizer.token_bytes(int(token))[:1] for token in allowed})
    assert 0.5 < n_quotes / (3000 / n_first_bytes) < 2


@pytest.mark.parametrize(
    ("text", "place"), [(b"", 0), (b'{"a', 1), (b'{"a"', 0), (b'"\\', 2), (b'"\\"', 1), (b'"\\\\"', 0)]
)
def test_quotes_tell_whether_a_text_ends_in_a_string(text: bytes, place: int) -> None:
    assert place_after(text) == place
    assert place_after(text[1:], place_after(text[:1])) == place
