"""What makes a document come to its end, and in one line, when a model without judgement writes it.

A grammar without limits allows endless documents, and neither of the models in the package knows when it has written
enough. So each token gets a *weight*: above 0 it closes (the quote inside a string, brackets outside, the end of
sequence), below 0 it opens or prolongs. How much the weights count is the *haste*: nothing at the start, all of it
where the document, or the string that is being written, has become long. White space in excess gets a weight so low
that it is never chosen while anything else is allowed, so JSON stays on one line.

Masks are not touched by any of this: it only weighs what they allow.

Two sources of logits need no download: the package's n-gram model, and a neutral one for foreign vocabularies, as the
statistics are about the tokens of the default tokenizer. The neutral model makes every *first byte* that is allowed
equally likely, and then every token with this first byte. Equally likely tokens would be simpler, but a vocabulary has
a thousand tokens that continue a number and one that ends it, so numbers and strings would hardly ever end. The n-gram
model gives way to the neutral one where the end is urgent, because it can be caught in a loop: in the local part of an
e-mail address it wrote `.0.0.0` for ever and never the `@`.

In: the text so far, the allowed tokens. Out: a weight for each of them, the haste, logits. Cost: O(text + allowed
tokens).
"""

from __future__ import annotations

import math
import re
import string
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from llmask.cli.sampling import Logits, LogitsSource, TokenIds

if TYPE_CHECKING:
    from llmask import Tokenizer
    from llmask.defaults import NgramModel

NO_BYTE = 256  # class of a token without bytes: the end of sequence
N_CLASSES = 257
NEVER = -1e9  # nats; finite, so that it can still be chosen where nothing else is allowed
_DOCUMENT_TOKENS = 500  # a document that approaches this length, or max_tokens, has to end
_STRING_BYTES = (50, 150)  # the haste rises while the length of a string is between these
_QUOTE_OR_ESCAPE = re.compile(rb'\\.|"', re.DOTALL)
_BASE_PRESSURE = 1.5  # nats for a weight of 1, from the first token on: no statistics end a string
_FULL_PRESSURE = 10.0  # nats, in full haste


class Place(NamedTuple):
    """Where the text so far ends.

    string_bytes  length of the string that is being written, None outside strings
    last_byte     of the text, 0 for an empty one
    """

    string_bytes: int | None
    last_byte: int


def find_place(text: bytes) -> Place:
    """Find out where a JSON text ends.

    Examples
    --------
    >>> find_place(b'{"a": "xyz').string_bytes, find_place(b'{"a": 1').string_bytes
    (3, None)
    """
    quotes = [match.end() for match in _QUOTE_OR_ESCAPE.finditer(text) if match.group() == b'"']
    return Place(len(text) - quotes[-1] if len(quotes) % 2 else None, text[-1] if text else 0)


def _weights(closing: bytes, prolonging: bytes, prolonging_weight: float) -> Logits:
    """Table by first byte: 1 for `closing` and the end of sequence, a weight below 0 for `prolonging`, 0 otherwise."""
    table = np.zeros(N_CLASSES, np.float32)
    table[list(prolonging)] = prolonging_weight
    table[list(closing)] = 1.0
    table[NO_BYTE] = 1.0
    return table


