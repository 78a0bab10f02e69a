"""A thread that builds the masks which will be asked for next, while the model computes.

    batch.accept(tokens)
    batch.read_ahead()      masks that are not there yet are built while the model computes
    logits = model(...)
    batch.fill(bitmask)     finds them

What is built belongs to the grammar and is seen by all its sequences, so the thread takes nothing of a sequence but the
number of its configuration. It holds the store's lock for one mask at a time. While nobody asks for one it does other
work, in parts: documents of new grammars are read (asking/documents.py).

In: sequences. Out: masks in the tables of their grammars. Cost: 1 us for a mask that is there, 5 us for another.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from queue import Empty, SimpleQueue

from ..errors import LlmaskError
from ..forks import OfProcess
from ..kernels.tables.kinds import MaskKind
from ..kernels.tables.operations import Operation
from ..store.generation import Generation
from .mask_numbers import field_reader
from .sequence import Sequence

MOST_WAITING = 4096  # masks; whoever asks for more does without
HANDING_OVER = 0.001  # seconds until other work begins: a new grammar is handed over, and its first mask built
BETWEEN = 0.0001  # seconds between its parts, so that who waits for the interpreter or the lock gets it
Work = tuple[Generation, int] | Iterator[int]  # a configuration whose mask is missing; or what is done in parts


class _Reader:
    """The reading thread of this process; it ends with it."""

    def __init__(self) -> None:
        self.asked: SimpleQueue[Work] = SimpleQueue()
        self.thread = threading.Thread(target=self._serve, name="llmask-ahead", daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        others: deque[Iterator[int]] = deque()
        wait: float | None = None
        while True:
            try:
                asked = self.asked.get(timeout=wait)
            except Empty:
                with suppress(LlmaskError):
                    if next(others[0], None) is None:
                        others.popleft()
                wait = BETWEEN if others else None
                continue
            if isinstance(asked, tuple):
                with suppress(LlmaskError):  # whoever fills the mask is told
                    asked[0].run(Operation.BUILD_MASK, asked[1])
            else:
                others.append(asked)
                wait = HANDING_OVER
            del asked  # an idle thread keeps no grammar


_reader = OfProcess(_Reader, lambda reader: reader.thread.is_alive())
_mask_kind = field_reader("configurations", "mask_kind")


def read_ahead(sequence: Sequence) -> bool:
    """Have the mask that a sequence needs next built by a helping thread; whether it was asked for.

    It is not where it is there, or where more than the grammar makes it.
    """
    is_wanted = sequence.follows_grammar and is_missing(sequence)
    return is_wanted and read_beside((sequence.generation, sequence.configuration))


def read_beside(work: Work) -> bool:
    """Have the helping thread build a mask or, while nobody asks it for one, do other work; whether it will."""
    reader = _reader.get()
    if reader.asked.qsize() >= MOST_WAITING:
        return False
    reader.asked.put(work)
    return True


def is_missing(sequence: Sequence) -> bool:
    """Whether the mask of a sequence is not there."""
    return bool(_mask_kind(sequence.generation.table, sequence.configuration) == MaskKind.NONE)
