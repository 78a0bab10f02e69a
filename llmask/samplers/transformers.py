"""Constrain `model.generate` of transformers to a grammar.

    processor = GrammarLogitsProcessor(compiler.json_schema(schema), max_tokens=500)
    model.generate(**inputs, max_new_tokens=500, logits_processor=[processor])

It works with greedy search, sampling, beams, several returned sequences, left padding, prompt lookup and assisted
decoding with a model of the same tokenizer; `samplers/prefixes.py` says how. transformers applies its own processors
first, and temperature, top-k and top-p after this one, so these choose among allowed tokens only.

The scores are copied, never changed in place: prompt lookup hands the same tensor to the processor again and again, and
masks would pile up in it. On the CPU one pass copies, masks and looks for rows that have nothing left.

In: token ids and scores, torch. Out: scores in which refused tokens are minus infinity. Cost: a few microseconds a row
for the mask, and the copy: 10-20 us a row of 128k scores on the CPU (`python -m bench.loop`); on another device one
transfer of vocab_size / 8 bytes a row.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from llmask.mask.apply import apply_bitmask, masked_copy
from llmask.samplers.prefixes import TextProcessor, beyond_logits, check_width

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import torch

_LOOKED_AT = 32  # scores that tell whether a model gave them
_REMEMBERED = 8  # calls whose token ids are looked for


class GrammarLogitsProcessor(TextProcessor):
    """Logits processor for `model.generate`; it may be used again for another prompt or the next turn.

    A finished row keeps its end of sequence. A row that the grammar refuses (a beam of score minus infinity, a draft
    that will be dropped, a token that something else forced) may only end. When processors before this one left no
    allowed token (`min_new_tokens`, `no_repeat_ngram_size`, ...), the grammar wins: its tokens become equally likely.

    Parameters
    ----------
    grammar : one for all rows, or a list with one for each prompt of the batch; None in the list: a prompt without one.
        A `llmask.Reasoning` where the model thinks before it answers.
    prompt_length : tokens that precede the constrained text, padding included; None: all tokens of the first call.
        Give it to continue a text that was begun earlier.
    max_tokens : as `max_new_tokens` of `model.generate`: every text ends within this number, the end of sequence
        included. None: texts may be cut off, which is warned of; math.inf: the same, and it is meant.
    on_limit : "finish": a row whose mask meets a limit of `llmask.Limits` takes the shortest known way to the end, so
        that its document is valid; "error": the call fails with `LimitExceeded`.
    on_value, on_event : told of the texts while they are written, as in `llmask.generate`; the number is that of
        the row. A JSON document is told by its parts; of a grammar that is no JSON there are the text so far, and the
        end alone. Call `finish` after the generation: the last token is never shown to a processor. What they raise
        ends the generation. Beams, an assistant model and prompt lookup are an error, as soon as a row does not go on
        as it was.

    Raises
    ------
    BudgetError
        when called and no text is as short as `max_tokens`.
    LlmaskError
        when made of what is no compiled grammar; when called with rows that may belong to this generation as well as to
        another one: make another processor, or `reset()` it; when called with another
        text of a row than `on_value` was told.
    VocabularyError
        when called and the model has fewer logits than the grammar has tokens, by more than padding explains.
    """

    # it would be kept there otherwise, and shown the last token of each row alone; llmask/integrations has another one
    supports_continuous_batching = False

    _asked: Sequence[weakref.ref[torch.Tensor]] = ()  # token ids of the last calls that were kept since
    _storage: torch.UntypedStorage | None = None  # of the last ids; keeps its address
    _is_lookup = False  # whether the last scores were made up

    def reset(self) -> None:
        """As `TextProcessor.reset`."""
        super().reset()
        self._asked, self._storage, self._is_lookup = (), None, False

    def finish(self, sequences: Any = None) -> None:
        """Tell `on_value` and `on_event` what is still to be told, after the generation; each end once.

        Parameters
        ----------
        sequences : int[n_rows, length], what `model.generate` returned. A text that is no whole document has no end.
            None: every text ended after the tokens of the last call, with an end of sequence.

        Raises
        ------
        LlmaskError : they are no token ids, or belong to another generation; nothing was generated.
        """
        self._masks.finish(sequences)

    def read_ahead(self, input_ids: torch.LongTensor, scores: Any = None, **_: Any) -> torch.Tensor:
        """A stopping criterion that never stops: the next masks are built while the model computes the next scores.

            model.generate(..., logits_processor=[processor], stopping_criteria=[processor.read_ahead])

        It saves time where a processor core is free meanwhile, above all with the model on an accelerator.
        `llmask.generate` uses it.

        Parameters
        ----------
        input_ids : int64[n_rows, length], with the tokens that were just written.

        Returns
        -------
        bool[n_rows], False for every row.
        """
        import torch

        self._masks.read_ahead(input_ids)
        return torch.zeros(len(input_ids), dtype=torch.bool, device=input_ids.device)

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        """Refuse what the grammar refuses.

        Parameters
        ----------
        input_ids : int64[n_rows, length], prompts included.
        scores : float[n_rows, n_logits]; may be wider than the vocabulary.

        Returns
        -------
        New scores of the same shape, dtype and device; `scores` themselves where every token is allowed.
        """
        n_logits = scores.shape[-1]
        check_width(self._masks.tokenizer, n_logits)
        is_lookup = _are_made_up(scores)
        kept = [tensor for asked in self._asked if (tensor := asked()) is not None]
        is_same = self._is_of_same_draft(input_ids, is_lookup, kept)
        generation = self._masks.generation
        self._is_lookup = False  # an error ends it
        mask = self._masks.fill(input_ids, is_same)
        self._note(input_ids, is_lookup, kept if self._masks.generation is generation else [])
        is_free = not self._masks.restricts and 0 < n_logits <= self._masks.tokenizer.vocab_size
        if is_free and not bool(scores.amax(dim=-1).isneginf().any()):
            return scores
        return masked_scores(scores, mask, input_ids.shape[1])

    def _is_of_same_draft(self, input_ids: torch.Tensor, is_lookup: bool, kept: list[torch.Tensor]) -> bool:
        """Whether assisted decoding asks about the same draft as at the last call, or about where it began.

        What is in memory tells. Drafts are verified as prefixes of one tensor. Prompt lookup tries one with made-up
        scores, and asks with a model's between any two drafts. And of the ids that were asked about, those from where
        the draft began are the last to be `kept`.
        """
        return (
            (self._storage is not None and self._storage.data_ptr() == input_ids.untyped_storage().data_ptr())
            or (self._is_lookup and is_lookup)
            or (len(kept) > 0 and kept[-1].shape == input_ids.shape)
        )

    def _note(self, input_ids: torch.Tensor, is_lookup: bool, kept: list[torch.Tensor]) -> None:
        """Note a call that was answered, after the calls of the same generation whose ids are kept."""
        kept = [tensor for tensor in kept if tensor is not input_ids]
        self._asked = [weakref.ref(tensor) for tensor in (*kept[1 - _REMEMBERED :], input_ids)]
        self._storage = input_ids.untyped_storage()
        self._is_lookup = is_lookup


def masked_scores(scores: torch.Tensor, mask: npt.NDArray[np.int32], length: int) -> torch.Tensor:
    """New scores in which refused tokens are minus infinity; where nothing is left, all that are allowed are equal.

    Raises
    ------
    VocabularyError : all that a row allows lies beyond the scores; `length` says at which token, for the message.
    """
    masked, dead = masked_copy(scores, mask)
    if dead:
        masked[dead] = 0.0
        dead = apply_bitmask(masked, mask, dead)
    if dead:
        raise beyond_logits(scores.shape[-1], f"row {dead[0]}, token {length}")
    return masked


def _are_made_up(scores: torch.Tensor) -> bool:
    """Whether no model gave `scores`: prompt lookup has ones, and other processors change a few of them.

    They do so in new tensors, so that only the values tell. A part of the first row is looked at.
    """
    step = max(1, scores.shape[-1] // _LOOKED_AT)
    looked_at = scores.as_strided((scores.shape[-1] // step,), (step * scores.stride(-1),)).tolist()
    return bool(2 * looked_at.count(1.0) > len(looked_at))
