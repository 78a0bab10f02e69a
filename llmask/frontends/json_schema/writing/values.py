"""`const` and `enum`: strings in one spelling, that of `json.dumps(ensure_ascii=False)`; numbers in every one of them
without exponent, so that 2 may also be written 2.0, and with the exponents of `scientific_numbers.py`.

Scalars of one place are one lexeme, so a long enumeration costs one edge. Objects and arrays are schemas that allow one
value (`synthetic.py`), so their keys are in the order given, or in any order, like the keys of other objects.

In: values. Out: edges between two given states. Cost: about a microsecond a scalar.
"""

from __future__ import annotations

from typing import Any

from llmask.regex.nodes import RegexNodes
from llmask.regex.word_lists import n_common

from ..lexical.listed_numbers import listed_numbers_node, plain_numeral
from ..lexical.number_machines import MAY, NEVER
from ..lexical.scientific_numbers import listed_with_exponent
from ..lexical.strings import QUOTE, literals_of, spelled_string
from ..meaning.contradictions import values_reason
from ..meaning.instances import allowed_values, equality_key, fulfilling
from ..meaning.place import Part, types_of
from ..meaning.scalars import fraction_of
from ..meaning.synthetic import schema_of_value
from ..reading.keywords import WITHOUT_CONTAINS
from ..reading.pointers import Path
from .writer import Span, Writer

LONG = 4000  # listed scalars, from where on their first masks are made with the grammar
LITERALS = {None: b"null", True: b"true", False: b"false"}
BEGINS_NUMERAL = frozenset(b"-0123456789")


def emit_values(writer: Writer, parts: list[Part], span: Span) -> None:
    """Edges over every value that `const` and `enum` of all `parts` leave."""
    path = parts[0][1]
    fraction = fraction_of(parts, "integer" if "integer" in types_of(parts) else "number")
    values = values_of(writer, parts) if fraction is not None else []
    if writer.options.numbers == "typed" and fraction is not None and float not in map(type, values):
        fraction = NEVER
    if not values:
        found = ("no value is left", path) if writer.reasons else values_reason(parts)  # the first one is told
        return writer.nothing(*found)
    return emit_listed(writer, values, path, span, fraction or MAY)


def values_of(writer: Writer, parts: list[Part]) -> list[Any]:
    """Values that the `const` and `enum` of the parts name and that fulfil all parts."""
    values: list[Any] = []
    for part in parts:
        found = allowed_values(part)
        if found is not None:
            values = found
            break
    schema, _, shape = parts[0]
    has_others = shape.has_string or shape.has_number or shape.has_array or shape.has_object or shape.has_except
    if len(parts) == 1 and not has_others:
        if "type" not in schema:
            return values
        if schema["type"] == "string":
            return [value for value in values if type(value) is str]
    return fulfilling(writer, values, parts)


def scalar_spellings(writer: Writer, part: Part) -> list[bytes] | None:
    """Spellings of one part's values; None for structures, and where how they are written depends on more."""
    path = part[1]
    if part[2].draft in WITHOUT_CONTAINS and "type" in part[0]:
        return None  # how whole numbers are written depends on it
    spellings: list[bytes] = []
    for value in values_of(writer, [part]):
        if type(value) is dict or type(value) is list or (type(value) is int and writer.options.numbers == "typed"):
            return None
        if type(value) is not str:
            equality_key(value, path)  # refuses what is no JSON
        spellings.append(_spelling(value, path))
    return spellings or None


def emit_listed(writer: Writer, values: list[Any], path: Path, span: Span, fraction: str = MAY) -> None:
    """Edges over each of `values`, written once however often it is listed."""
    seen = set()
    spellings: list[bytes] = []
    if set(map(type, values)) == {int}:  # a list of a million takes a second less
        spellings = [plain_numeral(value) for value in dict.fromkeys(values)]
        values = []
    for value in values:
        key = value if type(value) is str else (equality_key(value, path),)
        if key in seen:
            continue
        seen.add(key)
        if type(value) is dict or type(value) is list:
            writer.place([(schema_of_value(writer, value, path), path)], *span)
        else:
            spellings.append(_spelling(value, path))
    if spellings:
        writer.rules.scan(span.start, listed_node(writer, spellings, fraction), span.end)


def listed_node(writer: Writer, spellings: list[bytes], fraction: str = MAY) -> int:
    """Node of the scalars of a place; `fraction` as in `listed_numbers_node`.

    The mask after the quote of 50,000 words allows 17,500 tokens and takes 22 ms; the first masks of long lists are
    made here, so that no step of a document waits for them.
    """
    nodes = writer.nodes
    is_plain = writer.options.numbers == "plain"
    node = literals_of(nodes, spellings) if is_plain else _listed_node(nodes, spellings, fraction)
    key = (__name__, node)
    if len(spellings) >= LONG and key not in nodes.memo:
        nodes.memo[key] = True
        quoted = [spelling for spelling in spellings if spelling[:1] == QUOTE]
        first, last = min(quoted, default=b""), max(quoted, default=b"")
        nodes.prepare(node, [first[: n_common(first, last)]])
    return node


def _listed_node(nodes: RegexNodes, spellings: list[bytes], fraction: str = MAY) -> int:
    numerals = [spelling for spelling in spellings if spelling[0] in BEGINS_NUMERAL]
    if not numerals:
        return literals_of(nodes, spellings)
    node = listed_numbers_node(nodes, numerals, fraction)
    if fraction != NEVER:
        node = nodes.union([node, listed_with_exponent(nodes, numerals)])
    if len(numerals) == len(spellings):
        return node
    others = [spelling for spelling in spellings if spelling[0] not in BEGINS_NUMERAL]
    return nodes.union([node, literals_of(nodes, others)])


def _spelling(value: Any, path: Path) -> bytes:
    """Spelling of a scalar; of a number, the one that `listed_numbers_node` reads."""
    if type(value) is str:
        return spelled_string(value, path)
    if value is None or type(value) is bool:
        return LITERALS[value]
    return plain_numeral(value)
