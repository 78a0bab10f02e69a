"""From any point of a document to its end: the search that shows that a mask leads to no dead end.

The masks are those of a vocabulary with a token for every byte. A few attempts come first that take the byte which
closes what is open rather than one that opens more, and now and then any other: as no mask leads to a dead end, they
meet most ends, twelve different keys among them. What they do not meet is searched for.

Places are told apart by their sort: what may come next (`places.py`), how many brackets are open, how much white space,
how many escapes and letters beyond ASCII were written where something else was allowed. The search looks at the sort
that was met least often, where a meeting with several of those counts as often; among equals at the one found last. Of
the places of one sort it takes one with most members (a fifth key, a fifth different item), and every fourth time the
oldest, so none waits for ever. Lists that nest, members that change nothing, and texts that a record tells apart (all
of a free string's) thus wait behind whatever is new. No configuration is looked at twice, since its future does not
depend on the way to it: where finitely many can be reached an end is found or proved not to be there.

Tried and lost: depth first alone, which never meets a configuration again where the text is recorded; breadth first
alone, which reads a billion texts before one of ten bytes.

In: a matcher. Out: the document's last bytes. Cost: 2 us for each byte that is looked at.
"""

from __future__ import annotations

import heapq
import json
import random
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

import llmask
from bench.conformance.places import sort_of_place
from llmask.kernels import engine
from llmask.kernels.configurations import REFUSED
from llmask.kernels.shared_batch import CELL_CONFIGURATION, CELL_GRAMMAR

MOST_STEPS = 10_000  # configurations that are looked at
ATTEMPTS = (100, 200, 400, 800, 800, 800)  # moves of each
ANY_SHARE, STAY_SHARE = 0.1, 0.4  # of steps of an attempt: outside of strings, and where a string may end
ODD_COST = 2  # of what is odd, in brackets
OLDEST_EVERY = 4
OPENING, CLOSING = (b"{", b"["), (b"}", b"]")
_LETTERS = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _preference(first: bytes, last: bytes) -> list[int]:
    middle = [byte for byte in range(0x21, 0x100) if byte not in first and byte not in last]
    rest = [byte for byte in range(0x21) if byte not in first and byte not in last]
    return [*first, *middle, *last, *rest]


OUTSIDE = _preference(b'}]"' + b"0123456789ntf:,", b"-.eE+[{ \t\n\r")
INSIDE = _preference(b'"' + _LETTERS, b"\\")


class DeadEnd(Exception):
    """A mask without tokens, or a prefix of no document."""


class Found(NamedTuple):
    """How a document can end: its last bytes (None: the bound was spent); how many configurations were looked at."""

    ending: bytes | None
    n_steps: int


_PLAIN, _STRING, _ESCAPE = range(3)


def place_after(text: bytes, place: int = _PLAIN) -> int:
    """Whether JSON text leads outside of strings (0), into one (1), or behind a backslash in one (2)."""
    for byte in text:
        if place == _ESCAPE:
            place = _STRING
        elif byte == 0x22:
            place = _PLAIN if place == _STRING else _STRING
        elif byte == 0x5C and place == _STRING:
            place = _ESCAPE
    return place


def _is_odd(move: bytes, place: int) -> bool:
    return (move == b"\\" or move >= b"\x80") if place == _STRING else not move.strip()


class _Probe(llmask.Matcher):
    """A matcher that is put into one configuration after another and stays in its tables."""

    def __init__(self, matcher: llmask.Matcher) -> None:
        super().__init__(matcher.grammar)
        self._generation = matcher._generation
        self._cell[CELL_GRAMMAR] = matcher._cell[CELL_GRAMMAR]
        self.put(matcher._cell[CELL_CONFIGURATION])

    def _make_room(self) -> None:
        pass

    def put(self, configuration: int) -> None:
        """Go to a configuration of these tables."""
        self._cell[CELL_CONFIGURATION] = configuration

    def after(self, move: bytes, token: int | None) -> int:
        """The configuration after a byte's token, or after several bytes; REFUSED where they may not come."""
        if token is not None:
            return self._after(token)
        return self._run(engine.ADVANCE, self._cell[CELL_CONFIGURATION], np.frombuffer(move, np.uint8).astype(np.int32))


