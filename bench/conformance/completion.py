"""From any point of a document to its end: the search that shows that a mask leads to no dead end.

A*: of the configurations that were reached the one is looked at next whose bytes so far and bytes that are still needed
at least (`remaining.py`) are fewest together, among equals the latest. As that bound is never too high, the first end
that is met is the shortest (P. Hart, N. Nilsson, B. Raphael, "A formal basis for the heuristic determination of minimum
cost paths", IEEE Transactions on Systems Science and Cybernetics 4, 1968). Where the bound is too low (values that must
differ), ways that differ in nothing that counts are many; so after some steps what is still needed weighs more, and
more again, and the end is no longer certain to be the shortest. Then the engine is asked for one
(`Matcher.finishing_tokens`), which is read token by token. Where it knows none, one round keeps what its steps show:
where the best way on from a configuration needs more than was thought, others of its kind are taken to need as much
more (after R. Korf, "Real-time heuristic search", Artificial Intelligence 42, 1990, where it is kept for one state). No
configuration is looked at twice on the same way, since its future does not depend on how it was reached: where finitely
many can be reached, an end is found or proved not to be there.

Every step is a token of one byte that the mask allows. Of bytes that the lexer does not tell apart one is tried first:
where the text is recorded each of them leads to another configuration.

Tried and lost: depth first, which never meets a configuration again where the text is recorded; breadth first, which
reads a billion texts before one of ten bytes; random attempts that close what is open, which do not find the end of an
object of 49 required keys.

In: a matcher. Out: the document's last bytes. Cost: 0.2 ms for each configuration that is looked at.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

import llmask
from bench.conformance.lengths import NEVER, Lengths
from bench.conformance.remaining import Remaining
from llmask.kernels import engine
from llmask.kernels.mask.cell import CELL_CONFIGURATION, CELL_GRAMMAR
from llmask.kernels.mask.configurations import REFUSED
from llmask.matching.matcher import Matcher
from llmask.matching.sequence import Sequence

# weight of what is needed; whether steps correct it; configurations that are looked at besides
ROUNDS = ((1, False, 200), (2, False, 500))
MORE_ROUNDS = ((8, True, 5_000), (8, False, 30_000))  # where the engine knows no end either
BEYOND = 1_000_000  # bytes where no end is in sight: looked at last
FEW = 16  # bytes that are all tried at once
MOST_NEEDED = 50_000  # bytes of an ending that is asked for
ORDER = np.array([*b'}]"0123456789', *(byte for byte in range(256) if byte not in b'}]"0123456789')])


class DeadEnd(Exception):
    """A mask without tokens, or a prefix of no document."""


class _Node(NamedTuple):
    """A configuration, and how it was reached: the node before, the byte from there, and how many there were."""

    configuration: int
    before: _Node | None
    byte: int
    n_bytes: int

    def text(self) -> bytes:
        """All bytes since the beginning of the search."""
        found = bytearray()
        node: _Node = self
        while node.before is not None:
            found.append(node.byte)
            node = node.before
        found.reverse()
        return bytes(found)


class _Way(NamedTuple):
    """The first byte of a shortest ending, the configuration behind it, and the bytes of the ending."""

    byte: int
    configuration: int
    n_bytes: int


class _Tables:
    """What is known of the configurations of one grammar's tables: bounds, and shortest endings."""

    def __init__(self, matcher: Matcher, lengths: Lengths) -> None:
        self.generation = matcher._sequence.generation
        self.ways: dict[int, _Way] = {}
        self._found_more: dict[tuple[tuple[int, ...], int], float] = {}  # by kind: bytes beyond the bound
        self._bound = Remaining(matcher, lengths)

    def needed(self, configuration: int) -> float:
        """Bytes that are needed at least."""
        way = self.ways.get(configuration)
        return self._bound.of(configuration) if way is None else way.n_bytes

    def expected(self, configuration: int) -> float:
        """Bytes that are needed as far as steps from configurations of the same kind have shown; may be too many."""
        if configuration in self.ways:
            return self.ways[configuration].n_bytes
        return self._bound.of(configuration) + self._found_more.get(self._bound.kind(configuration), 0)

    def correct(self, configuration: int, expected: float) -> None:
        """From a configuration as many bytes are expected, since its best step leads to one less."""
        missing = expected - self._bound.of(configuration)
        kind = self._bound.kind(configuration)
        if missing < NEVER and missing > self._found_more.get(kind, 0):
            self._found_more[kind] = missing

    def sorted_out(self, configuration: int, choices: list[int]) -> tuple[list[int], list[int]]:
        """Choices to try first, and others that the lexer does not tell apart from one of them."""
        if len(choices) < FEW:
            return choices, []
        classes = self._bound.classes(configuration)
        first = list({classes[byte]: byte for byte in reversed(choices)}.values())
        return first, [byte for byte in choices if byte not in first]

    def ending(self, configuration: int) -> bytes:
        """The rest of an ending that is known up to its last byte."""
        found = bytearray()
        while configuration in self.ways:
            byte, configuration, _ = self.ways[configuration]
            found.append(byte)
        return bytes(found)

    def learn(self, node: _Node) -> None:
        """A shortest way led here, from where it is known how to go on, or nothing follows."""
        n_bytes = self.ways[node.configuration].n_bytes if node.configuration in self.ways else 0
        while node.before is not None:
            n_bytes += 1
            self.ways[node.before.configuration] = _Way(node.byte, node.configuration, n_bytes)
            node = node.before


