"""A compiled grammar in a notebook: its warnings, its ledger and, folded, its rules.

In: what the grammar says of itself. Out: HTML. Cost: that of the texts, 1 ms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..tokenizer.notebook import escaped, folded, heading, page, table

MOST_STATES = 2000  # of rules that are written out


def grammar_view(
    line: str, warnings: Sequence[str], ledger: Sequence[Sequence[Any]], n_states: int, rules: Callable[[], object]
) -> str:
    """A grammar.

    Parameters
    ----------
    line : what it is.
    warnings, ledger : as `CompiledGrammar` has them.
    n_states : how many states its rules have.
    rules : makes what `str` writes the rules of.
    """
    parts = [heading(line)]
    if warnings:
        parts.append(table(("warnings",), [(text,) for text in warnings]))
    if ledger:
        parts.append(table(("where", "keyword", "what became of it"), [[str(cell) for cell in row] for row in ledger]))
    if n_states > MOST_STATES:
        parts.append(f"<div>{escaped(f'rules of {n_states:,} states; print(grammar.rules()) writes them')}</div>")
    else:
        parts.append(folded("rules", str(rules())))
    return page(parts)
