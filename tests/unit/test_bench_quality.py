"""Items, answers and verdicts of bench/quality, with a model made here."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import numpy as np
import pytest

import llmask
from bench.quality import __main__ as quality
from bench.quality import items as quality_items
from bench.quality.answers import are_arguments, is_answer, is_one_of
from bench.quality.items import Item, classification_items, extraction_items, spread
from bench.quality.reading import Reading, n_common
from bench.quality.writers import LlmaskWriter, Writer


class Scripted:
    """A model that prefers to write one text, and counts what it reads."""

    def __init__(self, tokenizer: llmask.Tokenizer, text: str, n_prompt: int) -> None:
        self.wanted = [*tokenizer.encode(text), min(tokenizer.eos_ids)]
        self.n_prompt = n_prompt
        self.n_vocab = tokenizer.vocab_size
        self.tokens: list[int] = []

    def read(self, tokens: list[int]) -> Any:
        self.tokens += tokens
        logits = np.zeros(self.n_vocab, np.float32)
        place = len(self.tokens) - self.n_prompt
        if place < len(self.wanted):
            logits[self.wanted[place]] = 9
        return logits

    def forget(self, n: int) -> None:
        del self.tokens[n:]


SCHEMA = quality_items.closed({"age": {"type": "integer"}})
ITEM = Item("one", "tools", "system", "prompt", SCHEMA, lambda value: value == {"age": 36})


def test_answers_are_compared_as_the_leaderboard_does() -> None:
    assert is_one_of("New York, NY", ["new york ny"])
    assert not is_one_of("New York", ["new york ny"])
    assert is_one_of(5, [5.0])
    assert not is_one_of(True, [1])
    assert is_one_of(["A.", "b"], [["a", "B"]])
    assert not is_one_of(["b", "A"], [["a", "B"]])
    assert are_arguments({"a": 1}, {"a": [1], "b": [2, ""]})
    assert not are_arguments({"a": 1}, {"a": [1], "b": [2]})
    assert not are_arguments({"a": 1, "c": 1}, {"a": [1]})
    assert is_one_of({"x": 1}, [{"x": [1], "y": ["", 2]}])
    assert not is_one_of([{"x": 1}], [[{"x": [2]}]])
    assert is_one_of([{"x": 1}], [[{"x": [1]}]])


def test_answers_of_our_own() -> None:
    assert is_answer({"a": "Rome", "b": [1]}, {"b": [1], "a": "rome"}, {})
    assert is_answer({"a": {"b": "Rome, Italy"}}, {"a": {"b": "Rome"}}, {"a.b": ["Rome Italy"]})
    assert not is_answer({"a": {"b": "Rome, Italy"}}, {"a": {"b": "Rome"}}, {"b": ["Rome Italy"]})
    assert not is_answer({"a": "Rome"}, {"a": "Rome", "b": 1}, {})
    assert not is_answer({"a": False}, {"a": 0}, {})


@pytest.mark.parametrize("items", [extraction_items, classification_items])
def test_the_answers_in_our_files_are_valid_and_right(items: Any, byte_tokenizer: Any) -> None:
    found = [*items()]
    name = "extractions" if items is extraction_items else "classifications"
    rows = quality_items.lines_of(quality_items.HERE / f"{name}.jsonl")
    assert len(found) == len({item.prompt for item in found}) == 100
    compiler = llmask.Compiler(byte_tokenizer)
    for item, row in zip(found, rows, strict=True):
        answer = row["answer"] if name == "extractions" else {"label": row["answer"]}
        jsonschema.validate(answer, item.schema, format_checker=jsonschema.FormatChecker())
        assert item.is_right(answer)
        assert compiler.json_schema(item.schema).accepts(json.dumps(answer, ensure_ascii=False))
    assert [item.id for item in spread(found, 4)] == [f"{name[:-1]}_{n}" for n in (0, 25, 50, 75)]


def test_what_is_missing_says_how_to_get_it(monkeypatch: Any) -> None:
    monkeypatch.setattr(quality_items, "PACKAGE", "no_such_package")
    with pytest.raises(SystemExit, match="pip install --no-deps bfcl-eval"):
        next(quality_items.leaderboard_items(1, 1))


def test_common_beginnings_are_read_once(byte_tokenizer: Any) -> None:
    model = Scripted(byte_tokenizer, "x", 2)
    reading = Reading(model)
    reading.begin([1, 2])
    reading.logits([])
    reading.logits([5, 6])
    assert reading.n_read == 4
    reading.logits([5, 6])
    reading.logits([5, 7])
    assert (reading.n_read, model.tokens) == (5, [1, 2, 5, 7])
    reading.begin([1, 2, 5])
    reading.logits([])
    assert (reading.n_read, model.tokens) == (6, [1, 2, 5])
    assert (n_common([1, 2], [1, 3]), n_common([1], [1, 3]), n_common([], [1])) == (1, 1, 0)


def test_what_is_written_is_judged(byte_tokenizer: Any) -> None:
    n_prompt = len(quality.encoded(byte_tokenizer, ITEM))
    rows = {}
    for text in ('{"age": 36}', 'Yes: {"age": 36}', '{"age": 5}', '{"age": "old"}', "no"):
        reading = Reading(Scripted(byte_tokenizer, text, n_prompt))
        for by in (Writer("unconstrained"), LlmaskWriter("llmask", byte_tokenizer)):
            [row] = quality.measured([ITEM], [by], reading, byte_tokenizer, lambda _: None)
            rows[text, by.name] = row["valid"], row["right"], row["ended"]
    assert rows['{"age": 36}', "unconstrained"] == rows['{"age": 36}', "llmask"] == (True, True, True)
    assert rows['Yes: {"age": 36}', "unconstrained"] == (True, True, True)
    assert rows['{"age": 5}', "unconstrained"] == rows['{"age": 5}', "llmask"] == (True, False, True)
    assert rows['{"age": "old"}', "unconstrained"] == rows["no", "unconstrained"] == (False, False, True)
    assert rows["no", "llmask"][0] is rows["no", "llmask"][2] is True


def test_a_document_that_is_cut_off_is_not_valid() -> None:
    assert quality.verdict(ITEM, '{"age": 36}', True, True) == (True, True)
    assert quality.verdict(ITEM, '{"age": 36}', False, True) == (False, False)
    assert quality.verdict(ITEM, '{"age": 36} and on', False, False) == (True, True)
