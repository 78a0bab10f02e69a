"""Sources of logits from real models: a folder of transformers, or a GGUF file run by llama.cpp.

The frameworks are optional and imported here only. Both keep the keys and values of the tokens that they have seen, so
each step feeds the new tokens only.

In: a model's path and a prompt. Out: logits. Cost: one forward pass a token.
"""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

import numpy as np

from llmask.cli.sampling import Logits, TokenIds
from llmask.errors import LlmaskError, how_to_install


def import_framework(name: str, extra: str) -> Any:
    """Import an optional framework, or say how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise LlmaskError(
            f"--model needs {name}, which cannot be imported ({error})",
            help=f"install it with: {how_to_install(extra)}",
        ) from error


def pick(logits: Logits, allowed: TokenIds) -> Logits:
    """Logits of the allowed tokens; minus infinity for tokens that the model has no logit for."""
    picked = np.full(len(allowed), -np.inf, np.float32)
    has_logit = allowed < len(logits)
    picked[has_logit] = logits[allowed[has_logit]]
    return picked


class TransformersSource:
    """A causal language model of transformers.

    Parameters
    ----------
    folder : where `save_pretrained` put the model and its tokenizer.
    prompt : text before the document.
    """

    def __init__(self, folder: Path, prompt: str) -> None:
        self._torch = import_framework("torch", "transformers")
        transformers = import_framework("transformers", "transformers")
        self._model = transformers.AutoModelForCausalLM.from_pretrained(str(folder)).eval()
        # what transformers 5.24 calls a cache was called otherwise before
        takes = inspect.signature(self._model.forward).parameters
        self._cache = "cache" if "cache" in takes else "past_key_values"
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder))
        start = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        self._prompt: list[int] = tokenizer(prompt).input_ids or [start]
        self.begin()

    def begin(self) -> None:
        """Start a new document after the prompt."""
        self._seen: Any = None
        self._n_seen = 0

    def logits(self, ids: list[int], allowed: TokenIds) -> Logits:
        """Logits of the allowed tokens."""
        tokens = [*self._prompt, *ids]
        with self._torch.inference_mode():
            new = self._torch.tensor([tokens[self._n_seen :]])
            output = self._model(input_ids=new, use_cache=True, **{self._cache: self._seen})
        self._seen, self._n_seen = output[self._cache], len(tokens)
        return pick(output.logits[0, -1].float().numpy(), allowed)


class LlamaCppSource:
    """A GGUF model run by llama-cpp-python.

    Parameters
    ----------
    path : the model file.
    prompt : text before the document.
    max_tokens : of a document; with the prompt it makes the length of the context.
    """

    def __init__(self, path: Path, prompt: str, max_tokens: int) -> None:
        self._library = import_framework("llama_cpp", "llama-cpp")
        self._model = self._library.Llama(str(path), n_ctx=max_tokens + len(prompt.encode()) + 8, verbose=False)
        self._prompt: list[int] = self._model.tokenize(prompt.encode()) or [self._model.token_eos()]
        self.begin()

    def begin(self) -> None:
        """Start a new document after the prompt."""
        self._model.reset()
        self._n_seen = 0

    def logits(self, ids: list[int], allowed: TokenIds) -> Logits:
        """Logits of the allowed tokens."""
        tokens = [*self._prompt, *ids]
        self._model.eval(tokens[self._n_seen :])
        self._n_seen = len(tokens)
        address = self._library.llama_get_logits_ith(self._model.ctx, -1)
        return pick(np.ctypeslib.as_array(address, shape=(self._model.n_vocab(),)), allowed)
