r"""Where a pattern may begin and end in the text: whole match and search.

Searching is matching a text as a whole with any text before and behind the pattern. Anchors that open or close an
alternative, as nearly every pattern of a schema has them, say that there is none; taking them off here leaves most
patterns without anything that looks around.

    search:  ^a$|^b|c|d    becomes    a | b ANY | ANY (c|d) ANY

A negated pattern is a look-ahead that must fail, and any text.

In: a tree. Out: a tree that must match whole texts. Cost: a look at the ends of every alternative.
"""

from __future__ import annotations

from llmask.frontends.regex.tree import Alternatives, Chars, Edge, Look, Repeated, Sequence, Tree
from llmask.regex.code_points import TEXT

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
        behind = () if at_end else (ANY_TEXT,)
        options.append(Sequence((*before, Alternatives(tuple(members)), *behind)))
    return Alternatives(tuple(options))


def absent(pattern: Tree) -> Tree:
    """Every text of which `pattern`, made by one of the functions above, is not the whole.

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
