"""Arguments: what is taken as an integer, as a collection of ids and as a bitmask. Messages: see test_errors.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import llmask
from llmask.arguments import as_bitmask, as_flag, as_integer, as_path, each_of, on_one_line
from llmask.errors import GrammarError, LlmaskError, VocabularyError


class Index:
    def __index__(self) -> int:
        return 7


@pytest.mark.parametrize("value", [7, np.int64(7), np.uint8(7), Index()])
def test_integers_of_any_kind(value: Any) -> None:
    assert as_integer(value, "a row") == 7
    assert type(as_integer(value, "a row")) is int


@pytest.mark.parametrize("value", [True, np.True_, 7.0, "7", None, [7]])
def test_other_things_are_no_integers(value: Any) -> None:
    with pytest.raises(LlmaskError, match="a row is an integer"):
        as_integer(value, "a row")


def test_collections_of_ids() -> None:
    assert list(each_of(iter((1, 2)))) == [1, 2]
    with pytest.raises(LlmaskError, match="token ids are a sequence"):
        each_of(3)  # type: ignore[arg-type]


def test_bitmasks_are_not_copied() -> None:
    array = np.zeros((2, 3), np.int32)
    assert as_bitmask(array) is array
    strided = array[::-1, 1:]
    assert as_bitmask(strided) is strided
    row = as_bitmask(array[1])
    assert row.shape == (1, 3)
    assert np.shares_memory(row, array)


@pytest.mark.parametrize(
    "array",
    [
        *(np.zeros((1, 2, 3), np.int32), np.int32(0), np.zeros((2, 3)), np.zeros((2, 6), np.int32)[:, ::2]),
        *(np.zeros(6, np.int32)[::2], np.zeros((3, 2), np.int32).T, [[0]]),
    ],
)
def test_other_arrays_are_refused(array: Any) -> None:
    with pytest.raises(LlmaskError, match="a bitmask is a writable int32 array"):
        as_bitmask(array)


SEVERAL = np.array([1, 2])  # has no truth value


@pytest.mark.parametrize(("value", "is_true"), [(True, True), (0, False), (np.bool_(True), True), ([], False)])
def test_flags_are_what_counts_as_true(value: Any, is_true: bool) -> None:
    assert as_flag(value, "parallel") is is_true


def test_what_has_no_truth_value_is_no_flag() -> None:
    with pytest.raises(LlmaskError, match="parallel is True or False, not ndarray"):
        as_flag(SEVERAL, "parallel")


@pytest.mark.parametrize("path", ["a.gguf", b"a.gguf", Path("a.gguf")])
def test_paths_are_texts_and_what_stands_for_them(path: Any) -> None:
    if isinstance(path, bytes):
        with pytest.raises(VocabularyError, match="bytes is not a path"):
            as_path(path)
    else:
        assert as_path(path) == path


@pytest.mark.parametrize("path", ["", "a\0b", "\ud800", Path("a\0b")])
def test_what_names_no_file_is_refused_before_it_is_opened(path: Any) -> None:
    """`open` raises ValueError and UnicodeEncodeError for these."""
    with pytest.raises(VocabularyError, match="is not a path of a file"):
        as_path(path)


# each of these raised Python's or NumPy's own error
MISUSE: dict[str, tuple[Callable[[Any], Any], type[LlmaskError], str]] = {
    "decoder": (lambda c: llmask.StreamDecoder("a"), VocabularyError, "a Tokenizer is wanted, not str"),
    "continues": (lambda c: llmask.StreamDecoder(c.tokenizer, SEVERAL), LlmaskError, "continues is True or False"),
    "slices": (lambda c: llmask.Compiler(c.tokenizer, slices=3), LlmaskError, "slices are a list of str, not int"),
    "canonical": (lambda c: llmask.Compiler(c.tokenizer, canonical=SEVERAL), LlmaskError, "canonical is True or False"),
    "method": (lambda c: c.regex("a", SEVERAL), GrammarError, 'method "[1 2]" is not one of a pattern'),
    "lexer": (lambda c: c.lark('start: "a"', lexer=SEVERAL), GrammarError, 'lexer is "greedy" or "exact"'),
    "ties": (lambda c: c.lark('start: "a"', ties=SEVERAL), GrammarError, 'ties is "first" or "all"'),
    "directory": (lambda c: c.lark('start: "a"', directory={}), GrammarError, "directory is a path, not dict"),
    "NUL": (lambda c: c.lark('start: "a"', directory="a\0"), GrammarError, r"the directory 'a\x00' is no path: "),
    "literals": (lambda c: c.json_schema({}, literals=SEVERAL), GrammarError, "the option literals must be"),
    "choices": (lambda c: c.choice(np.array(3)), GrammarError, "choices are a sequence of str"),
    "escape": (lambda c: c.json_schema({}, escapes=np.array(3)), GrammarError, "the option escapes must be"),
    "escapes": (lambda c: c.json_schema({}, escapes=[[]]), GrammarError, "the option escapes must be"),
    "model": (lambda c: c.tools([{"name": "f"}], model=SEVERAL), GrammarError, "no tool calls of"),
    "reasoning": (lambda c: c.tools([{"name": "f"}], reasoning=SEVERAL), GrammarError, "reasoning is one of"),
    "encode": (lambda c: c.tokenizer.encode("a", SEVERAL), LlmaskError, "parse_special is True or False"),
    "encode method": (lambda c: c.tokenizer.encode("a", method=3), VocabularyError, "method is the name of a method"),
    "dropout": (lambda c: c.tokenizer.encode("a", method="dropout", dropout="a"), VocabularyError, "dropout=a, seed=0"),
    "batch": (lambda c: c.tokenizer.encode_batch(3), VocabularyError, "a batch is a sequence of texts, not int"),
    "threads": (lambda c: c.tokenizer.encode_batch(["a"], threads="2"), LlmaskError, "the number of threads is an int"),
    "bool id": (lambda c: c.tokenizer.token_bytes(True), VocabularyError, "the argument contains True"),
    "array id": (lambda c: c.tokenizer.decode(np.array(3)), VocabularyError, "ids is ndarray, not an id or a list"),
    "tokens": (lambda c: llmask.Tokenizer.from_bytes(3, eos=0), VocabularyError, "tokens are a list of bytes, not int"),
    "huggingface": (lambda c: llmask.Tokenizer.from_huggingface("\ud800"), VocabularyError, "is not a path of a file"),
}


@pytest.mark.parametrize("name", MISUSE)
def test_misuse_is_named_by_an_error_of_the_package(name: str, default_tokenizer: llmask.Tokenizer) -> None:
    call, kind, message = MISUSE[name]
    compiler = llmask.Compiler(default_tokenizer)
    with pytest.raises(LlmaskError) as caught:
        call(compiler)
    assert type(caught.value) is kind
    assert message in caught.value.message


def test_a_bitmask_that_is_a_list_is_refused_however_deep(tiny_tokenizer: llmask.Tokenizer) -> None:
    """Its type was looked for in its parts: without an end in a list that holds itself, a crash of the process."""
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(LlmaskError, match="a bitmask is a writable"):
        llmask.Compiler(tiny_tokenizer).choice(["a"]).matcher().fill_bitmask(endless)


def test_batches_are_read_from_any_collection_of_texts(default_tokenizer: llmask.Tokenizer) -> None:
    wanted = [default_tokenizer.encode("a b"), default_tokenizer.encode("c")]
    assert default_tokenizer.encode_batch(text for text in ("a b", "c")) == wanted  # type: ignore[arg-type]


def test_texts_of_one_line() -> None:
    assert on_one_line("/a b/é", 10) == "/a b/é"
    assert on_one_line("/\n\x1b[1m\ud83d", 20) == "/\\n\\x1b[1m\\ud83d"
    assert on_one_line("/" + "abc" * 10, 4) == "...cabc"
