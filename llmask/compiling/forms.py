"""The forms of grammars that were given in other ways than as text, in Lark's notation: patterns, choices, schemas.

Each is written when somebody asks for it, so what writes grammars (llmask/grammar/expressions.py) is imported then.

In: what the grammar was made of. Out: a `Grammar`, or text for one. Cost: about that of copying it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..frontends.json_schema.reading.inputs import is_like_text, json_text

if TYPE_CHECKING:
    from ..grammar.expressions import Grammar
    from ..grammar.rules import Rules

START = "start"


def pattern_text(pattern: str, is_search: bool) -> str:
    """A regular expression in Lark's notation: one that is to be found has anything on both sides."""
    if is_search:
        flags = re.match(r"(?:\(\?[aimsux]+\))*", pattern)
        assert flags is not None  # it may be empty
        pattern = f"{flags[0]}(?s:.*)(?:{pattern[flags.end() :]})(?s:.*)"
    written = pattern.replace("\\/", "/").replace("/", "\\/").replace("\n", "\\n")
    return f"/{written}/"


def choice_text(texts: list[str]) -> str:
    """A list of texts in Lark's notation."""
    written = " | ".join(json.dumps(text, ensure_ascii=False) for text in texts)
    return f"({written})" if len(texts) > 1 else written


def schema_grammar(rules: Rules, schema: Any) -> Grammar:
    """A JSON schema in Lark's notation."""
    from ..grammar.expressions import Grammar, Inclusion

    return Grammar({START: Inclusion(rules, f"%json {schema_text(schema)}")})


def lexeme_as_grammar(node: int, text: Callable[[], str]) -> Grammar:
    """One lexeme, and how it is written."""
    from ..grammar.expressions import Grammar, Lexeme

    return Grammar({START: Lexeme(node, text())})


def schema_text(schema: Any) -> str:
    """A schema as JSON, numbers exactly; `...` where that would be much longer than the schema is in memory."""
    return json_text(schema) if is_like_text(schema) else "..."
