"""Corrupt, truncated and foreign files end in a `VocabularyError` with byte and field; nothing large is allocated."""

from __future__ import annotations

import contextlib
import struct
import tracemalloc
from pathlib import Path

import gguf
import numpy as np
import pytest

from llmask.errors import VocabularyError
from llmask.vocabulary.gguf import read_gguf
from llmask.vocabulary.gguf_section import DEFAULT, FORMATS, Kind, Section, own_fields, read_section
from llmask.vocabulary.strings import DAMAGED, make_table
from llmask.vocabulary.vocabulary import EncoderData
from tests.unit.vocabulary.gguf_files import BYTE, CONTROL, NORMAL, UNKNOWN, USER_DEFINED, write_gguf

KINDS = "  give a model.gguf, or read files of other kinds with Tokenizer.load(path)"


def message_of(path: Path) -> str:
    with pytest.raises(VocabularyError) as error:
        read_gguf(path)
    return str(error.value).replace(str(path), "FILE")


def test_a_file_of_another_kind_is_refused(tmp_path):
    path = tmp_path / "a.gguf"
    path.write_bytes(b"")
    assert message_of(path) == (
        "FILE: the file is empty\n  at byte 0 (magic)\n  the file may be damaged or cut off: get it again"
    )
    path.write_bytes(b"PK\3\4" + bytes(100))
    assert message_of(path) == "FILE: not a GGUF file: it does not begin with GGUF\n  at byte 0 (magic)\n" + KINDS
    path.write_bytes(b"GGUF\3\0\0\0")
    assert message_of(path) == f"FILE: the file ends inside the header\n  at byte 8 (header)\n  {DAMAGED}"
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 1, 0, 0))
    assert message_of(path) == (
        "FILE: GGUF version 1 is not supported, only 2 and 3\n  at byte 4 (version)\n"
        "  write it again with a recent version of llama.cpp or of the package gguf"
    )
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 0))
    assert message_of(path) == (
        "FILE: the file has no tokenizer\n  at byte 0 (tokenizer.ggml.model)\n"
        "  supported are gpt2 (BPE), llama (SPM), t5 (UGM), bert (WPM), gemma4 and rwkv"
    )


def test_a_big_endian_file_is_refused(tmp_path):
    path = write_gguf(tmp_path / "a.gguf", "gpt2", [b"a"], endianess=gguf.GGUFEndian.BIG, eos_token_id=0)
    assert message_of(path) == (
        "FILE: the file is big-endian, only little-endian GGUF is read\n  at byte 4 (version)\n"
        "  convert it with gguf-py/gguf/scripts/gguf_convert_endian.py"
    )


@pytest.fixture
def sample(tmp_path) -> bytes:
    tokens = [b"<unk>", b"</s>", b"<0x0A>", "▁the".encode(), b"ing", b"<tool>"]
    types = [UNKNOWN, CONTROL, BYTE, NORMAL, NORMAL, USER_DEFINED]
    path = write_gguf(
        tmp_path / "sample.gguf", "llama", tokens, types,
        eos_token_id=1, scores=[0.0, 0.5, 1.0, -1.0, -2.0, 0.0], pre="default", add_space_prefix=True,
    )  # fmt: skip
    return path.read_bytes()


def load(data: bytes, path: Path) -> None:
    path.write_bytes(data)
    vocabulary = read_gguf(path)
    assert vocabulary.tokens.n_strings >= 1
    assert len(vocabulary.tokens.data) <= len(data)


def test_every_truncation_is_an_error(sample, tmp_path):
    for length in range(len(sample)):
        with pytest.raises(VocabularyError):
            load(sample[:length], tmp_path / "a.gguf")


@pytest.mark.long
def test_huge_counts_are_refused_without_allocating(sample, tmp_path):
    tracemalloc.start()
    numbers = (2**60, 2**63 - 1, 2**63, 2**64 - 1, 2**40, len(sample))
    for position in range(8, len(sample) - 8):
        for number in (numbers[position % 6], numbers[(position + 3) % 6]):
            data = bytearray(sample)
            data[position : position + 8] = struct.pack("<Q", number)
            with contextlib.suppress(VocabularyError):
                load(bytes(data), tmp_path / "a.gguf")
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak_bytes < 2**20


