"""A smaller schema and document that still show the same difference.

Greedy: the first reduction that keeps the difference is taken, until none does or the tries are spent. Reductions know
nothing of keywords; what breaks the schema is refused by the test of the difference itself.

In: a schema, a document, a test. Out: the two, smaller. Cost: one test a try.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


def shrink(schema: Any, document: Any, differs: Callable[[Any, Any], bool], max_tries: int = 1500) -> tuple[Any, Any]:
    """Reduce both while `differs(schema, document)` holds.

    Parameters
    ----------
    differs : False for what is no schema as well; it holds for the pair given.
    max_tries : calls of `differs`.
    """
    n_left = max_tries
    is_smaller = True
    while is_smaller:
        is_smaller = False
        pairs = [((smaller, document) for smaller in reductions(schema))]
        pairs.append((schema, smaller) for smaller in reductions(document))
        for candidates in pairs:
            for candidate in candidates:
                if n_left == 0:
                    return schema, document
                n_left -= 1
                if differs(*candidate):
                    schema, document = candidate
                    is_smaller = True
                    break
            if is_smaller:
                break
    return schema, document


def reductions(value: Any) -> Iterator[Any]:
    """Values that are smaller in one place, the largest steps first."""
    if isinstance(value, dict):
        if value:
            yield True
        yield from (inner for inner in value.values() if isinstance(inner, dict))
        for inner in value.values():
            yield from (member for member in (inner if isinstance(inner, list) else ()) if isinstance(member, dict))
        for key in value:
            yield {name: inner for name, inner in value.items() if name != key}
        for key, inner in value.items():
            yield from ({**value, key: smaller} for smaller in reductions(inner))
    elif isinstance(value, list):
        yield from (value[:place] + value[place + 1 :] for place in range(len(value)))
        for place, inner in enumerate(value):
            yield from ([*value[:place], smaller, *value[place + 1 :]] for smaller in reductions(inner))
    elif isinstance(value, str):
        if value:
            yield from ("", value[1:], value[:-1])
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from (simpler for simpler in (0, 1, int(value)) if abs(simpler) < abs(value))
