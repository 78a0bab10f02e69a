"""What a compiler counts of what it does; `Compiler.statistics` says what.

In: work of grammars. Out: a dict of whole numbers. Cost: nothing worth naming.
"""

from __future__ import annotations


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
