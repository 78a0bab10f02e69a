"""llmask: which tokens may a language model write next, given a grammar, its tokenizer and the tokens so far.

    tokenizer file --> vocabulary --> trie ----------------+
    schema, regex  --> rules --> lexer --> Earley rows --> bitmask --> logits

The public names are imported on first use: `import llmask` compiles nothing and loads no framework.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .compiling.compiled_grammar import CompiledGrammar
    from .compiling.compiler import Compiler
    from .compiling.first_uses import warm
    from .compiling.tool_calls import ToolCallReader, tool_calls
    from .deprecated import AppendableEncoder as AppendableEncoder
    from .deprecated import IntervalCounter as IntervalCounter
    from .deprecated import PrependableEncoder as PrependableEncoder
    from .deprecated import ReasoningMatcher as ReasoningMatcher
    from .deprecated import accept_batch as accept_batch
    from .deprecated import fill_bitmasks as fill_bitmasks
    from .deprecated import read_ahead as read_ahead
    from .deprecated import rollback_batch as rollback_batch
    from .deprecated import warm_up as warm_up
    from .errors import (
        BudgetError,
        GrammarError,
        GrammarWarning,
        LimitExceeded,
        LlmaskError,
        TokenRejected,
        UnsatisfiableSchema,
        UnsupportedSchema,
        VocabularyError,
    )
    from .limits import Limits
    from .mask.apply import allocate_bitmask, apply_bitmask
    from .matching.batch import Batch
    from .matching.explanation import Explanation, Reason
    from .matching.matcher import Matcher
    from .matching.partial import Position
    from .matching.reasoning import Reasoning
    from .samplers.generation import generate
    from .tokenizer.stream_decoder import StreamDecoder
    from .tokenizer.tokenizer import Tokenizer

__version__ = "0.2.0"

__all__ = [
    "Batch",
    "BudgetError",
    "CompiledGrammar",
    "Compiler",
    "Explanation",
    "GrammarError",
    "GrammarWarning",
    "LimitExceeded",
    "Limits",
    "LlmaskError",
    "Matcher",
    "Position",
    "Reason",
    "Reasoning",
    "StreamDecoder",
    "TokenRejected",
    "Tokenizer",
    "ToolCallReader",
    "UnsatisfiableSchema",
    "UnsupportedSchema",
    "VocabularyError",
    "allocate_bitmask",
    "apply_bitmask",
    "generate",
    "tool_calls",
    "warm",
]

_ERRORS = ("BudgetError", "GrammarError", "LimitExceeded", "LlmaskError", "TokenRejected")
_MORE_ERRORS = ("GrammarWarning", "UnsatisfiableSchema", "UnsupportedSchema", "VocabularyError")
_MODULES = {
    **dict.fromkeys(_ERRORS + _MORE_ERRORS, "errors"),
    "Batch": "matching.batch",
    "CompiledGrammar": "compiling.compiled_grammar",
    "Compiler": "compiling.compiler",
    "Explanation": "matching.explanation",
    "Limits": "limits",
    "Matcher": "matching.matcher",
    "Position": "matching.partial",
    "Reason": "matching.explanation",
    "Reasoning": "matching.reasoning",
    "StreamDecoder": "tokenizer.stream_decoder",
    "Tokenizer": "tokenizer.tokenizer",
    "ToolCallReader": "compiling.tool_calls",
    "allocate_bitmask": "mask.apply",
    "apply_bitmask": "mask.apply",
    "generate": "samplers.generation",
    "tool_calls": "compiling.tool_calls",
    "warm": "compiling.first_uses",
}
_OLD_ENCODERS = ("AppendableEncoder", "IntervalCounter", "PrependableEncoder")
_OLD_NAMES = ("ReasoningMatcher", "accept_batch", "fill_bitmasks", "read_ahead", "rollback_batch", "warm_up")
_MODULES |= dict.fromkeys(_OLD_ENCODERS + _OLD_NAMES, "deprecated")


def __getattr__(name: str) -> Any:
    if name == "counting":
        return import_module(f"{__name__}.{name}")
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module 'llmask' has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
