"""The tables that all sequences of a grammar share, and how rules come into them while sequences are read.

Where values have to differ (`Rules.call_new`), rules are written while sequences are read: a kernel that misses one
stops, the frontend's function writes it, it is loaded after the others, and the kernel runs again, all under the
store's lock.

In: a store, rules. Out: what operations return. Cost: loading 0.1 us an edge.
"""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import LimitExceeded, UnsatisfiableSchema
from ..grammar.kinds import EDGE_FIELDS, GUARD_FIELDS, PRIORITY_FIELDS, RuleId
from ..grammar.rules import MakeLate, MakeVariant, Rules
from ..kernels import engine
from ..kernels.mask.configurations import REFUSED
from ..kernels.mask.open_rules import T_BEFORE, T_BYTE, T_WITH, TRACE_FIELDS
from ..kernels.parser.load_rules import NOTHING_DERIVED
from ..kernels.table import Table
from ..kernels.tables.grammar_layout import GRAMMAR, GRAMMAR_POOLS
from ..kernels.tables.memory import LIMIT_WORK
from ..kernels.tables.operations import Operation
from ..kernels.tables.store_layout import LIMIT_EMPTINESS, LIMIT_NODES, LIMIT_STATES, STORE
from ..kernels.values import json_values
from ..kernels.values.called_rules import CHUNK_BITS, FIRST_CHUNK, LATE, NO_TEXTS
from ..kernels.values.parse_states import MOST_ROWS
from ..regex.notation import list_in
from ..work import active, metered
from .store import Store

MOST_MADE = 5000  # rules that one step may have written
PART_BYTES, LEAST_PART = 1024, 128  # of a text, that are read as one step
OF_ONE_CALL = (LIMIT_WORK, LIMIT_NODES, LIMIT_STATES, LIMIT_EMPTINESS)  # limits that a shorter part may not meet
FEW_ITEMS = 4  # items that are taken one by one instead of as a Leo item, see kernels/parser/leo_items.py
MOST_LEO_ITEMS = 2  # in one row
_NO_DATA = np.zeros(0, np.int32)
_FIELDS = (1, 1, EDGE_FIELDS, 2, GUARD_FIELDS, 1, PRIORITY_FIELDS, 1)  # numbers that an entry of each column takes
_PRIORITIES = 6


