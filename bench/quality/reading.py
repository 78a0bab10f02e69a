"""The model, which reads a beginning that several texts share once.

Writers whose masks agree write the same text, and ask for the same logits again; where they part, the model goes back
to the last token that they share. So seven writers cost little more than two.

In: a model, tokens. Out: logits. Cost: a token that was not read before is a step of the model.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


class Model(Protocol):
    """What `llmask.samplers.numpy_llama.NumpyLlama` is."""

    def read(self, tokens: list[int]) -> Floats:
        """Read some tokens: the logits behind the last."""

    def forget(self, n: int) -> None:
        """Take back all but the first `n` tokens."""


class Reading:
    """Logits behind any text.

    Attributes
    ----------
    n_read : tokens that the model read.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._tokens: list[int] = []  # what the model has read
        self._known: dict[tuple[int, ...], Floats] = {}
        self._prompt: list[int] = []
        self.n_read = 0

    def begin(self, prompt: list[int]) -> None:
        """Forget the logits of another prompt; what both begin with is not read again."""
        self._prompt = prompt
        self._known = {}

    def logits(self, tokens: list[int]) -> Floats:
        """float32[n_vocab], behind the prompt and these tokens."""
        key = tuple(tokens)
        if key not in self._known:
            wanted = self._prompt + tokens
            n_same = n_common(self._tokens, wanted[:-1])
            self._model.forget(n_same)
            self._known[key] = self._model.read(wanted[n_same:])
            self._tokens = wanted
            self.n_read += len(wanted) - n_same
        return self._known[key]


def n_common(left: list[int], right: list[int]) -> int:
    """How many tokens two texts begin with alike."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((n for n, (one, other) in pairs if one != other), min(len(left), len(right)))


def model_path() -> Path:
    """The file of SmolLM2, which its package brings."""
    from llmask.cli.framework_models import path_of

    return path_of("smollm2")