class _Node(NamedTuple):
    """A configuration and how it was reached: the node before, the bytes from there, where in JSON text this is.

    last      the last byte outside of white space
    n_opened  brackets that were opened since the beginning of the search, less those that were closed
    n_commas  commas since then
    n_odd     white space, escapes and bytes beyond ASCII since then that were not the only choice
    """

    configuration: int
    before: _Node | None
    move: bytes
    place: int
    last: bytes
    n_opened: int
    n_commas: int
    n_odd: int

    def text(self) -> bytes:
        """All bytes since the beginning of the search."""
        moves = []
        node: _Node | None = self
        while node is not None:
            moves.append(node.move)
            node = node.before
        return b"".join(reversed(moves))

    def after(self, move: bytes, configuration: int, is_odd: bool) -> _Node:
        """The node that a move leads to."""
        n_opened, n_commas = self.n_opened, self.n_commas
        if self.place == _PLAIN:
            n_opened += (move in OPENING) - (move in CLOSING)
            n_commas += move == b","
        last = move.rstrip()[-1:] or self.last
        place = place_after(move, self.place)
        return _Node(configuration, self, move, place, last, n_opened, n_commas, self.n_odd + is_odd)


_Sort = tuple[int, int, int, int]  # lexemes expected, lexer state, brackets, what is odd


class _SameSort:
    """The nodes of one sort that wait."""

    def __init__(self, rng: random.Random) -> None:
        self.n_taken = 0
        self._rng = rng
        self.waiting: dict[int, _Node] = {}  # by number, oldest first
        self._by_members: list[tuple[int, float, int]] = []  # a heap: most commas first, then any

    def add(self, number: int, node: _Node) -> None:
        self.waiting[number] = node
        heapq.heappush(self._by_members, (-node.n_commas, self._rng.random(), number))

    def take(self) -> _Node:
        """The one to look at next; there is one."""
        self.n_taken += 1
        if self.n_taken % OLDEST_EVERY == 0:
            return self.waiting.pop(next(iter(self.waiting)))
        while True:
            number = heapq.heappop(self._by_members)[2]
            if number in self.waiting:
                return self.waiting.pop(number)


