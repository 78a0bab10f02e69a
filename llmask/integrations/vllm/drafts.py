"""A source of drafts for vLLM's speculative decoding: what the grammar of a request forces next.

    speculative_config={"method": "custom_class", "model": "llmask.integrations.vllm.ForcedTokens",
                        "num_speculative_tokens": 8}
    LLMASK_FORCED_TOKENS=1    before n-grams, EAGLE, MTP, a draft model: the grammar where it forces, they elsewhere

vLLM makes one in each worker and hands it token ids by row, but neither the request of a row nor its grammar, which
lives with the scheduler, maybe in another process. So the runner's method that calls `propose` is wrapped: it shows the
runner first, which has the requests in the order of its rows, with their sampling parameters. From these the grammar is
compiled here, too, and follows the tokens of the text. (The wrapper is made with the first `ForcedTokens`, or for that
variable; a vLLM that has neither is not changed.)

What is forced is computed exactly where it is met first. That takes some ms where free text follows, as every token
that could begin there is tried; so it is remembered by the grammar, the forced bytes and the two tokens before, and
found again in the next text. Nothing is forced after tokens that the tokenizer would not have written: that is not
remembered, and a text that has it again and again is left alone.

Drafts change no text: the scheduler leaves out what a grammar refuses, and the model verifies the rest under the masks.
So where this module cannot follow, because a request has no grammar or its thought has not ended, it proposes nothing.
Where a thought ends is asked of vLLM's reasoning parser, made without the arguments of chat templates, which do not
come as far as a worker.

In: token ids of a batch. Out: drafts, tokens of what must come. Cost: 10 us a row where nothing is forced; else 2 us a
forced byte, and 0.3 to 14 ms where these bytes are met first.
"""

from __future__ import annotations

import functools
import logging
import os
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ...compiling.compiler import Compiler
from ...errors import LlmaskError
from ...forks import cached_property
from .requests import compile_outputs, compiler_of_worker, matcher_of

Remembered = dict[tuple[bytes, tuple[int, ...]], list[int]]  # forced tokens by forced bytes and the tokens before them
MOST_REMEMBERED = 512  # of a grammar
MOST_IN_VAIN = 8  # searches in a text whose tokens are not the tokenizer's
MARK = "shows_rows"  # on a method of the runner that is wrapped
VARIABLE = "LLMASK_FORCED_TOKENS"

logger = logging.getLogger(__name__)


