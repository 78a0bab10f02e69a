"""Logits processors for vLLM: grammars of requests that keep another backend, or that need no structured output.

    LLM(model, logits_processors=["llmask.integrations.vllm:V2Processor"])
    SamplingParams(extra_args={"llmask": {"json": schema}})

vLLM has two interfaces, of its runners V1 and V2, and takes only the one of the runner that it chose. Both processors
follow the tokens that a request has written, by reading them before each mask; a backend is told instead, and is the
better choice where there is one (docs/integrations/vllm.md). Requests are judged by the plug-in (`plugin.py`); what
comes here unjudged and cannot be compiled may only end, as an error in a processor would end the engine.

In: logits of a batch, torch. Out: the same, in which refused tokens are minus infinity. Cost: a mask and its
application for each row; V2 waits for the device, as the tokens are there.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...compiling.compiler import Compiler
from ...errors import LlmaskError
from ...forks import cached_property
from ...mask.apply import allocate_bitmask, apply_bitmask, id_mask
from ...matching.matcher import Matcher
from ..limits import Room, takes_budget
from .requests import asked_for, compile_request, compiler_of_worker, matcher_of, room_of

if TYPE_CHECKING:
    import torch

NAME = "llmask"  # the key among extra_args

logger = logging.getLogger(__name__)


class Row:
    """One request: the grammar of its text, and how much of that was read.

    Parameters
    ----------
    matcher : at the beginning of its text; None: it may only end.
    ends : all ids that end it.
    most : tokens within which its document is to be complete; None: it has no budget.

    Attributes
    ----------
    n_read : tokens of the text that were read.
    """

    def __init__(self, matcher: Matcher | None, ends: Iterable[int], most: int | None = None) -> None:
        self.n_read = 0
        self._matcher = matcher
        self._ends = sorted(ends)
        self._room = None if matcher is None or most is None else Room(matcher, most, lambda: self.n_read)

    def read(self, tokens: Iterable[int]) -> None:
        """Take the next tokens of the text; what comes after the end is ignored."""
        for token in tokens:
            self.n_read += 1
            if self._matcher is None or self._matcher.is_terminated():
                continue
            try:
                is_taken = self._matcher.accept(token)
            except LlmaskError as error:
                logger.error("a request is ended: %s", error)
                is_taken = False
            if not is_taken:  # something else has forced a token
                self._matcher = None

    def fill(self, words: Any, drafts: list[int]) -> None:
        """Write the masks before and after each draft; those after a refused one allow everything, and do not count.

        Parameters
        ----------
        words : int32[1 + n_drafts, n_words].
        drafts : token ids.
        """
        words[:] = -1
        if self._matcher is not None:
            if self._matcher.is_terminated():
                return
            try:
                self._fill(self._matcher, words, drafts)
                return
            except LlmaskError as error:
                logger.error("a request is ended, as its grammar has no mask: %s", error)
                self._matcher = None
        words[:] = id_mask(self._ends, words.shape[1])

    def _fill(self, matcher: Matcher, words: Any, drafts: list[int]) -> None:
        """`fill_drafts`, each row within the tokens that are left at it."""
        room, n_taken = self._room, len(matcher)
        if room is None or room.is_free(n_taken, len(drafts)):
            matcher.fill_drafts(words, drafts)
            return
        try:
            for row, token in enumerate([*drafts, None]):
                room.fill(words, row, n_taken + row)
                if token is None or matcher.is_terminated() or not matcher.accept(token):
                    return
        finally:
            matcher.rollback(len(matcher) - n_taken)


class _Processor:
    """What both have: the compiler of the worker, judging the form of options, and masks of some rows of a batch."""

    def __init__(self, vllm_config: Any) -> None:
        self.vllm_config = vllm_config
        self.rows: dict[int, Row] = {}
        self._mask: Any = np.empty((0, 0), np.int32)

    @cached_property
    def compiler(self) -> Compiler:
        """The compiler of this worker."""
        return compiler_of_worker(self.vllm_config)

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        """Raise `ValueError` for what are no options; what they ask for is compiled by the plug-in."""
        if sampling_params.extra_args and NAME in sampling_params.extra_args:
            asked_for(sampling_params.extra_args[NAME])

    def row_of(self, parameters: Any) -> Row | None:
        """The row of a request that asks for one, by its `SamplingParams`."""
        if not parameters.extra_args or NAME not in parameters.extra_args:
            return None
        matcher = most = None
        try:
            grammar = compile_request(self.compiler, *asked_for(parameters.extra_args[NAME]))
            matcher = matcher_of(grammar, parameters.all_stop_token_ids)
            most = room_of(parameters) if takes_budget(matcher) else None
        except LlmaskError as error:
            logger.error("a request is ended, as its grammar cannot be compiled: %s", error)
        return Row(matcher, {*self.compiler.tokenizer.eos_ids, *parameters.all_stop_token_ids}, most)

    def mask_of(self, n_rows: int) -> Any:
        """A bitmask int32[n_rows, n_words] to write into; it is used again."""
        if len(self._mask) < n_rows:
            self._mask = allocate_bitmask(n_rows, self.compiler.tokenizer.vocab_size)
        return self._mask[:n_rows]


class V1Processor(_Processor):
    """For vLLM's runner V1; not with speculative decoding, where vLLM takes no processors.

    Parameters
    ----------
    vllm_config, device, is_pin_memory : as vLLM gives them.
    """

    def __init__(self, vllm_config: Any, device: Any, is_pin_memory: bool) -> None:
        super().__init__(vllm_config)
        self._texts: dict[int, tuple[Row, list[int]]] = {}

    def is_argmax_invariant(self) -> bool:
        """False: greedy decoding needs masks, too."""
        return False

    def update_state(self, batch_update: Any) -> None:
        """Follow which request is in which row."""
        from vllm.v1.sample.logits_processor import process_dict_updates

        process_dict_updates(self._texts, batch_update, self._text_of)

    def _text_of(self, parameters: Any, prompt: list[int] | None, written: list[int]) -> tuple[Row, list[int]] | None:
        """The row of a request, and the list in which vLLM keeps what it has written."""
        row = self.row_of(parameters)
        return None if row is None else (row, written)

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        """Refuse what the grammars of the rows refuse, in place.

        Parameters
        ----------
        logits : float[n_rows, n_logits].
        """
        rows = sorted(row for row in self._texts if row < len(logits))
        if rows:
            mask = self.mask_of(len(logits))
            for number in rows:
                row, written = self._texts[number]
                row.read(written[row.n_read :])
                row.fill(mask[number : number + 1], [])
            apply_bitmask(logits, mask, rows)
        return logits


class V2Processor(_Processor):
    """For vLLM's runner V2, with speculative decoding, too.

    Parameters
    ----------
    vllm_config, req_states : as vLLM gives them; the second has the tokens of each slot on the device.
    """

    def __init__(self, vllm_config: Any, req_states: Any) -> None:
        super().__init__(vllm_config)
        self._states = req_states

    def add_request(self, req_idx: int, sampling_params: Any) -> bool:
        """Take a request into a slot; whether this processor has anything to do with it."""
        row = self.row_of(sampling_params)
        self.rows.pop(req_idx, None)
        if row is not None:
            self.rows[req_idx] = row
        return row is not None

    def apply_staged_writes(self) -> None:
        """Nothing is staged."""

    def apply(self, logits: torch.Tensor, ctx: Any) -> torch.Tensor:
        """Refuse what the grammars refuse, in place.

        Parameters
        ----------
        logits : float32[n_rows, n_logits]; a request has a row for its next token, and one after each draft.
        ctx : a `LogitsContext`: the slot of each row, the token before it, and the position of that token.
        """
        if not any(slot in self.rows for slot in ctx.idx_mapping_np.tolist()):
            return logits
        places: dict[int, list[int]] = {}
        for place, slot in enumerate(ctx.expanded_idx_mapping.tolist()):
            if slot in self.rows:
                places.setdefault(slot, []).append(place)
        before, positions = ctx.input_ids.tolist(), ctx.pos.tolist()
        mask = self.mask_of(len(logits))
        chosen: list[int] = []
        for slot, own in places.items():
            own.sort(key=positions.__getitem__)
            if self._read(slot, positions[own[0]] + 1):
                words = np.empty((len(own), mask.shape[1]), np.int32)
                self.rows[slot].fill(words, [before[place] for place in own[1:]])
                mask[own] = words
                chosen += own
        if chosen:
            apply_bitmask(logits, mask, sorted(chosen))
        return logits

    def _read(self, slot: int, n_tokens: int) -> bool:
        """Read what a slot has written up to a number of tokens; False: it is still reading its prompt."""
        row = self.rows[slot]
        begin = int(self._states.prompt_len.np[slot])
        if n_tokens < begin:
            return False
        if begin + row.n_read < n_tokens:
            row.read(self._states.all_token_ids.gpu[slot, begin + row.n_read : n_tokens].tolist())
        return True


def registered(name: str) -> type[_Processor]:
    """One of the two, after vLLM was told that it is what it asks for."""
    if name == "V1Processor":
        from vllm.v1.sample import logits_processor as v1

        v1.LogitsProcessor.register(V1Processor)
        return V1Processor
    from vllm.v1.worker.gpu.sample import logits_processor as v2

    v2.LogitsProcessor.register(V2Processor)
    return V2Processor
