"""A sequence: the accepted tokens of one document on its way through a grammar, without any feature.

The state is the number of a configuration; the sequence is the list of those numbers, one a token, so forking copies a
few pointers and rolling back shortens the list. Known steps take no lock; nor does a miss, if nobody else builds and
little is missing (`kernels.engine.step_alone`). Otherwise it is built under the store's lock. When the grammar's tables
have outgrown their room, the next miss moves the sequence to new ones by replaying its tokens (store/generation.py).

The parts of the state (history, pieces of bytes, the cell that compiled code reads) change one after the other, and
Python raises KeyboardInterrupt between any two calls. Without care one interrupt of a step in forty left the tokens of
one place beside the mask of another. So whoever changes the state has `_settle` bring all parts to what the history
holds when an exception comes: the step is then done as a whole or not at all.

In: token ids. Out: verdicts, text. Cost: 0.5 us for a known token.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..arguments import as_integer, shown
from ..errors import LlmaskError
from ..kernels import engine
from ..kernels.lexer.states import MISS
from ..kernels.mask.cell import CELL_CONFIGURATION, CELL_FIELDS, CELL_GRAMMAR
from ..kernels.mask.configurations import ENDED, REFUSED
from ..kernels.tables.operations import Operation
from ..store.copying import Forking
from ..store.generation import Generation
from ..store.loaded_grammar import LoadedGrammar
from ..work import unmetered
from .history import BYTES_TOKEN, History
from .mask_numbers import mask_number

if TYPE_CHECKING:
    from typing_extensions import Self

SHOWN_BYTES = 40  # of the text so far, in messages
NO_FIELDS = (0,) * (CELL_FIELDS - 3)
ALL_TAKEN = -1
_NO_DATA = np.zeros(0, np.int32)


def items_of(data: bytes) -> npt.NDArray[np.int32]:
    """Bytes as operations of `engine.build` take them."""
    return np.frombuffer(data, np.uint8).astype(np.int32)


class Sequence(Forking):
    """The state of one document; used by one thread at a time.

    Attributes
    ----------
    grammar : what it has to match.
    store, generation : the tables that it reads.
    history : the accepted tokens, with the configuration after each.
    pieces : (position in the history, bytes) of what came as bytes.
    cell, cell_address : what compiled code reads of it, see kernels/mask/cell.py.
    """

    follows_grammar = True  # its tables alone say what may come next, so that compiled code may take several steps

    __slots__ = ("__weakref__", "cell", "cell_address", "generation", "grammar", "history", "pieces", "store")

    def __init__(self, grammar: LoadedGrammar) -> None:
        self.grammar = grammar = grammar._loaded
        self.store = grammar.store
        self.history = History()
        self.pieces: list[tuple[int, bytes]] = []
        self.generation = generation = grammar.generation
        self.cell = array("q", (grammar.store.table.address, generation.table.address, generation.start))
        self.cell.extend(NO_FIELDS)
        self.cell_address = self.cell.buffer_info()[0]

    # --- what it is

    @property
    def configuration(self) -> int:
        """The number of the configuration that it is in."""
        return self.cell[CELL_CONFIGURATION]

    @property
    def grammar_address(self) -> int:
        """The table of the grammar that doors take."""
        return self.cell[CELL_GRAMMAR]

    @property
    def rest(self) -> bytes:
        """Bytes that the tokens have to spell before the document."""
        return b""

    @property
    def tokens(self) -> list[int]:
        """The accepted tokens; -1 stands for bytes given to `accept_bytes`."""
        return self.history.tokens()

    def text(self) -> bytes:
        """The bytes accepted so far; special tokens add none."""
        pieces = dict(self.pieces)
        tokenizer = self.store.tokenizer
        return b"".join(
            pieces[i] if token == BYTES_TOKEN else tokenizer.token_bytes(token)
            for i, token in enumerate(self.history.tokens())
        )

    def is_accepting(self) -> bool:
        """Whether the document may end here (True also after its end)."""
        return bool(engine.is_accepting(self.grammar_address, self.configuration))

    def has_ended(self) -> bool:
        """Whether a token was accepted that ends it."""
        return self.cell[CELL_CONFIGURATION] == ENDED

    def is_terminated(self) -> bool:
        """Whether an end-of-sequence token was accepted."""
        return self.cell[CELL_CONFIGURATION] == ENDED

    def place(self) -> str:
        """Where it is, for messages."""
        text = self.text()
        tail = text[-SHOWN_BYTES:]
        dots = "..." if len(tail) < len(text) else ""
        return f"token {len(self.history)}, after {dots}{shown(tail)}"

    def _place_after(self, data: bytes) -> str:
        """Where it is after more bytes, counted in bytes, for messages about text."""
        text = self.text() + data
        tail = text[-SHOWN_BYTES:]
        return f"byte {len(text)}, after {'...' if len(tail) < len(text) else ''}{shown(tail)}"

    @property
    def mask_number(self) -> int:
        """A number of the mask that the last `fill_bitmask` wrote, if it had no budget: equal numbers are equal masks.

        Who keeps a mask on a device need not send it again while the number is the same. Equal masks of two grammars
        have different numbers; canonical masks, stop tokens and a text to be healed make a new number each time.
        """
        return mask_number(self.store, self.generation, self.cell)

    # --- what it takes

    def accept(self, token: int) -> bool:
        """Take one token into the state; False: it is not allowed, the state is unchanged.

        Raises
        ------
        LimitExceeded : deciding needs more work than the limits allow; the state is unchanged.
        LlmaskError : the token id is not an integer; the state is unchanged.
        """
        if type(token) is not int:
            token = as_integer(token, "a token id")
        try:
            reached = engine.step_token(self.cell_address, token)
        except OverflowError:  # no token has a number of more than 63 bits
            return False
        except BaseException:
            self._give_turn_back()
            raise
        if reached < 0:
            reached = self._built_after(token, reached)
            if reached == REFUSED:
                return False
        try:
            self.history.push(token, reached)
            self.cell[CELL_CONFIGURATION] = reached
        except BaseException:  # KeyboardInterrupt comes between any two calls
            self._settle()
            raise
        return True

    def _built_after(self, token: int, reached: int) -> int:
        """Configuration after a token for which `step_token` has none (`reached`: MISS or REFUSED), or REFUSED."""
        if reached == MISS:
            self.make_room()
            reached = self._build_after(self.generation, self.configuration, token)
        if reached == REFUSED and token in self.store.tokenizer.eos_ids and not self.has_ended():
            return ENDED if self.is_accepting() else REFUSED
        return reached

    def _give_turn_back(self) -> None:
        """After a step that found no memory."""
        engine.change_writer(self.store.table.address, self.cell_address, 0)

    def _build_after(self, generation: Generation, configuration: int, token: int) -> int:
        """Configuration after one more token that is no end of sequence, or REFUSED."""
        return generation.run(Operation.ACCEPT, configuration, token)

    def take_bytes(self, data: bytes, begin: int = 0) -> int:
        """Take bytes into the state, whatever tokens they come from, as one step.

        Parameters
        ----------
        begin : the bytes before it, which are taken, too, are no part of the document.

        Returns
        -------
        ALL_TAKEN, or the position of the byte that cannot come next; the state is unchanged then.
        """
        self.make_room()
        reached, n = self.generation.advance(self.configuration, data, begin, fills=False)
        while reached != REFUSED and n < len(data):
            self.make_room()
            reached = self._read_again(data[begin:n])
            reached, n = self.generation.advance(reached, data, n, fills=False)
        if reached == REFUSED:
            return n
        self._take_bytes(data, reached)
        return ALL_TAKEN

    def _read_again(self, data: bytes) -> int:
        """The configuration after bytes that were read before the tables were exchanged."""
        table = self.generation.table
        before = table.bytes_used
        with unmetered():
            reached, _ = self.generation.advance(self.configuration, data)
        self.generation.bring(table.bytes_used - before)
        return reached

    def _take_bytes(self, data: bytes, reached: int) -> None:
        try:
            self.pieces.append((len(self.history), data))
            self.history.push(BYTES_TOKEN, reached)
            self.cell[CELL_CONFIGURATION] = reached
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
        if not 0 <= n <= len(self.history):
            raise LlmaskError(
                f"cannot roll back {n} tokens: {len(self.history)} were accepted",
                help="give a number between 0 and that",
            )
        try:
            self.history.drop(n)
            self._settle()
        except BaseException:
            self._settle()
            raise

    def reset(self) -> None:
        """Go back to the beginning."""
        self.rollback(len(self.history))

    def _settle(self) -> None:
        """Bring all parts of the state to what the history holds, which an exception may have left by half."""
        self.history.settle()
        while self.pieces and self.pieces[-1][0] >= len(self.history):
            self.pieces.pop()
        last = self.history.last_configuration()
        self.cell[CELL_CONFIGURATION] = self.generation.start if last is None else last

    def fork(self) -> Self:
        """An independent sequence in the same state."""
        twin = type(self).__new__(type(self))
        twin.grammar = self.grammar
        twin.store = self.store
        twin.history = self.history.fork()
        twin.pieces = self.pieces.copy()
        twin.generation = self.generation
        twin.cell = self.cell[:]
        twin.cell_address = twin.cell.buffer_info()[0]
        return twin

    # --- where it is kept

    def run(self, operation: int, configuration: int, data: npt.NDArray[np.int32] = _NO_DATA) -> int:
        """Run an operation of `engine.build` on its tables."""
        return self.generation.run(operation, configuration, data=data)

    def make_room(self) -> None:
        """Move to new tables when the old ones have outgrown their room; the state stays the same."""
        generation = self.generation
        if generation.table.bytes_used > generation.room:
            with unmetered():  # what comes again was bounded when it came first
                self._move(self.grammar.generation_after(generation))

    def _move(self, generation: Generation) -> None:
        """Replay all tokens in other tables."""
        history, pieces = History(), dict(self.pieces)
        configuration, brought = generation.start, 0
        for position, token in enumerate(self.history.tokens()):
            with self.store.lock:  # for one token: others need not wait for a long document
                before = generation.table.bytes_used
                configuration = self._repeat(generation, configuration, token, pieces.get(position))
                brought += generation.table.bytes_used - before
            assert configuration != REFUSED  # it was accepted before
            history.push(token, configuration)
        generation.bring(brought)
        self.history = history
        self.generation = generation
        self.cell[CELL_GRAMMAR] = generation.table.address
        self.cell[CELL_CONFIGURATION] = configuration

    def _repeat(self, generation: Generation, configuration: int, token: int, data: bytes | None) -> int:
        """Configuration in other tables after a token, or bytes, that were accepted before."""
        if data is not None:
            return generation.advance(configuration, data)[0]
        reached = self._build_after(generation, configuration, token)
        return ENDED if reached == REFUSED and token in self.store.tokenizer.eos_ids else reached
