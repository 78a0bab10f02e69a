"""A second look with other options: which would take a text that is valid, and refused for how it is spelled.

In: a schema with its options, a text. Out: options. Cost: that of compiling the schema, once for each option that could
be another.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..work import metered
from .refusals import Source, free, refused_at
from .values import Text


def relaxed_options(source: Source, text: Text) -> dict[str, Any]:
    """Few options that would take a text; none where it takes no other, or no options do.

    Raises
    ------
    LimitExceeded : it takes more work than compiling a grammar may.
    """
    given = source.options
    changed = {name: value for name, value in free(given).items() if getattr(given, name) != value}

    def takes(options: dict[str, Any]) -> bool:
        return refused_at(source, replace(given, **options), text) is None

    with metered(given.limits.max_compile_work, "max_compile_work"):
        if takes({}) or not takes(changed):
            return {}
        for name in list(changed):
            rest = {other: value for other, value in changed.items() if other != name}
            if takes(rest):
                changed = rest
    return changed
