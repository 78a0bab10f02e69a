"""Both implementations of regex nodes, for tests that must hold for either."""

from __future__ import annotations

from typing import Any

from tests.reference.regex_nodes import RegexNodes as TwinNodes

KINDS = ("twin", "compiled")


def make_nodes(kind: str) -> Any:
    """Fresh nodes; the compiled ones live in a store over a vocabulary of single bytes."""
    if kind == "twin":
        return TwinNodes()
    from llmask.limits import Limits
    from llmask.store.store import Store
    from llmask.tokenizer.tokenizer import Tokenizer

    tokenizer = Tokenizer.from_bytes([bytes([byte]) for byte in range(256)] + [b"<eos>"], eos=256)
    return Store(tokenizer, Limits()).nodes
