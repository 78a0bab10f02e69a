"""Sentences of a grammar: a shortest one, and random ones.

A derivation says what may come next and how many bytes are still needed (llmask/grammar/derivations.py); beside it the
engine reads every byte, because it also knows what the longest match, priorities and values that must differ refuse.
What both allow to the end is a sentence.

    shortest    best first (P. Hart, N. Nilsson, B. Raphael, "A formal basis for the heuristic determination of minimum
                cost paths", 1968): by bytes written and bytes needed, which is never more than what it takes; where
                that takes too long, what the engine knows to end a document (matching/finish.py), with a notice
    sample      at random; when it has become long, or nothing is found that goes on, to the end that the engine knows

Where there are no derivations to follow, because rules with a parameter are written while they are read, or tokens
without a text are named, the engine alone says what may come next: samples are random bytes and then a shortest end,
and what needs a named token is no sentence in bytes.

In: a grammar. Out: bytes. Cost: about 0.1 ms a byte of a sample; MOST_STEPS bounds the search.
"""

from __future__ import annotations

import math
import warnings
from heapq import heappop, heappush
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .. import forks
from ..errors import GrammarNotice, LimitExceeded, LlmaskError, level_outside
from ..grammar.derivations import NO_LEXEME, NOTHING, Derivations, Step
from ..kernels import engine
from ..kernels.finish.paths import NO_BOUND
from ..kernels.mask.configurations import REFUSED
from ..kernels.tables.operations import Operation
from ..matching.finish import ends_of
from ..regex.strings import Strings
from .likely import runs_on

if TYPE_CHECKING:
    from ..grammar.rules import Rules
    from ..regex.nodes import RegexNodes
    from ..store.loaded_grammar import LoadedGrammar
    from ..store.store import Store

MOST_STEPS = 30_000  # places that the search for a shortest sentence looks at: a fifth of a second
MOST_BYTES_READ = 100_000  # by the engine in that search: a third of a second
MOST_READ = 5000  # configurations that it looks at where derivations did not help: some seconds
MOST_TRIES = 10  # random sentences that are too long
MOST_STEPS_OF_SAMPLE = 20_000  # of one try
USUAL_BYTES = 1000  # of a sample
LEAST_TARGET = 8  # bytes after which a sample begins to look for an end, at least
GROWS = 0.3  # how often the shortest ways on are left out while there is room
ENDS = 0.05  # how often a sample of which nothing is derived ends where it may
BLANKS = 0.3  # how often something ignored stands between lexemes
LEXEME_BYTES = (4, 16, 16, 64, 400)  # how long a random lexeme gets before it looks for an end
ALL_BYTES = np.arange(256, dtype=np.int32)


class Node(NamedTuple):
    """A place of the search: how it was come to, and where it is.

    before      number of the node before, -1 at the start
    byte        what was read since, -1 where nothing was
    here        configuration
    lexeme      what is left of the lexeme that is being read, or NO_LEXEME
    has_begun   whether a byte of that lexeme was read
    place       behind that lexeme
    n_bytes     read so far
    n_silent    steps since the last byte
    """

    before: int
    byte: int
    here: int
    lexeme: int
    has_begun: bool
    place: int
    n_bytes: int
    n_silent: int


class Sentences:
    """Finds sentences of one grammar, for one thread at a time.

    Parameters
    ----------
    store, rules : of the grammar, which is not kept: it holds this object.

    Raises
    ------
    LlmaskError : the grammar has `max_tokens`.
    """

    def __init__(self, store: Store, rules: Rules, has_regions: bool = False) -> None:
        if has_regions:
            raise LlmaskError("max_tokens counts tokens, and sentences are bytes", help="take it out of the grammar")
        self._strings = Strings(store.nodes, store.table, store.lock)
        self._nodes = store.nodes
        self._ignored = rules.ignored
        self._derivations: Derivations | None = None
        self._missing: LlmaskError | None = None  # why there are no derivations
        try:
            self._derivations = Derivations(rules, self._strings.lexeme_length)
        except LimitExceeded:
            raise
        except LlmaskError as error:
            self._missing = error
        self._lock = forks.new_lock(forks.SENTENCES)

    def shortest_of(self, grammar: LoadedGrammar) -> bytes:
        """See `LoadedGrammar.shortest`."""
        with self._lock:
            return self._search(grammar).shortest()

    def sample_of(self, grammar: LoadedGrammar, seed: int, max_bytes: int | None) -> bytes:
        """See `LoadedGrammar.sample`."""
        with self._lock:
            return self._search(grammar).sample(seed, max_bytes)

    def _search(self, grammar: LoadedGrammar) -> _Reader:
        if self._derivations is None:
            return _Reader(grammar, self._missing)
        return _Search(self._strings, self._nodes, self._ignored, self._derivations, grammar)


