"""A prefix that the tokens spell before the document: what a healed prompt gave back.

    prompt "The url is http:" -> kept "The url is http", prefix ":"      document "//example.org"
    tokens allowed first: those that begin ":" (":", "://", ...) as far as the document goes on so

As long as the prefix is not spelled, masks are made here, from the trie: the tokens on the path of what is left of the
prefix, and the tokens below its end that the document begins with. All sequences of the grammar share the tables.

A grammar of the prefix and then the document was tried instead: of 136 schemas of SchemaStore it cannot be made of 46
(34 compare texts; lexemes of 12 would have to be split, or might have to be), takes 0.1 s for the median of the others
and has tables of its own for each prefix (2026-11-29). Canonical masks need one all the same.

In: a sequence, bytes. Out: masks. Cost: of a mask inside of the prefix 2 us a trie node that the document can begin
with; then nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import as_row, shown
from ..errors import VocabularyError
from ..kernels.finish.paths import NO_BOUND
from ..kernels.machine.constants import NO_TOKEN
from ..kernels.mask.cell import ASK, CELL_FILTER
from ..kernels.mask.configurations import REFUSED
from ..kernels.tables.operations import Operation
from ..mask.apply import id_mask
from ..store.generation import items_of
from .budget import check_least, checked_budget, no_end
from .features import Feature
from .finish import ends_of

if TYPE_CHECKING:
    from .sequence import Sequence


class Healing(Feature):
    """See `CompiledGrammar.matcher`. A mark is how many bytes of the prefix are spelled."""

    __slots__ = ("lead",)

    def __init__(self, prefix: bytes) -> None:
        super().__init__(0)
        self.lead = prefix

    @property
    def rest(self) -> bytes:  # type: ignore[override]
        """What is left of the prefix."""
        return self.lead[self.marks[-1] :]

    @property
    def is_over(self) -> bool:  # type: ignore[override]
        """Whether the prefix is spelled."""
        return not self.rest

    def show(self, sequence: Sequence) -> None:
        """As `Feature.show`."""
        if self.rest:
            sequence.cell[CELL_FILTER] = ASK

    def may_end(self, sequence: Sequence) -> bool:
        """As `Feature.may_end`."""
        return not self.rest

    def take(self, sequence: Sequence, token: int, position: int) -> int | None:
        """As `Feature.take`: what begins inside of the prefix."""
        rest = self.lead[self.marks[position] :]
        if not rest:
            return None
        data = sequence.data_of(token, position) if token < sequence.store.tokenizer.vocab_size else b""
        if not data or not data.startswith(rest[: len(data)]):
            return REFUSED
        if position == len(self.marks) - 1:
            sequence.make_room()
        return sequence.generation.advance(sequence.generation.start, data[len(rest) :])[0]

    def note(self, sequence: Sequence, token: int, reached: int, position: int) -> tuple[int, Any]:
        """As `Feature.note`."""
        return reached, min(self.marks[position] + len(sequence.data_of(token, position)), len(self.lead))

    def fill(self, sequence: Sequence, bitmask: Any, row: int, budget: int | None) -> bool | None:
        """As `Feature.fill`: inside of the prefix the tokens that spell it, which a budget counts, too."""
        if not self.rest:
            return None
        words, row = as_row(bitmask, row, sequence.store.n_words)
        tokens = self._spelling_tokens(sequence)
        if not tokens:
            raise VocabularyError(
                f"no token of the vocabulary spells {shown(self.rest)} and then what the grammar goes on with",
                where=sequence.place(),
                help="use a vocabulary with a token for every byte",
            )
        if budget is not None:
            tokens = self._tokens_within(sequence, tokens, checked_budget(budget))
        words[row] = id_mask(tokens, words.shape[1])
        return sequence.narrowed(words, row, len(tokens) < sequence.store.tokenizer.vocab_size)

    def _spelling_tokens(self, sequence: Sequence) -> list[int]:
        """Tokens that spell the beginning of the rest of the prefix, or all of it and the beginning of a document."""
        sequence.make_room()
        trie = sequence.store.tokenizer._parts.trie
        first, of_byte, of_node, token_at = trie.child_first, trie.child_byte, trie.child_node, trie.token
        path = trie.path(self.rest)
        tokens = token_at[path[1:]].tolist()
        waiting = [(path[-1], sequence.generation.start)] if len(path) > len(self.rest) else []
        while waiting:
            node, configuration = waiting.pop()
            for child in range(int(first[node]), int(first[node + 1])):
                data = np.array([of_byte[child]], np.int32)
                reached = sequence.run(Operation.ADVANCE, configuration, data)
                if reached != REFUSED:
                    waiting.append((int(of_node[child]), reached))
                    tokens.append(int(token_at[of_node[child]]))
        found = {token for token in tokens if token != NO_TOKEN}
        return [*found, *(other for token, other in trie.duplicates.tolist() if token in found)]

    # --- ways to the end

    def _bounds(self, sequence: Sequence, tokens: list[int]) -> list[int]:
        """Bounds (see budget.py) after tokens that spell the beginning of the rest of the prefix, or all of it.

        Of what is left of the prefix after a token it is counted how few tokens spell it and nothing else.
        """
        tokenizer, rest, bounds = sequence.store.tokenizer, self.rest, []
        trie, token_bytes = tokenizer._parts.trie, tokenizer.token_bytes
        token_at = trie.token
        sequence.make_room()
        with sequence.store.lock:
            ends = ends_of(sequence.generation)
            run, start = sequence.generation.run, sequence.generation.start
            of_tails = [ends.bound(start)]  # by the length of what is left
            for length in range(1, len(rest)):
                lengths = (n for n, node in enumerate(trie.path(rest[-length:])) if token_at[node] != NO_TOKEN)
                of_tails.append(min([*(of_tails[length - n] + 1 for n in lengths), NO_BOUND]))
            for text in map(token_bytes, tokens):
                if len(text) <= len(rest):
                    bounds.append(of_tails[len(rest) - len(text)])
                else:
                    bounds.append(ends.bound(run(Operation.ADVANCE, start, data=items_of(text[len(rest) :]))))
        return bounds

    def _tokens_within(self, sequence: Sequence, tokens: list[int], budget: int) -> list[int]:
        """Some tokens, without those that break a budget; at the start a budget below them all is refused."""
        bounds = self._bounds(sequence, tokens)
        if len(sequence.history) <= sequence.begin and budget <= min(bounds):
            check_least(budget, self._least_bound(sequence, True))
            bounds = self._bounds(sequence, tokens)
        most = max(budget - 1, min(bounds))
        return [token for token, bound in zip(tokens, bounds, strict=True) if bound <= most]

    def _least_bound(self, sequence: Sequence, searches: bool) -> int:
        """Tokens that suffice, if wanted after a search for a shorter way; NO_BOUND: none are known."""
        sequence.make_room()
        with sequence.store.lock:
            ends = ends_of(sequence.generation)
            if searches or ends.bound(sequence.generation.start) >= NO_BOUND:
                ends.search(sequence.generation.start)
        bounds = self._bounds(sequence, self._spelling_tokens(sequence))
        return min([NO_BOUND, *(bound + 1 for bound in bounds)])

    def least_budget(self, sequence: Sequence, exact: bool) -> int | None:
        """As `Feature.least_budget`, the tokens of the prefix included."""
        if not self.rest:
            return None
        bound = self._least_bound(sequence, exact)
        if bound >= NO_BOUND:
            raise no_end(sequence.place())
        return bound

    def finishing_tokens(self, sequence: Sequence) -> list[int] | None:
        """As `Feature.finishing_tokens`, the tokens of the prefix included."""
        if not self.rest:
            return None
        spelling = self._spelling_tokens(sequence)
        bounds = self._bounds(sequence, spelling)
        token = spelling[bounds.index(min(bounds))]
        twin = sequence.fork()
        twin.accept(token)
        return [token, *twin.finishing_tokens()]

    def expectation(self, after: bytes) -> str | None:
        """As `Feature.expectation`."""
        return f"expected {shown(self.rest[len(after) :])}" if len(after) < len(self.rest) else None
