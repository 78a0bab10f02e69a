r"""What a pattern asks about the text around it: questions that only the whole text could answer.

Lark matches a terminal's pattern in the middle of the text, where a look-behind at its start, or a look-ahead at its
end, sees the terminals beside it. A lexeme is bytes alone here, so such patterns are refused. Those that look no
further than the lexeme itself reaches are fine: `"(?!x).*?(?<!\\)"` looks ahead one character, and at least one
follows in the lexeme.

Also how long matches are, and where lazy quantifiers stand.

In: a tree. Out: widths in characters, and what is wrong. Cost: linear in the tree.
"""

from __future__ import annotations

from collections.abc import Iterator

from llmask.errors import LimitExceeded
from llmask.frontends.regex.shapes import (
    Alternatives,
    Atomic,
    Boundary,
    Chars,
    Edge,
    Lazy,
    Look,
    Repeated,
    Sequence,
    Tree,
)
from llmask.work import spend

UNBOUNDED = 2**62
MAX_CASES = 64  # combinations of alternatives that are looked at one by one
Width = tuple[int, int]


def width(tree: Tree) -> Width:
    """Least and most characters of a match."""
    if isinstance(tree, Chars):
        return 1, 1
    if isinstance(tree, Repeated):
        low, high = width(tree.base)
        most = UNBOUNDED if tree.max is None and high else high * (tree.max or 0)
        return min(low * tree.min, UNBOUNDED), min(most, UNBOUNDED)
    if isinstance(tree, Atomic):
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


def looks_outside(tree: Tree, before: int = 0, behind: int = 0) -> str | None:
    """What in a pattern may see beyond it, where at least so many characters stand before and behind it; or None."""
    if isinstance(tree, Edge):
        if not tree.terminators.bounds:
            return '"$"' if tree.is_end else '"^"'
        return None if (behind if tree.is_end else before) else "an anchor at the end of a line"
    if isinstance(tree, Boundary):
        return None if before and behind else "\\b"
    if isinstance(tree, Look):
        if width(tree.inner)[1] > (before if tree.is_behind else behind):
            return "a look-behind" if tree.is_behind else "a look-ahead"
        return None
    if isinstance(tree, Atomic):  # what it would rather match may reach further than what it matches
        low, high = width(tree.inner)
        is_run = isinstance(tree.inner, Repeated) and isinstance(tree.inner.base, Chars)  # a*+ is a*(?!a)
        if is_run:
            return None if behind else "an atomic group"
        left = low + behind - high
        return looks_outside(tree.inner, before, left) if left >= 0 else "an atomic group"
    if isinstance(tree, Repeated):
        return looks_outside(tree.base, before, behind)
    if isinstance(tree, Alternatives):
        return next((found for option in tree.options if (found := looks_outside(option, before, behind))), None)
    if isinstance(tree, Sequence):
        behind += width(tree)[0]
        for part in tree.parts:
            least = width(part)[0]
            behind -= least
            found = looks_outside(part, before, behind)
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
    """Trees that together match what one does, none with an alternative of which only some options are lazy."""
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
