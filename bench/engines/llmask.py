"""llmask through its public `Compiler` and `Matcher`.

In: see `base.py`. Out: an `Engine`. Cost: half a second to build a tokenizer; the kernels are compiled first.
"""

from __future__ import annotations

import re
from typing import Any

from bench.engines.base import CompileError, Engine
from bench.vocabularies import ROOT, SOURCES

WARM_S = 0.25  # where glrmask compiles for 23 ms at p50 and 0.6 s at p99


class Llmask(Engine):
    """The compiler's memory of compiled schemas is off: a schema met twice is compiled twice."""

    name = package = "llmask"
    keeps_store = True

    def __init__(self, whitespace: str, vocabulary_name: str = "llama3") -> None:
        super().__init__(whitespace, vocabulary_name)
        import llmask

        llmask.warm()
        self.refusals = (llmask.LlmaskError,)
        self.rejected = llmask.TokenRejected
        self.tokenizer = llmask.Tokenizer.from_gguf(str(SOURCES[vocabulary_name].path))
        self.compiler = llmask.Compiler(self.tokenizer, cache_bytes=0)

    @classmethod
    def package_version(cls) -> str:
        """That of the checkout, which is what workers import; another one may be installed."""
        found = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
        return found[1] if found else "unknown"

    def compile(self, grammar: Any, kind: str = "schema") -> Any:
        try:
            if kind == "schema":
                return self.compiler.json_schema(grammar, whitespace=self.whitespace)
            if kind == "lark":
                return self.compiler.lark(grammar)
            return self.compiler.regex(grammar) if kind == "regex" else self.compiler.choice(grammar)
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


class LlmaskWarm(Llmask):
    """Compiles more: `CompiledGrammar.warm` reads texts of the grammar for WARM_S seconds at most."""

    name = "llmask-warm"

    def compile(self, grammar: Any, kind: str = "schema") -> Any:
        compiled = super().compile(grammar, kind)
        compiled.warm(WARM_S)
        return compiled


class LlmaskDocuments(Llmask):
    """Reads documents of a new grammar, here in the caller's thread and after the first mask, so that it is timed."""

    name = "llmask-documents"

    def read_documents(self, grammar: Any) -> None:
        grammar.warm("documents")


class LlmaskAhead(Llmask):
    """Its helping thread builds the next mask of a sequence while the caller does something else."""

    name = "llmask-ahead"
    n_missing = 0

    def start(self, grammar: Any) -> Any:
        sequence = super().start(grammar)
        self._read_ahead(sequence)
        return sequence

    def fill(self, sequence: Any) -> None:
        from llmask.matching.ahead import is_missing

        self.n_missing += is_missing(sequence._sequence)
        super().fill(sequence)

    def accept(self, sequence: Any, token: int) -> bool:
        is_accepted = super().accept(sequence, token)
        self._read_ahead(sequence)
        return is_accepted

    @staticmethod
    def _read_ahead(sequence: Any) -> None:
        import llmask

        llmask.Batch([sequence]).read_ahead()
