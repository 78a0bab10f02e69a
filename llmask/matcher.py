"""A matcher: one sequence on its way through a grammar.

The state of a sequence is the number of a configuration; the matcher is the list of those numbers, one a token, so
forking copies a few pointers and rolling back shortens the list. Known masks and steps take no lock; a miss builds what
is missing under the store's lock and tries again.

In: token ids. Out: bitmasks, verdicts. Cost: about 1 us for a known mask, 0.5 us for a known token.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .errors import LlmaskError, TokenRejected, VocabularyError
from .history import History
from .kernels import engine, store_slots
from .kernels.configurations import ENDED, REFUSED
from .kernels.crossing import FILL_ALL, FILL_EMPTY, FILL_MISS, FILL_SHAPE, FILL_SOME
from .kernels.lexer_states import MISS

if TYPE_CHECKING:
    from .compiled import CompiledGrammar

SHOWN_BYTES = 40  # of the text so far, in messages
MAX_FORCED_BYTES = 65_536
_BYTES_TOKEN = -1  # stands in the history for bytes given to `accept_bytes`


class Matcher:
    """State of one sequence; used by one thread at a time.

    Parameters
    ----------
    grammar : what the sequence has to match.
    """

    def __init__(self, grammar: CompiledGrammar) -> None:
        self.grammar = grammar
        self._store = grammar.store
        self._tables = (grammar.store.table.address, grammar.table.address)
        self._history = History()
        self._pieces: list[tuple[int, bytes]] = []  # (position in the history, bytes) of accept_bytes
        self._configuration = grammar.start_configuration

    # --- masks

    def fill_bitmask(self, bitmask: Any, row: int = 0) -> bool:
        """Write which tokens may come next into one row of a bitmask.

        Parameters
        ----------
        bitmask : int32[batch, n_words], NumPy array or torch tensor on the CPU, contiguous; n_words at least
            ceil(vocab_size / 32). Token t is bit t % 32 of word t // 32; 1 = allowed. Every word of the row is written.
        row : the row to write.

        Returns
        -------
        False when every token of the vocabulary is allowed (the mask need not be applied), else True.

        Raises
        ------
        LimitExceeded : the mask needs more work than the limits allow; the matcher is unchanged.
        VocabularyError : the grammar goes on here, but no token of the vocabulary spells the next byte.
        LlmaskError : the bitmask has another dtype or shape, or no such row.
        """
        store, grammar = self._tables
        if type(row) is not int:
            row = as_integer(row, "a row")
        try:
            status = engine.fill_mask(store, grammar, self._configuration, bitmask, row)
        except (TypeError, ValueError, OverflowError):  # not an array, not one that kernels read, a row beyond 64 bits
            bitmask = as_bitmask(bitmask)
            if not 0 <= row < len(bitmask):
                raise self._no_such_row(row, bitmask) from None
            status = engine.fill_mask(store, grammar, self._configuration, bitmask, row)
        if status == FILL_MISS:
            self._store.run(engine.BUILD_MASK, self._configuration, grammar=self.grammar.table)
            status = engine.fill_mask(store, grammar, self._configuration, bitmask, row)
        if status == FILL_SOME:
            return True
        if status == FILL_SHAPE:
            raise self._no_such_row(row, bitmask)
        if status == FILL_EMPTY:
            raise VocabularyError(
                "the grammar goes on here, but no token of the vocabulary spells what may come next",
                where=self._place(),
                help="use a vocabulary with a token for every byte, or a grammar within its alphabet",
            )
        assert status == FILL_ALL
        return False

    # --- tokens

    def accept_token(self, token: int) -> None:
        """Take one token into the state.

        Raises
        ------
        TokenRejected : the grammar does not allow it here; the state is unchanged.
        LimitExceeded : deciding needs more work than the limits allow; the state is unchanged.
        LlmaskError : the token id is not an integer; the state is unchanged.
        """
        if type(token) is not int:
            token = as_integer(token, "a token id")
        reached = self._after(token)
        if reached == REFUSED:
            raise self._rejection(token)
        self._history.push(token, reached)
        self._configuration = reached

    def _after(self, token: int) -> int:
        """Configuration after one more token, or REFUSED."""
        if not 0 <= token < self.grammar.store.tokenizer.vocab_size:
            return REFUSED
        store, grammar = self._tables
        reached: int = engine.accept(store, grammar, self._configuration, token)
        if reached == MISS:
            reached = self._store.run(engine.ACCEPT, self._configuration, token, grammar=self.grammar.table)
        if reached == REFUSED and token in self._store.tokenizer.eos_ids and not self.is_terminated():
            return ENDED if self.is_accepting() else REFUSED
        return reached

    def accept_tokens(self, tokens: Iterable[int]) -> None:
        """Take several tokens into the state, all or none.

        Raises
        ------
        TokenRejected : one of them is not allowed; the state is as before the first.
        """
        before = self._configuration, len(self._history)
        try:
            for token in _each(tokens):
                self.accept_token(token)
        except BaseException:
            self._history.drop(len(self._history) - before[1])
            self._configuration = before[0]
            raise

    def validate_tokens(self, tokens: Iterable[int]) -> int:
        """How many leading tokens would be accepted one after the other; the state is unchanged."""
        start = self._configuration
        accepted = 0
        try:
            for token in _each(tokens):
                reached = self._after(token if type(token) is int else as_integer(token, "a token id"))
                if reached == REFUSED:
                    break
                self._configuration = reached
                accepted += 1
        finally:
            self._configuration = start
        return accepted

    def accept_bytes(self, data: bytes) -> None:
        """Take bytes into the state, whatever tokens they come from; counts as one step for `rollback`.

        Raises
        ------
        TokenRejected : the grammar does not allow them here; the state is unchanged.
        LimitExceeded : deciding needs more work than the limits allow; the state is unchanged.
        LlmaskError : not bytes; the state is unchanged.
        """
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise LlmaskError(f"text is given as bytes, not as {type(data).__name__}", help="encode it as UTF-8 first")
        data = bytes(data)
        items = np.frombuffer(data, np.uint8).astype(np.int32)
        with self._store.lock:
            reached = self._store.run(engine.ADVANCE, self._configuration, data=items, grammar=self.grammar.table)
            position = int(self._store.table.array[store_slots.REPORT])
        if reached == REFUSED:
            raise TokenRejected(
                f"byte {position} of {_shown(data)} cannot come next; {self._expectation(data[:position])}",
                where=self._place(),
                help="fill_bitmask tells which tokens may come next",
            )
        self._pieces.append((len(self._history), data))
        self._history.push(_BYTES_TOKEN, reached)
        self._configuration = reached

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
        self._history.drop(n)
        while self._pieces and self._pieces[-1][0] >= len(self._history):
            self._pieces.pop()
        last = self._history.last_configuration()
        self._configuration = self.grammar.start_configuration if last is None else last

    def reset(self) -> None:
        """Go back to the beginning."""
        self.rollback(len(self._history))

    def fork(self) -> Matcher:
        """An independent matcher in the same state."""
        twin = Matcher(self.grammar)
        twin._history = self._history.fork()
        twin._pieces = self._pieces.copy()
        twin._configuration = self._configuration
        return twin

    # --- questions

    def is_accepting(self) -> bool:
        """Whether the document may end here (True also after its end)."""
        return bool(engine.is_accepting(self._tables[1], self._configuration))

    def is_terminated(self) -> bool:
        """Whether an end-of-sequence token was accepted."""
        return self._configuration == ENDED

    @property
    def tokens(self) -> list[int]:
        """The accepted tokens; -1 stands for bytes given to `accept_bytes`."""
        return self._history.tokens()

    def text(self) -> bytes:
        """The bytes accepted so far."""
        pieces = dict(self._pieces)
        tokenizer = self._store.tokenizer
        return b"".join(
            pieces[i] if token == _BYTES_TOKEN else tokenizer.token_bytes(token)
            for i, token in enumerate(self._history.tokens())
        )

    def forced_bytes(self) -> bytes:
        """The bytes that must come next, whatever is chosen: the longest common beginning of all continuations.

        At most MAX_FORCED_BYTES; empty where the document may end.
        """
        forced = bytearray()
        flags = np.zeros(256, np.int32)
        configuration = self._configuration
        table = self.grammar.table
        while len(forced) < MAX_FORCED_BYTES and not engine.is_accepting(self._tables[1], configuration):
            if self._store.run(engine.LIVE_BYTES, configuration, data=flags, grammar=table) != 1:
                break
            byte = np.flatnonzero(flags).astype(np.int32)
            configuration = self._store.run(engine.ADVANCE, configuration, data=byte, grammar=table)
            forced.append(int(byte[0]))
        return bytes(forced)

    # --- messages

    def _no_such_row(self, row: int, bitmask: Any) -> LlmaskError:
        return LlmaskError(
            f"row {row} of a bitmask of shape {tuple(bitmask.shape)} cannot hold {self._store.n_words} words",
            help="make it with llmask.allocate_bitmask(batch, tokenizer.vocab_size)",
        )

    def _place(self) -> str:
        text = self.text()
        shown = text[-SHOWN_BYTES:]
        dots = "..." if len(shown) < len(text) else ""
        return f"token {len(self._history)}, after {dots}{_shown(shown)}"

    def _expectation(self, after: bytes = b"") -> str:
        """What could come next, for messages."""
        if self.is_terminated():
            return "the document has ended"
        flags = np.zeros(256, np.int32)
        table = self.grammar.table
        items = np.frombuffer(after, np.uint8).astype(np.int32)
        configuration = self._store.run(engine.ADVANCE, self._configuration, data=items, grammar=table)
        self._store.run(engine.LIVE_BYTES, configuration, data=flags, grammar=table)
        live = np.flatnonzero(flags).tolist()
        ranges: list[list[int]] = []
        for byte in live:
            if ranges and ranges[-1][1] == byte - 1:
                ranges[-1][1] = byte
            else:
                ranges.append([byte, byte])
        names = [_byte_name(low) if low == high else f"{_byte_name(low)}..{_byte_name(high)}" for low, high in ranges]
        if engine.is_accepting(self._tables[1], configuration):
            names.append("the end")
        return "expected " + (", ".join(names[:12]) + (", ..." if len(names) > 12 else ""))

    def _rejection(self, token: Any) -> TokenRejected:
        tokenizer = self._store.tokenizer
        if not 0 <= token < tokenizer.vocab_size:
            what = f"token {token} is not in the vocabulary of {tokenizer.vocab_size} tokens"
        elif token in tokenizer.eos_ids:
            what = f"token {token} (end of sequence) cannot come next"
        elif not tokenizer.token_bytes(token):
            what = f"token {token} (special, it has no text) cannot come next"
        else:
            what = f"token {token} {_shown(tokenizer.token_bytes(token))} cannot come next"
        return TokenRejected(
            f"{what}; {self._expectation()}", where=self._place(), help="fill_bitmask tells which tokens may come next"
        )


def as_integer(value: Any, what: str) -> int:
    """An integer of any kind, NumPy's and torch's included; a bool is none. `what` opens the message."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise LlmaskError(f"{what} is an integer, not {type(value).__name__}", help="give it as an int") from None


