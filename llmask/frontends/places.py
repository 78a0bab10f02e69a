"""Places in the text of a grammar, as errors show them: line, column, the line itself, and a caret under it.

    line 14, column 11
        list: "[" item ("," item)* "]"
                  ^^^^

In: the text and where something is in it. Out: text for `LlmaskError.where`. Cost: linear in the text, on errors.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

from llmask.errors import GrammarError

SHOWN = 100  # characters of a line that an error shows
MOST_COMPARED = 200_000  # letters of a name times letters of the names among which a similar one is looked for


@dataclass(frozen=True)
class Source:
    """The text of a grammar, with the name of the file where it has one."""

    text: str
    name: str | None = None


class Spot(NamedTuple):
    """Characters of a source, from `begin` up to but not including `end`."""

    source: Source
    begin: int
    end: int

    @classmethod
    def nowhere(cls) -> Spot:
        """The beginning of an empty text."""
        return cls(Source(""), 0, 0)

    def short(self) -> str:
        """Line and column, after the file's name."""
        text = self.source.text
        line = text.count("\n", 0, self.begin) + 1
        column = self.begin - text.rfind("\n", 0, self.begin)
        return f"{self.source.name + ', ' if self.source.name else ''}line {line}, column {column}"

    def shown(self) -> str:
        """The same, the line, and a caret under each of the characters."""
        text, at = self.source.text, self.begin
        first = text.rfind("\n", 0, at) + 1
        end = text.find("\n", at)
        line = text[first : end if end >= 0 else len(text)].rstrip("\r")
        column = at - first
        cut = max(0, min(column - SHOWN // 2, len(line) - SHOWN))
        line = line[cut : cut + SHOWN]
        blanks = "".join("\t" if character == "\t" else " " for character in line[: column - cut])
        carets = "^" * max(1, min(self.end - at, len(line) - column + cut))
        return f"{self.short()}\n    {line}\n    {blanks}{carets}"

    def refuse(self, message: str, help: str) -> NoReturn:
        """Raise a GrammarError that shows the place."""
        raise GrammarError(message, self.shown(), help)

    def part(self, begin: int, end: int) -> Spot:
        """Characters `begin` to `end` of the spot."""
        return Spot(self.source, self.begin + begin, self.begin + end)


def similar(name: str, names: Iterable[str], otherwise: str = "define it") -> str:
    """Help for a name that is not known."""
    found = nearest(name, sorted(names))
    return f'{otherwise}, or did you mean "{found}"?' if found else otherwise


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The one of several names that is nearly `name`; the first ones are looked at, fewer where they are long."""
    from difflib import get_close_matches  # late: errors only

    left, known = MOST_COMPARED, []
    for other in names:
        left -= len(name) * (len(other) + 1)
        if left < 0:
            break
        known.append(other)
    found = get_close_matches(name, known, 1)
    return found[0] if found else None
