"""Stop tokens: ids that end one sequence, besides the vocabulary's ends of sequence.

They are allowed where the sequence may end and nowhere else, also where they have a text that the grammar allows: a
sequence that took one has ended. So the masks are the grammar's own with some bits set or cleared. A compiled batch
leaves these rows to the matcher (CELL_STOPS).

In: a sequence's masks and tokens. Out: the same with stop tokens. Cost: 3 us a mask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import as_bitmask, as_integer, each_of
from ..errors import LlmaskError, VocabularyError
from ..kernels.mask.cell import CELL_STOPS
from ..kernels.mask.configurations import ENDED, REFUSED
from ..kernels.tables.grammar_layout import GRAMMAR
from .features import Feature

if TYPE_CHECKING:
    from ..tokenizer.tokenizer import Tokenizer
    from .sequence import Sequence


class Stops(Feature):
    """See `CompiledGrammar.matcher`, on stop_tokens.

    Raises
    ------
    LlmaskError : they are no ids of the vocabulary.
    """

    __slots__ = ("stop_tokens",)

    def __init__(self, stop_tokens: Any, tokenizer: Tokenizer) -> None:
        super().__init__()
        self.stop_tokens = frozenset(as_integer(token, "a stop token") for token in each_of(stop_tokens))
        for token in self.stop_tokens:
            if not 0 <= token < tokenizer.vocab_size:
                raise LlmaskError(
                    f"the stop token {token} is not in the vocabulary of {tokenizer.vocab_size} tokens",
                    help="stop tokens are token ids; for texts use the framework's stop strings",
                )

    def show(self, sequence: Sequence) -> None:
        """As `Feature.show`."""
        sequence.cell[CELL_STOPS] = 1

    def take(self, sequence: Sequence, token: int, position: int) -> int | None:
        """As `Feature.take`: a stop token ends the sequence."""
        if token not in self.stop_tokens:
            return None
        if position < len(self.marks) - 1:
            return ENDED
        return REFUSED if sequence.has_ended() or not sequence.is_accepting() else ENDED

    def narrow(self, sequence: Sequence, bitmask: Any, row: int, restricts: bool) -> bool:
        """As `Feature.narrow`: stop tokens are set, or cleared where the sequence may not end."""
        words = as_bitmask(bitmask)[row]
        bits, may_end = words.view(np.uint32), sequence.is_accepting()
        is_cleared = False
        for token in self.stop_tokens:
            bit = np.uint32(1 << (token & 31))
            if may_end:
                bits[token >> 5] |= bit
            elif bits[token >> 5] & bit:
                bits[token >> 5] &= ~bit
                is_cleared = True
        if is_cleared and not words.any():
            raise VocabularyError(
                "only stop tokens spell what may come next, and the sequence may not end here",
                where=sequence.place(),
                help="use stop tokens without a text, or a vocabulary with a token for every byte",
            )
        n_full, n_rest = divmod(sequence.store.tokenizer.vocab_size, 32)
        allows_all = (words[:n_full] == -1).all() and int(words[n_full : n_full + 1].sum()) == (1 << n_rest) - 1
        return not allows_all

    def check_ways(self, sequence: Sequence) -> None:
        """As `Feature.check_ways`: ways may take a stop token for what the grammar has it for."""
        if sequence.generation.table.slots[GRAMMAR.names_tokens]:
            raise LlmaskError(
                "the grammar names tokens, and ways to the end might write a stop token as one of these",
                help="do without stop tokens, or without budgets and finish",
            )
        for token in sorted(self.stop_tokens):
            if sequence.store.tokenizer.token_bytes(token):
                raise LlmaskError(
                    f"the stop token {token} has a text, and ways to the end would write it",
                    help="use stop tokens without a text, or do without budgets and finish",
                )
