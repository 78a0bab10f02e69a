"""Sequences that think before they answer: anything goes until the tokens that end the thinking, then the grammar.

    thinking = Reasoning(grammar, end=tokenizer.encode("</think>", parse_special=True), budget=2000)
    matcher = thinking.matcher()

Processors take a `Reasoning` where they take a grammar. While a sequence thinks a token is refused only for one of
three reasons: it ends the sequence, which would leave no answer; it is not in the vocabulary; or the budget could not
be kept any more. As many tokens as the end has are kept for it, so that the last ones of a budget spell it. A text that
the end's tokens spell only in part goes on as thinking, whatever it began with: progress in the end's tokens is that of
Knuth, Morris and Pratt.

In: a grammar, the ids that end the thinking. Out: sequences. Cost: 4 us a token and a mask while it thinks.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import as_flag, as_integer, as_row, check_type, each_of
from ..errors import BudgetError, LlmaskError
from ..kernels.mask.cell import ASK, CELL_FILTER
from ..kernels.mask.configurations import REFUSED
from ..mask.apply import packed
from .features import FAR_AWAY, Feature
from .matcher import Matcher

if TYPE_CHECKING:
    from .sequence import Sequence


class Thinking(Feature):
    """Free text before the document.

    A mark is how many of the end's tokens the thoughts end with, or, once the thinking has ended, ~(number of its
    tokens).

    Parameters
    ----------
    sequence : which it is for, without any token.
    end, budget, is_thinking : see `Reasoning` and its `matcher`.

    Raises
    ------
    LlmaskError : see `Reasoning`.
    """

    __slots__ = ("_ends", "_least_answer", "_steps", "budget", "end")

    def __init__(self, sequence: Sequence, end: Iterable[int], budget: int | None, is_thinking: bool) -> None:
        super().__init__(0 if as_flag(is_thinking, "is_thinking") else ~0)
        tokenizer = sequence.store.tokenizer
        self._ends = frozenset(tokenizer.eos_ids) | sequence.stop_tokens
        self.end = tuple(as_integer(token, "a token that ends the thinking") for token in each_of(end))
        self.budget = None if budget is None else as_integer(budget, "the budget of the thinking")
        if not self.end or not all(0 <= token < tokenizer.vocab_size for token in self.end):
            raise LlmaskError(
                f"the tokens {list(self.end)} cannot end the thinking",
                help=f"give at least one id, each below {tokenizer.vocab_size}",
            )
        if self.budget is not None and self.budget < len(self.end):
            raise LlmaskError(
                f"thinking cannot end within {self.budget} tokens: its end has {len(self.end)}",
                help="give a larger budget, or begin without thinking",
            )
        self._steps = _steps_of(self.end)
        self._least_answer: int | None = None

    @property
    def begin(self) -> int:  # type: ignore[override]
        """As `Feature.begin`."""
        return FAR_AWAY if self.marks[-1] >= 0 else ~self.marks[-1]

    @property
    def is_over(self) -> bool:  # type: ignore[override]
        """Whether the thinking has ended."""
        return bool(self.marks[-1] < 0)

    def show(self, sequence: Sequence) -> None:
        """As `Feature.show`."""
        if not self.is_over:
            sequence.cell[CELL_FILTER] = ASK

    def may_end(self, sequence: Sequence) -> bool:
        """As `Feature.may_end`."""
        return self.is_over

    def take(self, sequence: Sequence, token: int, position: int) -> int | None:
        """As `Feature.take`: thoughts leave the grammar at its beginning."""
        progress = self.marks[position]
        if progress < 0:
            return None
        if position == len(self.marks) - 1:
            reached = self._steps[progress].get(token, 0)
            is_late = len(self.end) - reached > self._left(sequence, None) - 1
            is_unknown = token >= sequence.store.tokenizer.vocab_size
            if is_unknown or is_late or (token in self._ends and not reached):
                return REFUSED
        return sequence.generation.start

    def note(self, sequence: Sequence, token: int, reached: int, position: int) -> tuple[int, Any]:
        """As `Feature.note`."""
        progress = self.marks[position]
        if progress >= 0:
            progress = self._steps[progress].get(token, 0)
            progress = ~(position + 1) if progress == len(self.end) else progress
        return reached, progress

    def fill(self, sequence: Sequence, bitmask: Any, row: int, budget: int | None) -> bool | None:
        """As `Feature.fill`: all that leaves room for the end."""
        if self.is_over:
            return None
        words, row = as_row(bitmask, row, sequence.store.n_words)
        left, progress = self._left(sequence, budget), self.marks[-1]
        if len(self.end) - progress > left:
            raise BudgetError(
                f"{left} tokens are left for the thinking, and its end needs {len(self.end) - progress}",
                where=f"token {len(sequence.history)}",
                help="give the whole sequence a larger budget",
            )
        flags = np.zeros(words.shape[1] * 32, bool)
        if left > len(self.end):
            flags[: sequence.store.tokenizer.vocab_size] = True
            flags[list(self._ends)] = False
        for token, reached in self._steps[progress].items():
            flags[token] = len(self.end) - reached < left
        words[row] = packed(flags)
        return True

    def _left(self, sequence: Sequence, budget: int | None) -> int:
        """Tokens that the thinking may still have, its end included."""
        left = FAR_AWAY if self.budget is None else self.budget - len(sequence.history)
        return left if budget is None else min(left, as_integer(budget, "the budget") - self._least_of_answer(sequence))

    # --- ways to the end

    def _answer(self, sequence: Sequence) -> Sequence:
        """The same sequence without the thinking."""
        twin = sequence.fork()
        twin.features = twin.features[1:]
        return twin

    def _least_of_answer(self, sequence: Sequence) -> int:
        if self._least_answer is None:
            self._least_answer = self._answer(sequence).least_budget()
        return self._least_answer

    def least_budget(self, sequence: Sequence, exact: bool) -> int | None:
        """As `Feature.least_budget`."""
        left = len(self.end) - self.marks[-1]
        return None if self.is_over else left + self._least_of_answer(sequence)

    def finishing_tokens(self, sequence: Sequence) -> list[int] | None:
        """As `Feature.finishing_tokens`."""
        return None if self.is_over else [*self.end[self.marks[-1] :], *self._answer(sequence).finishing_tokens()]

    def forced_tokens(self, sequence: Sequence) -> list[int] | None:
        """As `Feature.forced_tokens`: the rest of the end where the budget leaves nothing else."""
        if self.is_over:
            return None
        rest = list(self.end[self.marks[-1] :])
        return rest if self._left(sequence, None) == len(rest) else []

    def expectation(self, after: bytes) -> str | None:
        """As `Feature.expectation`."""
        return None if self.is_over else f"the thinking goes on, or ends with {list(self.end)}"


class Reasoning:
    """A grammar whose sequences think before they answer.

    Parameters
    ----------
    grammar : of the answers, a `CompiledGrammar`.
    end : token ids that end the thinking, one after the other; they belong to the thinking.
    budget : how many tokens the thinking may have, its end included; None: as many as it likes.

    Attributes
    ----------
    grammar, end, budget : the same; `end` as a tuple.
    tokenizer : the grammar's.
    takes_budget : whether sequences may be given a number of tokens to end within.

    Raises
    ------
    LlmaskError : no end, ids that are not in the vocabulary, a budget that the end does not fit in.

    Examples
    --------
    >>> import llmask
    >>> tokenizer = llmask.Tokenizer.default()
    >>> answer = llmask.Compiler(tokenizer).choice(["yes", "no"])
    >>> matcher = llmask.Reasoning(answer, tokenizer.encode("So:"), budget=100).matcher()
    >>> matcher.accept_tokens(tokenizer.encode("Hm. So:no"))
    >>> matcher.text()
    b'no'
    """

    def __init__(self, grammar: Any, end: Iterable[int], budget: int | None = None) -> None:
        if not callable(getattr(grammar, "matcher", None)):
            raise LlmaskError(
                f"a {type(grammar).__name__} is no compiled grammar", help="make one with a llmask.Compiler"
            )
        first = Thinking(grammar.matcher()._sequence, end, budget, True)
        self.grammar = grammar
        self.end = first.end
        self.budget = first.budget
        self.tokenizer = grammar.tokenizer
        self.takes_budget: bool = grammar.takes_budget

    def matcher(self, is_thinking: bool = True, **options: Any) -> Matcher:
        """A sequence that begins with thinking.

        Parameters
        ----------
        is_thinking : False: it begins with the answer.
        options : as `CompiledGrammar.matcher` takes them. A `prefix` is spelled by the answer.

        Raises
        ------
        LlmaskError : as `CompiledGrammar.matcher`; `is_thinking` is neither True nor False.
        """
        return think_first(self.grammar.matcher(**options), self.end, self.budget, is_thinking)


def think_first(matcher: Matcher, end: Iterable[int], budget: int | None = None, is_thinking: bool = True) -> Matcher:
    """Have a matcher that has taken no token yet think before it answers.

    Raises
    ------
    LlmaskError : see `Reasoning`; it has taken one, or is no matcher.
    """
    check_type(matcher, Matcher, "the answer's matcher is a matcher", "give grammar.matcher()")
    if len(matcher):
        raise LlmaskError("the answer has begun, and thinking comes before it", help="give a new grammar.matcher()")
    sequence = matcher._sequence
    sequence.add_first(Thinking(sequence, end, budget, is_thinking))
    return matcher


def _steps_of(end: tuple[int, ...]) -> list[dict[int, int]]:
    """For each number of the end's tokens that were seen: token -> how many are seen after it, where any are."""
    steps: list[dict[int, int]] = []
    back = 0  # what is seen where the first of the tokens had not been there
    for done, token in enumerate(end):
        steps.append({**(steps[back] if done else {}), token: done + 1})
        if done:
            back = steps[back].get(token, 0)
    return steps
