"""Byte-pair encoding as trained: the pair of lowest rank is merged first, leftmost among equals.

Gage, "A New Algorithm for Data Compression" (1994); Sennrich, Haddow, Birch, "Neural Machine Translation of Rare Words
with Subword Units" (2016); over bytes: Radford et al. (GPT-2, 2019). Two sources of ranks:

    merges   the file lists pairs in order (GGUF, tokenizer.json)
    ranks    a pair's rank is the id of the token it makes (tiktoken)

Symbols are byte strings, not characters of the byte alphabet, so both sources share this code. The merging itself is in
`merging.py`. An exact encoder that runs over the trie, without merges, is quicker; this one is written from the
definition.

In: a word. Out: token ids. Cost: 10 us for a new word, 0.2 us for a remembered one; parsing 280,147 merges takes 0.2 s
and happens at the first call.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from ..errors import VocabularyError
from ..vocabulary.vocabulary import TokenType, Vocabulary
from .merging import merge_symbols
from .pretokenize import split_words

MAX_REMEMBERED_WORDS = 65_536
MAX_REMEMBERED_BYTES = 64  # longer words seldom come back

# the byte alphabet of GPT-2: printable Latin-1 characters are themselves, the other bytes U+0100 and following
_PRINTABLE = {*range(33, 127), *range(161, 173), *range(174, 256)}
_REST = [byte for byte in range(256) if byte not in _PRINTABLE]
BYTE_OF_CHARACTER = {code: code for code in _PRINTABLE} | {256 + rank: byte for rank, byte in enumerate(_REST)}


class BpeEncoder:
    """Encoder of one BPE vocabulary.

    Parameters
    ----------
    vocabulary : with `encoder.kind` "bpe" (has merges) or "ranks".
    patterns : how text is split into words.
    """

    name = "bpe"

    def __init__(self, vocabulary: Vocabulary, patterns: tuple[str, ...]) -> None:
        self._vocabulary = vocabulary
        self._patterns = patterns
        self._remembered: dict[str, list[int]] = {}

    @cached_property
    def _token_of_bytes(self) -> dict[bytes, int]:
        """Tokens that merges can make; of several with the same bytes the lowest id."""
        normal = {TokenType.NORMAL, TokenType.UNDEFINED, TokenType.BYTE}
        types = self._vocabulary.types.tolist()
        found: dict[bytes, int] = {}
        for token, data in enumerate(self._vocabulary.tokens.strings()):
            if data and types[token] in normal:
                found.setdefault(data, token)
        return found

    @cached_property
    def _rank_of_pair(self) -> dict[tuple[bytes, bytes], int]:
        merges = self._vocabulary.encoder.merges
        if merges is None:
            return {}
        ranks: dict[tuple[bytes, bytes], int] = {}
        for rank, merge in enumerate(merges.strings()):
            left, _, right = merge.decode("utf-8", "replace").partition(" ")
            pair = (_spelled_bytes(left), _spelled_bytes(right))
            ranks.setdefault(pair, rank)
        return ranks

    def _rank(self, left: bytes, right: bytes) -> int | None:
        if self._vocabulary.encoder.kind == "ranks":
            return self._token_of_bytes.get(left + right)
        return self._rank_of_pair.get((left, right))

    def encode(self, text: str) -> list[int]:
        """Token ids of a text without special tokens.

        Raises
        ------
        VocabularyError : a byte that is no token.
        """
        ids: list[int] = []
        remembered = self._remembered
        for word in split_words(self._patterns, text):
            known = remembered.get(word)
            if known is None:
                known = self._encode_word(word.encode("utf-8"))
                if len(word) <= MAX_REMEMBERED_BYTES:
                    if len(remembered) >= MAX_REMEMBERED_WORDS:
                        remembered.clear()
                    remembered[word] = known
            ids.extend(known)
        return ids

    def _encode_word(self, word: bytes) -> list[int]:
        if self._vocabulary.encoder.ignore_merges and word in self._token_of_bytes:
            return [self._token_of_bytes[word]]
        return self._find_tokens(merge_symbols([word[i : i + 1] for i in range(len(word))], self._rank))

    def _find_tokens(self, symbols: Iterable[bytes]) -> list[int]:
        ids: list[int] = []
        for symbol in symbols:
            token = self._token_of_bytes.get(symbol)
            if token is not None:
                ids.append(token)
                continue
            for byte in symbol:  # merges may make a string that is no token
                token = self._token_of_bytes.get(bytes([byte]))
                if token is None:
                    raise VocabularyError(f"no token spells byte 0x{byte:02X}, so the text cannot be encoded")
                ids.append(token)
        return ids


def _spelled_bytes(text: str) -> bytes:
    """Bytes of a merge's half; as for token texts, one with a character outside of the alphabet stands for itself."""
    try:
        return bytes([BYTE_OF_CHARACTER[ord(character)] for character in text])
    except KeyError:
        return text.encode("utf-8")
