"""Beginnings of documents that nothing completes: what greedy lexing can do to a grammar.

A lexeme takes every byte that it can, so `A: /a+/  B: /ab/  start: A B` accepts `a`, `aa`, ... and no document: the
`a` of B is always taken by A. Configurations are followed from the first one, shortest texts first, by every byte. One
from which no end is reached, though all that follows it was seen, is a dead end; its text is shown. What was not seen
within the limit is taken to have an end, so whatever is reported is true, and deep dead ends are not found. Nor are
those behind tokens that the grammar names by their ids.

In: a grammar. Out: a warning or none. Cost: 3 us a byte that may follow, up to MAX_CONFIGURATIONS times 256 of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .kernels import engine
from .kernels.configurations import REFUSED

if TYPE_CHECKING:
    from .compiled import CompiledGrammar, Generation

SHOWN = 200  # bytes of a text that the warning shows
MAX_CONFIGURATIONS = 400
MAX_STEPS = 30_000
ALL_BYTES = np.arange(256, dtype=np.int32)


def dead_end_warnings(grammar: CompiledGrammar) -> list[str]:
    """A warning where a text may be written that is the beginning of no document."""
    text = dead_end(grammar.generation)
    if text is None:
        return []
    shown = repr(text[:SHOWN].decode("utf-8", "backslashreplace"))
    return [
        f"no document begins with {shown}, though it may be written: a terminal takes what the next one needs; "
        "let terminals that follow each other begin and end with different characters"
    ]


def dead_end(generation: Generation) -> bytes | None:
    """The shortest text that may be written and is the beginning of no document, if one is seen; see the module."""
    texts: dict[int, bytes] = {generation.start: b""}
    into: dict[int, list[int]] = {}
    unseen: list[int] = []
    order = [generation.start]
    flags = np.zeros(256, np.int32)
    n_steps = 0
    for here in order:
        if len(texts) > MAX_CONFIGURATIONS or n_steps > MAX_STEPS:
            unseen.append(here)
            continue
        generation.run(engine.LIVE_BYTES, here, data=flags)
        for byte in np.flatnonzero(flags).tolist():
            after = generation.run(engine.ADVANCE, here, data=ALL_BYTES[byte : byte + 1].copy())
            n_steps += 1
            if after == REFUSED:
                continue
            if after not in texts:
                texts[after] = texts[here] + bytes([byte])
                order.append(after)
            into.setdefault(after, []).append(here)
    address = generation.table.address
    ends = {here for here in order if engine.is_accepting(address, here) or engine.names_tokens(address, here)}
    ends.update(unseen)
    waiting = list(ends)
    while waiting:
        for before in into.get(waiting.pop(), ()):
            if before not in ends:
                ends.add(before)
                waiting.append(before)
    return next((texts[here] for here in order if here not in ends), None)
