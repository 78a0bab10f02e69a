"""Servers bound grammars of strangers, unless their environment says otherwise."""

from __future__ import annotations

import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import llmask
from llmask.errors import LlmaskError
from llmask.integrations.limits import LIMITS_VARIABLE, compiler_of_server, limits_of_process, read_tokenizer
from llmask.limits import Limits


def test_the_environment_chooses_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LIMITS_VARIABLE, raising=False)
    assert limits_of_process() == Limits.for_untrusted()
    monkeypatch.setenv(LIMITS_VARIABLE, "default")
    assert limits_of_process() == Limits()
    monkeypatch.setenv(LIMITS_VARIABLE, "none")
    with pytest.raises(LlmaskError, match="LLMASK_LIMITS"):
        limits_of_process()


@pytest.mark.parametrize("limits", ["untrusted", "default"])
def test_warnings_of_a_new_grammar_are_logged_once_and_warn_nobody(
    byte_tokenizer: Any, limits: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(LIMITS_VARIABLE, limits)
    compiler = compiler_of_server(byte_tokenizer)
    schema = {"properties": {f"p{n}": {"type": "string", "format": "x" * 2000} for n in range(50)}, "requird": []}
    with warnings.catch_warnings(), caplog.at_level("INFO"):
        warnings.simplefilter("error")
        for _ in range(2):
            compiler.json_schema(schema)
        compiler.json_schema({"type": "object"})
    (record,) = caplog.records
    told = record.getMessage()
    assert told.startswith('a grammar compiles with 51 warnings: "format" at #/properties/p0/format is not enforced')
    assert len(told) < 1100


class Encoding:
    """What of a `tiktoken.Encoding` is looked at: the bytes, two merges, an end."""

    n_vocab = 260

    def __init__(self) -> None:
        self._mergeable_ranks = {**{bytes([byte]): byte for byte in range(256)}, b"ab": 256, b"abc": 257}
        self._special_tokens = {"[EOS]": 258, "<|im_end|>": 259}
        self._pat_str = r"\p{L}+|[^\p{L}]"


@pytest.mark.parametrize("name", ["model", "tokenizer", "_tokenizer"])
def test_an_encoding_in_a_class_of_a_model_is_found(name: str) -> None:
    """Kimi-K2 has it as `model`, Qwen as `tokenizer`."""
    tokenizer = read_tokenizer(SimpleNamespace(**{name: Encoding()}), [259, 5000, None], 270)
    assert tokenizer.encode("abcab") == [257, 256]
    assert set(tokenizer.eos_ids) == {259}
    assert tokenizer.vocab_size == 270
    assert read_tokenizer(Encoding(), [258], 10).vocab_size == 260


class Slow:
    """What of a slow tokenizer of SentencePiece is looked at; two tokens were added behind the pieces."""

    eos_token_id = 2

    def __init__(self, path: Path, pieces: list[str], shift: int = 0) -> None:
        self.vocab_file = str(path)
        self.pieces = pieces
        self.shift = shift
        self.sp_model = SimpleNamespace(get_piece_size=lambda: len(pieces), id_to_piece=pieces.__getitem__)

    def get_vocab(self) -> dict[str, int]:
        return {**{piece: id for id, piece in enumerate(self.pieces)}, "<tool>": len(self.pieces)}

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
        return [self.pieces[id - self.shift] for id in ids]


@pytest.fixture(scope="module")
def model(tmp_path_factory: Any) -> tuple[Path, list[str]]:
    """A small file, and its pieces."""
    sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
    folder = tmp_path_factory.mktemp("pieces")
    (folder / "text").write_text("\n".join(f"the {word} of {word}s" for word in ("apple", "river", "mountain")) * 9)
    prefix = folder / "small"
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "text"), model_prefix=str(prefix), vocab_size=300, model_type="bpe", byte_fallback=True,
        hard_vocab_limit=False, minloglevel=2,
    )  # fmt: skip
    path = prefix.with_suffix(".model")
    found = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return path, [found.id_to_piece(id) for id in range(found.get_piece_size())]


def test_a_slow_tokenizer_is_read_from_its_file(model: Any) -> None:
    path, pieces = model
    tokenizer = read_tokenizer(Slow(path, pieces), [2], len(pieces))
    assert tokenizer.encode("the apple") == llmask.Tokenizer.from_sentencepiece(path).encode("the apple")
    assert tokenizer.vocab_size == len(pieces) + 1
    assert tokenizer.token_bytes(len(pieces)) == b""


def test_one_whose_ids_are_others_is_refused(model: Any) -> None:
    path, pieces = model
    with pytest.raises(llmask.VocabularyError, match="are not those of its SentencePiece file"):
        read_tokenizer(Slow(path, pieces, shift=1), [2], len(pieces))


def test_what_is_no_tokenizer_is_refused() -> None:
    with pytest.raises(llmask.VocabularyError, match="neither a path nor a fast tokenizer"):
        read_tokenizer(SimpleNamespace(model=None), None, 10)
