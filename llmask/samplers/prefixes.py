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

The prompt is what the first call brings. A call that does not start with it, or that is longer by more than one token
than any before, belongs to another generation (or to a draft that came without its intermediate steps); masks made for
it would be wrong in silence, so it is an error.

In: compiled grammars and token ids. Out: a bitmask. Cost: a hash of each row's ids, a fork and an accept for each new
prefix; memory bounded by `capacity` matchers.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from llmask.errors import LlmaskError, TokenRejected
from llmask.mask.apply import BITS_PER_WORD, allocate_bitmask
from llmask.matching.budget import checked_budget

if TYPE_CHECKING:
    from llmask.compiling.compiled import CompiledGrammar
    from llmask.matching.matcher import Matcher

TokenIds = npt.NDArray[np.int64]
_MIN_CAPACITY = 64
_PREFIXES_PER_ROW = 4  # beams: this step's rows and the last step's; assisted decoding: the draft and its verification


class PrefixTable:
    """Matchers of one grammar by the tokens that they have accepted; the most recently used ones only.

    Parameters
    ----------
    grammar : what the tokens must follow.
    capacity : matchers that are kept. A prefix that was forgotten is replayed from the start: slower, never wrong.
    on_limit : see `CompiledGrammar.matcher`.
    """

    def __init__(self, grammar: CompiledGrammar, capacity: int = _MIN_CAPACITY, on_limit: str = "error") -> None:
        self.grammar = grammar
        self.capacity = capacity
        self.on_limit = on_limit
        self._matchers: OrderedDict[bytes, Matcher | None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._matchers)

    def after(self, ids: TokenIds) -> Matcher | None:
        """Find or make the matcher that has accepted `ids`.

        Returns
        -------
        The matcher, or None when the grammar refuses `ids`. It belongs to the table: fill masks from it, do not move
        it. Ids after an accepted end of sequence are padding and change nothing.
        """
        digest = blake2b(ids[:-1].tobytes(), digest_size=16)
        parent = digest.digest()
        digest.update(ids[-1:].tobytes())
        key = digest.digest()
        if key not in self._matchers:
            if ids.size and parent in self._matchers:
                before = self._matchers[parent]
                self._matchers[key] = before and _accept(before, int(ids[-1]))
            else:
                self._matchers[key] = self._replay(ids)
            while len(self._matchers) > self.capacity:
                self._matchers.popitem(last=False)
        self._matchers.move_to_end(key)
        return self._matchers[key]

    def clear(self) -> None:
        """Forget every prefix."""
        self._matchers.clear()

    def _replay(self, ids: TokenIds) -> Matcher | None:
        matcher = self.grammar.matcher(on_limit=self.on_limit)
        for token in ids.tolist():
            if matcher.is_terminated():
                break
            try:
                matcher.accept_token(token)
            except TokenRejected:
                return None
        return matcher


def _accept(before: Matcher, token: int) -> Matcher | None:
    """A fork of `before` that accepted `token`; the matcher itself when it has ended; None when it refuses."""
    if before.is_terminated():
        return before
    matcher = before.fork()
    try:
        matcher.accept_token(token)
    except TokenRejected:
        return None
    return matcher


