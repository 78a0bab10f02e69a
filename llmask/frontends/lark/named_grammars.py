"""Grammars that the caller names beside the text: `@name` stands for what one of them derives.

    lark('start: "call " @args', grammars={"args": {"type": "object"}, "list": 'start: "[" @args "]"'})

A text is a grammar in the same notation, an expression what was compiled before, anything else a JSON schema. Each is
read once, wherever it is used; it has its own names, terminals and white space, like `%lark {...}` and `%json {...}`.
Source: llguidance, docs/syntax.md, "Multiple grammars".

In: names. Out: expressions. Cost: that of reading each.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from llmask.errors import GrammarError
from llmask.frontends.lark.syntax import statements_of
from llmask.frontends.lark.tree import Statement, Token
from llmask.frontends.places import Source, similar
from llmask.grammar.expressions import Expression, Inclusion, Repeat


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
        self,
        node: Token,
        read: Callable[[tuple[Statement, ...]], Expression],
        read_schema: Callable[[str], Inclusion],
    ) -> Expression:
        """What `@name` stands for.

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
                f"there is no grammar {node.text}",
                similar(name, self._given, "give it: lark(text, grammars={...})"),
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
