"""The rules that a sequence is in, as dotted rules, with the lines of the text that they were written in.

    line 2: item: "<" • NUM ">"

In: a sequence, the text of its grammar. Out: lines. Cost: 20 us an edge of the rules.
"""

from __future__ import annotations

import re

from .. import debug
from ..matching.sequence import Sequence

# How a rule or terminal begins in each notation, after its name.
DEFINED = {"gbnf": r"[ \t]*::=", "ebnf": r"[ \t]*::=", "lark": r"(?:\{[^}]*\})?(?:\.-?\d+)?(?:\[[^\]]*\])?[ \t]*:"}


def dotted_rules(sequence: Sequence, kind: str = "", text: str = "") -> list[str]:
    """The rules that are being read, the innermost first.

    Parameters
    ----------
    sequence : where.
    kind, text : the notation and the text of its grammar, if it has one.
    """
    if sequence.has_ended():
        return []
    return [_with_line(item.text, kind, text) for item in debug.row(sequence).kernel]


def _with_line(rule: str, kind: str, text: str) -> str:
    """A dotted rule with the line where it is defined, if that is found."""
    name = re.match(r"[\w-]+", rule)
    if kind not in DEFINED or name is None:
        return rule
    found = re.search(rf"^[ \t]*[?!]?{re.escape(name[0])}{DEFINED[kind]}", text, re.MULTILINE)
    return rule if found is None else f"line {text.count(chr(10), 0, found.start()) + 1}: {rule}"
