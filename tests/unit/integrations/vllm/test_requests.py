"""The six kinds of requests, as a backend gets them and as extra_args name them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmask import Compiler, LlmaskError
from llmask.integrations.vllm.requests import KINDS, asked_for, compile_request, matcher_of


@pytest.fixture(scope="module")
def compiler(byte_tokenizer: Any) -> Compiler:
    return Compiler(byte_tokenizer)


TAG = {
    "type": "structural_tag",
    "format": {"type": "tag", "begin": "<f>", "content": {"type": "any_text"}, "end": "</f>"},
}
SPECS: dict[str, tuple[Any, str]] = {
    "json": ('{"type": "integer"}', "12"),
    "json_object": ("", '{"a": 1}'),
    "regex": ("[ab]+", "abba"),
    "grammar": ('start: "a"+', "aaa"),
    "choice": ('["yes", "no"]', "no"),
    "structural_tag": (json.dumps(TAG), "<f>x</f>"),
}


def test_there_are_six_kinds() -> None:
    assert set(SPECS) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_compiled(compiler: Compiler, kind: str) -> None:
    spec, text = SPECS[kind]
    matcher = matcher_of(compile_request(compiler, kind, spec))
    matcher.accept_bytes(text.encode())
    assert matcher.is_accepting()


def test_data_serve_as_well_as_their_text(compiler: Compiler) -> None:
    assert compile_request(compiler, "choice", ["yes", "no"]) is compile_request(compiler, "choice", '["yes", "no"]')
    assert compile_request(compiler, "json", {"type": "integer"}).shortest() == b"0"
    assert compile_request(compiler, "structural_tag", TAG).shortest() == b"<f></f>"


def test_compact_json_has_no_white_space(compiler: Compiler) -> None:
    for kind, spec in (("json", '{"type": "object"}'), ("json_object", "")):
        assert b'{"a": 1}' not in _accepted(compile_request(compiler, kind, spec, whitespace="compact"), b'{"a": 1}')
        assert _accepted(compile_request(compiler, kind, spec), b'{"a": 1}') == b'{"a": 1}'


def _accepted(grammar: Any, text: bytes) -> bytes:
    matcher = grammar.matcher()
    for byte in text:
        if not matcher.accept(byte):
            break
    return matcher.text()


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("json", '{"type": "intger"}'), ("json", "{"), ("json", 3), ("regex", "("), ("regex", None), ("choice", "yes"),
        ("choice", "[]"), ("choice", "[1]"), ("choice", "3"), ("choice", "[" * 100_000), ("choice", None),
        ("grammar", "nothing"), ("grammar", {}), ("structural_tag", "{}"), ("structural_tag", 1), ("jsn", "{}"),
    ],
)  # fmt: skip
def test_bad_requests_are_errors_of_llmask(compiler: Compiler, kind: str, spec: Any) -> None:
    with pytest.raises(LlmaskError):
        compile_request(compiler, kind, spec)


def test_ends_of_the_vocabulary_are_no_stop_tokens(compiler: Compiler) -> None:
    """A matcher with stop tokens of its own is slower, and most requests only have the model's ends."""
    grammar = compile_request(compiler, "regex", "a+")
    end = compiler.tokenizer.eos_ids[0]
    assert matcher_of(grammar, {end})._sequence.stop_tokens == frozenset()
    matcher = matcher_of(grammar, {end, 98})
    assert matcher._sequence.stop_tokens == {98}
    assert matcher._sequence.on_limit == "finish"


def test_options_name_one_kind() -> None:
    assert asked_for({"regex": "a+"}) == ("regex", "a+")
    assert asked_for({"json_object": True}) == ("json_object", True)
    for wrong in (
        {},
        {"a": 1},
        {"regex": "a", "json": "{}"},
        "regex",
        None,
        {"json_object": False},
        {3: 4},
        {"x" * 999: 1},
    ):
        with pytest.raises(LlmaskError) as caught:
            asked_for(wrong)
        assert len(str(caught.value)) < 400