class BatchMasks:
    """The bitmask of every row of a generation, from the rows' token ids.

    Parameters
    ----------
    grammars : one for all rows, or one a prompt: with n prompts, row r of R belongs to prompt `r * n // R`, as
        frameworks repeat each prompt for its beams and for its returned sequences.
    prompt_length : tokens at the start of a row that the grammar does not see, padding included; None: all tokens of
        the first call.
    max_tokens : tokens behind the prompt, the end of sequence included, within which every row has to end; None: no
        budget.
    on_limit : "finish": a row whose mask meets a limit of `llmask.Limits` takes the shortest known way to the end of
        its document; "error": `LimitExceeded`.

    Attributes
    ----------
    restricts : whether the last masks refuse any token of the vocabulary.
    """

    def __init__(
        self,
        grammars: CompiledGrammar | Sequence[CompiledGrammar],
        prompt_length: int | None = None,
        max_tokens: int | None = None,
        on_limit: str = "finish",
    ) -> None:
        given = tuple(grammars) if isinstance(grammars, Sequence) else (grammars,)
        if not given:
            raise LlmaskError("no grammar was given", help="pass a compiled grammar, or one for each prompt")
        if prompt_length is not None and prompt_length < 0:
            raise LlmaskError(f"prompt_length is {prompt_length}; it counts tokens and cannot be negative")
        self.tokenizer = given[0].tokenizer
        if any(grammar.tokenizer is not self.tokenizer for grammar in given):
            raise LlmaskError(
                "the grammars of one batch were compiled for different tokenizers",
                help="compile them with one llmask.Compiler",
            )
        self._tables = [PrefixTable(grammar, on_limit=on_limit) for grammar in given]
        self._prompt_length = prompt_length
        self._max_tokens = None if max_tokens is None else checked_budget(max_tokens)
        self._prompts: tuple[tuple[int, ...], bytes] | None = None  # their shape and ids
        self._longest = 0
        self.restricts = True
        self._mask = allocate_bitmask(0, self.tokenizer.vocab_size)
        self._only_end = np.zeros(self._mask.shape[1], np.int32)
        for token in self.tokenizer.eos_ids:
            self._only_end.view(np.uint32)[token // BITS_PER_WORD] |= np.uint32(1 << token % BITS_PER_WORD)

    def reset(self) -> None:
        """Forget the prompt and every prefix; the next call begins another generation."""
        self._prompts, self._longest = None, 0
        for table in self._tables:
            table.clear()

    def fill(self, ids: TokenIds) -> npt.NDArray[np.int32]:
        """Compute the bitmask of the tokens that may follow each row.

        Parameters
        ----------
        ids : int64[n_rows, length], prompt included.

        Returns
        -------
        int32[n_rows, words]; valid until the next call.

        Raises
        ------
        LlmaskError
            when the ids do not continue the generation that the first call began; the state is unchanged.
        BudgetError
            when no text of a grammar is as short as `max_tokens`.
        """
        n_rows = ids.shape[0]
        if n_rows % len(self._tables):
            raise LlmaskError(
                f"{n_rows} rows cannot be shared out among {len(self._tables)} grammars",
                help="pass one grammar for all rows, or one for each prompt in the batch",
            )
        start = self._find_prompt_end(ids)
        budget = None if self._max_tokens is None else max(self._max_tokens - (int(ids.shape[1]) - start), 1)
        if self._mask.shape[0] != n_rows:
            self._mask = allocate_bitmask(n_rows, self.tokenizer.vocab_size)
        restricts = False
        for row in range(n_rows):
            table = self._tables[row * len(self._tables) // n_rows]
            table.capacity = max(_MIN_CAPACITY, _PREFIXES_PER_ROW * n_rows)
            matcher = table.after(ids[row, start:])
            if matcher is None:
                self._mask[row] = self._only_end
                restricts = True
            elif matcher.fill_bitmask(self._mask, row, budget):
                restricts = True
        self.restricts = restricts
        return self._mask

    def _find_prompt_end(self, ids: TokenIds) -> int:
        """Column of the first token that the grammar sees; checks that `ids` continue this generation."""
        length = int(ids.shape[1])
        if self._prompt_length is not None:
            if length < self._prompt_length:
                raise LlmaskError(
                    f"the rows have {length} tokens, fewer than prompt_length = {self._prompt_length}",
                    help="leave prompt_length out to take what the first call brings",
                )
            return self._prompt_length
        if self._prompts is None:
            self._prompts, self._longest = (ids.shape, ids.tobytes()), length
            return length
        (n_rows, start), prompts = self._prompts
        if ids.shape[0] != n_rows or ids[:, :start].tobytes() != prompts:
            raise LlmaskError(
                "the rows do not start with the prompt of this processor's first call",
                help="make a new processor for every generation, or call reset() before the next one",
            )
        if length > self._longest + 1:
            raise LlmaskError(
                f"the rows grew from {self._longest} to {length} tokens between two calls",
                where=f"token {self._longest}",
                help="make a new processor for every generation (or call reset()); drafts must be asked about token by "
                "token, so llama-cpp-python's draft_model cannot be used",
            )
        self._longest = max(self._longest, length)
        return start
