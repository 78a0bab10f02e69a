"""`oneOf` with many alternatives: which pairs still have to be proved to exclude each other.

Real lists of alternatives tell their members apart by type, by a constant under a required key, or by keys that one
requires and the other forbids. Those marks (`marks.py`) are read off each alternative once, and only the pairs that are
left go to the proof of `alternatives.py`. An index by mark finds them without looking at all pairs, so 11,000
alternatives with a discriminator cost 11,000 steps and not 60 million.

In: the schemas of a choice. Out: pairs of positions, in order. Cost: about 20 us an alternative, and the pairs found.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llmask.frontends.json_schema.meaning.context import Context
from llmask.frontends.json_schema.meaning.marks import Marks, exclude_each_other, marks_of
from llmask.frontends.json_schema.meaning.place import SchemaAt

MAX_DISCRIMINATORS = 4  # keys that an index is made for; each has a list of all that lack it


def pairs_left(context: Context, schemas: list[SchemaAt]) -> Iterator[tuple[int, int]]:
    """Pairs of positions, the smaller first and in order, whose marks do not tell them apart."""
    marks = [marks_of(context, schema, path) for schema, path in schemas]
    index = _Index(marks)
    for at, one in enumerate(marks):
        for other in index.beyond(at):
            context.count_work()
            if not exclude_each_other(one, marks[other]):
                yield at, other


class _Index:
    """Alternatives by their marks: for one of them, a short list that holds all that may share a value with it."""

    def __init__(self, marks: list[Marks]) -> None:
        self.marks = marks
        self.by_type: dict[str, list[int]] = {}
        self.by_value: dict[Any, list[int]] = {}
        self.without_values: list[int] = []
        self.by_key: dict[str, list[int]] = {}  # those to which a key is open because it is listed
        self.open: list[int] = []
        self.by_member: dict[str, dict[Any, list[int]]] = {}  # key, then value under it
        n_under: dict[str, int] = {}
        for at, (types, values, required, allowed, _, under, *_) in enumerate(marks):
            for name in types:
                self.by_type.setdefault(name, []).append(at)
            if values is None:
                self.without_values.append(at)
            for value in values or ():
                self.by_value.setdefault(value, []).append(at)
            if allowed is None:
                self.open.append(at)
            for name in allowed or ():
                self.by_key.setdefault(name, []).append(at)
            for name, members in under.items():
                if name not in required:
                    continue
                n_under[name] = n_under.get(name, 0) + 1
                by_value = self.by_member.setdefault(name, {})
                for value in members:
                    by_value.setdefault(value, []).append(at)
        most = max(n_under.values(), default=0)
        self.discriminators = [name for name, n in n_under.items() if n == most][:MAX_DISCRIMINATORS]
        self.undiscriminated = {
            name: [at for at, one in enumerate(marks) if name not in one.under or name not in one.required]
            for name in self.discriminators
        }

    def beyond(self, at: int) -> list[int]:
        """Positions after `at` that may share a value with it, ascending; others are excluded by their marks."""
        types, values, required, _, _, under, *_ = self.marks[at]
        ways = [[self.by_type[name] for name in types]]
        if values is not None:
            ways.append([self.without_values, *(self.by_value[value] for value in values)])
        if types == {"object"}:
            if required:
                # objects to which one required key is open; the one that the fewest have
                fewest = min(required, key=lambda name: len(self.by_key.get(name, ())))
                ways.append([self.open, self.by_key.get(fewest, [])])
            for name in self.discriminators:
                if name in under and name in required:
                    others = self.by_member[name]
                    ways.append([self.undiscriminated[name], *(others[value] for value in under[name])])
        best = min(ways, key=lambda lists: sum(map(len, lists)))
        found: set[int] = set()
        for positions in best:
            found.update(positions)
        return sorted(position for position in found if position > at)
