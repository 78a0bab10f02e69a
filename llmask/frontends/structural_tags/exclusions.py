r"""Strings that stand nowhere in the strings of a JSON document: `excludes` beside a schema.

    {"type": "json_schema", "json_schema": {"type": "string"}, "excludes": ["</call>"]}

So whoever looks for the end of a tag does not find it inside of the arguments. Names and values are looked at as they
are written, between the quotes and before escapes are resolved: where `</call>` is excluded, `\u003c/call>` is not. As
XGrammar 0.2.8 does it, with two differences: strings with a pattern or format are looked at, too, and `minLength` and
`maxLength` are kept.

A lexeme of JSON holds whole strings, or none: each is intersected with the texts all of whose strings are good.

In: the rules of a schema. Out: the same with other lexemes. Cost: a few expressions a lexeme.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING

from llmask.errors import GrammarError
from llmask.grammar.kinds import EDGE_FIELDS, NO_GUARD, SCAN
from llmask.grammar.rules import Rules
from llmask.regex.free_text import free_text

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes

QUOTE, BACKSLASH = 0x22, 0x5C
EVERY_BYTE = (1 << 256) - 1


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
