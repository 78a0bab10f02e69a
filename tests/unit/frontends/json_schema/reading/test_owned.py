"""Copies of a caller's values: equal, of plain types, nothing mutable shared."""

from __future__ import annotations

import collections
import enum
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from llmask.errors import LimitExceeded
from llmask.frontends.json_schema.reading.owned import Copies, owned


class Text(str):
    def __str__(self) -> str:
        return "overridden"

    __repr__ = __str__


class Number(enum.IntEnum):
    THREE = 3


class Word(str, enum.Enum):
    RED = "red"


class Pair(NamedTuple):
    one: Any
    two: Any


def containers(value: Any) -> list[Any]:
    """Everything in a value that can be changed, or holds what can be."""
    found = [value]
    for here in found:
        members = here.values() if isinstance(here, dict) else here
        found += [member for member in members if isinstance(member, (dict, list, tuple))]
    return found


def test_a_copy_shares_nothing_that_can_be_changed() -> None:
    value = {"a": [{"b": 1}, ({"c": []},), None], "d": {}}
    copied = owned(value)
    assert copied == value
    shared = {id(here) for here in containers(value)} & {id(here) for here in containers(copied)}
    assert not shared


PLAIN: list[tuple[Any, Any]] = [
    (collections.OrderedDict([("b", 1), ("a", 2)]), {"b": 1, "a": 2}),
    (collections.defaultdict(list, {"a": [Text("x")]}), {"a": ["x"]}),
    (types.MappingProxyType({"a": types.MappingProxyType({})}), {"a": {}}),
    ({Text("type"): Word.RED}, {"type": "red"}),
    ([Number.THREE, np.float64(1.5), True, 10**50, None], [3, 1.5, True, 10**50, None]),
    (collections.UserDict({"a": 1}), {"a": 1}),
    (Pair([1], Text("y")), ([1], "y")),
]


@pytest.mark.parametrize(("value", "expected"), PLAIN)
def test_subclasses_become_plain_types(value: Any, expected: Any) -> None:
    def kinds(here: Any) -> Any:
        if isinstance(here, dict):
            return [dict, *((type(key), kinds(member)) for key, member in here.items())]
        return [type(here), *map(kinds, here)] if isinstance(here, (list, tuple)) else type(here)

    assert owned(value) == expected
    assert kinds(owned(value)) == kinds(expected)


def test_an_ordered_dict_keeps_its_order() -> None:
    # the order of the dict below it is another one after `move_to_end`
    value = collections.OrderedDict(a=1, b=2, c=3)
    value.move_to_end("a")
    assert list(owned(value)) == ["b", "c", "a"]


@pytest.mark.parametrize("value", [..., b"x", {1, 2}, object(), 1j, np.int64(1)])
def test_what_json_has_no_type_for_stays(value: Any) -> None:
    assert owned({"a": value})["a"] is value


def test_what_stands_in_several_places_is_copied_once() -> None:
    doubling: Any = {}
    for _ in range(60):
        doubling = {"anyOf": [doubling, doubling]}
    copied = owned(doubling)
    assert copied["anyOf"][0] is copied["anyOf"][1]
    cyclic: dict[str, Any] = {"type": "object"}
    cyclic["properties"] = {"a": cyclic}
    copied = owned(cyclic)
    assert copied["properties"]["a"] is copied
    assert copied is not cyclic


def test_deep_values_are_copied_without_recursion(costly: Callable[[int], int]) -> None:
    n = costly(25_000)
    deep: Any = {}
    for _ in range(n):
        deep = {"items": [deep]}
    copied, depth = owned(deep), 0
    while copied:  # one level at a time: freeing all at once would recurse
        copied, deep, depth = copied.pop("items")[0], deep.pop("items")[0], depth + 1
    assert depth == n


def test_deep_tuples_meet_a_limit() -> None:
    deep: Any = ()
    for _ in range(10_000):
        deep = (deep,)
    with pytest.raises(LimitExceeded, match="tuples that nest too deep"):
        owned({"a": deep})


def test_copies_made_before_stay_the_same() -> None:
    inner = {"a": 1}
    copies: Copies = {}
    first = owned(inner, copies)
    assert owned({"b": inner}, copies)["b"] is first
