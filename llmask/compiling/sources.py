"""Sources of grammars as callers give them: ready grammars by name, texts, tools; and patterns and schemas as text.

    NAME.lark, NAME.gbnf, NAME.schema.json      a ready grammar in `grammars/`; opens with its language and version
    NAME.samples.json                           texts to accept and to reject

A Lark grammar with a line `// lexer: exact` before its first rule is compiled with `lexer="exact"`. Tool calls of a
family of models are a structural tag. Patterns, choices and schemas are written in Lark's notation when somebody asks.

In: a name, a text, functions; what a grammar was made of. Out: a text, a structural tag, a `Grammar`. Cost: reading a
file; some us a function; about that of copying.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import GrammarError, LimitExceeded
from ..frontends.json_schema.reading.inputs import is_like_text, json_text
from ..limits import Limits
from ..tokenizer.tokenizer import Tokenizer

if TYPE_CHECKING:
    from ..frontends.tools import Tool
    from ..grammar.expressions import Grammar
    from ..grammar.rules import Rules

KINDS = (".lark", ".gbnf", ".schema.json")
EXACT = "// lexer: exact"
# no grammar is like this: a rule is defined with a colon
FILE_NAME = r"(?:[A-Za-z]:)?[^\n:\"'|{}=]{1,250}\.(?:lark|gbnf|ebnf|bnf|txt|json)"


# --- ready grammars


def ready_folder() -> Path:
    """Where the files are: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "grammars"
    return installed if installed.is_dir() else package.parent / "grammars"


def ready_files() -> dict[str, Path]:
    """The grammars by their names."""
    paths = ((kind, path) for kind in KINDS for path in ready_folder().glob(f"*{kind}"))
    return dict(sorted((path.name.removesuffix(kind), path) for kind, path in paths))


def find_ready(name: Any) -> tuple[str, str, bool]:
    """The kind of a ready grammar, its text, and whether its lexing is exact.

    Raises
    ------
    GrammarError : no ready grammar has that name.
    """
    known = ready_files()
    if not isinstance(name, str) or name not in known:
        from ..frontends.places import similar

        raise GrammarError(
            f"there is no ready grammar {name!r}", help=similar(str(name), known, f"there are {', '.join(known)}")
        )
    text = known[name].read_text(encoding="utf-8")
    kind = next(kind for kind in KINDS if known[name].name.endswith(kind))
    return kind, text, EXACT in text.splitlines()


# --- texts


def grammar_text(text: Any) -> str:
    """The text of a grammar.

    Raises
    ------
    GrammarError : it is no str, or looks like the name of a file.
    """
    if isinstance(text, os.PathLike):
        raise GrammarError("a grammar is a str, not a path", help="give what is in the file: path.read_text()")
    if not isinstance(text, str):
        raise GrammarError(f"a grammar is a str, not {type(text).__name__}", help="decode bytes first")
    if re.fullmatch(FILE_NAME, text.strip()):
        raise GrammarError(
            f"{text.strip()!r} looks like the name of a file, and a grammar is given as its text",
            help=f"read it: Path({text.strip()!r}).read_text()",
        )
    return text


def check_length(limits: Limits, what: str, text: str) -> None:
    """Refuse a text of more than `limits.max_schema_bytes` characters."""
    if len(text) > limits.max_schema_bytes:
        raise LimitExceeded(
            f"the {what} has {len(text)} characters, the limit is {limits.max_schema_bytes} (limits.max_schema_bytes)",
            help=f"split the {what} or raise the limit",
        )


# --- tools


def tag_of_tools(
    tokenizer: Tokenizer,
    tools: Any,
    model: str,
    tool_choice: Any,
    parallel: bool,
    reasoning: bool | str,
    property_order: str,
    unsupported: str,
) -> tuple[Any, list[Tool]]:
    """See `Compiler.tools`: the tag, and the functions as they were read, by which errors name their places."""
    from ..frontends.tools import Arguments, Marks, read_tools, tools_tag
    from ..grammar.token_ranges import token_named

    eos, special = set(tokenizer.eos_ids), set(tokenizer.special_ids)

    @cache  # marks come again with each function
    def token(name: str) -> int | None:
        try:
            return token_named(tokenizer, name)
        except GrammarError:
            return None

    marks = Marks(lambda name: token(name) in special, lambda name: token(name) in eos)
    listed = read_tools(tools)
    arguments = Arguments(property_order, unsupported)
    return tools_tag(listed, model, tool_choice, parallel, reasoning, arguments, marks), listed


def schemas_in_tag(document: Any) -> list[tuple[bytes, Any, str]]:
    """The JSON schemas of a structural tag: the text before each, a tag's beginning or a constant; schema; style."""
    found: list[tuple[bytes, Any, str]] = []
    waiting = [document]
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict):
            pairs = [(here.get("begin"), here.get("content"))]
            waiting += [value for key, value in here.items() if key != "json_schema"]
        elif isinstance(here, list):
            pairs = [(one.get("value"), after) for one, after in pairwise(here) if isinstance(one, dict)]
            waiting += here
        else:
            continue
        for begin, content in pairs:
            if not isinstance(content, dict) or not isinstance(begin, str):
                continue
            if content.get("type") == "json_schema":
                schema, style = content.get("json_schema", True), content.get("style", "json")
                found.append((begin.encode("utf-8", "surrogatepass"), schema, style))
    return found


# --- in Lark's notation


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
    """A JSON schema in Lark's notation, numbers exactly; `...` where that would be much longer than it is in memory."""
    from ..grammar.expressions import Grammar, Inclusion

    text = json_text(schema) if is_like_text(schema) else "..."
    return Grammar({"start": Inclusion(rules, f"%json {text}")})


def lexeme_as_grammar(node: int, text: Callable[[], str]) -> Grammar:
    """One lexeme, and how it is written."""
    from ..grammar.expressions import Grammar, Lexeme

    return Grammar({"start": Lexeme(node, text())})
