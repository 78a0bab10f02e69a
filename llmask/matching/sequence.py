"""A sequence: the accepted tokens of one document on its way through a grammar, and its features.

The state is the number of a configuration; the sequence is the list of those numbers, one a token, so forking copies a
few pointers and rolling back shortens the list. Known steps take no lock; nor does a miss, if nobody else builds and
little is missing (`kernels.engine.step_alone`). Otherwise it is built under the store's lock. When the grammar's tables
have outgrown their room, the next misses move the sequence to new ones by replaying its tokens (store/generation.py).

What else may hold for its tokens, a prefix or stop tokens for instance, is the matter of its features (features.py).

The parts of the state (history, pieces of bytes, the cell that compiled code reads, marks of features) change one after
the other, and Python raises KeyboardInterrupt between any two calls. Without care one interrupt of a step in forty left
the tokens of one place with the mask of another. So whoever changes the state has `_settle` bring all parts to what
the history holds when an exception comes: the step is then done as a whole or not at all.

In: token ids. Out: bitmasks, verdicts, text. Cost: 0.4 us for a known token or mask.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..arguments import as_bitmask, as_integer, as_row, no_such_row, shown
from ..errors import LimitExceeded, LlmaskError, VocabularyError
from ..kernels import engine
from ..kernels.lexer.states import MISS
from ..kernels.mask.cell import ASK, CELL_CONFIGURATION, CELL_FIELDS, CELL_FILTER, CELL_GRAMMAR, NO_FILTER
from ..kernels.mask.configurations import ENDED, REFUSED
from ..kernels.tables.kinds import Fill
from ..kernels.tables.operations import Operation
from ..mask.apply import id_mask
from ..store.generation import Generation
from ..store.loaded_grammar import LoadedGrammar
from ..work import unmetered
from .budget import fill_within, finish_work, finishing_tokens, keep_end, known_end, least_budget, next_of_end
from .features import FAR_AWAY, Feature
from .forced import forced_tokens
from .history import BYTES_TOKEN, History

if TYPE_CHECKING:
    from typing_extensions import Self

SHOWN_BYTES = 40  # of the text so far, in messages
NO_FIELDS = (0,) * (CELL_FIELDS - 3)
ALL_TAKEN = -1
MOVED_TOKENS, MOST_TOKENS = 64, sys.maxsize  # that are replayed in a step; at once
SOME, MISSING = Fill.SOME.value, Fill.MISS.value  # plain numbers, which are compared sooner
_NO_DATA = np.zeros(0, np.int32)


class Sequence:
    """The state of one document; used by one thread at a time.

    Parameters
    ----------
    grammar : what it has to match.
    features : what else, in the order of features.py.
    on_limit, terminates_at_end : see `CompiledGrammar.matcher`.

    Attributes
    ----------
    store, generation : the tables that it reads.
    history : the accepted tokens, with the configuration after each.
    pieces : (position in the history, bytes) of what came as bytes.
    cell, cell_address : what compiled code reads of it, see kernels/mask/cell.py.
    readings : what is known of the document so far, see partial.py.
    moved : the tables that it moves to, with the tokens that were replayed there so far; None: it stays.
    finishes_from : how many tokens were accepted when a limit was met; from there on masks lead to the end.
    """

    __slots__ = (
        *("cell", "cell_address", "features", "finishes_from", "generation", "grammar", "history", "moved", "on_limit"),
        *("pieces", "readings", "store", "terminates_at_end"),
    )

    def __init__(
        self,
        grammar: LoadedGrammar,
        features: tuple[Feature, ...] = (),
        on_limit: str = "error",
        terminates_at_end: bool = False,
    ) -> None:
        self.grammar = grammar = grammar._loaded
        self.store = grammar.store
        self.on_limit = on_limit
        self.terminates_at_end = terminates_at_end
        self.history = History()
        self.pieces: list[tuple[int, bytes]] = []
        self.readings: list[Any] = []
        self.moved: tuple[Generation, History] | None = None
        self.finishes_from: int | None = None
        self.generation = generation = grammar.generation
        self.cell = array("q", (grammar.store.table.address, generation.table.address, generation.start))
        self.cell.extend(NO_FIELDS)
        self.cell_address = self.cell.buffer_info()[0]
        self.features = features
        self._show()

    def add_first(self, feature: Feature) -> None:
        """Have one more feature, before all others; there are no tokens yet."""
        self.features = (feature, *self.features)
        self._show()

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
    def follows_grammar(self) -> bool:
        """Whether the tables alone say what may come next, so that compiled code may take several steps."""
        return self.cell[CELL_FILTER] == NO_FILTER and all(feature.is_over for feature in self.features)

    @property
    def begin(self) -> int:
        """How many tokens come before the document: the tokens of the thinking; FAR_AWAY while it thinks."""
        return self.features[0].begin if self.features else 0

    @property
    def is_thinking(self) -> bool:
        """Whether the document is still to begin."""
        return self.begin == FAR_AWAY

    @property
    def rest(self) -> bytes:
        """Bytes that the tokens have to spell before the document."""
        return b"".join(feature.rest for feature in self.features)

    @property
    def lead(self) -> bytes:
        """Bytes of the text before the document: the prefix, see `CompiledGrammar.matcher`."""
        return self.grammar.lead + b"".join(feature.lead for feature in self.features)

    @property
    def stop_tokens(self) -> frozenset[int]:
        """Ids that end it besides the vocabulary's own."""
        return next((feature.stop_tokens for feature in self.features if feature.stop_tokens), frozenset())

    def steps(self, position: int = 0) -> list[tuple[int, bytes]]:
        """The tokens of the text from a position on, with their bytes; a stop token that ended it has none."""
        position = min(max(position, self.begin), len(self.history))
        pieces = iter(self.pieces[bisect_left(self.pieces, (position, b"")) :])
        stops, token_bytes = self.stop_tokens, self.store.tokenizer.token_bytes
        return [
            (token, next(pieces)[1] if token == BYTES_TOKEN else b"" if token in stops else token_bytes(token))
            for at, token in enumerate(self.history.since(position), position)
        ]

    def text(self) -> bytes:
        """The bytes accepted so far; special tokens add none, nor does the thinking."""
        return b"".join(data for _, data in self.steps())

    def is_accepting(self) -> bool:
        """Whether the document may end here (True also after its end)."""
        may_end = bool(engine.is_accepting(self.grammar_address, self.configuration))
        return may_end and all(feature.may_end(self) for feature in self.features)

    def has_ended(self) -> bool:
        """Whether a token was accepted that ends it."""
        return self.cell[CELL_CONFIGURATION] == ENDED

    def is_terminated(self) -> bool:
        """See `Matcher.is_terminated`."""
        return self.cell[CELL_CONFIGURATION] == ENDED or (self.terminates_at_end and self._only_ends())

    def _only_ends(self) -> bool:
        """Whether the sequence may end, and nothing else may come next."""
        may_end = self.is_accepting() and not engine.names_tokens(self.grammar_address, self.configuration)
        return may_end and self.run(Operation.LIVE_BYTES, self.configuration, np.zeros(256, np.int32)) == 0

    def place(self, data: bytes | None = None) -> str:
        """Where it is, for messages; after more bytes it is counted in bytes."""
        text = self.text() + (data or b"")
        tail = text[-SHOWN_BYTES:]
        at = f"token {len(self.history)}" if data is None else f"byte {len(text)}"
        return f"{at}, after {'...' if len(tail) < len(text) else ''}{shown(tail)}"

    # --- masks

    def fill_bitmask(self, bitmask: Any, row: int = 0, budget: int | None = None) -> bool:
        """See `Matcher.fill_bitmask`."""
        if budget is not None:
            return self._fill_within(bitmask, row, budget)
        if type(row) is not int:
            row = as_integer(row, "a row")
        if type(bitmask) is not np.ndarray:  # the type of a list is found in its parts, however deep
            bitmask = as_bitmask(bitmask)
        try:
            status = engine.step_mask(self.cell_address, bitmask, row)
        except (TypeError, ValueError, OverflowError):  # not an array, not one that kernels read, a row beyond 64 bits
            bitmask = as_bitmask(bitmask)
            if not 0 <= row < len(bitmask):
                raise no_such_row(row, bitmask, self.store.n_words) from None
            bitmask, row = bitmask[row : row + 1], 0
            status = engine.fill_mask(self.cell_address, bitmask, row)
        except BaseException:
            self._give_turn_back()
            raise
        if status == SOME:
            return True
        if status == MISSING:
            return self._fill_missing(bitmask, row)
        return self._restricts(status, bitmask, row)

    def _fill_missing(self, bitmask: Any, row: int) -> bool:
        """Write a mask that is not the grammar's alone, or that the tables lack."""
        told: bool | None = self.told(lambda feature: feature.fill(self, bitmask, row, None))
        if told is not None:
            return told
        if self.finishes_from is not None:
            return self.finish(bitmask, row)
        try:
            self.make_room()
            self.run(Operation.BUILD_MASK, self.configuration)
        except LimitExceeded as error:
            return self._finish_after(error, bitmask, row)
        return self.fill_known(bitmask, row)

    def fill_known(self, bitmask: Any, row: int) -> bool:
        """Write a mask that the tables have."""
        return self._restricts(engine.fill_mask(self.cell_address, bitmask, row), bitmask, row)

    def _restricts(self, status: int, bitmask: Any, row: int) -> bool:
        """What `fill_bitmask` returns for what `engine.fill_mask` did."""
        if status == Fill.SHAPE:
            raise no_such_row(row, bitmask, self.store.n_words)
        if status == Fill.EMPTY:
            raise VocabularyError(
                "the grammar goes on here, but no token of the vocabulary spells what may come next",
                where=self.place(),
                help="use a vocabulary with a token for every byte, or a grammar within its alphabet",
            )
        if status == Fill.CUT:
            self.grammar.n_cut += 1
        if status == Fill.STOPS:
            return self.narrowed(bitmask, row, True)
        assert status != MISSING
        return status != Fill.ALL

    def narrowed(self, bitmask: Any, row: int, restricts: bool) -> bool:
        """Have the features change a row; whether it restricts."""
        for feature in self.features:
            restricts = feature.narrow(self, bitmask, row, restricts)
        return restricts

    def _fill_within(self, bitmask: Any, row: int, budget: int) -> bool:
        """Write a mask under a budget, or one that finishes."""
        self.check_ways()
        told: bool | None = self.told(lambda feature: feature.fill(self, bitmask, row, budget))
        if told is not None:
            return told
        if self.finishes_from is not None:
            return self.finish(bitmask, row)
        try:
            restricts = fill_within(self, bitmask, row, budget)
            return self.fill_bitmask(bitmask, row) if restricts is None else self.narrowed(bitmask, row, restricts)
        except LimitExceeded as error:  # after the first mask the budget has kept a way to the end open
            return self._finish_after(error, bitmask, row, len(self.history) > self.begin)

    def _finish_after(self, error: LimitExceeded, bitmask: Any, row: int, is_wanted: bool = False) -> bool:
        """Where a mask has met a limit, `finish` from here on, if that is wanted and an end is known."""
        if not (is_wanted or self.on_limit == "finish"):
            raise error
        try:
            self.check_ways()
        except LlmaskError:
            raise error from None
        try:
            is_restricted = self.finish(bitmask, row)
        except LimitExceeded:  # no end is known: what was asked for is the mask
            raise error from None
        self.finishes_from = len(self.history)
        self.cell[CELL_FILTER] = ASK  # so that every mask comes by here
        self.grammar.n_finished += 1
        return is_restricted

    def finish(self, bitmask: Any, row: int = 0) -> bool:
        """See `Matcher.finish`."""
        self.check_ways()
        words, row = as_row(bitmask, row, self.store.n_words)
        way = self.told(lambda feature: feature.finishing_tokens(self))
        words[row] = id_mask(next_of_end(self) if way is None else way[:1], words.shape[1])
        return self.narrowed(words, row, True)

    def told(self, ask: Callable[[Feature], Any]) -> Any:
        """What the first feature says that says anything; None: none does."""
        return next((found for feature in self.features if (found := ask(feature)) is not None), None)

    def check_ways(self) -> None:
        """Refuse ways to the end where a feature knows none."""
        for feature in self.features:
            feature.check_ways(self)

    def least_budget(self, exact: bool = False) -> int:
        """See `Matcher.least_budget`."""
        self.check_ways()
        told = self.told(lambda feature: feature.least_budget(self, exact))
        return least_budget(self, exact) if told is None else int(told)

    def finishing_tokens(self) -> list[int]:
        """See `Matcher.finishing_tokens`."""
        self.check_ways()
        told: list[int] | None = self.told(lambda feature: feature.finishing_tokens(self))
        return finishing_tokens(self) if told is None else told

    def forced_tokens(self) -> list[int]:
        """See `Matcher.forced_tokens`; up to the first stop token, which cannot come for its text."""
        told: list[int] | None = self.told(lambda feature: feature.forced_tokens(self))
        forced, stops = forced_tokens(self) if told is None else told, self.stop_tokens
        return forced[: next((place for place, token in enumerate(forced) if token in stops), len(forced))]

    # --- what it takes

    def accept(self, token: int) -> bool:
        """See `Matcher.accept`."""
        if type(token) is not int:
            token = as_integer(token, "a token id")
        if self.features:
            return self._take(token)
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

    def _take(self, token: int) -> bool:
        """`accept` of a sequence with features."""
        if token < 0:  # BYTES_TOKEN, too
            return False
        position = len(self.features[0].marks) - 1
        try:
            reached = self._reached(token, position)
            if reached == REFUSED:
                return False
            self._commit(token, reached, position)
        except OverflowError:  # no token has a number of more than 63 bits
            return False
        except BaseException:
            self._give_turn_back()
            self._settle()  # compiled code has moved the cell, perhaps
            raise
        return True

    def _reached(self, token: int, position: int) -> int:
        """Configuration after the token at a position, as the features say, or else the grammar; or REFUSED."""
        for feature in self.features:
            told = feature.take(self, token, position)
            if told is not None:
                return told
        if position < len(self.history):
            return self._repeat(token, position)
        reached: int = engine.step_token(self.cell_address, token)
        return reached if reached >= 0 else self._built_after(token, reached)

    def _commit(self, token: int, reached: int, position: int) -> None:
        """Change the state to that after a token, or after bytes, which are in `pieces` already."""
        for feature in self.features:
            reached, mark = feature.note(self, token, reached, position)
            feature.marks.append(mark)
        cell = self.cell
        is_shown = cell[CELL_CONFIGURATION] == reached  # by the canonical step
        self.history.push(token, reached)
        cell[CELL_CONFIGURATION] = reached
        if not is_shown or cell[CELL_FILTER] == ASK or token == BYTES_TOKEN:
            self._show()

    def data_of(self, token: int, position: int) -> bytes:
        """The bytes of the document that the token at a position is; a thought has none."""
        if position < self.begin:
            return b""
        if token == BYTES_TOKEN:
            return self.pieces[bisect_left(self.pieces, (position, b""))][1]
        return self.store.tokenizer.token_bytes(token)

    def _built_after(self, token: int, reached: int) -> int:
        """Configuration after a token for which `step_token` has none (`reached`: MISS or REFUSED), or REFUSED."""
        if reached == MISS:
            self.make_room()
            reached = self._build_after(token)
        if reached == REFUSED and token in self.store.tokenizer.eos_ids and not self.has_ended():
            return ENDED if self.is_accepting() else REFUSED
        return reached

    def _build_after(self, token: int) -> int:
        """Configuration after one more token that is no end of sequence, or REFUSED."""
        try:
            return self.generation.run(Operation.ACCEPT, self.configuration, token)
        except LimitExceeded:
            if self.on_limit != "finish":
                raise
            with finish_work(self):  # a mask allowed it, and what was built stays
                return self.generation.run(Operation.ACCEPT, self.configuration, token)

    def _give_turn_back(self) -> None:
        """After a step that found no memory."""
        engine.change_writer(self.store.table.address, self.cell_address, 0)

    def take_bytes(self, data: bytes) -> int:
        """Take bytes into the state, whatever tokens they come from, as one step.

        Returns
        -------
        ALL_TAKEN, or the position of the byte that cannot come next; the state is unchanged then.

        Raises
        ------
        LlmaskError : the sequence thinks.
        """
        if self.is_thinking:
            raise LlmaskError("the thinking is told by its tokens, not by bytes", help="accept the tokens one by one")
        rest = self.rest[: len(data)]
        wrong = next((n for n, wanted in enumerate(rest) if data[n] != wanted), None)
        if wrong is not None:
            return wrong
        begin = len(rest)
        self.make_room(at_once=True)
        reached, n = self.generation.advance(self.configuration, data, begin, fills=False)
        while reached != REFUSED and n < len(data):
            self.make_room(at_once=True)
            table = self.generation.table
            before = table.bytes_used
            with unmetered():  # the new tables read again what the old ones have read
                reached, _ = self.generation.advance(self.configuration, data[begin:n])
            self.generation.bring(table.bytes_used - before)
            reached, n = self.generation.advance(reached, data, n, fills=False)
        if reached == REFUSED:
            return n
        try:
            self.pieces.append((len(self.history), data))
            self._commit(BYTES_TOKEN, reached, len(self.history))
        except BaseException:
            self._settle()
            raise
        return ALL_TAKEN

    def rollback(self, n: int) -> None:
        """See `Matcher.rollback`."""
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

    def _settle(self) -> None:
        """Bring all parts of the state to what the history holds, which an exception may have left by half."""
        self.history.settle()
        for feature in self.features:
            self.history.drop(max(0, len(self.history) + 1 - len(feature.marks)))
        n = len(self.history)
        for feature in self.features:
            del feature.marks[n + 1 :]
        while self.pieces and self.pieces[-1][0] >= n:
            self.pieces.pop()
        while self.readings and self.readings[-1].n_tokens > n:
            self.readings.pop()
        if self.moved is not None:
            self.moved[1].drop(max(0, len(self.moved[1]) - n))
        last = self.history.last_configuration()
        self.cell[CELL_CONFIGURATION] = self.generation.start if last is None else last
        if self.finishes_from is not None and n < self.finishes_from:
            self.finishes_from = None
            self.cell[CELL_FILTER] = NO_FILTER
        if self.features:
            self._show()

    def _show(self) -> None:
        """Have the cell say what compiled code has to know of the place."""
        self.cell[CELL_FILTER] = NO_FILTER
        for feature in reversed(self.features):
            feature.show(self)
        if self.finishes_from is not None:
            self.cell[CELL_FILTER] = ASK

    def fork(self) -> Self:
        """An independent sequence in the same state."""
        twin = type(self).__new__(type(self))
        twin.grammar = self.grammar
        twin.store = self.store
        twin.on_limit = self.on_limit
        twin.terminates_at_end = self.terminates_at_end
        twin.finishes_from = self.finishes_from
        twin.history = self.history.fork()
        twin.pieces = self.pieces.copy()
        twin.readings = self.readings.copy()
        twin.generation = self.generation
        twin.moved = None
        twin.cell = self.cell[:]
        twin.cell_address = twin.cell.buffer_info()[0]
        twin.features = self.features and tuple([feature.fork() for feature in self.features])
        return twin

    # --- where it is kept

    def run(self, operation: int, configuration: int, data: npt.NDArray[np.int32] = _NO_DATA) -> int:
        """Run an operation of `engine.build` on its tables."""
        return self.generation.run(operation, configuration, data=data)

    def make_room(self, at_once: bool = False) -> None:
        """Move to new tables when the old ones have outgrown their room; the state stays the same.

        A long sequence moves in many steps, in which the old tables still serve; at once when they have outgrown their
        room by half, or by half of what they may.
        """
        generation = self.generation
        used, room = generation.table.bytes_used, generation.room
        if used > room:
            with unmetered():  # what comes again was bounded when it came first
                is_late = used > room + min(room, self.store.limits.max_grammar_bytes - room) // 2
                n = MOST_TOKENS if at_once or is_late else MOVED_TOKENS
                self.move(self.grammar.generation_after(generation), n)

    def move(self, generation: Generation, n: int = MOST_TOKENS) -> None:
        """Replay the next n tokens in other tables, and read these from there on if no token is left."""
        if self.moved is None or self.moved[0] is not generation:
            self.moved = generation, History()
        old, kept, history, brought = self.generation, self.history, self.moved[1], 0
        left = kept.since(len(history), n)
        is_last = len(history) + len(left) == len(kept)
        end = known_end(self) if is_last else None
        try:
            last = history.last_configuration()
            self._enter(generation, generation.start if last is None else last)
            for position, token in enumerate(left, len(history)):
                with self.store.lock:  # for one token: others need not wait for a long document
                    before = generation.table.bytes_used
                    reached = self._reached(token, position)
                    assert reached != REFUSED  # it was accepted before
                    for feature in self.features:
                        reached, _ = feature.note(self, token, reached, position)
                    brought += generation.table.bytes_used - before
                history.push(token, reached)
                self.cell[CELL_CONFIGURATION] = reached
            generation.bring(brought)
            if is_last:
                self.history, self.moved = history, None
                self._show()
                keep_end(self, end)
            else:
                self._enter(old, old.start)
                self._settle()
        except BaseException:
            self.history, self.moved = kept, None
            self._enter(old, old.start)
            self._settle()
            raise

    def _enter(self, generation: Generation, configuration: int) -> None:
        self.generation = generation
        self.cell[CELL_GRAMMAR] = generation.table.address
        self.cell[CELL_CONFIGURATION] = configuration

    def _repeat(self, token: int, position: int) -> int:
        """Configuration in other tables after a token, or bytes, that were accepted before."""
        if token == BYTES_TOKEN:
            return self.generation.advance(self.configuration, self.data_of(token, position))[0]
        reached = self._build_after(token)
        return ENDED if reached == REFUSED and token in self.store.tokenizer.eos_ids else reached
