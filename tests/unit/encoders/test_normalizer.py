"""Normalization by itself: what it makes of texts, and where it gives up."""

from __future__ import annotations

import pickle

import pytest

from llmask.encoders.normalizer import Normalizer, capacities
from llmask.errors import VocabularyError
from llmask.vocabulary.charsmap import read_charsmap
from llmask.vocabulary.vocabulary import EncoderData, from_bytes
from tests.unit.vocabulary.charsmap_files import charsmap_bytes


def normalizer(rules: dict[bytes, bytes], **fields: bool) -> Normalizer:
    data = EncoderData(kind="ugm", charsmap=read_charsmap(charsmap_bytes(rules)), **fields)
    return Normalizer(from_bytes([b"a", b"<end>"], eos=1, encoder=data))


def test_characters_and_blanks_become_what_the_vocabulary_says():
    rules = {"ﬁ".encode(): b"fi", b"X": b""}
    assert normalizer(rules)("ﬁX  x\u2581".encode()) == b"fi  x "
    both = normalizer(rules, add_space_prefix=True, remove_extra_whitespaces=True)
    assert both("  ﬁX  x ".encode()) == b" fi x"
    assert both(b"") == both(b"  ") == b""
    assert pickle.loads(pickle.dumps(both))(b"X") == both(b"X")


def test_long_texts_and_long_results():
    grows = normalizer({b"a": b"b" * 4000})
    assert grows(b"a" * 200) == b"b" * 800_000
    assert grows(b"c" * 100_000) == b"c" * 100_000
    with pytest.raises(VocabularyError, match="the character map makes the text more than 32 times as long"):
        grows(b"a" * 100_000)


def test_texts_that_are_too_long_are_refused_at_once():
    with pytest.raises(VocabularyError, match="the text has 1000000000000 bytes, the limit is 268435456"):
        next(capacities(10**12))
