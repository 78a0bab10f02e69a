"""The profile of first documents (bench/misses.py): kinds of places, what is built, sums that leave nothing aside."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bench import misses
from bench.data import Instance, Row
from bench.engines.llmask import Llmask

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"enum": ["x", "y\n"]}, "b": {"type": "array", "items": {"type": "number"}}},
    "additionalProperties": {"type": ["string", "boolean"]},
}
TEXT = '{"a": "y\\n", "b": [-1.5, 2], "c\\"": "x", "d": "z", "e": true}'


def spelled(text: str, schema: Any) -> list[tuple[str, str]]:
    """Runs of bytes after which the place is of the same kind."""
    found: list[tuple[str, str]] = []
    for byte, kind in zip(text, misses.kinds_of(text.encode(), schema)[1:], strict=True):
        if found and found[-1][1] == kind:
            found[-1] = found[-1][0] + byte, kind
        else:
            found.append((byte, kind))
    return found


def test_places_are_told_by_the_byte_before_them() -> None:
    assert misses.kinds_of(b"[]", {})[0] == misses.START
    assert spelled(TEXT, SCHEMA) == [
        ("{", misses.BEFORE_KEY),
        ('"a', misses.KEY), ('"', misses.AFTER_KEY), (":", misses.BEFORE_VALUE), (" ", misses.BLANKS),
        ('"y\\n', misses.LISTED), ('"', misses.AFTER_VALUE), (",", misses.BEFORE_KEY), (" ", misses.BLANKS),
        ('"b', misses.KEY), ('"', misses.AFTER_KEY), (":", misses.BEFORE_VALUE), (" ", misses.BLANKS),
        ("[", misses.BEFORE_VALUE), ("-1.5", misses.NUMBER), (",", misses.BEFORE_VALUE), (" ", misses.BLANKS),
        ("2", misses.NUMBER), ("]", misses.AFTER_VALUE), (",", misses.BEFORE_KEY), (" ", misses.BLANKS),
        ('"c\\"', misses.OTHER_KEY), ('"', misses.AFTER_KEY), (":", misses.BEFORE_VALUE), (" ", misses.BLANKS),
        ('"x', misses.LISTED), ('"', misses.AFTER_VALUE), (",", misses.BEFORE_KEY), (" ", misses.BLANKS),
        ('"d', misses.OTHER_KEY), ('"', misses.AFTER_KEY), (":", misses.BEFORE_VALUE), (" ", misses.BLANKS),
        ('"z', misses.STRING), ('"', misses.AFTER_VALUE), (",", misses.BEFORE_KEY), (" ", misses.BLANKS),
        ('"e', misses.OTHER_KEY), ('"', misses.AFTER_KEY), (":", misses.BEFORE_VALUE), (" ", misses.BLANKS),
        ("tru", misses.WORD), ("e", misses.AFTER_VALUE), ("}", misses.END),
    ]  # fmt: skip


def test_characters_of_several_bytes_are_in_their_string() -> None:
    assert misses.kinds_of('"é"'.encode(), {}) == [misses.START, *[misses.STRING] * 3, misses.END]


@pytest.mark.parametrize("text", [b"", b"}", b"]]", b'{"a" "b"', b'"\xff"', b"\x00{"])
def test_a_text_that_is_no_json_has_a_kind_for_every_place(text: bytes) -> None:
    kinds = misses.kinds_of(text, {"enum": [1, {"a": ["b"]}], "properties": 7, "required": [3]})
    assert len(kinds) == len(text) + 1
    assert {*kinds} <= {*misses.KINDS}


@pytest.fixture(scope="module")
def found() -> misses.Found:
    pytest.importorskip("tiktoken", reason="the vocabulary is read as the benchmark does: pip install '.[test]'")
    pytest.importorskip("gguf", reason="the vocabulary is read as the benchmark does: pip install '.[test]'")
    engines = [Llmask("flexible", "default") for _ in range(2)]
    encode = engines[0].tokenizer.encode
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}
    rows = [
        Row("one", SCHEMA, [Instance(True, None, encode(TEXT))]),
        Row("invalid", schema, [Instance(False, None, encode('{"b": 1}'))]),
        Row("again", schema, [Instance(True, None, encode('{"a": "some words"}')), Instance(True, None, [1])]),
        Row("refused", {"type": "something"}, [Instance(True, None, encode("1"))]),
        Row("no schema", "x*", [Instance(True, None, encode("x"))], "regex"),
    ]
    return misses.measure(rows, engines)


def test_every_step_of_the_first_documents_is_counted(found: misses.Found) -> None:
    assert found.refused == 1
    assert [step.place for step in found.steps].count(misses.START) == 3
    assert [step.place for step in found.steps].count(misses.END) == 2  # the invalid one is refused before
    assert sum(step.token is None for step in found.steps) == 1


def test_the_first_mask_of_an_empty_store_builds_all_there_is(found: misses.Found) -> None:
    assert found.steps[0].mask.built == (misses.STATES, misses.LIST, misses.ROWS, misses.CROSSING)
    assert found.steps[0].has_built
    built = [step.mask for step in found.steps if step.mask.built != (misses.NOTHING,)]
    assert sum(call.total_ns for call in built) > sum(call.known_ns for call in built)
    assert all(
        call.total_ns == call.known_ns
        for step in found.steps
        for call in step.calls
        if call not in built and call.asked == misses.FILL
    )


def test_what_is_known_is_not_built(found: misses.Found) -> None:
    """Within one string of free text two places have one lexer state and one row."""
    in_string = [step for step in found.steps if step.place == misses.STRING]
    assert in_string[-1].mask.built == (misses.NOTHING,)
    assert in_string[-1].mask.again_ns == in_string[-1].mask.total_ns


def test_the_parts_are_the_whole_and_so_are_the_kinds(found: misses.Found) -> None:
    calls = [call for step in found.steps for call in step.calls]
    whole = sum(call.total_ns for call in calls) / 1000
    assert sum(misses.parts(calls)) == pytest.approx(whole)
    assert sum(step.us for step in found.steps) == pytest.approx(whole)
    for table, column in ((misses.by_place(found.steps), 2), (misses.by_built(found.steps), 3)):
        cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
        n_lines = sum(int(row[column - 1].replace(",", "")) for row in cells if row[0] != "**all**")
        assert n_lines == (len(found.steps) if column == 2 else len(calls))


def test_what_the_table_of_places_says_of_masks_and_tokens_is_all_of_their_time(found: misses.Found) -> None:
    rows = [line.split("|")[1:-1] for line in misses.by_place(found.steps).splitlines()[2:]]
    for row in rows:
        parts = [float(part) for cell in row[-2:] for part in cell.split("/")]
        assert len(parts) == 7
        assert sum(parts) == pytest.approx(float(row[3]), abs=0.5)  # each is rounded
    assert {row[0].strip() for row in rows} <= {*misses.KINDS, "**all**"}


def test_a_call_counts_as_the_costliest_of_what_it_built() -> None:
    def sort(asked: str, *built: str) -> str:
        return misses.sort_of(misses.Call("a", asked, built, 1, 1, 1))

    assert sort(misses.FILL, misses.STATES, misses.WORDS, misses.ROWS, misses.CROSSING) == misses.WORDS
    assert sort(misses.FILL, misses.LIST, misses.CROSSING) == misses.LIST
    assert sort(misses.FILL, misses.STATES, misses.CROSSING) == misses.CROSSING
    assert sort(misses.FILL, misses.TABLES) == misses.CROSSING
    assert sort(misses.ACCEPT, misses.STATES, misses.CONFIGURATION) == misses.STATES
    assert sort(misses.ACCEPT, misses.ROWS, misses.CONFIGURATION) == misses.CONFIGURATION
    assert sort(misses.FILL, misses.NOTHING) == sort(misses.ACCEPT, misses.NOTHING) == misses.NOTHING


def test_of_each_call_the_smallest_time_counts() -> None:
    def call(total: int, again: int, known: int) -> misses.Call:
        return misses.Call("a", misses.FILL, (misses.LIST,), total, again, known)

    runs = [[call(5, 2, 2), call(1, 1, 1)], [call(4, 3, 1), call(2, 0, 0)]]
    assert misses.least(runs) == [call(4, 2, 1), call(1, 0, 0)]


def test_names_and_texts_are_found_wherever_they_are() -> None:
    schema = {"$defs": {"a": {"enum": ["x", {"k": "y"}, 1]}}, "allOf": [{"properties": {"p": {"const": "z"}}}]}
    assert misses.named_in(json.loads(json.dumps(schema))) == ({"p"}, {"x", "y", "z"})
