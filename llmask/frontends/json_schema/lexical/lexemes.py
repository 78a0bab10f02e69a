"""The lexemes that every JSON grammar uses, made once a store: punctuation, literals, free scalars, white space.

In: a store's nodes. Out: nodes. Cost: a look-up.
"""

from __future__ import annotations

from typing import NamedTuple

from llmask.frontends.regex.json_strings import style_of
from llmask.regex.nodes import RegexNodes

from .number_machines import MAY, NEVER
from .numbers import NumberRange, number_node
from .strings import free_string, once

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

    def make() -> Punctuation:
        return Punctuation(
            open_object=nodes.literal(b"{"),
            close_object=nodes.literal(b"}"),
            open_array=nodes.literal(b"["),
            close_array=nodes.literal(b"]"),
            comma=nodes.literal(b","),
            colon=nodes.literal(b":"),
            boolean=nodes.union([nodes.literal(b"true"), nodes.literal(b"false")]),
            null=nodes.literal(b"null"),
            number=number_node(nodes, NumberRange(exponent=numbers != "plain")),
            integer=number_node(nodes, NumberRange(is_integer=True, fraction=MAY if numbers == "json" else NEVER)),
        )

    return once(nodes, (__name__, numbers), make)


def white_space(nodes: RegexNodes, most: int) -> int:
    """Node of one to `most` bytes of white space."""
    return once(nodes, (__name__, most), lambda: nodes.repeat(nodes.byte_set(WHITE_SPACE), 1, most))


def lexemes_of_types(nodes: RegexNodes, numbers: str = "json") -> dict[str, int]:
    """Lexeme of each scalar type, made once for each form of numbers."""

    def make() -> dict[str, int]:
        lexemes = punctuation_of(nodes, numbers)
        string = free_string(nodes)
        if not style_of(nodes).is_raw:
            nodes.name(string, "STRING")
        scalars = {name: getattr(lexemes, name) for name in ("number", "integer", "boolean", "null")}
        return {"string": string, **scalars}

    return once(nodes, (__name__, "types", numbers), make)
