"""Docstrings as the page of the API shows them: `name : what it is` is a name and its description, not its type.

In: the objects that griffe reads, by mkdocstrings. Out: their docstrings, with descriptions in lines of their own;
types are those of the signature. Cost: milliseconds.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

SECTION = re.compile(r"^(Parameters|Attributes|Raises|Warns)\n-+\n((?:.+(?:\n|$)|\n(?=    ))+)", re.MULTILINE)
RETURNS = re.compile(r"^(Returns|Yields)\n-+\n", re.MULTILINE)


def readable(text: str) -> str:
    """The docstring with each description below its name, and what is returned as plain text."""

    def parted(section: re.Match[str]) -> str:
        lines = re.sub(r"^(\S[^:\n]*?) : ", r"\1\n    ", section[2], flags=re.MULTILINE)
        return f"{section[1]}\n{'-' * len(section[1])}\n{lines}"

    return RETURNS.sub(r"**\1:**\n\n", SECTION.sub(parted, text))


class Docstrings(griffe.Extension):
    """Makes every docstring readable."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called by griffe for everything that it reads."""
        if obj.docstring is not None:
            obj.docstring.value = readable(obj.docstring.value)
