r"""Free text without some strings, and until one of them: how models call tools.

    dispatch({"<f>": part})      (until["<f>"] part)* text

`until` and `text` are lexemes (llmask/regex/word_lists.py says what they are where triggers overlap): text that could
be the beginning of a trigger stays possible, a trigger once complete starts its part, and free text may end anywhere.
Lowered by `fusing.exact_rules` this means what it derives, byte by byte.

Strings may also be excluded from all strings of a JSON document: `excludes` of a schema.

    {"type": "json_schema", "json_schema": {"type": "string"}, "excludes": ["</call>"]}

So whoever looks for the end of a tag does not find it inside of the arguments. Names and values are looked at as they
are written, between the quotes and before escapes are resolved: where `</call>` is excluded, `\u003c/call>` is not. As
XGrammar 0.2.8 does it, with two differences: strings with a pattern or format are looked at, too, and `minLength` and
`maxLength` are kept.

A lexeme of JSON holds whole strings, or none: each is intersected with the texts all of whose strings are good.

In: triggers and expressions; the rules of a schema. Out: an expression; the same rules with other lexemes. Cost: a few
expressions a lexeme.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from llmask.errors import GrammarError
from llmask.grammar.expressions import EMPTY, Expression, Lexeme, Repeat, choice, sequence
from llmask.grammar.kinds import EDGE_FIELDS, NO_GUARD, SCAN
from llmask.grammar.rules import Rules
from llmask.regex.code_points import TEXT, utf8_char
from llmask.regex.word_lists import free_text

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes

QUOTE, BACKSLASH = 0x22, 0x5C
EVERY_BYTE = (1 << 256) - 1


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


def exclude_strings(nodes: RegexNodes, rules: Rules, excluded: Sequence[str]) -> None:
    """Let no string of `excluded` stand in a string of the documents.

    Raises
    ------
    GrammarError : a value cannot be written without one of them, and others count on it.
    LimitExceeded : the strings are too many or too long.
    """
    good = _good_texts(nodes, excluded)
    made: dict[int, int] = {}
    edges = array("i")
    assert not rules.priorities, "schemas have none, and they name edges by number"
    for at in range(0, len(rules.edges), EDGE_FIELDS):
        state, kind, symbol, target, guard = rules.edges[at : at + EDGE_FIELDS]
        if kind == SCAN:
            if symbol not in made:
                made[symbol] = _without(nodes, symbol, good)
            symbol = made[symbol]
        if kind != SCAN or symbol != nodes.EMPTY:
            edges.extend((state, kind, symbol, target, guard))
    if len(edges) < len(rules.edges) and any(guard != NO_GUARD for guard in edges[4::EDGE_FIELDS]):
        raise GrammarError(
            "the excluded strings leave nothing of a name or value of the schema, in which members are counted",
            help="take the value out of the schema, or exclude less",
        )
    rules.edges = edges


def _without(nodes: RegexNodes, lexeme: int, good: int) -> int:
    if not nodes.first_bytes(lexeme) >> QUOTE & 1:
        return lexeme  # no string begins there, and none stands behind something else
    found = nodes.intersect([lexeme, good])
    return nodes.EMPTY if nodes.is_empty(found) else found


def _good_texts(nodes: RegexNodes, excluded: Sequence[str]) -> int:
    """Texts of JSON all of whose strings hold none of the excluded ones."""
    quote = nodes.literal(b'"')
    escaped = nodes.concat([nodes.literal(b"\\"), nodes.byte_set(EVERY_BYTE)])
    plain = nodes.byte_set(EVERY_BYTE & ~(1 << QUOTE | 1 << BACKSLASH))
    free = free_text(nodes, [], [text.encode() for text in excluded]).text
    body = nodes.intersect([nodes.repeat(nodes.union([plain, escaped]), 0), free])
    other = nodes.byte_set(EVERY_BYTE & ~(1 << QUOTE))
    return nodes.repeat(nodes.union([other, nodes.concat([quote, body, quote])]), 0)
