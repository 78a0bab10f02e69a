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

from .errors import GrammarError, UnsatisfiableSchema
from .grammar.rules import Rules
from .kernels import engine, grammar_slots
from .kernels.configurations import REFUSED
from .kernels.rule_tables import NOTHING_DERIVED
from .kernels.table import Table
from .store.store import Store

if TYPE_CHECKING:
    from .matcher import Matcher
    from .tokenizer import Tokenizer


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
        self.store = store
        self.warnings = list(warnings)
        self._make_ledger = ledger
        self.table = Table(
            grammar_slots.N_GRAMMAR_SLOTS,
            store.limits.max_grammar_bytes,
            grammar_slots.GRAMMAR_BLOCKS,
            grammar_slots.GRAMMAR_POOLS,
        )
        self.table.array[grammar_slots.MAX_ROWS] = store.limits.max_rows
        self.table.array[grammar_slots.MAX_ITEMS] = store.limits.max_items
        data = array("i", (len(rules.names), len(rules.state_rules), len(rules.edges) // 5))
        data.extend((len(rules.finals) // 2, len(rules.guards) // 4))
        for column in (rules.rule_starts, rules.state_rules, rules.edges, rules.finals, rules.guards):
            data.extend(column)
        start = store.run(
            engine.LOAD_RULES,
            rules.start,
            -1 if rules.ignored is None else rules.ignored,
            int(rules.ignored_at_ends),
            np.frombuffer(data, np.int32),
            self.table,
        )
        if start == NOTHING_DERIVED:
            raise UnsatisfiableSchema(
                "no document fulfils the grammar",
                help="look for contradictory bounds, or for a part that requires itself without end",
            )
        assert start != REFUSED
        self.start_configuration = start

    @cached_property
    def ledger(self) -> list[Any]:
        """For JSON schemas: (JSON pointer, keyword, what became of it) for every keyword."""
        return self._make_ledger()

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer that the grammar was compiled for."""
        return self.store.tokenizer

    @property
    def bytes_used(self) -> int:
        """Memory of the grammar's own tables, in bytes."""
        return self.table.bytes_used

    def matcher(self) -> Matcher:
        """A new matcher at the beginning of a document."""
        from .matcher import Matcher

        return Matcher(self)