class RuleSource:
    """Rules in the form in which they are loaded (kernels/parser/load_rules.py): at first, and what was written since.

    Parameters
    ----------
    rules : the grammar.
    make_variant, make_late : who adds them.
    """

    def __init__(self, rules: Rules, make_variant: MakeVariant | None, make_late: MakeLate | None = None) -> None:
        self.make_variant = make_variant
        self.make_late = make_late
        self.is_growing = make_variant is not None or make_late is not None
        ignored = -1 if rules.ignored is None else rules.ignored
        self._head = (
            *(rules.start, ignored, int(rules.ignored_at_ends), int(rules.values_are_json)),
            *(int(rules.ignored_repeats), rules.ignored_priority),
        )
        assert make_variant is None or not rules.priorities, "edges are numbered from the first one"
        self._rules = rules
        self.n_edges = len(rules.edges) // EDGE_FIELDS

    def whole(self) -> npt.NDArray[np.int32]:
        """All rules."""
        return self._part(self._rules.columns())

    def nothing(self) -> npt.NDArray[np.int32]:
        """No rules at all."""
        return np.array([*self._head, *(0 for _ in _FIELDS)], np.int32)

    def sizes(self) -> tuple[int, ...]:
        """Lengths of the columns."""
        return self._rules.sizes()

    def since(self, sizes: tuple[int, ...]) -> npt.NDArray[np.int32]:
        """The rules that were added since the columns had these lengths."""
        n_states, edges = sizes[1], self._rules.edges
        assert all(edges[at] >= n_states for at in range(sizes[2], len(edges), EDGE_FIELDS)), "a rule was changed"
        parts = tuple(column[size:] for column, size in zip(self._rules.columns(), sizes, strict=True))
        first_edge = sizes[2] // EDGE_FIELDS
        priorities = parts[_PRIORITIES]  # a copy
        for at in range(0, len(priorities), PRIORITY_FIELDS):
            priorities[at] -= first_edge
        return self._part(parts)

    def _part(self, parts: tuple[array[int], ...]) -> npt.NDArray[np.int32]:
        lengths = [len(part) // fields for part, fields in zip(parts, _FIELDS, strict=True)]
        return np.frombuffer(bytearray().join((array("i", (*self._head, *lengths)), *parts)), np.int32)


class Generation:
    """Tables that a grammar's sequences share: rules, and the rows and configurations found so far.

    Identities of rows are never taken back one by one. When the tables have outgrown `room`, a grammar begins new ones,
    sequences move there by replaying their tokens, and the old tables die with the last sequence that still uses them.

    Attributes
    ----------
    table : what kernels read, see kernels/tables/grammar_layout.py.
    start : the configuration before the first token.
    room : bytes at which sequences move on; at least twice what live sequences brought with them (four times where
        rules are added while they are read, which copies the tables of rules once), so that moving never costs more
        than the work that filled the tables.
    notes : what features keep of these tables beside them, by the feature's name; it dies with them.
    """

    def __init__(self, store: Store, source: RuleSource) -> None:
        limits = store.limits
        self.table = Table(
            GRAMMAR.n_slots,
            limits.max_grammar_bytes,
            GRAMMAR.blocks,
            GRAMMAR_POOLS,
        )
        slots = self.table.slots
        slots[GRAMMAR.max_rows] = min(limits.max_rows, MOST_ROWS - 1)
        slots[GRAMMAR.max_items] = limits.max_items
        slots[GRAMMAR.max_unique] = limits.max_unique_values
        slots[GRAMMAR.few_items] = FEW_ITEMS
        slots[GRAMMAR.most_leo_items] = MOST_LEO_ITEMS
        if store.canonical_table is not None:
            slots[GRAMMAR.canon] = store.canonical_table.address
            slots[GRAMMAR.tells_ends] = 1
        self.store = store
        self.notes: dict[str, Any] = {}
        self.kept_bytes = 0  # of what the notes hold
        self._source = source
        self._known_texts: dict[int, bytes] = {}
        self._last_texts: tuple[int, list[bytes]] = NO_TEXTS, []
        self._loaded = self._loading = source.sizes()
        self.start = self.run(Operation.LOAD_RULES, data=source.whole())
        if self.start == NOTHING_DERIVED:
            raise UnsatisfiableSchema(
                "no document fulfils the grammar",
                help="look for contradictory bounds, or for a part that requires itself without end",
            )
        assert self.start != REFUSED
        self._brought = self.table.bytes_used
        self._least_room = limits.renew_grammar_bytes
        self._factor = 4 if source.is_growing else 2
        self._set_room()

    def run(self, operation: int, a: int = 0, b: int = 0, data: npt.NDArray[np.int32] = _NO_DATA, c: int = 0) -> int:
        """Run an operation of `kernels.engine.build` on these tables; variants of rules are made when it asks for them.

        Raises
        ------
        LimitExceeded : a budget was spent; what had been built before stays valid.
        """
        result = self.store.run(operation, a, b, c, data, self.table)
        if result != engine.VARIANT_NEEDED:
            return result
        if active.meter is not None:
            return self._run_with_variants(operation, a, b, c, data)
        with metered(self.store.limits.max_step_work, "max_step_work"):
            return self._run_with_variants(operation, a, b, c, data)

    def advance(self, configuration: int, data: bytes, begin: int = 0, fills: bool = True) -> tuple[int, int]:
        """Read a text from a byte on, in parts that have the bounds of a step each; shorter ones where these are met.

        Returns the configuration after it and its length; with `fills=False` it stops when the tables have outgrown
        their room, and returns what it has until then. Or REFUSED, and the position of the byte that cannot come next.
        """
        n, slots = PART_BYTES, self.store.table.slots
        while True:
            part = items_of(data[begin : begin + n])
            with self.store.lock:
                try:
                    reached = self.run(Operation.ADVANCE, configuration, data=part)
                except LimitExceeded:
                    is_spent = active.meter is not None and active.meter.left < 0
                    if is_spent or len(part) <= LEAST_PART or slots[STORE.reached] not in OF_ONE_CALL:
                        raise
                    n = len(part) // 2
                    continue
                if reached == REFUSED:
                    return REFUSED, begin + int(slots[STORE.report])
            configuration, begin, n = reached, begin + len(part), min(2 * n, PART_BYTES)
            if begin == len(data) or not (fills or self.table.bytes_used <= self.room):
                return configuration, begin

    def _run_with_variants(self, operation: int, a: int, b: int, c: int, data: npt.NDArray[np.int32]) -> int:
        """Make the variants that an operation asks for, and run it again, until it asks for none."""
        result = engine.VARIANT_NEEDED
        n_made = 0
        while result == engine.VARIANT_NEEDED:
            n_made += 1
            if n_made > MOST_MADE:
                raise LimitExceeded(
                    f"one step needs more than {MOST_MADE} rules that are written on demand",
                    help="is a rule with a parameter left-recursive? Let it use itself at the end",
                )
            with self.store.lock:
                self._make_variant()
                if operation == Operation.LOAD_RULES:
                    data = self._source.nothing()  # the rules are loaded, what misses is the first row
                result = self.store.run(operation, a, b, c, data, self.table)
        return result

    def _make_variant(self) -> None:
        """Have the variant made that the last operation of these tables asked for, and load it."""
        rule = self.table.slots[GRAMMAR.requested_rule]
        texts = self.table.slots[GRAMMAR.requested_texts]
        make_variant, make_late = self._source.make_variant, self._source.make_late
        made: int | None
        if texts == LATE:
            assert make_late is not None
            made = make_late(rule)
        else:
            assert make_variant is not None
            if texts != self._last_texts[0]:  # several rules are wanted without the same texts
                self._last_texts = texts, [self.text_of(number) for number in self.texts_in(texts)]
            made = make_variant(RuleId(rule), self._last_texts[1])
        self._load_more()
        if texts == LATE:
            assert made is not None
            self.store.run(Operation.PUT_LATE, rule, made, grammar=self.table)
        else:
            self.store.run(Operation.PUT_VARIANT, rule, texts, -1 if made is None else made, grammar=self.table)

    def _load_more(self) -> None:
        """Load the rules that were added. An interrupt may come after a load and before that is noted."""
        _, n_states, *_ = self._loading
        if n_states > self._loaded[1] and self.table.slots[GRAMMAR.n_rtn_states] == n_states:
            self._loaded = self._loading
        sizes = self._source.sizes()
        if sizes != self._loaded:
            self._loading = sizes
            self.store.run(Operation.LOAD_MORE, data=self._source.since(self._loaded), grammar=self.table)
            self._loaded = sizes

    def texts_in(self, texts: int) -> list[int]:
        """Numbers of the texts in a set, see kernels/values/called_rules.py."""
        items = list_in(self.table, GRAMMAR.text_sets, texts)
        numbers = []
        for place in range(FIRST_CHUNK, len(items), 2):
            words = np.array(list_in(self.table, GRAMMAR.text_chunks, items[place + 1]), np.int32)
            bits = np.unpackbits(words.view(np.uint8), bitorder="little")
            numbers += (np.flatnonzero(bits) + (items[place] << CHUNK_BITS)).tolist()
        return numbers

    def text_of(self, number: int) -> bytes:
        """A recorded value, arrays and objects with their parts (kernels/values/json_values.py)."""
        known = self._known_texts
        waiting = [] if number in known else [number]
        while waiting:
            items = list_in(self.table, GRAMMAR.texts, waiting[-1])
            parts = items[1:] if items[0] in (json_values.ARRAY, json_values.OBJECT) else []
            missing = [part for part in parts if part not in known]
            waiting += missing
            if missing:
                continue
            if items[0] == json_values.ARRAY:
                text = b"[%s]" % b",".join(known[part] for part in parts)
            elif items[0] == json_values.OBJECT:
                members = zip(parts[::2], parts[1::2], strict=True)
                text = b"{%s}" % b",".join(b"%s:%s" % (known[name], known[value]) for name, value in members)
            else:
                text = bytes(items)
            known[waiting.pop()] = text
        return known[number]

    def listed(self, operation: int, a: int, b: int = 0) -> npt.NDArray[np.int32]:
        """The items that an operation writes; it returns their number, and writes them where there is room for all."""
        items = _NO_DATA
        length = -1
        while length != len(items):
            items = np.zeros(max(length, 0), np.int32)
            length = self.run(operation, a, b, items)
        return items

    def live_bytes(self, configuration: int) -> list[int]:
        """The bytes that may come next."""
        flags = np.zeros(256, np.int32)
        self.run(Operation.LIVE_BYTES, configuration, data=flags)
        found: list[int] = np.flatnonzero(flags).tolist()
        return found

    def traced(self, configuration: int, data: bytes) -> tuple[int, npt.NDArray[np.int32]]:
        """The configuration after some bytes, and lexemes that end before and with each of them: int32[n_bytes, 2]."""
        trace = np.zeros(len(data) * TRACE_FIELDS, np.int32)
        trace[T_BYTE::TRACE_FIELDS] = np.frombuffer(data, np.uint8)
        reached = self.run(Operation.TRACE, configuration, data=trace)
        return reached, trace.reshape(-1, TRACE_FIELDS)[:, T_BEFORE : T_WITH + 1]

    def bring(self, n_bytes: int) -> None:
        """Count what a sequence added while it moved here."""
        with self.store.lock:
            self._brought += n_bytes
            self._set_room()

    def _set_room(self) -> None:
        self.room = max(self._least_room, self._factor * self._brought)
        if not self._source.is_growing and not self.store.is_canonical:
            self.table.slots[GRAMMAR.room] = self.room


def items_of(data: bytes) -> npt.NDArray[np.int32]:
    """Bytes as operations of `engine.build` take them."""
    return np.frombuffer(data, np.uint8).astype(np.int32)