class ForcedTokens:
    """Proposes the tokens that the grammars of requests force, as the tokenizer writes them.

    Parameters
    ----------
    vllm_config : the engine's.
    """

    def __init__(self, vllm_config: Any) -> None:
        self.vllm_config = vllm_config
        self.max_drafts: int = vllm_config.speculative_config.num_speculative_tokens
        self._runner: Any = None
        self._followed: dict[str, _Text] = {}
        self._remembered: WeakKeyDictionary[Any, Remembered] = WeakKeyDictionary()  # by grammar
        _wrap_runner()

    def load_model(self, *_: Any, **__: Any) -> None:
        """Nothing: there is no model."""

    def show(self, runner: Any) -> None:
        """Note the runner whose rows the next call is about.

        Parameters
        ----------
        runner : it has `input_batch.req_ids`, the request of each row, and `requests`, their states by id.
        """
        self._runner = runner

    def propose(
        self, sampled_token_ids: list[list[int]], num_tokens_no_spec: Any, token_ids_cpu: Any, slot_mappings: Any = None
    ) -> list[list[int]]:
        """Drafts for each row.

        Parameters
        ----------
        sampled_token_ids : what each row was given in this step; of rows whose prompt is not read to its end nothing.
        num_tokens_no_spec : int[n], how long each row is, these tokens included.
        token_ids_cpu : int[n, length], the tokens.
        slot_mappings : unused.

        Returns
        -------
        At most `num_speculative_tokens` ids for each row; none where nothing is forced.
        """
        if self._runner is None:
            return [[] for _ in sampled_token_ids]
        self._forget()
        return [
            self._drafts_of(row, token_ids_cpu[row, : int(num_tokens_no_spec[row])]) if sampled else []
            for row, sampled in enumerate(sampled_token_ids)
        ]

    def put_before(self, drafts: Any, sampled_token_ids: Any) -> Any:
        """Drafts of another proposer, whose rows begin with what the grammar forces, if anything.

        Parameters
        ----------
        drafts : list of token ids for each row, or a tensor int[n, n_drafts], which is changed in place.
        sampled_token_ids : as for `propose`, or a tensor int[n, n_sampled] of what is not in the runner's rows yet, in
            which negative ids stand for none: reading it waits for the device.
        """
        runner, batch = self._runner, self._runner.input_batch
        self._forget()
        is_list = isinstance(sampled_token_ids, list)
        sampled = sampled_token_ids if is_list else sampled_token_ids.tolist()
        for row in range(min(len(sampled), len(drafts))):
            text = self._text_of(row)
            is_read = bool(sampled[row]) if is_list else not runner.discard_request_mask.np[row]
            if text is None or not text.is_followed or not is_read:  # of a prompt there is more to read
                continue
            if is_list:
                tokens = batch.token_ids_cpu[row, : int(batch.num_tokens_no_spec[row])]
            else:
                tokens = text.with_more([token for token in sampled[row] if token >= 0])
            forced = self._drafts_of(row, tokens)
            if not isinstance(drafts, list):
                forced = forced[: drafts.shape[1]]
                drafts[row, : len(forced)] = drafts.new_tensor(forced)
            elif drafts[row][: len(forced)] != forced:
                drafts[row] = forced
        return drafts

    def _forget(self) -> None:
        """Forget requests that are gone."""
        requests = self._runner.requests
        for name in [name for name, text in self._followed.items() if requests.get(name) is not text.state]:
            del self._followed[name]

    def _text_of(self, row: int) -> _Text | None:
        """The text of the request in a row; None: the runner knows no such request."""
        name = self._runner.input_batch.req_ids[row]
        state = self._runner.requests.get(name)
        if state is None:
            return None
        if name not in self._followed:
            self._followed[name] = self._begin(state)
        return self._followed[name]

    def _drafts_of(self, row: int, tokens: Any) -> list[int]:
        """What is forced after the tokens of a row, as many as there is room for."""
        most = min(self.max_drafts, self.vllm_config.model_config.max_model_len - len(tokens))
        text = self._text_of(row) if most > 0 else None
        return [] if text is None else text.forced(tokens, most)

    def _begin(self, state: Any) -> _Text:
        """Follow the text of a request, if it has a grammar of llmask's."""
        parameters = state.sampling_params
        outputs = None if parameters is None else parameters.structured_outputs
        if outputs is None or outputs._backend != "llmask" or state.prompt_token_ids is None:
            return _Text(state)
        try:
            grammar = compile_outputs(self.compiler, outputs, self.vllm_config.structured_outputs_config)
            matcher = matcher_of(grammar, parameters.all_stop_token_ids)
        except LlmaskError as error:
            logger.warning("nothing is drafted for a request: %s", error)
            return _Text(state)
        remembered = self._remembered.setdefault(grammar, {})
        return _Text(state, matcher, self._thought_of(state.prompt_token_ids), remembered)

    def _thought_of(self, prompt: list[int]) -> Any:
        """What tells where the thought after a prompt ends; None: no thought, or grammars hold in it, too."""
        config = self.vllm_config.structured_outputs_config
        if not config.reasoning_parser or config.enable_in_reasoning:
            return None
        from vllm.reasoning import ReasoningParserManager
        from vllm.tokenizers import cached_tokenizer_from_config

        tokenizer = cached_tokenizer_from_config(model_config=self.vllm_config.model_config)
        parser = ReasoningParserManager.get_reasoning_parser(config.reasoning_parser)(tokenizer=tokenizer)
        return None if parser.is_reasoning_end(prompt) else parser

    @cached_property
    def compiler(self) -> Compiler:
        """The compiler of this worker."""
        return compiler_of_worker(self.vllm_config)


