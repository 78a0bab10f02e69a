"""Names of earlier releases, which go on working for one more (docs/versions.md).

They are no part of `llmask.__all__`; `llmask.NAME` finds them here. Who uses one with a successor in `SUCCESSORS` is
warned. The others are a contract with those who measure and integrate, and warn nobody.

In: an old call. Out: what the new one returns.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from .matching.batch import Batch
from .matching.matcher import Matcher
from .matching.reasoning import think_first

ENDS = "0.3.0, not before 2027-03-01"  # the release without these names
SUCCESSORS = {
    "ReasoningMatcher": "llmask.Reasoning(grammar, end, budget).matcher()",
    "read_ahead": "llmask.Batch(matchers).read_ahead()",
}


def warn(name: str) -> None:
    """Tell who uses an old name what has taken its place; called by what has the old name."""
    message = f"{name} goes with llmask {ENDS}; use {SUCCESSORS[name]}"
    warnings.warn(message, DeprecationWarning, stacklevel=3)


def fill_bitmasks(
    matchers: Iterable[Matcher | None],
    bitmask: Any,
    rows: Sequence[int] | None = None,
    threads: int | None = None,
    budgets: Sequence[int | None] | None = None,
) -> list[bool]:
    """As `Batch.fill`."""
    return Batch(matchers).fill(bitmask, rows, threads, budgets)


def accept_batch(matchers: Iterable[Matcher | None], tokens: Any) -> list[bool]:
    """As `Batch.accept`."""
    return Batch(matchers).accept(tokens)


def rollback_batch(matchers: Iterable[Matcher | None], counts: Any) -> None:
    """As `Batch.rollback`."""
    Batch(matchers).rollback(counts)


def read_ahead(matchers: Iterable[Matcher | None]) -> int:
    """As `Batch.read_ahead`."""
    warn("read_ahead")
    return Batch(matchers).read_ahead()


def ReasoningMatcher(  # noqa: N802 - it was a class
    matcher: Matcher, end: Iterable[int], budget: int | None = None, is_thinking: bool = True
) -> Matcher:
    """A matcher that thinks first, as `Reasoning.matcher` makes it."""
    warn("ReasoningMatcher")
    return think_first(matcher, end, budget, is_thinking)
