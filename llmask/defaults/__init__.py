"""What is shipped inside the package: a tokenizer and a small language model over it; `tools/training` makes them."""

from __future__ import annotations

from .ngram import NgramModel

__all__ = ["NgramModel"]
