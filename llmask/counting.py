"""Counting the tokens of texts that grow at either end, and of any part of a text, without encoding them anew.

What is counted is always `len(tokenizer.encode(text))`, names of special tokens taken as text. Byte-pair encoding is
not monotone: a longer text may have fewer tokens, and its words may be split in other places. So all three keep
*words*: a word that the splitter has decided on by a character, not by the end of the text, never changes when text is
appended (`llmask/kernels/bpe_incremental.py`), and a word that begins where a word began before is the same word when
text is prepended.

    Appendable    words that are final | the rest, counted anew           usually one word
    Prependable   new words up to the first old beginning | old words     usually one or two words
    Interval      words up to a beginning of the whole text's | sums | words near the end

The cost of a count is that of the words at the border. A text without any place to split, such as 1,000,000 letters
"a", is one word: appending to it still costs the new bytes only (`llmask/kernels/bpe_append.py`), the others cost its
length. Where several patterns split a text one after the other (StarCoder, Falcon, DeepSeek), not all borders can be
used. Words suffice for BPE when nothing else is looked for in a text: with
normalization, user-defined tokens, or another kind of vocabulary, texts are encoded anew.

In: a tokenizer, texts. Out: counts, ids. Cost: 1 us a call and 20 ns a byte of the words at the border.
"""

from __future__ import annotations

import numpy as np

from .arguments import as_integer
from .encoders.bpe import BpeEncoder
from .encoders.tables import address_of
from .errors import VocabularyError
from .tokenizer import Tokenizer

ROW_WIDTH = 4
END, NEEDED, TOTAL, RESTART = range(ROW_WIDTH)  # of a row, as in llmask/kernels/bpe_incremental.py
N_ROWS = 7  # number of rows in the state of llmask/kernels/bpe_append.py
FIRST_ROWS = 64
STEP = 6  # rows that are measured at a time when text is prepended
MAX_TEXT_BYTES = 2**31 - 1
_EMPTY = np.empty(0, np.int32)


def _as_bytes(text: str | bytes, n_before: int) -> bytes:
    if not isinstance(text, (str, bytes)):
        raise VocabularyError(f"only str and bytes can be pushed, not {type(text).__name__}")
    try:
        data = text.encode("utf-8") if isinstance(text, str) else text
    except UnicodeEncodeError as error:
        raise VocabularyError(f"the text contains the lone surrogate U+{ord(error.object[error.start]):04X}") from None
    if n_before + len(data) > MAX_TEXT_BYTES:
        raise VocabularyError(f"the text would have more than {MAX_TEXT_BYTES} bytes")
    return data


def _check_tokenizer(tokenizer: Tokenizer) -> BpeEncoder | None:
    if not isinstance(tokenizer, Tokenizer):
        raise VocabularyError(f"a Tokenizer is wanted, not {type(tokenizer).__name__}")
    return tokenizer.word_encoder


