"""WordPiece: words are cut into the longest tokens that fit, from the left.

Devlin et al., "BERT" (2018), and `llm_tokenizer_wpm` of llama.cpp: the text is decomposed (NFD), lowered, stripped of
accents and control characters, and split at white space, punctuation and Chinese characters. Tokens that begin a word
carry a blank in front (see `llmask/vocabulary/gguf.py`), so a word is looked up with one. A word with a part that is
no token becomes the unknown token as a whole.

In: text. Out: token ids. Cost: 3 us a character. Encoding loses case, accents and white space: it cannot be undone.
"""

from __future__ import annotations

import unicodedata
from functools import cached_property

from ..errors import VocabularyError
from ..vocabulary.vocabulary import Vocabulary

CHINESE = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),  # llama.cpp's bound; BERT itself has 0x2B820
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class WordPieceEncoder:
    """Encoder of one WPM vocabulary."""

    name = "wpm"

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    @cached_property
    def _token_of_bytes(self) -> dict[bytes, int]:
        found: dict[bytes, int] = {}
        for token, data in enumerate(self._vocabulary.tokens.strings()):
            if data:
                found.setdefault(data, token)
        return found

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self._token_of_bytes), default=0)

    def encode(self, text: str) -> list[int]:
        """Token ids of a text without special tokens.

        Raises
        ------
        VocabularyError : a word that is no token, in a vocabulary without a token for the unknown.
        """
        ids: list[int] = []
        for word in split_bert_words(text):
            found = self._find_pieces(b" " + word.encode("utf-8"))
            if found is None:
                if self._vocabulary.encoder.unknown_id < 0:
                    raise VocabularyError(f'no tokens spell "{word}", so the text cannot be encoded')
                found = [self._vocabulary.encoder.unknown_id]
            ids.extend(found)
        return ids

    def _find_pieces(self, word: bytes) -> list[int] | None:
        ids = []
        start = 0
        while start < len(word):
            for end in range(min(len(word), start + self._longest), start, -1):
                token = self._token_of_bytes.get(word[start:end])
                if token is not None:
                    ids.append(token)
                    start = end
                    break
            else:
                return None
        return ids


def split_bert_words(text: str) -> list[str]:
    """Words as BERT's uncased models see them.

    Examples
    --------
    >>> split_bert_words("Wie heißt Zoë?")
    ['wie', 'heißt', 'zoe', '?']
    """
    words = [""]
    for character in unicodedata.normalize("NFD", text):
        category = unicodedata.category(character)
        if character.isspace():
            words.append("")
        elif character in "\0\ufffd" or category[0] == "C" or category == "Mn":
            continue
        elif _stands_alone(character, category):
            words += [character.lower(), ""]
        else:
            words[-1] += character.lower()
    return [word for word in words if word]


def _stands_alone(character: str, category: str) -> bool:
    code_point = ord(character)
    is_symbol = code_point < 0x7F and category[0] == "S"
    return category[0] == "P" or is_symbol or any(low <= code_point <= high for low, high in CHINESE)
