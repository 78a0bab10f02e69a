"""One adapter for each engine, all with the same functions, so that the worker cannot tell them apart.

A module here is named like its engine and imports it late; its class stands in `ADAPTERS`, twice where an engine has
two ways to work. `base.py` says what an adapter has to do.

In: the name of an engine. Out: its adapter's class. Cost: importing the adapter, not the engine.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from bench.engines.base import CompileError, Engine

__all__ = ["ADAPTERS", "CompileError", "Engine", "adapter", "is_installed"]

ADAPTERS = {
    "llmask": "bench.engines.llmask:Llmask",
    "llmask-warm": "bench.engines.llmask:LlmaskWarm",
    "llmask-documents": "bench.engines.llmask:LlmaskDocuments",
    "llmask-ahead": "bench.engines.llmask:LlmaskAhead",
    "llguidance": "bench.engines.llguidance:Llguidance",
    "xgrammar": "bench.engines.xgrammar:XGrammar",
    "outlines-core": "bench.engines.outlines_core:OutlinesCore",
    "glrmask": "bench.engines.glrmask:Glrmask",
    "glrmask-fast": "bench.engines.glrmask:GlrmaskFast",
}


def adapter(name: str) -> type[Engine]:
    """The adapter of the engine `name`."""
    module, _, class_name = ADAPTERS[name].partition(":")
    found: type[Engine] = getattr(import_module(module), class_name)
    return found


def is_installed(name: str) -> bool:
    """Whether the engine's own package can be imported."""
    return find_spec(adapter(name).package.replace("-", "_")) is not None
