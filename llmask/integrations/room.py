"""The tokens that a request of a server may write, as a budget: its document ends before the server cuts it off.

    room     what the request may write all in all: its `max_tokens`, and what its context has room for
    left     the room, less what was written before the grammar began (a thought) and less the grammar's tokens

A grammar is asked behind drafts, too, which the request has not written: the grammar's own tokens count, and from the
request is known what came before them.

In: a matcher, numbers of tokens. Out: masks, refusals. Cost: 1 us a token; near the end, and where a place is met for
the first time, that of a budget.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import BudgetError, GrammarError, LimitExceeded, LlmaskError
from ..mask.apply import allocate_bitmask
from ..matching.budget import n_free
from ..matching.matcher import Matcher

OPTION = "budget"  # of a request; false: the server cuts its text off


class Room:
    """Masks within the tokens of a request.

    Parameters
    ----------
    matcher : of its grammar.
    most : tokens that it may write all in all, the end of sequence included.
    n_written : says how many it has written.
    n_drafts : among how many drafts, which it has not written, a thought may end; 0: nothing is thought.

    Attributes
    ----------
    matcher : as it was given; another one may take its place.
    is_near : whether the next mask has to look at the budget.
    """

    def __init__(self, matcher: Matcher, most: int, n_written: Callable[[], int], n_drafts: int = 0) -> None:
        self.is_near = True
        self.matcher = matcher
        self._most = most
        self._n_written = n_written
        self._n_drafts = n_drafts
        self._n_before = 0  # written before the grammar began, as far as is known
        self._seen_at = self._free_above = (
            0  # tokens left between which nothing has to be looked at, the first included
        )

    def left(self, n_taken: int) -> int:
        """How many tokens may still be written, at least 1.

        Parameters
        ----------
        n_taken : tokens that the grammar has taken, drafts among them.
        """
        n_before = self._n_written() - n_taken
        if n_before >= self._n_before:  # there are no drafts among them
            self._n_before = n_before
            if n_taken:
                self._n_drafts = 0
        return max(self._most - self._n_before - self._n_drafts - n_taken, 1)

    def look(self, n_taken: int) -> None:
        """See whether the next mask has to look at the budget, after tokens were taken or taken back."""
        left = self.left(n_taken)
        if self._free_above < left <= self._seen_at:
            return
        try:
            n = n_free(self.matcher._sequence, left)
        except LlmaskError:  # the mask will tell
            n = 0
        self.is_near, self._seen_at, self._free_above = n == 0, left, left - max(n, 1)

    def is_free(self, n_taken: int, n_drafts: int) -> bool:
        """Whether neither the next mask nor those behind some drafts have to look at the budget."""
        self.look(n_taken)
        return not self.is_near and self.left(n_taken) - n_drafts > self._free_above

    def fill(self, bitmask: Any, row: int, n_taken: int) -> None:
        """Write a mask; where too little is left, that of the shortest way to the end.

        Raises
        ------
        LimitExceeded, VocabularyError : see `Matcher.fill_bitmask`.
        """
        matcher, left = self.matcher, self.left(n_taken)
        try:
            matcher.fill_bitmask(bitmask, row, left)
        except BudgetError as error:  # a thought has left less than the shortest document takes
            matcher.fill_bitmask(bitmask, row, error.least)
        except LimitExceeded:  # no end is known
            matcher.fill_bitmask(bitmask, row)


def wants_budget(options: Any) -> bool:
    """Whether a request wants its document complete: by default, and not with `"budget": false` among its options.

    Raises
    ------
    GrammarError : what it says is neither true nor false.
    """
    said = options.get(OPTION) if isinstance(options, Mapping) else None
    if said is not None and said not in (True, False):
        raise GrammarError(f'"{OPTION}" is true or false, not {said!r}', help="leave it out")
    return said is None or bool(said)


def takes_budget(matcher: Matcher) -> bool:
    """Whether ways to the end are known: not where the grammar has `max_tokens`, nor where a stop token has a text."""
    if not matcher.grammar.takes_budget:
        return False
    try:
        matcher.least_budget()
    except LimitExceeded:
        pass
    except LlmaskError:
        return False
    return True


def check_room(matcher: Matcher, most: int | None, name: str) -> None:
    """Refuse a request whose document cannot be complete within its tokens.

    Parameters
    ----------
    matcher : at the beginning.
    most : the tokens; None, or 1, as servers ask for whose text another one goes on with: nothing is refused.
    name : what the server calls them.

    Raises
    ------
    BudgetError : no document is found that takes so few.
    """
    try:
        if most is None or most <= 1 or matcher.least_budget() <= most:
            return
        matcher.fill_bitmask(allocate_bitmask(1, matcher.grammar.tokenizer.vocab_size), 0, most)
    except BudgetError as error:
        raise BudgetError(
            f"{name} is {most}, and the shortest document found takes {error.least} tokens, the end included",
            help=f'give {name} of at least {error.least}, or "{OPTION}": false to have the text cut off',
            least=error.least,
        ) from None
    except LimitExceeded:
        return


def check_least_length(matcher: Matcher, least: int, name: str) -> None:
    """Refuse a request that may not end where its grammar may only end.

    Parameters
    ----------
    matcher : at the beginning.
    least : tokens before which the server forbids the end.
    name : what the server calls them.

    Raises
    ------
    GrammarError : there is a document of fewer tokens that nothing can follow.
    """
    if least <= 0:
        return
    try:
        shortest = matcher.finishing_tokens()
    except LimitExceeded:
        return
    behind = matcher.fork()
    behind._sequence.terminates_at_end = True
    if len(shortest) < least and behind.try_accept_tokens(shortest) == len(shortest) and behind.is_terminated():
        raise GrammarError(
            f"{name} is {least}, but a document may be complete after {len(shortest)} tokens, where nothing may follow "
            "and the end would be forbidden: no token would be left",
            help=f"leave {name} out; the grammar says how long a document is (minLength, minItems, {{n,}})",
        )
