"""The backend of a scheduler: keys of requests are compiled in threads, and what came of them is remembered.

SGLang's classes become parents when the backend is made, so that this module needs no SGLang to be read.

In: keys. Out: grammars of requests, or why there is no grammar. Cost: that of compiling.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partialmethod
from typing import TYPE_CHECKING, Any

from ...errors import LlmaskError
from ...mask.apply import allocate_bitmask
from .grammar import RequestGrammar, allocate_masks, apply_masks, filter_tokens, move_masks
from .requests import compile_key, format_of, without_text

if TYPE_CHECKING:
    import torch

    from ...compiling.compiled_grammar import CompiledGrammar
    from ...compiling.compiler import Compiler

logger = logging.getLogger(__name__)
MOST_REMEMBERED = 1024  # keys; the compiler remembers more, within a number of bytes


class BoundedCache:
    """A cache of grammars by key, SGLang's, that forgets the oldest: each one holds tables of masks."""

    def set_cache(self, key: tuple[str, str], value: Any) -> None:
        """Remember what came of a key."""
        super().set_cache(key, value)  # type: ignore[misc]
        remembered: dict[tuple[str, str], Any] = self.cache  # type: ignore[attr-defined]
        while len(remembered) > MOST_REMEMBERED:
            del remembered[next(iter(remembered))]


class RequestBackend(BoundedCache):
    """What SGLang asks of a grammar backend, besides what its base class does: threads, and a cache by key.

    Parameters
    ----------
    compiler : for the model's tokenizer.
    options : of JSON, from `requests.json_options`.
    grammar_class : `RequestGrammar` with SGLang's class for a parent.
    """

    is_support_token_filter = True  # SGLang's name for `set_token_filter`

    def __init__(
        self, compiler: Compiler, options: Mapping[str, Any], grammar_class: type[RequestGrammar] = RequestGrammar
    ) -> None:
        super().__init__()
        self.compiler = compiler
        self.options = options
        self.grammar_class = grammar_class
        self._framing_compiler = compiler

    # --- keys; called in threads of SGLang's pool

    def dispatch_fallback(self, key_type: str, key_string: str) -> Any:
        """The grammar of a key of any kind: a `RequestGrammar`, or an `InvalidGrammarObject` with what is wrong."""
        return self._made(lambda: compile_key(self.compiler, key_type, key_string, self.options), key_type, key_string)

    dispatch_json = partialmethod(dispatch_fallback, "json")
    dispatch_regex = partialmethod(dispatch_fallback, "regex")
    dispatch_ebnf = partialmethod(dispatch_fallback, "ebnf")  # EBNF, GBNF or Lark; of keys full_assistant_ebnf, too
    dispatch_structural_tag = partialmethod(dispatch_fallback, "structural_tag")

    def _made(self, compile: Callable[[], CompiledGrammar], kind: str, source: str) -> Any:
        """What becomes of a key. The first mask is built, too, so that the scheduler need not wait for it."""
        from sglang.srt.constrained.base_grammar_backend import GrammarStats, InvalidGrammarObject

        try:
            grammar = compile()
            made = self.grammar_class(grammar, kind, source, GrammarStats(dispatch_type=kind))
            made.matcher.fill_bitmask(allocate_bitmask(1, grammar.tokenizer.vocab_size))
        except LlmaskError as error:
            logger.warning("a %s grammar is refused: %s", kind, error)
            return InvalidGrammarObject(str(error))
        return made

    # --- answers within a frame of special tokens, after a thinking within one

    def reserve_framing_tokens(self, token_ids: Sequence[int]) -> None:
        """Keep tokens for frames: no text within one is written with them."""
        self._framing_compiler = without_text(self.compiler, token_ids)

    def compile_framed_grammar(self, grammar: RequestGrammar, frame: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
        """The grammar of a frame, a structural tag, around that of a request; None: it has no form within one."""
        content = format_of(grammar.kind, grammar.source, self.options)
        if content is None:
            return None
        tag = frame(content)
        return self._made(lambda: self._framing_compiler.structural_tag(tag), "structural_tag", json.dumps(tag))

    # --- masks

    def initialize_vocab_mask_buffer(self, name: str, vocab_size: int, max_rows: int, device: Any) -> torch.Tensor:
        """A bitmask of `max_rows` rows under a name, which is used again and again."""
        from sglang.srt.constrained.base_grammar_backend import register_vocab_mask_buffer

        mask: torch.Tensor = register_vocab_mask_buffer(
            name, self.allocate_vocab_mask(vocab_size, max_rows, device), max_rows
        )
        return mask

    def allocate_vocab_mask(self, vocab_size: int, batch_size: int, device: Any) -> torch.Tensor:
        """As `RequestGrammar.allocate_vocab_mask`, for a request that has no grammar but its thinking."""
        return allocate_masks(batch_size, max(vocab_size, self.compiler.tokenizer.vocab_size))

    move_vocab_mask = staticmethod(move_masks)
    apply_vocab_mask = staticmethod(apply_masks)
    set_token_filter = staticmethod(filter_tokens)


@cache
def backend_class() -> Callable[[Compiler, Mapping[str, Any]], Any]:
    """What makes a backend: the classes of this package with SGLang's for parents."""
    from sglang.srt.constrained.base_grammar_backend import BaseGrammarBackend, BaseGrammarObject

    class LlmaskGrammar(RequestGrammar, BaseGrammarObject):  # type: ignore[misc]
        """A grammar of a request."""

    class LlmaskBackend(RequestBackend, BaseGrammarBackend):  # type: ignore[misc]
        """A backend whose grammars are SGLang's, too."""

        def __init__(self, compiler: Compiler, options: Mapping[str, Any]) -> None:
            super().__init__(compiler, options, LlmaskGrammar)

    return LlmaskBackend


@cache
def thinking_backend_class() -> Callable[..., Any]:
    """What wraps a backend where a model thinks before it answers: SGLang's class, with a cache that is bounded."""
    from sglang.srt.constrained.reasoner_grammar_backend import ReasonerGrammarBackend

    class LlmaskThinkingBackend(BoundedCache, ReasonerGrammarBackend):  # type: ignore[misc]
        """A backend whose grammars begin after the thinking."""

    return LlmaskThinkingBackend
