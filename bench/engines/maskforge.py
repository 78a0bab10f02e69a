"""maskforge through `Compiler`, `BoundSchema` and `Session`: a matcher of bytes, made when compiling, for JSON schemas.

It compiles nothing else: its patterns are those of JSON strings, with their quotes. It takes one end of sequence and
writes its masks into a bytearray, which is the memory of `words`. White space is JSON's anywhere; no option leaves it
out, so `compact` cannot be measured. A session cannot be copied: what is tried is read again from the beginning, which
no clock sees. Programs are not kept; what it keeps of the vocabulary is.

In: see `base.py`. Out: an `Engine`. Cost: half a second for the vocabulary.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np

from bench.engines.base import CompileError, Engine
from bench.vocabularies import encoder


class Sequence(NamedTuple):
    """A session, the tokens that it took, and what made it."""

    session: Any
    tokens: list[int]
    grammar: Any


class Maskforge(Engine):
    """Bind policy `adaptive`, its default: a table of all masks where that is small, or masks made when asked for."""

    name = package = "maskforge"
    kinds_of_whitespace = ("flexible",)
    takes_patterns = False

    def __init__(self, whitespace: str, vocabulary_name: str = "llama3") -> None:
        super().__init__(whitespace, vocabulary_name)
        import maskforge

        self.module = maskforge
        self.eos_ids = (self.vocabulary.eos,)
        n_vocab, special = len(self.vocabulary.tokens), set(self.vocabulary.special_ids)
        tokens = [None if token in special or not data else data for token, data in enumerate(self.vocabulary.tokens)]
        self.known = maskforge.Vocabulary.from_id_ordered_tokens(tokens, self.vocabulary.eos, n_vocab)
        self.compiler = maskforge.Compiler(executable_cache_bytes=0)
        self.encode = encoder(vocabulary_name)
        self.out = bytearray(self.n_bytes)
        self.words = np.frombuffer(self.out, np.int32).reshape(1, -1)
        self.compile({})  # the first one prepares the vocabulary

    def compile(self, grammar: Any, kind: str = "schema") -> Any:
        if kind != "schema":
            raise CompileError(f"it takes JSON schemas, and no {kind}")
        try:
            return self.compiler.compile(json.dumps(grammar)).bind(self.known)
        except self.module.MaskforgeError as error:
            raise CompileError(f"{error.code} at {error.pointer}: {error.message}") from error

    def start(self, grammar: Any) -> Any:
        return Sequence(grammar.start_session(), [], grammar)

    def fill(self, sequence: Any) -> None:
        sequence.session.write_mask(self.out)

    def accept(self, sequence: Any, token: int) -> bool:
        try:
            sequence.session.advance(token)
        except self.module.MaskforgeError:
            return False
        sequence.tokens.append(token)
        return True

    def is_accepting(self, sequence: Any) -> bool:
        return bool(sequence.session.is_accepting)

    def advance(self, sequence: Any, text: str) -> Any | None:
        after = self.start(sequence.grammar)
        tokens = [*sequence.tokens, *self.encode(text)]
        return after if all(self.accept(after, token) for token in tokens) else None
