"""What every adapter has to do, asked of the grammars of SGLang's requests."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from llmask import Compiler
from llmask.compiling.compiled_grammar import CompiledGrammar
from llmask.integrations.sglang.backend import backend_class
from tests.contract.conformance import AdapterConformance, Allowed, Driver, Row, kept
from tests.servers.sglang_here import GrammarRow, InvalidGrammarObject, torch

OPTIONS = {"whitespace": "flexible"}


class GrammarDriver(Driver):
    """A grammar a row. SGLang gives a row its drafts by accepting and taking back, and asks before each."""

    errors = (ValueError,)

    def begin(self, grammars: list[CompiledGrammar | None], n_logits: int) -> None:
        compiler = Compiler(next(grammar for grammar in grammars if grammar is not None).tokenizer)
        make = backend_class()(compiler, OPTIONS).grammar_class
        self._n_logits = n_logits
        self._grammars = [None if grammar is None else make(grammar, "json", "") for grammar in grammars]
        self._tokens: list[Row] = [[] for _ in grammars]

    def allowed(self, rows: list[Row]) -> Allowed:
        for row, tokens in enumerate(rows):
            if self._grammars[row] is not None:
                self._move(row, tokens)
        entries = [GrammarRow(row, grammar) for row, grammar in enumerate(self._grammars) if grammar is not None]
        first = entries[0].grammar
        mask = first.allocate_vocab_mask(self._n_logits, len(rows), "cpu")
        if self.pool is None:
            first.fill_vocab_mask_batched(entries, mask)
        else:
            list(self.pool.map(lambda entry: entry.grammar.fill_vocab_mask(mask, entry.row), entries))
        before = torch.from_numpy(np.random.default_rng(1).normal(size=(len(rows), self._n_logits)).astype(np.float32))
        after = before.clone()
        first.apply_vocab_mask(logits=after, vocab_mask=first.move_vocab_mask(mask, "cpu"))
        return kept(before, after)

    def _move(self, row: int, tokens: Row) -> None:
        """Take back what the row no longer has, and accept what is new, as far as it is legal."""
        grammar, before = self._grammars[row], self._tokens[row]
        assert grammar is not None
        n_same = 0
        while n_same < min(len(before), len(tokens)) and before[n_same] == tokens[n_same]:
            n_same += 1
        grammar.rollback(len(before) - n_same)
        taken = tokens[:n_same]
        for token in tokens[n_same:]:
            try:
                grammar.accept_token(token)
            except ValueError:
                break
            taken.append(token)
        self._tokens[row] = taken

    def submit(self, compiler: Compiler, schema: Any) -> None:
        backend = backend_class()(compiler, OPTIONS)
        grammar = backend.get_cached_or_future_value(("json", json.dumps(schema)), False)[0].result()
        if isinstance(grammar, InvalidGrammarObject):
            raise ValueError(grammar.error_message)


class TestGrammars(AdapterConformance):
    kind = GrammarDriver
