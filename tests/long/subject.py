"""The engines as the conformance tools ask them: llmask with the options of the specification, peers as they are.

llmask is asked with `property_order="any"` (JSON objects have no order), `literals="any"` (a text may be spelled with
escapes) and, unless the caller says otherwise, `unique_keys=True` (the judge keeps the last of two members with one
key). An option that the version at hand does not have is left out and named in the report, never hidden.

In: schemas, documents as text. Out: verdicts. Cost: a second or two to start.
"""

from __future__ import annotations

import inspect
from typing import Any

import llmask
from bench.engines import Engine, adapter
from bench.engines.base import CompileError
from bench.engines.llmask import Llmask
from bench.engines.outlines_core import OutlinesCore
from llmask.matching.matcher import Matcher

VOCABULARY = "default"  # the package's tokenizer: nothing has to be fetched
WANTED = {"property_order": "any", "literals": "any", "unique_keys": True}


class Refused(CompileError):
    """A schema without a grammar; `kind` is the name of the error's class."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Subject(Llmask):
    """llmask through its public interface.

    Attributes
    ----------
    options : those of `WANTED` that this version has.
    missing : the others, and "registry" when references to other documents cannot be resolved.
    """

    def __init__(self, whitespace: str = "flexible", vocabulary_name: str = VOCABULARY) -> None:
        super().__init__(whitespace, vocabulary_name)
        self.options: dict[str, Any] = {}
        self.missing = []
        for name, value in WANTED.items():
            try:
                self.compiler.json_schema(True, **{name: value})
            except (TypeError, llmask.GrammarError):
                self.missing.append(name)
            else:
                self.options[name] = value
        self._has_registry = "registry" in inspect.signature(self.compiler.json_schema).parameters
        if not self._has_registry:
            self.missing.append("registry")

    def grammar(
        self, schema: Any, format: str = "assert", registry: Any = None, unique_keys: bool | None = None
    ) -> Any:
        """The compiled schema, or None when no document fulfils it.

        Raises
        ------
        Refused : the schema has no grammar for another reason.
        """
        options = dict(self.options)
        if unique_keys is not None and "unique_keys" in options:
            options["unique_keys"] = unique_keys
        if registry is not None and self._has_registry:
            options["registry"] = registry
        try:
            return self.compiler.json_schema(schema, whitespace=self.whitespace, format=format, **options)
        except llmask.UnsatisfiableSchema:
            return None
        except llmask.LlmaskError as error:
            raise Refused(type(error).__name__, str(error)) from error

    def accepts(self, grammar: Any, text: str | bytes) -> bool:
        """Whether the text is a document of the grammar."""
        return grammar is not None and accepts(grammar.matcher(), text)


def accepts(matcher: Matcher, text: str | bytes) -> bool:
    """Whether the matcher takes the text and may end after it."""
    try:
        matcher.accept_bytes(text if isinstance(text, bytes) else text.encode())
    except llmask.TokenRejected:
        return False
    return matcher.is_accepting()


def engine_of(name: str) -> Engine:
    """An engine that decides documents with white space between lexemes.

    outlines-core gets the vocabulary's bytes alone: which documents it takes is the same, and its index of all states
    and tokens costs a hundredth.
    """
    if name == "llmask":
        return Subject()
    engine = adapter(name)("flexible", VOCABULARY)
    if isinstance(engine, OutlinesCore):
        single = {data: ids for data, ids in engine.ids.items() if len(data) == 1}
        engine.known = engine.module.Vocabulary(engine.vocabulary.eos, single)
    return engine
