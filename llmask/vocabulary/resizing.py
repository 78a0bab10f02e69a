"""A vocabulary with as many ids as a model has logits.

Models pad their logits to a round number (Qwen 2: 151,936 for 151,665 tokens), and a fine-tuned one may have dropped
the last tokens of its file. XGrammar calls the number `vocab_size`, llguidance `n_vocab`.

    more ids than tokens    the ids above are UNUSED and have no text: no mask allows them, no text becomes them
    fewer ids than tokens   the tokens above are gone, with the merges that make them or take them as a part; refused
                            where one of them ends a sequence, is special, or is what the encoder itself puts in

In: a vocabulary, a number of ids. Out: a vocabulary of that size. Cost: 1 ms where ids are added; where tokens go, 0.2
s for 280,000 merges.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..arguments import as_integer
from ..errors import LlmaskError, VocabularyError
from ..kernels.machine.constants import MAX_VOCAB_SIZE
from .strings import StringTable, freeze, make_table
from .vocabulary import EncoderData, TokenType, Vocabulary, freeze_vocabulary


def resize(vocabulary: Vocabulary, vocab_size: Any) -> Vocabulary:
    """The vocabulary with `vocab_size` ids; None: as it is.

    Raises
    ------
    VocabularyError : not a number of ids, too many, or so few that a token is lost which is not just text.
    """
    if vocab_size is None:
        return vocabulary
    n_ids, n_tokens = _checked_size(vocab_size), vocabulary.tokens.n_strings
    if n_ids > n_tokens:
        return _pad(vocabulary, n_ids)
    return _cut(vocabulary, n_ids) if n_ids < n_tokens else vocabulary


def _checked_size(vocab_size: Any) -> int:
    advice = "give the number of the model's logits, or leave it out"
    try:
        n_ids = as_integer(vocab_size, "vocab_size")
    except LlmaskError as error:
        raise VocabularyError(error.message, help=advice) from None
    if not 1 <= n_ids <= MAX_VOCAB_SIZE:
        shown = f"vocab_size={n_ids}" if n_ids.bit_length() <= 64 else "vocab_size"  # others may be too long to write
        raise VocabularyError(f"{shown} is not between 1 and {MAX_VOCAB_SIZE}", help=advice)
    return n_ids


def _pad(vocabulary: Vocabulary, n_ids: int) -> Vocabulary:
    n_more = n_ids - vocabulary.tokens.n_strings
    types = np.append(vocabulary.types, np.full(n_more, TokenType.UNUSED, np.uint8))
    is_special = np.ones(n_ids, bool)
    is_special[: -n_more or None] = False
    is_special[vocabulary.special_ids] = True
    encoder = vocabulary.encoder
    if encoder.scores is not None:
        encoder = replace(encoder, scores=np.append(encoder.scores, np.zeros(n_more, np.float32)))
    tokens, texts = (_padded(table, n_more) for table in (vocabulary.tokens, vocabulary.texts))
    return freeze_vocabulary(tokens, texts, types, is_special, vocabulary.eos_ids, encoder)


def _padded(table: StringTable, n_more: int) -> StringTable:
    return freeze(np.append(table.offsets, np.full(n_more, table.offsets[-1], np.int32)), table.data)


def _cut(vocabulary: Vocabulary, n_ids: int) -> Vocabulary:
    _refuse_loss(vocabulary, n_ids)
    is_special = np.zeros(n_ids, bool)
    is_special[vocabulary.special_ids[vocabulary.special_ids < n_ids]] = True
    tokens, texts = (_first_strings(table, n_ids) for table in (vocabulary.tokens, vocabulary.texts))
    types = vocabulary.types[:n_ids].copy()
    return freeze_vocabulary(tokens, texts, types, is_special, vocabulary.eos_ids, _cut_encoder(vocabulary, n_ids))


def _refuse_loss(vocabulary: Vocabulary, n_ids: int) -> None:
    """Say which token that is not just text would be lost."""
    data = vocabulary.encoder
    control = np.flatnonzero(np.isin(vocabulary.types, (TokenType.CONTROL, TokenType.UNKNOWN))).tolist()
    uses = {
        "ends a sequence": vocabulary.eos_ids,
        "stands for the unknown": (data.unknown_id,),
        "belongs to every text": (*data.prefix_ids, *data.suffix_ids),
        "is special": control,
    }
    needed = 1 + max(token for ids in uses.values() for token in ids)
    for use, ids in uses.items():
        lost = [token for token in ids if token >= n_ids]
        if lost:
            name = vocabulary.texts.get(lost[0]).decode("utf-8", "replace")
            raise VocabularyError(
                f'vocab_size={n_ids} cuts token {lost[0]}, "{name}", which {use}',
                where=f"token {lost[0]} of {vocabulary.tokens.n_strings}",
                help=f"give at least {needed}, or leave it out: a mask may be wider than the logits it is applied to",
            )


def _first_strings(table: StringTable, n: int) -> StringTable:
    return freeze(table.offsets[: n + 1].copy(), table.data[: table.offsets[n]].copy())


def _cut_encoder(vocabulary: Vocabulary, n_ids: int) -> EncoderData:
    data = vocabulary.encoder
    changes: dict[str, Any] = {
        name: tuple(token for token in getattr(data, name) if token < n_ids)
        for name in ("strip_before", "strip_after", "whole_words")
    }
    if data.scores is not None:
        changes["scores"] = data.scores[:n_ids].copy()
    if data.merges is not None:
        spelled = [*vocabulary.texts.strings()]
        gone = {*spelled[n_ids:]} - {*spelled[:n_ids]}
        changes["merges"] = make_table([merge for merge in data.merges.strings() if not _has_part(merge, gone)])
    return replace(data, **changes)


def _has_part(merge: bytes, gone: set[bytes]) -> bool:
    left, _, right = merge.partition(b" ")
    return left in gone or right in gone or left + right in gone
