"""The engines as they are asked in a duel: as they are measured, or with the widest settings that they have.

    llmask        property_order="any", literals="any"
    llguidance    json_allow_general_unicode_escapes, white space in runs of at most 64 bytes, as llmask has it
    xgrammar      any_order, whose documentation says that keys may then be missing or be repeated
    glrmask, outlines-core: they have no such settings

In: an engine's name. Out: an `Engine`. Cost: a second or two.
"""

from __future__ import annotations

from typing import Any

from bench.engines import Engine, adapter
from bench.engines.base import CompileError
from bench.engines.llguidance import Llguidance
from bench.engines.llmask import Llmask
from bench.engines.xgrammar import XGrammar


class WideLlmask(Llmask):
    """Any order, any spelling of keys and listed texts."""

    def compile(self, grammar: Any, kind: str = "schema") -> Any:
        try:
            return self.compiler.json_schema(grammar, whitespace=self.whitespace, property_order="any", literals="any")
        except self.refusals as error:
            raise CompileError(f"{type(error).__name__}: {error}") from error


class WideXGrammar(XGrammar):
    """Keys in any order."""

    def __init__(self, whitespace: str, vocabulary_name: str = "llama3") -> None:
        super().__init__(whitespace, vocabulary_name)
        self.options["any_order"] = True


def engine_of(name: str, is_widest: bool, vocabulary_name: str = "llama3") -> Engine:
    """An engine with flexible white space."""
    if is_widest and name == "llmask":
        return WideLlmask("flexible", vocabulary_name)
    if is_widest and name == "llguidance":
        return Llguidance("flexible", vocabulary_name, like_llmask=True)
    if is_widest and name == "xgrammar":
        return WideXGrammar("flexible", vocabulary_name)
    return adapter(name)("flexible", vocabulary_name)


def settings_of(name: str, is_widest: bool) -> str:
    """What the settings are, in words."""
    wide = {
        "llmask": 'property_order="any", literals="any"',
        "llguidance": "json_allow_general_unicode_escapes, whitespace_pattern of at most 64 bytes",
        "xgrammar": "any_order",
    }
    return wide.get(name, "default") if is_widest else "default"
