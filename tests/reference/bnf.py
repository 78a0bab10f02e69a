"""What a grammar of texts, names, rows, alternatives and repetitions derives, by brute force on sets of strings.

    ("text", "ab")   ("class", "ab")   ("rule", "S")   ("row", ...)   ("either", ...)   ("times", part, low, high)

For every rule two sets are grown to their least fixed point:

    yields    its strings of at most `max_bytes`
    begins    the strings of at most `max_bytes` that one of its strings starts with, however long that is

and before them the rules that derive anything at all, without which `begins` would know beginnings that never end. No
part of this is a parser: it is the definition.

In: rules as such tuples. Out: `Language`, and the grammar's text in GBNF. Cost: sets of some hundred strings.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping
from typing import Any

from tests.reference.definition import Language

Tree = tuple[Any, ...]


class Texts:
    """Fixed points over the rules of one grammar, beginning with `root`."""

    def __init__(self, rules: Mapping[str, Tree], max_bytes: int) -> None:
        self.rules = rules
        self.max_bytes = max_bytes
        self.productive: set[str] = set()
        while grown := {name for name in rules if name not in self.productive and self.derives(rules[name])}:
            self.productive |= grown
        self.yields: dict[str, set[bytes]] = {name: set() for name in rules}
        self.begins: dict[str, set[bytes]] = {name: set() for name in rules}
        while self._grow():
            pass

    def _grow(self) -> bool:
        grown = False
        for name in self.productive:
            for table, found in zip((self.yields, self.begins), self.of(self.rules[name]), strict=True):
                grown |= not found <= table[name]
                table[name] |= found
        return grown

    def derives(self, tree: Tree) -> bool:
        """Whether a tree derives any string, if the rules in `productive` do."""
        kind, *rest = tree
        if kind in ("text", "class"):
            return kind == "text" or bool(rest[0])
        if kind == "rule":
            return rest[0] in self.productive
        if kind == "row":
            return all(self.derives(part) for part in rest)
        if kind == "either":
            return any(self.derives(part) for part in rest)
        return rest[1] == 0 or self.derives(rest[0])

    def of(self, tree: Tree) -> tuple[set[bytes], set[bytes]]:
        """Strings, and beginnings of strings, of a tree that derives something."""
        kind, *rest = tree
        if kind in ("text", "class"):
            texts = [rest[0]] if kind == "text" else list(rest[0])
            return self._short({text.encode() for text in texts})
        if kind == "rule":
            return self.yields[rest[0]], self.begins[rest[0]] | {b""}
        if kind == "either":
            found = [self.of(part) for part in rest if self.derives(part)]
            return set().union(*(one for one, _ in found)), set().union(*(one for _, one in found))
        if kind == "row":
            yields, begins = {b""}, {b""}
            for part in rest:
                yields, begins = self._then(yields, begins, *self.of(part))
            return yields, begins
        part, low, high = rest
        if not self.derives(part):
            return {b""}, {b""}
        once = self.of(part)
        yields, begins = {b""}, {b""}
        for _ in range(low):
            yields, begins = self._then(yields, begins, *once)
        known = None
        more = None if high is None else high - low
        while known != (yields, begins) and more != 0:
            known = yields, begins
            further = self._then(yields, begins, *once)
            yields, begins = yields | further[0], begins | further[1]
            more = None if more is None else more - 1
        return yields, begins

    def _short(self, texts: Iterable[bytes]) -> tuple[set[bytes], set[bytes]]:
        begins = {text[:end] for text in texts for end in range(min(len(text), self.max_bytes) + 1)}
        return {text for text in texts if len(text) <= self.max_bytes}, begins

    def _then(
        self, yields: set[bytes], begins: set[bytes], more: set[bytes], more_begins: set[bytes]
    ) -> tuple[set[bytes], set[bytes]]:
        def joined(heads: set[bytes], tails: set[bytes]) -> set[bytes]:
            return {head + tail for head in heads for tail in tails if len(head) + len(tail) <= self.max_bytes}

        return joined(yields, more), begins | joined(yields, more_begins)

    def language(self) -> Language | None:
        """Live strings and sentences; None where nothing is derived."""
        if "root" not in self.productive:
            return None
        return Language(frozenset(self.begins["root"]), frozenset(self.yields["root"]), self.max_bytes)


def gbnf(rules: Mapping[str, Tree]) -> str:
    """The same grammar as a text."""
    return "\n".join(f"{name} ::= {written(tree)}" for name, tree in rules.items())


def written(tree: Tree) -> str:
    kind, *rest = tree
    if kind == "text":
        return json.dumps(rest[0])
    if kind == "class":
        return f"[{rest[0]}]" if rest[0] else r"[^\x01-\U0010FFFF]"
    if kind == "rule":
        return str(rest[0])
    if kind == "row":
        return "(" + " ".join(map(written, rest)) + ")"
    if kind == "either":
        return "(" + " | ".join(map(written, rest)) + ")"
    part, low, high = rest
    return f"({written(part)}){{{low},{'' if high is None else high}}}"


def random_rules(rng: random.Random, letters: str = "ab") -> dict[str, Tree]:
    """One to four rules, recursive in every way, over a few letters."""
    names = ["root", "one", "two", "three"][: rng.randint(1, 4)]

    def tree(depth: int) -> Tree:
        kind = rng.random()
        if depth == 0 or kind < 0.25:
            leaf = rng.random()
            if leaf < 0.4:
                return ("rule", rng.choice(names))
            if leaf < 0.75:
                return ("text", "".join(rng.choice(letters) for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3)))))
            return ("class", "".join(sorted(set(rng.choices(letters, k=rng.choice((1, 1, 2)))))))
        if kind < 0.55:
            return ("row", *(tree(depth - 1) for _ in range(rng.randint(1, 3))))
        if kind < 0.8:
            return ("either", *(tree(depth - 1) for _ in range(rng.randint(1, 3))))
        return (
            "times",
            tree(depth - 1),
            *rng.choice(((0, 1), (0, None), (1, None), (2, 2), (0, 2), (1, 3), (2, None))),
        )

    return {name: ("either", tree(rng.randint(1, 3)), tree(1)) for name in names}
