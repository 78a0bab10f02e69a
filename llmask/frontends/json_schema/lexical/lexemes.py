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
    """Nodes of the marks of JSON."""

    open_object: int
    close_object: int
    open_array: int
    close_array: int
    comma: int
    colon: int


def punctuation_of(nodes: RegexNodes) -> Punctuation:
    """The marks, made once a store."""
    return once(nodes, (__name__, "marks"), lambda: Punctuation(*[nodes.literal(bytes([mark])) for mark in b"{}[],:"]))


def white_space(nodes: RegexNodes, most: int) -> int:
    """Node of one to `most` bytes of white space."""
    return once(nodes, (__name__, most), lambda: nodes.repeat(nodes.byte_set(WHITE_SPACE), 1, most))


def lexemes_of_types(nodes: RegexNodes, numbers: str = "json") -> dict[str, int]:
    """Lexeme of each scalar type, made once for each form of numbers."""

    def make() -> dict[str, int]:
        string = free_string(nodes)
        if not style_of(nodes).is_raw:
            nodes.name(string, "STRING")
        integer = NumberRange(is_integer=True, fraction=MAY if numbers == "json" else NEVER)
        return {
            "string": string,
            "number": number_node(nodes, NumberRange(exponent=numbers != "plain")),
            "integer": number_node(nodes, integer),
            "boolean": nodes.union([nodes.literal(b"true"), nodes.literal(b"false")]),
            "null": nodes.literal(b"null"),
        }

    return once(nodes, (__name__, "types", numbers), make)
