"""Items of many types that must differ, divided by how another one is told from those before it.

    null, true, false     members of the run's set, as declared keys are: a guard lets each pass once
    any number            open once it has no exponent: whatever was read of one may become infinitely many others
                          (0e may not)
    strings and the rest  as `new_values.py` says

Without this an item of any type is called for as numbers in several writings are, by a rule for each set of items that
may have been read.

In: schemas of an item. Out: its parts. Cost: about 0.2 ms.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from llmask.frontends.json_schema.lexical.lexemes import lexemes_of_types
from llmask.frontends.json_schema.meaning.choices import settle
from llmask.frontends.json_schema.meaning.conjunction import conjunction_of
from llmask.frontends.json_schema.meaning.finite import finite_values
from llmask.frontends.json_schema.meaning.place import SchemaAt
from llmask.frontends.json_schema.meaning.ranges import range_of
from llmask.frontends.json_schema.meaning.types import types_of
from llmask.frontends.json_schema.reading.pointers import Path
from llmask.frontends.json_schema.writing.writer import Writer
from llmask.grammar.kinds import RuleId

LITERALS = (b"null", b"false", b"true")  # by their number in the set
VALUES: tuple[Any, ...] = (None, False, True)


class ItemParts(NamedTuple):
    """literals: positions in LITERALS; numbers: their rule, if any number is allowed; rest: schemas, or None."""

    literals: list[int]
    numbers: RuleId | None
    rest: list[SchemaAt] | None


def item_parts(writer: Writer, schemas: list[SchemaAt]) -> ItemParts | None:
    """The parts of an item, or None where there is nothing to divide."""
    path = schemas[0][1] if schemas else ()
    conjunction = settle(writer, conjunction_of(writer, schemas))
    types = types_of(conjunction.parts)
    if conjunction.false_at is not None or (len(types) == 1 and types[0] != "number"):
        return None
    literals = finite_values(writer, [*schemas, _typed(writer, ("null", "boolean"), path)], len(LITERALS))
    if literals is None:
        return None
    rest = [name for name in types if name not in ("null", "boolean")]
    numbers = None
    if "number" in types and _is_free_number(writer, [*schemas, _typed(writer, ("number",), path)]):
        numbers = _plain_numbers(writer)
        rest = [name for name in rest if name not in ("number", "integer")]
    found = [at for at, literal in enumerate(VALUES) if any(literal is value for value in literals)]
    if not found and numbers is None:
        return None
    return ItemParts(found, numbers, [*schemas, _typed(writer, tuple(rest), path)] if rest else None)


def _typed(writer: Writer, names: tuple[str, ...], path: Path) -> SchemaAt:
    return writer.synthetic(("type", names), lambda: {"type": list(names)}), path


def _is_free_number(writer: Writer, schemas: list[SchemaAt]) -> bool:
    conjunction = settle(writer, conjunction_of(writer, schemas))
    if conjunction.false_at is not None or conjunction.choices:
        return False
    if types_of(conjunction.parts) != ("number",) or any(shape.has_values for _, _, shape in conjunction.parts):
        return False
    return range_of(writer, conjunction.parts, "number") is None


def _plain_numbers(writer: Writer) -> RuleId:
    """Rule of every number, written without exponent."""

    def make() -> RuleId:
        rules = writer.rules
        rule = rules.rule("number")
        last = rules.state(rule)
        rules.final(last)
        rules.scan(rules.start_state(rule), lexemes_of_types(writer.nodes, "plain")["number"], last)
        return rule

    return writer.own_rule("plain numbers", make)
