"""The grammar of one request of SGLang, and how far its text has come: a matcher with the methods of its base class.

SGLang's class becomes the second parent where SGLang is there (`backend.py`), so that this one needs neither it nor
torch to be read.

What a grammar raises ends SGLang's scheduler, and with it all requests, but for a ValueError of `accept_token` for a
token that was sampled, which ends one request. So a limit that is met raises nothing: where no mask can be made, or
nothing be said of what follows a token that a mask allowed, the text may only end.

SGLang hands a backend the key of a grammar and no request. Its manager shows the grammar of each request its reasoning
settings before the first token, and does so for those that are remembered, too; there the number of tokens is known,
and becomes the budget of the grammar (`within_tokens`).

`is_terminated` is not true before the end of sequence: SGLang takes the last token away from a text that ended by it.

In: token ids. Out: rows of a packed bitmask. Cost: that of a `Matcher`, and 1 us for torch.
"""

from __future__ import annotations

import dataclasses
import functools
import logging
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from llmask.arguments import as_bitmask, as_integer
from llmask.errors import LimitExceeded, LlmaskError, TokenRejected, VocabularyError
from llmask.integrations.limits import Room, check_least_length, check_room, takes_budget, wants_budget
from llmask.mask.apply import BITS_PER_WORD, apply_bitmask, id_mask
from llmask.matching.ahead import read_ahead
from llmask.matching.batch import Batch

if TYPE_CHECKING:
    import torch
    from typing_extensions import Self

    from llmask.compiling.compiled_grammar import CompiledGrammar

logger = logging.getLogger(__name__)
FEW_ROWS = 4  # that are filled sooner one by one, 4 us each, than together, 20 us


