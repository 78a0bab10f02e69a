"""llmask and llguidance behind the same few functions, over any vocabulary; one process may hold both.

    compile(schema) -> grammar       start(grammar) -> sequence      fill(sequence)     accept(sequence, token)
    is_allowed(token)

Thinner than what MaskBench's worker uses: nothing is caught but refusals, which become `Refused`, and both engines may
be given other vocabularies than Llama 3's. llguidance is called by pointer, with the slices it recommends for JSON.

In: a vocabulary. Out: a `Side`. Cost: a second each.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from bench.data import LLAMA3_VOCABULARY, llama3_vocabulary
from bench.engines.llguidance import ByteTokens
from bench.vocabularies import Vocabulary, encoder

clock = time.perf_counter_ns


class Refused(Exception):
    """The engine does not take the schema, or a token of a document that fulfils it; `str` says what and why."""


class Side(ABC):
    """What the studies call; see the module's text."""

    name = ""

    def __init__(self, n_vocab: int) -> None:
        self.words = np.full((1, (n_vocab + 31) // 32), -1, dtype=np.int32)

    def is_allowed(self, token: int) -> bool:
        """Whether the mask filled last allows `token`."""
        return bool(self.words[0, token >> 5] >> (token & 31) & 1)

    @abstractmethod
    def compile(self, schema: Any) -> Any: ...

    @abstractmethod
    def start(self, grammar: Any) -> Any: ...

    @abstractmethod
    def fill(self, sequence: Any) -> None: ...

    @abstractmethod
    def accept(self, sequence: Any, token: int) -> None: ...


class LlmaskSide(Side):
    """llmask; every schema is compiled anew, the store lives on. Without a tokenizer it has Llama 3's."""

    name = "llmask"

    def __init__(self, tokenizer: Any = None) -> None:
        import llmask

        llmask.warm()
        self.tokenizer = llmask.Tokenizer.from_gguf(str(LLAMA3_VOCABULARY)) if tokenizer is None else tokenizer
        super().__init__(self.tokenizer.vocab_size)
        self.compiler = llmask.Compiler(self.tokenizer, cache_bytes=0)
        self.errors = llmask.LlmaskError

    def compile(self, schema: Any) -> Any:
        try:
            return self.compiler.json_schema(schema)
        except self.errors as error:
            raise Refused(str(error)) from error

    def start(self, grammar: Any) -> Any:
        return grammar.matcher()

    def fill(self, sequence: Any) -> None:
        try:
            sequence.fill_bitmask(self.words)
        except self.errors as error:
            raise Refused(str(error)) from error

    def accept(self, sequence: Any, token: int) -> None:
        try:
            sequence.accept_token(token)
        except self.errors as error:
            raise Refused(str(error)) from error


class LlguidanceSide(Side):
    """llguidance, with its slices for JSON.

    Parameters
    ----------
    vocabulary, encode : None: Llama 3's.
    """

    name = "llguidance"

    def __init__(self, vocabulary: Vocabulary | None = None, encode: Callable[[str], list[int]] | None = None) -> None:
        import llguidance

        vocabulary = llama3_vocabulary() if vocabulary is None else vocabulary
        super().__init__(len(vocabulary.tokens))
        self.module = llguidance
        tokens = ByteTokens(vocabulary, encoder("llama3") if encode is None else encode)
        self.tokens = vocabulary.tokens
        self.tokenizer = llguidance.LLTokenizer(tokens, slices=llguidance.LLTokenizer.json_slices())
        self.pointer, self.n_bytes = self.words.ctypes.data, self.words.nbytes

    def compile(self, schema: Any) -> Any:
        try:
            plain = schema if isinstance(schema, dict) else ({} if schema else {"not": {}})
            grammar = self.module.LLMatcher.grammar_from_json_schema(plain, overrides={"whitespace_flexible": True})
            matcher = self.module.LLMatcher(self.tokenizer, grammar, log_level=0)
        except ValueError as error:
            raise Refused(str(error)) from error
        if matcher.is_error():
            raise Refused(matcher.get_error())
        return matcher

    def start(self, grammar: Any) -> Any:
        return grammar.deep_copy()

    def fill(self, sequence: Any) -> None:
        sequence.unsafe_compute_mask_ptr(self.pointer, self.n_bytes)

    def accept(self, sequence: Any, token: int) -> None:
        if not sequence.consume_token(token):
            raise Refused(f"token {token}: {sequence.get_error()[:100]}")

    def fork(self, sequence: Any) -> Any:
        return sequence.deep_copy()


def feed(side: Side, sequence: Any, tokens: Iterable[int]) -> list[int]:
    """Nanoseconds of each mask with its token; a token outside of it is an error of the study or of the engine."""
    taken = []
    for place, token in enumerate(tokens):
        started = clock()
        side.fill(sequence)
        filled = clock()
        if not side.is_allowed(token):
            raise Refused(f"token {token} at {place} is not in the mask")
        before_accept = clock()
        side.accept(sequence, token)
        taken.append(clock() - before_accept + filled - started)
    return taken
