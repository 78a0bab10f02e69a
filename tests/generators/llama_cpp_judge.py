"""llama.cpp's own grammar sampler as a judge of GBNF: which tokens it leaves after other ones.

In: a GGUF file with a vocabulary. Out: masks. Cost: 1 ms a mask of 32,000 tokens; importing needs llama-cpp-python.
"""

from __future__ import annotations

import codecs
import ctypes
from pathlib import Path
from typing import Any

import llama_cpp
import numpy as np
import numpy.typing as npt

CANDIDATE = np.dtype([("id", np.intc), ("logit", np.single), ("p", np.single)], align=True)


class Judge:
    """A vocabulary of llama.cpp, and its grammar samplers."""

    def __init__(self, path: Path) -> None:
        self.model = llama_cpp.Llama(str(path), vocab_only=True, verbose=False)
        self.vocab = self.model._model.vocab
        self.n_tokens = llama_cpp.llama_vocab_n_tokens(self.vocab)

    def sampler(self, text: str) -> Any:
        return llama_cpp.llama_sampler_init_grammar(self.vocab, text.encode(), b"root")

    def mask(self, sampler: Any) -> npt.NDArray[np.bool_]:
        """Which tokens a sampler leaves."""
        candidates = np.zeros(self.n_tokens, CANDIDATE)
        candidates["id"] = np.arange(self.n_tokens)
        array = llama_cpp.llama_token_data_array(
            data=candidates.ctypes.data_as(llama_cpp.llama_token_data_p), size=self.n_tokens, selected=-1, sorted=False
        )
        llama_cpp.llama_sampler_apply(sampler, ctypes.byref(array))
        allowed = np.zeros(self.n_tokens, np.bool_)
        allowed[candidates["id"]] = candidates["logit"] > -1
        return allowed


def is_text(data: bytes) -> bool:
    """Whether some continuation of `data` is UTF-8."""
    try:
        rest = codecs.getincrementaldecoder("utf-8")()
        rest.decode(data)
    except UnicodeDecodeError:
        return False
    waiting = rest.getstate()[0]
    return not (waiting[:1] == b"\xed" and waiting[1:2] >= b"\xa0")  # surrogates