class Found(NamedTuple):
    """How a document can end.

    ending       its last bytes; None: the bound was spent
    n_steps      configurations that were looked at
    is_shortest  whether no other ending is shorter
    """

    ending: bytes | None
    n_steps: int
    is_shortest: bool


class _Probe(Sequence):
    """A matcher that is put into one configuration after another and stays in its tables."""

    def __init__(self, matcher: Matcher) -> None:
        super().__init__(matcher.grammar)
        here = matcher._sequence
        self.generation = here.generation
        self.cell[CELL_GRAMMAR] = here.grammar_address
        self.put(here.configuration)

    def make_room(self) -> None:
        pass

    def put(self, configuration: int) -> None:
        """Go to a configuration of these tables."""
        self.cell[CELL_CONFIGURATION] = configuration

    def after(self, token: int) -> int:
        """Configuration after a token, or REFUSED; the probe stays where it is."""
        reached = engine.accept(self.cell_address, token)
        return reached if reached >= 0 else self._built_after(token, reached)


def _told(matcher: Matcher) -> bytes | None:
    """An end that the engine itself knows, read to see that it is one; None where it knows none."""
    reader = matcher.fork()
    try:
        ids = reader.finishing_tokens()
    except llmask.LlmaskError:
        return None
    for token in ids:
        if reader.validate_tokens([token]) == 0:
            raise DeadEnd(
                f"token {token}, which the engine calls the way to an end, is refused after {reader.text()!r}"
            )
        reader.accept_token(token)
    if not reader.is_accepting():
        raise DeadEnd(f"the engine calls {reader.text()!r} an end, where the document may not end")
    return reader.text()[len(matcher.text()) :]


