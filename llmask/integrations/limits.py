"""The compiler of a server: with limits for grammars of strangers, unless its environment asks for the wider ones.

Tokenizers of servers are fast ones of transformers, tiktoken's in a class of a model, slow ones of SentencePiece. A
model whose tokenizer is tiktoken's comes with a class of its own (Kimi-K2, Qwen), which keeps the encoding in one of a
few attributes. A slow tokenizer of SentencePiece says where its file is; it is used where each id is the file's, and
tokens that were added after these have no text.

In: the environment, which all processes of a server share; a tokenizer object. Out: `Limits`, a `Tokenizer`, a
`Compiler`. Cost: that of a compiler; 0.4 s for a tokenizer of 128,000 tokens.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from typing import Any

from llmask.compiling.compiled import CompiledGrammar
from llmask.compiling.compiler import Compiler
from llmask.errors import LlmaskError, VocabularyError, short
from llmask.limits import Limits
from llmask.tokenizer.tokenizer import Tokenizer

logger = logging.getLogger(__name__)

LIMITS_VARIABLE = "LLMASK_LIMITS"
MOST_LOGGED = 5  # warnings of one grammar
_NAMED = {"untrusted": Limits.for_untrusted, "default": Limits}
ENCODINGS = ("tokenizer", "model", "_tokenizer")  # where classes of models keep tiktoken's


def limits_of_process() -> Limits:
    """What the environment says of limits.

    Raises
    ------
    LlmaskError : it names none.
    """
    name = os.environ.get(LIMITS_VARIABLE, "untrusted")
    if name not in _NAMED:
        raise LlmaskError(f'{LIMITS_VARIABLE} is "untrusted" or "default", not {name!r}', help="or leave it unset")
    return _NAMED[name]()


def compiler_of_server(tokenizer: Tokenizer, limits: Limits | None = None) -> Compiler:
    """A compiler that logs the warnings of each new grammar, where nobody would see those of Python.

    Raises
    ------
    LlmaskError : `limits` is None, and the environment names none.
    """
    return Compiler(tokenizer, limits=limits or limits_of_process(), warm="documents", on_warnings=_log_warnings)


def _log_warnings(grammar: CompiledGrammar) -> None:
    said = grammar.warnings
    logger.info("a grammar compiles with %d warnings: %s", len(said), short("; ".join(said[:MOST_LOGGED])))


def read_tokenizer(tokenizer: Any, eos: Iterable[Any] | None, n_logits: int) -> Tokenizer:
    """Llmask's tokenizer for a server's, as wide as the model's logits, or wider where the tokenizer is.

    Raises
    ------
    VocabularyError : it is of a kind that cannot be read, or has no end of sequence.
    """
    encoding = next(
        (found for found in (tokenizer, *_parts_of(tokenizer)) if hasattr(found, "_mergeable_ranks")),
        None,
    )
    if encoding is not None:
        return Tokenizer.from_tiktoken(
            encoding, _ends_within(eos, n_logits), vocab_size=max(n_logits, encoding.n_vocab)
        )
    n_tokens = max(n_logits, 1 + max(getattr(tokenizer, "get_vocab", dict)().values(), default=-1))
    eos = _ends_within(eos, n_tokens)
    pieces = getattr(tokenizer, "sp_model", None)
    if pieces is None or getattr(tokenizer, "is_fast", False):
        return Tokenizer.from_huggingface(tokenizer, eos, n_tokens)
    n_pieces = pieces.get_piece_size()
    if tokenizer.convert_ids_to_tokens(list(range(n_pieces))) != [pieces.id_to_piece(id) for id in range(n_pieces)]:
        raise VocabularyError(
            f"the ids of this {type(tokenizer).__name__} are not those of its SentencePiece file",
            help="use the fast tokenizer of the model",
        )
    return Tokenizer.from_sentencepiece(tokenizer.vocab_file, eos, n_tokens)


def _parts_of(tokenizer: Any) -> list[Any]:
    return [getattr(tokenizer, name, None) for name in ENCODINGS]


def _ends_within(eos: Iterable[Any] | None, n_tokens: int) -> list[int] | None:
    """The ends that are ids, sorted; None: the tokenizer's own."""
    return sorted({id for id in eos or () if type(id) is int and 0 <= id < n_tokens}) or None
