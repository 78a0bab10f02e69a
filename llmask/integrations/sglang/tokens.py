"""The number of tokens of a request of SGLang, as a budget of its grammar.

SGLang hands a backend the key of a grammar and no request. Its manager shows the grammar of each request its reasoning
settings before the first token, and does so for those that are remembered, too; there the number of tokens is known.

In: requests of SGLang. Out: budgets of their grammars, or requests that are refused. Cost: that of a least budget.
"""

from __future__ import annotations

import functools
import weakref
from typing import Any

from ...errors import LlmaskError
from ..room import check_least_length, check_room, takes_budget, wants_budget
from .grammar import RequestGrammar


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
