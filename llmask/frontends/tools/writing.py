"""Writes formats of structural tags: rows of texts, marks and other formats.

In: parts. Out: formats, as documents. Cost: none to speak of.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from llmask.frontends.tools.families import Pattern
from llmask.frontends.tools.requests import Tool

Format = dict[str, Any]


class Arguments(NamedTuple):
    """How arguments are written, whatever the family; see `llmask.Compiler.tools`."""

    property_order: str = "any"
    unsupported: str = "error"

    def form(self, tool: Tool, excluded: Iterable[str], style: str = "json") -> Format:
        """The format of the arguments of one function, which hold none of some strings."""
        return {
            "type": "json_schema",
            "name": tool.name,
            "json_schema": tool.parameters,
            "style": style,
            "any_order": self.property_order == "any",
            "excludes": list(dict.fromkeys(excluded)),
            "unsupported": self.unsupported,
            "exact_texts": True,
        }


class Marks(NamedTuple):
    """Whether a string is the name of a special token of a vocabulary, and of one that ends a sequence."""

    is_special: Callable[[str], bool]
    ends_sequence: Callable[[str], bool]


class Writing:
    """Knows which marks are special tokens.

    Parameters
    ----------
    marks : strings that may be special tokens.
    """

    def __init__(self, vocabulary: Marks, marks: Iterable[str] = ()) -> None:
        self.vocabulary = vocabulary
        self.marks = tuple(marks)
        self.is_special = vocabulary.is_special
        self.ends_sequence = vocabulary.ends_sequence
        special = sorted(filter(self.is_special, self.marks), key=len, reverse=True)
        self._cut = re.compile("|".join(map(re.escape, special))) if special else None

    def row(self, parts: Sequence[Any]) -> Format:
        """One part after the other: texts, in which special tokens are told apart, patterns, and formats."""
        found: list[Format] = []
        for part in parts:
            if isinstance(part, dict):
                found.append(part)
            elif isinstance(part, Pattern):
                found.append({"type": "regex", "pattern": part.text})
            else:
                found += self._text(part)
        return found[0] if len(found) == 1 else {"type": "sequence", "elements": found or [_const("")]}

    def _text(self, text: str) -> list[Format]:
        found: list[Format] = []
        at = 0
        for mark in self._cut.finditer(text) if self._cut is not None else ():
            found += [_const(text[at : mark.start()])] if at < mark.start() else []
            found.append({"type": "token", "token": mark[0]})
            at = mark.end()
        return [*found, *([_const(text[at:])] if at < len(text) else [])]

    def first_text(self, part: str) -> str:
        """What a part begins with: its mark, or the text up to one; nothing where that is a special token."""
        if self._cut is not None and (found := self._cut.search(part)) is not None:
            part = part[: found.start()]
        return next((mark for mark in self.marks if part.startswith(mark)), part)

    def text_without(self, excluded: Sequence[str]) -> Format:
        """Text in which some strings do not stand; special tokens never do."""
        words = [word for word in dict.fromkeys(excluded) if not self.is_special(word)]
        return {"type": "any_text", "excludes": words}

    def one_of(self, options: Sequence[Format]) -> Format:
        """One of some formats."""
        return options[0] if len(options) == 1 else {"type": "or", "elements": list(options)}

    def optional(self, form: Format) -> Format:
        """A format, or nothing."""
        return {"type": "optional", "content": form}

    def star(self, form: Format) -> Format:
        """A format any number of times."""
        return {"type": "star", "content": form}


def _const(text: str) -> Format:
    return {"type": "const_string", "value": text}
