"""What processors tell while a model writes, as one suite: `on_value` and `on_event` of every adapter that has them."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import pytest

from llmask.compiling.compiled_grammar import CompiledGrammar
from llmask.errors import LlmaskError
from llmask.matching.json_reader import JsonSoFar
from tests.contract.conformance import SCHEMA, Row, made_compiler, prefixes, write

END_ALONE = "(ab|ba|abc){2,6}"
Calls = list[tuple[int, Any]]


class EventConformance:
    """The suite of `on_value` and `on_event`: a subclass says how a processor is made, asked and finished.

    Attributes
    ----------
    n_rows : of a processor.
    """

    n_rows: ClassVar[int] = 2

    def make(self, grammar: CompiledGrammar, **callbacks: Any) -> Any:
        """A processor."""
        raise NotImplementedError

    def ask(self, processor: Any, rows: list[Row]) -> None:
        """Call a processor about rows of a length, and raise what it has to say."""
        raise NotImplementedError

    def finish(self, processor: Any, rows: list[Row]) -> None:
        """Call its `finish` as after a generation that gave these rows."""
        processor.finish()

    def told(self, grammar: CompiledGrammar, documents: list[Row]) -> tuple[Calls, Calls]:
        """The events and the values that are told while documents are written, one after the other."""
        events: Calls = []
        values: Calls = []
        processor = self.make(
            grammar,
            on_event=lambda number, event: events.append((number, event)),
            on_value=lambda number, value: values.append((number, value)),
        )
        steps = list(prefixes(*documents))
        for rows in steps[:-1]:
            self.ask(processor, rows)
        for _ in range(2):
            self.finish(processor, steps[-1])
        return events, values

    @pytest.mark.parametrize("schema", [SCHEMA, {"type": "integer"}, {"enum": ["é日", 12, None, [True, {"a": 1}]]}])
    def test_the_parts_of_documents_are_told_in_order(self, schema: Any) -> None:
        grammar = made_compiler().json_schema(schema, whitespace="compact")
        for seed in range(8):
            documents = [write(grammar, self.n_rows * seed + row) for row in range(self.n_rows)]
            events, values = self.told(grammar, documents)
            for number, document in enumerate(documents):
                text = grammar.tokenizer.decode_bytes(document[:-1])
                assert [event for row, event in events if row == number] == JsonSoFar().events(text, True)[1]
                assert [value for row, value in values if row == number][-1] == json.loads(text)

    def test_other_texts_have_an_end_alone(self) -> None:
        grammar = made_compiler().regex(END_ALONE)
        for seed in range(4):
            documents = [write(grammar, self.n_rows * seed + row) for row in range(self.n_rows)]
            events, values = self.told(grammar, documents)
            texts = [grammar.tokenizer.decode_bytes(document[:-1]).decode() for document in documents]
            assert sorted(events) == [(number, ("end", "", text)) for number, text in enumerate(texts)]
            assert dict(values) == dict(enumerate(texts))

    def test_what_a_callback_raises_is_raised(self) -> None:
        processor = self.make(made_compiler().json_schema({"type": "null"}), on_value=lambda number, value: 1 / 0)
        steps = list(prefixes(*[[3 + byte for byte in b"null"]] * self.n_rows))
        for rows in steps[:-1]:
            self.ask(processor, rows)
        with pytest.raises(ZeroDivisionError):
            self.ask(processor, steps[-1])

    def test_what_cannot_be_called_is_refused(self) -> None:
        for name in ("on_value", "on_event"):
            with pytest.raises(LlmaskError, match=f"{name} is called with a number"):
                self.make(made_compiler().regex("a"), **{name: "print"})

    def test_nothing_is_finished_before_a_call(self) -> None:
        with pytest.raises(LlmaskError, match=r"has not (been )?called"):
            self.make(made_compiler().regex("a"), on_value=print).finish()
