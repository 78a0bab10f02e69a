"""Sequences that think before they answer: anything goes until the tokens that end the thinking, then the grammar.

    matcher = ReasoningMatcher(grammar.matcher(), end=tokenizer.encode("</think>", parse_special=True), budget=2000)

Its methods are those of a matcher, so that a loop or an adapter holds one in its place. `Reasoning` is to a grammar
what this is to a matcher: processors take one where they take a grammar. While it thinks a token is refused only for
one of three reasons: it ends the sequence, which would leave no answer; it is none of the vocabulary; or the budget
could not be kept any more. As many tokens as the end has are kept for it, so that the last ones of a budget spell it.
A text that the end's tokens spell only in part goes on as thinking, whatever it began with: progress in the end's
tokens is that of Knuth, Morris and Pratt.

In: a matcher or a grammar, the ids that end the thinking. Out: bitmasks; state that moves. Cost: 2 us a token while it
thinks, after that what the matcher costs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arguments import as_bitmask, as_flag, as_integer, each_of, no_such_row
from ..errors import BudgetError, LlmaskError, TokenRejected
from .explanation import Explanation
from .matcher import Matcher
from .partial import Position

WORD_BITS = 32


class ReasoningMatcher:
    """A matcher that begins after the thinking; used by one thread at a time.

    Parameters
    ----------
    matcher : of the answer, before its first token. It belongs to this object from now on.
    end : token ids that end the thinking, one after the other; they belong to the thinking.
    budget : how many tokens the thinking may have, those of the end included; None: as many as it likes.
    is_thinking : whether it begins with thinking; False: with the answer.

    Attributes
    ----------
    matcher : of the answer; moves once the thinking has ended.
    end : tuple of token ids.
    budget : int or None.

    Raises
    ------
    LlmaskError : no end, ids that are not in the vocabulary, a budget that the end does not fit in.
    """

    def __init__(
        self, matcher: Matcher, end: Iterable[int], budget: int | None = None, is_thinking: bool = True
    ) -> None:
        if not isinstance(matcher, Matcher):
            raise LlmaskError(
                f"the answer's matcher is a matcher, not {type(matcher).__name__}", help="give grammar.matcher()"
            )
        self.matcher = matcher
        tokenizer = matcher.store.tokenizer
        self._vocab_size = tokenizer.vocab_size
        self._ends = frozenset(tokenizer.eos_ids) | matcher.stop_tokens
        self.end = tuple(as_integer(token, "a token that ends the thinking") for token in each_of(end))
        self.budget = None if budget is None else as_integer(budget, "the budget of the thinking")
        if not self.end or not all(0 <= token < self._vocab_size for token in self.end):
            raise LlmaskError(
                f"the tokens {list(self.end)} cannot end the thinking",
                help=f"give at least one id, each below {self._vocab_size}",
            )
        if self.budget is not None and self.budget < len(self.end):
            raise LlmaskError(
                f"thinking cannot end within {self.budget} tokens: its end has {len(self.end)}",
                help="give a larger budget, or begin without thinking",
            )
        self._starts_thinking = as_flag(is_thinking, "is_thinking")
        self._steps = _steps_of(self.end)
        self._thoughts: list[int] = []
        self._progress = [0]  # tokens of the end that the last thoughts are, after each thought
        self._answer_budget: int | None = None

    # --- what it is

    @property
    def is_thinking(self) -> bool:
        """Whether the tokens that end the thinking are still to come."""
        return self._starts_thinking and self._progress[-1] < len(self.end)

    @property
    def tokens(self) -> list[int]:
        """The accepted tokens, those of the thinking included."""
        return self._thoughts + self.matcher.tokens

    def text(self) -> bytes:
        """The bytes of the answer so far."""
        return self.matcher.text()

    def partial(self) -> Any:
        """The answer so far as a value; see `Matcher.partial`."""
        return self.matcher.partial()

    def position(self) -> Position:
        """Where in the answer the sequence is; see `Matcher.position`."""
        return self.matcher.position()

    def explain(self, what: int | bytes | str) -> Explanation:
        """Why something cannot come next in the answer; see `Matcher.explain`.

        Raises
        ------
        LimitExceeded : see there.
        LlmaskError : it thinks, or `what` is neither a token nor a text.
        """
        if self.is_thinking:
            raise LlmaskError(
                "the sequence thinks, and only an end of it, or of its budget, is refused then",
                help="ask when is_thinking is false",
            )
        return self.matcher.explain(what)

    def is_accepting(self) -> bool:
        """Whether the sequence may end here."""
        return not self.is_thinking and self.matcher.is_accepting()

    def is_terminated(self) -> bool:
        """As `Matcher.is_terminated`; False while it thinks."""
        return not self.is_thinking and self.matcher.is_terminated()

    # --- what it takes

    def accept(self, token: int) -> bool:
        """Take one token into the state; False: it is not allowed, the state is unchanged.

        Raises
        ------
        LimitExceeded, LlmaskError : see `Matcher.accept`; the state is unchanged.
        """
        if not self.is_thinking:
            return self.matcher.accept(token)
        token = as_integer(token, "a token id")
        reached = self._after(token)
        if not 0 <= token < self._vocab_size or len(self.end) - reached > self._left(None) - 1:
            return False
        if token in self._ends and not reached:
            return False
        self._thoughts.append(token)
        self._progress.append(reached)
        return True

    def accept_token(self, token: int) -> None:
        """As `accept`; a token that is not allowed is an error.

        Raises
        ------
        TokenRejected : it is not allowed here.
        LimitExceeded, LlmaskError : see `Matcher.accept_token`.
        """
        if not self.is_thinking:
            self.matcher.accept_token(token)
        elif not self.accept(token):
            raise TokenRejected(
                f"token {token} cannot come next: the thinking goes on, or ends with {list(self.end)}",
                where=f"token {len(self._thoughts)}",
                help="fill_bitmask tells which tokens may come next",
            )

    def try_accept_tokens(self, tokens: Iterable[int]) -> int:
        """As `Matcher.try_accept_tokens`, also across the end of the thinking.

        Raises
        ------
        LimitExceeded, LlmaskError : as `accept`; the state is as before the first.
        """
        n_before = len(self)
        try:
            for token in each_of(tokens):
                if not self.accept(token):
                    break
        except BaseException:
            self.rollback(len(self) - n_before)
            raise
        return len(self) - n_before

    def validate_tokens(self, tokens: Iterable[int]) -> int:
        """How many leading tokens would be accepted one after the other; the state is unchanged.

        Raises
        ------
        LimitExceeded, LlmaskError : as `accept`.
        """
        return self.fork().try_accept_tokens(tokens)

    def rollback(self, n: int) -> None:
        """Undo the last `n` accepted tokens, also across the end of the thinking.

        Raises
        ------
        LlmaskError : fewer than `n` tokens were accepted, or `n` is negative; the state is unchanged.
        """
        n = as_integer(n, "the number of tokens to roll back")
        if not 0 <= n <= len(self):
            raise LlmaskError(
                f"cannot roll back {n} tokens: {len(self)} were accepted", help="give a number between 0 and that"
            )
        of_answer = min(n, len(self.matcher.history))
        self.matcher.rollback(of_answer)
        left = len(self._thoughts) - (n - of_answer)
        del self._progress[left + 1 :]
        del self._thoughts[left:]

    def reset(self) -> None:
        """Go back to the beginning."""
        self.rollback(len(self))

    def fork(self) -> ReasoningMatcher:
        """An independent one in the same state."""
        twin = object.__new__(ReasoningMatcher)
        twin.__dict__.update(self.__dict__)
        twin.matcher = self.matcher.fork()
        twin._thoughts = self._thoughts.copy()
        twin._progress = self._progress.copy()
        return twin

    __copy__ = fork

    def __len__(self) -> int:
        """How many tokens were accepted."""
        return len(self._thoughts) + len(self.matcher.history)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        answer = "the answer has not begun" if self.is_thinking else repr(self.matcher)
        return f"ReasoningMatcher({len(self._thoughts)} tokens of thinking, {answer})"

    # --- masks

    def fill_bitmask(self, bitmask: Any, row: int = 0, budget: int | None = None, may_answer: bool = True) -> bool:
        """Write which tokens may come next.

        Parameters
        ----------
        bitmask, row : see `Matcher.fill_bitmask`.
        budget : tokens that the rest of the sequence may have, thinking and answer together; None: as many as it likes.
        may_answer : False: tokens that would end the thinking are refused, unless it has to end now. For rows of drafts
            in frameworks that do not take the grammar up between two drafts.

        Returns
        -------
        Whether some token of the vocabulary is refused.

        Raises
        ------
        BudgetError : thinking and answer do not fit into the budget.
        LimitExceeded, LlmaskError : see `Matcher.fill_bitmask`.
        """
        if not self.is_thinking:
            return self.matcher.fill_bitmask(bitmask, row, budget)
        words = as_bitmask(bitmask)
        row = as_integer(row, "the row")
        n_words = -(-self._vocab_size // WORD_BITS)
        if not 0 <= row < len(words) or words.shape[1] < n_words:
            raise no_such_row(row, words, n_words)
        left = self._left(budget)
        needed = len(self.end) - self._progress[-1]
        if needed > left:
            raise BudgetError(
                f"{left} tokens are left for the thinking, and its end needs {needed}",
                where=f"token {len(self._thoughts)}",
                help="give the whole sequence a larger budget",
            )
        self._write(words[row], left - 1, may_answer)
        if not words[row].any():  # it has to end
            self._write(words[row], left - 1, True)
        return True

    def fill_drafts(self, bitmask: Any, draft_tokens: Any, row: int = 0) -> int:
        """As `Matcher.fill_drafts`: the masks after each of a chain of drafts, also across the end of the thinking.

        Raises
        ------
        LimitExceeded, VocabularyError, LlmaskError : see `Matcher.fill_drafts`.
        """
        drafts = [as_integer(token, "a draft token") for token in each_of(draft_tokens)]
        row = as_integer(row, "the row")
        words = as_bitmask(bitmask)
        if not 0 <= row <= len(words) - len(drafts) - 1:
            raise LlmaskError(
                f"rows {row} to {row + len(drafts)} are not in a bitmask of {len(words)} rows",
                help=f"give one with {row + len(drafts) + 1} rows",
            )
        twin = self.fork()
        for taken, token in enumerate(drafts):
            if not twin.is_thinking:
                return taken + twin.matcher.fill_drafts(words, drafts[taken:], row + taken)
            twin.fill_bitmask(words, row + taken)
            if not twin.accept(token):
                return taken
        twin.fill_bitmask(words, row + len(drafts))
        return len(drafts)

    def forced_tokens(self) -> list[int]:
        """The tokens that must come next: the rest of the end where the budget leaves nothing else; see `Matcher`.

        Raises
        ------
        LimitExceeded : see `Matcher.forced_tokens`.
        """
        if not self.is_thinking:
            return self.matcher.forced_tokens()
        done = self._progress[-1]
        return list(self.end[done:]) if self._left(None) == len(self.end) - done else []

    def least_budget(self, exact: bool = False) -> int:
        """The smallest budget that `fill_bitmask` accepts here; see `Matcher.least_budget`.

        Raises
        ------
        LimitExceeded : no end of the document was found.
        """
        if not self.is_thinking:
            return self.matcher.least_budget(exact)
        return len(self.end) - self._progress[-1] + self._least_answer()

    # --- its parts

    def _after(self, token: int) -> int:
        """How many tokens of the end the thoughts end with after one more."""
        return self._steps[self._progress[-1]].get(token, 0)

    def _left(self, budget: int | None) -> int:
        """Tokens that the thinking may still have, those of the end included."""
        left = 1 << 62 if self.budget is None else self.budget - len(self._thoughts)
        return left if budget is None else min(left, as_integer(budget, "the budget") - self._least_answer())

    def _least_answer(self) -> int:
        if self._answer_budget is None:
            self._answer_budget = self.matcher.least_budget()
        return self._answer_budget

    def _write(self, words: npt.NDArray[np.int32], left_after: int, may_answer: bool) -> None:
        """Allow what leaves room for the end within `left_after` more tokens."""
        bits = words.view(np.uint32)
        bits[:] = 0
        steps = self._steps[self._progress[-1]]
        if left_after >= len(self.end):
            bits[: self._vocab_size // WORD_BITS] = 0xFFFFFFFF
            if rest := self._vocab_size % WORD_BITS:
                bits[self._vocab_size // WORD_BITS] = (1 << rest) - 1
            for token in self._ends:
                bits[token // WORD_BITS] &= ~np.uint32(1 << (token % WORD_BITS))
        for token, reached in steps.items():
            is_allowed = len(self.end) - reached <= left_after and (may_answer or reached < len(self.end))
            bit = np.uint32(1 << (token % WORD_BITS))
            if is_allowed:
                bits[token // WORD_BITS] |= bit
            else:
                bits[token // WORD_BITS] &= ~bit


class Reasoning:
    """A grammar whose sequences think before they answer: what makes a `ReasoningMatcher` for each.

    Parameters
    ----------
    grammar : of the answers, a `CompiledGrammar`.
    end, budget : see `ReasoningMatcher`.

    Attributes
    ----------
    grammar, end, budget : the same.
    tokenizer : the grammar's.
    takes_budget : whether sequences may be given a number of tokens to end within.

    Raises
    ------
    LlmaskError : see `ReasoningMatcher`.
    """

    def __init__(self, grammar: Any, end: Iterable[int], budget: int | None = None) -> None:
        if not callable(getattr(grammar, "matcher", None)):
            raise LlmaskError(
                f"a {type(grammar).__name__} is no compiled grammar", help="make one with a llmask.Compiler"
            )
        first = ReasoningMatcher(grammar.matcher(), end, budget)
        self.grammar = grammar
        self.end = first.end
        self.budget = first.budget
        self.tokenizer = grammar.tokenizer
        self.takes_budget: bool = grammar.takes_budget

    def matcher(self, **options: Any) -> ReasoningMatcher:
        """A sequence that begins with thinking; `options` are those of `CompiledGrammar.matcher`."""
        return ReasoningMatcher(self.grammar.matcher(**options), self.end, self.budget)


def _steps_of(end: Sequence[int]) -> list[dict[int, int]]:
    """For each number of the end's tokens that were seen: token -> how many are seen after it, where any are."""
    steps: list[dict[int, int]] = []
    back = 0  # what is seen where the first of the tokens had not been there
    for done, token in enumerate(end):
        steps.append({**(steps[back] if done else {}), token: done + 1})
        if done:
            back = steps[back].get(token, 0)
    return steps
