"""Regular expressions over bytes, hash-consed in a store's table: what frontends build lexemes from.

Every method returns a node id; equal ids mean equal expressions. The laws that make two spellings equal are in
`kernels/regex/constructors.py`. `tests/reference/regex_nodes.py` holds the plain twin with the same methods.

In: byte sets, literals, ids. Out: ids. Cost: about 1 us a call, most of it Python's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import GrammarError, LimitExceeded
from ..kernels.regex.nodes import Node, NodeFlag
from ..kernels.table import Table
from ..kernels.tables import kept
from ..kernels.tables.grammar_layout import GRAMMAR, GRAMMAR_POOLS
from ..kernels.tables.operations import Operation
from ..work import in_parts, let_others_in

if TYPE_CHECKING:
    from ..tokenizer.tokenizer import Tokenizer
    from .code_points import CodePointSet

UNBOUNDED = 2**31 - 1
MOST_LISTED = 64
SINGLES = tuple((bytes([byte]),) for byte in range(256))
PIECE = 2**17  # numbers of an automaton that are copied in one operation: some tenths of a millisecond
KEPT_BYTES = 2**40  # of an operation that waits for its next part; the scratch stack is bounded
PREPARED_BYTES = 2**26  # for the rules, rows and configurations of a grammar of one lexeme
PREPARED_ROWS = 64
# what parser/load_rules.py loads of such a grammar: start rule, nothing ignored, no JSON; lengths of the columns; start
# of its rule; rules of its states; an edge; an end; a guard that lets everything through; nothing required; no
# priorities and nothing chained
ONE_LEXEME = (
    *(0, -1, 0, 0, 0, 0),
    *(1, 2, 1, 1, 1, 2, 0, 0),
    *(0, 0, 0),
    *(0, 0, None, 1, 0),
    *(1, 0),
    *(0, 0, UNBOUNDED, 0, UNBOUNDED),
    *(0, 0),
)

Run = Callable[..., int]


class Remembered(dict[Hashable, Any]):
    """What frontends remember of a store's nodes; all grammars of the store share it."""


