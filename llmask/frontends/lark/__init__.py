r"""Grammars in Lark's notation, with llguidance's additions, to rules.

    text -- tokens, syntax --> statements -- definitions --> names -- terminals, rules --> Grammar -- lowering --> Rules

In: the text of a grammar. Out: `Rules` and warnings. Cost: about 30 us a token of the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from llmask.errors import GrammarError, LimitExceeded
from llmask.grammar.exact.fusing import exact_rules
from llmask.grammar.expressions import Lowered
from llmask.grammar.late import lower
from llmask.grammar.tails import chain, join_tails

if TYPE_CHECKING:
    from llmask.frontends.lark.definitions import Folder
    from llmask.grammar.expressions import Grammar
    from llmask.limits import Limits
    from llmask.regex.nodes import RegexNodes

__all__ = ["compile_lark"]

MAX_CHARACTERS = 2**20  # the largest of the field's grammars has 60,000


def compile_lark(
    nodes: RegexNodes,
    text: str,
    limits: Limits,
    start: str = "start",
    directory: Folder | None = None,
    ties: str | None = None,
    is_exact: bool = False,
    grammars: Mapping[str, Any] | None = None,
) -> Lowered:
    """Rules of a grammar in Lark's notation; see `llmask.Compiler.lark` for the arguments and errors."""
    from llmask.frontends.lark.inside import NamedGrammars
    from llmask.frontends.lark.rules import read_grammar
    from llmask.frontends.lark.syntax import statements_of
    from llmask.frontends.places import Source

    if len(text) > MAX_CHARACTERS:
        raise LimitExceeded(
            f"the grammar has {len(text)} characters, more than {MAX_CHARACTERS}", help="split it into several grammars"
        )
    try:
        named = NamedGrammars({} if grammars is None else grammars)
        read = read_grammar(nodes, statements_of(Source(text)), limits, start, directory, ties, named, is_exact)
        if is_exact:
            _refuse_inexact(read.grammar)
        lowered = exact_rules(nodes, read.grammar) if is_exact else lower(nodes, read.grammar)
        if not is_exact and lowered.make_late is None:
            rules = join_tails(lowered.rules, lowered.regions)
            lowered = lowered._replace(rules=rules if lowered.regions else chain(rules))  # a region's rules are told
    except RecursionError:
        raise LimitExceeded(
            "the grammar nests deeper than what is left of Python's stack",
            help="give parts of it names, or compile it from fewer nested calls",
        ) from None
    return lowered._replace(warnings=read.warnings + lowered.warnings, grammar=read.shown)


def _refuse_inexact(grammar: Grammar) -> None:
    """Refuse what is said of terminals, as exact lexing has none, and rules with a parameter, which come late."""
    for name, said in grammar.attributes.items():
        if said.temperature is not None or said.max_tokens is not None:
            raise GrammarError(
                f'rule "{name}" has a temperature or max_tokens, and exact lexing knows no terminals',
                grammar.places.get(name),
                'take it out, or use lexer="greedy"',
            )
    for name in sorted(grammar.parametric):
        raise GrammarError(
            f'rule "{name}" has a parameter, and exact lexing has to know all rules beforehand',
            grammar.places.get(name),
            'use lexer="greedy"',
        )
