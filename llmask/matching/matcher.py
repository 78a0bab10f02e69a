"""A matcher: one sequence, with all that its users ask of it.

The state is that of a `Sequence` (sequence.py); masks, messages, budgets, captures and what is forced are functions
over it. Known masks take no lock; a miss builds what is missing, see `Sequence`.

In: token ids. Out: bitmasks, verdicts. Cost: about 1 us for a known mask, 0.5 us for a known token.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import as_bitmask, as_flag, as_integer, each_of, no_such_row, shown
from ..errors import LimitExceeded, LlmaskError, TokenRejected, VocabularyError
from ..kernels import engine
from ..kernels.mask.cell import ASK, CELL_CONFIGURATION, CELL_FILTER, NO_FILTER
from ..kernels.mask.configurations import ENDED
from ..kernels.tables.kinds import Fill
from ..kernels.tables.operations import Operation
from ..store.generation import Generation
from ..store.loaded_grammar import LoadedGrammar
from ..work import unmetered
from . import drafts
from .budget import fill_within, finish_work, finishing_tokens, keep_end, known_end, least_budget, next_of_end
from .expected import named_bytes, named_tokens, refused_token, temperature_of
from .forced import find_forced, forced_tokens
from .history import BYTES_TOKEN
from .sequence import ALL_TAKEN, Sequence

if TYPE_CHECKING:
    from typing_extensions import Self

    from .captures import Capture
    from .explanation import Explanation
    from .partial import Position, Reading


class Matcher(Sequence):
    """State of one sequence; used by one thread at a time. A pickle has its grammar and what it accepted.

    Parameters
    ----------
    grammar : what the sequence has to match.

    Attributes
    ----------
    on_limit : "error" or "finish", see `CompiledGrammar.matcher`.
    stop_tokens, terminates_at_end : see there, too.
    readings : what `partial` and `position` know of the document, see partial.py.
    """

    __slots__ = ("_finishes_from", "on_limit", "readings", "stop_tokens", "terminates_at_end")

    def __init__(self, grammar: LoadedGrammar) -> None:
        super().__init__(grammar)
        self.on_limit = "error"
        self.stop_tokens: frozenset[int] = frozenset()
        self.terminates_at_end = False
        self._finishes_from: int | None = None  # tokens that were accepted when a limit was met
        self.readings: list[Reading] = []

    # --- elsewhere

    def _arguments(self) -> dict[str, Any]:
        """What `CompiledGrammar.matcher` makes another one of its kind with."""
        stops = {"stop_tokens": sorted(self.stop_tokens)} if self.stop_tokens else {}
        return {"on_limit": self.on_limit, "terminate_at_end": self.terminates_at_end, **stops}

    def __reduce__(self) -> tuple[Any, ...]:
        """What is pickled: the grammar, and what was accepted, which is taken again where it arrives."""
        return begun, (self.grammar, self._arguments()), (self.tokens, self.pieces, self._finishes_from)

    def __setstate__(self, state: tuple[list[int], list[tuple[int, bytes]], int | None]) -> None:
        """Take what another matcher has accepted from the beginning on."""
        tokens, pieces, finishes_from = state
        data = dict(pieces)
        with unmetered():  # what comes again was bounded when it came first
            for position, token in enumerate(tokens):
                if token == BYTES_TOKEN:
                    self.accept_bytes(data[position])
                elif not self.accept(token):
                    raise self._rejection(token)
        self._finishes_from = finishes_from
        if finishes_from is not None:
            self.cell[CELL_FILTER] = ASK

    # --- masks

    def fill_bitmask(self, bitmask: Any, row: int = 0, budget: int | None = None) -> bool:
        """Write which tokens may come next into one row of a bitmask.

        Parameters
        ----------
        bitmask : int32[batch, n_words], or int32[n_words] for one row; NumPy array or torch tensor on the CPU, the
            words of a row side by side; n_words at least ceil(vocab_size / 32). Token t is bit t % 32 of word t // 32;
            1 = allowed. Every word of the row is written.
        row : the row to write.
        budget : tokens still to be written, the next one and the end of sequence included: only tokens after which the
            document can be ended with the others are allowed. Lowered midway below what is needed, it allows the
            tokens of the shortest way.

        Returns
        -------
        False when every token of the vocabulary is allowed (the mask need not be applied), else True.

        Raises
        ------
        LimitExceeded : the mask needs more work than the limits allow, or no end of the document is found for a budget;
            the matcher is unchanged. With a budget at the start only: later `finish` begins.
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
        if status == Fill.SOME:
            return True
        if status == Fill.MISS:
            if self._finishes_from is not None:
                return self.finish(bitmask, row)
            try:
                self.make_room()
                self._build_mask()
            except LimitExceeded as error:
                return self._finish_after(error, bitmask, row)
            status = engine.fill_mask(self.cell_address, bitmask, row)
            if status == Fill.SOME:
                return True
        return self._restricts(status, bitmask, row)

    def _restricts(self, status: int, bitmask: Any, row: int) -> bool:
        """What `fill_bitmask` returns for what `engine.fill_mask` did."""
        if status == Fill.SOME:
            return True
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
            return True
        if status == Fill.STOPS:
            return True
        assert status == Fill.ALL
        return False

    def _fill_within(self, bitmask: Any, row: int, budget: int) -> bool:
        """Write a mask under a budget."""
        restricts = fill_within(self, bitmask, row, budget)
        return self.fill_bitmask(bitmask, row) if restricts is None else restricts

    def _fill_or_finish(self, bitmask: Any, row: int, budget: int) -> bool:
        """Write a mask under a budget, or one that finishes."""
        if self._finishes_from is not None:
            return self.finish(bitmask, row)
        try:
            return self._fill_within(bitmask, row, budget)
        except LimitExceeded as error:  # after the first mask the budget has kept a way to the end open
            return self._finish_after(error, bitmask, row, len(self.history) > 0)

    def _finish_after(self, error: LimitExceeded, bitmask: Any, row: int, is_wanted: bool = False) -> bool:
        """Where a mask has met a limit, `finish` from here on, if that is wanted and an end is known."""
        if not (is_wanted or self.on_limit == "finish") or not self.grammar.takes_budget:
            raise error
        try:
            is_restricted = self.finish(bitmask, row)
        except LimitExceeded:  # no end is known: what was asked for is the mask
            raise error from None
        self._finishes_from = len(self.history)
        self.cell[CELL_FILTER] = ASK  # so that every mask comes by here
        self.grammar.n_finished += 1
        return is_restricted

    def finish(self, bitmask: Any, row: int = 0) -> bool:
        """Allow only what leads to the end in few tokens: one of the shortest known way, or the ends of sequence.

        Parameters
        ----------
        bitmask, row : see `fill_bitmask`.

        Returns
        -------
        True: such a mask restricts. Where no way is found in time it allows a token, and the search goes on after it.

        Raises
        ------
        LimitExceeded : neither was found within twice `limits.max_step_work`, or 20,000 units where that is less.
        LlmaskError : as `fill_bitmask`; the grammar is canonical or has max_tokens.
        """
        words, row = as_bitmask(bitmask), as_integer(row, "a row")
        if not 0 <= row < len(words) or words.shape[1] < self.store.n_words:
            raise no_such_row(row, words, self.store.n_words)
        tokens = np.array(self._way_on(), np.int64)
        words[row] = 0
        np.bitwise_or.at(words[row].view(np.uint32), tokens >> 5, (1 << (tokens & 31)).astype(np.uint32))
        return True

    def _way_on(self) -> list[int]:
        """The next token of the shortest known way to the end, or the ends of sequence."""
        if not self.grammar.takes_budget and not self.is_accepting():
            return self.finishing_tokens()[:1]  # says why there are none
        return next_of_end(self)

    def fill_tree(self, bitmask: Any, next_token: Any, next_sibling: Any, draft_tokens: Any, row: int = 0) -> int:
        """Write the masks after each token of a tree of drafts; the state is unchanged.

        Parameters
        ----------
        bitmask : int32[batch, n_words], see `fill_bitmask`; row `row + i` gets the mask after node i. Rows of nodes
            that are refused, and of those behind them, stay as they are.
        next_token, next_sibling : int64[n_nodes], lists, NumPy or torch on the CPU: of each node the first that was
            guessed after it, and another one that was guessed in its place; -1: none.
        draft_tokens : int64[n_nodes], the nodes' tokens. Node 0 stands for the last accepted token, whatever is given
            for it. An id that the vocabulary does not have is refused, -1 for instance.
        row : the row of node 0.

        Returns
        -------
        How many nodes are allowed, node 0 included.

        Raises
        ------
        LimitExceeded, VocabularyError : see `fill_bitmask`; some rows may be written.
        LlmaskError : they are no tree, or the bitmask has not so many rows; nothing is written.
        """
        return drafts.fill_tree(self, bitmask, next_token, next_sibling, draft_tokens, row)

    def fill_drafts(self, bitmask: Any, draft_tokens: Any, row: int = 0) -> int:
        """Write the masks before and after each of several drafts, one after the other; the state is unchanged.

        Parameters
        ----------
        bitmask : int32[batch, n_words], see `fill_bitmask`: row `row` gets the mask of the state, row `row + i` that
            after `i` drafts. Rows after a refused draft stay as they are.
        draft_tokens : int64[n], a list, NumPy or torch on the CPU.

        Returns
        -------
        How many leading drafts are allowed.

        Raises
        ------
        LimitExceeded, VocabularyError, LlmaskError : as `fill_tree`.
        """
        return drafts.fill_drafts(self, bitmask, draft_tokens, row)

    def _build_mask(self) -> None:
        """Build the mask that `engine.fill_mask` misses."""
        self.run(Operation.BUILD_MASK, self.configuration)

    # --- tokens

    def accept_token(self, token: int) -> None:
        """Take one token into the state.

        Raises
        ------
        TokenRejected : the grammar does not allow it here; the state is unchanged.
        LimitExceeded : deciding needs more work than the limits allow; the state is unchanged.
        LlmaskError : the token id is not an integer; the state is unchanged.
        """
        if not self.accept(token):
            raise self._rejection(as_integer(token, "a token id"))

    def _build_after(self, generation: Generation, configuration: int, token: int) -> int:
        try:
            return super()._build_after(generation, configuration, token)
        except LimitExceeded:
            if self.on_limit != "finish":
                raise
            with finish_work(self):  # a mask allowed it, and what was built stays
                return super()._build_after(generation, configuration, token)

    def _move(self, generation: Generation) -> None:
        end = known_end(self)
        super()._move(generation)
        keep_end(self, end)

    def accept_tokens(self, tokens: Iterable[int]) -> None:
        """Take several tokens into the state, all or none.

        Raises
        ------
        TokenRejected : one of them is not allowed; the state is as before the first.
        LimitExceeded, LlmaskError : as `accept_token`; the state is as before the first, too.
        """
        n_before = len(self.history)
        try:
            for token in each_of(tokens):
                self.accept_token(token)
        except BaseException:
            self.rollback(len(self.history) - n_before)
            raise

    def try_accept_tokens(self, tokens: Iterable[int]) -> int:
        """Take as many leading tokens into the state as it allows; how many these are. A refused one is no error.

        Raises
        ------
        LimitExceeded, LlmaskError : as `accept_token`; the state is as before the first.
        """
        n_before = len(self.history)
        try:
            for token in each_of(tokens):
                if not self.accept(token):
                    break
        except BaseException:
            self.rollback(len(self.history) - n_before)
            raise
        return len(self.history) - n_before

    def validate_tokens(self, tokens: Iterable[int]) -> int:
        """How many leading tokens would be accepted one after the other; the state is unchanged.

        Raises
        ------
        LimitExceeded, LlmaskError : as `accept_token`.
        """
        twin = self.fork()  # an interrupt leaves this one as it is
        n_before = len(twin.history)
        for token in each_of(tokens):
            if not twin.accept(token):
                break
        return len(twin.history) - n_before

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
        position = self.take_bytes(data)
        if position != ALL_TAKEN:
            raise self._refusal(
                f"byte {position} of {shown(data)} cannot come next; {self._expectation(data[:position])}",
                self._place_after(data[:position]),
                data,
            )

    def _settle(self) -> None:
        super()._settle()
        while self.readings and self.readings[-1].n_tokens > len(self.history):
            self.readings.pop()
        if self._finishes_from is not None and len(self.history) < self._finishes_from:
            self._finishes_from = None
            self.cell[CELL_FILTER] = NO_FILTER

    def fork(self) -> Self:
        """An independent matcher in the same state."""
        twin = super().fork()
        twin.on_limit = self.on_limit
        twin.stop_tokens = self.stop_tokens
        twin.terminates_at_end = self.terminates_at_end
        twin._finishes_from = self._finishes_from
        twin.readings = self.readings.copy()
        return twin

    # --- questions

    def is_terminated(self) -> bool:
        """Whether the sequence has ended: an end-of-sequence or stop token was accepted.

        Of a matcher with `terminate_at_end` also as soon as nothing but such a token may follow.
        """
        return self.cell[CELL_CONFIGURATION] == ENDED or (self.terminates_at_end and self._only_ends())

    def _only_ends(self) -> bool:
        """Whether the sequence may end, and nothing else may come next."""
        may_end = self.is_accepting() and not engine.names_tokens(self.grammar_address, self.configuration)
        return may_end and self.run(Operation.LIVE_BYTES, self.configuration, np.zeros(256, np.int32)) == 0

    @property
    def lead(self) -> bytes:
        """Bytes that the tokens spell before the document: the prefix, see `CompiledGrammar.matcher`."""
        return self.grammar.lead

    def partial(self) -> Any:
        """The document so far as a Python value, of grammars of JSON; of others its text so far.

        Returns
        -------
        What `json.loads` will return, as far as it is there. A string in progress is the beginning of what it will be,
        in whole characters; arrays and objects in progress have the items that are there, the one in progress included;
        numbers, `true`, `false` and `null` count when they are complete, and a key with its value. None while there is
        no value at all. `position` tells what is in progress: the value at its pointer and what is around it; all else
        is complete. Complete arrays and objects are the same objects from call to call: copy them before changing them.
        An integer of more digits than Python converts (`sys.get_int_max_str_digits`) is a `decimal.Decimal`.

        Examples
        --------
        >>> import llmask
        >>> matcher = llmask.Compiler(llmask.Tokenizer.default()).json_object().matcher()
        >>> matcher.accept_bytes(b'{"name": "Ada", "born": [1815, 1')
        >>> matcher.partial()
        {'name': 'Ada', 'born': [1815]}
        """
        if not self.grammar.is_json:
            return self.text()[len(self.lead) :].decode("utf-8", "ignore")
        from .json_reader import MISSING

        value = self._so_far().document.value()
        return None if value is MISSING else value

    def position(self) -> Position:
        """Where in the document the sequence is: a JSON pointer, whether in a key or a value, bytes of it, depth.

        The pointer is None for grammars that are not JSON: those of patterns, Lark, GBNF, structural tags and tools.
        Which schemas hold there, and which rules are being read, is found when it is asked for.
        """
        from .partial import Position, position_in

        reading = self._so_far()
        found = position_in(reading.document) if self.grammar.is_json else Position(None, "text", reading.n_bytes, 0)
        here = self.fork()
        found.find_places = lambda: here.grammar.places(here.text()[len(here.lead) :])
        found.find_rules = lambda: here.grammar.dotted_rules(here)
        return found

    def explain(self, what: int | bytes | str) -> Explanation:
        r"""Why a token, or a text, cannot come next; the state is unchanged.

        Parameters
        ----------
        what : a token id, of which an end of sequence is one; or bytes or a text, of whatever tokens.

        Returns
        -------
        Which keyword of a JSON schema refuses it, where, and what may come instead; of other grammars the rules that
        are being read. It is false where `what` is allowed. `str` is a text for people.

        Raises
        ------
        LimitExceeded : deciding whether it is allowed needs more work than the limits allow.
        LlmaskError : it is none of these.

        Examples
        --------
        >>> import llmask
        >>> schema = {"properties": {"title": {"type": "string", "maxLength": 3}}}
        >>> matcher = llmask.Compiler(llmask.Tokenizer.default()).json_schema(schema).matcher()
        >>> matcher.accept_bytes(b'{"title": "abc')
        >>> matcher.explain("d").keyword
        'maxLength'
        """
        found: Explanation = self.grammar.explained(self, what)
        return found

    def _so_far(self) -> Reading:
        """What is known of the document so far; a number at its root counts when the sequence has ended."""
        from .partial import read_on

        reading = read_on(self, self.readings, len(self.lead), self.stop_tokens)
        if reading.document.is_number and self.is_terminated():
            return reading._replace(document=reading.document.ended())
        return reading

    def forced_bytes(self) -> bytes:
        """The bytes that must come next, whatever is chosen: the longest common beginning of all continuations.

        At most `llmask.matching.forced.MAX_FORCED_BYTES`; empty where the document may end, or a token may come next
        that the grammar names by its id.

        Raises
        ------
        LimitExceeded : deciding needs more work than the limits allow; the state is unchanged.
        """
        return find_forced(self)[0]

    def forced_tokens(self) -> list[int]:
        """The tokens that must come next: those of `forced_bytes`, as the tokenizer writes them, and named tokens.

        A token that the grammar names by its id is forced where nothing else may come next.

        Stops before a token that what may follow could change, by merges or by how words are split. The tokens so far
        are taken as they are: where encoding the text would not have given them, nothing is forced. The text before
        the first token is taken to end with a special token, or to be healed (`Tokenizer.heal`).

        Vocabularies without byte-pair encoding force nothing.

        Raises
        ------
        LimitExceeded : deciding needs more work than the limits allow; the state is unchanged.
        """
        return forced_tokens(self)

    def least_budget(self, exact: bool = False) -> int:
        """Tokens that suffice to end the document here, the end of sequence included; 1 where it has ended.

        Parameters
        ----------
        exact : False: a way to the end that the grammar's rules tell without a search, mostly the shortest one or a
            token longer. True: the minimum as far as a search of some thousand places goes, which may take seconds.
            `fill_bitmask` takes budgets in between, too: it searches before it refuses one.

        Raises
        ------
        LimitExceeded : no end of the document was found.
        """
        return least_budget(self, as_flag(exact, "exact"))

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

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.history)} tokens, {self.position()})"

    def _repr_html_(self) -> str:
        """What notebooks show; a mask is made for it, and the state is unchanged."""
        from ..tokenizer.notebook import folded
        from .notebook import matcher_view, next_tokens_view

        tokenizer = self.store.tokenizer
        words = np.zeros((1, self.store.n_words), np.int32)
        try:
            self.fork().fill_bitmask(words)
            tokens = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))
            coming = next_tokens_view(tokenizer, tokens[tokens < tokenizer.vocab_size])
        except LlmaskError as error:
            coming = folded("no mask can be made here", str(error))
        return matcher_view(repr(self), self.text(), len(self.lead), self.grammar.is_json, coming)

    def _expectation(self, after: bytes = b"") -> str:
        """What could come next, for messages."""
        if self.has_ended():
            return "the document has ended"
        configuration, _ = self.generation.advance(self.configuration, after)
        names = named_bytes(self, configuration)
        if engine.is_accepting(self.grammar_address, configuration):
            names.append("the end")
        names += named_tokens(self, configuration)
        return "expected " + (", ".join(names[:12]) + (", ..." if len(names) > 12 else ""))

    def _rejection(self, token: Any) -> TokenRejected:
        what = refused_token(self.store.tokenizer, token)
        return self._refusal(f"{what}; {self._expectation()}", self.place(), token)

    def _refusal(self, message: str, place: str, refused: Any) -> TokenRejected:
        """The error of a token or of bytes that are refused, which can tell why when the matcher is somewhere else."""
        error = TokenRejected(message, place, "fill_bitmask tells which tokens may come next, explain why")
        error.explain = partial(self.fork().explain, refused)
        return error


def begun(grammar: Any, arguments: dict[str, Any]) -> Matcher:
    """A matcher that comes out of a pickle, at the beginning: of a compiled grammar that is here again."""
    matcher: Matcher = grammar.matcher(**arguments)
    return matcher
