"""From a grammar to rules, with or without parameters.

In: a `Grammar`. Out: `Lowered`. Cost: see lowering.py and late.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llmask.grammar.expressions import (
    Grammar,
)
from llmask.grammar.late import lower_late
from llmask.grammar.lowered import Lowered
from llmask.grammar.lowering import Lowering

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes


def lower(nodes: RegexNodes, grammar: Grammar) -> Lowered:
    """Rules of a grammar.

    Raises
    ------
    GrammarError : a rule refers to one that is not defined.
    UnsatisfiableSchema : the start rule derives nothing; the message says why.
    """
    if grammar.parametric:
        return lower_late(nodes, grammar)
    lowering = Lowering(nodes, grammar)
    return Lowered(lowering.write(), lowering.warnings, grammar, lowering.regions)
