r"""Free text until a trigger, then the trigger's part, then free text again: how models call tools.

    dispatch({"<f>": part})      (until["<f>"] part)* text

`until` and `text` are lexemes (llmask/regex/free_text.py says what they are where triggers overlap): text that
could be the beginning of a trigger stays possible, a trigger once complete starts its part, and free text may end
anywhere. Lowered by `fusing.exact_rules` this means what it derives, byte by byte.

In: triggers and expressions. Out: an expression. Cost: that of the lexemes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from llmask.grammar.expressions import EMPTY, Expression, Lexeme, Repeat, choice, sequence
from llmask.regex.code_points import TEXT
from llmask.regex.free_text import free_text
from llmask.regex.utf8 import utf8_char

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes


def text_without(nodes: RegexNodes, excluded: Sequence[str], most: int | None = None) -> Expression:
    """Text in which no string of `excluded` stands, of `most` characters at most.

    Raises
    ------
    LimitExceeded : the strings are too many or too long.
    """
    node = free_text(nodes, [], _bytes(excluded)).text
    bounds = "*"
    if most is not None:
        node = nodes.intersect([node, nodes.repeat(utf8_char(nodes, TEXT), 0, most)])
        bounds = f"{{0,{most}}}"
    return EMPTY if node == nodes.EPSILON else Lexeme(node, f"/(?s:{_unless(excluded)}.){bounds}/")


def dispatch(
    nodes: RegexNodes, parts: Mapping[str, Expression], excluded: Sequence[str] = (), loops: bool = True
) -> Expression:
    """Free text in which each trigger is followed by its part.

    Parameters
    ----------
    parts : by trigger, what follows it.
    excluded : strings that the free text does not hold, triggers included: one in which they stand is never complete.
    loops : after a part, text goes on; else the part is the end.

    Raises
    ------
    LimitExceeded : the strings are too many or too long.
    """
    found = free_text(nodes, _bytes(parts), _bytes(excluded))
    unless = _unless([*parts, *excluded])
    text = Lexeme(found.text, f"/(?s:{unless}.)*/")
    tagged = [
        sequence([Lexeme(node, f"/(?s:{unless}.)*{_written(trigger)}/"), part])
        for (trigger, part), node in zip(parts.items(), found.until, strict=True)
        if node != nodes.EMPTY
    ]
    if not tagged:
        return text
    return sequence([Repeat(choice(tagged)), text]) if loops else choice([*tagged, text])


def _bytes(words: Iterable[str]) -> list[bytes]:
    return [word.encode() for word in words]


def _unless(words: Sequence[str]) -> str:
    """The part of a pattern that looks ahead: no word begins here."""
    return f"(?!{'|'.join(map(_written, words))})" if words else ""


def _written(word: str) -> str:
    """A string inside a pattern, as one would write it: only what has a meaning there is escaped."""
    quoted = json.dumps(word, ensure_ascii=False)[1:-1].replace('\\"', '"')
    return "".join("\\" + letter if letter in ".^$*+?{}[]|()/" else letter for letter in quoted)
