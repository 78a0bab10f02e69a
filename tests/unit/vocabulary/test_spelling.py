"""Texts to bytes; the byte alphabet is compared with its definition in test_gguf.py."""

from __future__ import annotations

import numpy as np
import pytest

from llmask.errors import VocabularyError
from llmask.vocabulary.spelling import decode_texts
from llmask.vocabulary.strings import make_table


def decode(texts: list[bytes], types: list[int], byte_alphabet: bool) -> list[bytes]:
    is_special = np.array([kind == 3 for kind in types])
    return list(decode_texts(make_table(texts), np.array(types, np.uint8), is_special, byte_alphabet).strings())


def test_each_type_has_its_rule():
    texts = ["Ġ▁".encode(), "Ġa".encode(), "Ġ".encode(), b"<0x41>", b"x"]
    assert decode(texts, [4, 1, 0, 6, 3], byte_alphabet=True) == ["Ġ▁".encode(), b" a", b" ", b"A", b""]
    assert decode(["▁a▁b".encode(), "Ġ".encode()], [1, 1], byte_alphabet=False) == [b" a b", "Ġ".encode()]


@pytest.mark.parametrize("text", [b"", b"<0x4>", b"<0x4g>", b"<0x041>", b"<1x41>", b"(0x41>", b"<0x41)"])
def test_bytes_are_spelled_in_one_way(text):
    with pytest.raises(VocabularyError) as error:
        decode([b"a", text], [1, 6], byte_alphabet=False)
    assert str(error.value) == f"token 1 is of type BYTE, but its text is {text!r}, not like '<0x0A>'"


def test_malformed_texts_stand_for_themselves():
    texts = [b"\xc4", b"\xc4\xa0\xff", b"\xe2\x96", b"\x80a"]
    assert decode(texts, [1] * 4, byte_alphabet=True) == texts
    assert decode(texts, [1] * 4, byte_alphabet=False) == texts
