"""What can go wrong, one class for each question that a caller can act on.

    LlmaskError
    ├── GrammarError (ValueError)        the grammar, schema or pattern is not well formed
    │   ├── UnsupportedSchema            well formed, but uses what llmask cannot enforce
    │   └── UnsatisfiableSchema          no document at all fulfils it
    ├── BudgetError (ValueError)         no document can be finished with so few tokens
    ├── LimitExceeded (RuntimeError)     a budget of `llmask.Limits` is spent
    ├── TokenRejected (ValueError)       the grammar does not allow this token here
    └── VocabularyError (ValueError)     the tokenizer's vocabulary is unusable or the file is corrupt

A `GrammarWarning` (UserWarning) tells of a grammar that compiles, with which sequences may get stuck; its subclass
`GrammarNotice` of a grammar that has other `warnings`, such as a misspelled keyword.

Every error has three parts: what happened (`message`), where (`where`: line and column, JSON pointer, byte offset
or token index) and how to mend it (`help`). `str(error)` joins them, one part a line.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

DISTRIBUTION = "llmask-engine"  # what is installed; on the index the name llmask is another project's
MOST_SAID = 1000  # characters of a message, a place or help


def how_to_install(extra: str) -> str:
    """The command that brings the packages of an extra of pyproject.toml."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"


def level_outside() -> int:
    """The `stacklevel` of the first caller that is not of this package, for the function that warns."""
    from inspect import currentframe

    frame, level = currentframe(), 0
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "llmask":
        frame, level = frame.f_back, level + 1
    return max(level, 1)


def short(text: str) -> str:
    """A sentence, or a place, without the middle of what is very long in it: a name or text of the grammar."""
    return text if len(text) <= MOST_SAID else f"{text[: MOST_SAID - 203]}...{text[-200:]}"


class LlmaskError(Exception):
    """Base of all errors raised on purpose by llmask.

    Parameters
    ----------
    message : what happened, a sentence without a final stop.
    where : the place: "line 3, column 7", a JSON pointer such as "#/properties/a", "byte 512 (field name)", ...
    help : what the caller can do about it.
    """

    def __init__(self, message: str, where: str | None = None, help: str | None = None) -> None:
        self.message = short(message)
        self.where = where
        self.help = None if help is None else short(help)
        super().__init__(self.message, where, self.help)

    def __str__(self) -> str:
        text = self.message if self.where is None else f"{self.message}\n  at {short(self.where)}"
        text = text if self.help is None else f"{text}\n  {self.help}"
        return text.encode("utf-8", "backslashreplace").decode()  # a lone surrogate in a key can be printed, too


class GrammarError(LlmaskError, ValueError):
    """The grammar, schema or pattern is malformed."""


class GrammarWarning(UserWarning):
    """The grammar compiles, but a sequence may come to where no document ends, or a part of it is in no document."""


class GrammarNotice(GrammarWarning):
    """The grammar compiles, and `grammar.warnings` says something of it: a misspelled keyword, one not enforced, ..."""


class UnsupportedSchema(GrammarError):
    """The schema uses a keyword that is not enforced; accepting it would make the mask too permissive."""


class UnsatisfiableSchema(GrammarError):
    """No document fulfils the schema, so there is nothing to generate."""


class BudgetError(LlmaskError, ValueError):
    """No document can be finished with the tokens of a budget.

    Attributes
    ----------
    least : the tokens that suffice, end of sequence included.
    """

    def __init__(self, message: str, where: str | None = None, help: str | None = None, least: int = 0) -> None:
        super().__init__(message, where, help)
        self.least = least


class LimitExceeded(LlmaskError, RuntimeError):
    """A budget of `llmask.Limits` is spent; the message names it."""


class TokenRejected(LlmaskError, ValueError):
    """The token (or bytes) cannot follow what was accepted so far; the matcher's state is unchanged."""

    explain: Callable[[], Any] | None = None

    @cached_property
    def explanation(self) -> Any:
        """Why it was refused (`llmask.Explanation`), found when it is first asked for.

        None where no matcher raised the error, or where it came out of a pickle.
        """
        return None if self.explain is None else self.explain()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.args


class VocabularyError(LlmaskError, ValueError):
    """The vocabulary cannot be used: a corrupt file, a wrong token list, or bytes that no token can spell."""