class _Waiting:
    """Nodes to look at, by their sort."""

    def __init__(self, probe: _Probe, rng: random.Random) -> None:
        self._probe = probe
        self._rng = rng
        self._nodes: dict[_Sort, _SameSort] = {}
        self._sorts: list[tuple[int, int, _Sort]] = []  # a heap: cost, newest first; an entry for each node
        self._n_pushed = 0

    def _push(self, sort: _Sort) -> None:
        self._n_pushed += 1
        heapq.heappush(self._sorts, (self._cost(sort), -self._n_pushed, sort))

    def _cost(self, sort: _Sort) -> int:
        return (1 + self._nodes[sort].n_taken) * (1 + max(0, sort[2]) + ODD_COST * sort[3])

    def add(self, node: _Node) -> None:
        """Let a node wait."""
        sort = (*sort_of_place(self._probe, node.configuration), node.n_opened, node.n_odd)
        if sort not in self._nodes:
            self._nodes[sort] = _SameSort(self._rng)
        self._nodes[sort].add(self._n_pushed, node)
        self._push(sort)

    def take(self) -> _Node | None:
        """The node to look at next, or None when none waits."""
        while self._sorts:
            cost, _, sort = heapq.heappop(self._sorts)
            if cost < self._cost(sort):
                self._push(sort)
            else:
                return self._nodes[sort].take()
        return None


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
        self._bytes = {token: bytes([byte]) for byte, token in byte_ids.items()}
        self._orders = [np.array([byte_ids[byte] for byte in order]) for order in (OUTSIDE, INSIDE, INSIDE)]

    def choices(self, matcher: llmask.Matcher, place: int) -> list[int]:
        """The allowed bytes' tokens, preferred ones first.

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
        order = self._orders[place]
        allowed = self.bitmask[0, order >> 5] >> (order & 31) & 1
        found: list[int] = order[allowed.astype(bool)].tolist()
        return found

    def ending(self, matcher: llmask.Matcher, names: Sequence[str] = (), most_steps: int = MOST_STEPS) -> Found:
        """Bytes after which the document may end; the matcher is left as it was.

        Parameters
        ----------
        names : keys worth a try.
        most_steps : configurations to look at.

        Raises
        ------
        DeadEnd : there are none, or a mask on the way is empty.
        """
        if matcher.is_accepting():
            return Found(b"", 0)
        keys = [f"{json.dumps(name, ensure_ascii=False)}:".encode("utf-8", "replace") for name in names]
        text = matcher.text()
        probe = _Probe(matcher)
        root = _Node(matcher._cell[CELL_CONFIGURATION], None, b"", place_after(text), text.rstrip()[-1:], 0, 0, 0)
        rng = random.Random(len(text))
        for number, n_bytes in enumerate(ATTEMPTS):
            ending = self._attempt(probe, root, keys, n_bytes, rng, is_greedy=number == 0)
            if ending is not None:
                return Found(ending, 0)
        waiting = _Waiting(probe, rng)
        waiting.add(root)
        visited = {root.configuration}
        for n_steps in range(1, most_steps + 1):
            node = waiting.take()
            if node is None:
                raise DeadEnd(f"no document begins with {text!r}")
            for after in reversed(self._steps(probe, node, keys)):
                if after.configuration not in visited:
                    visited.add(after.configuration)
                    probe.put(after.configuration)
                    if probe.is_accepting():
                        return Found(after.text(), n_steps)
                    waiting.add(after)
        return Found(None, most_steps)

    def _attempt(
        self, probe: _Probe, node: _Node, keys: list[bytes], n_bytes: int, rng: random.Random, is_greedy: bool
    ) -> bytes | None:
        """An ending of at most so many moves, or None."""
        for _ in range(n_bytes):
            rng.shuffle(keys)
            moves = self._moves(probe, node, keys)
            if not moves:
                return None
            if node.place == _PLAIN:
                is_any = not is_greedy and rng.random() < ANY_SHARE
            else:
                is_any = moves[0][0] != b'"' or (not is_greedy and rng.random() < STAY_SHARE)
            if is_any:
                moves = [move for move in moves if not _is_odd(move[0], node.place)] or moves
                rng.shuffle(moves)
            for move, token in moves:
                configuration = probe.after(move, token)
                if configuration != REFUSED:
                    break
            else:
                raise DeadEnd(f"the mask allows only what is refused after {node.text()!r}")
            node = node.after(move, configuration, False)
            probe.put(configuration)
            if probe.is_accepting():
                return node.text()
        return None

    def _moves(self, probe: _Probe, node: _Node, keys: list[bytes]) -> list[tuple[bytes, int | None]]:
        """What may come next, preferred first: whole keys where an object needs one, then single bytes' tokens."""
        probe.put(node.configuration)
        try:
            tokens = self.choices(probe, node.place)
        except DeadEnd as error:
            raise DeadEnd(f"{error} {node.text()!r} further on") from None
        moves: list[tuple[bytes, int | None]] = [(self._bytes[token], token) for token in tokens]
        single = {move for move, _ in moves}
        if node.place == _PLAIN and node.last in (b"{", b",") and b'"' in single and b"}" not in single:
            moves = [(key, None) for key in keys] + moves
        return moves

    def _steps(self, probe: _Probe, node: _Node, keys: list[bytes]) -> list[_Node]:
        """The nodes that one move leads to."""
        moves = self._moves(probe, node, keys)
        is_free = any(not _is_odd(move, node.place) for move, _ in moves)
        found = []
        for move, token in moves:
            configuration = probe.after(move, token)
            if configuration != REFUSED:
                found.append(node.after(move, configuration, is_free and _is_odd(move, node.place)))
            elif token is not None:
                raise DeadEnd(f"the mask allows {move!r} and it is refused after {node.text()!r}")
        return found
