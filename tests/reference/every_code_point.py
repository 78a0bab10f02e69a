"""The characters that a pattern of `re` matches, found by running it over every code point."""

from __future__ import annotations

import re
from functools import cache

from llmask.regex.code_points import MAX_CODE_POINT, CodePointSet


@cache
def every_code_point() -> str:
    """The string whose character i is code point i, surrogates included."""
    return "".join(map(chr, range(MAX_CODE_POINT + 1)))


def members_by_re(pattern: str, flags: str = "") -> CodePointSet:
    """Members of a class of characters as `re` sees them; surrogates, which are no text, left out."""
    runs = re.finditer(f"{flags}(?:{pattern})+", every_code_point())
    return CodePointSet.from_ranges((run.start(), run.end() - 1) for run in runs)
