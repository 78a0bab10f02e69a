"""llmask: which tokens may a language model write next, given a grammar, its tokenizer and the tokens so far.

    tokenizer file --> vocabulary --> trie ----------------+
    schema, regex  --> rules --> lexer --> Earley rows --> bitmask --> logits

The public names are imported on first use: `import llmask` compiles nothing and loads no framework.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .compiling.compiled import CompiledGrammar
    from .compiling.compiler import Compiler
    from .compiling.tool_calls import ToolCallReader, tool_calls
    from .deprecated import ReasoningMatcher as ReasoningMatcher
    from .deprecated import accept_batch as accept_batch
    from .deprecated import fill_bitmasks as fill_bitmasks
    from .deprecated import read_ahead as read_ahead
    from .deprecated import rollback_batch as rollback_batch
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
    from .tokenizer.counting.growing import AppendableEncoder, PrependableEncoder
    from .tokenizer.counting.intervals import IntervalCounter
    from .tokenizer.stream_decoder import StreamDecoder
    from .tokenizer.tokenizer import Tokenizer

__version__ = "0.2.0"

__all__ = [
    "AppendableEncoder",
    "Batch",
    "BudgetError",
    "CompiledGrammar",
    "Compiler",
    "Explanation",
    "GrammarError",
    "GrammarWarning",
    "IntervalCounter",
    "LimitExceeded",
    "Limits",
    "LlmaskError",
    "Matcher",
    "Position",
    "PrependableEncoder",
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
    "warm_up",
]

_ERRORS = ("BudgetError", "GrammarError", "LimitExceeded", "LlmaskError", "TokenRejected")
_MORE_ERRORS = ("GrammarWarning", "UnsatisfiableSchema", "UnsupportedSchema", "VocabularyError")
_MODULES = {
    **dict.fromkeys(_ERRORS + _MORE_ERRORS, "errors"),
    "AppendableEncoder": "tokenizer.counting.growing",
    "PrependableEncoder": "tokenizer.counting.growing",
    "IntervalCounter": "tokenizer.counting.intervals",
    "Batch": "matching.batch",
    "CompiledGrammar": "compiling.compiled",
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
}
_OLD_NAMES = ("ReasoningMatcher", "accept_batch", "fill_bitmasks", "read_ahead", "rollback_batch")
_MODULES |= dict.fromkeys(_OLD_NAMES, "deprecated")


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module 'llmask' has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


def warm_up() -> str:
    """Pay what the first use in a process pays: imports, lark's tables, and kernels where they have to be compiled.

    Kernels come compiled on Linux; elsewhere compiling them takes about a minute once, with a progress bar on standard
    error, and they are kept in the cache folder. The rest is a fifth of a second. What a tokenizer's first use pays is
    paid by `Tokenizer.prepare`.

    Returns
    -------
    Where the kernels come from, for people: prebuilt, compiled into a folder or loaded from it.
    """
    from interegular import parse_pattern

    from .frontends.lark.syntax import statements_of
    from .frontends.places import Source
    from .kernels.machine.jit import make_everything_ready

    source = make_everything_ready()
    import_module(f"{__name__}.compiling.compiler")
    regex = ("regex.ecma_syntax", "regex.meaning", "regex.python_syntax")
    for module in (*regex, "bnf", "structural_tags", "response_formats", "tools"):
        import_module(f"{__name__}.frontends.{module}")
    statements_of(Source('start: "a"'))
    parse_pattern("a")  # makes classes and compiles expressions of its own: 20 ms of the first pattern
    return source
