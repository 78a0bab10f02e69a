r"""Where tokens end: between characters, inside of one, or inside of an escape of JSON, read from its first byte on.

    WHOLE         between characters, outside of escapes
    1, 2, 3       inside of a character, which any bytes 80 to BF complete, so many
    4 to 7        behind E0, ED, F0, F4: not any byte may come next
    ESCAPED       behind a backslash
    OTHER         all else: in \uXXXX, after bytes that are no text

Lexer states are followed by phases, too (kernels/canonical/sure.py): what a string of JSON takes between characters is
the same nearly everywhere, and within characters and escapes it is not.

In: a tokenizer. Out: arrays. Cost: 30 ms for 128,256 tokens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..kernels.canonical.inside import ENTIRE, OTHER_SORT, PLAIN
from ..kernels.canonical.slots import CANON
from ..kernels.canonical.sure import ESCAPED, N_PHASES, OTHER, WHOLE

if TYPE_CHECKING:
    from ..tokenizer.tokenizer import Tokenizer

AFTER_E0, AFTER_ED, AFTER_F0, AFTER_F4 = 4, 5, 6, 7
FORMS_OF_UTF8 = (  # first bytes, the phase behind them (The Unicode Standard, table 3-7)
    *((0xC2, 0xDF, 1), (0xE0, 0xE0, AFTER_E0), (0xE1, 0xEF, 2), (0xED, 0xED, AFTER_ED)),
    *((0xF0, 0xF0, AFTER_F0), (0xF1, 0xF3, 3), (0xF4, 0xF4, AFTER_F4)),
)
CONTINUATIONS = (  # phase, bytes, the phase behind them
    *((1, 0x80, 0xBF, WHOLE), (2, 0x80, 0xBF, 1), (3, 0x80, 0xBF, 2)),
    *((AFTER_E0, 0xA0, 0xBF, 1), (AFTER_ED, 0x80, 0x9F, 1), (AFTER_F0, 0x90, 0xBF, 2), (AFTER_F4, 0x80, 0x8F, 2)),
)


OTHERS = list(b'"\\\x7f')
SEPARATORS = "\u2028".encode(), "\u2029".encode()
Slots = dict[int, npt.NDArray[Any]]  # arrays by the slot of their address


def next_phases() -> npt.NDArray[np.uint8]:
    """uint8[N_PHASES, 256]: the phase behind a byte."""
    table = np.full((N_PHASES, 256), OTHER, np.uint8)
    table[WHOLE, :0x80] = WHOLE
    for first, last, phase in FORMS_OF_UTF8:
        table[WHOLE, first : last + 1] = phase
    for phase, first, last, behind in CONTINUATIONS:
        table[phase, first : last + 1] = behind
    table[ESCAPED] = table[WHOLE]
    table[ESCAPED, ord("u")] = OTHER
    table[WHOLE, ord("\\")] = ESCAPED
    return table


def phases_of_tokens(tokenizer: Tokenizer, table: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """uint8[n_vocab]: the phase behind all bytes of each token."""
    offsets, data = tokenizer._parts.token_offsets, tokenizer._parts.token_data
    n_bytes = np.diff(offsets)
    phases = np.full(len(n_bytes), WHOLE, np.uint8)
    waiting = np.flatnonzero(n_bytes)
    place = 0
    while len(waiting):
        phases[waiting] = table[phases[waiting], data[offsets[waiting] + place]]
        place += 1
        waiting = waiting[n_bytes[waiting] > place]
    return phases


def has_others(tokenizer: Tokenizer) -> npt.NDArray[np.bool_]:
    """bool[n_vocab]: tokens with characters that may not stand in a string of JSON as they are, or are SEPARATORS."""
    data = tokenizer._parts.token_data
    is_other = (data < 0x20) | np.isin(data, OTHERS)
    for separator in SEPARATORS:
        is_separator = np.ones(max(len(data) - 2, 0), bool)
        for place, byte in enumerate(separator):
            is_separator &= data[place : len(data) - 2 + place] == byte
        is_other[2:] |= is_separator
    return _count(tokenizer, is_other) > 0


def _count(tokenizer: Tokenizer, marked: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """int64[n_vocab]: how many bytes of each token are marked."""
    counts = np.concatenate(([0], np.cumsum(marked)))
    offsets = tokenizer._parts.token_offsets
    return np.asarray(counts[offsets[1:]] - counts[offsets[:-1]], np.int64)


def characters_of_tokens(tokenizer: Tokenizer) -> npt.NDArray[np.uint16]:
    """uint16[n_vocab]: how many characters begin in each token."""
    return _count(tokenizer, (tokenizer._parts.token_data & 0xC0) != 0x80).astype(np.uint16)


def last_leads(tokenizer: Tokenizer) -> npt.NDArray[np.uint8]:
    """uint8[n_vocab]: the last byte of each token that begins a character, 0 = none."""
    data, offsets = tokenizer._parts.token_data, tokenizer._parts.token_offsets
    begins = np.maximum.accumulate(np.where((data & 0xC0) != 0x80, np.arange(1, len(data) + 1), 0))
    last = np.concatenate(([0], begins))[offsets[1:]]
    return np.where(last > offsets[:-1], np.concatenate((data, [0]))[last - 1], 0).astype(np.uint8)


def _by_bytes(tokenizer: Tokenizer, chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
    """Chosen tokens by their bytes: what is found for one helps those behind, which begin or end alike."""
    return np.array(sorted(np.flatnonzero(chosen).tolist(), key=tokenizer.token_bytes), np.int32)


def phase_slots(tokenizer: Tokenizer) -> Slots:
    """Arrays by slot."""
    table = next_phases()
    phases, others = phases_of_tokens(tokenizer, table), has_others(tokenizer)
    is_half = (phases > WHOLE) & (phases < ESCAPED) & ~others
    is_open = (phases != WHOLE) & ~is_half
    is_not_plain = others & (phases == WHOLE)
    sorts = np.select((is_open, is_not_plain), (OTHER_SORT, ENTIRE), PLAIN)
    return {
        CANON.phases: table,
        CANON.token_sorts: np.where(is_half, last_leads(tokenizer), sorts).astype(np.uint8),
        CANON.token_characters: characters_of_tokens(tokenizer),
        CANON.not_plain: np.flatnonzero(is_not_plain).astype(np.int32),
        CANON.half_tokens: _by_bytes(tokenizer, is_half),
        CANON.open_tokens: _by_bytes(tokenizer, is_open),
    }
