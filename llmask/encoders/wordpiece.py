"""WordPiece (WPM): words are cut into the longest tokens that fit, from the left.

Devlin et al., "BERT" (2018). The text is normalized and split into words, character by character, by the rules of
llama.cpp for GGUF files and by BERT's own for tokenizer.json. Tokens that begin a word begin with a blank (see
`llmask/vocabulary/gguf.py`), so a word is looked up with one. A word with a part that is no token becomes the unknown
token as a whole. The loop is in `llmask/kernels/encoders/wordpiece_match.py`.

BERT (`tokenization.py`) cleans text of control characters; Chinese characters and punctuation are words of their own,
the rest is lowered and stripped of accents. All of it works on one character at a time, once the text is decomposed;
what a character becomes is spelled as text in which END_OF_WORD, which is no character, ends a word. llama.cpp differs:
of a decomposition it keeps the first character only, it strips no accents that are alone, and characters that are not
assigned stay. Departure: marks that follow one another are not put into canonical order; stripped ones have none left.

In: text. Out: token ids. Cost: 20 ns a character; 0.5 ms for each 256 characters when one of them is first seen.
Encoding loses case, accents and white space: it cannot be undone.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

import numpy as np

from llmask import forks
from llmask.encoders.categories import SPACES
from llmask.encoders.piece_encoder import without
from llmask.encoders.tables import UNSPELLED, SlotTable, build_double_array, misspelled
from llmask.errors import VocabularyError
from llmask.forks import cached_property
from llmask.vocabulary.vocabulary import Vocabulary

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
OPTIONS = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
N_CODE_POINTS = 0x110000
PAGE = 256
SURROGATES = range(0xD800, 0xE000)


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
    if character in SPACES:
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
        if character in SPACES:
            return END_OF_WORD
    is_apart = "handle_chinese_chars" in options and is_chinese(character)
    parts = character
    if "strip_accents" in options:
        parts = "".join(c for c in unicodedata.normalize("NFD", character) if unicodedata.category(c) != "Mn")
    if "lowercase" in options:
        parts = "".join(c.lower() for c in parts)
    spelled = "".join(END_OF_WORD if c in SPACES else _alone(c) for c in parts)
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


class CharacterTable:
    """What each code point becomes; pages of 256 are filled when one of their characters is first seen.

    Parameters
    ----------
    spell : what a character becomes; END_OF_WORD ends a word.
    """

    def __init__(self, spell: Callable[[str], str]) -> None:
        self._spell = spell
        self._starts = np.zeros(N_CODE_POINTS, np.int32)
        self.lengths = np.zeros(N_CODE_POINTS, np.uint8)
        self._is_filled = np.zeros(N_CODE_POINTS // PAGE, bool)
        self._block = b""
        self._filling = forks.new_lock(forks.ENCODER)
        self._table = SlotTable(1)

    def prepare(self, text: np.ndarray) -> SlotTable:
        """The table for a text, int32 code points. It stays good for this text while other threads fill more pages."""
        pages = text // PAGE
        if not self._is_filled[pages].all():
            with self._filling:
                for page in np.unique(pages).tolist():
                    if not self._is_filled[page]:
                        self._fill(page)
                self._table = self._make_table()
                self._is_filled[pages] = True
        return self._table

    def _fill(self, page: int) -> None:
        parts = []
        n_bytes = len(self._block)
        for code_point in range(page * PAGE, (page + 1) * PAGE):
            spelled = (
                b"" if code_point in SURROGATES else self._spell(chr(code_point)).encode("utf-8", "surrogateescape")
            )
            self._starts[code_point] = n_bytes
            self.lengths[code_point] = len(spelled)
            n_bytes += len(spelled)
            parts.append(spelled)
        self._block += b"".join(parts)

    def _make_table(self) -> SlotTable:
        from ..kernels.encoders import wordpiece_match as kernels

        table = SlotTable(kernels.N_CHARACTER_SLOTS)
        table.put(kernels.STARTS, self._starts)
        table.put(kernels.LENGTHS, self.lengths)
        table.put(kernels.BLOCK, np.frombuffer(self._block + b"\0", np.uint8))
        return table


class WordPieceEncoder:
    """Encoder of one WPM vocabulary."""

    name = "wpm"

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def __getstate__(self) -> dict[str, Any]:
        """What is copied and pickled: not the tables, which hold addresses."""
        return {"_vocabulary": self._vocabulary}

    @cached_property
    def _tokens(self) -> SlotTable:
        from ..kernels.encoders import wordpiece_match  # noqa: F401 # declares the door that is made ready
        from ..kernels.encoders.piece_slots import N_PIECE_SLOTS, PieceSlot
        from ..kernels.machine import jit

        jit.make_ready("wordpiece")
        table = SlotTable(N_PIECE_SLOTS)
        table.put(PieceSlot.TOKENS, build_double_array(without(self._vocabulary.tokens, misspelled(self._vocabulary))))
        table.put_number(PieceSlot.UNKNOWN_ID, self._vocabulary.encoder.unknown_id)
        return table

    @cached_property
    def _characters(self) -> CharacterTable:
        options = self._vocabulary.encoder.bert_options
        if options is None:
            return CharacterTable(llama_cpp_character)
        chosen = frozenset(options)
        return CharacterTable(lambda character: bert_character(character, chosen))

    def encode(self, text: str) -> list[int]:
        """Token ids of a text without special tokens.

        Raises
        ------
        VocabularyError : a word that is no token, in a vocabulary without a token for the unknown.
        """
        if not text:
            return []
        ids = self._run(text)
        if self._vocabulary.encoder.unknown_id < 0 and -1 in ids:
            word = next((word for word in text.split() if -1 in self._run(word)), text)
            raise VocabularyError(f'no tokens spell "{word}", so the text cannot be encoded', help=UNSPELLED)
        return ids

    def _run(self, text: str) -> list[int]:
        """Text to ids, -1 for a word that no tokens spell."""
        from ..kernels.encoders.wordpiece_match import wordpiece_encode

        tokens = self._tokens
        code_points = np.frombuffer(bytearray(text, "utf-32-le"), np.int32)
        table = self._characters.prepare(code_points)
        n_bytes = int(self._characters.lengths[code_points].sum(dtype=np.int64))
        limit = self._vocabulary.encoder.max_word_characters
        out = np.empty(n_bytes + 1, np.int32)
        n_ids = wordpiece_encode(tokens.address, table.address, code_points, n_bytes, limit, out)
        ids: list[int] = out[:n_ids].tolist()
        return ids
