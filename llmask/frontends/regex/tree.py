"""What a parsed pattern is made of.

interegular's parser gives the frame: `Pattern` (alternatives), `_Concatenation` (parts in a row) and `_Repeated`. Its
leaves are sets of `str` that cannot hold Unicode classes, and it has no anchors, so the leaves are our own: they are
resolved against the flags while parsing, and the tree carries none.

In: nothing. Out: the classes of a tree. Cost: none.
"""

from __future__ import annotations

from typing import NamedTuple, Union

from interegular.patterns import Pattern as Alternatives
from interegular.patterns import _Concatenation as Sequence
from interegular.patterns import _Repeated as Repeated

from llmask.regex.code_points import NO_TEXT, CodePointSet

__all__ = ["Alternatives", "Atomic", "Boundary", "Chars", "Edge", "Lazy", "Look", "Repeated", "Sequence", "Tree"]


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
    """Lookahead, or lookbehind when `is_behind`: `inner` is matched without taking anything."""

    inner: Tree
    is_behind: bool
    is_negated: bool


class Atomic(NamedTuple):
    """The first match of `inner` and no other, in the order in which `re` tries them."""

    inner: Tree


Tree = Union[Alternatives, Sequence, Repeated, Chars, Edge, Boundary, Look, Atomic]  # noqa: UP007 (runtime on 3.10)