class _Reader:
    """One call, of a grammar whose derivations are not known: what its engine reads.

    Parameters
    ----------
    missing : why they are not known, where they are not.
    """

    def __init__(self, grammar: LoadedGrammar, missing: LlmaskError | None = None) -> None:
        self._missing = missing
        self._n_bytes_read = 0
        self._generation = grammar.generation
        if self._generation.table.bytes_used > self._generation.room:
            self._generation = grammar.generation_after(self._generation)

    def shortest(self) -> bytes:
        """A shortest sentence, in bytes: by what the engine reads, where lexemes take what most derivations need.

        Raises
        ------
        LimitExceeded : the search looks at too many configurations.
        LlmaskError : there is none.
        """
        found, is_over = self._ending(self._generation.start, MOST_READ)
        if found is not None:
            return found
        if is_over and self._missing is not None:
            raise LlmaskError(f"no sentence in bytes was found: {self._missing.message}", help=self._missing.help)
        if is_over:
            raise LlmaskError("the grammar has no sentence: lexemes take what others need", help='use lexer="exact"')
        found = self._noted_end()
        if found is not None:
            return found
        raise LimitExceeded(
            f"the search for a shortest sentence looks at more than {MOST_STEPS} places",
            help="ask for a sample, or make the grammar smaller",
        )

    def _some_sentence(self) -> bytes | None:
        """A sentence that is not long, or None where none is known."""
        return self._end_of(self._generation.start)

    def _noted_end(self) -> bytes | None:
        """Such a sentence, with a notice."""
        found = self._some_sentence()
        if found is not None:
            warnings.warn(
                f"the sentence of {len(found)} bytes may not be the shortest: the search for a shorter one was given up"
                f" after {MOST_STEPS} places",
                GrammarNotice,
                stacklevel=level_outside(),
            )
        return found

    def sample(self, seed: int, max_bytes: int | None) -> bytes:
        """A random sentence of at most `max_bytes`; None: of USUAL_BYTES, or as many as it takes.

        Raises
        ------
        LimitExceeded : the shortest sentence is longer, or not found.
        """
        random = Random(seed)
        most: float = USUAL_BYTES if max_bytes is None else max_bytes
        for number in range(MOST_TRIES):
            target = int(math.exp(random.uniform(math.log(LEAST_TARGET), math.log(max(most / 2, LEAST_TARGET)))))
            target >>= number // 2
            if max_bytes is None and number == MOST_TRIES - 1:
                most = math.inf
            try:
                found = self._try(random, target, BLANKS if number % 2 == 0 else 1.0, most)
            except LimitExceeded:  # another one may take less
                continue
            if found is not None and len(found) <= most:
                return found
        found = self._end_of(self._generation.start, False)
        if found is None or (max_bytes is not None and len(found) > max_bytes):
            found = self.shortest()
        if max_bytes is not None and len(found) > max_bytes:
            raise LimitExceeded(
                f"the shortest sentence has {len(found)} bytes, more than {max_bytes}", help="give a larger max_bytes"
            )
        return found

    def _try(self, random: Random, target: int, blanks: float, max_bytes: float) -> bytes | None:
        """A random sentence, or None where none was found."""
        here, text = self._generation.start, bytearray()
        flags = np.zeros(256, np.int32)
        while len(text) < target:
            if self._may_end(here) and random.random() < ENDS:
                break
            self._generation.run(Operation.LIVE_BYTES, here, data=flags)
            live = np.flatnonzero(flags).tolist()
            if not live:
                break
            text.append(random.choice(live))
            here = self._read(here, text[-1])
            if here == REFUSED:
                return None
        return self._ended(here, text)

    def _ended(self, here: int, text: bytearray) -> bytes | None:
        """A text to its end, or None where the engine knows none without a search."""
        rest = self._end_of(here, False)
        return None if rest is None else bytes(text) + rest

    def _end_of(self, here: int, searches: bool = True) -> bytes | None:
        """What the engine knows, or finds, to end a configuration, or None."""
        if self._may_end(here):
            return b""
        store = self._generation.store
        with store.lock:
            ends = ends_of(self._generation)
            if ends.bound(here) >= NO_BOUND and (not searches or ends.search(here) >= NO_BOUND):
                return None
            tokens = ends.path(here)
        found = b"".join(map(store.tokenizer.token_bytes, tokens))
        after = self._read_all(here, found)
        return found if after != REFUSED and self._may_end(after) else None  # else it needs a named token

    def _ending(self, start: int, most: int) -> tuple[bytes | None, bool]:
        """The fewest bytes with which a configuration ends, or None, and whether then there are none.

        At most `most` configurations are looked at.
        """
        order: list[tuple[int, int, int]] = [(start, -1, -1)]  # configuration, number before, byte
        known = {start}
        flags = np.zeros(256, np.int32)
        for number, (here, _, _) in enumerate(order):  # grows
            if self._may_end(here):
                found = bytearray()
                while order[number][1] >= 0:
                    found.append(order[number][2])
                    number = order[number][1]
                return bytes(reversed(found)), True
            self._generation.run(Operation.LIVE_BYTES, here, data=flags)
            for byte in np.flatnonzero(flags).tolist():
                after = self._read(here, byte)
                if after != REFUSED and after not in known:
                    known.add(after)
                    order.append((after, number, byte))
            if len(order) > most:
                return None, False
        return None, True

    def _read(self, here: int, byte: int) -> int:
        self._n_bytes_read += 1
        return self._generation.run(Operation.ADVANCE, here, data=ALL_BYTES[byte : byte + 1].copy())

    def _read_all(self, here: int, text: bytes) -> int:
        return self._generation.run(Operation.ADVANCE, here, data=np.frombuffer(text, np.uint8).astype(np.int32))

    def _may_end(self, here: int) -> bool:
        return bool(engine.is_accepting(self._generation.table.address, here))


