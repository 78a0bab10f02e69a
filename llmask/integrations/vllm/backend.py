"""A structured-output backend of vLLM: what its manager asks of one, and of the grammar of each request.

vLLM's classes are abstract and are not inherited from, so that this module needs no vLLM: `plugin.py` registers these
two with them. The manager drives a grammar from the engine's thread, and above 128 requests from a pool of threads, one
grammar from one thread at a time.

An error within a step would end the engine, and with it all requests. So none leaves a grammar: what cannot go on may
only end, and vLLM, to which the end of a text that is not complete is refused, ends that request with an error.

All rows of a step are written in one call (`rows_at_once`), where the manager asks the grammar of each request for its
own, through Python. Masks that are known, of grammars whose budget is far, are written by compiled code for all
requests together. The rest is as in vLLM: requests that have ended, or think, or build a mask, one by one; and all of
them with speculative decoding, where each draft has a row.

In: requests; token ids. Out: rows of vLLM's bitmask, verdicts. Cost: that of a `Matcher`, and 1 us for torch; 0.2 us a
row of a step, besides the copy of each mask.
"""

from __future__ import annotations

import functools
import logging
import weakref
from collections.abc import Iterable
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from llmask.errors import LlmaskError, VocabularyError
from llmask.integrations.limits import Room, takes_budget
from llmask.integrations.vllm.requests import compile_outputs, compile_request, compiler_for, matcher_of, room_of
from llmask.mask.apply import id_mask
from llmask.matching.ahead import read_ahead
from llmask.matching.batch import Batch
from llmask.matching.matcher import Matcher

if TYPE_CHECKING:
    import torch

logger = logging.getLogger(__name__)
FORM = ("self", "requests", "structured_output_request_ids", "scheduled_spec_decode_tokens")
FEW_ROWS = 4  # that are filled sooner one by one
PARTS = ("_grammar_bitmask", "reasoner_cls", "enable_in_reasoning")  # of a manager


