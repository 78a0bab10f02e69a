"""Fields of `EncoderData` that GGUF has no name for, kept under names of our own.

A file that `write_gguf` wrote reads back as the vocabulary that it was: whatever differs from what its tokenizer.ggml.*
fields say is added as llmask.encoder.NAME. Other programs pass over such fields. They are read without trust.

In: `EncoderData`, or fields of a file. Out: fields for the writer, or changes to `EncoderData`. Cost: O(bytes).
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_args, get_type_hints

import numpy as np

from ..errors import VocabularyError
from .charsmap import CharsMap, read_charsmap
from .gguf_section import Section
from .strings import StringTable
from .vocabulary import EncoderData

PREFIX = "llmask.encoder."
EOS_IDS = "llmask.eos_ids"
STANDARD = ("scores", "unknown_id")  # every file has its own names for these
KINDS = ("bpe", "ranks", "spm", "ugm", "wpm", "greedy")


def own_fields(data: EncoderData, plain: EncoderData) -> dict[str, Any]:
    """Values by key for all fields in which `data` differs from `plain`; lists and blocks as such.

    Raises
    ------
    VocabularyError : a field that was taken away, or a list that became empty: files have no way to say so.
    """
    found: dict[str, Any] = {}
    for field in fields(EncoderData):
        if field.name in STANDARD:
            continue
        value, usual = getattr(data, field.name), getattr(plain, field.name)
        if _plain_value(value) == _plain_value(usual):
            continue
        kept = _plain_value(value)
        if kept is None or kept == []:
            raise VocabularyError(f"the field {field.name} of the encoder cannot be written as {kept!r}")
        found[PREFIX + field.name] = kept
    return found


def _plain_value(value: Any) -> Any:
    if isinstance(value, StringTable):
        return [*value.strings()]
    if isinstance(value, CharsMap):
        return value.to_bytes()
    return list(value) if isinstance(value, tuple) else value


def read_own_fields(section: Section) -> dict[str, Any]:
    """Changes to `EncoderData` that a file asks for.

    Raises
    ------
    VocabularyError : a field of an unknown name, of another type, or with a value that has no meaning.
    """
    hints = get_type_hints(EncoderData)
    found: dict[str, Any] = {}
    for key in section.fields:
        if not key.startswith(PREFIX):
            continue
        name = key[len(PREFIX) :]
        if name not in hints or name in STANDARD:
            raise section.error("the encoder has no such field", section.fields[key].start, key)
        found[name] = _read_value(section, key, hints[name])
        allowed = KINDS if name == "kind" else get_args(hints[name]) if isinstance(found[name], str) else ()
        if allowed and found[name] not in allowed:
            raise section.error(f'"{found[name]}" is none of {", ".join(allowed)}', section.fields[key].start, key)
    return found


def _read_value(section: Section, key: str, hint: Any) -> Any:
    types = get_args(hint) or (hint,)
    if hint is bool:
        return section.get_flag(key, False)
    if hint is int:
        number = section.get_integer(key)
        if number is None or not 0 <= number < 2**31:
            raise section.error(f"{number} is not a size", section.fields[key].start, key)
        return number
    if StringTable in types:
        return section.get_strings(key)
    if CharsMap in types:
        return read_block(section, key)
    if hint is str or isinstance(types[0], str):
        return section.get_text(key, "")
    strings = section.get_strings(key)
    return tuple(string.decode("utf-8", "replace") for string in strings.strings()) if strings is not None else ()


def read_block(section: Section, key: str) -> CharsMap | None:
    """A character map.

    Raises
    ------
    VocabularyError : it is corrupt; says where in the file it lies.
    """
    block = section.get_numbers(key, ("UINT8", "INT8"), np.uint8)
    if block is None:
        return None
    try:
        return read_charsmap(block.tobytes())
    except VocabularyError as error:
        raise section.error(error.message, section.fields[key].start, key) from None
