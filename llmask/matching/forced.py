"""What must come next: bytes by the grammar alone, tokens as the tokenizer writes these bytes.

Forced tokens spell forced bytes, as far as no allowed text can change them later: in {"name": ...} the bytes `name"`
are forced after the first quote, and `name` is a token of every encoding, but `"` may become `":`, and is left out. A
token that the grammar names by its id is forced where nothing else may come; text before it is then a text by itself.

In: a sequence. Out: bytes, tokens. Cost: 2 us a byte; then 0.5 ms and 1 us for every continuation that is possible
(encoders/certain.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import engine
from ..kernels.mask.configurations import REFUSED
from ..kernels.tables.operations import Operation
from ..store.generation import items_of
from ..tokenizer.tokenizer import Tokenizer
from .expected import may_be_named, named_ranges
from .history import BYTES_TOKEN

Sequence = Any  # of sequence.py, which calls this module
MAX_FORCED_BYTES = 65_536


def find_forced(sequence: Sequence) -> tuple[bytes, int]:
    """The bytes that the document must go on with, and the configuration after them."""
    forced = bytearray()
    flags = np.zeros(256, np.int32)
    sequence.make_room()
    configuration = sequence.configuration
    while len(forced) < MAX_FORCED_BYTES and not _may_stop(sequence, configuration):
        if sequence.run(Operation.LIVE_BYTES, configuration, flags) != 1:
            break
        byte = np.flatnonzero(flags).astype(np.int32)
        configuration = sequence.run(Operation.ADVANCE, configuration, byte)
        forced.append(int(byte[0]))
    return bytes(forced), configuration


def _may_stop(sequence: Sequence, configuration: int) -> bool:
    """Whether the text may stop here: the document may end, or a token come that the grammar names."""
    is_accepting = engine.is_accepting(sequence.grammar_address, configuration)
    return bool(is_accepting) or may_be_named(sequence, configuration)


def forced_tokens(sequence: Sequence) -> list[int]:
    """See `Matcher.forced_tokens`."""
    found: list[int] = []
    here = sequence
    while len(found) < MAX_FORCED_BYTES:
        tokens, goes_on = _forced_text(here)
        if not tokens and goes_on:
            tokens = _forced_name(here)
        found += tokens
        if not tokens or not goes_on:
            break
        here = here.fork()
        for token in tokens:
            here.accept(token)
    return found


def _forced_name(sequence: Sequence) -> list[int]:
    """The token that the grammar names, where nothing else may come next."""
    configuration = sequence.configuration
    if engine.is_accepting(sequence.grammar_address, configuration) or not may_be_named(sequence, configuration):
        return []
    ranges = named_ranges(sequence, configuration)
    if len(ranges) != 1 or ranges[0][0] != ranges[0][1]:
        return []
    return [] if sequence.run(Operation.LIVE_BYTES, configuration, np.zeros(256, np.int32)) else [ranges[0][0]]


def _forced_text(sequence: Sequence) -> tuple[list[int], bool]:
    """Tokens of the bytes that are forced, and whether these are all of them."""
    after_rest, after = find_forced(sequence)
    forced = sequence.rest + after_rest
    if not forced:
        return [], True
    tokenizer = sequence.grammar.tokenizer
    text, tokens = _since_special(sequence)
    flags = np.zeros(256, np.int32)
    sequence.run(Operation.LIVE_BYTES, after, flags)
    certain = tokenizer._parts.certain_tokens(
        text + forced,
        _may_stop(sequence, after),
        flags != 0,
        lambda data: sequence.run(Operation.ADVANCE, after, items_of(data)) != REFUSED,
    )
    if certain is None or not (text + forced).startswith(tokenizer.decode_bytes(certain)):
        return [], False
    n_written = _tokens_within(tokenizer, certain, len(text))
    if n_written < 0 or (BYTES_TOKEN not in tokens and certain[:n_written] != tokens):
        return [], False
    return certain[n_written:], len(tokenizer.decode_bytes(certain)) == len(text) + len(forced)


def _since_special(sequence: Sequence) -> tuple[bytes, list[int]]:
    """The text and tokens after the last special token: encoders split texts there."""
    steps = sequence.steps()
    specials = (place + 1 for place, (token, data) in enumerate(steps) if token != BYTES_TOKEN and not data)
    steps = steps[max(specials, default=0) :]
    return b"".join(data for _, data in steps), [token for token, _ in steps]


def _tokens_within(tokenizer: Tokenizer, tokens: list[int], n_bytes: int) -> int:
    """How many leading tokens spell exactly `n_bytes`; -1 where none do."""
    n = spelled = 0
    while n < len(tokens) and spelled < n_bytes:
        spelled += len(tokenizer.token_bytes(tokens[n]))
        n += 1
    return n if spelled == n_bytes else -1
