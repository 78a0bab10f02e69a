"""What callers are told while rows are written: events and values, in order, each once; rows that move are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from llmask import Compiler, Reasoning
from llmask.samplers.prefixes import BatchMasks, TextProcessor
from llmask.samplers.watching import RowWatch, Watch
from tests.unit.samplers.test_prefixes import misuse, rows

Calls = list[tuple[int, Any]]
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "integer"}}},
    "required": ["name"],
}


def watched(grammar: Any, prompt_length: int | None = None) -> tuple[BatchMasks, Calls, Calls]:
    """Masks, and what was told so far: events as tuples, and values."""
    events: Calls = []
    values: Calls = []
    watch = RowWatch(
        lambda number, value: values.append((number, value)),
        lambda number, event: events.append((number, tuple(event))),
    )
    return BatchMasks(grammar, prompt_length, watch=watch), events, values


def write(masks: BatchMasks, *texts: str) -> None:
    """Rows that grow by a byte each, from nothing on; shorter ones are padded."""
    for n in range(max(map(len, texts)) + 1):
        masks.fill(rows(*(text[:n].ljust(n, "_") for text in texts)))


def test_events_and_values_come_as_the_text_grows(compiler: Compiler) -> None:
    masks, events, values = watched(compiler.json_schema(PERSON))
    text = '{"name": "Ada", "tags": [1, 23]}'
    told = []
    for n in range(len(text) + 1):
        masks.fill(rows(text[:n]))
        told.append(len(events))
    assert events == [
        (0, ("key", "/name", "name")),
        (0, ("value", "/name", "Ada")),
        (0, ("key", "/tags", "tags")),
        (0, ("item", "/tags/0", 1)),
        (0, ("item", "/tags/1", 23)),
        (0, ("value", "/tags", [1, 23])),
        (0, ("end", "", {"name": "Ada", "tags": [1, 23]})),
    ]
    assert told[text.index('a"') + 1] == 1  # the value is told with its closing quote, not before
    assert told[text.index('a"') + 2] == 2
    assert values[0] == (0, {})
    assert (0, {"name": "Ad"}) in values
    assert values[-1] == (0, {"name": "Ada", "tags": [1, 23]})
    assert len(values) == len({str(value) for value in values})
    masks.finish()
    masks.finish(rows(text + "."))
    assert len(events) == 7  # the end was told


def test_each_row_has_its_number_and_its_grammar(compiler: Compiler) -> None:
    masks, events, _ = watched([compiler.json_schema({"type": "boolean"}), None, compiler.regex("(ab)+")])
    write(masks, "true.___", "whatever", "abab.___")
    assert events == [(0, ("end", "", True)), (2, ("end", "", "abab"))]


@pytest.mark.parametrize(("schema", "text", "value"), [({"type": "integer"}, "123", 123), (None, "abab", "abab")])
def test_what_only_the_end_completes_is_told_at_the_end(compiler: Compiler, schema: Any, text: str, value: Any) -> None:
    """A framework does not call after the end of sequence: `finish` tells it, from the rows or from the last call."""
    grammar = compiler.regex("(ab)+") if schema is None else compiler.json_schema(schema)
    for last in (rows(text + "."), rows(text + ".__"), rows(text), None):
        masks, events, values = watched(grammar)
        write(masks, text)
        assert events == []
        for _ in range(2):
            masks.finish(last)
            assert events == [(0, ("end", "", value))]
        assert values[-1] == (0, value)


def test_a_text_that_was_cut_off_has_no_end(compiler: Compiler) -> None:
    masks, events, values = watched(compiler.json_schema({"type": "array", "items": {"type": "integer"}}))
    write(masks, "[1,2", "[3,4")
    masks.finish(rows("[1,2]", "[3,45"))
    assert events == [
        *[(0, ("item", "/0", 1)), (1, ("item", "/0", 3))],
        *[(0, ("item", "/1", 2)), (0, ("end", "", [1, 2]))],
    ]
    assert values[-1] == (0, [1, 2])


def test_what_is_refused_and_what_has_ended_is_told_no_more(compiler: Compiler) -> None:
    masks, events, values = watched(compiler.json_schema({"type": "array", "items": {"type": "boolean"}}))
    write(masks, "[x", "[]")
    write_on = [("[x]", "[]."), ("[x],", "[]._"), ("[x],t", "[].__")]
    for texts in write_on:
        masks.fill(rows(*texts))
    masks.finish()
    assert events == [(1, ("end", "", []))]
    assert values == [(0, []), (1, [])]


def test_thinking_is_no_part_of_the_text(compiler: Compiler) -> None:
    grammar = compiler.json_schema({"type": "array", "items": {"type": "integer"}})
    masks, events, _ = watched(Reasoning(grammar, [ord("#")]))
    write(masks, "[8, is it? #[12]")
    assert events == [(0, ("item", "/0", 12)), (0, ("end", "", [12]))]


def test_a_text_that_was_begun_earlier_is_told_from_its_beginning(compiler: Compiler) -> None:
    masks, events, _ = watched(compiler.json_schema({"type": "array", "items": {"type": "integer"}}), 2)
    masks.fill(rows("[1,2,"))
    assert [event for _, event in events] == [("item", "/0", 1), ("item", "/1", 2)]


def test_tokens_of_several_bytes_tell_several_things_at_once(default_tokenizer: Any) -> None:
    grammar = Compiler(default_tokenizer).json_object()
    masks, events, _ = watched(grammar)
    ids = [7, *default_tokenizer.encode('{"a":"é","b":{"c":[true]}}')]
    for n in range(1, len(ids) + 1):
        masks.fill(np.array([ids[:n]]))
    assert [event[:2] for _, event in events] == [
        *[("key", "/a"), ("value", "/a"), ("key", "/b"), ("key", "/b/c")],
        *[("item", "/b/c/0"), ("value", "/b/c"), ("value", "/b"), ("end", "")],
    ]


@pytest.mark.parametrize("texts", [("bb", "ab"), ("aa", "aa"), ("", ""), ("b", "a")])
def test_rows_that_do_not_go_on_are_refused(compiler: Compiler, texts: tuple[str, ...]) -> None:
    """Beams permute and repeat rows; drafts take tokens back. Without a callback the masks are as ever."""
    grammar = compiler.regex("[ab]+")
    masks, events, values = watched(grammar)
    plain = BatchMasks(grammar)
    for one in (masks, plain):
        write(one, "a", "b")
    wanted = plain.fill(rows(*texts), is_same=True)
    assert len(wanted) == 2
    said = misuse(lambda: masks.fill(rows(*texts), is_same=True))
    assert said.startswith("rows do not go on as they were, so what was told of them may be of another text\n  at row ")
    assert "sampling and greedy search" in said
    assert (events, values) == ([], [(0, "a"), (1, "b")])


def test_another_generation_begins_anew(compiler: Compiler) -> None:
    masks, events, _ = watched(compiler.json_schema({"type": "boolean"}))
    for _ in range(2):
        write(masks, "true")
        masks.reset()
    masks.fill(rows("", prompt="QQQ"))
    masks.fill(rows("false", prompt="QQQ")[:, :4])
    masks.fill(rows("", prompt="R"))  # none said that the other one is over
    masks.fill(rows("t", prompt="R"))
    assert events == [(0, ("end", "", True))] * 2


def test_what_a_callback_raises_is_passed_on_and_nothing_is_told_twice(compiler: Compiler) -> None:
    calls: Calls = []

    def stop(number: int, event: Any) -> None:
        calls.append((number, event.value))
        if len(calls) == 1:
            raise KeyError("enough")

    masks = BatchMasks(compiler.json_schema({"type": "boolean"}), watch=RowWatch(None, stop))
    write(masks, "tru", "tru")
    with pytest.raises(KeyError, match="enough"):
        masks.fill(rows("true", "true"))
    masks.fill(rows("true", "true"), is_same=True)
    assert calls == [(0, True), (1, True)]


@pytest.mark.parametrize("wrong", [3, "print", [print], {}])
def test_what_cannot_be_called_is_refused(wrong: Any) -> None:
    assert misuse(lambda: Watch(wrong, None)).startswith("on_value is called with a number and what there is to tell")
    assert misuse(lambda: RowWatch(None, wrong)).startswith(
        f"on_event is called with a number and what there is to tell, and {type(wrong).__name__}"
    )


def test_without_a_callback_there_is_no_watch(compiler: Compiler) -> None:
    assert TextProcessor(compiler.regex("a"), max_tokens=9)._masks._watch is None
    masks = BatchMasks(compiler.regex("a"))
    masks.finish()
    masks.finish("nonsense")


@pytest.mark.parametrize("wrong", ["ab", 3, [[80, 80]], np.zeros(4, np.int64), np.zeros((1, 4)), {"sequences": 1}])
def test_what_is_no_row_of_ids_is_refused(compiler: Compiler, wrong: Any) -> None:
    masks, events, _ = watched(compiler.regex("a+"))
    assert misuse(masks.finish).startswith("the processor has not been called")
    write(masks, "aa")
    assert misuse(lambda: masks.finish(wrong)).startswith("what was generated is an array of token ids")
    for text, prompt in (("aa", "QQ"), ("a", "PP"), ("", "PP"), ("", "P"), ("ab", "PP")):
        said = misuse(lambda text=text, prompt=prompt: masks.finish(rows(text, prompt=prompt)))
        assert said.startswith("the rows are not the last generation's")
    assert misuse(lambda: masks.finish(rows("aa", "aa"))).startswith("the rows are not the last generation's")
    masks.finish(rows("aa."))
    assert events == [(0, ("end", "", "aa"))]


def test_rows_are_put_in_another_order_at_the_end(compiler: Compiler) -> None:
    masks, events, _ = watched(compiler.regex("[ab]+"))
    write(masks, "a", "b")
    assert misuse(lambda: masks.finish(rows("b.", "a."))).startswith("rows do not go on as they were")
    masks.finish(rows("a.", "b."))
    assert events == [(0, ("end", "", "a")), (1, ("end", "", "b"))]


def test_forgotten_prefixes_are_read_on(compiler: Compiler) -> None:
    """A matcher that is replayed has the same tokens."""
    masks, events, _ = watched(compiler.json_object())
    text = '{"a":[1,2,3],"b":"xyz"}'
    for n in range(len(text) + 1):
        masks.forget()
        masks.fill(rows(text[:n]))
    assert [event[0] for _, event in events] == [*["key", *["item"] * 3, "value"], *["key", "value", "end"]]