def allocate_masks(n_rows: int, n_tokens: int) -> torch.Tensor:
    """A bitmask of ones, int32[n_rows, ceil(n_tokens / 32)], in memory from which a device copies without waiting."""
    import torch
    from sglang.srt.utils.common import is_pin_memory_available

    n_words = -(-n_tokens // BITS_PER_WORD)
    return torch.full((n_rows, n_words), -1, dtype=torch.int32, pin_memory=is_pin_memory_available())


def move_masks(vocab_mask: torch.Tensor, device: Any) -> torch.Tensor:
    """A bitmask on a device."""
    return vocab_mask.to(device, non_blocking=True)


def apply_masks(logits: torch.Tensor, vocab_mask: torch.Tensor) -> None:
    """Set the logits of refused tokens to minus infinity, in place, on any device."""
    apply_bitmask(logits, vocab_mask)


def filter_tokens(
    vocab_mask: torch.Tensor,
    token_ids: Iterable[int],
    batch_idx: int,
    is_allowed: bool = True,
    reset_vocab_mask: bool = True,
) -> None:
    """Allow tokens in a row of a bitmask, or refuse them; before that all others are reset to the opposite."""
    words = as_bitmask(vocab_mask)[batch_idx]
    chosen = id_mask(token_ids, len(words))
    if reset_vocab_mask:
        words[:] = chosen if is_allowed else ~chosen
    else:
        words[:] = words | chosen if is_allowed else words & ~chosen


class RequestGrammar:
    """What SGLang asks of the grammar of a request.

    Parameters
    ----------
    grammar : what the text has to match.
    kind, source : the key that it was compiled from.
    grammar_stats : a `GrammarStats` of SGLang, or None.

    Attributes
    ----------
    matcher : the state of the text.
    current_token : the last one that was accepted, which SGLang looks at after a request was taken back.
    """

    def __init__(self, grammar: CompiledGrammar, kind: str, source: str, grammar_stats: Any = None) -> None:
        super().__init__()
        self.grammar = grammar
        self.kind = kind
        self.source = source
        self.grammar_stats = grammar_stats
        self.current_token: int | None = None
        self.matcher = grammar.matcher(on_limit="finish")
        self._room: Room | None = None
        # in numbers of accepted tokens
        self._n_beyond = 0  # those that the matcher has not: after the end, or after a limit was met
        self._limit_at: int | None = None  # from where on the text may only end
        self._end_at: int | None = None  # where it did so

    def __repr__(self) -> str:
        return f"<{self.kind} grammar of llmask after {self.matcher.text()!r}: {self.source[:200]!r}>"

    def copy(self) -> Self:
        """The same grammar at the beginning of another text."""
        stats = self.grammar_stats
        if stats is not None:
            stats = dataclasses.replace(stats, is_cache_hit=True, tree_traversal_time=[])
        return type(self)(self.grammar, self.kind, self.source, stats)

    # --- the request's number of tokens

    def keep_within(self, most: int, n_written: Callable[[], int], is_thought: bool = False, n_drafts: int = 0) -> None:
        """Have the document complete within `most` tokens of the request; a copy is free of this.

        Parameters
        ----------
        n_written, n_drafts : see `Room`.
        is_thought : the request may think before, and its thought takes of them.
        """
        self._room = Room(self.matcher, most, n_written, n_drafts if is_thought else 0)
        if not is_thought:
            self._look()

    def _look(self) -> None:
        """See whether the next mask has to look at the budget, after tokens were taken or taken back."""
        if self._room is not None:
            self._room.look(self.n_tokens)

    @property
    def is_plain(self) -> bool:
        """Whether the next mask is the matcher's own."""
        return self._limit_at is None and (self._room is None or not self._room.is_near)

    # --- tokens

    @property
    def n_tokens(self) -> int:
        """How many tokens were accepted."""
        return len(self.matcher) + self._n_beyond

    def accept_token(self, token: int) -> None:
        """Take a token into the state; after the end any token is taken, and counts for `rollback`.

        Raises
        ------
        ValueError : the grammar does not allow it here; the state is unchanged.
        """
        if self.is_terminated():
            self._n_beyond += 1
        elif self._limit_at is None:
            self._take(token)
        elif token in self.grammar.tokenizer.eos_ids:
            self._n_beyond += 1
            self._end_at = self.n_tokens
        else:
            raise ValueError(f"token {token} cannot come next: a limit was met, and the text may only end")
        self.current_token = token
        self._look()

    def _take(self, token: int) -> None:
        try:
            self.matcher.accept_token(token)
            read_ahead(self.matcher._sequence)  # the mask is asked for when the next batch is made up
        except TokenRejected:
            raise
        except LimitExceeded as error:
            self._n_beyond += 1
            self._meet_limit(error)
        except LlmaskError as error:
            raise ValueError(str(error)) from error

    def _meet_limit(self, error: LlmaskError) -> None:
        """Let the text only end from here on."""
        logger.error("the text of a request may only end: %s", error)
        self._limit_at = self.n_tokens

    def rollback(self, k: int) -> None:
        """Take back the last `k` tokens, the end included.

        Raises
        ------
        LlmaskError : fewer were accepted; the state is unchanged.
        """
        k = as_integer(k, "the number of tokens to roll back")
        n_beyond = max(0, min(k, self._n_beyond))
        self.matcher.rollback(k - n_beyond)
        self._n_beyond -= n_beyond
        if self._limit_at is not None and self._limit_at > self.n_tokens:
            self._limit_at = None
        if self._end_at is not None and self._end_at > self.n_tokens:
            self._end_at = None
        self._look()

    def is_terminated(self) -> bool:
        """Whether the text has ended."""
        return self._end_at is not None or self.matcher.is_terminated()

    # --- masks

    def allocate_vocab_mask(self, vocab_size: int, batch_size: int, device: Any) -> torch.Tensor:
        """A bitmask of ones for a batch, in this machine's memory; see `move_vocab_mask`."""
        return allocate_masks(batch_size, max(vocab_size, self.grammar.tokenizer.vocab_size))

    def fill_vocab_mask(self, vocab_mask: torch.Tensor, idx: int) -> None:
        """Write which tokens may come next into row `idx`."""
        try:
            if self.is_plain:
                self.matcher.fill_bitmask(vocab_mask, idx)
                return
            if self._limit_at is None and self._room is not None:
                self._room.fill(vocab_mask, idx, self.n_tokens)
                return
        except (LimitExceeded, VocabularyError) as error:
            self._meet_limit(error)
        filter_tokens(vocab_mask, self.grammar.tokenizer.eos_ids, idx)

    @staticmethod
    def fill_vocab_mask_batched(entries: Sequence[Any], vocab_mask: torch.Tensor) -> None:
        """Write the rows of a batch, over threads where they are many; others stay as they are.

        Parameters
        ----------
        entries : each with a `grammar` and its `row`.
        """
        left = list(entries)
        plain = [entry for entry in left if isinstance(entry.grammar, RequestGrammar) and entry.grammar.is_plain]
        if len(plain) > FEW_ROWS:
            with suppress(LimitExceeded, VocabularyError):  # the row that cannot be filled is found below
                Batch([entry.grammar.matcher for entry in plain]).fill(vocab_mask, [entry.row for entry in plain])
                left = [] if len(plain) == len(left) else [entry for entry in left if entry not in plain]
        for entry in left:
            entry.grammar.fill_vocab_mask(vocab_mask, entry.row)

    @staticmethod
    def reset_vocab_mask(vocab_mask: torch.Tensor) -> None:
        """Set all bits, so that a bitmask can be used again."""
        vocab_mask.fill_(-1)

    move_vocab_mask = staticmethod(move_masks)
    apply_vocab_mask = staticmethod(apply_masks)


def within_tokens(apply: Any) -> Any:
    """`GrammarManager._apply_request_reasoning_config`, which shows the grammar the request's number of tokens, too."""

    @functools.wraps(apply)
    def applied(self: Any, req: Any) -> None:
        apply(self, req)
        own = req.grammar
        grammar = own if isinstance(own, RequestGrammar) else getattr(own, "grammar", None)
        if isinstance(grammar, RequestGrammar):
            n_drafts = getattr(self.server_args, "speculative_num_draft_tokens", None) or 0
            try:
                _keep_within(grammar, req, own is not grammar, n_drafts)
            except LlmaskError as error:
                req.set_finish_with_abort(str(error))

    applied.is_of_llmask = True  # type: ignore[attr-defined]
    return applied


def _keep_within(grammar: RequestGrammar, req: Any, is_thought: bool, n_drafts: int) -> None:
    """Have the document of a request complete within its `max_new_tokens`.

    Raises
    ------
    BudgetError, GrammarError : it cannot be; `min_new_tokens` forbids its end; the option `budget` among its
        `custom_params` is neither true nor false.
    """
    parameters = req.sampling_params
    if not takes_budget(grammar.matcher):
        return
    check_least_length(grammar.matcher, parameters.min_new_tokens or 0, "min_new_tokens")
    most = parameters.max_new_tokens
    if most is None or not wants_budget(parameters.custom_params):
        return
    check_room(grammar.matcher, most, "max_new_tokens")
    written = weakref.proxy(req)  # which holds the grammar
    grammar.keep_within(most, lambda: len(written.output_ids), is_thought, n_drafts)
