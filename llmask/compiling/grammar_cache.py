"""What a compiler remembers of the grammars that it made, least recently used out first.

Counted is all that a grammar holds: its tables, its key, how it ends, and Python's objects. It grows by being used,
mostly while it is new: when one comes in the last RECENT ones are counted again, and all of them now and then.

In: keys and grammars. Out: the grammar of a key. Cost: 1 us.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from itertools import islice
from typing import Any

from .. import forks
from ..store.store import Store
from .compiled_grammar import CompiledGrammar

# What Python's objects of a grammar take: rules, ledger, lowered form, translation. It is an estimate, as walking them
# took a third of the time of compiling; 98 % of 1,200 schemas are between 0.6 and 1.3 times what they take.
OBJECT_BYTES = 6500
COLUMN_BYTES = 9  # for each number of the columns of its rules
TEXT_BYTES = 4  # for each byte of the key: the schema, or the text of a grammar
LOWERED_TEXT_BYTES = 10  # where expressions were made of the text
RECENT = 8
COUNTED_AFTER = 8  # all are counted again when one of this number of grammars is new: 1 ms for 3,000
SPARE = 16  # where room is made, `max_bytes` divided by this is left free
WRITER_BYTES = 12_000  # of a translation that is kept, as rules are written while sequences are read


class _Entry:
    """A grammar and its key."""

    __slots__ = ("_objects", "counted", "grammar", "key")

    def __init__(self, key: tuple[Any, ...], grammar: CompiledGrammar) -> None:
        self.key = key
        self.grammar = grammar
        key_bytes = sum(len(part) for part in _flat(key) if isinstance(part, (str, bytes)))
        lowered, rules = grammar._loaded.lowered, grammar._loaded.own_rules
        self._objects = OBJECT_BYTES + key_bytes * (TEXT_BYTES if lowered is None else LOWERED_TEXT_BYTES)
        self._objects += WRITER_BYTES if rules.needs_variants else COLUMN_BYTES * sum(rules.sizes())
        self.counted = 0  # bytes, in the sum of the cache

    @property
    def n_bytes(self) -> int:
        """Memory of the entry, as large as it is now."""
        rules = self.grammar._loaded.own_rules
        written = COLUMN_BYTES * sum(rules.sizes()) if rules.needs_variants else 0
        return self.grammar.bytes_used + self._objects + written


def _flat(key: tuple[Any, ...]) -> Iterator[Any]:
    for part in key:
        if isinstance(part, tuple):
            yield from _flat(part)
        else:
            yield part


class GrammarCache:
    """Grammars by key; may be used from several threads.

    Parameters
    ----------
    max_bytes : what they may hold together; 0: nothing is remembered.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._entries: OrderedDict[tuple[Any, ...], _Entry] = OrderedDict()
        self._n_hits = 0
        self._n_uncounted = 0  # grammars that came in since all were counted
        self._total = 0  # bytes, as last counted
        self._lock = forks.new_lock(forks.GRAMMAR_CACHE)

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def bytes_used(self) -> int:
        """Bytes of all grammars, whose stores aside."""
        with self._lock:
            return sum(entry.n_bytes for entry in self._entries.values())

    def statistics(self) -> dict[str, int]:
        """See `Compiler.statistics`."""
        return {"cache_hits": self._n_hits, "cache_grammars": len(self), "cache_bytes": self.bytes_used}

    def get(self, key: tuple[Any, ...]) -> CompiledGrammar | None:
        """The grammar of a key, or None; a hit where the documents that it was made from have changed is one, too."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            self._n_hits += 1
        return entry.grammar

    def put(self, key: tuple[Any, ...], grammar: CompiledGrammar) -> None:
        """Remember a grammar."""
        if not self.max_bytes:
            return
        entry = _Entry(key, grammar)
        dropped = []  # freed when the lock is open
        with self._lock:
            before = self._entries.pop(key, None)
            if before is not None:
                dropped.append(before)
                self._total -= before.counted
            self._entries[key] = entry
            self._n_uncounted += 1
            is_due = self._n_uncounted * COUNTED_AFTER > len(self._entries)
            if is_due:
                self._n_uncounted = 0
            for kept in islice(reversed(self._entries.values()), None if is_due else RECENT):
                self._total -= kept.counted
                kept.counted = kept.n_bytes
                self._total += kept.counted
            most = self.max_bytes if self._total <= self.max_bytes else self.max_bytes - self.max_bytes // SPARE
            while self._total > most and self._entries:
                dropped.append(self._entries.popitem(last=False)[1])
                self._total -= dropped[-1].counted

    def keep_only(self, store: Store) -> None:
        """Forget the grammars of other stores, which they would keep alive."""
        with self._lock:
            others = [entry for entry in self._entries.values() if entry.grammar._loaded.store is not store]
            for entry in others:
                del self._entries[entry.key]
                self._total -= entry.counted
