r"""What strings, patterns and ranges of a Lark grammar match: the smallest parts of terminals.

In: parts of the tree. Out: `Value`s, from which terminals are put together. Cost: that of reading the patterns.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from llmask.errors import GrammarError, LimitExceeded
from llmask.frontends.lark.tree import Pattern, Range, Text
from llmask.frontends.regex.python_syntax import PythonParser
from llmask.frontends.regex.tree import Chars, Sequence, Tree
from llmask.regex.code_points import CodePointSet

COLUMN = re.compile(r"column ([0-9]+) of the pattern")
ESCAPED = re.compile(r"\\(.)", re.DOTALL)


class Value(NamedTuple):
    """What a terminal, or a part of one, matches.

    tree       where it has one
    node       where it has none
    regexp     how Lark writes it as one pattern
    is_string  whether it is one string and nothing else
    """

    tree: Tree | None
    node: int
    regexp: str
    is_string: bool = False


def escaped(value: Value) -> str:
    """A string as part of a pattern."""
    pattern = re.escape(str(json.loads(value.regexp.rstrip("i"))))
    return f"(?i:{pattern})" if value.regexp.endswith("i") else pattern


def text_value(node: Text) -> Value:
    """What a string matches."""
    if node.ignores_case:
        parser = PythonParser(re.escape(node.text))
        parser.flags = frozenset("i")
        tree: Tree = parser.parse()
    else:
        tree = Sequence(tuple(Chars(CodePointSet.of(character)) for character in node.text))
    return Value(tree, -1, json.dumps(node.text, ensure_ascii=False) + "i" * node.ignores_case, True)


def range_value(node: Range) -> Value:
    """What a range matches.

    Raises
    ------
    GrammarError : its ends are the wrong way round.
    """
    if node.first > node.last:
        node.spot.refuse("this range ends before it starts", f'write "{node.last}".."{node.first}"')
    tree = Chars(CodePointSet.from_ranges([(ord(node.first), ord(node.last))]))
    return Value(tree, -1, f"[{re.escape(node.first)}-{re.escape(node.last)}]")


def pattern_value(node: Pattern) -> Value:
    """What a pattern matches.

    Raises
    ------
    GrammarError : it is malformed, or has a flag that is not known.
    LimitExceeded : it nests too deep.
    """
    unknown = set(node.flags) - set("imslux")
    if unknown or "l" in node.flags:
        flag = min(unknown or "l")
        node.spot.refuse(f'the flag "{flag}" is not known for text', "known are i, m, s, u and x")
    pattern = ESCAPED.sub(lambda found: "/" if found[1] == "/" else found[0], node.pattern)
    flags = frozenset(node.flags) - {"u"}
    parser = PythonParser(pattern)
    parser.flags = flags
    try:
        tree = parser.parse()
    except (GrammarError, LimitExceeded) as error:
        found = COLUMN.search(error.where or "")
        at = node.spot
        if found:
            begin = 1 + _original_place(node.pattern, int(found[1]) - 1)
            at = node.spot.part(begin, begin + 1)
        raise type(error)(error.message, at.shown(), error.help) from None
    return Value(tree, -1, f"(?{''.join(sorted(flags))}:{pattern})" if flags else pattern)


def _original_place(written: str, place: int) -> int:
    """Where a character of a pattern stands in its source, in which slashes are escaped."""
    at = 0
    for found in ESCAPED.finditer(written):
        if found.start() - at >= place:
            break
        at += found[1] == "/"
    return min(place + at, len(written))
