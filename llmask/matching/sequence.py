"""What a sequence has accepted: tokens and bytes, and how they are taken back.

The parts of the state (history, pieces of bytes, the cell that compiled code reads) change one after the other, and
Python raises KeyboardInterrupt between any two calls. Without care one interrupt of a step in forty left the tokens of
one place beside the mask of another. So whoever changes the state has `_settle` bring all parts to what the history
holds when an exception comes: the step is then done as a whole or not at all.

In: what `Matcher` found out about tokens. Out: tokens, text. Cost: 0.1 us.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from ..arguments import as_integer
from ..errors import LlmaskError
from ..kernels.mask.cell import CELL_CONFIGURATION
from .history import BYTES_TOKEN, History

if TYPE_CHECKING:
    from ..compiling.compiled import Generation
    from ..store.store import Store


class Accepted:
    """Base of `Matcher`, which owns the fields."""

    __slots__ = ()
    _cell: array[int]
    _generation: Generation
    _history: History
    _pieces: list[tuple[int, bytes]]
    _store: Store

    @property
    def tokens(self) -> list[int]:
        """The accepted tokens; -1 stands for bytes given to `accept_bytes`."""
        return self._history.tokens()

    def text(self) -> bytes:
        """The bytes accepted so far; special tokens add none."""
        pieces = dict(self._pieces)
        tokenizer = self._store.tokenizer
        return b"".join(
            pieces[i] if token == BYTES_TOKEN else tokenizer.token_bytes(token)
            for i, token in enumerate(self._history.tokens())
        )

    def _take_bytes(self, data: bytes, reached: int) -> None:
        try:
            self._pieces.append((len(self._history), data))
            self._history.push(BYTES_TOKEN, reached)
            self._cell[CELL_CONFIGURATION] = reached
        except BaseException:
            self._settle()
            raise

    def rollback(self, n: int) -> None:
        """Undo the last `n` accepted tokens.

        Raises
        ------
        LlmaskError : fewer than `n` tokens were accepted, or `n` is negative; the state is unchanged.
        """
        if type(n) is not int:
            n = as_integer(n, "the number of tokens to roll back")
        if not 0 <= n <= len(self._history):
            raise LlmaskError(
                f"cannot roll back {n} tokens: {len(self._history)} were accepted",
                help="give a number between 0 and that",
            )
        try:
            self._history.drop(n)
            self._settle()
        except BaseException:
            self._settle()
            raise

    def _settle(self) -> None:
        """Bring all parts of the state to what the history holds, which an exception may have left by half."""
        self._history.settle()
        while self._pieces and self._pieces[-1][0] >= len(self._history):
            self._pieces.pop()
        last = self._history.last_configuration()
        self._cell[CELL_CONFIGURATION] = self._generation.start if last is None else last

    def reset(self) -> None:
        """Go back to the beginning."""
        self.rollback(len(self._history))
