"""What must come next: bytes by the grammar alone, tokens as the tokenizer writes these bytes.

Forced tokens are those of forced bytes that no text allowed afterwards can change: in {"name": ...} the bytes `name"`
are forced behind the first quote, and `name` is a token of every encoding, but `"` may become `":`, and is left out.
A token that the grammar names by its id is forced where nothing else may come; text before it is then a text by itself.

In: a matcher. Out: bytes, tokens. Cost: 2 us a byte; then 0.5 ms and 1 us for every continuation that is possible
(encoders/certain.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..kernels import engine
from ..kernels.mask.cell import CELL_CONFIGURATION, CELL_GRAMMAR
from ..kernels.mask.configurations import REFUSED
from .expected import may_be_named, named_ranges
from .history import BYTES_TOKEN

if TYPE_CHECKING:
    from ..tokenizer.tokenizer import Tokenizer
    from .matcher import Matcher

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
    while len(forced) < MAX_FORCED_BYTES and not _may_stop(matcher, configuration):
        if matcher._run(engine.LIVE_BYTES, configuration, flags) != 1:
            break
        byte = np.flatnonzero(flags).astype(np.int32)
        configuration = matcher._run(engine.ADVANCE, configuration, byte)
        forced.append(int(byte[0]))
    return bytes(forced), configuration


def _may_stop(matcher: Matcher, configuration: int) -> bool:
    """Whether the text may stop here: the document may end, or a token come that the grammar names."""
    is_accepting = engine.is_accepting(matcher._cell[CELL_GRAMMAR], configuration)
    return bool(is_accepting) or may_be_named(matcher, configuration)


def forced_tokens(matcher: Matcher) -> list[int]:
    """See `Matcher.forced_tokens`."""
    found: list[int] = []
    here = matcher
    while len(found) < MAX_FORCED_BYTES:
        tokens, goes_on = _forced_text(here)
        if not tokens and goes_on:
            tokens = _forced_name(here)
        found += tokens
        if not tokens or not goes_on:
            break
        here = here.fork()
        here.accept_tokens(tokens)
    return found


def _forced_name(matcher: Matcher) -> list[int]:
    """The token that the grammar names, where nothing else may come next."""
    configuration = matcher._cell[CELL_CONFIGURATION]
    if engine.is_accepting(matcher._cell[CELL_GRAMMAR], configuration) or not may_be_named(matcher, configuration):
        return []
    ranges = named_ranges(matcher, configuration)
    if len(ranges) != 1 or ranges[0][0] != ranges[0][1]:
        return []
    return [] if matcher._run(engine.LIVE_BYTES, configuration, np.zeros(256, np.int32)) else [ranges[0][0]]


def _forced_text(matcher: Matcher) -> tuple[list[int], bool]:
    """Tokens of the bytes that are forced, and whether these are all of them."""
    forced = matcher.forced_bytes()
    if not forced:
        return [], True
    after = find_forced(matcher)[1]
    tokenizer = matcher.grammar.tokenizer
    text, tokens = _since_special(matcher)
    flags = np.zeros(256, np.int32)
    matcher._run(engine.LIVE_BYTES, after, flags)
    certain = tokenizer.certain_tokens(
        text + forced,
        _may_stop(matcher, after),
        flags != 0,
        lambda data: matcher._run(engine.ADVANCE, after, items_of(data)) != REFUSED,
    )
    if certain is None or not (text + forced).startswith(tokenizer.decode_bytes(certain)):
        return [], False
    n_written = _tokens_within(tokenizer, certain, len(text))
    if n_written < 0 or (BYTES_TOKEN not in tokens and certain[:n_written] != tokens):
        return [], False
    return certain[n_written:], len(tokenizer.decode_bytes(certain)) == len(text) + len(forced)


def _since_special(matcher: Matcher) -> tuple[bytes, list[int]]:
    """The text and tokens behind the last special token: encoders split texts there."""
    pieces = dict(matcher._pieces)
    tokens = matcher.tokens
    token_bytes = matcher.grammar.tokenizer.token_bytes
    texts: list[bytes] = []
    for position in range(len(tokens) - 1, -1, -1):
        token = tokens[position]
        texts.append(pieces[position] if token == BYTES_TOKEN else token_bytes(token))
        if token != BYTES_TOKEN and not texts[-1]:
            return b"".join(reversed(texts)), tokens[position + 1 :]
    return b"".join(reversed(texts)), tokens


def _tokens_within(tokenizer: Tokenizer, tokens: list[int], n_bytes: int) -> int:
    """How many leading tokens spell exactly `n_bytes`; -1 where none do."""
    n = spelled = 0
    while n < len(tokens) and spelled < n_bytes:
        spelled += len(tokenizer.token_bytes(tokens[n]))
        n += 1
    return n if spelled == n_bytes else -1
