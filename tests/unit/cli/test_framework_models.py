"""Sources of logits from frameworks: what is said when one is missing, and narrow logits."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import llmask
from llmask.cli.framework_models import PACKAGED, Packaged, PackagedSource, import_framework, path_of, pick
from llmask.errors import LlmaskError
from tests.generators.tiny_llama import write_tiny_llama


def test_a_missing_framework_comes_with_the_install_command() -> None:
    with pytest.raises(LlmaskError) as caught:
        import_framework("no_such_framework", "transformers")
    assert str(caught.value) == (
        "--model needs no_such_framework, which cannot be imported (No module named 'no_such_framework')\n"
        "  install it with: pip install 'llmask-engine[transformers]'"
    )


def test_tokens_beyond_the_model_have_no_logit() -> None:
    logits = np.array([1, 2, 3], np.float32)
    assert pick(logits, np.array([2, 0, 3, 9])).tolist() == [3, 1, -np.inf, -np.inf]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: Any) -> Path:
    """A package that raises when it is imported, as the real ones import what is not there."""
    folder = tmp_path / "tiny_model_package"
    folder.mkdir()
    (folder / "__init__.py").write_text("raise ImportError('it imports too much')")
    write_tiny_llama(folder / "tiny.gguf")
    monkeypatch.syspath_prepend(str(tmp_path))
    made = Packaged("tiny_model_package", "tiny.gguf", "pip install tiny", "<|im_start|>{}<|im_end|>", 0.0)
    monkeypatch.setitem(PACKAGED, "tiny", made)
    return folder


def test_the_file_is_found_without_importing_the_package(package: Path) -> None:
    assert path_of("tiny") == package / "tiny.gguf"
    assert "tiny_model_package" not in sys.modules


def test_a_missing_package_comes_with_the_install_command(package: Path, monkeypatch: Any) -> None:
    (package / "tiny.gguf").unlink()
    with pytest.raises(LlmaskError, match=r"the model tiny is not installed\n.*pip install tiny"):
        path_of("tiny")
    monkeypatch.setitem(PACKAGED, "none", PACKAGED["tiny"]._replace(module="no_such_package"))
    with pytest.raises(LlmaskError, match="not installed"):
        path_of("none")


def test_the_prompt_is_a_message_and_read_once(package: Path) -> None:
    tokenizer = llmask.Tokenizer.from_gguf(path_of("tiny"))
    source = PackagedSource("tiny", tokenizer, "hi")
    allowed = np.arange(tokenizer.vocab_size)
    source.begin()
    first = source.logits([], allowed)
    second = source.logits([7], allowed)
    third = source.logits([7, 9], allowed)
    source.begin()
    np.testing.assert_array_equal(source.logits([], allowed), first)
    np.testing.assert_allclose(source.logits([7], allowed), second, atol=1e-5)
    np.testing.assert_allclose(source.logits([7, 9], allowed), third, atol=1e-5)
    other = PackagedSource("tiny", tokenizer, "ho")
    other.begin()
    assert not np.allclose(other.logits([], allowed), first)


def test_a_document_is_written_by_name(package: Path, capsys: Any) -> None:
    from llmask.cli import main

    assert main(["generate", "--model", "tiny", "--regex", "[ab]{3}", "--max-tokens", "9", "hello"]) == 0
    document = capsys.readouterr().out.strip()
    assert len(document) == 3
    assert main(["generate", "--model", "tiny", "--regex", "[ab]{3}", "--seed", "5", "hello"]) == 0
    assert capsys.readouterr().out.strip() == document  # at its own temperature, which is 0 here
    assert set(document) <= {"a", "b"}
    with pytest.raises(SystemExit):
        main(["generate", "--model", "tiny", "--regex", "a", "--prompt", "x", "hello"])
