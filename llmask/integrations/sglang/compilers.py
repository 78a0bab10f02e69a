"""The compiler of a scheduler, made of SGLang's tokenizer, and one for answers within a frame.

Ends of sequence are the tokens at which SGLang ends a request: those of the model's configuration and of the tokenizer.
The masks are as wide as the model's logits, or wider where the tokenizer is.

In: SGLang's tokenizer, the number of logits. Out: a `Compiler`. Cost: 0.4 s for 128,000 tokens.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...compiling.compiler import Compiler
from ...tokenizer.tokenizer import Tokenizer
from ..limits import compiler_of_server
from ..server_tokenizers import read_tokenizer


def compiler_for(tokenizer: Any, vocab_size: int, eos_token_ids: Iterable[int] | None) -> Compiler:
    """A compiler for a tokenizer of SGLang.

    Parameters
    ----------
    tokenizer : one that `read_tokenizer` reads, SGLang's own of tiktoken among them.
    vocab_size : the number of the model's logits.
    eos_token_ids : those of the model's configuration.

    Raises
    ------
    VocabularyError : the tokenizer is of a kind that cannot be read.
    LlmaskError : the environment names no limits.
    """
    ends = [*(eos_token_ids or ()), getattr(tokenizer, "eos_token_id", None)]
    ends += getattr(tokenizer, "additional_stop_token_ids", None) or ()
    return compiler_of_server(read_tokenizer(tokenizer, ends, vocab_size))


def without_text(compiler: Compiler, token_ids: Iterable[int]) -> Compiler:
    """A compiler for whose grammars some tokens have no text: they stand only where a grammar names them.

    It is the same one where that is so already, as for special tokens.
    """
    tokenizer = compiler.tokenizer
    special = set(tokenizer.special_ids)
    reserved = set(token_ids) - special
    if not reserved:
        return compiler
    hidden = special | reserved
    tokens = [
        tokenizer.decode([token], skip_special=False).encode() if token in hidden else tokenizer.token_bytes(token)
        for token in range(tokenizer.vocab_size)
    ]
    return compiler_of_server(Tokenizer.from_bytes(tokens, eos=tokenizer.eos_ids, special=hidden), compiler.limits)
