"""What must come next: bytes by the grammar alone, tokens as the tokenizer writes these bytes.

Forced tokens are those of forced bytes that no text allowed afterwards can change: in {"name": ...} the bytes `name"`
are forced behind the first quote, and `name` is a token of every encoding, but `"` may become `":`, and is left out.

In: a matcher. Out: bytes, tokens. Cost: 2 us a byte; then 0.5 ms and 1 us for every continuation that is possible
(encoders/certain.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .history import BYTES_TOKEN
from .kernels import engine
from .kernels.configurations import REFUSED
from .kernels.shared_batch import CELL_CONFIGURATION, CELL_GRAMMAR

if TYPE_CHECKING:
    from .matcher import Matcher
    from .tokenizer import Tokenizer

MAX_FORCED_BYTES = 65_536


def items_of(data: bytes) -> npt.NDArray[np.int32]:
    """Bytes as operations of `engine.build` take them."""
    return np.frombuffer(data, np.uint8).astype(np.int32)


def find_forced(matcher: Matcher) -> tuple[bytes, int]:
    """The bytes that the document must go on with, and the configuration after them."""
    forced = bytearray()
    flags = np.zeros(256, np.int32)
    matcher._make_room()
    configuration = matcher._cell[CELL_CONFIGURATION]
    while len(forced) < MAX_FORCED_BYTES and not engine.is_accepting(matcher._cell[CELL_GRAMMAR], configuration):
        if matcher._run(engine.LIVE_BYTES, configuration, flags) != 1:
            break
        byte = np.flatnonzero(flags).astype(np.int32)
        configuration = matcher._run(engine.ADVANCE, configuration, byte)
        forced.append(int(byte[0]))
    return bytes(forced), configuration


def forced_tokens(matcher: Matcher) -> list[int]:
    """See `Matcher.forced_tokens`."""
    forced = matcher.forced_bytes()
    if not forced:
        return []
    tokenizer = matcher.grammar.tokenizer
    text, tokens = matcher.text(), matcher.tokens
    after = find_forced(matcher)[1]
    flags = np.zeros(256, np.int32)
    matcher._run(engine.LIVE_BYTES, after, flags)
    certain = tokenizer.certain_tokens(
        text + forced,
        bool(engine.is_accepting(matcher._cell[CELL_GRAMMAR], after)),
        flags != 0,
        lambda data: matcher._run(engine.ADVANCE, after, items_of(data)) != REFUSED,
    )
    if certain is None or not (text + forced).startswith(tokenizer.decode_bytes(certain)):
        return []
    n_written = _tokens_within(tokenizer, certain, len(text))
    if n_written < 0 or (BYTES_TOKEN not in tokens and certain[:n_written] != tokens):
        return []
    return certain[n_written:]


def _tokens_within(tokenizer: Tokenizer, tokens: list[int], n_bytes: int) -> int:
    """How many leading tokens spell exactly `n_bytes`; -1 where none do."""
    n = spelled = 0
    while n < len(tokens) and spelled < n_bytes:
        spelled += len(tokenizer.token_bytes(tokens[n]))
        n += 1
    return n if spelled == n_bytes else -1
