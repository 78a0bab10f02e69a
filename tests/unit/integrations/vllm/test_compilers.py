"""Compilers for vLLM's tokenizers: one a process, with the ends of sequence and as many ids as the model has."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from llmask import VocabularyError
from llmask.integrations.vllm.compilers import compiler_for, ends_of, tokenizer_of

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
