"""llguidance through `LLMatcher`, with the slices that it recommends for JSON.

Its masks are asked for by the pointer of the array; its own NumPy helper spends a microsecond to find it.

In: see `base.py`. Out: an `Engine`. Cost: about a second to build a tokenizer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench.data import SEPARATORS
from bench.engines.base import CompileError, Engine, as_pattern
from bench.vocabularies import Vocabulary, encoder


class ByteTokens:
    """What `llguidance.LLTokenizer` asks of a tokenizer object: a list of bytes, special ids and an encoder."""

    is_tokenizer_wrapper = True
    bos_token_id = None

    def __init__(self, vocabulary: Vocabulary, encode: Callable[[str], list[int]]) -> None:
        self.tokens = vocabulary.tokens
        self.special_token_ids = vocabulary.special_ids
        self.eos_token_id = vocabulary.eos
        self._encode = encode

    def __call__(self, text: str | bytes) -> list[int]:
        return self._encode(text.decode() if isinstance(text, bytes) else text)


class Llguidance(Engine):
    r"""Llguidance through `LLMatcher`.

    Parameters
    ----------
    whitespace, vocabulary_name : as for every engine.
    like_llmask : allow ``\\uXXXX`` of any character in free strings, and white space in runs of at most 64 bytes, as
        llmask does; not so by default.
    """

    name = package = "llguidance"

    def __init__(self, whitespace: str, vocabulary_name: str = "llama3", like_llmask: bool = False) -> None:
        super().__init__(whitespace, vocabulary_name)
        import llguidance

        self.module = llguidance
        self.eos_ids = (self.vocabulary.eos,)
        tokens = ByteTokens(self.vocabulary, encoder(vocabulary_name))
        self.tokenizer = llguidance.LLTokenizer(tokens, slices=llguidance.LLTokenizer.json_slices())
        item_separator, key_separator = SEPARATORS["compact"]
        self.overrides: dict[str, Any] = (
            {"whitespace_flexible": True}
            if whitespace == "flexible"
            else {"whitespace_flexible": False, "item_separator": item_separator, "key_separator": key_separator}
        )
        if like_llmask:
            self.overrides["json_allow_general_unicode_escapes"] = True
            self.overrides["whitespace_pattern"] = r"[\x20\x0A\x0D\x09]{1,64}"

    def compile(self, grammar: Any, kind: str = "schema") -> Any:
        matcher_type = self.module.LLMatcher
        try:
            matcher = matcher_type(self.tokenizer, self._grammar(grammar, kind), log_level=0)
        except ValueError as error:
            raise CompileError(str(error)) from error
        if matcher.is_error():
            raise CompileError(matcher.get_error())
        return matcher

    def _grammar(self, grammar: Any, kind: str) -> str:
        matcher_type = self.module.LLMatcher
        if kind == "lark":
            return str(matcher_type.grammar_from_lark(grammar))
        if kind != "schema":
            return str(matcher_type.grammar_from_regex(as_pattern(grammar, kind)))
        # A boolean schema is not taken directly; its object form means the same.
        plain = grammar if isinstance(grammar, dict) else ({} if grammar else {"not": {}})
        return str(matcher_type.grammar_from_json_schema(plain, overrides=self.overrides))

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
