"""The byte alphabet is one printable character a byte."""

from __future__ import annotations

from llmask.encoders.byte_alphabet import BYTE_OF_CHARACTER, spelled_bytes


def test_every_byte_has_one_printable_character():
    assert sorted(BYTE_OF_CHARACTER.values()) == list(range(256))
    assert all(chr(code).isprintable() and not chr(code).isspace() for code in BYTE_OF_CHARACTER)


def test_texts_stand_for_bytes_or_for_themselves():
    assert spelled_bytes("\u0120caf\u00c3\u00a9\u010a") == " café\n".encode()
    assert spelled_bytes("日 x") == "日 x".encode()
