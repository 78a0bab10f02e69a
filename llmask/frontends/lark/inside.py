"""Schemas and grammars inside a grammar: `%json {...}` and `%lark {...}`.

Each has white space of its own: that of JSON, or what its `%ignore` says; before its first and after its last lexeme
the grammar around it decides (llmask/grammar/inclusion.py).

In: the part of the tree. Out: an `Inclusion`. Cost: that of compiling it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llmask.errors import GrammarError, LimitExceeded
from llmask.frontends.json_schema import SchemaOptions, compile_schema
from llmask.frontends.json_schema.reading.inputs import schema_of
from llmask.grammar.expressions import Attributes, Grammar, Inclusion
from llmask.grammar.kinds import CALL_NEW, EDGE_FIELDS

if TYPE_CHECKING:
    from llmask.frontends.lark.tree import Json
    from llmask.frontends.places import Spot
    from llmask.limits import Limits
    from llmask.regex.nodes import RegexNodes


def check_inside(spot: Spot, grammar: Grammar) -> None:
    """Refuse what has no meaning in a grammar that is put into another one."""
    if any(said != Attributes(ending=said.ending) for said in grammar.attributes.values()):
        spot.refuse(
            "capture, temperature and max_tokens have no meaning in a grammar inside another one",
            "give them to a rule of the grammar around it, or write its rules there",
        )
    if grammar.parametric:
        spot.refuse(
            "a grammar inside another one cannot have rules with a parameter",
            "write its rules into the grammar around it",
        )


def json_inside(nodes: RegexNodes, node: Json, limits: Limits, warnings: list[str]) -> Inclusion:
    """What the documents of a schema are.

    Raises
    ------
    GrammarError : the schema is malformed, unsupported or cannot be fulfilled.
    LimitExceeded : it is too large.
    """
    try:
        made = compile_schema(nodes, schema_of(node.schema, limits.max_schema_bytes), SchemaOptions(limits=limits))
    except (GrammarError, LimitExceeded) as error:
        where = node.spot.shown() if error.where is None else f"{error.where} of the schema at {node.spot.shown()}"
        raise type(error)(error.message, where, error.help or "mend the schema") from None
    if any(kind >= CALL_NEW for kind in made.rules.edges[1::EDGE_FIELDS]):
        node.spot.refuse(
            "a schema that compares texts (uniqueItems, minProperties, ...) cannot stand inside a grammar yet",
            "take these keywords out, or compile the schema by itself",
        )
    warnings += [f"%json at {node.spot.short()}: {warning}" for warning in made.warnings]
    return Inclusion(made.rules, f"%json {node.schema}")
