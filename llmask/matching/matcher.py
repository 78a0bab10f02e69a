"""A matcher: one sequence on its way through a grammar.

The state of a sequence is the number of a configuration; the matcher is the list of those numbers, one a token, so
forking copies a few pointers and rolling back shortens the list. Known masks and steps take no lock; a miss builds what
is missing under the store's lock and tries again. When the grammar's tables have outgrown their room, the next miss
moves the matcher to new ones by replaying its tokens (see `compiled.Generation`).

In: token ids. Out: bitmasks, verdicts. Cost: about 1 us for a known mask, 0.5 us for a known token.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..arguments import as_bitmask, as_integer, each_of, no_such_row
from ..copying import Forking
from ..errors import LimitExceeded, LlmaskError, TokenRejected, VocabularyError
from ..kernels import engine
from ..kernels.lexer.states import MISS
from ..kernels.mask.assemble import FILL_ALL, FILL_CUT, FILL_EMPTY, FILL_MISS, FILL_SHAPE, FILL_SOME
from ..kernels.mask.cell import ASK, CELL_CONFIGURATION, CELL_FIELDS, CELL_FILTER, CELL_GRAMMAR, NO_FILTER
from ..kernels.mask.configurations import ENDED, REFUSED
from ..kernels.tables import store_layout
from ..work import metered, unmetered
from .budget import FINISH_WORK, fill_within, finishing_tokens, keep_end, known_end, least_budget, next_of_end
from .expected import named_bytes, named_tokens, refused_token, shown, temperature_of
from .forced import find_forced, forced_tokens, items_of
from .history import History
from .sequence import Accepted

if TYPE_CHECKING:
    from ..compiling.compiled import CompiledGrammar, Generation
    from .captures import Capture

SHOWN_BYTES = 40  # of the text so far, in messages
_NO_DATA = np.zeros(0, np.int32)
NO_FIELDS = (0,) * (CELL_FIELDS - 3)


class Matcher(Accepted, Forking):
    """State of one sequence; used by one thread at a time.

    Parameters
    ----------
    grammar : what the sequence has to match.

    Attributes
    ----------
    on_limit : "error" or "finish", see `CompiledGrammar.matcher`.
    """

    __slots__ = (
        *("__weakref__", "_cell", "_cell_address", "_finishes_from", "_generation", "_history", "_pieces", "_store"),
        *("grammar", "on_limit"),
    )

    def __init__(self, grammar: CompiledGrammar) -> None:
        self.grammar = grammar
        self.on_limit = "error"
        self._finishes_from: int | None = None  # tokens that were accepted when a limit was met
        self._store = grammar.store
        self._history = History()
        self._pieces: list[tuple[int, bytes]] = []  # (position in the history, bytes) of accept_bytes
        self._generation = generation = grammar.generation
        # what the doors read: see kernels/engine.py
        self._cell = array("q", (grammar.store.table.address, generation.table.address, generation.start))
        self._cell.extend(NO_FIELDS)
        self._cell_address = self._cell.buffer_info()[0]

    # --- masks

    def fill_bitmask(self, bitmask: Any, row: int = 0, budget: int | None = None) -> bool:
        """Write which tokens may come next into one row of a bitmask.

        Parameters
        ----------
        bitmask : int32[batch, n_words], NumPy array or torch tensor on the CPU, contiguous; n_words at least
            ceil(vocab_size / 32). Token t is bit t % 32 of word t // 32; 1 = allowed. Every word of the row is written.
        row : the row to write.
        budget : tokens still to be written, the next one and the end of sequence included: only tokens after which the
            document can be ended with the others are allowed. Lowered midway below what is needed, it allows the
            tokens of the shortest way.

        Returns
        -------
        False when every token of the vocabulary is allowed (the mask need not be applied), else True.

        Raises
        ------
        LimitExceeded : the mask needs more work than the limits allow, or no end of the document is found within a
            budget; the matcher is unchanged.
        BudgetError : at the start: no document is found that takes so few tokens (`BudgetError.least` do).
        VocabularyError : the grammar goes on here, but no token of the vocabulary spells the next byte.
        LlmaskError : the bitmask has another dtype or shape, or no such row; the budget is no positive integer.
        """
        if budget is not None:
            return self._fill_or_finish(bitmask, row, budget)
        if type(row) is not int:
            row = as_integer(row, "a row")
        if type(bitmask) is not np.ndarray:  # the type of a list is found in its parts, however deep
            bitmask = as_bitmask(bitmask)
        try:
            status = engine.fill_mask(self._cell_address, bitmask, row)
        except (TypeError, ValueError, OverflowError):  # not an array, not one that kernels read, a row beyond 64 bits
            bitmask = as_bitmask(bitmask)
            if not 0 <= row < len(bitmask):
                raise no_such_row(row, bitmask, self._store.n_words) from None
            status = engine.fill_mask(self._cell_address, bitmask, row)
        if status == FILL_SOME:
            return True
        if status == FILL_MISS:
            if self._finishes_from is not None:
                return self.finish(bitmask, row)
            try:
                self._make_room()
                self._build_mask()
            except LimitExceeded as error:
                return self._finish_after(error, bitmask, row)
            status = engine.fill_mask(self._cell_address, bitmask, row)
            if status == FILL_SOME:
                return True
        return self._restricts(status, bitmask, row)

    def _restricts(self, status: int, bitmask: Any, row: int) -> bool:
        """What `fill_bitmask` returns for what `engine.fill_mask` did."""
        if status == FILL_SOME:
            return True
        if status == FILL_SHAPE:
            raise no_such_row(row, bitmask, self._store.n_words)
        if status == FILL_EMPTY:
            raise VocabularyError(
                "the grammar goes on here, but no token of the vocabulary spells what may come next",
                where=self._place(),
                help="use a vocabulary with a token for every byte, or a grammar within its alphabet",
            )
        if status == FILL_CUT:
            self.grammar.n_cut += 1
            return True
        assert status == FILL_ALL
        return False

    _fill_within = fill_within  # writes a mask under a budget

    def _fill_or_finish(self, bitmask: Any, row: int, budget: int) -> bool:
        """Write a mask under a budget."""
        if self._finishes_from is not None:
            return self.finish(bitmask, row)
        try:
            return self._fill_within(bitmask, row, budget)
        except LimitExceeded as error:
            return self._finish_after(error, bitmask, row)

    def _finish_after(self, error: LimitExceeded, bitmask: Any, row: int) -> bool:
        """Where a mask has met a limit, `finish` from here on, if that is wanted and an end is known."""
        if self.on_limit != "finish" or not self.grammar.takes_budget:
            raise error
        try:
            is_restricted = self.finish(bitmask, row)
        except LimitExceeded:  # no end is known: what was asked for is the mask
            raise error from None
        self._finishes_from = len(self._history)
        self._cell[CELL_FILTER] = ASK  # so that every mask comes by here
        self.grammar.n_finished += 1
        return is_restricted

    def finish(self, bitmask: Any, row: int = 0) -> bool:
        """Allow only what leads on the shortest known way to the end: one token, or the ends of sequence.

        Parameters
        ----------
        bitmask, row : see `fill_bitmask`.

        Returns
        -------
        True: such a mask restricts.

        Raises
        ------
        LimitExceeded : no end was found within a reserve of work beside `limits.max_step_work`.
        LlmaskError : as `fill_bitmask`; the grammar is canonical or has max_tokens.
        """
        words, row = as_bitmask(bitmask), as_integer(row, "a row")
        if not 0 <= row < len(words) or words.shape[1] < self._store.n_words:
            raise no_such_row(row, words, self._store.n_words)
        tokens = np.array(self._way_on(), np.int64)
        words[row] = 0
        np.bitwise_or.at(words[row].view(np.uint32), tokens >> 5, (1 << (tokens & 31)).astype(np.uint32))
        return True

    def _way_on(self) -> list[int]:
        """The next token of the shortest known way to the end, or the ends of sequence."""
        return next_of_end(self)

    def _build_mask(self) -> None:
        """Build the mask that `engine.fill_mask` misses."""
        self._run(engine.BUILD_MASK, self._cell[CELL_CONFIGURATION])

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
        if not self._accept(token):
            raise self._rejection(token)

    def _accept(self, token: int) -> bool:
        """Take one token into the state; False: it is not allowed."""
        try:
            reached = engine.accept(self._cell_address, token)
        except OverflowError:  # no token has a number of more than 63 bits
            return False
        if reached < 0:
            reached = self._built_after(token, reached)
            if reached == REFUSED:
                return False
        try:
            self._history.push(token, reached)
            self._cell[CELL_CONFIGURATION] = reached
        except BaseException:  # KeyboardInterrupt comes between any two calls
            self._settle()
            raise
        return True

    def _built_after(self, token: int, reached: int) -> int:
        """Configuration after a token for which `engine.accept` has none (`reached`: MISS or REFUSED), or REFUSED."""
        if reached == MISS:
            self._make_room()
            try:
                reached = self._build_after(self._generation, self._cell[CELL_CONFIGURATION], token)
            except LimitExceeded:
                if self.on_limit != "finish":
                    raise
                with metered(FINISH_WORK, "max_step_work"):  # a mask allowed it: the sequence is not to be lost
                    reached = self._build_after(self._generation, self._cell[CELL_CONFIGURATION], token)
        if reached == REFUSED and token in self._store.tokenizer.eos_ids and not self.is_terminated():
            return ENDED if self.is_accepting() else REFUSED
        return reached

    def _build_after(self, generation: Generation, configuration: int, token: int) -> int:
        """Configuration after one more token that is no end of sequence, or REFUSED."""
        return generation.run(engine.ACCEPT, configuration, token)

    def _run(self, operation: int, configuration: int, data: npt.NDArray[np.int32] = _NO_DATA) -> int:
        """Run an operation of `engine.build` on this matcher's tables."""
        return self._generation.run(operation, configuration, data=data)

    def _make_room(self) -> None:
        """Move to new tables when the old ones have outgrown their room; the state stays the same."""
        generation = self._generation
        if generation.table.bytes_used > generation.room:
            with unmetered():  # what comes again was bounded when it came first
                end = known_end(self)
                self._move(self.grammar.generation_after(generation))
                keep_end(self, end)

    def _move(self, generation: Generation) -> None:
        """Replay all tokens in other tables."""
        history, pieces = History(), dict(self._pieces)
        configuration, brought = generation.start, 0
        for position, token in enumerate(self._history.tokens()):
            with self._store.lock:  # for one token: others need not wait for a long document
                before = generation.table.bytes_used
                configuration = self._repeat(generation, configuration, token, pieces.get(position))
                brought += generation.table.bytes_used - before
            assert configuration != REFUSED  # it was accepted before
            history.push(token, configuration)
        generation.bring(brought)
        self._history = history
        self._generation = generation
        self._cell[CELL_GRAMMAR] = generation.table.address
        self._cell[CELL_CONFIGURATION] = configuration

    def _repeat(self, generation: Generation, configuration: int, token: int, data: bytes | None) -> int:
        """Configuration in other tables after a token, or bytes, that were accepted before."""
        if data is not None:
            return generation.run(engine.ADVANCE, configuration, data=items_of(data))
        reached = self._build_after(generation, configuration, token)
        return ENDED if reached == REFUSED and token in self._store.tokenizer.eos_ids else reached

    def accept_tokens(self, tokens: Iterable[int]) -> None:
        """Take several tokens into the state, all or none.

        Raises
        ------
        TokenRejected : one of them is not allowed; the state is as before the first.
        """
        n_before = len(self._history)
        try:
            for token in each_of(tokens):
                self.accept_token(token)
        except BaseException:
            self.rollback(len(self._history) - n_before)
            raise

    def validate_tokens(self, tokens: Iterable[int]) -> int:
        """How many leading tokens would be accepted one after the other; the state is unchanged."""
        twin = self.fork()  # an interrupt leaves this one as it is
        n_before = len(twin._history)
        for token in each_of(tokens):
            if not twin._accept(token if type(token) is int else as_integer(token, "a token id")):
                break
        return len(twin._history) - n_before

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
        self._make_room()
        with self._store.lock:
            reached = self._run(engine.ADVANCE, self._cell[CELL_CONFIGURATION], items_of(data))
            position = int(self._store.table.array[store_layout.REPORT])
        if reached == REFUSED:
            raise TokenRejected(
                f"byte {position} of {shown(data)} cannot come next; {self._expectation(data[:position])}",
                where=self._place(),
                help="fill_bitmask tells which tokens may come next",
            )
        self._take_bytes(data, reached)

    def _settle(self) -> None:
        super()._settle()
        if self._finishes_from is not None and len(self._history) < self._finishes_from:
            self._finishes_from = None
            self._cell[CELL_FILTER] = NO_FILTER

    def fork(self) -> Matcher:
        """An independent matcher in the same state."""
        twin = type(self).__new__(type(self))
        twin.grammar = self.grammar
        twin.on_limit = self.on_limit
        twin._finishes_from = self._finishes_from
        twin._store = self._store
        twin._history = self._history.fork()
        twin._pieces = self._pieces.copy()
        twin._generation = self._generation
        twin._cell = self._cell[:]
        twin._cell_address = twin._cell.buffer_info()[0]
        return twin

    # --- questions

    def is_accepting(self) -> bool:
        """Whether the document may end here (True also after its end)."""
        return bool(engine.is_accepting(self._cell[CELL_GRAMMAR], self._cell[CELL_CONFIGURATION]))

    def is_terminated(self) -> bool:
        """Whether an end-of-sequence token was accepted."""
        return self._cell[CELL_CONFIGURATION] == ENDED

    def forced_bytes(self) -> bytes:
        """The bytes that must come next, whatever is chosen: the longest common beginning of all continuations.

        At most `llmask.matching.forced.MAX_FORCED_BYTES`; empty where the document may end, or a token may come next
        that the grammar names by its id.
        """
        return find_forced(self)[0]

    def forced_tokens(self) -> list[int]:
        """The tokens that must come next: those of `forced_bytes`, as the tokenizer writes them, and named tokens.

        A token that the grammar names by its id is forced where nothing else may come next.

        Stops before a token that what may follow could change, by merges or by how words are split. The tokens so far
        are taken as they are: where encoding the text would not have given them, nothing is forced. The text before
        the first token is taken to end with a special token, or to be healed (`Tokenizer.heal`).

        Vocabularies without byte-pair encoding force nothing.
        """
        return forced_tokens(self)

    def least_budget(self) -> int:
        """Tokens that suffice to end the document here, the end of sequence included; 1 where it has ended.

        It is the minimum as far as a search of some thousand places goes. A budget given at the start is not below it.

        Raises
        ------
        LimitExceeded : no end of the document was found.
        """
        return least_budget(self)

    def finishing_tokens(self) -> list[int]:
        """Tokens that end the document here in few tokens, the end of sequence left aside; see `least_budget`."""
        return finishing_tokens(self)

    def captures(self) -> dict[str, bytes]:
        """What the rules with `[capture]` derived; of several runs the last one that has ended (captures/).

        Raises
        ------
        LimitExceeded : the text is too long for a grammar that is too ambiguous.
        """
        text = self.text()
        return {found.name: text[found.begin : found.end] for found in self.capture_spans()}

    def capture_spans(self) -> list[Capture]:
        """All runs of the rules with `[capture]`, in the order of their ends: names, and where in `text` they lie."""
        from .captures import find_captures

        return find_captures(self)

    @property
    def temperature(self) -> float | None:
        """What the grammar says of the temperature for the next token, `[temperature=...]` of a rule, or None."""
        return temperature_of(self)

    # --- messages

    def _place(self) -> str:
        text = self.text()
        tail = text[-SHOWN_BYTES:]
        dots = "..." if len(tail) < len(text) else ""
        return f"token {len(self._history)}, after {dots}{shown(tail)}"

    def _expectation(self, after: bytes = b"") -> str:
        """What could come next, for messages."""
        if self.is_terminated():
            return "the document has ended"
        configuration = self._run(engine.ADVANCE, self._cell[CELL_CONFIGURATION], items_of(after))
        names = named_bytes(self, configuration)
        if engine.is_accepting(self._cell[CELL_GRAMMAR], configuration):
            names.append("the end")
        names += named_tokens(self, configuration)
        return "expected " + (", ".join(names[:12]) + (", ..." if len(names) > 12 else ""))

    def _rejection(self, token: Any) -> TokenRejected:
        what = refused_token(self._store.tokenizer, token)
        return TokenRejected(
            f"{what}; {self._expectation()}", where=self._place(), help="fill_bitmask tells which tokens may come next"
        )
