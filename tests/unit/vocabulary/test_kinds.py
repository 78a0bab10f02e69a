"""Kinds of tokenizer files are told by their first bytes, and a constructor names the one that is meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.sentencepiece_files import model_bytes
from llmask import Tokenizer
from llmask.errors import VocabularyError
from llmask.vocabulary.kinds import NAMES, kind_of, refuse_other_kinds

FILES = {
    "from_gguf": b"GGUF\x03\x00\x00\x00",
    "from_huggingface": b' \n{"model": {}}',
    "from_tiktoken": b"\n\nYQ== 0\nYg== 1\n",
    "from_sentencepiece": model_bytes([(b"<unk>", 0.0, 2)]),
}


@pytest.fixture(params=FILES)
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def path(kind: str, tmp_path: Path) -> Path:
    path = tmp_path / "weights.bin"
    path.write_bytes(FILES[kind])
    return path


def test_a_file_is_what_its_first_bytes_say(kind: str, path: Path):
    assert kind_of(path) == kind_of(str(path)) == kind
    assert kind_of(path.parent) == "from_huggingface"


@pytest.mark.parametrize("data", [b"", b"Hello world", b"FUGG", b"\x89PNG", b"YQ=="])
def test_a_file_that_holds_no_tokenizer_is_named(tmp_path: Path, data: bytes):
    path = tmp_path / "weights.bin"
    path.write_bytes(data)
    assert kind_of(path) is None
    for constructor in NAMES:
        refuse_other_kinds(path, constructor)  # its reader says what is wrong
    with pytest.raises(VocabularyError) as caught:
        Tokenizer.load(path)
    assert str(caught.value) == (
        f"{path} is neither a GGUF file nor a tokenizer.json, a SentencePiece .model or a .tiktoken file\n"
        "  at byte 0\n  give a file of one of these kinds"
    )


def test_every_constructor_names_the_right_one(kind: str, path: Path):
    for constructor in NAMES:
        if constructor == kind:
            continue
        with pytest.raises(VocabularyError) as caught:
            getattr(Tokenizer, constructor)(path)
        assert str(caught.value) == (
            f"{path} is {NAMES[kind]}, not {NAMES[constructor]}\n  at byte 0\n"
            f"  Tokenizer.{kind}(path) reads it, and so does Tokenizer.load(path)"
        )


def test_a_folder_is_no_file(tmp_path: Path):
    with pytest.raises(VocabularyError) as caught:
        Tokenizer.from_gguf(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path} is a folder, as of a Hugging Face tokenizer, not a GGUF file\n"
        "  Tokenizer.from_huggingface(path) reads it, and so does Tokenizer.load(path)"
    )


@pytest.mark.parametrize("constructor", ["load", *NAMES])
def test_a_missing_file_is_the_systems_error(tmp_path: Path, constructor: str):
    options = {"pattern": ".", "special": {"<end>": 0}} if constructor == "from_tiktoken" else {}
    with pytest.raises(FileNotFoundError):
        getattr(Tokenizer, constructor)(tmp_path / "none", **options)


def test_what_is_no_path_is_named():
    with pytest.raises(VocabularyError, match="int is not a path"):
        Tokenizer.load(3)
    with pytest.raises(VocabularyError) as caught:
        Tokenizer.from_bytes("model.gguf", eos=0)
    assert str(caught.value) == "tokens are a list of bytes, not str\n  Tokenizer.load(path) reads a file"


def test_objects_of_another_library_are_named():
    class Fast:
        def to_str(self) -> str:
            return "{}"

    class Slow:
        backend_tokenizer = Fast()

    class Encoding:
        _mergeable_ranks = None

    for source in (Fast(), Slow()):
        with pytest.raises(VocabularyError) as caught:
            Tokenizer.from_tiktoken(source)
        assert caught.value.help == "Tokenizer.from_huggingface(tokenizer) reads it"
    with pytest.raises(VocabularyError) as caught:
        Tokenizer.from_huggingface(Encoding())
    assert caught.value.help == "Tokenizer.from_tiktoken(encoding) reads it"


@pytest.mark.parametrize("name", ["gpt2", "meta-llama/Llama-3.1-8B"])
@pytest.mark.parametrize("constructor", ["load", "from_huggingface"])
def test_nothing_is_downloaded_and_that_is_said(constructor: str, name: str):
    with pytest.raises(VocabularyError) as caught:
        getattr(Tokenizer, constructor)(name)
    assert str(caught.value) == (
        f'there is no file or folder "{name}", and llmask downloads nothing\n'
        f'  pass the tokenizer itself: Tokenizer.from_huggingface(AutoTokenizer.from_pretrained("{name}"))'
    )


def test_a_gguf_file_is_to_be_given():
    with pytest.raises(VocabularyError) as caught:
        Tokenizer.from_gguf("unsloth/Llama-3.2-1B")
    assert str(caught.value) == (
        'there is no file or folder "unsloth/Llama-3.2-1B", and llmask downloads nothing\n'
        "  give the path of its .gguf file, or pass the tokenizer itself: "
        'Tokenizer.from_huggingface(AutoTokenizer.from_pretrained("unsloth/Llama-3.2-1B"))'
    )


@pytest.mark.parametrize(
    ("name", "how"), [("gpt-4o", "encoding_for_model"), ("cl100k_base", "get_encoding"), ("o200k_base", "get_encoding")]
)
def test_the_encoding_of_a_name_is_to_be_given(name: str, how: str):
    with pytest.raises(VocabularyError) as caught:
        Tokenizer.from_tiktoken(name)
    assert str(caught.value) == (
        f'there is no file or folder "{name}", and llmask downloads nothing\n'
        f'  pass the encoding itself: Tokenizer.from_tiktoken(tiktoken.{how}("{name}"))'
    )


@pytest.mark.parametrize("name", ["tokenizer.json", "a/tokenizer.json", "model.gguf", "./gpt2", "/gpt2", "a/b/c"])
def test_what_is_called_like_a_file_is_missing(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError):
        Tokenizer.from_huggingface(name)


def test_a_folder_that_is_called_like_a_model_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gpt2").mkdir()
    with pytest.raises(FileNotFoundError):  # the tokenizer.json in it
        Tokenizer.from_huggingface("gpt2")
