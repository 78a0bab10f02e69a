"""The compiler of a process for vLLM's tokenizer: made once, with the model's ends of sequence and number of logits.

Ends of sequence are those at which vLLM stops and no others: a token that only looks like one would end the grammar,
and what vLLM lets the model write after it would be free. vLLM stops at the tokenizer's, and at those of the model's
generation_config.json; ids that a request names itself are its matcher's (`requests.py`).

In: vLLM's tokenizer and its ModelConfig. Out: a `Compiler`. Cost: 0.4 s for 128,000 tokens, once in a process.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...compiling.compiler import Compiler
from ...errors import LlmaskError, VocabularyError
from ...tokenizer.tokenizer import Tokenizer
from ..limits import compiler_of_server
from ..server_tokenizers import read_tokenizer

# By tokenizer (its id: the value keeps it alive), vocabulary size and ends; filled without a lock, so that two threads
# may both make the first one, of which one is kept.
_known: dict[tuple[int, int, tuple[int, ...]], tuple[Any, Compiler]] = {}


def compiler_for(tokenizer: Any, model_config: Any) -> Compiler:
    """The compiler of this process for a tokenizer of vLLM.

    Parameters
    ----------
    tokenizer : what vLLM made for the model.
    model_config : a `vllm.config.ModelConfig`: it has the number of logits, and the ends of sequence.

    Raises
    ------
    VocabularyError : the tokenizer is of a kind that cannot be read.
    LlmaskError : the environment names no limits.
    """
    ends = ends_of(tokenizer, model_config)
    key = id(tokenizer), model_config.get_vocab_size(), ends
    found = _known.get(key)
    if found is None:
        made = tokenizer_of(tokenizer, key[1], ends)
        same = (known for _, known in list(_known.values()) if known.tokenizer.digest == made.digest)
        found = _known.setdefault(key, (tokenizer, next(same, None) or compiler_of_server(made)))
    return found[1]


def compiler_of_worker(vllm_config: Any) -> Compiler:
    """The compiler of a worker, which is given no tokenizer and asks vLLM for the one of its model.

    Raises
    ------
    VocabularyError, LlmaskError : as `compiler_for` has them.
    """
    from vllm.tokenizers import cached_tokenizer_from_config

    tokenizer = cached_tokenizer_from_config(model_config=vllm_config.model_config)
    return compiler_for(tokenizer, vllm_config.model_config)


def ends_of(tokenizer: Any, model_config: Any) -> tuple[int, ...]:
    """The ids at which vLLM ends every sequence, sorted."""
    read = getattr(model_config, "try_get_generation_config", None)
    declared = (read() or {}).get("eos_token_id") if read is not None else None
    ids = [getattr(tokenizer, "eos_token_id", None), *(declared if isinstance(declared, list) else [declared])]
    return tuple(sorted({id for id in ids if type(id) is int and id < model_config.get_vocab_size()}))


def tokenizer_of(tokenizer: Any, n_logits: int, ends: Iterable[int]) -> Tokenizer:
    """Llmask's tokenizer for one of vLLM's, as wide as the model's logits, or wider where the tokenizer is.

    Raises
    ------
    VocabularyError : it is none that `read_tokenizer` reads, nor one of Mistral's kind "tekken".
    """
    eos = list(ends) or None
    if getattr(tokenizer, "is_tekken", False):
        return _of_tekken(tokenizer.tokenizer, n_logits, eos)
    try:
        return read_tokenizer(tokenizer, eos, n_logits)
    except (VocabularyError, AttributeError, TypeError, NotImplementedError) as error:
        why = error.message if isinstance(error, LlmaskError) else f"{type(error).__name__}: {error}"
        raise VocabularyError(
            f"llmask cannot read this tokenizer, a {type(tokenizer).__name__}: {why}",
            help='use a fast tokenizer (tokenizer_mode="hf"), or another backend',
        ) from None


def _of_tekken(tekken: Any, n_logits: int, eos: list[int] | None) -> Tokenizer:
    """Of mistral_common's `Tekkenizer`: special tokens first, then bytes in the order of their merges.

    The vocabulary has no encoder that llmask could use, so nothing is forced.
    """
    special = range(tekken.num_special_tokens)
    tokens = [
        tekken.id_to_piece(id).encode() if id in special else tekken.id_to_byte_piece(id)
        for id in range(tekken.n_words)
    ]
    return Tokenizer.from_bytes(tokens, [tekken.eos_id] if eos is None else eos, special, max(n_logits, len(tokens)))
