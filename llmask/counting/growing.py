"""Texts that grow at the end or at the beginning, with their tokens at any time.

In: a tokenizer, texts to push. Out: counts, ids. Cost: 2 us a push with its count, and 50 ns a byte.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Any

import numpy as np

from ..arguments import as_integer, check_type
from ..encoders.bpe import BpeEncoder, unfinished
from ..errors import VocabularyError
from ..tokenizer.tokenizer import Tokenizer
from .final_words import END, RESTART, ROW_WIDTH, TOTAL, FinalWords

STEP = 6  # rows that are measured at a time when text is prepended
MAX_TEXT_BYTES = 2**31 - 1
_EMPTY = np.empty(0, np.int32)


def as_bytes(text: str | bytes, n_before: int) -> bytes:
    """A text as UTF-8, which together with `n_before` bytes must have less than 2 GiB.

    Raises
    ------
    VocabularyError : it has more, is no text, or contains lone surrogates.
    """
    if not isinstance(text, (str, bytes)):
        raise VocabularyError(f"only str and bytes can be pushed, not {type(text).__name__}", help="give a str")
    try:
        data = text.encode("utf-8") if isinstance(text, str) else text
    except UnicodeEncodeError as error:
        raise VocabularyError(
            f"the text contains the lone surrogate U+{ord(error.object[error.start]):04X}", help="take it out"
        ) from None
    if n_before + len(data) > MAX_TEXT_BYTES:
        raise VocabularyError(f"the text would have more than {MAX_TEXT_BYTES} bytes", help="begin another text")
    return data


def check_tokenizer(tokenizer: Tokenizer) -> BpeEncoder | None:
    """The encoder whose words suffice to count where no tokens are named, or None: texts have to be encoded anew.

    Raises
    ------
    VocabularyError : not a `Tokenizer`.
    """
    check_type(tokenizer, Tokenizer, "a Tokenizer is wanted", "give a llmask.Tokenizer", VocabularyError)
    return tokenizer._parts.part_encoder


class GrowingText(ABC):
    """A text that grows at one end, with the tokens of the whole of it."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._encoder = check_tokenizer(tokenizer)
        self._tokenizer = tokenizer
        self._n_bytes = 0
        self._lengths: list[int] = []  # of the text before each push
        self._count: int | None = 0
        self._n_unnamed: int | None = None  # pushes before the one since which user-defined tokens are named

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, and what comes out of a pickle, has its pushes done anew: addresses mean nothing elsewhere."""
        return _push_again, (type(self), self._tokenizer, self._pushes())

    @abstractmethod
    def push(self, text: str | bytes) -> None:
        """Take a text in."""

    @abstractmethod
    def _pushes(self) -> list[bytes]:
        """The texts that were pushed."""

    @abstractmethod
    def text(self) -> bytes:
        """The text so far."""

    def tokens(self) -> list[int]:
        """Token ids of the text so far: `tokenizer.encode(text)`. Cost: one encoding.

        Raises
        ------
        VocabularyError : no tokens spell the text; or it ends inside of a character and the vocabulary is not BPE.
        """
        text, encoder = self.text(), self._encoder
        if encoder is None:
            return self._tokenizer.encode(_decoded(text))
        if self._n_unnamed is None:
            return encoder.encode_bytes(text)
        ids: list[int] = []
        for part in self._tokenizer._parts.cut_names(text):
            ids += [part] if isinstance(part, int) else encoder.encode_bytes(part)
        return ids

    def count(self) -> int:
        """Number of tokens of the text so far: `len(tokens())`.

        Raises
        ------
        VocabularyError : as `tokens`.
        """
        if self._count is None:
            encoder = self._encoder if self._n_unnamed is None else None
            self._count = len(self.tokens()) if encoder is None else self._count_words(encoder)
        return self._count

    def rollback(self, n: int = 1) -> None:
        """Undo the last `n` pushes.

        Raises
        ------
        VocabularyError : there were fewer pushes.
        """
        n = as_integer(n, "a number of pushes")
        if not 0 <= n <= len(self._lengths):
            raise VocabularyError(
                f"rollback({n}), but {len(self._lengths)} texts were pushed", help="give a number between 0 and that"
            )
        if n == 0:
            return
        self._n_bytes = self._lengths[-n]
        del self._lengths[-n:]
        self._count = None
        if self._n_unnamed is not None and len(self._lengths) <= self._n_unnamed:
            self._n_unnamed = None
        self._forget_words()

    def _look_for_names(self, part: bytes) -> None:
        """Note whether `part`, what was pushed with what may make a name together with it, names tokens."""
        if self._n_unnamed is None and self._encoder is not None and self._tokenizer._parts.has_names(part):
            self._n_unnamed = len(self._lengths) - 1

    @abstractmethod
    def _count_words(self, encoder: BpeEncoder) -> int:
        """Number of tokens, from the words of the text."""

    @abstractmethod
    def _forget_words(self) -> None:
        """Forget the words of what was taken back."""


def _push_again(kind: type[GrowingText], tokenizer: Tokenizer, texts: list[bytes]) -> GrowingText:
    growing = kind(tokenizer)
    for text in texts:
        growing.push(text)
    return growing


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise VocabularyError(
            f"the text is not UTF-8 at byte {error.start}, and this tokenizer encodes characters only",
            help="push whole characters",
        ) from None


class AppendableEncoder(GrowingText):
    """The tokens of a text that grows at its end.

    Examples
    --------
    >>> encoder = AppendableEncoder(Tokenizer.default())
    >>> encoder.push("Hello"), encoder.push(" world")
    (None, None)
    >>> encoder.count() == len(encoder.tokens()) == Tokenizer.default().count("Hello world")
    True
    >>> encoder.rollback(1); encoder.text()
    b'Hello'
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__(tokenizer)
        self._text, self._address = np.empty(0, np.uint8), 0
        self._words = None if self._encoder is None else FinalWords(self._encoder)

    def text(self) -> bytes:
        """The text so far."""
        return self._text[: self._n_bytes].tobytes()

    def push(self, text: str | bytes) -> None:
        """Append a text; bytes may end inside of a character.

        Raises
        ------
        VocabularyError : not a text, or the whole would have 2 GiB.
        """
        data = as_bytes(text, self._n_bytes)
        end = self._n_bytes + len(data)
        if end > len(self._text):
            grown = np.empty(max(256, 2 * end), np.uint8)
            grown[: self._n_bytes] = self._text[: self._n_bytes]
            self._text, self._address = grown, grown.ctypes.data
        self._text[self._n_bytes : end] = memoryview(data)
        self._lengths.append(self._n_bytes)
        longest = self._tokenizer._parts.longest_name
        if longest:
            self._look_for_names(self._text[max(self._n_bytes - longest + 1, 0) : end].tobytes())
        self._n_bytes, self._count = end, None

    def _pushes(self) -> list[bytes]:
        text = self.text()
        return [text[start:end] for start, end in pairwise([*self._lengths, self._n_bytes])]

    def push_counts(self, text: str | bytes) -> np.ndarray:
        """Append a text; returns int32[n_bytes], the number of tokens after each byte, as if the text ended there.

        An array, because a list of that many integers took as long as a quarter of the counting.

        Raises
        ------
        VocabularyError : as `push` and `count`.
        """
        self.count()
        before = self._n_bytes
        self.push(text)
        if self._words is not None and self._n_unnamed is None:
            counts = np.empty(self._n_bytes - before, np.int32)
            n_tokens = self._words.count(self._address, self._n_bytes, counts)
            if n_tokens >= 0:
                self._count = n_tokens
                return counts
        self.rollback(1)
        data, found = as_bytes(text, before), []
        for end in range(1, len(data) + 1):
            self.push(data[end - 1 : end])
            found.append(self.count())
        self._lengths[len(self._lengths) - len(data) :] = [before]
        return np.array(found, np.int32)

    def _forget_words(self) -> None:
        if self._words is not None:
            tail = self._text[max(self._n_bytes - 3, 0) : self._n_bytes].tobytes()
            self._words.rollback(self._n_bytes - len(unfinished(tail)))

    def _count_words(self, encoder: BpeEncoder) -> int:
        found = -1 if self._words is None else self._words.count(self._address, self._n_bytes, _EMPTY)
        return found if found >= 0 else len(self.tokens())  # which raises, with the byte


