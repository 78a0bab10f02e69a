"""A thread that builds the masks which will be asked for next, while the model computes.

    matcher.accept(token)
    llmask.read_ahead([matcher])       a mask that is not there yet is built beside the model's step
    logits = model(...)
    matcher.fill_bitmask(bitmask)      finds it

What is built belongs to the grammar and is seen by all its sequences, so the thread takes nothing of a matcher but the
number of its configuration. It holds the store's lock for one mask at a time. While nobody asks for one it does other
work, in parts: documents of new grammars are read (asking/documents.py).

In: matchers. Out: masks in the tables of their grammars. Cost: 1 us for a mask that is there, 5 us for one that is not.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from queue import Empty, SimpleQueue

import numpy as np

from ..arguments import listed
from ..errors import LlmaskError
from ..kernels import engine
from ..kernels.tables.kinds import Fill
from ..kernels.tables.operations import Operation
from ..store.generation import Generation
from .matcher import Matcher

MOST_WAITING = 4096  # masks; whoever asks for more does without
HANDING_OVER = 0.001  # seconds until other work begins: a new grammar is handed over, and its first mask built
BETWEEN = 0.0001  # seconds between its parts, so that who waits for the interpreter or the lock gets it


class _Reader:
    """The reading thread of this process; it ends with it."""

    def __init__(self) -> None:
        self.asked: SimpleQueue[tuple[Generation, int] | Iterator[int]] = SimpleQueue()
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


_reader: _Reader | None = None
_making = threading.Lock()
_scratch = threading.local()


def read_ahead(matchers: Iterable[Matcher | None]) -> int:
    """Have the masks that these matchers need next built by a helping thread, while the caller does something else.

    The next `fill_bitmask` finds what has been built until then, and builds the rest as ever. Nothing else changes, and
    nothing has to be waited for. Canonical masks, and those of a sequence that finishes, are not read ahead.

    Parameters
    ----------
    matchers : None among them is a row without a grammar.

    Returns
    -------
    How many masks were asked for: 0 where all are there.

    Raises
    ------
    LlmaskError : one of them is no matcher, or they are no list.

    Examples
    --------
    >>> import llmask
    >>> matcher = llmask.Compiler(llmask.Tokenizer.default()).json_object().matcher()
    >>> matcher.accept_bytes(b'{"never seen before')
    >>> n_asked = llmask.read_ahead([matcher])
    """
    n_asked = 0
    for matcher in listed(matchers, "matchers"):
        if matcher is None:
            continue
        if not isinstance(matcher, Matcher):
            raise LlmaskError(f"a matcher is needed, not {type(matcher).__name__}", help="give grammar.matcher()")
        if matcher.follows_grammar and is_missing(matcher):
            reader = _started()
            if reader.asked.qsize() < MOST_WAITING:
                reader.asked.put((matcher.generation, matcher.configuration))
                n_asked += 1
    return n_asked


def read_beside(parts: Iterator[int]) -> None:
    """Have the helping thread do some work while nobody asks it for a mask, part by part, and not at once."""
    reader = _started()
    if reader.asked.qsize() < MOST_WAITING:
        reader.asked.put(parts)


def is_missing(matcher: Matcher) -> bool:
    """Whether the mask of a matcher is not there."""
    n_words = matcher.store.n_words
    row = getattr(_scratch, "row", None)
    if row is None or row.shape[1] < n_words:
        row = _scratch.row = np.zeros((1, n_words), np.int32)
    return bool(engine.fill_mask(matcher.cell_address, row, 0) == Fill.MISS)


def _started() -> _Reader:
    global _reader
    with _making:
        if _reader is None or not _reader.thread.is_alive():
            _reader = _Reader()
        return _reader


def _forget_thread() -> None:
    """A forked child has none of its parent's threads."""
    global _reader, _making
    _reader = None
    _making = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_thread)
