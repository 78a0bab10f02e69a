"""Sentences of a grammar: a shortest one, and random ones.

A derivation says what may come next and how many bytes are still needed (llmask/grammar/derivations.py); besides, the
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
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from .. import forks
from ..errors import GrammarNotice, LimitExceeded, LlmaskError, level_outside
from ..grammar.derivations import NO_LEXEME, NOTHING, Derivations, Step
from ..kernels import engine
from ..kernels.finish.paths import NO_BOUND
from ..kernels.mask.configurations import REFUSED
from ..kernels.tables.operations import Operation
from ..matching.finish import ends_of
from ..regex.strings import Strings, Way
from ..store.generation import items_of
from .likely import runs_on

if TYPE_CHECKING:
    from ..grammar.rules import Rules
    from ..store.loaded_grammar import LoadedGrammar
    from ..store.store import Store

MOST_STEPS = 30_000  # places and bytes that the search for a shortest sentence looks at besides its own: 0.3 s
MOST_READ = 5000  # configurations that it looks at where derivations did not help: some seconds
MOST_TRIES = 10  # random sentences that are too long
MOST_STEPS_OF_SAMPLE = 20_000  # of one try
USUAL_BYTES = 1000  # of a sample
LEAST_TARGET = 8  # bytes after which a sample begins to look for an end, at least
GROWS = 0.3  # how often the shortest ways on are left out while there is room
ENDS = 0.05  # how often a sample ends where it may, if nothing of it is derived
BLANKS = 0.3  # how often something ignored is written between lexemes
LEXEME_BYTES = (4, 16, 16, 64, 400)  # how long a random lexeme gets before it looks for an end


class Node(NamedTuple):
    """A place of the search: how it was come to, and where it is.

    before      the node before, None at the start
    text        what was read since
    here        configuration
    lexeme      what is left of the lexeme that is being read, or NO_LEXEME
    has_begun   whether a byte of that lexeme was read
    place       after that lexeme
    n_bytes     read so far
    """

    before: Node | None
    text: bytes
    here: int
    lexeme: int
    has_begun: bool
    place: int
    n_bytes: int


# bytes at least; bytes read, below 0; whether it is a guess; order; a node, and a way on with a number of its bytes
Waiting = tuple[float, int, bool, int, Node, Way | None, int]


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
        return _Search(self, self._derivations, grammar)


class _Reader:
    """One call, of a grammar whose derivations are not known: what its engine reads.

    Parameters
    ----------
    missing : why they are not known, where they are not.
    """

    def __init__(self, grammar: LoadedGrammar, missing: LlmaskError | None = None) -> None:
        self._missing = missing
        self._generation = grammar.generation
        if self._generation.table.bytes_used > self._generation.room:
            self._generation = grammar.generation_after(self._generation)

    def shortest(self) -> bytes:
        """A shortest sentence, in bytes: by what the engine reads, where lexemes take what most derivations need.

        Raises
        ------
        LimitExceeded : the search looks at too many configurations.
        LlmaskError : no sentence was found, and nothing is left to look at.
        """
        found, is_over = self._ending()
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
        while len(text) < target:
            if self._may_end(here) and random.random() < ENDS:
                break
            live = self._generation.live_bytes(here)
            if not live:
                break
            text.append(random.choice(live))
            here = self._read(here, bytes(text[-1:]))
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
        after = self._read(here, found)
        return found if after != REFUSED and self._may_end(after) else None  # else it needs a named token

    def _ending(self) -> tuple[bytes | None, bool]:
        """A shortest text that the engine reads to an end, or None and whether there surely is no such text."""
        order = [(self._generation.start, b"")]
        known = {self._generation.start}
        for here, text in order:  # grows
            if self._may_end(here):
                return text, True
            for byte in self._generation.live_bytes(here):
                after = self._read(here, bytes((byte,)))
                if after != REFUSED and after not in known:
                    known.add(after)
                    order.append((after, text + bytes((byte,))))
            if len(order) > MOST_READ:
                return None, False
        return None, True

    def _read(self, here: int, text: bytes) -> int:
        return self._generation.run(Operation.ADVANCE, here, data=items_of(text))

    def _may_end(self, here: int) -> bool:
        return bool(engine.is_accepting(self._generation.table.address, here))


class _Search(_Reader):
    """One call, of a grammar whose derivations are known."""

    def __init__(self, kept: Sentences, derivations: Derivations, grammar: LoadedGrammar) -> None:
        super().__init__(grammar)
        self._strings, self._nodes, self._ignored = kept._strings, kept._nodes, kept._ignored
        self._derivations = derivations
        self._n_steps = 0
        self._nearest: Node | None = None  # to an end, of those that a search has seen
        self._known: dict[tuple[int, Way], tuple[list[tuple[int, bytes, int]], Iterator[int]]] = {}  # see `_reached`

    # --- a shortest one

    def shortest(self) -> bytes:
        """A shortest sentence, in bytes.

        Raises
        ------
        LimitExceeded : the search looks at too many places.
        LlmaskError : the grammar has no sentence.
        """
        place = self._derivations.start
        node = Node(None, b"", self._generation.start, NO_LEXEME, False, place, 0)
        order = count()
        waiting: list[Waiting] = [(self._derivations.rest_of(place), 0, False, next(order), node, None, 0)]
        seen: set[tuple[int, int, bool, int]] = set()
        most_bytes, least_left = 0, math.inf
        while waiting and self._n_steps < MOST_STEPS + most_bytes:
            self._n_steps += 1
            needed, rank, is_guess, _, node, way, at = heappop(waiting)
            if way is not None:
                if is_guess:
                    exact = node.n_bytes + 1 + self._strings.length(way.target) + self._derivations.rest_of(node.place)
                    if exact > needed:
                        heappush(waiting, (exact, rank, False, next(order), node, way, at))
                        continue
                reached = self._reached(node.here, way, at)
                if reached is None:
                    continue
                heappush(waiting, (needed, rank, False, next(order), node, way, at + 1))
                here, text, lexeme = reached
                node = Node(node, text, here, lexeme, True, node.place, node.n_bytes + len(text))
                most_bytes = max(most_bytes, node.n_bytes)
            key = node.here, node.lexeme, node.has_begun, node.place
            if key in seen:
                continue
            seen.add(key)
            if needed - node.n_bytes < least_left:
                least_left, self._nearest = needed - node.n_bytes, node
            if node.lexeme == NO_LEXEME and node.place == NOTHING and self._may_end(node.here):
                return self._spelled(node)
            for after, rest in self._silent(node):
                if (after.here, after.lexeme, after.has_begun, after.place) not in seen:
                    needed = after.n_bytes + rest
                    heappush(waiting, (needed, -after.n_bytes, False, next(order), after, None, 0))
            if node.lexeme != NO_LEXEME:
                least = max(0, self._strings.length(node.lexeme) - 1)
                rest = node.n_bytes + 1 + self._derivations.rest_of(node.place)
                for way in self._strings.ways(node.lexeme):
                    length = self._strings.lengths.get(way.target)  # what is not known yet may never be asked for
                    needed = rest + (least if length is None else length)
                    heappush(waiting, (needed, -node.n_bytes - 1, length is None, next(order), node, way, 0))
        if waiting:
            found = self._noted_end()
            if found is not None:
                return found
        return super().shortest()

    def _reached(self, here: int, way: Way, at: int) -> tuple[int, bytes, int] | None:
        """A configuration after a byte of a way and what is forced then, the text, and what is left of the lexeme.

        They are numbered, and all different; None where there are no more.
        """
        known, left = self._known.setdefault((here, way), ([], iter(way.members)))
        forced, lexeme = self._strings.forced(way.target)
        while at >= len(known):
            byte = next(left, None)
            if byte is None:
                return None
            self._n_steps += 1
            text = bytes((byte,)) + forced
            after = self._read(here, text)
            if after != REFUSED and all(after != other for other, *_ in known):
                known.append((after, text, lexeme))
        return known[at]

    def _silent(self, node: Node) -> Iterator[tuple[Node, float]]:
        """The nodes after one without a byte, and the bytes that they need."""
        rest = self._derivations.rest_of(node.place)
        before = node, b"", node.here
        if node.lexeme == NO_LEXEME:
            for step in self._derivations.steps(node.place) if node.place != NOTHING else ():
                yield Node(*before, step.lexeme, False, step.place, node.n_bytes), step.rest
            if self._ignored is not None:
                needed = self._strings.lexeme_length(self._ignored) + rest
                yield Node(*before, self._ignored, False, node.place, node.n_bytes), needed
        elif node.has_begun and self._strings.length(node.lexeme) == 0:
            yield Node(*before, NO_LEXEME, False, node.place, node.n_bytes), rest

    @staticmethod
    def _spelled(end: Node) -> bytes:
        found: list[bytes] = []
        node: Node | None = end
        while node is not None:
            found.append(node.text)
            node = node.before
        return b"".join(reversed(found))

    def _some_sentence(self) -> bytes | None:
        found = self._end_of(self._generation.start, False)
        if found is None and self._nearest is not None:
            found = self._ended(self._nearest.here, bytearray(self._spelled(self._nearest)))
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
        """Write a random string of a lexeme, and what is ignored before it; the configuration after them."""
        for _ in range(3):
            written = self._strings.sample(lexeme, random, min(random.choice(LEXEME_BYTES), max(target - len(text), 0)))
            if self._ignored is not None and text and (random.random() < blanks or runs_on(text, written)):
                blank = b" "
                if not self._nodes.matches(self._ignored, blank) or random.random() < 0.1:
                    blank = self._strings.sample(self._ignored, random, 1)
                after = self._read(here, blank + written)
                if after != REFUSED:
                    text += blank + written
                    return after
            after = self._read(here, written)
            if after != REFUSED:
                text += written
                return after
        return REFUSED