class PrependableEncoder(GrowingText):
    """The tokens of a text that grows at its beginning.

    Examples
    --------
    >>> encoder = PrependableEncoder(Tokenizer.default())
    >>> encoder.push(" world"), encoder.push("Hello")
    (None, None)
    >>> encoder.text(), encoder.count() == Tokenizer.default().count("Hello world")
    (b'Hello world', True)
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__(tokenizer)
        self._bytes = np.empty(256, np.uint8)  # the text lies at its end
        # places where a word begins and scanning may begin: distance from the end of the text, tokens from there on
        self._places: list[tuple[int, int]] = [(0, 0)]
        self._undo: list[tuple[int, list[tuple[int, int]]]] = []  # of every count: places added, places taken away

    def text(self) -> bytes:
        """The text so far."""
        return self._bytes[len(self._bytes) - self._n_bytes :].tobytes()

    def push(self, text: str | bytes) -> None:
        """Prepend a text; bytes may begin and end inside of a character.

        Raises
        ------
        VocabularyError : not a text, or the whole would have 2 GiB.
        """
        data = as_bytes(text, self._n_bytes)
        n_bytes = self._n_bytes + len(data)
        if n_bytes > len(self._bytes):
            grown = np.empty(2 * n_bytes, np.uint8)
            grown[len(grown) - self._n_bytes :] = self._bytes[len(self._bytes) - self._n_bytes :]
            self._bytes = grown
        first = len(self._bytes) - n_bytes
        self._bytes[first : first + len(data)] = np.frombuffer(data, np.uint8)
        self._lengths.append(self._n_bytes)
        longest = self._tokenizer._parts.longest_name
        if longest:
            self._look_for_names(self._bytes[first : first + len(data) + longest - 1].tobytes())
        self._n_bytes, self._count = n_bytes, None

    def _pushes(self) -> list[bytes]:
        text = self.text()
        n_bytes = len(text)
        return [text[n_bytes - end : n_bytes - start] for start, end in pairwise([*self._lengths, n_bytes])]

    def _forget_words(self) -> None:
        while self._places[-1][0] > self._n_bytes:
            n_added, taken = self._undo.pop()
            del self._places[len(self._places) - n_added :]
            self._places += taken

    def _count_words(self, encoder: BpeEncoder) -> int:
        text = self._bytes.ctypes.data + len(self._bytes) - self._n_bytes
        n_wanted = STEP
        while True:
            rows = np.empty((n_wanted, ROW_WIDTH), np.int32)
            n_rows = encoder.tables.doors.measure_words(
                encoder.tables.address, text, self._n_bytes, 0, rows.ctypes.data, 0, n_wanted
            )
            if n_rows < 0:
                return len(self.tokens())  # which raises, with the byte
            listed = rows[:n_rows].tolist()
            met = self._find_meeting(listed)
            if met is not None:
                return self._add_places(listed[: met[0]], met[1])
            n_wanted *= 4

    def _find_meeting(self, rows: list[list[int]]) -> tuple[int, int] | None:
        """How many new words come before the first old place that one of them ends at, and the number of that place."""
        place = len(self._places) - 1
        if not rows and self._n_bytes == self._places[-1][0]:
            return 0, place
        for i, row in enumerate(rows):
            distance = self._n_bytes - row[END]
            while self._places[place][0] > distance:
                place -= 1
            if self._places[place][0] == distance and (row[RESTART] or distance == 0):
                return i + 1, place
        return None

    def _add_places(self, rows: list[list[int]], place: int) -> int:
        total = self._places[place][1] + (rows[-1][TOTAL] if rows else 0)
        starts = [(0, 0), *((row[END], row[TOTAL]) for row in rows[:-1] if row[RESTART])]
        added = [(self._n_bytes - start, total - before) for start, before in reversed(starts)] if rows else []
        self._undo.append((len(added), self._places[place + 1 :]))
        self._places[place + 1 :] = added
        return total