class Endings:
    """Weights of the tokens of one tokenizer.

    Parameters
    ----------
    tokenizer : whose tokens are weighed.
    is_json : whether the text is JSON; otherwise only the end of sequence has a weight.
    max_tokens : length that the document must not reach.

    Attributes
    ----------
    first_class : int64[vocab_size], a token's first byte, NO_BYTE for tokens without bytes.
    """

    def __init__(self, tokenizer: Tokenizer, is_json: bool, max_tokens: int) -> None:
        self._tokenizer = tokenizer
        self._is_json = is_json
        self._max_tokens = min(max_tokens, _DOCUMENT_TOKENS)
        offsets, data = tokenizer._parts.token_offsets, tokenizer._parts.token_data
        has_bytes = offsets[1:] > offsets[:-1]
        self.first_class = np.full(tokenizer.vocab_size, NO_BYTE, np.int64)
        self.first_class[has_bytes] = data[offsets[:-1][has_bytes]]

        def count(flags: np.ndarray) -> np.ndarray:
            """Sum over the bytes of each token."""
            sums = np.append(0, np.cumsum(flags))
            return np.asarray(sums[offsets[1:]] - sums[offsets[:-1]])

        # Inside a string punctuation is kept likely: formats such as e-mail cannot end before theirs.
        letters = bytes(byte for byte in range(256) if chr(byte) not in string.punctuation)
        n_opened = count(np.isin(data, list(b"[{")).astype(np.int64) - np.isin(data, list(b"]}")))
        inside = _weights(b'"', letters, -0.2)[self.first_class] - n_opened * (self.first_class == ord('"'))
        outside = _weights(b"]}", b"[{0123456789", -1.0)[self.first_class] - n_opened
        self._inside_string: Logits = inside.astype(np.float32)
        self._outside_string: Logits = outside.astype(np.float32)
        self._plain_text: Logits = _weights(b"", b"", 0.0)[self.first_class]
        has_break = count(np.isin(data, list(b"\n\r\t"))) > 0
        has_two_blanks = count(np.append((data[1:] == ord(" ")) & (data[:-1] == ord(" ")), False)) > 0
        begins_blank = self.first_class == ord(" ")
        self._breaks: Logits = has_break * np.float32(NEVER)
        self._excess_outside: Logits = (has_break | has_two_blanks) * np.float32(NEVER)
        self._excess_compact: Logits = (has_break | has_two_blanks | begins_blank) * np.float32(NEVER)

    def place(self, ids: list[int]) -> Place:
        """Where the document of the tokens `ids` ends; not asked for text that is not JSON."""
        if not self._is_json:
            return Place(None, 0)
        return find_place(self._tokenizer.decode_bytes(ids))

    def haste(self, n_tokens: int, place: Place) -> float:
        """How urgent the end is, from 0 to 1: the document has `n_tokens`, the current string its bytes."""
        first, last = _STRING_BYTES
        of_string = 0.0 if place.string_bytes is None else (place.string_bytes - first) / (last - first)
        of_document = 4.0 * n_tokens / self._max_tokens - 1.0  # rises between a quarter and the half
        return min(1.0, max(0.0, of_string, of_document))

    def weights(self, place: Place, allowed: TokenIds) -> Logits:
        """Weight of each allowed token: above 0 closes, below 0 opens or prolongs; a token may open several times."""
        if not self._is_json:
            by_token = self._plain_text
        else:
            by_token = self._outside_string if place.string_bytes is None else self._inside_string
        return np.asarray(by_token[allowed], np.float32)

    def white_space(self, place: Place, allowed: TokenIds, is_compact: bool) -> Logits:
        """NEVER for tokens with white space that a JSON document in one line does not need, 0 for the others.

        Parameters
        ----------
        is_compact : without any blank; otherwise one is welcome after a colon or a comma.
        """
        if not self._is_json or place.string_bytes is not None:
            return self.line_breaks(allowed)
        by_token = self._excess_compact if is_compact or place.last_byte not in b":," else self._excess_outside
        return np.asarray(by_token[allowed], np.float32)

    def line_breaks(self, allowed: TokenIds) -> Logits:
        """NEVER for tokens with a line break or tab (in JSON these stand between its parts only), 0 for the others."""
        if not self._is_json:
            return np.zeros(len(allowed), np.float32)
        return np.asarray(self._breaks[allowed], np.float32)


class OneLine:
    """A source of logits that never chooses a line break between the parts of a JSON document.

    For models of their own judgement: documents stay on one line each, and nothing else is changed.
    """

    def __init__(self, source: LogitsSource, endings: Endings) -> None:
        self._source = source
        self._endings = endings

    def begin(self) -> None:
        """Start a new document."""
        self._source.begin()

    def logits(self, ids: list[int], allowed: TokenIds) -> Logits:
        """Logits of the allowed tokens."""
        return self._source.logits(ids, allowed) + self._endings.line_breaks(allowed)


class NeutralSource:
    """Every first byte that is allowed is equally likely, then every token with this first byte.

    Bytes outside ASCII, escapes and blanks are less likely, so that the text can be read.
    """

    def __init__(self, endings: Endings) -> None:
        self._endings = endings
        self._taste = np.zeros(N_CLASSES, np.float32)
        self._taste[128:NO_BYTE] = -math.log(100)
        self._taste[list(b"\\ \t\r\n")] = -math.log(20)

    def begin(self) -> None:
        """Start a new document; nothing is kept between tokens."""

    def logits(self, ids: list[int], allowed: TokenIds) -> Logits:
        """Logits of the allowed tokens."""
        place = self._endings.place(ids)
        spacing = self._endings.white_space(place, allowed, is_compact=True)
        return self.bare_logits(place, self._endings.haste(len(ids), place), allowed) + spacing

    def bare_logits(self, place: Place, haste: float, allowed: TokenIds) -> Logits:
        """Logits that do not look at white space."""
        classes = self._endings.first_class[allowed]
        by_class = self._taste - np.log(np.maximum(np.bincount(classes, minlength=N_CLASSES), 1))
        pressure = _BASE_PRESSURE + (_FULL_PRESSURE - _BASE_PRESSURE) * haste
        return np.asarray(by_class[classes] + pressure * self._endings.weights(place, allowed), np.float32)


class NgramSource:
    """The n-gram model of the package, which gives way to the neutral one where the end is urgent."""

    def __init__(self, model: NgramModel, endings: Endings) -> None:
        self._model = model
        self._endings = endings
        self._neutral = NeutralSource(endings)

    def begin(self) -> None:
        """Start a new document; nothing is kept between tokens."""

    def logits(self, ids: list[int], allowed: TokenIds) -> Logits:
        """Logits of the allowed tokens."""
        logits: Logits = self._model.logits(ids)[allowed]
        place = self._endings.place(ids)
        haste = self._endings.haste(len(ids), place)
        if haste > 0:
            neutral = self._neutral.bare_logits(place, haste, allowed)
            logits = np.asarray((1 - haste) * logits + haste * neutral, np.float32)
        return logits + self._endings.white_space(place, allowed, is_compact=False)
