"""llmask in transformers: the processor of `model.generate`, and grammars for the requests of continuous batching.

    model.generate(**inputs, max_new_tokens=500, logits_processor=[GrammarLogitsProcessor(grammar, max_tokens=500)])

    manager = model.init_continuous_batching(generation_config)
    constrain(manager)
    manager.start()
    manager.add_request(ids, max_new_tokens=500, grammar=grammar)    # or without a grammar

Continuous batching puts requests together anew at every step, and shows a processor the last token of each row alone,
so the one of `model.generate` is left out there. It has processors of its own kind for what differs from request to
request, temperature for example, but no argument that takes one of somebody else. So `constrain` puts it where the
others are. That place is private: where it is not as in TESTED it is refused, as a mask that nobody applies is silent.

A request's tokens are all in its state, so the mask is a function of them (`samplers/prefixes.py`): requests may be
taken off, begun again and forked. What fails for one request ends it alone, and is in its output's `error`.

Masks are made after the model's step was begun: an accelerator computes meanwhile.

In: a manager, and grammars with requests. Out: scores in which refused tokens are minus infinity. Cost: as that of the
processor of `model.generate`.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from llmask.compiling.compiled_grammar import CompiledGrammar
from llmask.errors import LlmaskError
from llmask.mask.apply import allocate_bitmask, id_mask
from llmask.samplers.prefixes import AnyGrammar, PrefixTable, allows_any, beyond_logits, check_width
from llmask.samplers.transformers import GrammarLogitsProcessor, masked_scores

if TYPE_CHECKING:
    import numpy.typing as npt
    import torch

__all__ = ["ContinuousBatchingGrammars", "GrammarLogitsProcessor", "constrain"]

TESTED = "5.23.0 and 5.24.0"
_METHODS = {"fill_defaults", "prepare_tensor_args", "__call__"}
_NO_ROW = -1


class ContinuousBatchingGrammars:
    """The processor of continuous batching: a grammar a request, `manager.add_request(ids, grammar=...)`.

    Every document ends within its request's `max_new_tokens`, the end of sequence included, where the grammar has
    budgets.

    Parameters
    ----------
    n_logits : of the model.
    on_limit : see `CompiledGrammar.matcher`.
    """

    supported_kwargs: ClassVar[dict[str, type]] = {"grammar": CompiledGrammar}
    ignored_kwargs: ClassVar[tuple[str, ...]] = ()

    def __init__(self, n_logits: int, on_limit: str = "finish") -> None:
        self._n_logits = n_logits
        self._on_limit = on_limit
        self._tables: Mapping[AnyGrammar, PrefixTable] = {}
        self._states: list[Any] = []

    def fill_defaults(self, int32_tensor: torch.Tensor) -> None:
        """What rows have that are no request's."""
        int32_tensor.fill_(_NO_ROW)

    def prepare_tensor_args(self, requests_with_new_token: Sequence[Any]) -> torch.Tensor:
        """Note the requests of a step, in the order of its rows.

        Returns
        -------
        int32[n_requests], the row of the mask that belongs to each.
        """
        import torch

        self._states = [request.state for request in requests_with_new_token]
        return torch.arange(len(self._states), dtype=torch.int32)

    def _masks(self, n_rows: int) -> npt.NDArray[np.int32]:
        """The masks of the requests of this step; rows that are no request's allow everything."""
        grammars = [state.logit_processor_kwargs.get("grammar") for state in self._states]
        self._tables = {
            grammar: self._tables.get(grammar) or PrefixTable(grammar, on_limit=self._on_limit)
            for grammar in grammars
            if grammar is not None
        }
        width = max([self._n_logits, *(grammar.tokenizer.vocab_size for grammar in self._tables)])
        mask = allocate_bitmask(max(n_rows, len(self._states)), width)
        for row, (state, grammar) in enumerate(zip(self._states, grammars, strict=True)):
            if grammar is not None:
                self._fill(mask, row, state, grammar)
        return mask[:n_rows]

    def _fill(self, mask: npt.NDArray[np.int32], row: int, state: Any, grammar: AnyGrammar) -> None:
        """The mask of one request; where that fails it ends, as an exception would end all requests."""
        table = self._tables[grammar]
        table.capacity = max(table.capacity, 4 * len(self._states))
        try:
            check_width(grammar.tokenizer, self._n_logits)
            self._fill_after(mask, row, state, table)
            if not allows_any(mask[row], self._n_logits):
                raise beyond_logits(self._n_logits, f"token {len(state.generated_tokens)}")
        except LlmaskError as error:
            state.error = state.error or str(error)
            ends = {*grammar.tokenizer.eos_ids, *np.atleast_1d(state.eos_token_id or ()).tolist()}
            ends = {token for token in ends if 0 <= token < self._n_logits}
            # without any it goes on, with its error
            mask[row] = id_mask(ends, mask.shape[1]) if ends else -1

    def _fill_after(self, mask: npt.NDArray[np.int32], row: int, state: Any, table: PrefixTable) -> None:
        written = state.to_generation_output().generated_tokens  # also what a request has that was begun again
        matcher = table.after(np.array(written, np.int64).tobytes())
        if matcher is None:
            raise LlmaskError(
                "the grammar refuses the tokens of the request, which its masks did not allow",
                where=f"token {len(written)}",
                help="let no other processor write tokens",
            )
        budget = None
        if state.max_new_tokens is not None and table.grammar.takes_budget:
            budget = max(state.max_new_tokens - len(state.generated_tokens), 1)
        matcher.fill_bitmask(mask, row, budget)

    def __call__(self, scores: torch.Tensor, tensor_arg: torch.Tensor) -> torch.Tensor:
        """Refuse what the grammars refuse.

        Parameters
        ----------
        scores : float32[n_rows, n_logits], the first rows of requests, the others padding.
        tensor_arg : int32, what `prepare_tensor_args` returned, and padding.

        Returns
        -------
        New scores.
        """
        return masked_scores(scores, self._masks(scores.shape[0]), 0)