class RegexNodes:
    """Constructors and questions for the regex nodes of one store.

    Parameters
    ----------
    run : runs one operation of `kernels.engine.build` under the store's lock and raises `LimitExceeded`.
    count : how many nodes there are.
    table : the tokens of the vocabulary; None where no grammar names any.
    memory : the store's table, for `text`.

    Attributes
    ----------
    memo : what frontends remember of the nodes that they built, under keys of their own; as old as the nodes.
    listed : the words, or the first MOST_LISTED, of nodes that were made of one or of several.
    variant_key : what the memo is about, where a frontend builds the same things in several ways; see `variant`.
    """

    EMPTY = 0  # matches no string
    EPSILON = 1  # matches the empty string
    ALL = 2  # matches every byte string

    def __init__(
        self, run: Run, count: Callable[[], int], table: Tokenizer | None = None, memory: Table | None = None
    ) -> None:
        self._run = run
        self._count = count
        self.table = table
        self._memory = memory
        self._names: dict[int, str] = {}
        self._characters: dict[int, CodePointSet] = {}
        self.memo: dict[Hashable, Any] = Remembered()
        self._memos = [self.memo]  # and the parts of it that `remembered` gave
        self.variant_key: Any = None
        self.listed: dict[int, tuple[bytes, ...]] = self.remembered("listed")
        self._dfas: dict[Hashable, int] = {}  # kernels keep each automaton that they are given

    @property
    def n_nodes(self) -> int:
        """How many nodes there are: a measure of the work that was done with them."""
        return self._count()

    @property
    def n_remembered(self) -> int:
        """Entries of the memo."""
        return sum(map(len, self._memos))

    def remembered(self, key: Hashable) -> dict[Any, Any]:
        """A part of the memo that has entries of its own."""
        found: dict[Any, Any] | None = self.memo.get(key)
        if found is None:
            part = Remembered()
            found = self.memo.setdefault(key, part)  # another thread may be here
            if found is part:
                self._memos.append(part)
        return found

    def variant(self, key: Hashable) -> RegexNodes:
        """The same nodes with a memo of its own for each `key`; what is remembered there is never mixed up."""
        other = copy(self)
        other.memo = self.remembered((__name__, key))
        other.variant_key = key
        return other

    def name(self, node: int, name: str) -> int:
        """Call a node by a name wherever it is printed; returns the node. The first name stays."""
        self._names.setdefault(node, name)
        return node

    def name_characters(self, node: int, members: CodePointSet) -> None:
        """Print a node as one character of a set."""
        self._characters.setdefault(node, members)

    def text(self, node: int) -> str:
        """A node as people read it, long ones cut: see notation.py."""
        from .notation import node_text

        assert self._memory is not None, "the store gives its table"
        return node_text(self._memory, node, self._names, self._characters)

    def byte_set(self, mask: int) -> int:
        """One byte of a set; bit b of the 256-bit `mask` means byte b."""
        words = np.frombuffer(mask.to_bytes(32, "little"), np.int32).copy()
        return self._run(Operation.BYTE_SET, data=words)

    def literal(self, data: bytes) -> int:
        """Exactly these bytes."""
        if len(data) == 1:
            node = Node.FIRST_SINGLE + data[0]
        else:
            node = self._run(Operation.LITERAL, data=np.frombuffer(data, np.uint8).astype(np.int32))
        self.listed[node] = (data,)
        return node

    def words(self, words: Sequence[bytes]) -> int:
        """Any of `words`, which are ascending and all different, as a prefix tree: see regex/word_trees.py."""
        text = b"".join(words)
        n_items = 1 + len(words)
        data = np.zeros(n_items + (len(text) + 3) // 4, np.int32)
        data[0] = len(words)
        data[1:n_items] = np.fromiter(map(len, words), np.int32, len(words))
        data[n_items:].view(np.uint8)[: len(text)] = np.frombuffer(text, np.uint8)
        table = _new_kept()
        while True:
            found = self._run(Operation.WORDS, data=data, grammar=table)
            if found != kept.NOT_DONE:
                self.listed[found] = tuple(words[:MOST_LISTED])
                return found
            let_others_in()

    def words_of(self, node: int) -> tuple[bytes, ...]:
        """The words, or the first MOST_LISTED, of a node that was made of one or of several; of others none."""
        return self.listed.get(node, ())

    def concat(self, nodes: Sequence[int]) -> int:
        """One after the other."""
        return self._run(Operation.CONCAT, data=np.array(nodes, np.int32))

    def union(self, nodes: Sequence[int]) -> int:
        """What any of them matches."""
        found = self._run(Operation.UNION, data=np.array(nodes, np.int32))
        if all(map(self.listed.get, nodes)):
            words = dict.fromkeys(word for node in nodes for word in self.listed[node])
            self.listed[found] = tuple(words)[:MOST_LISTED]
        return found

    def intersect(self, nodes: Sequence[int]) -> int:
        """What all of them match."""
        return self._run(Operation.INTERSECT, data=np.array(nodes, np.int32))

    def lazy(self, node: int) -> int:
        """As a lexeme: a string of `node` that ends where it first can, and so do all lexemes that are expected there.

        As an expression it is `node`, and another one.
        """
        found = self.concat([node, Node.LAZY_END])
        self.memo[__name__, "lazy", found] = True
        return found

    def is_lazy(self, node: int) -> bool:
        """Whether `lazy` made it."""
        return (__name__, "lazy", node) in self.memo

    def mark_units(self, node: int, are_all: bool) -> None:
        """Say that every string of `node` is one word of the prefix code that JSON spells code points with; no word
        begins with a quote.

        Repetitions of such nodes are intersected by counting words. `are_all`: the node is the whole code.
        """
        self._run(Operation.MARK, node, NodeFlag.UNIT | NodeFlag.TEXT | (NodeFlag.ALL_UNITS if are_all else 0))

    def mark_character(self, node: int) -> None:
        """Say that every string of `node` is one code point in UTF-8: repetitions of it count these."""
        self._run(Operation.MARK, node, NodeFlag.CHARACTER)

    def complement(self, node: int) -> int:
        """Every byte string that `node` does not match."""
        return self._run(Operation.COMPLEMENT, node)

    def without(self, node: int, others: Sequence[int]) -> int:
        """What `node` matches and none of `others`."""
        return self._run(Operation.EXCEPT, node, data=np.array(others, np.int32))

    def repeat(self, node: int, low: int, high: int | None = None) -> int:
        """`low` to `high` times (None: no bound), kept as a counter."""
        if low < 0 or (high is not None and high < low) or max(low, high or 0) >= UNBOUNDED:
            raise GrammarError(
                f"a repetition cannot be bounded by {low} and {high}", help=f"bounds are ordered and below {UNBOUNDED}"
            )
        return self._run(Operation.REPEAT, node, low, UNBOUNDED if high is None else high)

    def dfa(self, class_of_byte: npt.NDArray[Any], next_state: npt.NDArray[Any], accepting: npt.NDArray[Any]) -> int:
        """A deterministic automaton; state 0 starts.

        Parameters
        ----------
        class_of_byte : uint8[256], the column of `next_state` for each byte.
        next_state : int32[n_states, n_classes], -1 where no string goes on.
        accepting : bool[n_states].
        """
        classes, order = np.unique(class_of_byte, return_index=True)
        # kernels number classes by their first byte
        by_first_byte = classes[np.argsort(order)]
        column_of = np.zeros(256, np.int32)
        column_of[by_first_byte] = np.arange(len(by_first_byte))
        table = np.take(next_state, by_first_byte, axis=1).astype(np.int32, copy=False)
        accepts = np.asarray(accepting, bool)
        distance = _distances(table, accepts)
        if distance[0] < 0:
            return self.EMPTY
        if distance.min() < 0:
            table[distance[table] < 0] = -1  # states from which nothing is accepted are cut off
        said = np.stack([accepts, np.maximum(distance, 0)], axis=1)
        data = np.concatenate([column_of[class_of_byte], table.ravel(), said.ravel()]).astype(np.int32, copy=False)
        key = table.shape, hashlib.blake2b(data.data).digest()  # the data themselves may be 21 MB
        node = self._dfas.get(key)
        if node is None:
            numbers = data[256:]
            place = self._run(Operation.PUT_NUMBERS, -1, len(numbers), data=numbers[:PIECE])
            for at in range(PIECE, len(numbers), PIECE):
                let_others_in()
                self._run(Operation.PUT_NUMBERS, place + at, data=numbers[at : at + PIECE])
            node = self._run(Operation.DFA, table.shape[1], table.shape[0], place, data[:256])
            self._dfas[key] = node
        return node

    def tokens(self, ranges: Sequence[tuple[int, int]], has_text: bool) -> int:
        """A terminal of tokens by their ids, which is no part of any expression: for `Rules.scan` alone.

        Parameters
        ----------
        ranges : first and last id of each range, in their order, apart from each other; at least one.
        has_text : whether some of the tokens have bytes.
        """
        data = np.array([int(has_text), *(token for pair in ranges for token in pair)], np.int32)
        found = self._run(Operation.TOKENS, data=data)
        self.memo[__name__, "tokens", found] = True
        return found

    def names_tokens(self, node: int) -> bool:
        """Whether `tokens` made it."""
        return (__name__, "tokens", node) in self.memo

    def is_nullable(self, node: int) -> bool:
        """Whether `node` matches the empty string."""
        return self._run(Operation.IS_NULLABLE, node) != 0

    def is_empty(self, node: int) -> bool:
        """Whether `node` matches no string at all; exact."""
        table: Table | None = None

        def search() -> int:
            nonlocal table
            try:
                return self._run(Operation.IS_EMPTY, node, grammar=table)
            except LimitExceeded:
                if table is None:  # few nodes need it
                    table = _new_kept()
                raise

        return in_parts(search, lambda: table.slots[kept.KEPT.progress] if table else 0) != 0

    def is_open(self, node: int) -> bool:
        """Whether what is not yet a string of `node`, if it can become one, can in infinitely many ways.

        False also where deciding it takes too long. See `llmask.grammar.rules.Rules.call_new`.
        """
        return in_parts(lambda: self._run(Operation.IS_OPEN, node)) != 0

    def extensions(self, one: int, other: int) -> tuple[int, bool]:
        """Where `one` may end while `other` goes on, over all strings but the empty one.

        Returns
        -------
        bytes : bit b is set where a string of `one` and then byte b begin a string of `other`; every bit where
            deciding it takes too long.
        may_both_end : whether some string is in both; True where deciding it takes too long.
        """
        key = (__name__, "extensions", one, other)
        found = self.memo.get(key)
        if found is None:
            flags = np.zeros(257, np.int32)
            is_decided = self._run(Operation.EXTENSIONS, one, other, data=flags) != 0
            packed = int.from_bytes(np.packbits(flags.astype(bool), bitorder="little").tobytes(), "little")
            found = (packed & (2**256 - 1), bool(packed >> 256)) if is_decided else (2**256 - 1, True)
            self.memo[key] = found
        return found

    def put_extensions_of_words(self, node: int, words: Iterable[bytes]) -> None:
        """Remember `extensions(node, node)` of a list of words, which may be too long for it."""
        known = sorted(set(words))
        found = 0
        shorter: list[bytes] = []  # the words that `word` begins with
        for word in known:
            while shorter and not word.startswith(shorter[-1]):
                shorter.pop()
            for begun in shorter:
                found |= 1 << word[len(begun)] if begun else 0
            shorter.append(word)
        self.memo[__name__, "extensions", node, node] = found, any(known)

    def put_prefix_code(self, node: int) -> None:
        """Remember of `extensions(node, node)` that no string of a node is the beginning of another."""
        self.memo[__name__, "extensions", node, node] = 0, True

    def first_bytes(self, node: int) -> int:
        """Bit b is set where a string of `node` may begin with byte b."""
        # what may follow one byte of any value where `node` goes on after it
        any_byte = self.byte_set(2**256 - 1)
        return self.extensions(any_byte, self.concat([any_byte, node]))[0]

    def derivative(self, node: int, byte: int) -> int:
        """What is left of `node` after one byte."""
        return self._run(Operation.DERIVATIVE, node, byte)

    def matches(self, node: int, data: bytes) -> bool:
        """Whether `node` matches all of `data`."""
        return self._run(Operation.MATCHES, node, data=np.frombuffer(data, np.uint8).astype(np.int32)) != 0

    def prepare(self, node: int, pieces: Sequence[bytes]) -> None:
        """Build the masks of a lexeme where it begins and after each of `pieces`, which may not fit, in turn.

        Lexer states and their masks belong to the store, so a grammar that is thrown away makes them for all.
        """
        table = Table(GRAMMAR.n_slots, PREPARED_BYTES, GRAMMAR.blocks, GRAMMAR_POOLS)
        table.slots[GRAMMAR.max_rows] = table.slots[GRAMMAR.max_items] = PREPARED_ROWS
        data = np.array([node if column is None else column for column in ONE_LEXEME], np.int32)
        here = self._run(Operation.LOAD_RULES, data=data, grammar=table)
        assert here >= 0, "ONE_LEXEME is not what LOAD_RULES reads"
        for text in (b"", *pieces):
            if here >= 0:
                read = np.frombuffer(text, np.uint8).astype(np.int32)
                here = self._run(Operation.ADVANCE, here, data=read, grammar=table)
            if here >= 0:
                self._run(Operation.BUILD_MASK, here, grammar=table)


def _new_kept() -> Table:
    """What keeps an operation between its parts, see kernels/tables/kept.py."""
    return Table(kept.KEPT.n_slots, KEPT_BYTES, kept.KEPT.blocks, ())


def _distances(table: npt.NDArray[np.int32], accepts: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
    """Bytes from each state of an automaton to the nearest one that accepts; -1 where none is reached.

    Edges are followed backwards, each once or, where classes with another target lie between, a few times: looking at
    all states again for every byte of distance took 1.3 s for 42,000 states of 115 classes.
    """
    is_edge = table >= 0
    is_edge[:, 1:] &= table[:, 1:] != table[:, :-1]
    sources, targets = np.nonzero(is_edge)[0], table[is_edge]
    order = np.argsort(targets, kind="stable")
    sources = sources[order]
    first_edge = np.searchsorted(targets[order], np.arange(len(table) + 1)).tolist()
    distance = np.where(accepts, 0, -1).astype(np.int32)
    reached, n_bytes = np.flatnonzero(accepts), 0
    while len(reached):
        n_bytes += 1
        before = np.concatenate([sources[first_edge[state] : first_edge[state + 1]] for state in reached.tolist()])
        reached = np.unique(before[distance[before] < 0])
        distance[reached] = n_bytes
    return distance
