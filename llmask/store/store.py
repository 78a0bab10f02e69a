"""The store: everything that all grammars of one tokenizer share.

    store    trie, slices, regex nodes, lexer states, their masks and exits       one lock for all operations that write
    grammar  rules, rows, configurations and their masks (generation.py)          written under the same lock

One lock and not two: every operation that writes a grammar's table may also write the store's, and readers take none.
A step that has little to build does so without it, see kernels/tables/turns.py.

In: a tokenizer and limits. Out: regex nodes for frontends; the table that kernels read. Memory: about 12 MB for 128,000
tokens at the start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import forks
from ..errors import LimitExceeded
from ..kernels import engine
from ..kernels.machine.constants import MAX_TOKEN_BYTES
from ..kernels.machine.jit import entry_point
from ..kernels.table import Table
from ..kernels.tables import memory, store_layout, turns
from ..kernels.tables.operations import Operation
from ..kernels.tables.store_layout import STORE
from ..limits import Limits
from ..regex.nodes import RegexNodes
from ..work import active, work_exceeded
from .lock import Waits, new_store_lock
from .slices import SLICES, slices_of

if TYPE_CHECKING:
    from ..tokenizer.tokenizer import Tokenizer

CALL_WORK = 1  # units for the call itself
QUICK_WORK = 1000  # units that a step takes without the lock, and no meter counts: how long others wait for it
LEAST_PART = 512  # nodes: a part takes up to 16 KB, and walking this number 10 us
REMEMBERED_BYTES = 450  # an entry of the memo of nodes, whose key holds texts and numbers of schemas; 300 to 650
# where they are as high as usual, QUICK_WORK before a call makes no difference
BOUNDS_OF_A_CALL = ("max_step_work", "max_regex_nodes", "max_lexer_states", "max_nodes_walked", "max_emptiness_steps")
_NO_DATA = np.zeros(0, np.int32)
_LIMITS = {  # what a call may meet: the limit's name, what needs more, of what
    store_layout.LIMIT_NODES: ("max_regex_nodes", "one call needs", "new regex nodes"),
    store_layout.LIMIT_STATES: ("max_lexer_states", "one call needs", "new lexer states"),
    store_layout.LIMIT_WALKED: ("max_nodes_walked", "one mask needs", "trie nodes visited"),
    store_layout.LIMIT_EMPTINESS: ("max_emptiness_steps", "deciding whether a pattern is empty needs", "derivatives"),
    store_layout.LIMIT_ROWS: ("max_rows", "this grammar needs", "rows"),
    store_layout.LIMIT_ITEMS: ("max_items", "one row of the parser needs", "items"),
    store_layout.LIMIT_UNIQUE: ("max_unique_values", "an array or object needs", "values that differ"),
}


class Builder:
    """Runs the operations that write a store's table, and the tables of grammars over it, one at a time.

    It is no part of `Store`, because the store's regex nodes need it too: a cycle would keep a dead store's memory
    until the next garbage collection.
    """

    def __init__(self, table: Table, limits: Limits, waits: Waits) -> None:
        self.table = table
        self.address = table.address
        self.limits = limits
        self.lock = forks.new_lock(forks.STORE, lambda: new_store_lock(table, waits))
        self._build = entry_point(engine.build)
        self._slots = table.slots
        self._step_ticks = limits.max_step_work << memory.TICK_BITS
        self._is_metered = True  # the last call had a bound of its own
        usual = Limits()
        if all(getattr(limits, name) >= getattr(usual, name) for name in BOUNDS_OF_A_CALL):
            table.slots[STORE.quick_work] = QUICK_WORK << memory.TICK_BITS

    def run(
        self, operation: int, a: int = 0, b: int = 0, c: int = 0, data: Any = _NO_DATA, grammar: Table | None = None
    ) -> int:
        """Run one writing operation of `kernels.engine.build` under the lock; what it returned, or VARIANT_NEEDED.

        Raises
        ------
        LimitExceeded : a budget was spent; what had been built before stays valid.
        """
        meter = active.meter
        slots, address = self._slots, self.address
        error = None
        with self.lock:
            if meter is not None:
                self._is_metered = True  # before it is, whatever interrupts
                slots[STORE.work_per_call] = meter.left << memory.TICK_BITS
            elif self._is_metered:
                slots[STORE.work_per_call] = self._step_ticks
                self._is_metered = False
            try:
                result: int = self._build(
                    operation, address, address if grammar is None else grammar.address, a, b, c, data
                )
            except BaseException:  # there is no memory for a block
                engine.change_writer(address, turns.LOCKED, 0)
                raise
            if meter is not None:
                meter.left -= CALL_WORK + (slots[STORE.spent] >> memory.TICK_BITS)
            if result == engine.LIMIT_REACHED:
                code = slots[STORE.reached]
                if code == store_layout.NEEDS_VARIANT:
                    return engine.VARIANT_NEEDED
                error = self._limit_error(code)
        if self.lock.turn.locked():  # who waits has to wake up, and to wait for the interpreter then
            self.lock.let_in()
        if error is not None:
            raise error
        if meter is not None and meter.left < 0:
            raise work_exceeded(meter.limit, meter.most)
        return result

    def n_nodes(self) -> int:
        """Regex nodes in the store."""
        return self.table.slots[STORE.n_nodes]

    def _limit_error(self, code: int) -> LimitExceeded:
        if code == memory.LIMIT_WORK:
            meter = active.meter
            if meter is not None:
                return work_exceeded(meter.limit, meter.most)
            return work_exceeded("max_step_work", self.limits.max_step_work)
        of_bytes = (
            ("max_store_bytes", "the tables shared by all grammars need", "bytes")
            if self.table.bytes_used > self.limits.max_store_bytes
            else ("max_grammar_bytes", "the tables of this grammar need", "bytes")
        )
        name, what, unit = of_bytes if code == memory.LIMIT_BYTES else _LIMITS[code]
        return LimitExceeded(
            f"{what} more than {getattr(self.limits, name)} {unit} (limits.{name})",
            help="simplify the grammar (shorter repetitions, fewer alternatives) or raise the limit",
        )


class Store:
    """Shared tables of one tokenizer; safe to use from several threads.

    Attributes
    ----------
    table : the table that kernels read, see kernels/tables/store_layout.py.
    nodes : regex nodes, what frontends build lexemes from.
    lock : held by every operation that writes this store or a grammar over it.
    waits : how threads waited for it.
    slices : families of tokens besides the usual ones, as `Compiler` takes them.
    slice_arrays : see slices.py; the table holds their addresses.
    run : runs such an operation, see `Builder.run`.
    canonical_table : what llmask/canonical knows of the tokenizer; None: masks are grammatical.
    """

    def __init__(
        self, tokenizer: Tokenizer, limits: Limits, slices: tuple[str, ...] = (), waits: Waits | None = None
    ) -> None:
        self.canonical_table: Table | None = None
        self.tokenizer = tokenizer
        self.limits = limits
        self.slices = slices
        self.n_words = (tokenizer.vocab_size + 31) // 32
        self.table = Table(STORE.n_slots, limits.max_store_bytes, STORE.blocks, store_layout.STORE_POOLS)
        slots = self.table.slots
        slots[STORE.nodes_per_call] = limits.max_regex_nodes
        slots[STORE.states_per_call] = limits.max_lexer_states
        slots[STORE.max_walked] = limits.max_nodes_walked
        slots[STORE.least_part] = LEAST_PART
        slots[STORE.max_emptiness] = limits.max_emptiness_steps
        self._put_vocabulary()
        self.waits = Waits(limits.max_step_work) if waits is None else waits
        builder = Builder(self.table, limits, self.waits)
        self.lock = builder.lock
        self.run = builder.run
        self.run(Operation.INIT_STORE)
        self.nodes = RegexNodes(builder.run, builder.n_nodes, tokenizer, self.table)
        self.slice_arrays, table_of_slices = slices_of(tokenizer, self.nodes, self.run, slices)
        self.table.put(STORE.slices, table_of_slices)
        self.notes: dict[str, Any] = {}  # of stages above, by name
        self.kept_bytes = 0  # of what the notes hold
        self._bytes_of_slices = sum(
            array.nbytes for part in self.slice_arrays for array in part if isinstance(array, np.ndarray)
        )
        slots[STORE.n_slices] = len(table_of_slices)
        slots[STORE.n_wide_slices] = len(SLICES)
        tokenizer._parts.stores.add(self)

    def _put_vocabulary(self) -> None:
        tokenizer, table = self.tokenizer, self.table
        trie = tokenizer._parts.trie
        table.put(STORE.trie, trie.node)
        table.put(STORE.child_first, trie.child_first)
        table.put(STORE.child_byte, trie.child_byte)
        table.put(STORE.child_node, trie.child_node)
        table.put(STORE.token_offsets, tokenizer._parts.token_offsets)
        table.put(STORE.token_data, tokenizer._parts.token_data)
        table.put(STORE.eos, np.array(sorted(tokenizer.eos_ids), np.int32))
        table.put(STORE.specials, np.array(tokenizer.special_ids, np.int32))
        table.put(STORE.walk_stack, np.zeros(MAX_TOKEN_BYTES + 2, np.int64))
        table.put(
            STORE.narrow_frames, np.zeros((MAX_TOKEN_BYTES + 2) * STORE.record("narrow_frames").n_fields, np.int64)
        )
        if len(trie.duplicates):
            following = np.zeros(tokenizer.vocab_size, np.int32)
            last: dict[int, int] = {}
            for token, other in trie.duplicates.tolist():
                following[last.get(token, token)] = other
                last[token] = other
            table.put(STORE.duplicates, following)
            table.put(STORE.duplicate_pairs, trie.duplicates)
        table.slots[STORE.n_duplicates] = len(trie.duplicates)
        table.slots[STORE.n_trie] = len(trie.node)
        table.slots[STORE.longest] = np.diff(tokenizer._parts.token_offsets).max(initial=0)
        table.slots[STORE.n_vocab] = tokenizer.vocab_size
        table.slots[STORE.n_words] = self.n_words
        table.slots[STORE.n_eos] = len(tokenizer.eos_ids)
        table.slots[STORE.n_specials] = len(tokenizer.special_ids)

    @property
    def is_canonical(self) -> bool:
        """Whether masks allow only tokens that the tokenizer itself would write."""
        return self.canonical_table is not None

    def statistics(self) -> dict[str, int]:
        """See `Compiler.statistics`."""
        return {"store_masks": self.table.slots[STORE.n_masks], "store_bytes": self.bytes_used}

    @property
    def bytes_used(self) -> int:
        """Memory of the shared tables, in bytes, with slices, what frontends remember of nodes, and notes."""
        of_canonical = 0 if self.canonical_table is None else self.canonical_table.bytes_used
        remembered = REMEMBERED_BYTES * self.nodes.n_remembered
        return self.table.bytes_used + of_canonical + remembered + self._bytes_of_slices + self.kept_bytes