def _each(tokens: Iterable[Any]) -> Iterator[Any]:
    """The ids of a collection; a lone one is refused."""
    try:
        return iter(tokens)
    except TypeError:
        raise LlmaskError(
            f"token ids are a sequence of integers, not {type(tokens).__name__}", help="for one token use a list of one"
        ) from None


def as_bitmask(bitmask: Any) -> npt.NDArray[np.int32]:
    """A caller's bitmask as the array that kernels write to: NumPy, or torch on the CPU, int32, two dimensions."""
    array = bitmask
    if not isinstance(bitmask, np.ndarray) and hasattr(bitmask, "numpy") and hasattr(bitmask, "device"):
        if bitmask.device.type != "cpu":
            raise LlmaskError(
                f"the bitmask lies on {bitmask.device}, it is written on the CPU", help="fill it there and copy it"
            )
        array = bitmask.numpy()
    if not (
        isinstance(array, np.ndarray)
        and (array.dtype == np.int32 and array.ndim == 2)
        and (array.flags.c_contiguous and array.flags.writeable and array.flags.aligned)
    ):
        raise LlmaskError(
            "a bitmask is a writable, contiguous int32 array of two dimensions",
            help="make it with llmask.allocate_bitmask(batch, tokenizer.vocab_size)",
        )
    return array


def _shown(data: bytes) -> str:
    return repr(data)[1:]


def _byte_name(byte: int) -> str:
    return repr(bytes([byte]))[1:]
