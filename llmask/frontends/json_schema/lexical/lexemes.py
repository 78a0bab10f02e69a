"""The lexemes that every JSON grammar uses, made once a store: punctuation, literals, free scalars, white space.

In: a store's nodes. Out: nodes. Cost: a look-up.
"""

from __future__ import annotations

from typing import NamedTuple, cast

from llmask.frontends.json_schema.lexical.number_machines import MAY, NEVER
from llmask.frontends.json_schema.lexical.numbers import NumberRange, number_node
from llmask.frontends.json_schema.lexical.strings import free_string
from llmask.frontends.regex.json_strings import style_of
from llmask.regex.nodes import RegexNodes

WHITE_SPACE = 1 << 0x20 | 1 << 0x09 | 1 << 0x0A | 1 << 0x0D


class Punctuation(NamedTuple):
    """Nodes of the lexemes that every JSON grammar uses."""

    open_object: int
    close_object: int
    open_array: int
    close_array: int
    comma: int
    colon: int
    boolean: int
    null: int
    number: int
    integer: int


def punctuation_of(nodes: RegexNodes, numbers: str = "json") -> Punctuation:
    """The store's `Punctuation`, made once for each form of numbers (`SchemaOptions.numbers`)."""
    key = (__name__, numbers)
    found = nodes.memo.get(key)
    if found is None:
        is_plain = numbers == "plain"
        found = nodes.memo[key] = Punctuation(
            open_object=nodes.literal(b"{"),
            close_object=nodes.literal(b"}"),
            open_array=nodes.literal(b"["),
            close_array=nodes.literal(b"]"),
            comma=nodes.literal(b","),
            colon=nodes.literal(b":"),
            boolean=nodes.union([nodes.literal(b"true"), nodes.literal(b"false")]),
            null=nodes.literal(b"null"),
            number=number_node(nodes, NumberRange(exponent=not is_plain)),
            integer=number_node(nodes, NumberRange(is_integer=True, fraction=MAY if numbers == "json" else NEVER)),
        )
    return cast(Punctuation, found)


def white_space(nodes: RegexNodes, most: int) -> int:
    """Node of one to `most` bytes of white space."""
    key = (__name__, most)
    found = nodes.memo.get(key)
    if found is None:
        found = nodes.memo[key] = nodes.repeat(nodes.byte_set(WHITE_SPACE), 1, most)
    return int(found)


def lexemes_of_types(nodes: RegexNodes, numbers: str = "json") -> dict[str, int]:
    """Lexeme of each scalar type, made once for each form of numbers."""
    key = (__name__, "types", numbers)
    found = nodes.memo.get(key)
    if found is None:
        lexemes = punctuation_of(nodes, numbers)
        found = nodes.memo[key] = {
            "string": free_string(nodes),
            "number": lexemes.number,
            "integer": lexemes.integer,
            "boolean": lexemes.boolean,
            "null": lexemes.null,
        }
        if not style_of(nodes).is_raw:
            nodes.name(found["string"], "STRING")
    return cast("dict[str, int]", found)
