"""Grammars in Backus-Naur form: GBNF as llama.cpp reads it, EBNF as XGrammar does.

They have no notion of tokens, so they mean what they derive, byte by byte (llmask/grammar/exact/fusing.py).

In: a text. Out: `Rules`. Cost: some ms for a grammar of a hundred parts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from llmask.errors import LimitExceeded
from llmask.frontends.bnf.ebnf import parse_ebnf
from llmask.frontends.bnf.gbnf import parse_gbnf
from llmask.grammar.exact.fusing import exact_rules
from llmask.grammar.expressions import Lowered
from llmask.work import spend

if TYPE_CHECKING:
    from llmask.grammar.expressions import Grammar
    from llmask.regex.nodes import RegexNodes

FREE_CHARACTERS = 4000  # so short a text takes little, compared with what it means
CHARACTER_WORK = 2  # units for each of the others: it is read, and rules and parts are made of it

__all__ = ["compile_ebnf", "compile_gbnf"]


def compile_gbnf(nodes: RegexNodes, text: str) -> Lowered:
    """Rules of a grammar in GBNF, see gbnf.py.

    Raises
    ------
    GrammarError : the text is malformed, uses what is not supported, or derives nothing.
    LimitExceeded : groups nest too deep, or a lexeme cannot be spelled out.
    """
    return _compile(nodes, text, parse_gbnf)


def compile_ebnf(nodes: RegexNodes, text: str) -> Lowered:
    """Rules of a grammar in XGrammar's EBNF, see ebnf.py.

    Raises
    ------
    GrammarError : the text is malformed, uses what is not supported, or derives nothing.
    LimitExceeded : groups nest too deep, or a lexeme cannot be spelled out.
    """
    return _compile(nodes, text, parse_ebnf)


def _compile(nodes: RegexNodes, text: str, parse: Callable[[RegexNodes, str], tuple[Grammar, list[str]]]) -> Lowered:
    spend(CHARACTER_WORK * max(len(text) - FREE_CHARACTERS, 0))
    try:
        grammar, warnings = parse(nodes, text)
        lowered = exact_rules(nodes, grammar)
    except RecursionError:
        raise LimitExceeded(
            "the grammar nests deeper than what is left of Python's stack",
            help="make some groups rules, or compile it from fewer nested calls",
        ) from None
    return lowered._replace(warnings=warnings + lowered.warnings, grammar=grammar)
