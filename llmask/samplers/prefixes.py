"""Which tokens may follow in each row of a batch, given nothing but the rows' token ids.

Frameworks call a logits processor with the ids so far and tell it nothing else: beam search permutes rows, assisted
decoding goes back to shorter prefixes and asks the same one twice, finished rows are padded and still arrive. A matcher
per row number breaks at each of these. So the state is a function of the prefix: a table keyed by the tokens after the
prompt finds the matcher that accepted exactly those, or forks the one that accepted all but the last.

Three kinds of rows need care, because a row may never be left with every token refused:

- finished (an end-of-sequence token was accepted): whatever follows is padding, and the end of sequence stays allowed;
- refused (the grammar does not allow the prefix): beam search keeps beams of score minus infinity when fewer
  continuations than beams exist, and assisted decoding asks about drafts that it is going to drop. Only the end of
  sequence is allowed there, so that nothing unconstrained can follow;
- the others have at least one token by the engine's contract.

The prompt is what the first call of a generation brings, and no framework says where one generation ends and the next
begins. Rows that cannot come next in this one begin another (`Generation`). Where rows could be either, it is an error:
masks of the wrong generation would be an empty text, or an unconstrained one, in silence. Only the last rows and one
token that the masks allowed are a next step always, also where they are a prompt.

In: compiled grammars and token ids. Out: a bitmask. Cost: for each row a hash of the tokens after its prompt, a fork
and an accept for each new prefix; the prompt's length does not count. Memory bounded by `capacity` matchers.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from llmask.compiling.compiled_grammar import CompiledGrammar
from llmask.errors import LlmaskError, VocabularyError
from llmask.mask.apply import BITS_PER_WORD, allocate_bitmask, id_mask, warn_of_width
from llmask.matching.batch import Batch
from llmask.matching.budget import checked_budget
from llmask.matching.matcher import Matcher
from llmask.matching.reasoning import Reasoning
from llmask.samplers.watching import RowWatch

if TYPE_CHECKING:
    from llmask.samplers.watching import OnEvent, OnValue
    from llmask.tokenizer.tokenizer import Tokenizer

AnyGrammar = CompiledGrammar | Reasoning
TokenIds = npt.NDArray[np.int64]
Tokens = bytes  # int64[n] as they lie in memory: compared and found faster than arrays
TOKEN_BYTES = 8
MOST_BEYOND = 256  # tokens that a vocabulary may have beyond the model's logits
_MIN_CAPACITY = 64
_PREFIXES_PER_ROW = 4  # beams: this step's rows and the last step's; assisted decoding: the draft and its verification
_COMPARED = 256  # tokens at the end of the prompt that rows of the same generation are known by
_RESET = "for another generation make a new processor, or call its reset() before"


class PrefixTable:
    """Matchers of one grammar by the tokens that they have accepted; the most recently used ones only.

    Parameters
    ----------
    grammar : what the tokens must follow.
    on_limit : see `CompiledGrammar.matcher`.

    Attributes
    ----------
    capacity : matchers that are kept. A prefix that was forgotten is replayed from the start: slower, never wrong.
    """

    def __init__(self, grammar: AnyGrammar, on_limit: str = "error") -> None:
        self.grammar = grammar
        self.capacity = _MIN_CAPACITY
        self.on_limit = on_limit
        self._matchers: OrderedDict[bytes, Matcher | None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._matchers)

    def after(self, tokens: Tokens) -> Matcher | None:
        """Find or make the matcher that has accepted `tokens`.

        Returns
        -------
        The matcher, or None when the grammar refuses them. It belongs to the table: fill masks from it, do not move it.
        Tokens after an accepted end of sequence are padding and change nothing.
        """
        matchers = self._matchers
        if tokens not in matchers:
            parent = tokens[:-TOKEN_BYTES]
            if tokens and parent in matchers:
                before = matchers[parent]
                matchers[tokens] = before and _accept(before, int.from_bytes(tokens[-TOKEN_BYTES:], sys.byteorder))
            else:
                matchers[tokens] = self._replay(tokens)
            while len(matchers) > self.capacity:
                matchers.popitem(last=False)
        matchers.move_to_end(tokens)
        return matchers[tokens]

    def clear(self) -> None:
        """Forget every prefix."""
        self._matchers.clear()

    def _replay(self, tokens: Tokens) -> Matcher | None:
        matcher = self.grammar.matcher(on_limit=self.on_limit)
        for token in np.frombuffer(tokens, np.int64).tolist():
            if matcher.is_terminated():
                break
            if not matcher.accept(token):
                return None
        return matcher


def _accept(before: Matcher, token: int) -> Matcher | None:
    """A fork of `before` that accepted `token`; the matcher itself when it has ended; None when it refuses."""
    if before.is_terminated():
        return before
    matcher = before.fork()
    return matcher if matcher.accept(token) else None


class FreeRow:
    """In the place of a matcher, for a row without a grammar: everything may follow, always."""

    def is_terminated(self) -> bool:
        """It does not end."""
        return False

    def fill_bitmask(self, bitmask: npt.NDArray[np.int32], row: int, budget: int | None = None) -> bool:
        """Allow every token."""
        bitmask[row] = -1
        return False


_FREE_ROW = FreeRow()


class Generation:
    """The calls of one generation so far: tells whether a call can be the next of them.

        length     n, n+1, n+2, ...           the next step, a tensor of its own
        drafts     n, n+1, ..., n+k           prefixes of one tensor, which is verified
        probes     n, n+1, ..., n+k, n        drafts while they are made, before they are verified

    After drafts from n on, the next step has between n + 1 tokens (none was right) and one more than were asked about;
    its last token is another one than that of the draft.
    Each row is a row of the call before, or its beginning, and one more token; beam search permutes them.

    Parameters
    ----------
    prompts : int[n_rows, ...], the last tokens of every prompt, at most _COMPARED.
    start : column of the first token that the grammar sees.
    length : tokens of the rows at the first call.

    Attributes
    ----------
    n_rows : rows of each call.
    first, last : tokens at the first and at the last call about the same drafts.
    rows : what the last call had after the prompts.
    has_refused : whether a row was refused that is no draft: these are beams.
    """

    def __init__(self, prompts: TokenIds, start: int, length: int) -> None:
        self.n_rows = prompts.shape[0]
        self.start = start
        self.first = self.last = length
        self.has_refused = False
        self._prompts = prompts.tobytes()
        self._n_compared = prompts.shape[1]
        self.rows = [b""] * self.n_rows

    def first_column(self, length: int) -> int:
        """The first column of rows of a length that has to be looked at."""
        return max(0, min(self.start, length) - _COMPARED)

    def parts(self, seen: TokenIds, length: int) -> tuple[Tokens, list[Tokens]]:
        """What is compared of all prompts, and the tokens after each; `seen` are the rows from `first_column` on."""
        column = self.start - self.first_column(length)
        return seen[:, column - self._n_compared : column].tobytes(), [row.tobytes() for row in seen[:, column:]]

    def agrees(self, prompts: Tokens, rows: list[Tokens], n: int) -> bool:
        """Whether rows have the prompts of the last call and its first `n` tokens after them, in whatever order.

        Of the `n` tokens only as many count as the last call had.
        """
        if len(rows) != self.n_rows or prompts != self._prompts:
            return False
        end = min(max(n, 0) * TOKEN_BYTES, len(self.rows[0]))
        given, before = [row[:end] for row in rows], [row[:end] for row in self.rows]
        return given == before or set(given) <= set(before)

    def take(self, rows: list[Tokens], length: int, is_same: bool) -> None:
        """Note a call that is one of this generation."""
        if not is_same or length <= self.last:
            self.first = length
        self.last = length
        self.rows = rows


class PrefixMasks:
    """The bitmask of every row, from nothing but the tokens after its prompt.

    Parameters
    ----------
    grammars : one for all rows, or one a prompt: with n prompts, row r of R belongs to prompt `r * n // R`, as
        frameworks repeat each prompt for its beams and for its returned sequences. None in a list: rows without a
        grammar.
    max_tokens, on_limit : see `BatchMasks`.

    Attributes
    ----------
    restricts : whether the last masks refuse any token of the vocabulary.
    """

    def __init__(
        self,
        grammars: AnyGrammar | Sequence[AnyGrammar | None],
        max_tokens: int | None = None,
        on_limit: str = "finish",
    ) -> None:
        is_list = isinstance(grammars, (list, tuple))
        given: Sequence[AnyGrammar | None] = grammars if is_list else (grammars,)  # type: ignore[assignment]
        present = [check_grammar(grammar) for grammar in given if grammar is not None or not is_list]
        if not present:
            raise LlmaskError("no grammar was given", help="pass a compiled grammar, or one for each prompt")
        self.tokenizer = present[0].tokenizer
        if any(grammar.tokenizer is not self.tokenizer for grammar in present):
            raise LlmaskError(
                "the grammars of one batch were compiled for different tokenizers",
                help="compile them with one llmask.Compiler",
            )
        self._tables = [None if grammar is None else PrefixTable(grammar, on_limit=on_limit) for grammar in given]
        self._max_tokens = None if max_tokens is None else checked_budget(max_tokens)
        self.restricts = True
        self._mask = allocate_bitmask(0, self.tokenizer.vocab_size)
        self._only_end = id_mask(self.tokenizer.eos_ids, self._mask.shape[1])

    def forget(self) -> None:
        """Forget every prefix."""
        for table in self._tables:
            if table is not None:
                table.clear()

    def check_rows(self, n_rows: int) -> None:
        """Refuse a number of rows that grammars cannot be given to."""
        if n_rows % len(self._tables):
            raise LlmaskError(
                f"{n_rows} rows cannot be shared out among {len(self._tables)} grammars",
                help="pass one grammar for all rows, or one for each prompt in the batch",
            )

    def after(self, rows: Sequence[Tokens]) -> list[Matcher | FreeRow | None]:
        """The matchers of rows by the tokens after their prompts; None where the grammar refuses them."""
        n_rows, n_tables = len(rows), len(self._tables)
        for table in self._tables:
            if table is not None:
                table.capacity = max(_MIN_CAPACITY, _PREFIXES_PER_ROW * n_rows)
        tables = [self._tables[row * n_tables // n_rows] for row in range(n_rows)]
        return [_FREE_ROW if table is None else table.after(tokens) for table, tokens in zip(tables, rows, strict=True)]

    def fill_after(
        self, matchers: Sequence[Matcher | FreeRow | None], n_written: Sequence[int]
    ) -> npt.NDArray[np.int32]:
        """Compute the bitmasks of rows by their matchers, which have `n_written` tokens after their prompts.

        Returns
        -------
        int32[n_rows, words]; valid until the next call.
        """
        if self._mask.shape[0] != len(matchers):
            self._mask = allocate_bitmask(len(matchers), self.tokenizer.vocab_size)
        self.restricts = False
        for row, matcher in enumerate(matchers):
            if matcher is None:
                self._mask[row] = self._only_end
                self.restricts = True
                continue
            budget = None if self._max_tokens is None else max(self._max_tokens - n_written[row], 1)
            if matcher.fill_bitmask(self._mask, row, budget):
                self.restricts = True
        return self._mask


class BatchMasks(PrefixMasks):
    """The bitmask of every row of a generation, from the rows' token ids, prompts included.

    Parameters
    ----------
    grammars : see `PrefixMasks`.
    prompt_length : tokens at the start of a row that the grammar does not see, padding included; None: all tokens of
        the first call.
    max_tokens : tokens after the prompt, the end of sequence included, within which every row has to end; None: no
        budget.
    on_limit : "finish": a row whose mask meets a limit of `llmask.Limits` takes the shortest known way to the end of
        its document; "error": `LimitExceeded`.
    watch : is shown the rows of every call, once their masks are made.

    Attributes
    ----------
    generation : the one that the last call was of, or None.
    restricts : whether the last masks refuse any token of the vocabulary.
    """

    def __init__(
        self,
        grammars: AnyGrammar | Sequence[AnyGrammar | None],
        prompt_length: int | None = None,
        max_tokens: int | None = None,
        on_limit: str = "finish",
        watch: RowWatch | None = None,
    ) -> None:
        super().__init__(grammars, max_tokens, on_limit)
        if prompt_length is not None and prompt_length < 0:
            raise LlmaskError(
                f"prompt_length is {prompt_length}; it counts tokens and cannot be negative",
                help="leave it out to take what the first call brings",
            )
        self._prompt_length = prompt_length
        self._watch = watch
        self.generation: Generation | None = None

    def reset(self) -> None:
        """Forget the prompt and every prefix; the next call begins another generation."""
        self.generation = None
        self.forget()
        if self._watch is not None:
            self._watch.forget()

    def fill(self, ids: Any, is_same: bool = False) -> npt.NDArray[np.int32]:
        """Compute the bitmask of the tokens that may follow each row.

        Parameters
        ----------
        ids : int[n_rows, length], prompt included; NumPy or torch.
        is_same : the caller knows that the call is of the same generation, and about drafts; otherwise the rows tell.

        Returns
        -------
        int32[n_rows, words]; valid until the next call.

        Raises
        ------
        LlmaskError
            when the rows may be a step of this generation as well as another one, or begin one that has no text.
        BudgetError
            when no text of a grammar is as short as `max_tokens`.
        """
        n_rows, length = ids.shape
        self.check_rows(n_rows)
        generation = self.generation
        first = 0 if generation is None else generation.first_column(length)
        seen = _in_memory(ids, first)
        prompts, rows = (b"", []) if generation is None else generation.parts(seen, length)
        if generation is None or not self._continues(generation, prompts, rows, length, is_same):
            generation = self._begin(seen, length)
            rows = [row.tobytes() for row in seen[:, generation.start - first :]]
        matchers = self.after(rows)
        # where the prompt is known, a next step is no other generation; beams ask about rows that have all ended
        is_next = self._prompt_length is not None and length == generation.last + 1 and None not in matchers
        if not is_same and not is_next:
            self._check_alive(generation, matchers, length)
        generation.take(rows, length, is_same)
        masks = self.fill_after(matchers, [length - generation.start] * n_rows)
        if self._watch is not None:
            self._watch.see(rows, matchers)
        return masks

    def read_ahead(self, ids: Any) -> None:
        """Have a helping thread build the masks that are needed next, where each row is one token longer than before.

        Nothing is done where they are no next step of this generation; `fill` says what is wrong with them.

        Parameters
        ----------
        ids : int[n_rows, length], prompt included; NumPy or torch.
        """
        generation = self.generation
        n_rows, length = ids.shape
        if generation is None or length != generation.last + 1 or n_rows != generation.n_rows:
            return
        prompts, rows = generation.parts(_in_memory(ids, generation.first_column(length)), length)
        if generation.agrees(prompts, rows, length - 1 - generation.start):
            Batch(matcher if isinstance(matcher, Matcher) else None for matcher in self.after(rows)).read_ahead()

    def finish(self, ids: Any = None) -> None:
        """Show the watch what the last call did not have: a framework asks nothing after the last token.

        Parameters
        ----------
        ids : int[n_rows, length], the rows at the end, prompts included; None: the rows of the last call, where
            each has ended.

        Raises
        ------
        LlmaskError : they are no such rows, or not the generation's; there was no call.
        """
        if self._watch is None:
            return
        generation = self.generation
        if generation is None:
            raise LlmaskError(
                "the processor has not been called, so there is no text to finish",
                help="call finish after the generation, and before reset()",
            )
        rows = generation.rows
        if ids is not None:
            if len(getattr(ids, "shape", ())) != 2 or "int" not in str(getattr(ids, "dtype", "")):
                raise LlmaskError(
                    f"what was generated is an array of token ids with a row for each text, not {type(ids).__name__}",
                    help="give what model.generate returned, or its `sequences`",
                )
            length = ids.shape[1]
            prompts, rows = generation.parts(_in_memory(ids, generation.first_column(length)), length)
            if not generation.agrees(prompts, rows, length):
                raise LlmaskError(
                    "the rows are not the last generation's, or lack some of their tokens",
                    help="give what model.generate returned, prompts included",
                )
        self._watch.see(rows, self.after(rows), is_over=True)

    def _begin(self, seen: TokenIds, length: int) -> Generation:
        """Begin a generation with what a call brings; `seen` are its last columns, all when there was none before."""
        self.reset()
        start = length if self._prompt_length is None else self._prompt_length
        prompts = seen[:, -_COMPARED:] if self._prompt_length is None else seen[:, :0]
        if length < start:
            raise LlmaskError(
                f"the rows have {length} tokens, fewer than prompt_length = {start}",
                help="leave prompt_length out to take what the first call brings",
            )
        self.generation = Generation(prompts, start, length)
        return self.generation

    def _continues(
        self, generation: Generation, prompts: Tokens, rows: list[Tokens], length: int, is_same: bool
    ) -> bool:
        """Whether rows are a step of a generation; an error where they could begin another one as well."""
        start, last = generation.start, generation.last
        if self._prompt_length is not None:
            return length >= start and len(rows) == generation.n_rows
        if length < start or not generation.agrees(prompts, rows, length - 1 - start):
            return False
        if length == last + 1 or (length <= last and is_same):
            return True
        if length > last:
            is_other = all(map(_is_dead, self.after([row[: (last + 1 - start) * TOKEN_BYTES] for row in rows])))
            help = f"{_RESET}; drafts have to be asked about token by token: llama-cpp-python's draft_model does not"
        elif not generation.agrees(prompts, rows, length - start):
            return generation.first < length
        else:
            is_other, help = length == start, _RESET
        if not is_other:
            raise LlmaskError(
                f"the rows went from {last} to {length} tokens between two calls, and may be of another generation",
                where=f"token {min(last, length)}",
                help=help,
            )
        return False

    @staticmethod
    def _check_alive(generation: Generation, matchers: list[Matcher | FreeRow | None], length: int) -> None:
        """Refuse a step that no generation takes: every row has ended before it, or has what the grammar refuses.

        Beams may all be dead and go on, where a grammar has fewer texts than beams. They were refused before.
        """
        if generation.has_refused or not all(map(_is_dead, matchers)):
            generation.has_refused |= None in matchers
            return
        if None in matchers:
            raise LlmaskError(
                "the grammar refuses the last tokens of every row, which its masks did not allow",
                where=f"token {length - 1}",
                help=f"{_RESET}; let no other processor or loop write tokens in the middle of a text",
            )
        raise LlmaskError(
            "every row has ended, and is to be continued",
            where=f"token {length - 1}",
            help=f"{_RESET}; a generation ends with the end of sequence: give it to the model as eos_token_id; "
            "more beams than the grammar has texts need prompt_length=",
        )


class TextProcessor:
    """Base of logits processors: the masks of their rows, by the tokens so far, and what is told of them.

    Parameters
    ----------
    grammar, prompt_length, max_tokens, on_limit, on_value, on_event : as the processors have them.
    """

    def __init__(
        self,
        grammar: AnyGrammar | Sequence[AnyGrammar | None],
        prompt_length: int | None = None,
        max_tokens: float | None = None,
        on_limit: str = "finish",
        *,
        on_value: OnValue | None = None,
        on_event: OnEvent | None = None,
    ) -> None:
        watch = None if on_value is None and on_event is None else RowWatch(on_value, on_event)
        self._masks = BatchMasks(grammar, prompt_length, checked_max_tokens(max_tokens), on_limit, watch)

    def reset(self) -> None:
        """Forget the prompt and what was generated, so that the next call may begin another generation."""
        self._masks.reset()


def checked_max_tokens(max_tokens: float | None) -> int | None:
    """The budget that a processor is given; None where texts may be cut off, with a warning unless that is meant."""
    if max_tokens is None:
        warnings.warn(
            "without max_tokens texts may be cut off in the middle of a document; give the processor as many tokens as "
            "the model may write, or max_tokens=math.inf if that is meant",
            stacklevel=3,
        )
    return None if max_tokens is None or max_tokens == math.inf else checked_budget(max_tokens)


def check_grammar(grammar: Any) -> AnyGrammar:
    """The grammar; anything else is refused, with a word on how to make one."""
    if not isinstance(grammar, (CompiledGrammar, Reasoning)):
        raise LlmaskError(
            f"a processor takes a compiled grammar, not {type(grammar).__name__}",
            help="compile it first: compiler = llmask.Compiler(tokenizer), and then compiler.json_schema(...) "
            "of a dict, JSON text or type, compiler.regex(...), compiler.lark(...), ...",
        )
    return grammar


def check_width(tokenizer: Tokenizer, n_logits: int) -> None:
    """Refuse a model that has not a logit for each token, as many as padding explains aside; warn of much larger ones.

    Raises
    ------
    VocabularyError : the model lacks more than MOST_BEYOND logits.
    """
    if tokenizer.vocab_size - n_logits > MOST_BEYOND:
        raise VocabularyError(
            f"the grammar was compiled for {tokenizer.vocab_size} tokens, and the model has {n_logits} logits",
            help="compile the grammar for the tokenizer of this model; if tokens were added to it, "
            "model.resize_token_embeddings(len(tokenizer)) gives each a logit",
        )
    warn_of_width(tokenizer.vocab_size, n_logits)


def allows_any(row: npt.NDArray[np.int32], n_logits: int) -> bool:
    """Whether a row of a bitmask, int32[words], allows any of the first `n_logits` tokens."""
    n_words, n_bits = divmod(n_logits, BITS_PER_WORD)
    return bool(row[:n_words].any()) or bool((row[n_words : n_words + 1] & ((1 << n_bits) - 1)).any())


def beyond_logits(n_logits: int, where: str) -> VocabularyError:
    """The error for a row where no allowed token has a logit."""
    return VocabularyError(
        f"every token that the grammar allows lies beyond the model's {n_logits} logits",
        where=where,
        help="compile the grammar for the tokenizer of this model",
    )


def _is_dead(matcher: Matcher | FreeRow | None) -> bool:
    """Whether only the end of sequence may follow, as the row has ended or was refused."""
    return matcher is None or matcher.is_terminated()


def _in_memory(ids: Any, first: int) -> TokenIds:
    """Columns of token ids from the first on; of NumPy, or of torch on any device."""
    if not isinstance(ids, np.ndarray):
        if not ids.is_cpu:
            ids, first = ids[:, first:].cpu(), 0
        ids = ids.numpy()  # asarray takes three times as long
    columns: TokenIds = ids[:, first:]
    return columns.astype(np.int64, copy=False)
