r"""What a tree looks like: questions that its parts answer, before any node is made.

In: a tree. Out: parts, sets, answers. Cost: linear in the tree.
"""

from __future__ import annotations

from collections.abc import Sequence as Items

from llmask.derivatives.code_points import NO_TEXT, CodePointSet
from llmask.derivatives.nodes import UNBOUNDED
from llmask.frontends.regex.tree import Alternatives, Atomic, Boundary, Chars, Edge, Look, Repeated, Sequence, Tree


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
