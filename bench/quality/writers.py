"""Who masks: nobody, llmask in three ways, and other engines with their defaults, all through `bench.engines`.

    unconstrained     no mask; the first JSON value in the text counts
    llmask            `Compiler.json_schema(schema)`: properties in the order of the schema
    llmask, any       property_order="any": in the order in which the model writes them
    llmask, canonical only tokens that the tokenizer itself would write
    others            as their adapters ask for them: white space where JSON has it

llmask ends its documents within the tokens that there are (`budget=`, which canonical masks do not take), as
`llmask generate` and its processors do; the others have no such thing and are cut off.

In: a schema. Out: a bitmask a step. Cost: that of the engine.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bench.engines import CompileError, Engine, adapter

VOCABULARY = "smollm2"
WRITERS = ("unconstrained", "llmask", "llmask, any", "llmask, canonical", "xgrammar", "llguidance", "outlines-core")
Bools = npt.NDArray[np.bool_]


class Refused(Exception):
    """The engine does not take the schema."""


class Writer:
    """No mask at all; the base of the others.

    Attributes
    ----------
    is_masked : its text is a document, and not one that holds a document.
    """

    is_masked = False

    def __init__(self, name: str) -> None:
        self.name = name

    def begin(self, schema: Any, max_tokens: int) -> None:
        """Start a document of at most `max_tokens` tokens, its end among them."""

    def allowed(self) -> Bools | None:
        """bool[n_vocab], or None for all."""
        return None

    def accept(self, token: int) -> None:
        """Take a token, which is not the end of the text."""


class LlmaskWriter(Writer):
    """llmask, with a budget where its masks take one."""

    is_masked = True

    def __init__(self, name: str, tokenizer: Any) -> None:
        import llmask

        super().__init__(name)
        self._is_canonical = name.endswith("canonical")
        self._order = "any" if name.endswith("any") else "schema"
        self._compiler = llmask.Compiler(tokenizer, canonical=self._is_canonical)
        self._words = llmask.allocate_bitmask(1, tokenizer.vocab_size)

    def begin(self, schema: Any, max_tokens: int) -> None:
        self._grammar = self._compiler.json_schema(schema, property_order=self._order)
        self._matcher = self._grammar.matcher()
        self._left = max_tokens

    def allowed(self) -> Bools:
        takes_budget = self._grammar.takes_budget and not self._is_canonical
        self._matcher.fill_bitmask(self._words, budget=self._left if takes_budget else None)
        return bits(self._words)

    def accept(self, token: int) -> None:
        self._matcher.accept_token(token)
        self._left -= 1


class EngineWriter(Writer):
    """Another engine by its adapter."""

    is_masked = True

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._engine: Engine = adapter(name)("flexible", VOCABULARY)

    def begin(self, schema: Any, max_tokens: int) -> None:
        try:
            self._sequence = self._engine.start(self._engine.compile(schema))
        except CompileError as error:
            raise Refused(str(error)) from error

    def allowed(self) -> Bools:
        self._engine.fill(self._sequence)
        return bits(self._engine.words)

    def accept(self, token: int) -> None:
        if not self._engine.accept(self._sequence, token):
            raise RuntimeError(f"{self.name} refuses token {token}, which its mask allows")


def bits(words: npt.NDArray[np.int32]) -> Bools:
    """The bits of a bitmask."""
    return np.unpackbits(words[0].view(np.uint8), bitorder="little").astype(bool)


def writer(name: str, tokenizer: Any) -> Writer:
    """One of `WRITERS`."""
    if name == "unconstrained":
        return Writer(name)
    return LlmaskWriter(name, tokenizer) if name.startswith("llmask") else EngineWriter(name)