class Grammar:
    """The grammar of one request, and how far its text has come: a `StructuredOutputGrammar`.

    Parameters
    ----------
    matcher : at the beginning of the text.
    room : of the request; None: it has no budget.

    Attributes
    ----------
    n_ignored : tokens that came after the end; vLLM goes on after it with `ignore_eos`.
    is_plain : the next mask is the matcher's own: the text has not ended, and no budget is near.
    """

    def __init__(self, matcher: Matcher, room: Room | None = None) -> None:
        self.matcher = matcher
        self.n_ignored = 0
        self.is_plain = room is None or not room.is_near
        self._room = room
        self._ends = sorted({*matcher.grammar.tokenizer.eos_ids, *matcher._sequence.stop_tokens})
        self._has_failed = False

    def accept_tokens(self, request_id: str, tokens: list[int]) -> bool:
        """Take tokens, all or none; False: the grammar refuses one, and vLLM ends the request.

        Tokens after the end are ignored, and so is all from the first negative one on, vLLM's padding.
        """
        matcher, n_before, n_ignored = self.matcher, len(self.matcher), 0
        try:
            for token in _without_padding(tokens):
                if matcher.is_terminated():
                    n_ignored += 1
                elif not matcher.accept(token):
                    break
            else:
                self.n_ignored += n_ignored
                self._look()
                read_ahead(matcher._sequence)  # the mask is asked for when the next step is scheduled
                return True
            logger.error("request %s: %s", request_id, "its grammar refuses a token")
        except LlmaskError as error:
            logger.error("request %s: %s", request_id, error)
        matcher.rollback(len(matcher) - n_before)
        return False

    def validate_tokens(self, tokens: list[int]) -> list[int]:
        """The leading tokens that would be accepted; the state is unchanged."""
        tokens = _without_padding(tokens)
        try:
            return tokens[: self.matcher.validate_tokens(tokens)]
        except LlmaskError as error:
            logger.warning("drafts are left out: %s", error)
            return []

    def rollback(self, num_tokens: int) -> None:
        """Take back the last tokens; a text that had ended goes on."""
        n_ignored = min(self.n_ignored, num_tokens)
        self.n_ignored -= n_ignored
        self.matcher.rollback(num_tokens - n_ignored)
        self._look()

    def _look(self) -> None:
        """See what the next mask has to look at, after tokens were taken or taken back."""
        if self._room is not None:
            self._room.look(self._n_taken)
        self.is_plain = not self.matcher.is_terminated() and (self._room is None or not self._room.is_near)

    @property
    def _n_taken(self) -> int:
        return len(self.matcher) + self.n_ignored

    def fill_bitmask(self, bitmask: torch.Tensor, batch_index: int) -> None:
        """Write a row of the bitmask, all words of it.

        Parameters
        ----------
        bitmask : int32[n, n_words], torch on the CPU, as `Backend.allocate_token_bitmask` makes it.
        batch_index : the row.
        """
        self.fill_row(bitmask.numpy(), batch_index)

    def fill_row(self, words: Any, batch_index: int) -> None:
        """`fill_bitmask` for NumPy: int32[n, n_words]."""
        try:
            if words.shape[1] >= self.matcher._sequence.store.n_words:
                self._fill(words, batch_index)
            else:  # the tokenizer has tokens beyond the model's logits
                row = np.empty((1, self.matcher._sequence.store.n_words), np.int32)
                self._fill(row, 0)
                words[batch_index] = row[0, : words.shape[1]]
                if not words[batch_index].any():
                    raise VocabularyError(
                        "the grammar goes on with tokens that the model has no logits for",
                        help="use the tokenizer of the model",
                    )
        except LlmaskError as error:
            if not self._has_failed:
                logger.error("a request is ended, as its grammar has no mask: %s", error)
            self._has_failed = True
            words[batch_index] = id_mask(self._ends, words.shape[1])

    def _fill(self, words: Any, row: int) -> None:
        if self._room is None or not self._room.is_near:
            self.matcher.fill_bitmask(words, row)
        else:
            self._room.fill(words, row, self._n_taken)

    def is_terminated(self) -> bool:
        """Whether the text has ended: an end of sequence, or a stop token of the request, was accepted."""
        return self.matcher.is_terminated()

    def reset(self) -> None:
        """Begin again."""
        self.matcher.reset()
        self.n_ignored = 0
        self._look()


