"""What compilers and grammars count of what they do; `Compiler.statistics` and `CompiledGrammar.statistics` say what.

In: compilers, grammars. Out: dicts of whole numbers. Cost: nothing while they work; the bytes of a full cache 1 ms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..kernels.tables import grammar_layout
from ..kernels.tables.interning import COUNT

if TYPE_CHECKING:
    from .compiled import CompiledGrammar


class Compiled:
    """What a compiler has compiled; used under its lock.

    Attributes
    ----------
    n, n_refused : grammars, and sources that were refused.
    work : units that both took.
    n_renewals : stores that were begun after the first.
    """

    def __init__(self) -> None:
        self.n = 0
        self.n_refused = 0
        self.work = 0
        self.n_renewals = 0

    def count(self, work: int, is_compiled: bool) -> None:
        """Count one more."""
        self.n += is_compiled
        self.n_refused += not is_compiled
        self.work += work

    def statistics(self) -> dict[str, int]:
        """See `Compiler.statistics`."""
        return {
            "compiled": self.n,
            "refused": self.n_refused,
            "work": self.work,
            "store_renewals": self.n_renewals,
        }


def grammar_statistics(grammar: CompiledGrammar) -> dict[str, int]:
    """See `CompiledGrammar.statistics`."""
    table = grammar.generation.table
    slots = table.slots
    return {
        "rows": slots[grammar_layout.KERNELS + COUNT],
        "configurations": slots[grammar_layout.N_CONFIGURATIONS],
        "own_masks": slots[grammar_layout.N_OWN_MASKS],
        "bytes": table.bytes_used,
        "renewals": grammar.n_renewals,
        "cut": grammar.n_cut,
        "finished": grammar.n_finished,
        "stricter": grammar.count_stricter(),
    }
