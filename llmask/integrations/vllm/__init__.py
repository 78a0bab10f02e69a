"""vLLM: a backend of structured outputs, a source of drafts, and logits processors.

    vllm serve MODEL --structured-outputs-config '{"backend": "llmask"}'

`docs/integrations/vllm.md` has the rest. vLLM finds `register` by an entry point when llmask is installed; the classes
are named in its settings, and imported when they are asked for. The two processors are registered with vLLM's abstract
classes at that moment, as vLLM asks what they are.

In: vLLM's own objects. Out: masks, drafts. No module here imports vLLM before it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .plugin import register

__all__ = ["Backend", "ForcedTokens", "Grammar", "V1Processor", "V2Processor", "register"]

_LATE = {
    "Backend": "backend",
    "Grammar": "backend",
    "ForcedTokens": "drafts",
    "V1Processor": "processors",
    "V2Processor": "processors",
}


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f".{_LATE[name]}", __name__)
    return module.registered(name) if _LATE[name] == "processors" else getattr(module, name)
