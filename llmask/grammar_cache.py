"""What a compiler remembers of the grammars that it made, least recently used out first, within a number of bytes.

Counted is all that a grammar holds (llmask/held.py): its tables as they are now, and its key and Python's objects as
they were when it came in, or last came out with tables of twice the size, because they grow by being used, too.

In: keys and grammars. Out: the grammar of a key. Cost: 40 us for a small grammar that comes in, 1 us for one found.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

from . import forks
from .compiled import CompiledGrammar
from .held import bytes_held
from .store.store import Store


class _Entry:
    """A grammar and what it holds besides its tables."""

    __slots__ = ("_counted", "_objects", "grammar", "key")

    def __init__(self, key: Hashable, grammar: CompiledGrammar) -> None:
        self.key = key
        self.grammar = grammar
        self.count()

    def count(self) -> None:
        """Count the objects anew."""
        self._counted = self.grammar.bytes_used
        self._objects = bytes_held((self.key, self.grammar)) - self._counted

    @property
    def has_grown(self) -> bool:
        """Whether its tables have doubled since."""
        return self.grammar.bytes_used > 2 * self._counted

    @property
    def n_bytes(self) -> int:
        """Memory of the entry."""
        return self._objects + self.grammar.bytes_used


class GrammarCache:
    """Grammars by key; may be used from several threads.

    Parameters
    ----------
    max_bytes : what they may hold together; 0: nothing is remembered.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._n_uncounted = 0  # grammars that came in since the bytes were last added up
        self._lock = forks.new_lock(forks.GRAMMAR_CACHE)

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def bytes_used(self) -> int:
        """Bytes of all grammars, whose stores aside."""
        with self._lock:
            return sum(entry.n_bytes for entry in self._entries.values())

    def get(self, key: Hashable) -> CompiledGrammar | None:
        """The grammar of a key, or None."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
        if entry.has_grown:
            entry.count()
        return entry.grammar

    def put(self, key: Hashable, grammar: CompiledGrammar) -> None:
        """Remember a grammar."""
        if not self.max_bytes:
            return
        entry = _Entry(key, grammar)
        dropped = []  # freed when the lock is open
        with self._lock:
            self._entries[key] = entry
            self._n_uncounted += 1
            if self._n_uncounted > len(self._entries) // 16:  # at every grammar it took 2 ms at 2,400 of them
                self._n_uncounted = 0
                total = sum(kept.n_bytes for kept in self._entries.values())
                while total > self.max_bytes and self._entries:
                    dropped.append(self._entries.popitem(last=False)[1])
                    total -= dropped[-1].n_bytes

    def keep_only(self, store: Store) -> None:
        """Forget the grammars of other stores, which they would keep alive."""
        with self._lock:
            others = [entry for entry in self._entries.values() if entry.grammar.store is not store]
            for entry in others:
                del self._entries[entry.key]
