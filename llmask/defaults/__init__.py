"""What is shipped inside the package: a tokenizer, a small language model over it, and the script that makes them."""

from __future__ import annotations

from .ngram import NgramModel

__all__ = ["NgramModel"]
