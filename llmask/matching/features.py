"""What a sequence may have besides its grammar, and where it asks for it.

    Thinking    free text before the document        reasoning.py
    Stops       further ids that end the sequence    stops.py
    Healing     a prefix that tokens spell first     healing.py
    Closing     `max_tokens` of rules                max_tokens.py
    Canonical   only what the tokenizer would write  canonical/matcher.py

A `Sequence` has a tuple of them, in this order. Without any, all is a matter of its grammar's tables. It asks at three
places:

    mask     `fill` writes a mask in the place of the grammar's; `narrow` changes what was written
    step     `take` says where a token leads that the grammar has no say in; `note` changes where it leads, and says
             what the feature keeps of the new place, its *mark*
    replay   the same `take` and `note` where tokens are taken into other tables; their marks are there already

All that a feature knows of a place is its mark, so a list of marks is rolled back and forked, and features combine:
docs/loops.md has a table of those that do, and of those that are refused together.

In: a sequence. Out: masks, configurations. Cost: 1 us a token, besides that of the feature.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self


Sequence = Any  # of sequence.py, which calls this module
FAR_AWAY = sys.maxsize  # where a document begins before which something is still being written


class Feature:
    """One feature of one sequence; by itself it changes nothing.

    Attributes
    ----------
    marks : what it knows of the beginning, and of the place after each token.
    begin : how many tokens come before the document; FAR_AWAY while these are being written.
    rest : bytes that the tokens have to spell first.
    lead : bytes that come before the document in the text.
    stop_tokens : ids that end the sequence.
    is_over : the grammar alone says from here on what comes next.
    """

    begin = 0
    rest = lead = b""
    stop_tokens: frozenset[int] = frozenset()
    is_over = False
    __slots__ = ("marks",)

    def __init__(self, mark: Any = None) -> None:
        self.marks: Any = [mark]

    def fork(self, n_marks: int | None = None) -> Self:
        """The same of another sequence: at the same place, or at the earlier one of its first `n_marks` marks."""
        twin = object.__new__(type(self))
        for name in self.__slots__:
            setattr(twin, name, getattr(self, name))
        twin.marks = self.marks[:n_marks]
        return twin

    def show(self, sequence: Sequence) -> None:
        """Have the cell say what compiled code has to know of the place."""

    # --- masks

    def fill(self, sequence: Sequence, bitmask: Any, row: int, budget: int | None) -> bool | None:
        """Write a mask, as `Matcher.fill_bitmask`; None: the grammar's is meant."""
        return None

    def narrow(self, sequence: Sequence, bitmask: Any, row: int, restricts: bool) -> bool:
        """Change a row that was written; whether it restricts."""
        return restricts

    # --- steps

    def take(self, sequence: Sequence, token: int, position: int) -> int | None:
        """The configuration after the token at a position, or REFUSED; None: the grammar says."""
        return None

    def note(self, sequence: Sequence, token: int, reached: int, position: int) -> tuple[int, Any]:
        """Where the token at a position leads in the end, and the mark after it."""
        return reached, None

    def may_end(self, sequence: Sequence) -> bool:
        """Whether the sequence may end here, if its grammar allows it."""
        return True

    # --- ways to the end

    def check_ways(self, sequence: Sequence) -> None:
        """Refuse budgets and ways to the end where they would be wrong.

        Raises
        ------
        LlmaskError : they would be.
        """

    def least_budget(self, sequence: Sequence, exact: bool) -> int | None:
        """As `Matcher.least_budget`; None: that of the grammar."""
        return None

    def finishing_tokens(self, sequence: Sequence) -> list[int] | None:
        """As `Matcher.finishing_tokens`; None: as the grammar has them."""
        return None

    def forced_tokens(self, sequence: Sequence) -> list[int] | None:
        """As `Matcher.forced_tokens`; None: as the grammar has them."""
        return None

    def expectation(self, after: bytes) -> str | None:
        """What could come next after some bytes, for messages; None: what the grammar allows."""
        return None
