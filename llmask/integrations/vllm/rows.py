"""The rows of a step in one call: vLLM's manager asks the grammar of each request for its own, through Python.

Masks that are known, of grammars whose budget is far, are written by compiled code for all requests together. The rest
is as in vLLM: those that have ended, or think, or build a mask, one by one; and all of them with speculative decoding,
where each draft has a row.

In: vLLM's manager and its requests. Out: rows of its bitmask. Cost: 0.2 us a row, besides the copy of each mask.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from ...errors import LlmaskError
from ...matching.batch import Batch
from .backend import Backend, Grammar

FORM = ("self", "requests", "structured_output_request_ids", "scheduled_spec_decode_tokens")
FEW_ROWS = 4  # that are filled sooner one by one
PARTS = ("_grammar_bitmask", "reasoner_cls", "enable_in_reasoning")  # of a manager


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
