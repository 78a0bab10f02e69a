"""Sources of logits that need no download: the package's n-gram model, and a neutral one for foreign vocabularies.

The statistics of the n-gram model are about the tokens of the default tokenizer and cannot be carried over to another
vocabulary. There, the neutral model makes every *first byte* that is allowed equally likely, and then every token with
this first byte. Equally likely tokens would be simpler, but a vocabulary has a thousand tokens that continue a number
and one that ends it, so numbers and strings would hardly ever end.

The n-gram model gives way to the neutral one where the end is urgent (`endings.py`), because it can be caught in a
loop: in the local part of an e-mail address it wrote `.0.0.0` for ever and never the `@`.

In: token ids so far and the allowed ones. Out: logits. Cost: O(allowed tokens), and a look at the text so far.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from llmask.cli.endings import N_CLASSES, NO_BYTE, Endings, Place
from llmask.cli.sampling import Logits, TokenIds

if TYPE_CHECKING:
    from llmask.defaults import NgramModel

_BASE_PRESSURE = 1.5  # nats for a weight of 1, from the first token on: no statistics end a string
_FULL_PRESSURE = 10.0  # nats, in full haste


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
