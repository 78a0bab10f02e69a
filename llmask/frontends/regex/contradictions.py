r"""Mistakes in patterns, for messages: contradictions in a pattern that matches no text, and POSIX classes.

POSIX classes are known to neither `re` nor ECMA-262: `[[:alpha:]]+` is read as one of the characters `[:alph`, and then
`]` any number of times, a pattern that its author did not mean, and that matches something. Nothing is wrong with it
for a user who wants just that, so it is a warning. Source: POSIX.1-2024, Base Definitions, section 9.3.5.

In: a pattern. Out: a sentence, or None. Cost: microseconds.
"""

from __future__ import annotations

import re

# signs that say something of a place that what is beside them may contradict, and how each is recognised
BETWEEN_LETTERS = re.compile(r"(?<!\\)(?:\\\\)*(?:\w|\\[wd]|\])\\b(?:\w|\\[wd]|\[\w)")
SLASHES = re.compile(r"/.+/[dgimsuvy]*", re.DOTALL)
IN_THE_MIDDLE = re.compile(r"(?<!\\)(?:\\\\)*\$[^|)\s]|[^|(\[\s^\\]\^")
MEANT = {
    "alpha": r"\p{L}", "digit": r"\d", "alnum": r"\p{L}\p{N}", "upper": r"\p{Lu}", "lower": r"\p{Ll}",
    "space": r"\s", "blank": r" \t", "punct": r"\p{P}\p{S}", "cntrl": r"\p{Cc}", "xdigit": "0-9A-Fa-f",
    "word": r"\w", "print": " -~", "graph": "!-~", "ascii": r"\x00-\x7f",
}  # fmt: skip
CLASS = re.compile(rf"(?<!\\)(?:\\\\)*(\[:\^?({'|'.join(MEANT)}):\])")


def no_match_help(pattern: str) -> str:
    """How to mend a pattern that no text matches."""
    if SLASHES.fullmatch(pattern):
        return "take out the slashes around it, if they are meant as in JavaScript; flags are written (?i)"
    if BETWEEN_LETTERS.search(pattern):
        return r"\b is between two letters or digits, where it never holds: take it out, or write \\b for a backslash"
    if IN_THE_MIDDLE.search(pattern):
        return r"^ and $ hold at the ends of a text only: take them out, or write \^ and \$ for the characters"
    return "look for a look-around, an anchor or an empty class that contradicts what is beside it"


def posix_class(pattern: str) -> str | None:
    r"""What to say of a pattern with a POSIX class.

    Examples
    --------
    >>> posix_class("[[:digit:]]+")
    'reads "[:digit:]" as single characters, did you mean "\\d"?'
    """
    found = CLASS.search(pattern) if ":]" in pattern else None
    return None if found is None else f'reads "{found[1]}" as single characters, did you mean "{MEANT[found[2]]}"?'
