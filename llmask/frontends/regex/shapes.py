r"""What a tree looks like: questions that its parts answer, before any node is made.

In: a tree. Out: parts, sets, answers. Cost: linear in the tree.
"""

from __future__ import annotations

from collections.abc import Hashable
from collections.abc import Sequence as Items
from itertools import pairwise

import numpy as np

from llmask.frontends.regex.tree import Alternatives, Atomic, Boundary, Chars, Edge, Look, Repeated, Sequence, Tree
from llmask.regex.code_points import NO_TEXT, CodePointSet
from llmask.regex.nodes import UNBOUNDED

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
    """(x{a,b}){c,d} as x{ac,bd} where the rounds leave no gap: behind k of them, at most kb, follow at least (k+1)a."""
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
    if not is_gapless or tree.max == 0 or inner.max == 0 or max(inner.min * tree.min, most or 0) >= UNBOUNDED:
        return tree
    return without_inner_counter(Repeated(inner.base, inner.min * tree.min, most))


def looks_ahead(tree: Tree) -> bool:
    """Whether something inside asks what follows; an atomic group does, by what it would rather match."""
    if isinstance(tree, Edge):
        return tree.is_end
    if isinstance(tree, (Boundary, Atomic)) or (isinstance(tree, Look) and not tree.is_behind):
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
    """A long row cut into pieces (first, end, n): what stands between two places, `n` times in turn.

    Where a text may begin anywhere, as many beginnings of a row like "xxx..." are alive as it has rounds, and each is a
    node of its own: 10,000 of them took ten seconds. Those of a counter are one.

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
