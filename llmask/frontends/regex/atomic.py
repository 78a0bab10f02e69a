r"""Atomic groups and possessive quantifiers: the first match counts, and no other.

`re` tries the ways to match in an order, and `(?>X)` keeps the first that succeeds: `(?>a|ab)c` never matches "abc".
So for each part of X two things are kept, one a state of the text on the left: before which rests of the text the part
and all behind it in the group *succeed*, S, and before which of them the first way to succeed leads to a match of the
whole pattern, R.

    behind the group    S = ALL          R = what may follow
    character c         c S              c R
    A B                 of B, then of A
    A|B                 S_A | S_B        R_A | (R_B - S_A)
    A* = A A*|()        the same, with an equation for R; a lazy loop is ()|A A*

A loop whose body may match nothing has no such order (`re` leaves it after an empty round), so parsers refuse it in a
group. Lost: single characters, `a*+`, as `a*(?!a)`: it is what comes out here, for them alone.
Source: M. Berglund, B. van der Merwe, B. Watson, N. Weideman, "On the Semantics of Atomic Subgroups in Practical
Regular Expressions", CIAA 2017; CPython Modules/_sre/sre_lib.h for the order.

In: a tree, tails. Out: tails. Cost: as `_Meaning.tails_before`, twice; loops of more than a character make automata.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Items
from typing import TYPE_CHECKING, NamedTuple, Protocol

from llmask.frontends.regex.equations import Equations, Tail
from llmask.frontends.regex.shapes import (
    Alternatives,
    Atomic,
    Chars,
    Lazy,
    Look,
    Repeated,
    Sequence,
    Tree,
    may_be_empty,
    parts_of,
)

if TYPE_CHECKING:
    from llmask.regex.code_points import CodePointSet
    from llmask.regex.nodes import RegexNodes


class _Meaning(Protocol):
    """What is asked here of the meaning of a pattern (meaning.py)."""

    nodes: RegexNodes
    equations: Equations
    states: range

    def tails_before(self, tree: Tree, tails: Items[Tail] | None) -> list[Tail]: ...
    def before_anything(self, tree: Tree) -> list[Tail]: ...
    def fixed_point(self, tails: Items[Tail], choose: Callable[[Items[Tail]], list[Tail]]) -> list[Tail]: ...
    def kept(self, tree: Tree) -> Tree: ...
    def starts(self, members: CodePointSet) -> int: ...
    def only(self, rest: int, tail: Tail) -> Tail: ...


class Ways(NamedTuple):
    """What the ways to match come to from a place on, a state each.

    succeeds  S: the rests of the text before which one of them succeeds
    tails     R: those before which the first that succeeds leads to a match of the whole pattern
    """

    succeeds: list[Tail]
    tails: list[Tail]


def first_match_before(meaning: _Meaning, tree: Tree, tails: Items[Tail]) -> list[Tail]:
    """What may follow before the first match of `tree`, when `tails` may follow behind it."""
    return _before(meaning, tree, Ways(_anything(meaning), list(tails))).tails


def has_empty_loop(tree: Tree) -> bool:
    """Whether a loop is inside whose body may match nothing, so that the order of its matches is not defined."""
    if isinstance(tree, Repeated):
        is_loop = tree.max is None or tree.max - tree.min > 1
        return (is_loop and may_be_empty(tree.base)) or has_empty_loop(tree.base)
    return any(has_empty_loop(part) for part in _choices(tree))


def has_one_way(tree: Tree) -> bool:
    """Whether a text begins with one match of `tree` at most, so that there is nothing to choose."""
    if isinstance(tree, Repeated):
        return tree.min == tree.max and has_one_way(tree.base)
    return (not isinstance(tree, Alternatives) or len(tree.options) == 1) and all(map(has_one_way, _choices(tree)))


def _choices(tree: Tree) -> Items[Tree]:
    """Parts whose ways to match are ways of the tree."""
    return () if isinstance(tree, (Look, Atomic)) else parts_of(tree)


def _anything(meaning: _Meaning) -> list[Tail]:
    return [meaning.nodes.ALL for _ in meaning.states]


def _before(meaning: _Meaning, tree: Tree, ways: Ways) -> Ways:
    if has_one_way(tree):
        return Ways(_success_before(meaning, tree, ways.succeeds), meaning.tails_before(tree, ways.tails))
    if isinstance(tree, Sequence):
        for part in reversed(tree.parts):
            ways = _before(meaning, part, ways)
        return ways
    if isinstance(tree, Alternatives):
        *others, found = [_before(meaning, option, ways) for option in tree.options]
        for other in reversed(others):
            found = _rather(meaning, other, found)
        return found
    assert isinstance(tree, Repeated)
    return _repetition_before(meaning, tree, ways)


def _rather(meaning: _Meaning, first: Ways, second: Ways) -> Ways:
    """The first where it succeeds, else the second."""
    nodes, union = meaning.nodes, meaning.equations.union
    succeeds, tails = [], []
    for state in meaning.states:
        tried = first.succeeds[state]
        assert isinstance(tried, int)
        left_over = meaning.only(nodes.complement(tried), second.tails[state])
        tails.append(union([first.tails[state], left_over]))
        succeeds.append(union([tried, second.succeeds[state]]))
    return Ways(succeeds, tails)


def _repetition_before(meaning: _Meaning, tree: Repeated, ways: Ways) -> Ways:
    is_lazy = isinstance(tree, Lazy)
    is_end = ways.succeeds == _anything(meaning)
    if is_end and is_lazy:
        pass  # no more rounds than there must be
    elif is_end and isinstance(tree.base, Chars):
        return _run_before(meaning, tree.base, tree, ways)
    elif tree.max is None:
        ways = _endless_before(meaning, tree.base, is_lazy, ways)
    else:
        behind = ways
        for _ in range(tree.max - tree.min):
            longer = _before(meaning, tree.base, ways)
            ways = _rather(meaning, behind, longer) if is_lazy else _rather(meaning, longer, behind)
    for _ in range(tree.min):
        ways = _before(meaning, tree.base, ways)
    return ways


def _endless_before(meaning: _Meaning, body: Tree, is_lazy: bool, behind: Ways) -> Ways:
    succeeds = _success_before(meaning, meaning.kept(Repeated(body, 0, None)), behind.succeeds)

    def choose(variables: Items[Tail]) -> list[Tail]:
        longer = _before(meaning, body, Ways(succeeds, list(variables)))
        first, second = (behind, longer) if is_lazy else (longer, behind)
        return _rather(meaning, first, second).tails

    return Ways(succeeds, meaning.fixed_point(behind.tails, choose))


def _run_before(meaning: _Meaning, character: Chars, tree: Repeated, ways: Ways) -> Ways:
    """As many characters of a class as there are: what follows does not start with one, unless `max` are taken."""
    other = meaning.nodes.complement(meaning.starts(character.members))
    stops = [meaning.only(other, tail) for tail in ways.tails]
    if tree.max is None:
        tails = meaning.tails_before(meaning.kept(Repeated(character, tree.min, None)), stops)
    else:
        tails = meaning.tails_before(meaning.kept(Repeated(character, tree.max, tree.max)), ways.tails)
        if tree.min < tree.max:
            fewer = meaning.tails_before(meaning.kept(Repeated(character, tree.min, tree.max - 1)), stops)
            tails = [meaning.equations.union([tails[state], fewer[state]]) for state in meaning.states]
    return Ways(_success_before(meaning, tree, ways.succeeds), tails)


def _success_before(meaning: _Meaning, tree: Tree, succeeds: list[Tail]) -> list[Tail]:
    return meaning.before_anything(tree) if succeeds == _anything(meaning) else meaning.tails_before(tree, succeeds)
