"""The part of `Compiler` that is about tool calls: structural tags, and formats of model families.

In: a specification. Out: `CompiledGrammar`. Cost: that of the schemas in it and some ms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .compiled import CompiledGrammar
from .frontends.json_schema.inputs import key_of
from .frontends.structural_tags import compile_structural_tag, document_of

if TYPE_CHECKING:
    from .limits import Limits
    from .store.store import Store


class TagCompiler:
    """Base of `Compiler`, which says what these are."""

    limits: Limits
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
            return CompiledGrammar(store, lowered.rules, lowered.warnings, grammar=lowered.grammar)

        return self._cached(("structural_tag", key_of(document)), compile_now)
