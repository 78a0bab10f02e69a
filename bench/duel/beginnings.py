"""May a text that begins like this match a pattern? Asked of the package `regex`, which knows partial matches.

Only patterns whose every alternative begins with `^` are asked: the others may be found in what follows. Patterns are
those that `tests.generators.judge` makes of ECMA 262's, `(?a:...)`.

In: a pattern, the beginning of a text. Out: bool, True where it is not known. Cost: 1 to 100 us.
"""

from __future__ import annotations

import re
import warnings
from functools import cache
from typing import Any

_DAY = r"[0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|[12][0-9]))"
_HOUR = r"([01][0-9]|2[0-3]):[0-5][0-9]"
_TIME = rf"{_HOUR}:([0-5][0-9]|60)(\.[0-9]+)?([Zz]|[+-]{_HOUR})"
_BYTE = r"(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
SHAPES = {  # wider than the formats, so that what cannot be completed here cannot be there
    "date": rf"^{_DAY}\Z",
    "time": rf"^{_TIME}\Z",
    "date-time": rf"^{_DAY}[Tt]{_TIME}\Z",
    "uuid": r"^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\Z",
    "ipv4": rf"^({_BYTE}\.){{3}}{_BYTE}\Z",
    "ipv6": r"^[0-9A-Fa-f:.]+\Z",
}
WRAPPED = re.compile(r"\(\?a:(.*)\)", re.DOTALL)


def alternatives(pattern: str) -> list[str]:
    """The pattern cut at each `|` that is outside of groups and classes.

    >>> alternatives("^a|^(b|c)")
    ['^a', '^(b|c)']
    """
    found, depth, in_class, place = [""], 0, False, 0
    while place < len(pattern):
        char = pattern[place]
        if char == "\\":
            char = pattern[place : place + 2]
        elif in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
        elif char in "()":
            depth += 1 if char == "(" else -1
        elif char == "|" and depth == 0:
            found.append("")
            place += 1
            continue
        found[-1] += char
        place += len(char)
    return found


@cache
def _compiled(pattern: str) -> list[Any] | None:
    """The alternatives with anything after them; None where a text cannot be told by its beginning."""
    try:
        import regex
    except ImportError:
        return None
    wrapped = WRAPPED.fullmatch(pattern)
    ways = alternatives(wrapped[1] if wrapped else pattern)
    if not all(way.startswith("^") for way in ways):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [regex.compile(rf"(?a:{way})(?s:.*)") for way in ways]
    except (regex.error, OverflowError):
        return None


def can_match(pattern: str, beginning: str) -> bool:
    """Whether a text that begins like this may match."""
    ways = _compiled(pattern)
    if ways is None:
        return True
    try:
        return any(way.fullmatch(beginning, partial=True, timeout=1) is not None for way in ways)
    except TimeoutError:
        return True


def matches(pattern: str, text: str) -> bool:
    """Whether the pattern is found in a whole text, by Python's `re`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return re.search(pattern, text) is not None


def may_be_escaped(text: str, escape: str) -> bool:
    """Whether an escape that begins like this may stand for the text's first character; True for halves of pairs."""
    return text != "" and text[:1].encode("utf-16-be", "surrogatepass")[:2].hex().startswith(escape[2:].lower())