def constrain(manager: Any, on_limit: str = "finish") -> ContinuousBatchingGrammars:
    """Have a manager of continuous batching take a grammar with each request.

    Parameters
    ----------
    manager : what `model.init_continuous_batching(...)` returned, before its `start()`.
    on_limit : "finish": a request whose mask meets a limit of `llmask.Limits` takes the shortest known way to the end;
        "error": it ends at once, with the error in its output.

    Returns
    -------
    The processor, that of before where the manager has one. `manager.add_request(ids, grammar=...)`.

    Raises
    ------
    LlmaskError
        when transformers is of another form than the tested versions; when the manager runs already, or decides about
        tokens before it has seen the last ones (asynchronous batching) or by a graph that was recorded.
    """
    import transformers

    processors: Any = getattr(manager, "logit_processor", None)
    for processor in getattr(processors, "logits_processor", None) or ():
        if isinstance(processor, ContinuousBatchingGrammars):
            return processor
    _check_form(manager, processors)
    if getattr(manager, "batch_processor", None) is not None or manager.is_running():
        raise LlmaskError(
            "the manager has been started, and its tables have no room for grammars",
            help="call constrain(manager) between model.init_continuous_batching(...) and manager.start()",
        )
    config = manager.continuous_batching_config
    if config.use_async_batching or any(config.cuda_graph_booleans):
        raise LlmaskError(
            "continuous batching would go on before the last tokens are known, or by a recorded graph",
            help="give ContinuousBatchingConfig(use_async_batching=False, use_cuda_graph=False)",
        )
    from transformers.generation.continuous_batching import cb_logits_processors as home

    home.ContinuousBatchingLogitsProcessor.register(ContinuousBatchingGrammars)
    processor = ContinuousBatchingGrammars(manager.model.config.get_text_config().vocab_size, on_limit)
    # before temperature, top-k and top-p, which then choose among allowed tokens
    processors.logits_processor = transformers.LogitsProcessorList([processor, *processors.logits_processor])
    processors.tensors_required += 1
    processors.supported_keys.update(processor.supported_kwargs)
    processors.do_processing = True
    return processor


def _check_form(manager: Any, processors: Any) -> None:
    """Refuse a transformers whose private places are not those that are used here."""
    import transformers

    try:
        from transformers.generation.continuous_batching import cb_logits_processors as home
        from transformers.generation.continuous_batching.requests import FutureRequestState, RequestState

        kind = home.ContinuousBatchingLogitsProcessor
        arguments = list(inspect.signature(kind.__call__).parameters)
        fields = {"logit_processor_kwargs", "generated_tokens", "max_new_tokens", "eos_token_id", "error"}
        is_known = (
            isinstance(processors, home.ContinuousBatchingLogitsProcessorList)
            and kind.__abstractmethods__ == _METHODS
            and arguments == ["self", "scores", "tensor_arg"]
            and {"logits_processor", "tensors_required", "supported_keys", "do_processing"} <= vars(processors).keys()
            and hasattr(manager.continuous_batching_config, "cuda_graph_booleans")
            and "state" in FutureRequestState.__slots__
            and hasattr(RequestState, "to_generation_output")
            and fields <= RequestState.__dataclass_fields__.keys()
        )
    except (ImportError, AttributeError):
        is_known = False
    if not is_known:
        raise LlmaskError(
            f"continuous batching of transformers {transformers.__version__} takes no grammars in a way that is known, "
            f"or {type(manager).__name__} is no manager of it",
            help=f"it is tested with transformers {TESTED}; model.generate works with any",
        )
