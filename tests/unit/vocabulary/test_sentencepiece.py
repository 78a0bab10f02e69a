"""SentencePiece model files: kinds, types, flags; what is corrupt is refused."""

from __future__ import annotations

import pytest

from bench.sentencepiece_files import BPE, field, model_bytes, model_of
from llmask.errors import VocabularyError
from llmask.tokenizer.tokenizer import Tokenizer
from llmask.vocabulary.sentencepiece import read_sentencepiece
from llmask.vocabulary.vocabulary import TokenType

from .charsmap_files import charsmap_bytes

PIECES = [
    (b"<unk>", 0.0, 2),
    (b"<s>", 0.0, 3),
    (b"</s>", 0.0, 3),
    ("▁a".encode(), -1.5, 1),
    ("▁▁".encode(), 0.0, 4),
    (b"b", -2.0, 1),
    (b"<pad>", 0.0, 3),
]


def write(path, block: bytes):
    path.write_bytes(block)
    return path


def test_pieces_types_and_flags(tmp_path):
    block = model_bytes(PIECES, charsmap=charsmap_bytes({b"A": b"a"}), treat_whitespace_as_suffix=True)
    vocabulary = read_sentencepiece(write(tmp_path / "m", block))
    assert [*vocabulary.tokens.strings()] == [b"", b"", b"", b" a", b"  ", b"b", b""]
    assert vocabulary.types.tolist() == [2, 3, 3, 1, 4, 1, 3]
    assert vocabulary.eos_ids == (2,)
    data = vocabulary.encoder
    assert (data.kind, data.rules, data.unknown_id, data.space_is_suffix) == ("ugm", "sentencepiece", 0, True)
    assert data.scores.tolist() == [0, 0, 0, -1.5, 0, -2, 0]
    assert data.add_space_prefix
    assert data.remove_extra_whitespaces
    assert data.charsmap.to_bytes() == charsmap_bytes({b"A": b"a"})
    block = model_bytes(PIECES, BPE, add_dummy_prefix=False, remove_extra_whitespaces=False, escape_whitespaces=False)
    data = read_sentencepiece(write(tmp_path / "m", block)).encoder
    assert (data.kind, data.add_space_prefix, data.remove_extra_whitespaces) == ("spm", False, False)
    assert not data.escape_whitespaces


def test_the_model_of_a_vocabulary_reads_back(tmp_path):
    vocabulary = read_sentencepiece(write(tmp_path / "m", model_bytes(PIECES)))
    assert [*read_sentencepiece(write(tmp_path / "n", model_of(vocabulary))).texts.strings()] == [
        text for text, _, _ in PIECES
    ]


def test_the_end_of_a_sequence_can_be_named_by_the_trainer_or_the_caller(tmp_path):
    named = write(tmp_path / "m", model_bytes(PIECES) + field(2, field(47, b"<pad>")))
    assert read_sentencepiece(named).eos_ids == (6, 2)
    assert read_sentencepiece(named, eos=1).eos_ids == (1,)
    nameless = write(tmp_path / "n", model_bytes(PIECES[:2] + PIECES[3:]))
    with pytest.raises(VocabularyError, match="the model names no end-of-sequence piece\n  pass eos=ID"):
        read_sentencepiece(nameless)


def test_user_defined_pieces_and_blanks_are_encoded_as_the_library_does(tmp_path):
    tok = Tokenizer.from_sentencepiece(write(tmp_path / "m", model_bytes(PIECES, remove_extra_whitespaces=False)))
    assert tok.encode("ab") == [3, 5]
    assert tok.encode(" \u2581\u2581a") == [4, 4, 0]  # "▁a" is not possible any more: the marks are one token
    assert tok.decode([3, 5]) == "ab"


MODEL = model_bytes(PIECES)
BAD_FILES = [
    (b"", "not a SentencePiece model: it has no pieces", "byte 0"),
    (MODEL[:-3], "not a SentencePiece model: a field of 8 bytes does not fit into the rest of the message", None),
    (b"\x0f", "not a SentencePiece model: 7 is not a wire type", "byte 1"),
    (b"\x0a" + b"\xff" * 9 + b"\x01", None, "byte 11"),
    (b"\x80" * 20, "not a SentencePiece model: a number does not end", "byte 0"),
    (field(1, 5), "not a SentencePiece model: field 1 is not a message", None),
    (field(1, field(2, 1.0)), "not a SentencePiece model: piece 0 has no text", None),
    (field(1, field(1, b"a") + field(3, 9)), "not a SentencePiece model: piece 0 has the unknown type 9", None),
    (field(1, field(1, 7)), "not a SentencePiece model: field 1 of piece 0 has wire type 0", None),
    (MODEL + field(2, field(3, 4)), "a model of kind char is not supported", None),
    (MODEL + field(1, field(1, b"c") + field(2, float("nan"))), "the score of piece 7 is not a number", None),
    (MODEL + field(1, field(1, b"c") + field(3, 2)), "pieces 0 and 7 both stand for the unknown", None),
    (MODEL + field(3, field(3, b"x")), "not a SentencePiece model: field 3 is not a boolean", None),
    (MODEL + field(3, field(2, 5)), "not a SentencePiece model: field 2 is not a string", None),
]


@pytest.mark.parametrize(("block", "message", "where"), BAD_FILES, ids=range(len(BAD_FILES)))
def test_what_is_corrupt_is_named(tmp_path, block, message, where):
    path = write(tmp_path / "m", block)
    with pytest.raises(VocabularyError) as error:
        read_sentencepiece(path)
    assert message is None or error.value.message == f"{path}: {message}"
    assert where is None or error.value.where == where


def test_every_piece_has_bytes_but_special_ones(tmp_path):
    vocabulary = read_sentencepiece(write(tmp_path / "m", MODEL))
    special = {TokenType.UNKNOWN, TokenType.CONTROL}
    assert [not string for string in vocabulary.tokens.strings()] == [
        kind in special for kind in vocabulary.types.tolist()
    ]
