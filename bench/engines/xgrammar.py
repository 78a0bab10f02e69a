"""XGrammar through `GrammarCompiler` and `GrammarMatcher`.

One thread, no memory of compiled grammars, and `strict_mode=False`: its default closes every object to properties that
the schema does not name, which is not what JSON Schema says. Special tokens are given as empty, which is how it
recognises them; otherwise their text would be allowed inside strings.

In: see `base.py`. Out: an `Engine`. Cost: two seconds to import it (torch, transformers), a tenth for the tokenizer.
"""

from __future__ import annotations

import json
from typing import Any

from bench.data import SEPARATORS
from bench.engines.base import CompileError, Engine, as_pattern


class XGrammar(Engine):
    """A mask that allows all is reported by `fill_next_token_bitmask` returning False; the words are written before."""

    name = package = "xgrammar"

    def __init__(self, whitespace: str, vocabulary_name: str = "llama3") -> None:
        super().__init__(whitespace, vocabulary_name)
        import xgrammar

        self.module = xgrammar
        special = set(self.vocabulary.special_ids)
        info = xgrammar.TokenizerInfo(
            [b"" if token in special else data for token, data in enumerate(self.vocabulary.tokens)],
            xgrammar.VocabType.RAW,
            stop_token_ids=list(self.eos_ids),
        )
        self.compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
        self.options: dict[str, Any] = (
            {"any_whitespace": True}
            if whitespace == "flexible"
            else {"any_whitespace": False, "separators": SEPARATORS["compact"]}
        )

    def compile(self, grammar: Any, kind: str = "schema") -> Any:
        try:
            if kind == "schema":
                return self.compiler.compile_json_schema(json.dumps(grammar), strict_mode=False, **self.options)
            return self.compiler.compile_regex(as_pattern(grammar, kind))
        except RuntimeError as error:
            raise CompileError(str(error).strip()) from error

    def start(self, grammar: Any) -> Any:
        return self.module.GrammarMatcher(grammar)

    def fill(self, sequence: Any) -> None:
        sequence.fill_next_token_bitmask(self.words)

    def accept(self, sequence: Any, token: int) -> bool:
        return bool(sequence.accept_token(token))

    def is_accepting(self, sequence: Any) -> bool:
        return bool(sequence.is_completed())

    def advance(self, sequence: Any, text: str) -> Any | None:
        after = sequence.fork()
        return after if after.accept_string(text) else None
