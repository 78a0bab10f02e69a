"""Compilers for SGLang's tokenizers, of which stand-ins are enough here."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from llmask import Compiler, Limits, Tokenizer
from llmask.errors import LlmaskError, VocabularyError
from llmask.integrations.limits import LIMITS_VARIABLE
from llmask.integrations.sglang.compilers import compiler_for, without_text


def fast_tokenizer(**attributes: Any) -> Any:
    """What transformers has: an object around one of the package tokenizers."""
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    inner = tokenizers.ByteLevelBPETokenizer()
    inner.train_from_iterator(["ab ab"], vocab_size=260, special_tokens=["<s>", "</s>", "<|x|>"], show_progress=False)
    backend = inner._tokenizer
    return SimpleNamespace(backend_tokenizer=backend, get_vocab=backend.get_vocab, **attributes)


def test_ends_are_those_of_the_model_and_of_the_tokenizer() -> None:
    for eos_token_ids, attributes, ends in (
        ({1}, {}, [1]),
        ({1}, {"eos_token_id": 0}, [0, 1]),
        (None, {"eos_token_id": 0, "additional_stop_token_ids": {2}}, [0, 2]),
        ([1, 2, 10**9, -1], {"eos_token_id": None, "additional_stop_token_ids": None}, [1, 2]),
    ):
        compiler = compiler_for(fast_tokenizer(**attributes), 300, eos_token_ids)
        assert list(compiler.tokenizer.eos_ids) == ends


def test_there_are_as_many_ids_as_logits_or_as_tokens() -> None:
    n_tokens = len(fast_tokenizer().get_vocab())
    for n_logits, n_ids in ((1000, 1000), (10, n_tokens)):
        assert compiler_for(fast_tokenizer(), n_logits, {1}).tokenizer.vocab_size == n_ids


def test_tokenizers_of_tiktoken_are_read() -> None:
    tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    encoding = tiktoken.Encoding(
        "small",
        pat_str=r"\S+|\s+",
        mergeable_ranks={**{bytes([byte]): byte for byte in range(256)}, b"ab": 256},
        special_tokens={"<end>": 257},
    )
    compiler = compiler_for(SimpleNamespace(tokenizer=encoding, eos_token_id=257), 270, None)
    assert (compiler.tokenizer.vocab_size, list(compiler.tokenizer.eos_ids)) == (270, [257])
    assert compiler.tokenizer.token_bytes(256) == b"ab"


@pytest.mark.parametrize("tokenizer", [None, object(), SimpleNamespace(tokenizer=3)])
def test_other_tokenizers_are_refused(tokenizer: Any) -> None:
    with pytest.raises(VocabularyError, match="fast tokenizer"):
        compiler_for(tokenizer, 100, {1})


def test_the_environment_says_whose_grammars_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LIMITS_VARIABLE, raising=False)
    assert compiler_for(fast_tokenizer(), 300, {1}).limits == Limits.for_untrusted()
    monkeypatch.setenv(LIMITS_VARIABLE, "default")
    assert compiler_for(fast_tokenizer(), 300, {1}).limits == Limits()
    monkeypatch.setenv(LIMITS_VARIABLE, "none")
    with pytest.raises(LlmaskError, match=LIMITS_VARIABLE):
        compiler_for(fast_tokenizer(), 300, {1})


def test_tokens_are_kept_out_of_text() -> None:
    tokens = [b"a", b"b", b"ab", b"<s>", b""]
    compiler = Compiler(Tokenizer.from_bytes(tokens, eos=4, special=[3]), limits=Limits(max_rows=1000))
    assert without_text(compiler, [3, 4]) is compiler
    other = without_text(compiler, [2, 3])
    assert other.limits == compiler.limits
    assert [other.tokenizer.token_bytes(token) for token in range(5)] == [b"a", b"b", b"", b"", b""]
    assert [compiler.regex("ab").matcher().accept(2), other.regex("ab").matcher().accept(2)] == [True, False]
    named = other.structural_tag({"format": {"type": "token", "token": "<s>"}}).matcher()
    assert named.accept(3)
