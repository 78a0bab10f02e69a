"""The part of `Compiler` that is about tool calls: structural tags, and formats of model families.

In: a specification. Out: `CompiledGrammar`. Cost: that of the schemas in it and some ms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import GrammarError, LlmaskError
from ..frontends.json_schema.inputs import key_of
from ..frontends.structural_tags import compile_structural_tag, document_of
from ..frontends.tools import Marks, place_of, read_tools, tools_tag
from ..grammar.token_ranges import token_named
from .compiled import CompiledGrammar

if TYPE_CHECKING:
    from ..limits import Limits
    from ..store.store import Store
    from ..tokenizer.tokenizer import Tokenizer


class TagCompiler:
    """Base of `Compiler`, which says what these are."""

    limits: Limits
    tokenizer: Tokenizer
    store: Callable[[], Store]
    _cached: Callable[[tuple[Any, ...], Callable[[], CompiledGrammar]], CompiledGrammar]

    def structural_tag(self, spec: Any) -> CompiledGrammar:
        """Compile a structural tag: free text, tags and schemas in it; it means what it derives, byte by byte.

        Parameters
        ----------
        spec : `{"type": "structural_tag", "format": {...}}` as XGrammar 0.2.8 reads it, or vLLM's older form with
            `structures` and `triggers`: a dict, JSON text, or a value of XGrammar's own models.

        Raises
        ------
        GrammarError : it is malformed or has a field or format that is not known; the message has the JSON pointer.
        UnsupportedSchema : a schema in it uses what is not enforced.
        UnsatisfiableSchema : no text fulfils it.
        LimitExceeded : it is too large for the limits.

        Examples
        --------
        >>> import llmask
        >>> compiler = llmask.Compiler(llmask.Tokenizer.default())
        >>> call = {"begin": "<f=add>", "content": {"type": "json_schema", "json_schema": {}}, "end": "</f>"}
        >>> form = {"type": "triggered_tags", "triggers": ["<f="], "tags": [call]}
        >>> grammar = compiler.structural_tag({"type": "structural_tag", "format": form})
        """
        document = document_of(spec, self.limits)

        def compile_now() -> CompiledGrammar:
            store = self.store()
            lowered = compile_structural_tag(store.nodes, document, self.limits)
            return CompiledGrammar(store, lowered.rules, lowered.warnings, lowered=lowered)

        return self._cached(("structural_tag", key_of(document)), compile_now)

    def tools(
        self,
        tools: Any,
        model: str = "llama-3",
        tool_choice: Any = "auto",
        *,
        parallel: bool = True,
        reasoning: bool | str = False,
    ) -> CompiledGrammar:
        """Compile the tool calls of a family of models, with the arguments of each function by its schema.

        Marks such as `[TOOL_CALLS]` are the special tokens of the vocabulary where it has them, and text elsewhere.

        Parameters
        ----------
        tools : functions in OpenAI's form, `{"type": "function", "function": {"name": ..., "parameters": {...}}}`, or
            only what stands in `function`.
        model : "llama-3", "hermes", "qwen-2.5", "qwen-3", "qwen-3-coder", "mistral", "mistral-v11", "deepseek-v3",
            "deepseek-v3.1", "deepseek-v3.2", "gpt-oss", "kimi-k2", "glm-4.5", "minimax-m1" or "minimax-m2".
        tool_choice : "auto": text in which calls may stand; "required": calls only; "none": text without calls; or
            `{"name": ...}` (OpenAI's longer form, too): calls of this function only.
        parallel : whether there may be several calls; the end of one is else the end of the response.
        reasoning : True: a section of reasoning (`<think>...</think>`) stands before all else. "optional": it may.
            "open": the prompt ends inside of it. False: there is none.

        Raises
        ------
        GrammarError : a function, a choice or an option is malformed; the message has the JSON pointer.
        UnsupportedSchema : a schema uses what is not enforced.
        UnsatisfiableSchema : no call fulfils a schema.
        LimitExceeded : it is too large for the limits.

        Examples
        --------
        >>> import llmask
        >>> compiler = llmask.Compiler(llmask.Tokenizer.default())
        >>> add = {"name": "add", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}
        >>> grammar = compiler.tools([add], model="qwen-3", tool_choice="required")
        """
        eos = set(self.tokenizer.eos_ids)
        special = set(self.tokenizer.special_ids)

        def is_among(name: str, ids: set[int]) -> bool:
            try:
                return token_named(self.tokenizer, name) in ids
            except GrammarError:
                return False

        marks = Marks(lambda name: is_among(name, special), lambda name: is_among(name, eos))
        listed = read_tools(tools)
        document = tools_tag(listed, model, tool_choice, parallel, reasoning, marks)
        try:
            return self.structural_tag(document)
        except LlmaskError as error:
            raise type(error)(error.message, place_of(error.where, document, listed), error.help) from None
