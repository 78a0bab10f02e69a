"""The six kinds of requests, as a backend gets them and as extra_args name them."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from llmask import Compiler, LlmaskError, VocabularyError
from llmask.integrations.vllm.requests import (
    KINDS,
    asked_for,
    compile_request,
    compiler_for,
    ends_of,
    matcher_of,
    tokenizer_of,
)

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


tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")


class Fast:
    """What of a fast tokenizer of transformers is looked at."""

    def __init__(self, *special: str) -> None:
        alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
        model = tokenizers.models.BPE(vocab={token: id for id, token in enumerate(alphabet)}, merges=[])
        self.backend_tokenizer = tokenizers.Tokenizer(model)
        self.backend_tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
        self.backend_tokenizer.decoder = tokenizers.decoders.ByteLevel()
        self.backend_tokenizer.add_special_tokens(list(special))
        self.eos_token_id = 256

    def get_vocab(self) -> dict[str, int]:
        return self.backend_tokenizer.get_vocab()


class Tekken:
    """What of mistral_common's Tekkenizer is looked at: two special tokens, then the bytes and one more."""

    num_special_tokens, eos_id, n_words = 2, 1, 259

    def id_to_piece(self, id: int) -> str:
        return ["<s>", "</s>"][id]

    def id_to_byte_piece(self, id: int) -> bytes:
        assert id >= 2
        return bytes([id - 2]) if id < 258 else b"\xc3\xa4b"


def config(n_logits: int = 300, eos: Any = None) -> Any:
    return SimpleNamespace(get_vocab_size=lambda: n_logits, try_get_generation_config=lambda: {"eos_token_id": eos})


def test_a_compiler_is_made_once_and_shared_by_equal_tokenizers() -> None:
    first = Fast("<|im_end|>", "<|endoftext|>")
    compiler = compiler_for(first, config())
    assert compiler_for(first, config()) is compiler
    assert compiler_for(Fast("<|im_end|>", "<|endoftext|>"), config()) is compiler
    assert compiler_for(first, config(eos=[257])) is not compiler


def test_only_ends_at_which_vllm_stops_end_a_sequence() -> None:
    """`<|endoftext|>` looks like an end, but vLLM would let the model write on after it, without a grammar."""
    tokenizer = Fast("<|im_end|>", "<|endoftext|>")
    assert tuple(compiler_for(tokenizer, config()).tokenizer.eos_ids) == (256,)
    assert set(compiler_for(tokenizer, config(eos=[257, 9000, True])).tokenizer.eos_ids) == {256, 257}
    assert ends_of(tokenizer, config(eos=257)) == (256, 257)
    assert ends_of(tokenizer, SimpleNamespace(get_vocab_size=lambda: 300)) == (256,)


def test_it_is_as_wide_as_the_logits_or_the_tokenizer() -> None:
    tokenizer = Fast("<|end|>", "<|image|>")
    assert tokenizer_of(tokenizer, 320, [256]).vocab_size == 320
    assert tokenizer_of(tokenizer, 257, [256]).vocab_size == 258  # the image's token has no logit


def test_mistrals_tekken_is_read() -> None:
    tokenizer = tokenizer_of(SimpleNamespace(is_tekken=True, tokenizer=Tekken()), 264, [])
    assert tokenizer.token_bytes(258) == "äb".encode()
    assert tokenizer.token_bytes(2 + 65) == b"A"
    assert tokenizer.vocab_size == 264
    assert tuple(tokenizer.eos_ids) == (1,)
    assert tokenizer.token_bytes(0) == b""


def test_what_cannot_be_read_is_refused_with_a_way_out() -> None:
    for tokenizer in (object(), SimpleNamespace(get_vocab=lambda: {"a": 1}), SimpleNamespace(get_vocab=lambda: None)):
        with pytest.raises(VocabularyError, match="cannot read this tokenizer") as caught:
            tokenizer_of(tokenizer, 300, [256])
        assert "tokenizer_mode" in (caught.value.help or "")
