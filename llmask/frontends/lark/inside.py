"""Schemas and grammars inside a grammar: `%json {...}` and `%lark {...}`.

Each has white space of its own: that of JSON, or what its `%ignore` says; before its first and after its last lexeme
the grammar around it decides (llmask/grammar/inclusion.py).

The caller may give names to others: `@name` means what the grammar of this name derives. A text is a grammar in the
same notation, an expression is one that was compiled before, anything else is a JSON schema. Each is read once.

    lark('start: "call " @args', grammars={"args": {"type": "object"}, "list": 'start: "[" @args "]"'})

Source: llguidance, docs/syntax.md, "Multiple grammars".

In: the part of the tree, or names. Out: an `Inclusion`. Cost: that of compiling it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from llmask.errors import GrammarError, LimitExceeded
from llmask.frontends.json_schema import SchemaOptions, compile_schema
from llmask.frontends.json_schema.reading.inputs import schema_of
from llmask.frontends.lark.syntax import statements_of
from llmask.frontends.lark.tree import Statement, Token
from llmask.frontends.places import Source, similar
from llmask.grammar.expressions import Attributes, Expression, Grammar, Inclusion, Repeat
from llmask.grammar.rules import compares_values

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
        made = compile_schema(
            nodes, schema_of(node.schema, limits.max_schema_bytes), SchemaOptions(limits=limits), is_inside=True
        )
    except (GrammarError, LimitExceeded) as error:
        where = node.spot.shown() if error.where is None else f"{error.where} of the schema at {node.spot.shown()}"
        raise type(error)(error.message, where, error.help or "mend the schema") from None
    if compares_values(made.rules):
        node.spot.refuse(
            "a schema that compares texts (uniqueItems, minProperties, ...) cannot stand inside a grammar yet",
            "take these keywords out, or compile the schema by itself",
        )
    warnings += [f"%json at {node.spot.short()}: {warning}" for warning in made.warnings]
    return Inclusion(made.rules, f"%json {node.schema}")


class NamedGrammars:
    """Grammars and schemas by name.

    Parameters
    ----------
    given : by name, a grammar as text, one that was compiled, as an expression, or a JSON schema.

    Raises
    ------
    GrammarError : they are no dict by name.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        if not isinstance(given, Mapping):
            raise GrammarError(f"grammars are a dict by name, not {type(given).__name__}", help="leave it out")
        for name in given:
            if not isinstance(name, str):
                raise GrammarError(f"a grammar has a name, not {name!r:.40}", help='for example grammars={"list": ...}')
        self._given = given
        self._read: dict[str, Expression] = {}
        self._in_progress: list[str] = []

    def find(
        self, node: Token, read: Callable[[tuple[Statement, ...]], Expression], read_schema: Callable[[str], Inclusion]
    ) -> Expression:
        """What `@name` means.

        Raises
        ------
        GrammarError : there is no such grammar, it uses itself, or it cannot be read.
        """
        name = node.text[1:]
        if name in self._in_progress:
            node.spot.refuse(
                f"{node.text} uses itself", "a rule may use itself; write the grammars that do as one grammar"
            )
        if name not in self._given:
            node.spot.refuse(
                f"there is no grammar {node.text}", similar(name, self._given, "give it: lark(text, grammars={...})")
            )
        found = self._read.get(name)
        if found is None:
            self._in_progress.append(name)
            given = self._given[name]
            if isinstance(given, str):
                found = read(statements_of(Source(given, node.text)))
            elif isinstance(given, (Inclusion, Repeat)):
                found = given
            else:
                found = Inclusion(read_schema(_as_text(node, given)).rules, node.text)
            self._in_progress.pop()
            self._read[name] = found
        return found


def _as_text(node: Token, schema: Any) -> str:
    try:
        return json.dumps(schema)
    except (TypeError, ValueError, RecursionError):
        node.spot.refuse(
            f"{node.text} is no JSON schema", "give a dict, a grammar as text, or one that the compiler made"
        )
