"""One adapter for each engine, all with the same functions, so that the worker cannot tell them apart.

    compile(schema) -> grammar        start(grammar) -> sequence         fill(sequence): mask into `words`
    accept(sequence, token) -> bool   is_accepting(sequence) -> bool     advance(sequence, text) -> sequence | None

Every engine writes its mask into the one preallocated `words`. llguidance is called by the pointer of that array (its
own NumPy helper spends a microsecond to find it); llmask through its public `fill_bitmask`. `advance` gives a new
sequence after more text; it serves the search for other property orders only and is never timed.

In: the vocabulary as a list of bytes. Out: an `Engine`. Cost: a second or two to build a tokenizer.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from importlib.metadata import version
from typing import Any

import numpy as np

from bench.data import LLAMA3_VOCABULARY, SEPARATORS, llama3_encode, llama3_vocabulary


class CompileError(Exception):
    """The engine refuses the schema; `str` is its message."""


class Engine(ABC):
    """What the worker calls; see the module's text."""

    name = ""
    package = ""

    def __init__(self, whitespace: str) -> None:
        self.whitespace = whitespace
        self.words = np.full((1, (len(llama3_vocabulary().tokens) + 31) // 32), -1, dtype=np.int32)

    @classmethod
    def package_version(cls) -> str:
        return version(cls.package)

    def is_allowed(self, token: int) -> bool:
        """Whether the mask filled last allows `token`."""
        return bool(self.words[0, token >> 5] >> (token & 31) & 1)

    @abstractmethod
    def compile(self, schema: Any) -> Any:
        """A grammar for a schema; raises `CompileError`."""

    @abstractmethod
    def start(self, grammar: Any) -> Any:
        """A sequence at its beginning."""

    @abstractmethod
    def fill(self, sequence: Any) -> None:
        """Write the mask of the next token."""

    @abstractmethod
    def accept(self, sequence: Any, token: int) -> bool:
        """Take a token; False when it is refused."""

    @abstractmethod
    def is_accepting(self, sequence: Any) -> bool:
        """Whether the document may end here."""

    @abstractmethod
    def advance(self, sequence: Any, text: str) -> Any | None:
        """The sequence after some text, or None; the given one stays as it is."""


class Llmask(Engine):
    """llmask through `Compiler` and `Matcher`."""

    name = package = "llmask"

    def __init__(self, whitespace: str) -> None:
        super().__init__(whitespace)
        import llmask

        llmask.warm_up()
        self.refusals = (llmask.LlmaskError,)
        self.rejected = llmask.TokenRejected
        self.tokenizer = llmask.Tokenizer.from_gguf(str(LLAMA3_VOCABULARY))
        self.compiler = llmask.Compiler(self.tokenizer, cache_bytes=0)  # a schema met twice is compiled twice

    def compile(self, schema: Any) -> Any:
        try:
            return self.compiler.json_schema(schema, whitespace=self.whitespace)
        except self.refusals as error:
            raise CompileError(f"{type(error).__name__}: {error}") from error

    def start(self, grammar: Any) -> Any:
        return grammar.matcher()

    def fill(self, sequence: Any) -> None:
        sequence.fill_bitmask(self.words)

    def accept(self, sequence: Any, token: int) -> bool:
        try:
            sequence.accept_token(token)
        except self.rejected:
            return False
        return True

    def is_accepting(self, sequence: Any) -> bool:
        return bool(sequence.is_accepting())

    def advance(self, sequence: Any, text: str) -> Any | None:
        after = sequence.fork()
        try:
            after.accept_bytes(text.encode())
        except self.rejected:
            return None
        return after


class ByteTokens:
    """What `llguidance.LLTokenizer` asks of a tokenizer object: a list of bytes, special ids and an encoder."""

    is_tokenizer_wrapper = True
    bos_token_id = None

    def __init__(self) -> None:
        vocabulary = llama3_vocabulary()
        self.tokens = vocabulary.tokens
        self.special_token_ids = vocabulary.special_ids
        self.eos_token_id = vocabulary.eos
        self._encode = llama3_encode()

    def __call__(self, text: str | bytes) -> list[int]:
        return self._encode(text.decode() if isinstance(text, bytes) else text)


class Llguidance(Engine):
    r"""Llguidance through `LLMatcher`, with the slices that it recommends for JSON.

    Parameters
    ----------
    whitespace : as for every engine.
    like_llmask : allow ``\\uXXXX`` of any character in free strings, and white space in runs of at most 64 bytes, as
        llmask does; not so by default.
    """

    name = package = "llguidance"

    def __init__(self, whitespace: str, like_llmask: bool = False) -> None:
        super().__init__(whitespace)
        import llguidance

        self.module = llguidance
        self.tokenizer = llguidance.LLTokenizer(ByteTokens(), slices=llguidance.LLTokenizer.json_slices())
        self.pointer = self.words.ctypes.data
        self.n_bytes = self.words.nbytes
        item_separator, key_separator = SEPARATORS["compact"]
        self.overrides: dict[str, Any] = (
            {"whitespace_flexible": True}
            if whitespace == "flexible"
            else {"whitespace_flexible": False, "item_separator": item_separator, "key_separator": key_separator}
        )
        if like_llmask:
            self.overrides["json_allow_general_unicode_escapes"] = True
            self.overrides["whitespace_pattern"] = r"[\x20\x0A\x0D\x09]{1,64}"

    def compile(self, schema: Any) -> Any:
        matcher_type = self.module.LLMatcher
        try:
            # A boolean schema is not taken directly; its object form means the same.
            plain = schema if isinstance(schema, dict) else ({} if schema else {"not": {}})
            grammar = matcher_type.grammar_from_json_schema(plain, overrides=self.overrides)
            matcher = matcher_type(self.tokenizer, grammar, log_level=0)
        except ValueError as error:
            raise CompileError(str(error)) from error
        if matcher.is_error():
            raise CompileError(matcher.get_error())
        return matcher

    def start(self, grammar: Any) -> Any:
        return grammar.deep_copy()

    def fill(self, sequence: Any) -> None:
        sequence.unsafe_compute_mask_ptr(self.pointer, self.n_bytes)

    def accept(self, sequence: Any, token: int) -> bool:
        return bool(sequence.consume_token(token))

    def is_accepting(self, sequence: Any) -> bool:
        return bool(sequence.is_accepting())

    def advance(self, sequence: Any, text: str) -> Any | None:
        after = sequence.deep_copy()
        tokens = self.tokenizer.greedy_tokenize(text)
        return after if after.consume_tokens(tokens) else None


ENGINES: dict[str, type[Engine]] = {engine.name: engine for engine in (Llmask, Llguidance)}


def as_json(value: Any, whitespace: str) -> str:
    """One value as the instances are written."""
    return json.dumps(value, ensure_ascii=False, separators=SEPARATORS[whitespace])
