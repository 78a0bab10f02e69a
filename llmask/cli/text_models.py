"""Sources of logits that need no download: the package's n-gram model, and a neutral one for foreign vocabularies.

The statistics of the n-gram model are about the tokens of the default tokenizer and cannot be carried over to another
vocabulary. There, the neutral model makes every *first byte* that is allowed equally likely, and then every token with
this first byte. Equally likely tokens would be simpler, but a vocabulary has a thousand tokens that continue a number
and one that ends it, so numbers and strings would hardly ever end.

Neither knows when a document is long enough, and a grammar without limits allows endless ones. So from a quarter of
`max_tokens` on, what closes becomes more likely (the quote inside a string, brackets outside, the end of sequence) and
what opens or prolongs less likely, up to e^10 times at the half. Masks are not touched: allowed tokens are weighed.

In: token ids so far and the allowed ones. Out: logits. Cost: O(allowed tokens), and a look at the text so far.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np

from llmask.cli.sampling import Logits, TokenIds

if TYPE_CHECKING:
    from llmask import Tokenizer
    from llmask.defaults import NgramModel

_NO_BYTE = 256  # class of a token without bytes: the end of sequence
_N_CLASSES = 257
_STRONGEST = 10.0  # nats
_NEUTRAL_PRESSURE = 1.5  # nats from the first token on, where no statistics end a string
_QUOTE_OR_ESCAPE = re.compile(rb'\\.|"', re.DOTALL)


def is_inside_string(text: bytes) -> bool:
    """Whether the JSON `text` ends inside a string.

    Examples
    --------
    >>> is_inside_string(b'{"a": "x'), is_inside_string(b'{"a": 1')
    (True, False)
    """
    return _QUOTE_OR_ESCAPE.findall(text).count(b'"') % 2 == 1


def _weights(closing: bytes, prolonging: bytes) -> Logits:
    """Table by first byte: 1 for `closing` and the end of sequence, -1 for `prolonging`, 0 otherwise."""
    table = np.zeros(_N_CLASSES, np.float32)
    table[list(closing)] = 1.0
    table[list(prolonging)] = -1.0
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

    inside_string = _weights(closing=b'"', prolonging=b"")
    outside_string = _weights(closing=b"]}", prolonging=b"[{0123456789 \t\r\n")
    plain_text = _weights(closing=b"", prolonging=b"")

    def __init__(self, tokenizer: Tokenizer, is_json: bool, max_tokens: int) -> None:
        self._tokenizer = tokenizer
        self._is_json = is_json
        self._max_tokens = max_tokens
        offsets = tokenizer.token_offsets
        has_bytes = offsets[1:] > offsets[:-1]
        self.first_class = np.full(tokenizer.vocab_size, _NO_BYTE, np.int64)
        self.first_class[has_bytes] = tokenizer.token_data[offsets[:-1][has_bytes]]

    def weights(self, ids: list[int]) -> Logits:
        """Weight of each first byte after the tokens `ids`: 1 closes, -1 opens or prolongs."""
        if not self._is_json:
            return self.plain_text
        text = b"".join(self._tokenizer.token_bytes(token) for token in ids)
        return self.inside_string if is_inside_string(text) else self.outside_string

    def pressure(self, n_tokens: int) -> float:
        """Factor of the weights, nats: 0 up to a quarter of `max_tokens`, then a ramp up to the half."""
        return _STRONGEST * min(1.0, max(0.0, 4.0 * n_tokens / self._max_tokens - 1.0))


class NgramSource:
    """The n-gram model of the package, hastened towards the end of the document."""

    def __init__(self, model: NgramModel, ending: Ending) -> None:
        self._model = model
        self._ending = ending

    def begin(self) -> None:
        """Start a new document; nothing is kept between tokens."""

    def logits(self, ids: list[int], allowed: TokenIds) -> Logits:
        """Logits of the allowed tokens."""
        likely: Logits = self._model.logits(ids)[allowed]
        pressure = self._ending.pressure(len(ids))
        if pressure == 0:
            return likely
        weights = self._ending.weights(ids)[self._ending.first_class[allowed]]
        return np.asarray(likely + pressure * weights, np.float32)


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
        pressure = np.float32(_NEUTRAL_PRESSURE + self._ending.pressure(len(ids)))
        by_class = self._taste + pressure * self._ending.weights(ids) - np.log(np.maximum(n_tokens, 1))
        return np.asarray(by_class[classes], np.float32)
