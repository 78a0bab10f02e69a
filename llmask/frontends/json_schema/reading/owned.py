"""A caller's value as a copy of our own, in the plain types that `json.loads` gives.

A schema is kept as long as its grammar: the ledger is written late, and so are rules for values that may not repeat. A
caller who changes a dict afterwards must not change masks, least of all for others, to whom the cache gives the same
grammar. So the doors copy once, and everything after them may rely on identity.

What is in several places is copied once, too, and a value that contains itself gives one that does: a copy is never
larger than what it was made from. Subclasses (an `OrderedDict`, a `defaultdict`, an `Enum` of str, NumPy's float64) and
other mappings become what `json.dumps` takes them for. What JSON has no type for stays as it is, and compiling says so.

In: any value. Out: its copy. Cost: 4 us for a schema of 1 KB.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llmask.errors import LimitExceeded

PLAIN = frozenset((str, int, bool, float, type(None)))
ONLY_TEXT = frozenset((str,))
Copies = dict[int, tuple[Any, Any]]  # by identity: the value, which so stays alive, and its copy


def owned(value: Any, copies: Copies | None = None) -> Any:
    """A copy that shares nothing mutable with `value`.

    Parameters
    ----------
    copies : what was copied before and stays the same here; gains what is copied now.

    Raises
    ------
    LimitExceeded
        When tuples nest too deep in each other.
    """
    waiting: list[Any] = []
    copies = {} if copies is None else copies
    try:
        known = copies.get(id(value))
        found = _copied(value, copies, waiting) if known is None else known[1]
        for here in waiting:  # grows while it is read
            for key, member in here.items() if type(here) is dict else enumerate(here):
                if type(member) not in PLAIN:
                    known = copies.get(id(member))
                    here[key] = _copied(member, copies, waiting) if known is None else known[1]
    except RecursionError:
        raise LimitExceeded("the value holds tuples that nest too deep in each other", help="use lists") from None
    return found


def _copied(value: Any, copies: Copies, waiting: list[Any]) -> Any:
    """A shallow copy, noted as one whose members wait to be copied."""
    twin: Any
    if type(value) is dict and ONLY_TEXT.issuperset(map(type, value)):
        twin = value.copy()
        waiting.append(twin)
    elif isinstance(value, list):
        twin = list(value)
        if not PLAIN.issuperset(map(type, twin)):
            waiting.append(twin)
    elif isinstance(value, Mapping):
        twin = {_scalar(key): member for key, member in value.items()}
        waiting.append(twin)
    elif isinstance(value, tuple):
        twin = tuple(owned(list(value), copies))
    else:
        return _scalar(value)
    copies[id(value)] = value, twin
    return twin


def _scalar(value: Any) -> Any:
    """A string or number of a subclass in the plain type, anything else as it is."""
    if type(value) in PLAIN:
        return value
    if isinstance(value, str):
        return str.__getnewargs__(value)[0]  # what pickling makes the same text of, whatever the subclass overrides
    if isinstance(value, int):
        return int.__getnewargs__(value)[0]
    return float.__getnewargs__(value)[0] if isinstance(value, float) else value
