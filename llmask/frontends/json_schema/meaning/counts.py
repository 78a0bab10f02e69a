"""Lengths and numbers of members: the least and the greatest that all parts allow.

In: parts, two keywords. Out: (least, greatest or None). Cost: under a microsecond a part.
"""

from __future__ import annotations

from llmask.errors import LimitExceeded
from llmask.frontends.json_schema.meaning.place import Part
from llmask.frontends.json_schema.reading.pointers import pointer
from llmask.grammar.kinds import UNBOUNDED


def count_range(parts: list[Part], least: str, greatest: str) -> tuple[int, int | None]:
    """What the keywords `least` and `greatest` of all parts leave.

    A greatest count that no document reaches (2^31 - 1 and more) is none.

    Raises
    ------
    LimitExceeded
        When the least count is that large.
    """
    low, high = 0, None
    for schema, path, _ in parts:
        if least in schema:
            low = max(low, int(schema[least]))
            if low >= UNBOUNDED:
                raise LimitExceeded(f'"{least}" is {UNBOUNDED} or more', pointer(path, least), "Use a smaller number.")
        if greatest in schema and schema[greatest] < UNBOUNDED:
            high = int(schema[greatest]) if high is None else min(high, int(schema[greatest]))
    return low, high
