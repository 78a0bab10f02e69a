"""Sources of logits that need no download: the package's n-gram model, and a neutral one for foreign vocabularies.

The statistics of the n-gram model are about the tokens of the default tokenizer and cannot be carried over to another
vocabulary. There, the neutral model makes every *first byte* that is allowed equally likely, and then every token with
this first byte. Equally likely tokens would be simpler, but a vocabulary has a thousand tokens that continue a number
and one that ends it, so numbers and strings would hardly ever end.

Neither knows when a document is long enough, and a grammar without limits allows endless ones. So between a quarter and
the half of `max_tokens` two things change more and more. The n-gram model gives way to the neutral one, because it can
be caught in a loop: in the local part of an address it wrote `.0.0.0` for ever and never the `@`. And what closes
becomes up to e^10 times likelier: the quote inside a string, brackets outside, the end of sequence; what opens or
prolongs becomes less likely, and a token that opens twice (`[{"`) even less. Masks are not touched: allowed tokens are
weighed.

In: token ids so far and the allowed ones. Out: logits. Cost: O(allowed tokens), and a look at the text so far.
"""

from __future__ import annotations

import math
import re
import string
from typing import TYPE_CHECKING

import numpy as np

from llmask.cli.sampling import Logits, TokenIds

if TYPE_CHECKING:
    from llmask import Tokenizer
    from llmask.defaults import NgramModel

_NO_BYTE = 256  # class of a token without bytes: the end of sequence
_N_CLASSES = 257
_BASE_PRESSURE = 1.5  # nats, from the first token on: no statistics end a string
_FULL_PRESSURE = 10.0
_QUOTE_OR_ESCAPE = re.compile(rb'\\.|"', re.DOTALL)


def is_inside_string(text: bytes) -> bool:
    """Whether the JSON `text` ends inside a string.

    Examples
    --------
    >>> is_inside_string(b'{"a": "x'), is_inside_string(b'{"a": 1')
    (True, False)
    """
    return _QUOTE_OR_ESCAPE.findall(text).count(b'"') % 2 == 1


def _weights(closing: bytes, prolonging: bytes, prolonging_weight: float) -> Logits:
    """Table by first byte: 1 for `closing` and the end of sequence, a weight below 0 for `prolonging`, 0 otherwise."""
    table = np.zeros(_N_CLASSES, np.float32)
    table[list(prolonging)] = prolonging_weight
    table[list(closing)] = 1.0
    table[_NO_BYTE] = 1.0
    return table


class Ending:
    """How much more likely each token should be so that the document ends in time.

    Parameters
    ----------
    tokenizer : whose tokens are weighed.
    is_json : whether the text is JSON; otherwise only the end of sequence is made more likely.
    max_tokens : length that the document must not reach.
    """

    # Inside a string punctuation is kept likely: formats such as e-mail cannot end before theirs.
    inside_string = _weights(b'"', bytes(byte for byte in range(256) if chr(byte) not in string.punctuation), -0.2)
    outside_string = _weights(b"]}", b"[{0123456789 \t\r\n", -1.0)
    plain_text = _weights(b"", b"", 0.0)

    def __init__(self, tokenizer: Tokenizer, is_json: bool, max_tokens: int) -> None:
        self._tokenizer = tokenizer
        self._is_json = is_json
        self._max_tokens = max_tokens
        offsets, data = tokenizer.token_offsets, tokenizer.token_data
        has_bytes = offsets[1:] > offsets[:-1]
        self.first_class = np.full(tokenizer.vocab_size, _NO_BYTE, np.int64)
        self.first_class[has_bytes] = data[offsets[:-1][has_bytes]]
        steps = np.zeros(256, np.int64)
        steps[list(b"[{")] = 1
        steps[list(b"]}")] = -1
        depths = np.append(0, np.cumsum(steps[data]))
        self._n_opened = depths[offsets[1:]] - depths[offsets[:-1]]

    def weights(self, ids: list[int], allowed: TokenIds) -> Logits:
        """Weight of each allowed token after the tokens `ids`: above 0 closes, below 0 opens or prolongs."""
        classes = self.first_class[allowed]
        if not self._is_json:
            return self.plain_text[classes]
        n_opened = self._n_opened[allowed]
        if not is_inside_string(b"".join(self._tokenizer.token_bytes(token) for token in ids)):
            return np.asarray(self.outside_string[classes] - n_opened, np.float32)
        ends_string = classes == ord('"')
        return np.asarray(self.inside_string[classes] - n_opened * ends_string, np.float32)

    def haste(self, n_tokens: int) -> float:
        """How urgent the end is: 0 up to a quarter of `max_tokens`, then a ramp to 1 at the half."""
        return min(1.0, max(0.0, 4.0 * n_tokens / self._max_tokens - 1.0))


class NeutralSource:
    """Every first byte that is allowed is equally likely, then every token with this first byte.

    Bytes outside ASCII, escapes and white space are less likely, so that the text can be read.
    """

    def __init__(self, ending: Ending) -> None:
        self._ending = ending
        self._taste = np.zeros(_N_CLASSES, np.float32)
        self._taste[128:_NO_BYTE] = -math.log(100)
        self._taste[list(b"\\ \t\r\n")] = -math.log(20)

    def begin(self) -> None:
        """Start a new document; nothing is kept between tokens."""

    def logits(self, ids: list[int], allowed: TokenIds) -> Logits:
        """Logits of the allowed tokens."""
        classes = self._ending.first_class[allowed]
        n_tokens = np.bincount(classes, minlength=_N_CLASSES)
        pressure = _BASE_PRESSURE + (_FULL_PRESSURE - _BASE_PRESSURE) * self._ending.haste(len(ids))
        by_class = self._taste - np.log(np.maximum(n_tokens, 1))
        return np.asarray(by_class[classes] + pressure * self._ending.weights(ids, allowed), np.float32)


class NgramSource:
    """The n-gram model of the package, which gives way to the neutral one where the end is urgent."""

    def __init__(self, model: NgramModel, ending: Ending) -> None:
        self._model = model
        self._ending = ending
        self._neutral = NeutralSource(ending)

    def begin(self) -> None:
        """Start a new document; nothing is kept between tokens."""

    def logits(self, ids: list[int], allowed: TokenIds) -> Logits:
        """Logits of the allowed tokens."""
        likely: Logits = self._model.logits(ids)[allowed]
        haste = self._ending.haste(len(ids))
        if haste == 0:
            return likely
        return np.asarray((1 - haste) * likely + haste * self._neutral.logits(ids, allowed), np.float32)