class Completion:
    """The search, for one vocabulary.

    Parameters
    ----------
    tokenizer : with a token for every byte.
    """

    def __init__(self, tokenizer: llmask.Tokenizer) -> None:
        special = {*tokenizer.special_ids, *tokenizer.eos_ids}
        byte_ids = {
            tokenizer.token_bytes(token)[0]: token
            for token in reversed(range(tokenizer.vocab_size))
            if token not in special and len(tokenizer.token_bytes(token)) == 1
        }
        if len(byte_ids) < 256:
            raise ValueError("the vocabulary has no token for some byte")
        self.bitmask = llmask.allocate_bitmask(1, tokenizer.vocab_size)
        self._tokens = np.array([byte_ids[byte] for byte in ORDER.tolist()])
        self._token_of = [byte_ids[byte] for byte in range(256)]
        self._lengths: tuple[object, Lengths] | None = None
        self._tables: _Tables | None = None

    def choices(self, matcher: Matcher) -> list[int]:
        """The bytes that the mask allows as tokens.

        Raises
        ------
        DeadEnd : the mask is empty.
        """
        try:
            matcher.fill_bitmask(self.bitmask)
        except llmask.VocabularyError as error:
            raise DeadEnd(str(error)) from None
        if not self.bitmask.any():
            raise DeadEnd("the mask is empty")
        allowed = self.bitmask[0, self._tokens >> 5] >> (self._tokens & 31) & 1
        found: list[int] = ORDER[allowed.astype(bool)].tolist()
        return found

    def ending(self, matcher: Matcher, rounds: tuple[tuple[int, bool, int], ...] = ROUNDS) -> Found:
        """Bytes after which the document may end; the matcher is left as it was.

        Raises
        ------
        DeadEnd : there are none, or a mask on the way is empty.
        """
        if matcher.is_accepting():
            return Found(b"", 0, True)
        found = self._found_in(rounds, matcher)
        if found.ending is None:
            found = Found(_told(matcher), found.n_steps, False)
        if found.ending is None:
            found = self._found_in(MORE_ROUNDS, matcher)
        return found

    def _found_in(self, rounds: tuple[tuple[int, bool, int], ...], matcher: Matcher) -> Found:
        probe, tables = _Probe(matcher), self._tables_of(matcher)
        least, n_steps = tables.needed(matcher._sequence.configuration), 0
        for weight, learns, most_steps in rounds:
            found = self._searched(probe, matcher, tables, weight, learns, most_steps + int(min(least, MOST_NEEDED)))
            n_steps += found.n_steps
            if found.ending is not None:
                return found._replace(n_steps=n_steps)
        return Found(None, n_steps, False)

    def _tables_of(self, matcher: Matcher) -> _Tables:
        """What is known of a matcher's tables, kept for the next search in them."""
        if self._lengths is None or self._lengths[0] is not matcher._sequence.store:
            self._lengths = matcher._sequence.store, Lengths(matcher._sequence.store)
        if self._tables is None or self._tables.generation is not matcher._sequence.generation:
            self._tables = _Tables(matcher, self._lengths[1])
        return self._tables

    def _searched(
        self, probe: _Probe, matcher: Matcher, tables: _Tables, weight: int, learns: bool, most_steps: int
    ) -> Found:
        start = matcher._sequence.configuration
        bound = tables.expected if learns else tables.needed
        least = bound(start)
        # cost, order, bytes that are needed, node, bytes to try (None: not looked at yet)
        waiting: list[tuple[float, int, float, _Node, list[int] | None]]
        waiting = [(weight * least, 0, least, _Node(start, None, 0, 0), None)]
        best = {start: 0}
        n_pushed = n_steps = 0

        def push(needed: float, node: _Node, moves: list[int] | None) -> None:
            nonlocal n_pushed
            n_pushed += 1
            heapq.heappush(waiting, (node.n_bytes + weight * needed, -n_pushed, needed, node, moves))

        while waiting:
            _, _, needed, node, moves = heapq.heappop(waiting)
            if node.n_bytes > best[node.configuration]:
                continue
            if moves is None:
                probe.put(node.configuration)
                if node.configuration in tables.ways or probe.is_accepting():
                    if weight == 1:
                        tables.learn(node)
                    return Found(node.text() + tables.ending(node.configuration), n_steps, weight == 1)
                if n_steps == most_steps:
                    return Found(None, n_steps, False)
                n_steps += 1
                moves, others = tables.sorted_out(node.configuration, self._choices_after(probe, matcher, node))
                if others:
                    push(needed, node, others)
            n_bytes, nearest = node.n_bytes + 1, float(NEVER)
            for byte in reversed(moves):
                probe.put(node.configuration)
                configuration = probe.after(self._token_of[byte])
                if configuration == REFUSED:
                    raise DeadEnd(f"the mask allows {bytes([byte])!r}, refused after {matcher.text() + node.text()!r}")
                after = bound(configuration)
                nearest = min(nearest, after)
                if best.get(configuration, n_bytes + 1) <= n_bytes:
                    continue
                best[configuration] = n_bytes
                after = max(after if after < NEVER else BEYOND, needed - 1)
                push(after, _Node(configuration, node, byte, n_bytes), None)
            if learns:
                tables.correct(node.configuration, nearest + 1)
        raise DeadEnd(f"no document begins with {matcher.text()!r}")

    def _choices_after(self, probe: _Probe, matcher: Matcher, node: _Node) -> list[int]:
        try:
            return self.choices(probe)
        except DeadEnd as error:
            raise DeadEnd(f"{error} after {matcher.text() + node.text()!r}") from None
