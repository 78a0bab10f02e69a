r"""Terminals that are closed after a number of tokens: `[max_tokens=...]` of a rule.

    start: thought "\n"    thought[max_tokens=3]: /.*/      after three tokens of it, "\n" has to follow

A token counts where bytes of the terminal were read by it, also the one that begins it. When as many were read as the
rule allows, the lexeme ends there: the sequence goes on in the configuration that the end of the lexeme leads to.
Inside of a character it cannot end, and does so with the token that completes the character. Where the text could as
well be a terminal without a limit, nothing is closed. A mark is the rules whose terminals are in hand and the number of
their tokens.

In: token ids. Out: configurations. Cost: 3 us a token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import LlmaskError
from ..kernels.mask.configurations import ENDED, REFUSED
from ..kernels.tables.operations import Operation
from .expected import rules_at
from .features import Feature

if TYPE_CHECKING:
    from .sequence import Sequence


class Counted(NamedTuple):
    """The rules whose terminals are in hand, all of them limited, and tokens that were read of these; or none."""

    rules: frozenset[int]
    n_tokens: int


NOTHING = Counted(frozenset(), 0)


class Closing(Feature):
    """See `Compiler.lark`, on max_tokens. Bytes given to `accept_bytes` count as one token."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(NOTHING)

    def note(self, sequence: Sequence, token: int, reached: int, position: int) -> tuple[int, Any]:
        """As `Feature.note`: where the lexeme in hand is closed, the configuration after it."""
        limits, generation, counted = sequence.grammar.limited_rules, sequence.generation, self.marks[position]
        rules = frozenset() if reached == ENDED else frozenset(rules_at(generation, reached))
        if not rules or not rules <= limits.keys():
            return reached, NOTHING
        n_tokens = 1
        if counted.rules and not generation.traced(sequence.configuration, sequence.data_of(token, position))[1].any():
            n_tokens = counted.n_tokens + 1
        if n_tokens >= min(limits[rule] for rule in rules):
            closed = generation.run(Operation.CLOSE, reached)
            if closed != REFUSED:
                return closed, NOTHING
        return reached, Counted(rules, n_tokens)

    def check_ways(self, sequence: Sequence) -> None:
        """As `Feature.check_ways`."""
        raise LlmaskError(
            "a grammar with max_tokens takes no budget: where its terminals are closed depends on the tokens before",
            help="take max_tokens out, or do without a budget",
        )
