"""What BERT's normalization makes of single characters.

Devlin et al., "BERT" (2018), `tokenization.py`: text is cleaned of control characters, Chinese characters and
punctuation stand alone, the rest is lowered and stripped of accents. All of it works on one character at a time, once
the text is decomposed; what a character becomes is spelled as text in which END_OF_WORD, which is no
character, ends a word.

llama.cpp differs: of a decomposition it keeps the first character only, it strips no accents that stand alone, and
characters that are not assigned stay.

Departure: marks that follow one another are not put into canonical order; stripped ones have none left.

In: a character. Out: text. Cost: 2 us, once for each character that occurs.
"""

from __future__ import annotations

import unicodedata

CHINESE = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),  # llama.cpp's bound, and that of tokenizers; BERT itself has 0x2B820
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
END_OF_WORD = "\udcff"  # encoded with "surrogateescape" this is byte 0xFF
SPACE_MARK = "\u2581"
WHITE_SPACE = frozenset("\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000") | {
    chr(code_point) for code_point in range(0x2000, 0x200B)
}
OPTIONS = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")


def llama_cpp_character(character: str) -> str:
    r"""What `llm_tokenizer_wpm` makes of a character.

    Examples
    --------
    >>> llama_cpp_character("É"), llama_cpp_character("?")
    ('e', '\udcff?\udcff')
    """
    if character == SPACE_MARK:
        return " "  # part of a word, and found in tokens that begin one
    character = unicodedata.normalize("NFD", character)[0]
    category = unicodedata.category(character)
    if character in WHITE_SPACE:
        return END_OF_WORD
    if character in "\0\ufffd" or (category[0] == "C" and category != "Cn"):
        return ""
    lowered = unicodedata.normalize("NFC", character.lower())[0]
    is_symbol = ord(character) < 0x7F and category[0] == "S"
    if category[0] == "P" or is_symbol or is_chinese(character):
        return END_OF_WORD + lowered + END_OF_WORD
    return lowered


def bert_character(character: str, options: frozenset[str]) -> str:
    r"""What the normalizer and pre-tokenizer of BERT in `tokenizers` make of a character; `options` are of OPTIONS.

    Examples
    --------
    >>> bert_character("É", frozenset(OPTIONS)), bert_character("日", frozenset(OPTIONS))
    ('e', '\udcff日\udcff')
    """
    category = unicodedata.category(character)
    if "clean_text" in options:
        if character in "\0\ufffd" or (category in ("Cc", "Cf", "Co") and character not in "\t\n\r"):
            return ""
        if character in WHITE_SPACE:
            return END_OF_WORD
    is_apart = "handle_chinese_chars" in options and is_chinese(character)
    parts = character
    if "strip_accents" in options:
        parts = "".join(c for c in unicodedata.normalize("NFD", character) if unicodedata.category(c) != "Mn")
    if "lowercase" in options:
        parts = "".join(c.lower() for c in parts)
    spelled = "".join(END_OF_WORD if c in WHITE_SPACE else _alone(c) for c in parts)
    return END_OF_WORD + spelled + END_OF_WORD if is_apart else spelled


def _alone(character: str) -> str:
    is_ascii_sign = "!" <= character <= "~" and not character.isalnum()
    if is_ascii_sign or unicodedata.category(character)[0] == "P":
        return END_OF_WORD + character + END_OF_WORD
    return character


def is_chinese(character: str) -> bool:
    """Whether BERT counts a character as Chinese."""
    code_point = ord(character)
    return any(low <= code_point <= high for low, high in CHINESE)
