"""SentencePiece `.model` files of any vocabulary, so that the library can run what a GGUF file holds.

In: pieces and fields. Out: bytes of a protocol buffer message (sentencepiece_model.proto). Cost: 1 us a piece.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from llmask.vocabulary.vocabulary import TokenType, Vocabulary

UNIGRAM, BPE = 1, 2
SPACE_MARK = "\u2581".encode()


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def field(number: int, value: int | bytes | float) -> bytes:
    """One field: a number, a string or message, or a float."""
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    return varint(number << 3) + varint(value)


def model_bytes(
    pieces: Iterable[tuple[bytes, float, int]],
    kind: int = UNIGRAM,
    byte_fallback: bool = False,
    charsmap: bytes = b"",
    add_dummy_prefix: bool = True,
    remove_extra_whitespaces: bool = True,
    treat_whitespace_as_suffix: bool = False,
    escape_whitespaces: bool = True,
) -> bytes:
    """A model file of pieces (text, score, type), with the library's own defaults."""
    out = [field(1, field(1, text) + field(2, float(score)) + field(3, kind_)) for text, score, kind_ in pieces]
    trainer = field(3, kind) + field(24, int(treat_whitespace_as_suffix)) + field(35, int(byte_fallback))
    normalizer = field(2, charsmap) + field(3, int(add_dummy_prefix))
    normalizer += field(4, int(remove_extra_whitespaces)) + field(5, int(escape_whitespaces))
    return b"".join([*out, field(2, trainer), field(3, normalizer)])


def model_of(vocabulary: Vocabulary) -> bytes:
    """The model file of an SPM or UGM vocabulary."""
    data = vocabulary.encoder
    assert data.scores is not None
    pieces, seen = [], set()
    for token, (text, score, kind) in enumerate(
        zip(vocabulary.texts.strings(), data.scores.tolist(), vocabulary.types.tolist(), strict=True)
    ):
        name = text or f"<empty{token}>".encode()
        if name in seen:  # the library wants every text once
            name, kind = f"<again{token}>".encode(), int(TokenType.UNUSED)
        seen.add(name)
        pieces.append((name, score, kind))
    return model_bytes(
        pieces,
        kind=UNIGRAM if data.kind == "ugm" else BPE,
        byte_fallback=TokenType.BYTE in vocabulary.types,
        charsmap=data.charsmap.to_bytes() if data.charsmap is not None else b"",
        add_dummy_prefix=data.add_space_prefix,
        remove_extra_whitespaces=data.remove_extra_whitespaces,
        treat_whitespace_as_suffix=data.space_is_suffix,
        escape_whitespaces=data.escape_whitespaces,
    )
