"""Tool calls read back: what `Compiler.tools` lets a model write, as names and values.

In: a text. Out: calls. Cost: see frontends/tools/reading.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..frontends.tools.reading import Reader, ToolCall
from ..limits import Limits
from ..store.store import Store
from ..tokenizer.tokenizer import Tokenizer

if TYPE_CHECKING:
    from ..regex.nodes import RegexNodes

MOST_NODES = 200_000
_stores: list[Store] = []


def _nodes() -> RegexNodes:
    """Where patterns of schemas are compiled for reading; a new place now and then, as functions may always be new."""
    if not _stores or _stores[0].nodes.n_nodes > MOST_NODES:
        tokens = [*(bytes([byte]) for byte in range(256)), b"</s>"]
        _stores[:] = [Store(Tokenizer.from_bytes(tokens, eos=256), Limits())]
    return _stores[0].nodes


class ToolCallReader(Reader):
    r"""Reads calls back from the text of a response, also while it is written.

    Parameters
    ----------
    model : a family, as `Compiler.tools` takes it.
    tools : the functions, as `Compiler.tools` takes them. Where arguments are elements, their schemas give the types.
    reasoning : as `Compiler.tools` takes it; a call that a section of reasoning holds is not read.

    Attributes
    ----------
    calls : those that are complete, as (name, arguments).
    text : what is outside of calls.

    Raises
    ------
    GrammarError : the family is not known, or a function is malformed.

    Examples
    --------
    >>> import llmask
    >>> reader = llmask.ToolCallReader("hermes")
    >>> deltas = reader.feed('<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>')
    >>> reader.calls
    [ToolCall(name='add', arguments={'a': 1})]
    """

    def __init__(self, model: str = "llama-3", tools: Any = (), reasoning: bool | str = False) -> None:
        super().__init__(model, tools, reasoning, _nodes)


def tool_calls(text: str, model: str = "llama-3", tools: Any = (), reasoning: bool | str = False) -> list[ToolCall]:
    """The calls in the text of a response, with the values that the functions' schemas give them.

    Parameters
    ----------
    text : of the whole response, with the text of special tokens, as the model wrote it.
    model, tools, reasoning : as `ToolCallReader` takes them.

    Raises
    ------
    GrammarError : the family is not known, or a function is malformed.
    LlmaskError : a call begins and does not go on as the family writes it, or the text ends in it.

    Examples
    --------
    >>> import llmask
    >>> llmask.tool_calls('[TOOL_CALLS]add[ARGS]{"a": 1}', "mistral-v11")
    [ToolCall(name='add', arguments={'a': 1})]
    """
    reader = ToolCallReader(model, tools, reasoning)
    reader.feed(text)
    reader.close()
    return reader.calls
