"""What BERT and llama.cpp make of characters."""

from __future__ import annotations

import pytest

from llmask.encoders.bert_characters import END_OF_WORD, OPTIONS, bert_character, is_chinese, llama_cpp_character

ALL = frozenset(OPTIONS)


@pytest.mark.parametrize(
    ("character", "expected"),
    [
        ("A", "a"), ("É", "e"), ("ß", "ß"), ("ﬁ", "ﬁ"), ("№", "№"), (" ", "|"), ("\u00a0", "|"), ("\n", "|"),
        ("!", "|!|"), ("$", "|$|"), ("日", "|日|"), ("\0", ""), ("\ufffd", ""), ("\u200b", ""), ("\x1f", ""),
        ("경", "ᄀ"), ("\u0301", "\u0301"), ("\u2581", " "), ("\x0b", "|"),
    ],
)  # fmt: skip
def test_llama_cpp(character, expected):
    assert llama_cpp_character(character).replace(END_OF_WORD, "|") == expected


@pytest.mark.parametrize(
    ("character", "options", "expected"),
    [
        ("É", ALL, "e"), ("É", {"lowercase"}, "é"), ("É", {"strip_accents"}, "E"), ("É", set(), "É"),
        ("日", ALL, "|日|"), ("日", set(), "日"), ("\u0301", ALL, ""), ("경", ALL, "경"),
        ("\x00", ALL, ""), ("\x00", set(), "\x00"), ("\x0b", ALL, ""), ("\x0b", set(), "|"), ("+", ALL, "|+|"),
        ("¿", ALL, "|¿|"), ("\ufb19", ALL, "\ufb19"), ("\ue000", ALL, ""),
    ],
)  # fmt: skip
def test_bert(character, options, expected):
    import unicodedata

    found = bert_character(character, frozenset(options)).replace(END_OF_WORD, "|")
    assert unicodedata.normalize("NFC", found) == unicodedata.normalize("NFC", expected)


def test_chinese_characters():
    assert is_chinese("日")
    assert not is_chinese("あ")