class _Search(_Reader):
    """One call, of a grammar whose derivations are known."""

    def __init__(
        self,
        strings: Strings,
        nodes: RegexNodes,
        ignored: int | None,
        derivations: Derivations,
        grammar: LoadedGrammar,
    ) -> None:
        super().__init__(grammar)
        self._strings = strings
        self._nodes = nodes
        self._ignored = ignored
        self._derivations = derivations

    # --- a shortest one

    def shortest(self) -> bytes:
        """A shortest sentence, in bytes.

        Raises
        ------
        LimitExceeded : the search looks at too many places.
        LlmaskError : there is none.
        """
        derivations = self._derivations
        nodes = [Node(-1, -1, self._generation.start, NO_LEXEME, False, derivations.start, 0, 0)]
        waiting = [(derivations.rest_of(derivations.start), 0, 0, 0)]
        seen: set[tuple[int, int, bool, int]] = set()
        while waiting:
            *_, number = heappop(waiting)
            node = nodes[number]
            key = node.here, node.lexeme, node.has_begun, node.place
            if key in seen:
                continue
            seen.add(key)
            if node.lexeme == NO_LEXEME and node.place == NOTHING and self._may_end(node.here):
                return self._spelled(nodes, number)
            for following, needed in self._after(number, node):
                if (following.here, following.lexeme, following.has_begun, following.place) not in seen:
                    rank = following.n_bytes + needed, -following.n_bytes, following.n_silent, len(nodes)
                    heappush(waiting, rank)
                    nodes.append(following)
            if len(nodes) > MOST_STEPS or self._n_bytes_read > MOST_BYTES_READ:
                found = self._noted_end()
                if found is not None:
                    return found
                break
        return super().shortest()

    def _after(self, number: int, node: Node) -> list[tuple[Node, float]]:
        """The nodes behind one, and the bytes that they need."""
        found: list[tuple[Node, float]] = []
        rest = self._derivations.rest_of(node.place)
        silent = node._replace(before=number, byte=-1, n_silent=node.n_silent + 1)
        if node.lexeme == NO_LEXEME:
            for step in self._derivations.steps(node.place) if node.place != NOTHING else ():
                found.append((silent._replace(lexeme=step.lexeme, has_begun=False, place=step.place), step.rest))
            if self._ignored is not None:
                needed = self._strings.lexeme_length(self._ignored) + rest
                found.append((silent._replace(lexeme=self._ignored, has_begun=False), needed))
            return found
        if node.has_begun and self._strings.length(node.lexeme) == 0:
            found.append((silent._replace(lexeme=NO_LEXEME, has_begun=False), rest))
        for way in self._strings.ways(node.lexeme):
            needed = self._strings.length(way.target) + rest
            reached: dict[int, int] = {}
            for byte in way.members:
                here = self._read(node.here, byte)
                if here != REFUSED:
                    reached.setdefault(here, byte)
            for here, byte in reached.items():
                after = Node(number, byte, here, way.target, True, node.place, node.n_bytes + 1, 0)
                found.append((after, needed))
        return found

    @staticmethod
    def _spelled(nodes: list[Node], number: int) -> bytes:
        found = bytearray()
        while number >= 0:
            if nodes[number].byte >= 0:
                found.append(nodes[number].byte)
            number = nodes[number].before
        return bytes(reversed(found))

    def _some_sentence(self) -> bytes | None:
        found = self._end_of(self._generation.start, False)
        return self._try(Random(0), 0, 1.0, math.inf) if found is None else found

    # --- random ones

    def _try(self, random: Random, target: int, blanks: float, max_bytes: float) -> bytes | None:
        """A random sentence, or None where the engine knows no end, or it is longer than `max_bytes`.

        Where the engine refuses what was derived, or it has become long, the engine ends it, if it knows an end.
        """
        derivations, text = self._derivations, bytearray()
        here, place = self._generation.start, derivations.start
        is_long = False
        for _ in range(MOST_STEPS_OF_SAMPLE):
            if place == NOTHING and self._may_end(here):
                return bytes(text)
            steps = derivations.steps(place) if place != NOTHING else []
            if not steps:
                break
            if len(text) > target and not is_long:
                is_long = True
                found = self._ended(here, text)
                if found is not None:
                    return found
            step = self._choose(random, steps, is_late=len(text) + derivations.rest_of(place) > target)
            if step.lexeme != NO_LEXEME:
                after = self._lexeme(random, here, text, step.lexeme, target, blanks)
                if len(text) > max_bytes:
                    return None
                if after == REFUSED:
                    break
                here = after
            place = step.place
        return self._ended(here, text)

    @staticmethod
    def _choose(random: Random, steps: list[Step], is_late: bool) -> Step:
        least = min(step.rest for step in steps)
        if is_late:
            steps = [step for step in steps if step.rest == least]
        elif random.random() < GROWS:
            steps = [step for step in steps if step.rest > least] or steps
        return random.choice(steps)

    def _lexeme(self, random: Random, here: int, text: bytearray, lexeme: int, target: int, blanks: float) -> int:
        """Write a random string of a lexeme, and what is ignored before it; the configuration behind them."""
        for _ in range(3):
            written = self._strings.sample(lexeme, random, min(random.choice(LEXEME_BYTES), max(target - len(text), 0)))
            if self._ignored is not None and text and (random.random() < blanks or runs_on(text, written)):
                blank = b" "
                if not self._nodes.matches(self._ignored, blank) or random.random() < 0.1:
                    blank = self._strings.sample(self._ignored, random, 1)
                after = self._read_all(here, blank + written)
                if after != REFUSED:
                    text += blank + written
                    return after
            after = self._read_all(here, written)
            if after != REFUSED:
                text += written
                return after
        return REFUSED
