"""Texts of grammars as callers give them: what is a path, or looks like the name of a file, is told before it is read.

In: whatever was given. Out: the same text. Cost: none to speak of.
"""

from __future__ import annotations

import os
import re
from typing import Any

from ..errors import GrammarError, LimitExceeded
from ..limits import Limits

# no grammar is like this: a rule is defined with a colon
FILE_NAME = r"(?:[A-Za-z]:)?[^\n:\"'|{}=]{1,250}\.(?:lark|gbnf|ebnf|bnf|txt|json)"


def grammar_text(text: Any) -> str:
    """The text of a grammar.

    Raises
    ------
    GrammarError : it is no str, or looks like the name of a file.
    """
    if isinstance(text, os.PathLike):
        raise GrammarError("a grammar is a str, not a path", help="give what is in the file: path.read_text()")
    if not isinstance(text, str):
        raise GrammarError(f"a grammar is a str, not {type(text).__name__}", help="decode bytes first")
    if re.fullmatch(FILE_NAME, text.strip()):
        raise GrammarError(
            f"{text.strip()!r} looks like the name of a file, and a grammar is given as its text",
            help=f"read it: Path({text.strip()!r}).read_text()",
        )
    return text


def check_length(limits: Limits, what: str, text: str) -> None:
    """Refuse a text of more than `limits.max_schema_bytes` characters."""
    if len(text) > limits.max_schema_bytes:
        raise LimitExceeded(
            f"the {what} has {len(text)} characters, the limit is {limits.max_schema_bytes} (limits.max_schema_bytes)",
            help=f"split the {what} or raise the limit",
        )
