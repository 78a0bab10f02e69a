"""The key-value section of a GGUF file, read in bulk and without trust.

Layout (ggml documentation, docs/gguf.md), all numbers little-endian:

    "GGUF" | version u32 | n_tensors u64 | n_fields u64 | field ...
    field:  key string | value type u32 | value
    string: length u64 | bytes;     array: item type u32 | count u64 | items

The file is mapped, not read: only the pages of this section are touched, and a model file may have 100 GB. Every count
and length is compared with the bytes that are left before anything is allocated or walked, so a corrupt file costs no
more memory than its own size. The mapping is copy-on-write because compiled code takes writable arrays; nothing is
written.

Fields of `EncoderData` that GGUF has no name for are kept under names of our own, llmask.encoder.NAME: whatever differs
from what the tokenizer.ggml.* fields of a file say, so that a file that `write_gguf` wrote reads back as the vocabulary
that it was. Other programs pass over such fields.

The `gguf` package's GGUFReader builds an object for every string (8.4 s for 128,000 tokens).

In: a path. Out: `Section`: fields by name with typed getters. Cost: 5 ms for Llama 3 (7.8 MB), most of it the
first touch of the pages.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Sequence
from dataclasses import fields
from enum import IntEnum
from typing import Any, NamedTuple, get_args, get_type_hints

import numpy as np

from llmask.errors import VocabularyError
from llmask.vocabulary.strings import DAMAGED, CharsMap, StringTable, freeze, make_table, read_charsmap
from llmask.vocabulary.vocabulary import EncoderData, check_ids

VERSIONS = (2, 3)
HEADER_BYTES = 24
SMALLEST_FIELD_BYTES = 8 + 4 + 1  # an empty key, a type, one byte
MAX_FIELDS = 65_536  # real files have about 30; each costs 2 us
MAX_KEY_BYTES = 65_535  # the specification's own limit
MAX_TEXT_BYTES = 16 * 2**20  # for single string values; chat templates have some 10 KB
PREFIX = "llmask.encoder."
EOS_IDS = "llmask.eos_ids"
DEFAULT = "<default>"  # files have no way to say "none", and none to say "an empty list"
EMPTY = [""]
STANDARD = ("scores", "unknown_id")  # every file has its own names for these
KINDS = ("bpe", "ranks", "spm", "ugm", "wpm", "greedy")


class Field(NamedTuple):
    """Where the value of one field lies.

    kind       Kind of the value
    item_kind  Kind of the items of an array; the same as `kind` otherwise
    n_items    items of an array; 1 otherwise
    start      byte position of the value, of an array's first item, or of a string's length
    end        first byte after the value
    """

    kind: int
    item_kind: int
    n_items: int
    start: int
    end: int


class Kind(IntEnum):
    """Type of a field, as `gguf.constants.GGUFValueType` has it; that module takes 60 ms to import."""

    UINT8 = 0
    INT8 = 1
    UINT16 = 2
    INT16 = 3
    UINT32 = 4
    INT32 = 5
    FLOAT32 = 6
    BOOL = 7
    STRING = 8
    ARRAY = 9
    UINT64 = 10
    INT64 = 11
    FLOAT64 = 12


# as `struct` spells the numbers
_NUMBERS = (kind for kind in Kind if kind not in (Kind.STRING, Kind.ARRAY))
FORMATS: dict[int, str] = dict(zip(_NUMBERS, "BbHhIif?Qqd", strict=True))
NUMBERS = [kind for kind in FORMATS if kind != Kind.BOOL]
INTEGERS = [kind for kind in NUMBERS if FORMATS[kind] not in "fd"]


class Section:
    """Fields of a key-value section; the getters check types and say where they failed.

    Parameters
    ----------
    data : uint8, the file from its first byte.
    path : for messages.
    """

    def __init__(self, data: np.ndarray, path: str) -> None:
        from ..kernels.machine import jit
        from ..kernels.vocabulary import vocabulary_scan

        jit.make_ready("vocabulary")
        self._kernels = vocabulary_scan
        self.path = path
        self.data = data
        self._view = data.data
        self.fields: dict[str, Field] = {}
        self._read_fields()

    def error(self, message: str, position: int, field: str, help: str | None = None) -> VocabularyError:
        """Error that names the file, the byte and the field."""
        return VocabularyError(f"{self.path}: {message}", f"byte {position} ({field})", help or DAMAGED)

    def _read_fields(self) -> None:
        size = len(self.data)
        if self.data[:4].tobytes() != b"GGUF":
            help = "give a model.gguf, or read files of other kinds with Tokenizer.load(path)"
            raise self.error("not a GGUF file: it does not begin with GGUF", 0, "magic", help)
        if size < HEADER_BYTES:
            raise self.error("the file ends inside the header", size, "header")
        version, _, n_fields = struct.unpack_from("<IQQ", self._view, 4)
        if version not in VERSIONS:
            if version & 0xFFFF == 0:
                raise self.error(
                    "the file is big-endian, only little-endian GGUF is read", 4, "version",
                    help="convert it with gguf-py/gguf/scripts/gguf_convert_endian.py",
                )  # fmt: skip
            raise self.error(
                f"GGUF version {version} is not supported, only 2 and 3", 4, "version",
                help="write it again with a recent version of llama.cpp or of the package gguf",
            )  # fmt: skip
        if n_fields > MAX_FIELDS or n_fields * SMALLEST_FIELD_BYTES > size - HEADER_BYTES:
            raise self.error(f"{n_fields} fields do not fit into {size} bytes", 16, "number of fields")
        position = HEADER_BYTES
        for number in range(n_fields):
            position = self._read_field(position, f"key of field {number}")

    def _read_field(self, position: int, name: str) -> int:
        key_start = position
        length, position = self._read_number("Q", position, name)
        if length > MAX_KEY_BYTES:
            raise self.error(f"a key of {length} bytes is too long", key_start, name)
        position = self._advance(position, length, name)
        try:
            key = self.data[position - length : position].tobytes().decode("utf-8")
        except UnicodeDecodeError:
            raise self.error("a key is not UTF-8", key_start + 8, name) from None
        if key in self.fields:
            raise self.error("the field occurs twice", key_start, key)
        kind_at = position
        kind, position = self._read_number("I", position, key)
        item_kind, count, start = kind, 1, position
        if kind == Kind.ARRAY:
            kind_at = position
            item_kind, position = self._read_number("I", position, key)
            count, start = self._read_number("Q", position, key)
        end = self._skip_items(kind_at, item_kind, count, start, key)
        self.fields[key] = Field(kind, item_kind, count, start, end)
        return end

    def _skip_items(self, kind_at: int, item_kind: int, count: int, start: int, key: str) -> int:
        """First byte after `count` items at `start`; `kind_at` is where their type was read."""
        if item_kind == Kind.STRING:
            if count * 8 > len(self.data) - start:
                raise self.error(f"{count} strings do not fit into the rest of the file", start - 8, key)
            end = int(self._kernels.skip_strings(self.data, start, count))
            if end < 0:
                raise self.error("a string does not fit into the rest of the file", -1 - end, key)
            return end
        if item_kind == Kind.ARRAY:
            raise self.error("arrays inside arrays are not supported", kind_at, key)
        if item_kind not in FORMATS:
            raise self.error(f"{item_kind} is not a value type", kind_at, key)
        return self._advance(start, count * struct.calcsize("<" + FORMATS[item_kind]), key)

    def _advance(self, position: int, n_bytes: int, name: str) -> int:
        if n_bytes > len(self.data) - position:
            raise self.error(
                f"the file ends after {len(self.data)} bytes, inside a value of {n_bytes} bytes", position, name
            )
        return position + n_bytes

    def _read_number(self, letter: str, position: int, name: str) -> tuple[int, int]:
        end = self._advance(position, struct.calcsize("<" + letter), name)
        return struct.unpack_from("<" + letter, self._view, position)[0], end

    def __contains__(self, key: str) -> bool:
        return key in self.fields

    def get_text(self, key: str, default: str) -> str:
        """A string value; bytes that are not UTF-8 become U+FFFD."""
        field = self._field(key, "a string", (Kind.STRING,))
        if field is None:
            return default
        if field.end - field.start > MAX_TEXT_BYTES:
            raise self.error(f"a string of {field.end - field.start} bytes is too long", field.start, key)
        return self.data[field.start + 8 : field.end].tobytes().decode("utf-8", "replace")

    def get_integer(self, key: str) -> int | None:
        """An integer value of any width, None when the field is missing."""
        number = self._number(key, "an integer", INTEGERS)
        return None if number is None else int(number)

    def get_number(self, key: str) -> float | None:
        """A number of any kind, None when the field is missing."""
        number = self._number(key, "a number", NUMBERS)
        return None if number is None else float(number)

    def _number(self, key: str, expected: str, kinds: Sequence[int]) -> int | float | None:
        field = self._field(key, expected, kinds)
        return None if field is None else self._read_number(FORMATS[field.kind], field.start, key)[0]

    def get_flag(self, key: str, default: bool) -> bool:
        """A boolean value."""
        field = self._field(key, "a boolean", (Kind.BOOL,))
        return default if field is None else bool(self.data[field.start])

    def get_strings(self, key: str) -> StringTable | None:
        """An array of strings, copied out of the file."""
        field = self._field(key, "strings", (Kind.STRING,), is_array=True)
        if field is None:
            return None
        n_bytes = field.end - field.start - 8 * field.n_items
        if n_bytes > np.iinfo(np.int32).max:
            raise self.error(f"strings of {n_bytes} bytes together are too long", field.start, key)
        offsets, block = np.empty(field.n_items + 1, np.int32), np.empty(n_bytes, np.uint8)
        self._kernels.copy_strings(self.data, field.start, offsets, block)
        return freeze(offsets, block)

    def get_numbers(self, key: str, kinds: tuple[str, ...], dtype: type) -> np.ndarray | None:
        """An array of numbers, copied; `kinds` names the GGUF types that are allowed."""
        field = self._field(key, " or ".join(kinds), [Kind[kind] for kind in kinds], is_array=True)
        if field is None:
            return None
        stored = np.dtype("<" + FORMATS[field.item_kind])
        return np.frombuffer(self.data, stored, field.n_items, field.start).astype(dtype)

    def _field(self, key: str, expected: str, kinds: Sequence[int], is_array: bool = False) -> Field | None:
        """A field whose value, or whose array's items, are of some kinds."""
        field = self.fields.get(key)
        if field is not None and (field.kind == Kind.ARRAY) != is_array:
            other = "an array is expected" if is_array else "a single value is expected, not an array"
            raise self.error(other, field.start, key)
        if field is not None and field.item_kind not in kinds:
            raise self.error(f"{'an array of ' * is_array}{expected} is expected", field.start, key)
        return field


def read_section(path: str | os.PathLike[str]) -> Section:
    """Key-value section of a GGUF file.

    Raises
    ------
    VocabularyError : the file is corrupt, truncated, big-endian or of another version; `where` has byte and field.
    OSError : the file cannot be opened.
    """
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            raise VocabularyError(f"{os.fspath(path)}: the file is empty", where="byte 0 (magic)", help=DAMAGED)
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    return Section(np.frombuffer(mapped, np.uint8), os.fspath(path))


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
            raise section.error(f'"{found[name]}" is not one of {", ".join(allowed)}', section.fields[key].start, key)
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
