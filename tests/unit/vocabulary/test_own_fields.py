"""Fields under names of our own: unknown names, types and values are refused with their place."""

from __future__ import annotations

import gguf
import pytest

from llmask.errors import VocabularyError
from llmask.vocabulary.gguf import read_gguf
from llmask.vocabulary.own_fields import DEFAULT, own_fields
from llmask.vocabulary.strings import make_table
from llmask.vocabulary.vocabulary import EncoderData


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
    ({"encoder__kind": "x"}, '"x" is none of bpe, ranks, spm, ugm, wpm, greedy'),
    ({"encoder__rules": "mine"}, '"mine" is none of llama.cpp, sentencepiece'),
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
