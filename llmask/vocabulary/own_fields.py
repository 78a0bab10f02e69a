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
from .gguf_section import Kind, Section
from .strings import StringTable, make_table
from .vocabulary import EncoderData, check_ids

PREFIX = "llmask.encoder."
EOS_IDS = "llmask.eos_ids"
DEFAULT = "<default>"  # files have no way to say "none", and none to say "an empty list"
EMPTY = [""]
STANDARD = ("scores", "unknown_id")  # every file has its own names for these
KINDS = ("bpe", "ranks", "spm", "ugm", "wpm", "greedy")


def own_fields(data: EncoderData, read: EncoderData) -> dict[str, Any]:
    """Values by key for all fields in which `data` differs from what was read of a file without them.

    Lists and blocks as such; a field that has its default is the text DEFAULT.
    """
    found: dict[str, Any] = {}
    for field in fields(EncoderData):
        value = _plain_value(getattr(data, field.name))
        if field.name not in STANDARD and value != _plain_value(getattr(read, field.name)):
            is_default = value == _plain_value(field.default) and not isinstance(value, bool)
            found[PREFIX + field.name] = DEFAULT if is_default else EMPTY if value == [] else value
    return found


def _plain_value(value: Any) -> Any:
    if isinstance(value, StringTable):
        return [*value.strings()]
    if isinstance(value, CharsMap):
        return value.to_bytes()
    return list(value) if isinstance(value, tuple) else value


def read_own_fields(section: Section, n_tokens: int) -> dict[str, Any]:
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
        if section.fields[key].kind == Kind.STRING and section.get_text(key, "") == DEFAULT:
            found[name] = getattr(EncoderData(), name)
            continue
        found[name] = _read_value(section, key, hints[name], n_tokens)
        allowed = KINDS if name == "kind" else get_args(hints[name]) if isinstance(found[name], str) else ()
        if allowed and found[name] not in allowed:
            raise section.error(f'"{found[name]}" is none of {", ".join(allowed)}', section.fields[key].start, key)
    return found


def _read_value(section: Section, key: str, hint: Any, n_tokens: int) -> Any:
    types = get_args(hint) or (hint,)
    if hint is bool:
        return section.get_flag(key, False)
    if hint is int:
        number = section.get_integer(key)
        if number is None or not 0 <= number < 2**31:
            raise section.error(f"{number} is not a size", section.fields[key].start, key)
        return number
    if hint == tuple[int, ...]:
        ids = section.get_numbers(key, ("INT32", "UINT32"), np.int64)
        listed = ids.tolist() if ids is not None else []
        check_ids(listed, n_tokens, key)
        return tuple(listed)  # some models want a token twice
    if StringTable in types:
        table = section.get_strings(key)
        return make_table([]) if table is not None and [*table.strings()] == [b""] else table
    if CharsMap in types:
        return read_block(section, key)
    if hint is str or isinstance(types[0], str):
        return section.get_text(key, "")
    strings = section.get_strings(key)
    texts = [string.decode("utf-8", "replace") for string in strings.strings()] if strings is not None else EMPTY
    return () if texts == EMPTY else tuple(texts)


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
