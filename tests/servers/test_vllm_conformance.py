"""What every adapter has to do, asked of vLLM's grammar and of both logits processors; vLLM itself is not needed.

A row that is not the last one with more tokens, as with beams and drafts, is a rollback to a grammar, and to a
processor a request that was preempted: vLLM adds it again with what it has written.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from llmask import Compiler
from llmask.integrations.vllm.backend import Grammar
from llmask.integrations.vllm.processors import Row, V1Processor, V2Processor
from llmask.integrations.vllm.requests import compile_request, matcher_of
from tests.contract.conformance import PAD, AdapterConformance, Driver, kept, random_scores, spread

torch = pytest.importorskip("torch", reason="torch is not installed")

PROMPT = 3  # tokens


class GrammarDriver(Driver):
    """The manager's: a grammar a row, told of tokens, which are rolled back."""

    def begin(self, grammars: list[Any], n_logits: int) -> None:
        self._n_logits = n_logits
        self._grammars = [None if grammar is None else Grammar(matcher_of(grammar)) for grammar in grammars]
        self._written: list[list[int]] = [[] for _ in grammars]

    def allowed(self, rows: list[list[int]]) -> Any:
        bitmask = torch.full((len(rows), -(-self._n_logits // 32)), -1, dtype=torch.int32)
        for number, (row, grammar) in enumerate(zip(rows, self._grammars, strict=True)):
            if grammar is None:
                continue
            written = self._written[number]
            n_same = 0
            while n_same < min(len(written), len(row)) and written[n_same] == row[n_same]:
                n_same += 1
            grammar.rollback(len(written) - n_same)
            del written[n_same:]
            for token in row[n_same:]:
                if token < 0 or not grammar.accept_tokens("request", [token]):
                    break
                written.append(token)
        run = map if self.pool is None else self.pool.map
        for _ in run(lambda number: self._fill(bitmask, number), range(len(rows))):
            pass
        return spread(bitmask.numpy(), self._n_logits)

    def _fill(self, bitmask: Any, number: int) -> None:
        grammar = self._grammars[number]
        if grammar is not None:
            grammar.fill_bitmask(bitmask, number)

    def submit(self, compiler: Compiler, schema: Any) -> None:
        compile_request(compiler, "json", schema)


class ProcessorDriver(Driver):
    """What the two processors have in common: a row whose text is not continued is added again."""

    def begin(self, grammars: list[Any], n_logits: int) -> None:
        self._n_logits = n_logits
        self._grammars = grammars
        self._written: list[list[int] | None] = [None] * len(grammars)
        self._processor = self.make()
        known = [grammar for grammar in grammars if grammar is not None]
        self._processor.compiler = SimpleNamespace(tokenizer=known[0].tokenizer)

    def make(self) -> Any:
        raise NotImplementedError

    def row(self, number: int) -> Row:
        """What the processor makes of a request."""
        grammar = self._grammars[number]
        return Row(matcher_of(grammar), grammar.tokenizer.eos_ids)

    def begins(self, number: int, tokens: list[int]) -> bool:
        """Whether a row has to be added again."""
        before, self._written[number] = self._written[number], list(tokens)
        return before is None or tokens[: len(before)] != before

    def open_after_the_end(self, rows: list[list[int]], found: Any) -> Any:
        """After the end of a text vLLM samples no more: processors leave everything, the suite asks for the ends."""
        for number, (row, grammar) in enumerate(zip(rows, self._grammars, strict=True)):
            ends = [] if grammar is None else [row.index(end) for end in grammar.tokenizer.eos_ids if end in row]
            if ends and found[number, : grammar.tokenizer.vocab_size].all():
                found[number] = False
                found[number, list(grammar.tokenizer.eos_ids)] = True
        return found

    def submit(self, compiler: Compiler, schema: Any) -> None:
        compile_request(compiler, "json", schema)


class V1Driver(ProcessorDriver):
    def make(self) -> Any:
        return V1Processor(None, "cpu", False)

    def allowed(self, rows: list[list[int]]) -> Any:
        for number, row in enumerate(rows):
            if self._grammars[number] is None:
                continue
            if self.begins(number, row):
                self._processor._texts[number] = (self.row(number), [])
            self._processor._texts[number][1][:] = row
        scores = random_scores(len(rows), self._n_logits)
        found = kept(scores, self._processor.apply(torch.from_numpy(scores.copy())).numpy())
        return self.open_after_the_end(rows, found)


class V2Driver(ProcessorDriver):
    def make(self) -> Any:
        states = SimpleNamespace(
            prompt_len=SimpleNamespace(np=np.full(32, PROMPT)),
            all_token_ids=SimpleNamespace(gpu=torch.zeros(32, 512, dtype=torch.int32)),
        )
        return V2Processor(None, states)

    def allowed(self, rows: list[list[int]]) -> Any:
        slots = [31 - number for number in range(len(rows))]
        positions = []
        for number, (slot, row) in enumerate(zip(slots, rows, strict=True)):
            if self._grammars[number] is not None and self.begins(number, row):
                self._processor.rows[slot] = self.row(number)
            text = torch.tensor([PAD] * PROMPT + row, dtype=torch.int32)
            self._processor._states.all_token_ids.gpu[slot, : len(text)] = text
            positions.append(len(text) - 1)
        context = SimpleNamespace(
            expanded_idx_mapping=torch.tensor(slots),
            idx_mapping_np=np.array(slots),
            input_ids=torch.tensor([(row or [PAD])[-1] for row in rows]),
            pos=torch.tensor(positions),
        )
        scores = random_scores(len(rows), self._n_logits)
        found = kept(scores, self._processor.apply(torch.from_numpy(scores.copy()), context).numpy())
        return self.open_after_the_end(rows, found)


class TestGrammar(AdapterConformance):
    kind = GrammarDriver


class TestV1Processor(AdapterConformance):
    kind = V1Driver


class TestV2Processor(AdapterConformance):
    kind = V2Driver
