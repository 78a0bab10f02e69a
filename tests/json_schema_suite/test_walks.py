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
from tests.long.subject import Refused, Subject

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
    assert counts["of them, the end is the shortest"] > 0.6 * counts["points from which an end was looked for"]


def shortest(completion: Completion, grammar: Any, most: int) -> int | None:
    """Bytes of the shortest document, one length after the other; None where too many configurations are reached."""
    layer, length = {0: grammar.matcher()}, 0
    while not any(matcher.is_accepting() for matcher in layer.values()):
        if length == most or len(layer) > 300:
            return None
        after = {}
        for matcher in layer.values():
            for byte in completion.choices(matcher):
                following = matcher.fork()
                following.accept_bytes(bytes([byte]))
                after[following._sequence.configuration] = following
        layer, length = after, length + 1
    return length


def test_what_is_said_to_be_the_shortest_end_is(subject: Subject, costly: Callable[[int], int]) -> None:
    """Beside a search without bounds."""
    rng = random.Random(20261122)
    completion = Completion(subject.tokenizer)
    n_compared = 0
    for name, schema in walks.drawn_schemas(costly(25), rng) + walks.drawn_schemas(costly(8), rng, crowded_schema):
        try:
            grammar = subject.grammar(schema, unique_keys=False)
        except Refused:
            continue
        if grammar is None:
            continue
        ending, _, is_shortest = completion.ending(grammar.matcher())
        assert ending is not None, name
        length = shortest(completion, grammar, 12) if is_shortest else None
        if length is not None:
            n_compared += 1
            assert length == len(ending), (name, ending)
    assert n_compared > costly(7)


@pytest.mark.parametrize(
    ("schema", "length"),
    [
        ({"type": "object", "required": [f"key{n:02}" for n in range(49)]}, 49 * 10 + 1),
        ({"type": "array", "minItems": 300, "items": {"required": ["a", "b"], "type": "object"}}, 300 * 14 + 1),
        ({"type": "string", "minLength": 2000}, 2002),
        pytest.param(
            {"type": "object", "minProperties": 40, "propertyNames": {"pattern": "^a"}}, None, marks=pytest.mark.slow
        ),
        ({"type": "array", "uniqueItems": True, "minItems": 30}, None),
    ],
)
def test_long_ends_are_found(subject: Subject, schema: dict[str, Any], length: int | None) -> None:
    """49 required keys have 49! orders: too many for a search that does not know what is missing."""
    found = Completion(subject.tokenizer).ending(subject.grammar(schema).matcher())
    assert found.ending is not None
    assert walks.fault(Judge(schema), found.ending) is None
    if length is not None:
        assert (len(found.ending), found.is_shortest) == (length, True)


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


@pytest.mark.long
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
    found = Completion(subject.tokenizer).ending(subject.grammar(schema).matcher())
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
        completion.choices(Stuck())  # type: ignore[arg-type]
    completion.choices = lambda matcher: []  # type: ignore[method-assign]
    with pytest.raises(DeadEnd, match="no document begins with"):
        completion.ending(matcher)


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