class _Growing:
    """A text that grows at one end, with the tokens of the whole of it."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._encoder = _check_tokenizer(tokenizer)
        self._tokenizer = tokenizer
        self._lengths: list[int] = []  # of the text before each push
        self._count: int | None = 0

    def text(self) -> bytes:
        """The text so far."""
        raise NotImplementedError

    def tokens(self) -> list[int]:
        """Token ids of the text so far: `tokenizer.encode(text)`. Cost: one encoding.

        Raises
        ------
        VocabularyError : no tokens spell the text; or it ends inside of a character and the vocabulary is not BPE.
        """
        if self._encoder is not None:
            return self._encoder.encode_bytes(self.text())
        return self._tokenizer.encode(_decoded(self.text()))

    def count(self) -> int:
        """Number of tokens of the text so far: `len(tokens())`.

        Raises
        ------
        VocabularyError : as `tokens`.
        """
        if self._count is None:
            self._count = len(self.tokens()) if self._encoder is None else self._count_words(self._encoder)
        return self._count

    def _count_words(self, encoder: BpeEncoder) -> int:
        raise NotImplementedError

    def _check_steps(self, n: int) -> int:
        n = as_integer(n, "a number of pushes")
        if not 0 <= n <= len(self._lengths):
            raise VocabularyError(f"rollback({n}), but {len(self._lengths)} texts were pushed")
        return n


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise VocabularyError(
            f"the text is not UTF-8 at byte {error.start}, and this tokenizer encodes characters only",
            help="push whole characters",
        ) from None


class AppendableEncoder(_Growing):
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
        self._n_bytes = 0
        self._words: _FinalWords | None = None
        if self._encoder is not None:
            one_by_one = len(self._encoder.patterns) == 1 and bool((self._encoder.tables.byte_tokens >= 0).all())
            self._words = _RunningWord(self._encoder) if one_by_one else _FinalWords(self._encoder)

    def text(self) -> bytes:
        """The text so far."""
        return self._text[: self._n_bytes].tobytes()

    def push(self, text: str | bytes) -> None:
        """Append a text; bytes may end inside of a character.

        Raises
        ------
        VocabularyError : not a text, or the whole would have 2 GiB.
        """
        data = _as_bytes(text, self._n_bytes)
        end = self._n_bytes + len(data)
        if end > len(self._text):
            grown = np.empty(max(256, 2 * end), np.uint8)
            grown[: self._n_bytes] = self._text[: self._n_bytes]
            self._text, self._address = grown, grown.ctypes.data
        self._text[self._n_bytes : end] = memoryview(data)
        self._lengths.append(self._n_bytes)
        self._n_bytes, self._count = end, None

    def push_counts(self, text: str | bytes) -> list[int]:
        """Append a text; returns the number of tokens after each of its bytes, as if the text ended there.

        Raises
        ------
        VocabularyError : as `push` and `count`.
        """
        if isinstance(self._words, _RunningWord):
            self.count()
            n_old = self._n_bytes
            self.push(text)
            counts = np.empty(self._n_bytes - n_old, np.int32)
            self._count = self._words.count(self._address, self._n_bytes, counts)
            found: list[int] = counts.tolist()
            return found
        data = _as_bytes(text, self._n_bytes)
        before, found = self._n_bytes, []
        for end in range(1, len(data) + 1):
            self.push(data[end - 1 : end])
            found.append(self.count())
        self._lengths[len(self._lengths) - len(data) :] = [before]
        return found

    def rollback(self, n: int = 1) -> None:
        """Undo the last `n` pushes.

        Raises
        ------
        VocabularyError : there were not so many.
        """
        n = self._check_steps(n)
        if n == 0:
            return
        self._n_bytes = self._lengths[-n]
        del self._lengths[-n:]
        self._count = None
        if self._words is not None:
            self._words.rollback(
                self._n_bytes - _cut_off_bytes(self._text[max(self._n_bytes - 3, 0) : self._n_bytes].tobytes())
            )

    def _count_words(self, encoder: BpeEncoder) -> int:
        found = -1 if self._words is None else self._words.count(self._address, self._n_bytes, _EMPTY)
        return found if found >= 0 else len(self.tokens())  # which raises, with the byte


def _cut_off_bytes(tail: bytes) -> int:
    """How many bytes at the end of a text begin a character that they do not finish."""
    for n_bytes in range(1, len(tail) + 1):
        byte = tail[-n_bytes]
        if byte >= 0xC0:
            return n_bytes if n_bytes < 2 + (byte >= 0xE0) + (byte >= 0xF0) else 0
        if byte < 0x80:
            return 0
    return 0


class _FinalWords:
    """The final words of a text that grows at its end; what comes after them is counted anew each time."""

    def __init__(self, encoder: BpeEncoder) -> None:
        self._tables = encoder.tables
        self._rows = np.empty((FIRST_ROWS, ROW_WIDTH), np.int32)
        self._n_rows = 0  # the last of them ends where scanning may begin

    def count(self, text: int, n_bytes: int, _: np.ndarray) -> int:
        """Tokens of the text at an address, negative where a byte is no token."""
        tables = self._tables
        while True:
            rows = self._rows
            n_rows: int = tables.doors.measure_words(
                tables.address, text, n_bytes, 1, rows.ctypes.data, self._n_rows, len(rows)
            )
            if n_rows < 0:
                return n_rows
            if n_rows < len(rows) - 1:
                self._n_rows = n_rows
                return int(rows[n_rows, TOTAL])
            self._grow(2 * len(rows))

    def _grow(self, n_rows: int) -> None:
        rows = np.empty((n_rows, ROW_WIDTH), np.int32)
        rows[: self._n_rows] = self._rows[: self._n_rows]
        self._rows = rows

    def rollback(self, n_bytes: int) -> None:
        """Forget the words that more than the first `n_bytes` decided on."""
        n_rows = int(np.searchsorted(self._rows[: self._n_rows, NEEDED], n_bytes, side="right"))
        while n_rows > 0 and not self._rows[n_rows - 1, RESTART]:
            n_rows -= 1
        self._n_rows = n_rows


class _RunningWord(_FinalWords):
    """The same where one pattern splits and every byte is a token: a byte more is a step more, in a word of any length.

    After a rollback the last word is read again.
    """

    def __init__(self, encoder: BpeEncoder) -> None:
        super().__init__(encoder)
        from .kernels import bpe_append

        self._state = np.zeros(bpe_append.STATE_SIZE, np.int64)
        self._running = np.empty((bpe_append.MAX_RUNNING, 2), np.int64)
        self._prefixes = np.empty(0, np.int64)
        self._start_row = encoder.splitter.n_classes + 1
        self._n_read, self._last = 0, 0
        self._restart(0, 0)
        self._set_addresses()

    def _set_addresses(self) -> None:
        arrays = (self._prefixes, self._running, self._rows)
        self._addresses = tuple(array.ctypes.data for array in arrays)
        self._state_address = self._state.ctypes.data

    def _restart(self, first: int, total: int) -> None:
        self._state[:] = first, total, self._start_row, first, first, first, 0, self._n_rows

    def count(self, text: int, n_bytes: int, counts: np.ndarray) -> int:
        """Tokens of the text at an address; `counts`: after every byte that is new."""
        if n_bytes == self._n_read:
            return self._last
        self._n_rows = self._state.item(N_ROWS)
        n_new = n_bytes - self._state.item(0)
        if self._n_rows + n_new >= len(self._rows) or n_bytes >= len(self._prefixes):
            self._grow(2 * (self._n_rows + n_new) + FIRST_ROWS)
            self._prefixes = np.append(self._prefixes, np.empty(n_bytes + 256, np.int64))
            self._set_addresses()
        self._last = self._tables.doors.append_bytes(
            self._tables.address, self._state_address, text, self._n_read, n_bytes, *self._addresses, counts
        )
        self._n_read = n_bytes
        return self._last

    def rollback(self, n_bytes: int) -> None:
        """Forget the words that more than the first `n_bytes` decided on."""
        self._n_rows = self._state.item(N_ROWS)
        n_before = self._n_rows
        super().rollback(n_bytes)
        if n_bytes < self._n_read or self._n_rows < n_before:
            end, total = (int(self._rows[self._n_rows - 1, i]) if self._n_rows else 0 for i in (END, TOTAL))
            self._restart(end, total)
            self._n_read, self._last = end, total


class PrependableEncoder(_Growing):
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
        self._n_bytes = 0
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
        data = _as_bytes(text, self._n_bytes)
        n_bytes = self._n_bytes + len(data)
        if n_bytes > len(self._bytes):
            grown = np.empty(2 * n_bytes, np.uint8)
            grown[len(grown) - self._n_bytes :] = self._bytes[len(self._bytes) - self._n_bytes :]
            self._bytes = grown
        first = len(self._bytes) - n_bytes
        self._bytes[first : first + len(data)] = np.frombuffer(data, np.uint8)
        self._lengths.append(self._n_bytes)
        self._n_bytes, self._count = n_bytes, None

    def rollback(self, n: int = 1) -> None:
        """Undo the last `n` pushes.

        Raises
        ------
        VocabularyError : there were not so many.
        """
        n = self._check_steps(n)
        if n == 0:
            return
        self._n_bytes = self._lengths[-n]
        del self._lengths[-n:]
        while self._places[-1][0] > self._n_bytes:
            n_added, taken = self._undo.pop()
            del self._places[len(self._places) - n_added :]
            self._places += taken
        self._count = None

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


class IntervalCounter:
    """Numbers of tokens of parts of one text, each as if the part stood alone.

    Parameters
    ----------
    tokenizer : whose tokens are counted.
    text : indexed by characters, as Python does.

    Raises
    ------
    VocabularyError : not a string, lone surrogates, no tokens spell the text, or it has 2 GiB.

    Examples
    --------
    >>> tok = Tokenizer.default()
    >>> counter = IntervalCounter(tok, "What a wonderful world")
    >>> counter.count(5, 16) == tok.count("a wonderful")
    True
    """

    def __init__(self, tokenizer: Tokenizer, text: str) -> None:
        self._encoder = _check_tokenizer(tokenizer)
        self._tokenizer = tokenizer
        if not isinstance(text, str):
            raise VocabularyError(f"only strings are counted, not {type(text).__name__}")
        self._text = text
        self._n_characters = len(text)
        self._offsets: np.ndarray | None = None  # of characters in bytes; None: a character is a byte
        if self._encoder is None:
            tokenizer.count(text)
            return
        self._data = _as_bytes(text, 0)
        if not text.isascii():
            is_first = np.frombuffer(self._data, np.uint8) & 0xC0 != 0x80
            self._offsets = np.append(np.flatnonzero(is_first), len(self._data))
        self._encoder.count_bytes(self._data)  # raises where no tokens spell a byte
        self._measure(self._encoder)

    def _measure(self, encoder: BpeEncoder) -> None:
        tables, n_bytes = encoder.tables, len(self._data)
        rows = np.empty((FIRST_ROWS + n_bytes // 3, ROW_WIDTH), np.int32)
        while True:
            n_rows = tables.doors.measure_words(
                tables.address, address_of(self._data), n_bytes, 0, rows.ctypes.data, 0, len(rows)
            )
            if n_rows < len(rows) - 1:
                break
            rows = np.empty((2 * len(rows), ROW_WIDTH), np.int32)
        self._rows = rows[:n_rows].copy()
        numbers = np.arange(n_rows, dtype=np.int32)
        ends = self._rows[:, END]
        self._row_at = np.append(np.repeat(-1 - numbers, np.diff(ends, prepend=0)), np.int32(n_rows)).astype(np.int32)
        may_begin = np.append(True, self._rows[:-1, RESTART] == 1)[:n_rows]
        starts = np.append(0, ends[:-1])[:n_rows]
        self._row_at[starts[may_begin]] = numbers[may_begin]
        self._count_interval = tables.doors.count_interval
        # what the door takes; the arrays and the text live as long as this object
        self._table, self._address = tables.address, address_of(self._data)
        self._places = self._rows.ctypes.data, self._row_at.ctypes.data

    def count(self, start: int, end: int) -> int:
        """Number of tokens of `text[start:end]`.

        Raises
        ------
        VocabularyError : not 0 <= start <= end <= len(text).
        """
        if not 0 <= start <= end <= self._n_characters:
            raise VocabularyError(
                f"count({start}, {end}), but 0 <= start <= end <= {self._n_characters} is wanted",
                help="indices count characters from the beginning of the text",
            )
        if self._encoder is None:
            return self._tokenizer.count(self._text[start:end])
        if self._offsets is not None:
            start, end = self._offsets.item(start), self._offsets.item(end)
        found: int = self._count_interval(self._table, self._address, start, end, *self._places)
        return found