def field(key: bytes, kind: int, value: bytes) -> bytes:
    return struct.pack("<Q", len(key)) + key + struct.pack("<I", kind) + value


def section_of(*fields: bytes, n_fields: int | None = None) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(fields) if n_fields is None else n_fields) + b"".join(fields)


U32, STRING, ARRAY = 4, 8, 9
BAD_SECTIONS = [
    (section_of(n_fields=2**60), f"{2**60} fields do not fit into 24 bytes\n  at byte 16 (number of fields)"),
    (section_of(n_fields=1), "1 fields do not fit into 24 bytes\n  at byte 16 (number of fields)"),
    (
        section_of(struct.pack("<Q", 70_000) + bytes(99)),
        "a key of 70000 bytes is too long\n  at byte 24 (key of field 0)",
    ),
    (
        section_of(struct.pack("<Q", 60_000) + bytes(99)),
        "the file ends after 131 bytes, inside a value of 60000 bytes\n  at byte 32 (key of field 0)",
    ),
    (section_of(field(b"\xff", U32, bytes(4))), "a key is not UTF-8\n  at byte 32 (key of field 0)"),
    (section_of(field(b"a", U32, bytes(4)), field(b"a", U32, bytes(4))), "the field occurs twice\n  at byte 41 (a)"),
    (section_of(field(b"a", 13, bytes(4))), "13 is not a value type\n  at byte 33 (a)"),
    (
        section_of(field(b"a", U32, bytes(2))),
        "the file ends after 39 bytes, inside a value of 4 bytes\n  at byte 37 (a)",
    ),
    (
        section_of(field(b"a", STRING, struct.pack("<Q", 2**63))),
        "a string does not fit into the rest of the file\n  at byte 37 (a)",
    ),
    (
        section_of(field(b"a", ARRAY, struct.pack("<IQ", ARRAY, 1) + bytes(20))),
        "arrays inside arrays are not supported\n  at byte 37 (a)",
    ),
    (
        section_of(field(b"a", ARRAY, struct.pack("<IQ", STRING, 2**61) + bytes(20))),
        f"{2**61} strings do not fit into the rest of the file\n  at byte 41 (a)",
    ),
    (
        section_of(field(b"a", ARRAY, struct.pack("<IQ", U32, 2**62) + bytes(20))),
        f"the file ends after 69 bytes, inside a value of {2**64} bytes\n  at byte 49 (a)",
    ),
]


@pytest.mark.parametrize(("data", "message"), BAD_SECTIONS, ids=range(len(BAD_SECTIONS)))
def test_bad_sections_are_named(data, message):
    with pytest.raises(VocabularyError) as error:
        Section(np.frombuffer(bytearray(data), np.uint8), "FILE")
    has_help = message.count("\n") > 1
    assert str(error.value) == (f"FILE: {message}" if has_help else f"FILE: {message}\n  {DAMAGED}")


def test_values_of_all_types_agree_with_the_writer(tmp_path):
    writer = gguf.GGUFWriter(tmp_path / "a.gguf", "test")
    writer.add_uint8("u8", 200)
    writer.add_int8("i8", -3)
    writer.add_uint16("u16", 60_000)
    writer.add_int16("i16", -300)
    writer.add_int32("i32", -70_000)
    writer.add_uint64("u64", 2**63)
    writer.add_int64("i64", -(2**40))
    writer.add_float32("f32", 0.5)
    writer.add_float64("f64", 0.25)
    writer.add_bool("yes", True)
    writer.add_string("text", "Zoë")
    writer.add_array("numbers", [1, 2, 3])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    section = read_section(tmp_path / "a.gguf")
    assert [section.get_integer(key) for key in ("u8", "i8", "u16", "i16", "i32", "u64", "i64")] == [
        200, -3, 60_000, -300, -70_000, 2**63, -(2**40),
    ]  # fmt: skip
    assert section.get_flag("yes", False) is True
    assert section.get_flag("missing", True) is True
    assert section.get_text("text", "") == "Zoë"
    assert section.get_numbers("numbers", ("INT32",), np.int64).tolist() == [1, 2, 3]
    assert section.get_integer("missing") is None
    assert "f32" in section
    for key in ("f32", "yes", "text"):
        with pytest.raises(VocabularyError, match="an integer is expected"):
            section.get_integer(key)


