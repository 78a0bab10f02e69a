"""Vocabulary of a tiktoken encoding, or of a `.tiktoken` file.

tiktoken keeps a rank for every byte string; the rank is the token id, and merging goes by the rank of the result. Ids
of special tokens lie above, with holes (UNUSED). The end of a sequence is the principal <|endoftext|> and what else
is a well-known name. A file has a line for each token, its bytes in base64 and its rank; how text is split and which
tokens are special goes by the name of the file.

In: a `tiktoken.Encoding`, or a path. Out: `Vocabulary`. Cost: 50 ms for 200,000 tokens.
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import VocabularyError
from ..kernels.constants import MAX_VOCAB_SIZE
from .end_tokens import find_end_ids
from .patterns import PATTERNS
from .strings import make_table
from .vocabulary import EncoderData, TokenType, Vocabulary, check_ids, find_special, freeze_vocabulary

# special tokens of the encodings whose files are published
SPECIAL_TOKENS = {
    "r50k_base": {"<|endoftext|>": 50256},
    "p50k_base": {"<|endoftext|>": 50256},
    "cl100k_base": {
        "<|endoftext|>": 100257, "<|fim_prefix|>": 100258, "<|fim_middle|>": 100259, "<|fim_suffix|>": 100260,
        "<|endofprompt|>": 100276,
    },
    "o200k_base": {"<|endoftext|>": 199999, "<|endofprompt|>": 200018},
}  # fmt: skip


def read_tiktoken(source: Any, eos: int | Iterable[int] | None = None) -> Vocabulary:
    """Vocabulary of a `tiktoken.Encoding`, or of a file such as `cl100k_base.tiktoken`.

    Raises
    ------
    VocabularyError : neither, a damaged file, or no end-of-sequence token.
    OSError : the file cannot be opened.
    """
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        if path.stem not in SPECIAL_TOKENS:
            raise VocabularyError(
                f"{path.name}: it is not known how this encoding splits a text",
                help="name the file as tiktoken does: " + ", ".join(f"{name}.tiktoken" for name in SPECIAL_TOKENS),
            )
        return _make(_read_ranks(path), SPECIAL_TOKENS[path.stem], PATTERNS[path.stem], eos)
    try:
        ranks: dict[bytes, int] = source._mergeable_ranks
        specials: dict[str, int] = source._special_tokens
        pattern: str = source._pat_str
    except AttributeError:
        raise VocabularyError(
            f"{type(source).__name__} is not a tiktoken encoding", help='pass tiktoken.get_encoding("o200k_base")'
        ) from None
    return _make(ranks, specials, (pattern,), eos)


def _read_ranks(path: Path) -> dict[bytes, int]:
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            spelled, rank = line.split()
            ranks[base64.b64decode(spelled, validate=True)] = int(rank)
        except (ValueError, binascii.Error):
            raise VocabularyError(f"{path}: line {number} is not base64 and a rank: {line[:40]!r}") from None
    if len(set(ranks.values())) != len(ranks):
        raise VocabularyError(f"{path}: two tokens have the same rank")
    return ranks


def _make(
    ranks: dict[bytes, int], specials: dict[str, int], patterns: tuple[str, ...], eos: int | Iterable[int] | None
) -> Vocabulary:
    by_id = {token: data for data, token in ranks.items()}
    by_id.update((token, name.encode()) for name, token in specials.items())
    check_ids(by_id, MAX_VOCAB_SIZE, "the encoding")
    n_tokens = max(by_id, default=-1) + 1
    types = np.full(n_tokens, TokenType.UNUSED, np.uint8)
    types[list(ranks.values())] = TokenType.NORMAL
    types[list(specials.values())] = TokenType.CONTROL
    texts = make_table([by_id.get(token, b"") for token in range(n_tokens)])
    if eos is None:
        eos_ids = find_end_ids((), lambda name: specials.get(name.decode(), -1), lambda token: int(types[token]))
    else:
        eos_ids = check_ids([eos] if isinstance(eos, (int, np.integer)) else eos, n_tokens, "eos")
    if not eos_ids:
        raise VocabularyError("the encoding names no end-of-sequence token", help="pass eos=ID or eos=[ID, ...]")
    is_special = find_special(types, eos_ids)
    tokens = make_table([b"" if hidden else by_id[token] for token, hidden in enumerate(is_special.tolist())])
    encoder = EncoderData(kind="ranks", patterns=patterns, ignore_merges=True)
    return freeze_vocabulary(tokens, texts, types, is_special, eos_ids, encoder)
