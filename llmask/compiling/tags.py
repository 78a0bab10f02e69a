"""Tool calls of a family of models, as a structural tag for the vocabulary at hand.

In: functions, a choice of them. Out: the document of a structural tag. Cost: some us a function.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

from ..errors import GrammarError
from ..frontends.tools import Arguments, Marks, Tool, read_tools, tools_tag
from ..grammar.token_ranges import token_named
from ..tokenizer.tokenizer import Tokenizer


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