class _Text:
    """What a request has written, followed by its grammar.

    Parameters
    ----------
    state : the runner's, of the request.
    matcher : of its grammar; None: nothing is drafted.
    thought : the reasoning parser, while a thought is being written that no grammar is for.
    remembered : what was forced before in texts of this grammar.
    """

    def __init__(
        self, state: Any, matcher: Any = None, thought: Any = None, remembered: Remembered | None = None
    ) -> None:
        self.state = state
        self._matcher = matcher
        self._thought = thought
        self._remembered = {} if remembered is None else remembered
        self._n_read: int = state.num_prompt_tokens
        self._n_in_vain = 0
        self._tokens: list[int] = []

    @property
    def is_followed(self) -> bool:
        """Whether anything may be drafted."""
        return self._matcher is not None

    def with_more(self, tokens: list[int]) -> Any:
        """All tokens of prompt and text; the runner gives only the new ones here."""
        known = self._tokens or [*self.state.prompt_token_ids, *self.state.output_token_ids]
        self._tokens = [*known, *tokens]
        return np.array(self._tokens, np.int64)

    def forced(self, tokens: Any, most: int) -> list[int]:
        """What must come after these tokens of prompt and text, `most` tokens at most."""
        if self._matcher is None:
            return []
        try:
            if self._follow(tokens):
                return self._what_comes(tuple(tokens[-2:].tolist()), most)
        except LlmaskError as error:
            logger.warning("nothing more is drafted for a request: %s", error)
            self._matcher = None
        return []

    def _follow(self, tokens: Any) -> bool:
        """Take what is new; False: nothing can be said of what comes."""
        if self._n_read > len(tokens):  # not the text that was followed
            self._matcher = None
            return False
        for token in tokens[self._n_read :].tolist():
            self._n_read += 1
            if self._thought is not None:
                if self._thought.is_reasoning_end_streaming(tokens[: self._n_read].tolist(), [token]):
                    self._thought = None
            elif not self._matcher.accept(token):
                self._matcher = None
                return False
        return self._thought is None and not self._matcher.is_terminated()

    def _what_comes(self, last: tuple[int, ...], most: int) -> list[int]:
        """Forced tokens; the end of sequence, too, where nothing else may come after them."""
        drafts = self._forced_after(last)[:most]
        if self._matcher is not None and len(drafts) < most:
            after = self._matcher.fork()
            after._sequence.terminates_at_end = True
            if after.try_accept_tokens(drafts) == len(drafts) and after.is_terminated():
                drafts = [*drafts, self._end]
        return drafts

    def _forced_after(self, last: tuple[int, ...]) -> list[int]:
        """The forced tokens after the last ones of the text."""
        data: bytes = self._matcher.forced_bytes()
        found: list[int]
        if not data:  # a token that the grammar names, or nothing
            found = self._matcher.forced_tokens()
            return found
        known = self._remembered.get((data, last))
        if known is not None:
            return known
        found = self._matcher.forced_tokens()
        if not found and not self._matcher.grammar.tokenizer.is_canonical(self._matcher.tokens):
            self._n_in_vain += 1
            if self._n_in_vain == MOST_IN_VAIN:
                self._matcher = None
            return []
        if len(self._remembered) >= MOST_REMEMBERED:
            self._remembered.clear()
        self._remembered[data, last] = found
        return found

    @property
    def _end(self) -> int:
        end: int = self._matcher.grammar.tokenizer.eos_ids[0]
        return end


def stand_in_front() -> None:
    """Have forced tokens stand before the drafts of this process, where its environment asks for it."""
    if os.environ.get(VARIABLE, "0") not in ("", "0"):
        _wrap_runner()


def _wrap_runner() -> None:
    """Let vLLM's runner show itself before it asks for drafts."""
    from vllm.v1.worker.gpu_model_runner import GPUModelRunner

    runner: Any = GPUModelRunner
    if not hasattr(runner.propose_draft_token_ids, MARK):
        runner.propose_draft_token_ids = showing_rows(runner.propose_draft_token_ids)


def showing_rows(propose: Any) -> Any:
    """A runner's method that asks its drafter for drafts: it shows a `ForcedTokens` the rows, or puts one before it."""
    fronts: WeakKeyDictionary[Any, ForcedTokens] = WeakKeyDictionary()  # by runner

    @functools.wraps(propose)
    def shown(self: Any, scheduler_output: Any, sampled_token_ids: Any, *arguments: Any, **options: Any) -> Any:
        if isinstance(self.drafter, ForcedTokens):
            self.drafter.show(self)
            return propose(self, scheduler_output, sampled_token_ids, *arguments, **options)
        drafts = propose(self, scheduler_output, sampled_token_ids, *arguments, **options)
        backend = self.vllm_config.structured_outputs_config.backend
        if drafts is None or backend != "llmask" or getattr(self, "_draft_probs", None) is not None:
            return drafts  # their probabilities would belong to other tokens
        if self not in fronts:
            fronts[self] = ForcedTokens(self.vllm_config)
            fronts[self].show(self)
        return fronts[self].put_before(drafts, sampled_token_ids)

    setattr(shown, MARK, True)
    return shown
