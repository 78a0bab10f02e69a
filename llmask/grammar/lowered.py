"""What a grammar in text is made into: rules, and what is said of them. `lowering.py` writes it.

In: a `Grammar`. Out: `Lowered`. Cost: none; grammars that are no text need nothing more of the frontends for texts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from llmask.grammar.rules import Rules

if TYPE_CHECKING:
    from llmask.grammar.expressions import Attributes, Grammar

MakeLate = Callable[[int], int]


class Lowered(NamedTuple):
    """Rules for `CompiledGrammar`, what their author should know, and the grammar that they were.

    regions   attributes of the rules whose terminals are sampled or closed in a way of their own
    is_exact  the rules are for exact lexing (fusing.py)
    make_late writes the states that late skips lead to, where there are some
    """

    rules: Rules
    warnings: list[str]
    grammar: Grammar | None = None
    regions: Mapping[int, Attributes] = MappingProxyType({})
    is_exact: bool = False
    make_late: MakeLate | None = None
