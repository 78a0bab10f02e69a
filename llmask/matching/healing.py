"""A matcher whose tokens first spell given bytes, which are no part of the document: what a healed prompt gave back.

    prompt "The url is http:" -> kept "The url is http", prefix ":"      document "//example.org"
    tokens allowed first: those that begin ":" (":", "://", ...) as far as the document goes on so

As long as the prefix is not spelled, its matcher makes the masks here, from the trie: the tokens on the path of what is
left of the prefix, and those below its end that the document begins with. Afterwards it is a matcher like any other.

In: a grammar, bytes. Out: masks. Cost: of a mask inside of the prefix 2 us a trie node that the document can begin
with; then nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import as_bitmask, as_integer, no_such_row, shown
from ..errors import VocabularyError
from ..kernels.finish.paths import NO_BOUND
from ..kernels.machine.constants import NO_TOKEN
from ..kernels.mask.cell import ASK, CELL_CONFIGURATION, CELL_FILTER, NO_FILTER
from ..kernels.mask.configurations import REFUSED
from ..kernels.tables.operations import Operation
from ..store.generation import Generation
from ..store.loaded_grammar import LoadedGrammar
from .budget import check_least, checked_budget, no_end
from .finish import ends_of
from .matcher import Matcher
from .sequence import ALL_TAKEN, items_of

if TYPE_CHECKING:
    from typing_extensions import Self

NO_NODE = -1


class PrefixedMatcher(Matcher):
    """See `CompiledGrammar.matcher`. The bytes of the prefix count as text that the tokens have to spell.

    Attributes
    ----------
    prefix : as given.
    """

    follows_grammar = False

    __slots__ = ("_n_spelled", "prefix")

    def __init__(self, grammar: LoadedGrammar, prefix: bytes) -> None:
        super().__init__(grammar)
        self.prefix = prefix
        self._n_spelled = 0  # bytes of the prefix
        self.cell[CELL_FILTER] = ASK

    def _arguments(self) -> dict[str, Any]:
        return {**super()._arguments(), "prefix": self.prefix}

    @property
    def rest(self) -> bytes:
        """What is left of the prefix."""
        return self.prefix[self._n_spelled :]

    @property
    def lead(self) -> bytes:
        """As `Matcher.lead`."""
        return self.prefix

    def _count(self) -> None:
        """Find out how much of the prefix the tokens spell."""
        self._n_spelled = min(len(self.text()), len(self.prefix))
        self.cell[CELL_FILTER] = ASK if self.rest or self._finishes_from is not None else NO_FILTER

    def fill_bitmask(self, bitmask: Any, row: int = 0, budget: int | None = None) -> bool:
        """As `Matcher.fill_bitmask`; inside of the prefix the tokens that spell it, which a budget counts, too."""
        if not self.rest:
            return super().fill_bitmask(bitmask, row, budget)
        bitmask = as_bitmask(bitmask)
        if not 0 <= row < len(bitmask) or bitmask.shape[1] < self.store.n_words:
            raise no_such_row(row, bitmask, self.store.n_words)
        tokens = self._spelling_tokens(self.rest)
        if not tokens:
            raise VocabularyError(
                f"no token of the vocabulary spells {shown(self.rest)} and then what the grammar goes on with",
                where=self.place(),
                help="use a vocabulary with a token for every byte",
            )
        if budget is not None:
            tokens = self._tokens_within(tokens, checked_budget(budget))
        flags = np.zeros(bitmask.shape[1] * 32, bool)
        flags[tokens] = True
        bitmask[row] = np.packbits(flags, bitorder="little").view(np.int32)
        return len(tokens) < self.store.tokenizer.vocab_size

    def _spelling_tokens(self, rest: bytes) -> list[int]:
        """Tokens that spell the beginning of the rest of the prefix, or all of it and the beginning of a document."""
        self.make_room()
        trie = self.store.tokenizer._parts.trie
        tokens, node = self._tokens_on(rest)
        first, of_byte, of_node, token_at = trie.child_first, trie.child_byte, trie.child_node, trie.token
        if node != NO_NODE:
            waiting = [(node, self.generation.start)]
            while waiting:
                node, configuration = waiting.pop()
                for child in range(int(first[node]), int(first[node + 1])):
                    data = np.array([of_byte[child]], np.int32)
                    reached = self.run(Operation.ADVANCE, configuration, data)
                    if reached != REFUSED:
                        waiting.append((int(of_node[child]), reached))
                        tokens.append(int(token_at[of_node[child]]))
        found = {token for token in tokens if token != NO_TOKEN}
        return [*found, *(other for token, other in trie.duplicates.tolist() if token in found)]

    def _tokens_on(self, rest: bytes) -> tuple[list[int], int]:
        """What ends at the trie's nodes on the way through some bytes, and the node behind them or NO_NODE."""
        trie = self.store.tokenizer._parts.trie
        tokens, node = [], 0
        for byte in rest:
            children = range(int(trie.child_first[node]), int(trie.child_first[node + 1]))
            found = (int(trie.child_node[child]) for child in children if trie.child_byte[child] == byte)
            node = next(found, NO_NODE)
            if node == NO_NODE:
                break
            tokens.append(int(trie.token[node]))
        return tokens, node

    def _bounds_behind(self, tokens: list[int]) -> list[int]:
        """Bounds (see budget.py) behind tokens that spell the beginning of the rest of the prefix, or all of it.

        Of what is left of the prefix behind a token it is counted how few tokens spell it and nothing else.
        """
        token_bytes = self.store.tokenizer.token_bytes
        rest = self.rest
        bounds = {}
        self.make_room()
        with self.store.lock:
            ends = ends_of(self.generation)
            run, start = self.generation.run, self.generation.start
            of_tails = [ends.bound(start)]  # by the length of what is left
            for length in range(1, len(rest)):
                spelling = [token for token in self._tokens_on(rest[-length:])[0] if token != NO_TOKEN]
                behind = (of_tails[length - len(token_bytes(token))] + 1 for token in spelling)
                of_tails.append(min([*behind, NO_BOUND]))
            for token in tokens:
                text = token_bytes(token)
                if len(text) <= len(rest):
                    bounds[token] = of_tails[len(rest) - len(text)]
                else:
                    bounds[token] = ends.bound(run(Operation.ADVANCE, start, data=items_of(text[len(rest) :])))
        return [bounds[token] for token in tokens]

    def _tokens_within(self, tokens: list[int], budget: int) -> list[int]:
        """Those of some tokens behind which a budget can be kept; at the start a budget below them all is refused."""
        bounds = self._bounds_behind(tokens)
        if not len(self.history) and budget <= min(bounds):
            check_least(budget, self._least_bound())
            bounds = self._bounds_behind(tokens)
        most = max(budget - 1, min(bounds))
        return [token for token, bound in zip(tokens, bounds, strict=True) if bound <= most]

    def least_budget(self, exact: bool = False) -> int:
        """As `Matcher.least_budget`, the tokens of the prefix included."""
        if not self.rest:
            return super().least_budget(exact)
        bound = self._least_bound(exact)
        if bound >= NO_BOUND:
            raise no_end(self.place())
        return bound

    def _least_bound(self, searches: bool = True) -> int:
        """Tokens that suffice, if wanted after a search for a shorter way; NO_BOUND: none are known."""
        self.make_room()
        with self.store.lock:
            ends = ends_of(self.generation)
            if searches or ends.bound(self.generation.start) >= NO_BOUND:
                ends.search(self.generation.start)
        bounds = self._bounds_behind(self._spelling_tokens(self.rest))
        return min([NO_BOUND, *(bound + 1 for bound in bounds)])

    def _way_on(self) -> list[int]:
        return self.finishing_tokens()[:1] if self.rest else super()._way_on()

    def finishing_tokens(self) -> list[int]:
        """As `Matcher.finishing_tokens`, the tokens of the prefix included."""
        twin = self.fork()
        tokens = []
        while twin.rest:
            spelling = twin._spelling_tokens(twin.rest)
            bounds = twin._bounds_behind(spelling)
            tokens.append(spelling[bounds.index(min(bounds))])
            twin.accept_token(tokens[-1])
        return tokens + Matcher.finishing_tokens(twin)

    def accept(self, token: int) -> bool:
        """As `Matcher.accept`."""
        if type(token) is not int:
            token = as_integer(token, "a token id")
        try:
            if not self.rest:
                is_accepted = super().accept(token)
            else:
                reached = self._inside(token)
                is_accepted = reached != REFUSED
                if is_accepted:
                    self.history.push(token, reached)
                    self.cell[CELL_CONFIGURATION] = reached
            if is_accepted:
                self._count()
        except BaseException:
            self._settle()
            raise
        return is_accepted

    def _inside(self, token: int) -> int:
        """Configuration after a token that begins inside of the prefix, or REFUSED."""
        tokenizer = self.store.tokenizer
        data = tokenizer.token_bytes(token) if 0 <= token < tokenizer.vocab_size else b""
        if not data:
            return REFUSED
        self.make_room()
        return self._read(self.generation, data)

    def _read(self, generation: Generation, data: bytes) -> int:
        """Configuration after bytes that begin inside of the prefix, or REFUSED."""
        rest = self.rest
        if not data.startswith(rest[: len(data)]):
            return REFUSED
        return generation.advance(generation.start, data[len(rest) :])[0]

    def take_bytes(self, data: bytes, begin: int = 0) -> int:
        """As `Matcher.take_bytes`; the rest of the prefix comes first."""
        rest = self.rest[: len(data)]
        at = next((n for n, wanted in enumerate(rest) if data[n] != wanted), ALL_TAKEN)
        return super().take_bytes(data, len(rest)) if at == ALL_TAKEN else at

    def _take_bytes(self, data: bytes, reached: int) -> None:
        try:
            super()._take_bytes(data, reached)
            self._count()
        except BaseException:
            self._settle()
            raise

    def _settle(self) -> None:
        super()._settle()
        self._count()

    def fork(self) -> Self:
        """As `Matcher.fork`."""
        twin = super().fork()
        twin.prefix, twin._n_spelled = self.prefix, self._n_spelled
        return twin

    def _move(self, generation: Generation) -> None:
        self._n_spelled = 0
        try:
            super()._move(generation)
        finally:
            self._count()

    def _repeat(self, generation: Generation, configuration: int, token: int, data: bytes | None) -> int:
        rest = self.rest
        if not rest:
            return super()._repeat(generation, configuration, token, data)
        data = self.store.tokenizer.token_bytes(token) if data is None else data
        reached = self._read(generation, data)
        self._n_spelled += min(len(data), len(rest))
        return reached

    def is_accepting(self) -> bool:
        """As `Matcher.is_accepting`; False inside of the prefix."""
        return not self.rest and super().is_accepting()

    def forced_bytes(self) -> bytes:
        """As `Matcher.forced_bytes`; inside of the prefix its rest comes first."""
        return self.rest + super().forced_bytes()

    def _expectation(self, after: bytes = b"") -> str:
        rest = self.rest
        if len(after) < len(rest):
            return f"expected {shown(rest[len(after) :])}"
        return super()._expectation(after[len(rest) :])
