"""Which tokens may stand side by side in a word, and which words are tokens that merging would not make.

`ignore_merges` (Llama 3): a word that is a token is encoded as that token whatever the merges say. Some hundreds of
tokens are made in no other way. Such a token is *lone*: it has no neighbours in its word; and the sequence that merging
would make of its bytes, a *chain*, must not be a whole word.

In: a BPE encoder. Out: lists of incompatible tokens, chains. Cost: 0.1 s once for 128,256 tokens; a list 20 to 200 us.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..encoders.bpe import BpeEncoder
from ..kernels import canonical_pairs, encoder_slots, jit

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer

MOST_LISTS = 5_000
NO_TOKEN = -1
NO_CHAIN = 0
NOTHING: npt.NDArray[np.int32] = np.empty(0, np.int32)


class Neighbours:
    """Pairs and chains of one tokenizer."""

    def __init__(self, tokenizer: Tokenizer, encoder: BpeEncoder) -> None:
        jit.make_ready("canonical")
        self.tokenizer = tokenizer
        self._tables = encoder.tables
        self._reachable = self._tables.is_reachable[: tokenizer.vocab_size].astype(np.uint8)
        self._include = self._reachable.copy()
        whole = self._whole_tokens(encoder)
        self._include[whole] = 1
        self._chains = self._make_chains(encoder, whole)
        self._order_spines()
        self._lists: OrderedDict[int, npt.NDArray[np.int32]] = OrderedDict()

    def _whole_tokens(self, encoder: BpeEncoder) -> list[int]:
        """Tokens that merging does not make, and that are the encoding of their bytes all the same."""
        if not self.tokenizer.vocabulary.encoder.ignore_merges:
            return []
        found = []
        for token in np.flatnonzero(self._reachable == 0).tolist():
            data = self.tokenizer.token_bytes(token)
            if data and encoder.encode_bytes(data) == [token]:
                found.append(token)
        return found

    def _make_chains(self, encoder: BpeEncoder, whole: list[int]) -> dict[tuple[int, int], int]:
        """Token sequences that merging makes of words that are tokens: (node, token) -> node, negative at the end."""
        chains: dict[tuple[int, int], int] = {}
        n_nodes = 1
        for token in whole:
            try:
                word = self.tokenizer.token_bytes(token).decode()
            except UnicodeDecodeError:
                continue  # no word of a text
            ids = encoder.encode_otherwise(word, "dropout", 0.0)
            node = NO_CHAIN
            for i, part in enumerate(ids):
                following = chains.get((node, part))
                if following is None:
                    following = n_nodes
                    n_nodes += 1
                if i == len(ids) - 1:
                    following = -abs(following)
                chains[node, part] = following
                node = abs(following)
        return chains

    def _order_spines(self) -> None:
        """The forest of left halves, see kernels/canonical_pairs.py."""
        made_of = self._tables.get(encoder_slots.MADE_OF)
        parents = made_of[:, 0]
        n = len(parents)
        children = np.argsort(parents, kind="stable").astype(np.int32)
        counts = np.searchsorted(parents[children], np.arange(-1, n + 1)).astype(np.int32)
        first, end, order = (np.zeros(n, np.int32) for _ in range(3))
        canonical_pairs.order_spines(self._tables.address, counts, children, first, end, order)
        self._spines = (counts, children, first, end, order)
        self._stamps = np.zeros(n + 1, np.int32)
        self._found = np.empty(n, np.int32)

    def incompatible(self, token: int) -> npt.NDArray[np.int32]:
        """Tokens that may not follow `token` in its word; of one that merging does not make: none, as all of them."""
        known = self._lists.get(token)
        if known is not None:
            self._lists.move_to_end(token)
            return known
        if not self.has_neighbours(token):
            return NOTHING
        n_found = canonical_pairs.find_incompatible(
            self._tables.address, token, *self._spines, self._stamps, self._found
        )
        found = self._found[:n_found]
        made = self._lists[token] = found[found < self.tokenizer.vocab_size]
        if len(self._lists) > MOST_LISTS:
            self._lists.popitem(last=False)
        return made

    def has_neighbours(self, token: int) -> bool:
        """Whether a token is more than a word of its own."""
        return token != NO_TOKEN and bool(self._reachable[token])

    def is_lone(self, token: int) -> bool:
        """Whether a token can only be a whole word."""
        return token != NO_TOKEN and not self._reachable[token]

    def chain_ends(self, chain: int) -> list[int]:
        """Tokens that complete a word that is a token."""
        if chain == NO_CHAIN:
            return []
        return [token for (node, token), following in self._chains.items() if node == abs(chain) and following < 0]
