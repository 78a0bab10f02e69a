"""Vocabulary of a tiktoken encoding, or of a `.tiktoken` file.

tiktoken keeps a rank for every byte string; the rank is the token id, and merging goes by the rank of the result. Ids
of special tokens lie above, with holes (UNUSED). The end of a sequence is the principal <|endoftext|> and what else
is a well-known name. A file has a line for each token, its bytes in base64 and its rank; how text is split and which
tokens are special says the caller, or the name of the file, such as cl100k_base.tiktoken.

In: a `tiktoken.Encoding` or a path. Out: `Vocabulary`. Cost: 50 ms for 200,000 tokens, 0.2 s from a file.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..arguments import as_path
from ..errors import VocabularyError
from ..kernels.machine.constants import MAX_VOCAB_SIZE
from .patterns import PATTERNS
from .strings import DAMAGED, make_table
from .vocabulary import (
    EncoderData,
    TokenType,
    Vocabulary,
    check_ids,
    chosen_ends,
    count_ids,
    find_end_ids,
    find_special,
    freeze_vocabulary,
)

MAX_FILE_BYTES = 64 * 2**20  # o200k has 3.6 MB

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


def read_tiktoken(
    source: Any,
    eos: int | Iterable[int] | None = None,
    pattern: str | None = None,
    special: Mapping[str, int] | None = None,
) -> Vocabulary:
    """Vocabulary of a `tiktoken.Encoding`, or of a `.tiktoken` file with its pattern and special tokens.

    Raises
    ------
    VocabularyError : not an encoding, a file that is corrupt or has no pattern, or no end-of-sequence token.
    OSError : the file cannot be opened.
    """
    if isinstance(source, (str, os.PathLike)):
        return _convert(*_read_file(source, pattern, special), eos)
    if pattern is not None or special is not None:
        raise VocabularyError(
            "pattern and special belong to a .tiktoken file, an encoding has its own", help="leave them out"
        )
    try:
        ranks: dict[bytes, int] = source._mergeable_ranks
        specials: dict[str, int] = source._special_tokens
        patterns: tuple[str, ...] = (source._pat_str,)
    except AttributeError:
        is_other = hasattr(getattr(source, "backend_tokenizer", source), "to_str")
        raise VocabularyError(
            f"{type(source).__name__} is not a tiktoken encoding",
            help="Tokenizer.from_huggingface(tokenizer) reads it"
            if is_other
            else 'pass tiktoken.get_encoding("o200k_base")',
        ) from None
    return _convert(ranks, specials, patterns, eos)


def _read_file(
    path: str | os.PathLike[str], pattern: str | None, special: Mapping[str, int] | None
) -> tuple[dict[bytes, int], dict[str, int], tuple[str, ...]]:
    """Ranks, special tokens and patterns; a line of the file is a token in base64 and its rank."""
    name = os.fspath(as_path(path))
    encoding = Path(path).stem
    if pattern is None and encoding not in SPECIAL_TOKENS:
        raise VocabularyError(
            f"{name}: such a file does not say how text is split into words",
            help='pass pattern=r"..." of its model, or name the file as tiktoken does: '
            + ", ".join(f"{known}.tiktoken" for known in SPECIAL_TOKENS),
        )
    if pattern is not None and not isinstance(pattern, str):
        raise VocabularyError(
            f"pattern is {type(pattern).__name__}, not a string", help="give a regular expression as a str"
        )
    with open(path, "rb") as file:
        block = file.read(MAX_FILE_BYTES + 1)
    if len(block) > MAX_FILE_BYTES:
        raise VocabularyError(
            f"{name}: the file has more than {MAX_FILE_BYTES} bytes", help="give the .tiktoken file of an encoding"
        )
    ranks: dict[bytes, int] = {}
    taken: set[int] = set()
    for number, line in enumerate(block.splitlines(), 1):
        if not line:
            continue
        try:
            text, rank_text = line.split()
            token, rank = base64.b64decode(text, validate=True), int(rank_text)
        except ValueError:
            raise VocabularyError(
                f"{name}: not a token in base64 and its rank", where=f"line {number}", help=DAMAGED
            ) from None
        if not token or token in ranks or rank in taken or not 0 <= rank < MAX_VOCAB_SIZE:
            raise VocabularyError(
                f"{name}: token {token[:40]!r} of rank {rank} is not new", where=f"line {number}", help=DAMAGED
            )
        ranks[token] = rank
        taken.add(rank)
    specials = dict(SPECIAL_TOKENS.get(encoding, {}) if special is None else special)
    check_ids(specials.values(), MAX_VOCAB_SIZE, "special")
    twice = next((text for text, token in specials.items() if token in taken), None)
    if twice is not None:
        raise VocabularyError(
            f'the special token "{twice}" has the id of another token', help="give it an id that is free"
        )
    return ranks, specials, PATTERNS[encoding] if pattern is None else (pattern,)


def _convert(
    ranks: dict[bytes, int], specials: dict[str, int], patterns: tuple[str, ...], eos: int | Iterable[int] | None
) -> Vocabulary:
    by_id = {token: data for data, token in ranks.items()}
    by_id.update((token, name.encode()) for name, token in specials.items())
    n_tokens = count_ids(by_id, "the encoding")
    types = np.full(n_tokens, TokenType.UNUSED, np.uint8)
    types[list(ranks.values())] = TokenType.NORMAL
    types[list(specials.values())] = TokenType.CONTROL
    texts = make_table([by_id.get(token, b"") for token in range(n_tokens)])
    eos_ids = chosen_ends(
        eos,
        n_tokens,
        lambda: find_end_ids((), lambda name: specials.get(name.decode(), -1), types),
        "the encoding names no end-of-sequence token",
    )
    is_special = find_special(types, eos_ids)
    tokens = make_table([b"" if hidden else by_id[token] for token, hidden in enumerate(is_special.tolist())])
    encoder = EncoderData(kind="ranks", patterns=patterns, ignore_merges=True)
    return freeze_vocabulary(tokens, texts, types, is_special, eos_ids, encoder)
