r"""Trees of parsed patterns, and questions that their parts answer before any node is made.

interegular's parser gives the frame: `Pattern` (alternatives), `_Concatenation` (parts in a row) and `_Repeated`. Its
leaves are sets of `str` that cannot hold Unicode classes, and it has no anchors, so the leaves are our own: they are
resolved against the flags while parsing, and the tree carries none.

Where a pattern may begin and end: searching is matching a text as a whole with any text before and after the pattern.
Anchors that open or close an alternative, as nearly every pattern of a schema has them, say that no text comes there;
taking them off here leaves most patterns without anything that looks around. A negated pattern is a lookahead that must
fail, and any text.

    search:  ^a$|^b|c|d    becomes    a | b ANY | ANY (c|d) ANY

What a pattern asks about the text around it only the whole text could answer. Lark matches a terminal's pattern in the
middle of the text, where a lookbehind at its start, or a lookahead at its end, sees the terminals next to it. A lexeme
is bytes alone here, so such patterns are refused. Patterns that look no further than the lexeme itself reaches are
fine: `"(?!x).*?(?<!\\)"` looks ahead one character, and at least one follows in the lexeme.

In: a tree. Out: parts, sets, answers; trees that must match whole texts. Cost: linear in the tree.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from collections.abc import Sequence as Items
from itertools import pairwise
from typing import Any, NamedTuple, Union

import numpy as np
from interegular.patterns import Pattern as Alternatives
from interegular.patterns import _Concatenation as Sequence
from interegular.patterns import _Repeated as Repeated

from llmask.errors import LimitExceeded
from llmask.regex.code_points import NO_TEXT, TEXT, CodePointSet
from llmask.regex.nodes import UNBOUNDED as MOST_COUNT
from llmask.work import spend

__all__ = ["Alternatives", "Atomic", "Boundary", "Chars", "Edge", "Lazy", "Look", "Repeated", "Sequence", "Tree"]
UNBOUNDED = 2**62
MAX_CASES = 64  # combinations of alternatives that are looked at one by one
Width = tuple[int, int]


class Lazy(Repeated):  # type: ignore[misc]
    """A repetition that takes as little as it can: in an atomic group it matters, elsewhere the texts are the same."""


class Chars(NamedTuple):
    """One code point of a set."""

    members: CodePointSet


class Edge(NamedTuple):
    r"""Start or end of the text, or of a line.

    is_end      whether the rest is looked at, not what came before
    terminators code points next to which the position also counts: the line ends under MULTILINE, else none
    may_follow  one code point of these may still follow before the end of the text: newline for Python's `$`
    """

    is_end: bool
    terminators: CodePointSet = NO_TEXT
    may_follow: CodePointSet = NO_TEXT


class Boundary(NamedTuple):
    r"""`\b` and `\B`: whether exactly one of the neighbours is in `words`.

    on_empty_text  whether `\B` holds in the empty text: Python before 3.14 says no
    """

    words: CodePointSet
    is_negated: bool
    on_empty_text: bool


class Look(NamedTuple):
    """Lookahead, or lookbehind when `is_lookbehind`: `inner` is matched without taking anything."""

    inner: Tree
    is_lookbehind: bool
    is_negated: bool


class Atomic(NamedTuple):
    """The first match of `inner` and no other, in the order in which `re` tries them."""

    inner: Tree


class Named(NamedTuple):
    """A named group, where a parser keeps them (groups.py)."""

    name: str
    inner: Any


Tree = Union[Alternatives, Sequence, Repeated, Chars, Edge, Boundary, Look, Atomic]  # noqa: UP007 (runtime on 3.10)


MANY_PARTS = 128  # shorter rows are left as they are
MANY_ROUNDS = 16
MAX_PERIOD = 64


def parts_of(tree: Tree) -> Items[Tree]:
    """What a tree is made of."""
    parts: Items[Tree] = ()
    if isinstance(tree, (Look, Atomic)):
        parts = (tree.inner,)
    elif isinstance(tree, (Chars, Edge, Boundary)):
        pass  # asked first: the other classes are abstract, and `isinstance` takes a microsecond to say no
    elif isinstance(tree, Alternatives):
        parts = tree.options
    elif isinstance(tree, Sequence):
        parts = tree.parts
    elif isinstance(tree, Repeated):
        parts = (tree.base,)
    return parts


def takes_one_character(tree: Tree) -> bool:
    """Whether every match of a row of looks and one set of characters takes exactly one."""
    if isinstance(tree, Alternatives):
        return all(map(takes_one_character, tree.options))
    if isinstance(tree, Sequence):
        kinds = [isinstance(part, (Look, Edge, Boundary)) for part in tree.parts]
        takers = [part for part, is_look in zip(tree.parts, kinds, strict=True) if not is_look]
        return len(takers) == 1 and takes_one_character(takers[0])
    return isinstance(tree, Chars)


def may_be_empty(tree: Tree) -> bool:
    """Whether a tree may match nothing."""
    if isinstance(tree, Chars):
        return False
    if isinstance(tree, Repeated) and tree.min == 0:
        return True
    if isinstance(tree, Alternatives):
        return any(map(may_be_empty, tree.options))
    return isinstance(tree, (Look, Edge, Boundary)) or all(map(may_be_empty, parts_of(tree)))


def without_inner_counter(tree: Repeated) -> Repeated:
    """(x{a,b}){c,d} as x{ac,bd} where the rounds leave no gap: after k of them, at most kb, follow at least (k+1)a."""
    inner = tree.base
    while isinstance(inner, (Alternatives, Sequence)):
        parts = parts_of(inner)
        if len(parts) != 1:
            return tree
        inner = parts[0]
    if not isinstance(inner, Repeated):
        return tree
    most = None if inner.max is None or tree.max is None else inner.max * tree.max
    spread = tree.min if inner.max is None else tree.min * (inner.max - inner.min)
    is_gapless = tree.min == tree.max or inner.min <= spread + 1 or (inner.max is None and tree.min > 0)
    if not is_gapless or tree.max == 0 or inner.max == 0 or max(inner.min * tree.min, most or 0) >= MOST_COUNT:
        return tree
    return without_inner_counter(Repeated(inner.base, inner.min * tree.min, most))


def looks_ahead(tree: Tree) -> bool:
    """Whether something inside asks what follows; an atomic group does, by what it would rather match."""
    if isinstance(tree, Edge):
        return tree.is_end
    if isinstance(tree, (Boundary, Atomic)) or (isinstance(tree, Look) and not tree.is_lookbehind):
        return True
    return any(looks_ahead(part) for part in parts_of(tree))


def single_character(tree: Tree) -> CodePointSet | None:
    """The set, if the tree matches one character of a set and nothing else."""
    if isinstance(tree, Chars):
        return tree.members
    if isinstance(tree, Sequence):
        return single_character(tree.parts[0]) if len(tree.parts) == 1 else None
    if not isinstance(tree, Alternatives):
        return None
    members = NO_TEXT
    for option in tree.options:
        single = single_character(option)
        if single is None:
            return None
        members = members.union(single)
    return members


def character_sets(tree: Tree) -> list[CodePointSet]:
    """Every set of characters in a tree, so that no two characters of a class differ for it."""
    if isinstance(tree, Chars):
        return [tree.members]
    if isinstance(tree, Edge):
        return [tree.terminators, tree.may_follow]
    if isinstance(tree, Boundary):
        return [tree.words]
    return [members for part in parts_of(tree) for members in character_sets(part)]


def rounds_in(row: Items[Hashable]) -> list[tuple[int, int, int]]:
    """A long row cut into pieces (first, end, n): what is between two places, `n` times in turn.

    Where a text may begin anywhere, as many beginnings of a row like "xxx..." are alive as it has rounds, and each is a
    node of its own: 10,000 of them took ten seconds. All beginnings of a counter are one node.

    Examples
    --------
    >>> rounds_in("a" + "xy" * 100 + "b")
    [(0, 1, 1), (1, 3, 100), (201, 202, 1)]
    """
    pieces = [(0, len(row), 1)]
    if len(row) < MANY_PARTS:
        return pieces
    numbers: dict[Hashable, int] = {}
    codes = np.fromiter((numbers.setdefault(part, len(numbers)) for part in row), np.int64, len(row))
    for period in range(1, MAX_PERIOD + 1):
        is_same = codes[period:] == codes[:-period]
        found: list[tuple[int, int, int]] = []
        for first, end, n in pieces:
            if n > 1 or end - first < MANY_ROUNDS * period:
                found.append((first, end, n))
                continue
            # where the row is not what it was a period before, the piece's ends included
            breaks = [first - 1, *(first + np.flatnonzero(~is_same[first : end - period])).tolist(), end - period]
            for before, after in pairwise(breaks):
                n_rounds = (after - max(before + 1, first)) // period + 1
                if n_rounds >= MANY_ROUNDS:
                    begin = max(before + 1, first)
                    found += [(first, begin, 1)] if first < begin else []
                    found.append((begin, begin + period, n_rounds))
                    first = begin + n_rounds * period
            found += [(first, end, 1)] if first < end else []
        pieces = found
    return pieces


def looks_around(tree: Tree) -> bool:
    """Whether an anchor, look-around or atomic group is inside."""
    return isinstance(tree, (Edge, Boundary, Look, Atomic)) or any(map(looks_around, parts_of(tree)))


def alternatives_of(patterns: list[Alternatives]) -> list[Alternatives]:
    """The same patterns, those as one that look at nothing but where the text begins and ends."""
    if len(patterns) == 1:
        return patterns
    plain: list[Sequence] = []
    others = []
    for pattern in patterns:
        if any(looks_around(_without_ends(option, terminators_allowed=False)[0]) for option in pattern.options):
            others.append(pattern)
        else:
            plain += pattern.options
    return [Alternatives(tuple(plain)), *others] if plain else others


ANY_TEXT = Repeated(Chars(TEXT), 0, None)


def whole_match(pattern: Alternatives) -> Tree:
    """Take off anchors that a match of the whole text fulfils anyway."""
    return Alternatives(tuple(_without_ends(option)[0] for option in pattern.options))


def search(pattern: Alternatives) -> Tree:
    """Allow any text around the pattern where its anchors allow it."""
    groups: dict[tuple[bool, bool], list[Sequence]] = {}
    for option in pattern.options:
        bare, at_start, at_end = _without_ends(option, terminators_allowed=False)
        groups.setdefault((at_start, at_end), []).append(bare)
    options = []
    for (at_start, at_end), members in groups.items():
        before = () if at_start else (ANY_TEXT,)
        after = () if at_end else (ANY_TEXT,)
        options.append(Sequence((*before, Alternatives(tuple(members)), *after)))
    return Alternatives(tuple(options))


def absent(pattern: Tree) -> Tree:
    """Every text that `pattern`, made by one of the functions above, does not match as a whole.

    Any text at the pattern's end is taken off: (?!a$) for a, (?!a) for a ANY. So a node of it is empty as soon as `a`
    was read, where the complement of `a ANY` lives on, with nothing that it could ever match in a text.
    """
    options = []
    for option in pattern.options if isinstance(pattern, Alternatives) else (Sequence((pattern,)),):
        is_open = bool(option.parts) and option.parts[-1] is ANY_TEXT
        options.append(Sequence(option.parts[:-1] if is_open else (*option.parts, Edge(True))))
    return Sequence((Look(Alternatives(tuple(options)), False, True), ANY_TEXT))


def _without_ends(option: Sequence, terminators_allowed: bool = True) -> tuple[Sequence, bool, bool]:
    """An alternative without anchors at its ends, and whether it had one at the start and at the end.

    An anchor that also holds elsewhere (under MULTILINE, or Python's `$`) counts only when the text's ends are at hand.
    """
    parts = option.parts
    n_start = n_end = 0
    while n_start < len(parts) and _is_edge(parts[n_start], False, terminators_allowed):
        n_start += 1
    while n_end < len(parts) - n_start and _is_edge(parts[len(parts) - 1 - n_end], True, terminators_allowed):
        n_end += 1
    return Sequence(parts[n_start : len(parts) - n_end]), n_start > 0, n_end > 0


def _is_edge(part: Tree, is_end: bool, terminators_allowed: bool) -> bool:
    if not isinstance(part, Edge) or part.is_end != is_end:
        return False
    return terminators_allowed or not (part.terminators.bounds or part.may_follow.bounds)


def width(tree: Tree | Named) -> Width:
    """Least and most characters of a match."""
    if isinstance(tree, Chars):
        return 1, 1
    if isinstance(tree, Repeated):
        low, high = width(tree.base)
        most = UNBOUNDED if tree.max is None and high else high * (tree.max or 0)
        return min(low * tree.min, UNBOUNDED), min(most, UNBOUNDED)
    if isinstance(tree, (Atomic, Named)):
        return width(tree.inner)
    if isinstance(tree, Sequence):
        widths = [width(part) for part in tree.parts]
        spend(len(widths))
        return min(sum(low for low, _ in widths), UNBOUNDED), min(sum(high for _, high in widths), UNBOUNDED)
    if isinstance(tree, Alternatives):
        widths = [width(option) for option in tree.options]
        spend(len(widths))
        return min((low for low, _ in widths), default=0), max((high for _, high in widths), default=0)
    return 0, 0


def looks_outside(tree: Tree, before: int = 0, after: int = 0) -> str | None:
    """What in a pattern may see beyond it, or None; at least `before` and `after` characters are around the pattern."""
    if isinstance(tree, Edge):
        if not tree.terminators.bounds:
            return '"$"' if tree.is_end else '"^"'
        return None if (after if tree.is_end else before) else "an anchor at the end of a line"
    if isinstance(tree, Boundary):
        return None if before and after else "\\b"
    if isinstance(tree, Look):
        if width(tree.inner)[1] > (before if tree.is_lookbehind else after):
            return "a lookbehind" if tree.is_lookbehind else "a lookahead"
        return None
    if isinstance(tree, Atomic):  # what it would rather match may reach further than what it matches
        low, high = width(tree.inner)
        is_run = isinstance(tree.inner, Repeated) and isinstance(tree.inner.base, Chars)  # a*+ is a*(?!a)
        if is_run:
            return None if after else "an atomic group"
        left = low + after - high
        return looks_outside(tree.inner, before, left) if left >= 0 else "an atomic group"
    if isinstance(tree, Repeated):
        return looks_outside(tree.base, before, after)
    if isinstance(tree, Alternatives):
        return next((found for option in tree.options if (found := looks_outside(option, before, after))), None)
    if isinstance(tree, Sequence):
        after += width(tree)[0]
        for part in tree.parts:
            least = width(part)[0]
            after -= least
            found = looks_outside(part, before, after)
            if found:
                return found
            before += least
    return None


def has_lazy(tree: Tree) -> bool:
    """Whether a lazy quantifier is inside."""
    if isinstance(tree, (Sequence, Alternatives)):
        return any(map(has_lazy, tree.parts if isinstance(tree, Sequence) else tree.options))
    if isinstance(tree, Repeated):
        return isinstance(tree, Lazy) or has_lazy(tree.base)
    return isinstance(tree, Atomic) and has_lazy(tree.inner)


def lazy_cases(tree: Tree) -> list[Tree]:
    """Trees that together match what one does; in none of them is a choice between lazy and other options."""
    if not has_lazy(tree):
        return [tree]
    if isinstance(tree, Alternatives):
        return [case for option in tree.options for case in lazy_cases(option)]
    if isinstance(tree, Sequence):
        rows: list[tuple[Tree, ...]] = [()]
        for part in tree.parts:
            cases = lazy_cases(part)
            if len(rows) * len(cases) > MAX_CASES:
                raise LimitExceeded(
                    f"lazy quantifiers stand in more than {MAX_CASES} combinations of alternatives",
                    help="make some of them terminals of their own",
                )
            spend(len(rows) * len(rows[0]) // 16)
            rows = [(*row, case) for row in rows for case in cases]
        return [Sequence(row) for row in rows]
    if isinstance(tree, Repeated) and not isinstance(tree, Lazy) and (tree.min, tree.max) == (0, 1):
        return [*lazy_cases(tree.base), Sequence(())]
    return [tree]


def lazy_tails(tree: Tree, tail: tuple[Tree, ...] = ()) -> Iterator[tuple[Tree, ...] | None]:
    """What follows each lazy quantifier; None for one inside a repetition."""
    if isinstance(tree, Lazy):
        yield tail
    elif isinstance(tree, Atomic):
        yield from (None for _ in lazy_tails(tree.inner))
    elif isinstance(tree, Repeated):
        is_once = tree.max == 1
        yield from (found if is_once else None for found in lazy_tails(tree.base, tail))
    elif isinstance(tree, Sequence):
        for n, part in enumerate(tree.parts):
            if has_lazy(part):
                spend((len(tree.parts) + len(tail)) // 8)
                yield from lazy_tails(part, (*tree.parts[n + 1 :], *tail))
    elif isinstance(tree, Alternatives):
        for option in tree.options:
            yield from lazy_tails(option, tail)


def last_loop(tree: Tree) -> tuple[Tree, Repeated | None]:
    """A tree without the repetition of lazy turns that ends it, and this repetition, if there is one that may stop."""
    before: list[Tree] = []
    loop = tree
    while isinstance(loop, Sequence) and loop.parts:
        before += loop.parts[:-1]
        loop = loop.parts[-1]
    rest = Sequence(tuple(before))
    if not isinstance(loop, Repeated) or isinstance(loop, Lazy) or loop.min > 1 or loop.max == 1:
        return tree, None
    is_apart = not (has_lazy(rest) or looks_outside(rest) or looks_outside(loop.base))
    return (rest, loop) if is_apart and has_lazy(loop) else (tree, None)