class Backend:
    """The backend of one engine: a `StructuredOutputBackend`.

    Parameters
    ----------
    vllm_config : the engine's.
    tokenizer : vLLM's.
    vocab_size : number of the model's logits.
    """

    def __init__(self, vllm_config: Any, tokenizer: Any, vocab_size: int) -> None:
        self.vllm_config = vllm_config
        self.tokenizer = tokenizer
        self.vocab_size = vocab_size

    def compile_grammar(self, request_type: Any, grammar_spec: str, stop_token_ids: set[int] | None = None) -> Grammar:
        """The grammar of a request; vLLM calls this from threads.

        Parameters
        ----------
        request_type : a `StructuredOutputOptions`.
        grammar_spec : its text.
        stop_token_ids : all ids that end the request.

        Raises
        ------
        LlmaskError : it cannot be compiled: an error of this request, which its validation has told before.
        """
        compiler = compiler_for(self.tokenizer, self.vllm_config.model_config)
        is_compact = self.vllm_config.structured_outputs_config.disable_any_whitespace
        whitespace = "compact" if is_compact else "flexible"
        grammar = compile_request(compiler, request_type.name.lower(), grammar_spec, whitespace)
        return Grammar(matcher_of(grammar, stop_token_ids))

    def grammar_of(self, request: Any) -> Grammar:
        """The grammar of one of vLLM's requests: as `compile_grammar`, with its white space and within its tokens.

        Raises
        ------
        LlmaskError : as `compile_grammar`.
        """
        parameters, config = request.sampling_params, self.vllm_config.structured_outputs_config
        compiler = compiler_for(self.tokenizer, self.vllm_config.model_config)
        grammar = compile_outputs(compiler, parameters.structured_outputs, config)
        matcher = matcher_of(grammar, parameters.all_stop_token_ids)
        most = room_of(parameters)
        if most is None or not takes_budget(matcher):
            return Grammar(matcher)
        most = min(most, self.vllm_config.model_config.max_model_len - request.num_prompt_tokens)
        written = weakref.proxy(request)  # which holds the grammar
        n_drafts = self.vllm_config.num_speculative_tokens if config.reasoning_parser else 0
        room = Room(matcher, most, lambda: written.num_output_tokens, n_drafts)
        if not config.reasoning_parser:  # else a thought will have taken of it
            room.look(0)
        return Grammar(matcher, room)

    def allocate_token_bitmask(self, max_num_seqs: int) -> torch.Tensor:
        """A bitmask int32[max_num_seqs, ceil(vocab_size / 32)] of ones."""
        import torch

        return torch.full((max_num_seqs, -(-self.vocab_size // 32)), -1, dtype=torch.int32)

    def destroy(self) -> None:
        """Nothing: the compiler serves the process, and its memory is bounded."""


def _without_padding(tokens: Iterable[int]) -> list[int]:
    """The tokens before the first negative one."""
    return list(takewhile(lambda token: token >= 0, tokens))


def rows_at_once(grammar_bitmask: Any) -> Any:
    """`StructuredOutputManager.grammar_bitmask`, which writes what is known in one call.

    Where the manager has not the parts that are known, or another backend, everything is as it was.
    """

    @functools.wraps(grammar_bitmask)
    def filled(
        self: Any, requests: Any, structured_output_request_ids: list[str], scheduled_spec_decode_tokens: Any
    ) -> Any:
        names = structured_output_request_ids
        if (
            type(self.backend) is not Backend
            or self.vllm_config.num_speculative_tokens
            or not names
            or any(not hasattr(self, part) for part in PARTS)
            or self._grammar_bitmask is None  # which vLLM makes
        ):
            return grammar_bitmask(self, requests, names, scheduled_spec_decode_tokens)
        words = self._grammar_bitmask.numpy()
        grammars = [requests[name].structured_output_request._grammar for name in names]
        if {*map(type, grammars)} != {Grammar}:  # of some it is only told that they are compiled
            grammars = [requests[name].structured_output_request.grammar for name in names]
        thinking: dict[int, Any] = {}
        if self.reasoner_cls is not None and not self.enable_in_reasoning:
            for row, name in enumerate(names):
                if not requests[name].structured_output_request.reasoning_ended:
                    thinking[row] = grammar_bitmask(self, requests, [name], scheduled_spec_decode_tokens)[0].copy()
        write_rows(words, grammars, thinking)
        for row, own in thinking.items():
            words[row] = own
        return words[: len(names)]

    return filled


def write_rows(words: Any, grammars: list[Grammar], others: Iterable[int] = ()) -> None:
    """Write a row for each grammar.

    Parameters
    ----------
    words : int32[n, n_words].
    others : rows that may stay as they are.
    """
    plain = [row for row, grammar in enumerate(grammars) if grammar.is_plain]
    if len(plain) > FEW_ROWS and words.shape[1] >= grammars[plain[0]].matcher._sequence.store.n_words:
        try:
            Batch([grammars[row].matcher for row in plain]).fill(words, plain)
        except LlmaskError:
            plain = []  # the row that cannot be filled is found below
    else:
        plain = []
    if len(plain) == len(grammars):
        return
    done = {*plain, *others}
    for row, grammar in enumerate(grammars):
        if row in done:
            continue
        if grammar.is_terminated():
            words[row] = -1
        else:
            grammar.fill_row(words, row)
