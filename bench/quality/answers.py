"""Whether a value is right: as the Berkeley leaderboard compares the arguments of a call, and for objects of our own.

Texts are compared without case, spaces and the signs `,./-_*^`, single quotes as double ones: the leaderboard's rule
(bfcl-eval 2026.3.23, `ast_checker.standardize_string`). A parameter has a list of values that are right; "" among them
says that it may be left out. What it takes for its own format, a value of another type than the schema's, cannot come
here: what is not valid is not right.

In: a value, the answer. Out: a bool. Cost: microseconds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

LEFT_OUT = ""
IGNORED = re.compile(r"[ ,./\-_*^]")


def standard(value: Any) -> Any:
    """A value whose equal ones are equal: texts as the rule above has them, numbers apart from booleans."""
    if isinstance(value, str):
        return IGNORED.sub("", value).lower().replace("'", '"')
    if isinstance(value, bool) or value is None:
        return "literal", value
    if isinstance(value, (list, tuple)):
        return [standard(member) for member in value]
    if isinstance(value, dict):
        return {key: standard(member) for key, member in value.items()}
    return value


def is_one_of(value: Any, possible: list[Any]) -> bool:
    """Whether a value is among those that are right; members of objects have lists of their own."""
    if isinstance(value, dict):
        return any(isinstance(one, dict) and are_arguments(value, one) for one in possible)
    if isinstance(value, list) and any(isinstance(member, dict) for member in value):
        return any(
            isinstance(one, list)
            and len(one) == len(value)
            and all(is_one_of(member, [right]) for member, right in zip(value, one, strict=True))
            for one in possible
        )
    return standard(value) in [standard(one) for one in possible]


def are_arguments(values: Mapping[str, Any], possible: Mapping[str, list[Any]]) -> bool:
    """Whether each value is among those of its name, and none is missing that may not."""
    if any(name not in possible or not is_one_of(value, possible[name]) for name, value in values.items()):
        return False
    return all(name in values or LEFT_OUT in right for name, right in possible.items())


def is_answer(value: Any, answer: Any, also: Mapping[str, list[str]], place: str = "") -> bool:
    """Whether a value is the answer; `also` has other spellings of its texts by their place, `author.name`."""
    if isinstance(answer, dict) and isinstance(value, dict):
        return value.keys() == answer.keys() and all(
            is_answer(value[key], member, also, f"{place}.{key}" if place else key) for key, member in answer.items()
        )
    return standard(value) in [standard(one) for one in (answer, *also.get(place, ()))]
