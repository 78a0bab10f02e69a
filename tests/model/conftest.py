"""SmolLM2-135M-Instruct, by NumPy and by frameworks, once for all tests of this folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import llmask
from bench.quality.reading import Reading
from bench.quality.runtimes import write_float32
from llmask.cli.framework_models import PACKAGED, path_of
from llmask.errors import LlmaskError
from llmask.samplers.numpy_llama import NumpyLlama


@pytest.fixture(scope="session")
def path() -> Path:
    """The model's file."""
    try:
        return path_of("smollm2")
    except LlmaskError:
        pytest.skip(f"the model is not installed: {PACKAGED['smollm2'].install}")


@pytest.fixture(scope="session")
def tokenizer(path: Path) -> llmask.Tokenizer:
    return llmask.Tokenizer.from_gguf(path)


@pytest.fixture(scope="session")
def reading(path: Path) -> Reading:
    """The model by NumPy."""
    return Reading(NumpyLlama(path))


@pytest.fixture(scope="session")
def float32(path: Path, tmp_path_factory: Any) -> Path:
    """A file with the same weights as float32: llama.cpp rounds what flows through a model of Q4_1, too."""
    target: Path = tmp_path_factory.mktemp("model") / "float32.gguf"
    write_float32(path, target)
    return target


@pytest.fixture(scope="session")
def transformers_model(path: Path) -> tuple[Any, Any]:
    """The model and its tokenizer by transformers."""
    for module in ("torch", "accelerate"):
        pytest.importorskip(module, reason=f"{module} is not installed")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    import torch

    model = transformers.AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)
    return model.eval(), transformers.AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)


@pytest.fixture(scope="session")
def llama_model(path: Path) -> Any:
    """The model by llama.cpp, as it is in its file."""
    llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
    return llama_cpp.Llama(str(path), n_ctx=2048, verbose=False)