def test_kinds_are_those_of_the_format() -> None:
    assert {kind.name: kind.value for kind in Kind} == {kind.name: kind.value for kind in gguf.GGUFValueType}
    sizes = {"UINT8": 1, "INT16": 2, "FLOAT32": 4, "BOOL": 1, "UINT64": 8, "FLOAT64": 8}
    assert {name: struct.calcsize(f"<{FORMATS[Kind[name]]}") for name in sizes} == sizes


def read_with(path, **values: object) -> EncoderData:
    """Encoder data of a file with such fields."""
    writer = gguf.GGUFWriter(path, "test")
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list([b"a", b"</s>"])
    writer.add_eos_token_id(1)
    for name, value in values.items():
        add = {bool: writer.add_bool, str: writer.add_string, int: writer.add_uint32}.get(type(value), writer.add_array)
        add(f"llmask.{name.replace('__', '.')}", value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return read_gguf(path).encoder


def test_only_what_differs_is_written():
    data = EncoderData(kind="ranks", patterns=("a", "b"), merges=make_table([b"a b"]), unknown_id=7)
    assert own_fields(data, data) == {}
    assert own_fields(data, EncoderData()) == {
        "llmask.encoder.kind": "ranks",
        "llmask.encoder.patterns": ["a", "b"],
        "llmask.encoder.merges": [b"a b"],
    }


def test_a_field_can_be_given_back_its_default(tmp_path):
    read = EncoderData(kind="bpe", patterns=("a",), ignore_merges=True, merges=make_table([b"a b"]), pretokenizer="x")
    assert own_fields(EncoderData(), read) == {
        "llmask.encoder.kind": DEFAULT,
        "llmask.encoder.patterns": DEFAULT,
        "llmask.encoder.merges": DEFAULT,
        "llmask.encoder.pretokenizer": DEFAULT,
        "llmask.encoder.ignore_merges": False,
    }
    data = read_with(tmp_path / "f", encoder__kind=DEFAULT, encoder__patterns=DEFAULT, encoder__ignore_merges=False)
    assert (data.kind, data.patterns, data.ignore_merges) == ("greedy", (), False)


def test_fields_are_read(tmp_path):
    data = read_with(
        tmp_path / "f", encoder__kind="greedy", encoder__normalization="NFC", encoder__space_is_suffix=True,
        encoder__patterns=["x", "y"], encoder__rules="sentencepiece",
    )  # fmt: skip
    assert (data.kind, data.normalization, data.patterns) == ("greedy", "NFC", ("x", "y"))
    assert data.space_is_suffix
    assert read_with(tmp_path / "f", encoder__prefix_ids=[0, 0]).prefix_ids == (0, 0)
    assert data.rules == "sentencepiece"


BAD_FIELDS = [
    ({"encoder__nonsense": 1}, "the encoder has no such field"),
    ({"encoder__unknown_id": 99}, "the encoder has no such field"),
    ({"encoder__kind": "x"}, '"x" is not one of bpe, ranks, spm, ugm, wpm, greedy'),
    ({"encoder__rules": "mine"}, '"mine" is not one of llama.cpp, sentencepiece'),
    ({"encoder__kind": 3}, "a string is expected"),
    ({"encoder__space_is_suffix": "yes"}, "a boolean is expected"),
    ({"encoder__patterns": "x"}, "an array is expected"),
    ({"encoder__charsmap": b"abc"}, "the character map declares 6513249 bytes of rules and has 3 in all"),
    ({"encoder__suffix_ids": [0, 2]}, "llmask.encoder.suffix_ids contains 2, but token ids are 0 to 1"),
    ({"encoder__strip_after": [-1]}, "llmask.encoder.strip_after contains -1, but token ids are 0 to 1"),
    ({"eos_ids": [2]}, "llmask.eos_ids contains 2, but token ids are 0 to 1"),
]


@pytest.mark.parametrize(("values", "message"), BAD_FIELDS, ids=range(len(BAD_FIELDS)))
def test_bad_fields_are_named(tmp_path, values, message):
    with pytest.raises(VocabularyError) as error:
        read_with(tmp_path / "f", **values)
    assert error.value.message.removeprefix(f"{tmp_path / 'f'}: ") == message
