"""A matcher: one sequence, with all that its users ask of it.

The state is that of a `Sequence` (sequence.py), which writes masks and takes tokens. What is asked for besides,
messages, captures, what is forced, is found by functions over it.

In: token ids. Out: bitmasks, verdicts. Cost: 0.4 us for a known mask, as much for a known token.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import as_flag, as_integer, each_of, shown
from ..errors import LlmaskError, TokenRejected
from ..kernels import engine
from ..kernels.mask.cell import ASK, CELL_FILTER
from ..store.loaded_grammar import LoadedGrammar
from ..work import unmetered
from . import drafts
from .expected import named_bytes, named_tokens, refused_token, temperature_of
from .features import Feature
from .forced import find_forced
from .history import BYTES_TOKEN
from .mask_numbers import mask_number
from .sequence import ALL_TAKEN, Sequence

if TYPE_CHECKING:
    from typing_extensions import Self

    from .captures import Capture
    from .explanation import Explanation
    from .partial import Position, Reading


class Matcher:
    """State of one sequence; used by one thread at a time.

    `CompiledGrammar.matcher` makes one; `len` is how many tokens were accepted. A copy is a fork; a pickle has its
    grammar and what it accepted.

    Parameters
    ----------
    grammar, features, on_limit, terminates_at_end : see `Sequence`.
    """

    __slots__ = ("__weakref__", "_sequence")

    def __init__(
        self,
        grammar: LoadedGrammar,
        features: tuple[Feature, ...] = (),
        on_limit: str = "error",
        terminates_at_end: bool = False,
    ) -> None:
        self._sequence = Sequence(grammar, features, on_limit, terminates_at_end)

    # --- elsewhere

    def __reduce__(self) -> tuple[Any, ...]:
        """What is pickled: the grammar, and what was accepted, which is taken again where it arrives."""
        sequence = self._sequence
        features = tuple([feature.fork(1) for feature in sequence.features])  # at the beginning
        made_with = sequence.grammar, features, sequence.on_limit, sequence.terminates_at_end
        return Matcher, made_with, (self.tokens, sequence.pieces, sequence.finishes_from)

    def __setstate__(self, state: tuple[list[int], list[tuple[int, bytes]], int | None]) -> None:
        """Take what another matcher has accepted from the beginning on."""
        tokens, pieces, finishes_from = state
        data = dict(pieces)
        with unmetered():  # what comes again was bounded when it came first
            for position, token in enumerate(tokens):
                if token == BYTES_TOKEN:
                    self.accept_bytes(data[position])
                else:
                    self.accept_token(token)
        self._sequence.finishes_from = finishes_from
        if finishes_from is not None:
            self._sequence.cell[CELL_FILTER] = ASK

    def fork(self) -> Self:
        """An independent matcher in the same state."""
        twin = type(self).__new__(type(self))
        twin._sequence = self._sequence.fork()
        return twin

    def __copy__(self) -> Self:
        return self.fork()

    def __deepcopy__(self, memo: Any) -> Self:
        return self.fork()

    def __len__(self) -> int:
        return len(self._sequence.history)

    def __bool__(self) -> bool:
        return True

    # --- what it is

    @property
    def grammar(self) -> Any:
        """The `CompiledGrammar` that it has to match."""
        return self._sequence.grammar

    @property
    def tokens(self) -> list[int]:
        """The accepted tokens; -1 in place of bytes given to `accept_bytes`."""
        return self._sequence.history.tokens()

    def text(self) -> bytes:
        """The bytes accepted so far; special tokens add none, nor does the thinking, or a stop token."""
        return self._sequence.text()

    @property
    def is_thinking(self) -> bool:
        """Whether the tokens that end the thinking are still to come; see `Reasoning`."""
        return self._sequence.is_thinking

    def is_accepting(self) -> bool:
        """Whether the document may end here (True also after its end)."""
        return self._sequence.is_accepting()

    def is_terminated(self) -> bool:
        """Whether the sequence has ended: an end-of-sequence or stop token was accepted.

        Of a matcher with `terminate_at_end` also as soon as nothing but such a token may follow.
        """
        return self._sequence.is_terminated()

    @property
    def mask_number(self) -> int:
        """A number of the mask that the last `fill_bitmask` wrote, if it had no budget: equal numbers are equal masks.

        Who keeps a mask on a device need not send it again while the number is the same. Equal masks of two grammars
        have different numbers; canonical masks, stop tokens and a text to be healed make a new number each time.
        """
        sequence = self._sequence
        return mask_number(sequence.store, sequence.generation, sequence.cell)

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
        return self._sequence.fill_bitmask(bitmask, row, budget)

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
        return self._sequence.finish(bitmask, row)

    def fill_tree(self, bitmask: Any, next_token: Any, next_sibling: Any, draft_tokens: Any, row: int = 0) -> int:
        """Write the masks after each token of a tree of drafts; the state is unchanged.

        Parameters
        ----------
        bitmask : int32[batch, n_words], see `fill_bitmask`; row `row + i` gets the mask after node i. Rows of nodes
            that are refused, and of those after them, stay as they are.
        next_token, next_sibling : int64[n_nodes], lists, NumPy or torch on the CPU: of each node the first that was
            guessed after it, and another one that was guessed in its place; -1: none.
        draft_tokens : int64[n_nodes], the nodes' tokens. Node 0 is the last accepted token, whatever is given
            for it. An id that the vocabulary does not have is refused, -1 for instance.
        row : the row of node 0.

        Returns
        -------
        How many nodes are allowed, node 0 included.

        Raises
        ------
        LimitExceeded, VocabularyError : see `fill_bitmask`; some rows may be written.
        LlmaskError : they are no tree, or the bitmask has fewer rows; nothing is written.
        """
        return drafts.fill_tree(self._sequence, bitmask, next_token, next_sibling, draft_tokens, row)

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
        return drafts.fill_drafts(self._sequence, bitmask, draft_tokens, row)

    # --- tokens

    def accept(self, token: int) -> bool:
        """Take one token into the state; False: it is not allowed, the state is unchanged.

        Raises
        ------
        LimitExceeded : deciding needs more work than the limits allow; the state is unchanged.
        LlmaskError : the token id is not an integer; the state is unchanged.
        """
        return self._sequence.accept(token)

    def accept_token(self, token: int) -> None:
        """Take one token into the state.

        Raises
        ------
        TokenRejected : the grammar does not allow it here; the state is unchanged.
        LimitExceeded : deciding needs more work than the limits allow; the state is unchanged.
        LlmaskError : the token id is not an integer; the state is unchanged.
        """
        if not self._sequence.accept(token):
            token = as_integer(token, "a token id")
            what = refused_token(self._sequence.store.tokenizer, token)
            raise self._refusal(f"{what}; {self._expectation()}", self._sequence.place(), token)

    def accept_tokens(self, tokens: Iterable[int]) -> None:
        """Take several tokens into the state, all or none.

        Raises
        ------
        TokenRejected : one of them is not allowed; the state is as before the first.
        LimitExceeded, LlmaskError : as `accept_token`; the state is as before the first, too.
        """
        n_before = len(self)
        try:
            for token in each_of(tokens):
                self.accept_token(token)
        except BaseException:
            self.rollback(len(self) - n_before)
            raise

    def try_accept_tokens(self, tokens: Iterable[int]) -> int:
        """Take as many leading tokens into the state as it allows; how many these are. A refused one is no error.

        Raises
        ------
        LimitExceeded, LlmaskError : as `accept_token`; the state is as before the first.
        """
        n_before = len(self)
        try:
            for token in each_of(tokens):
                if not self.accept(token):
                    break
        except BaseException:
            self.rollback(len(self) - n_before)
            raise
        return len(self) - n_before

    def validate_tokens(self, tokens: Iterable[int]) -> int:
        """How many leading tokens would be accepted one after the other; the state is unchanged.

        Raises
        ------
        LimitExceeded, LlmaskError : as `accept_token`.
        """
        return self.fork().try_accept_tokens(tokens)

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
        position = self._sequence.take_bytes(data)
        if position != ALL_TAKEN:
            raise self._refusal(
                f"byte {position} of {shown(data)} cannot come next; {self._expectation(data[:position])}",
                self._sequence.place(data[:position]),
                data,
            )

    def rollback(self, n: int) -> None:
        """Undo the last `n` accepted tokens.

        Raises
        ------
        LlmaskError : fewer than `n` tokens were accepted, or `n` is negative; the state is unchanged.
        """
        self._sequence.rollback(n)

    def reset(self) -> None:
        """Go back to the beginning."""
        self._sequence.rollback(len(self))

    # --- questions

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
            return self.text()[len(self._sequence.lead) :].decode("utf-8", "ignore")
        from .json_reader import MISSING

        value = self._so_far().document.value()
        return None if value is MISSING else value

    def position(self) -> Position:
        """Where in the document the sequence is: a JSON pointer, whether in a key or a value, bytes of it, depth.

        The pointer is None for grammars that are not JSON: patterns, Lark, GBNF, structural tags and tools.
        Which schemas hold there, and which rules are being read, is found when it is asked for.
        """
        from .partial import Position, position_in

        reading = self._so_far()
        found = position_in(reading.document) if self.grammar.is_json else Position(None, "text", reading.n_bytes, 0)
        here = self._sequence.fork()
        found.find_places = lambda: here.grammar.places(here.text()[len(here.lead) :])
        found.find_rules = lambda: here.grammar.dotted_rules(here)
        return found

    def explain(self, what: int | bytes | str) -> Explanation:
        r"""Why a token, or a text, cannot come next; the state is unchanged.

        Parameters
        ----------
        what : a token id, which may be an end of sequence; or bytes or a text, whatever tokens they have.

        Returns
        -------
        Which keyword of a JSON schema refuses it, where, and what may come instead; of other grammars the rules that
        are being read. It is false where `what` is allowed. `str` is a text for people.

        Raises
        ------
        LimitExceeded : deciding whether it is allowed needs more work than the limits allow.
        LlmaskError : `what` is something else, or the sequence thinks.

        Examples
        --------
        >>> import llmask
        >>> schema = {"properties": {"title": {"type": "string", "maxLength": 3}}}
        >>> matcher = llmask.Compiler(llmask.Tokenizer.default()).json_schema(schema).matcher()
        >>> matcher.accept_bytes(b'{"title": "abc')
        >>> matcher.explain("d").keyword
        'maxLength'
        """
        if self.is_thinking:
            raise LlmaskError(
                "the sequence thinks, and only an end of it, or of its budget, is refused then",
                help="ask when is_thinking is false",
            )
        found: Explanation = self.grammar.explained(self._sequence, what)
        return found

    def _so_far(self) -> Reading:
        """What is known of the document so far; a number at its root counts when the sequence has ended."""
        from .partial import read_on

        reading = read_on(self._sequence)
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
        return b"" if self.is_thinking else self._sequence.rest + find_forced(self._sequence)[0]

    def forced_tokens(self) -> list[int]:
        """The tokens that must come next: `forced_bytes` as the tokenizer writes them, and named tokens.

        A token that the grammar names by its id is forced where nothing else may come next.

        Stops before a token that what may follow could change, by merges or by how words are split. The tokens so far
        are taken as they are: where encoding the text would not have given them, nothing is forced. The text before
        the first token is taken to end with a special token, or to be healed (`Tokenizer.heal`).

        Vocabularies without byte-pair encoding force nothing.

        Raises
        ------
        LimitExceeded : deciding needs more work than the limits allow; the state is unchanged.
        """
        return self._sequence.forced_tokens()

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
        return self._sequence.least_budget(as_flag(exact, "exact"))

    def finishing_tokens(self) -> list[int]:
        """Tokens that end the document here in few tokens, the end of sequence left aside; see `least_budget`."""
        return self._sequence.finishing_tokens()

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

        return find_captures(self._sequence)

    @property
    def temperature(self) -> float | None:
        """What the grammar says of the temperature for the next token, `[temperature=...]` of a rule, or None."""
        return temperature_of(self._sequence)

    # --- messages

    def __repr__(self) -> str:
        if self.is_thinking:
            return f"Matcher({len(self)} tokens of thinking, the answer has not begun)"
        return f"Matcher({len(self)} tokens, {self.position()})"

    def _repr_html_(self) -> str:
        """What notebooks show; a mask is made for it, and the state is unchanged."""
        from ..tokenizer.notebook import folded
        from .notebook import matcher_view, next_tokens_view

        store, n_lead = self._sequence.store, len(self._sequence.lead)
        tokenizer, words = store.tokenizer, np.zeros((1, store.n_words), np.int32)
        try:
            self.fork().fill_bitmask(words)
            tokens = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))
            coming = next_tokens_view(tokenizer, tokens[tokens < tokenizer.vocab_size])
        except LlmaskError as error:
            coming = folded("no mask can be made here", str(error))
        return matcher_view(repr(self), self.text(), n_lead, self.grammar.is_json, coming)

    def _expectation(self, after: bytes = b"") -> str:
        """What could come next, for messages."""
        sequence = self._sequence
        if sequence.has_ended():
            return "the document has ended"
        told = sequence.told(lambda feature: feature.expectation(after))
        if told is not None:
            return str(told)
        configuration, _ = sequence.generation.advance(sequence.configuration, after[len(sequence.rest) :])
        names = named_bytes(sequence, configuration)
        if engine.is_accepting(sequence.grammar_address, configuration):
            names.append("the end")
        names += named_tokens(sequence, configuration)
        return "expected " + (", ".join(names[:12]) + (", ..." if len(names) > 12 else ""))

    def _refusal(self, message: str, place: str, refused: Any) -> TokenRejected:
        """The error of a token or of bytes that are refused, which can tell why when the matcher is somewhere else."""
        error = TokenRejected(message, place, "fill_bitmask tells which tokens may come next, explain why")
        error.explain = partial(self.fork().explain, refused)
        return error
