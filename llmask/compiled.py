"""A compiled grammar: rules over the lexemes of a store, with the rows and configurations found so far.

It is immutable to its users and shared by all sequences; what it derives lazily is a cache.

In: `Rules` of a frontend. Out: `matcher()`. Cost: about 20 us and 0.1 us an edge.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .errors import GrammarError, LimitExceeded, UnsatisfiableSchema
from .grammar.rules import GUARD_FIELDS, Rules
from .kernels import engine, grammar_slots
from .kernels.configurations import REFUSED
from .kernels.rule_tables import NOTHING_DERIVED
from .kernels.table import Table
from .store.store import Store

if TYPE_CHECKING:
    from .matcher import Matcher
    from .tokenizer import Tokenizer


class Generation:
    """Tables that a grammar's sequences share: rules, and the rows and configurations found so far.

    Identities of rows are never taken back one by one. When the tables have outgrown `room`, a grammar begins new ones,
    sequences move there by replaying their tokens, and the old tables die with the last sequence that stays behind.

    Attributes
    ----------
    table : what kernels read, see kernels/grammar_slots.py.
    start : the configuration before the first token.
    room : bytes at which sequences move on; at least twice what live sequences brought with them, so that moving never
        costs more than the work that filled the tables.
    """

    def __init__(self, store: Store, start: int, ignored: int, at_ends: int, data: npt.NDArray[np.int32]) -> None:
        limits = store.limits
        self.table = Table(
            grammar_slots.N_GRAMMAR_SLOTS,
            limits.max_grammar_bytes,
            grammar_slots.GRAMMAR_BLOCKS,
            grammar_slots.GRAMMAR_POOLS,
        )
        self.table.array[grammar_slots.MAX_ROWS] = limits.max_rows
        self.table.array[grammar_slots.MAX_ITEMS] = limits.max_items
        self.start = store.run(engine.LOAD_RULES, start, ignored, at_ends, data, self.table)
        if self.start == NOTHING_DERIVED:
            raise UnsatisfiableSchema(
                "no document fulfils the grammar",
                help="look for contradictory bounds, or for a part that requires itself without end",
            )
        assert self.start != REFUSED
        self._brought = self.table.bytes_used
        self._least_room = limits.renew_grammar_bytes

    @property
    def room(self) -> int:
        """See the class."""
        return max(self._least_room, 2 * self._brought)

    def bring(self, n_bytes: int) -> None:
        """Count what a sequence added while it moved here."""
        self._brought += n_bytes


class CompiledGrammar:
    """What `Compiler` returns; make one `Matcher` a sequence from it.

    Attributes
    ----------
    warnings : what the author of the grammar should know, such as formats taken as annotations.
    """

    def __init__(
        self, store: Store, rules: Rules, warnings: Sequence[str] = (), ledger: Callable[[], list[Any]] = list
    ) -> None:
        if not 0 <= rules.start < len(rules.names):
            raise GrammarError(
                f"the start rule is number {rules.start} of {len(rules.names)}", help="declare it with Rules.rule"
            )
        if rules.n_members > store.limits.max_tracked_names:
            raise LimitExceeded(
                f"a set of {rules.n_members} names is more than {store.limits.max_tracked_names} "
                "(limits.max_tracked_names)",
                help="track fewer names in one rule or raise the limit",
            )
        self.store = store
        self.warnings = list(warnings)
        self._make_ledger = ledger
        data = array("i", (len(rules.names), len(rules.state_rules), len(rules.edges) // 5))
        data.extend((len(rules.finals) // 2, len(rules.guards) // GUARD_FIELDS, len(rules.required)))
        columns = (rules.rule_starts, rules.state_rules, rules.edges, rules.finals, rules.guards, rules.required)
        for column in columns:
            data.extend(column)
        ignored = -1 if rules.ignored is None else rules.ignored
        self._rules = (rules.start, ignored, int(rules.ignored_at_ends), np.frombuffer(data, np.int32))
        self.generation = Generation(store, *self._rules)

    def generation_after(self, old: Generation) -> Generation:
        """The tables for sequences that leave `old`; made when there are none yet."""
        with self.store.lock:
            if self.generation is old:
                self.generation = Generation(self.store, *self._rules)
            return self.generation

    @property
    def table(self) -> Table:
        """The newest tables, for tests and tools."""
        return self.generation.table

    @cached_property
    def ledger(self) -> list[Any]:
        """For JSON schemas: (JSON pointer, keyword, what became of it) for every keyword."""
        return self._make_ledger()

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer that the grammar was compiled for."""
        return self.store.tokenizer

    @property
    def n_edges(self) -> int:
        """Edges of its rules: what loading and predicting take time for."""
        return int(self._rules[3][2])

    @property
    def bytes_used(self) -> int:
        """Memory of the grammar's own tables, in bytes."""
        return self.generation.table.bytes_used

    def matcher(self) -> Matcher:
        """A new matcher at the beginning of a document."""
        from .matcher import Matcher

        return Matcher(self)
