"""Patterns that no text matches: what may be wrong with them, for messages.

In: a pattern. Out: a sentence. Cost: microseconds.
"""

from __future__ import annotations

import re

# signs that say of a place what stands beside them may contradict, and how each is told
BETWEEN_LETTERS = re.compile(r"(?<!\\)(?:\\\\)*(?:\w|\\[wd]|\])\\b(?:\w|\\[wd]|\[\w)")
SLASHES = re.compile(r"/.+/[dgimsuvy]*", re.DOTALL)
IN_THE_MIDDLE = re.compile(r"(?<!\\)(?:\\\\)*\$[^|)\s]|[^|(\[\s^\\]\^")


def no_match_help(pattern: str) -> str:
    """How to mend a pattern that no text matches."""
    if SLASHES.fullmatch(pattern):
        return "take out the slashes around it, if they are those of JavaScript; flags are written (?i)"
    if BETWEEN_LETTERS.search(pattern):
        return (
            r"\b stands between two letters or digits, where it never holds: take it out, or write \\b for a backslash"
        )
    if IN_THE_MIDDLE.search(pattern):
        return r"^ and $ hold at the ends of a text only: take them out, or write \^ and \$ for the characters"
    return "look for a look-around, an anchor or an empty class that contradicts what stands beside it"
