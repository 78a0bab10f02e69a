"""Calls of a compiler with what it does not take."""

from __future__ import annotations

import re
from pathlib import Path

from llmask.errors import LlmaskError

from . import Mistake, compiling

MISTAKES = [
    Mistake(
        "JSON Schema: formats of functions",
        compiling("json_schema", True, formats={"zip": len}),
        "formats are a dict from names to patterns, both str",
        'for example {"zip": "[0-9]{5}"}',
    ),
    Mistake(
        "JSON Schema: formats of numbers",
        compiling("json_schema", True, formats={"zip": 1}),
        "formats are a dict from names to patterns, both str",
        'for example {"zip": "[0-9]{5}"}',
    ),
    Mistake(
        "JSON Schema: formats a list",
        compiling("json_schema", True, formats=["zip"]),
        "formats are a dict from names to patterns, both str",
        'for example {"zip": "[0-9]{5}"}',
    ),
    Mistake(
        "JSON Schema: path",
        compiling("json_schema", Path("person.schema.json")),
        "a schema is no path",
        "give what is in the file: json_schema(path.read_bytes())",
    ),
    Mistake(
        "JSON Schema: option of another kind",
        compiling("json_schema", True, whitespace=None),
        'the option whitespace must be "flexible", "compact" or a pattern, not None',
        "leave it out for the default",
    ),
    Mistake(
        "JSON Schema: white space of a wide kind",
        compiling("json_schema", True, whitespace="wide"),
        'the option whitespace must be "flexible", "compact" or a pattern of JSON\'s white space, not \'wide\'',
        "JSON's white space is [ \\t\\n\\r]",
    ),
    Mistake(
        "JSON Schema: indent negative",
        compiling("json_schema", True, indent=-1),
        "the option indent must be None, a number from 0 to 64 or as many blanks, not -1",
        "leave it out for the default",
    ),
    Mistake(
        "JSON Schema: max_whitespace None",
        compiling("json_schema", True, max_whitespace=None),
        "the option max_whitespace must be a number of bytes, not None",
        "leave it out for the default",
    ),
    Mistake(
        "JSON Schema: format as a dict",
        compiling("json_schema", True, format={"zip": "[0-9]{5}"}),
        "the option format must be \"assert\" or \"annotate\", not {'zip': '[0-9]{5}'}",
        "leave it out for the default",
    ),
    Mistake(
        "JSON Schema: property order misspelt",
        compiling("json_schema", True, property_order="random"),
        'the option property_order must be "schema" or "any" or "any_or_schema", not \'random\'',
        "leave it out for the default",
    ),
    Mistake(
        "JSON Schema: dialect unknown",
        compiling("json_schema", True, dialect="openapi-3.1"),
        "the option dialect must be None or \"openapi-3.0\", not 'openapi-3.1'",
        "leave it out for the default",
    ),
    Mistake(
        "Regex: compiled pattern",
        compiling("regex", re.compile("a")),
        "a pattern is a str, not Pattern",
        "give its text: pattern.pattern",
    ),
    Mistake("Regex: bytes", compiling("regex", b"a"), "a pattern is a str, not bytes", "decode bytes first"),
    Mistake(
        "Regex: method",
        compiling("regex", "a", "match"),
        'method "match" is not one of a pattern\'s',
        'use "fullmatch" or "search"',
    ),
    Mistake("Choice: text", compiling("choice", "yes"), "choices are a sequence of str", 'for example ["yes", "no"]'),
    Mistake("Choice: empty", compiling("choice", []), "there is nothing to choose from", "give at least one text"),
    Mistake(
        "Choice: numbers", compiling("choice", [1, 2]), "choices are a sequence of str", 'for example ["yes", "no"]'
    ),
    Mistake(
        "Choice: dict",
        compiling("choice", {"yes": 1, 2: "no"}),
        "choices are a sequence of str",
        'for example ["yes", "no"]',
    ),
    Mistake("Choice: nothing", compiling("choice", None), "choices are a sequence of str", 'for example ["yes", "no"]'),
    Mistake(
        "Choice: a lone surrogate",
        compiling("choice", ["a", "\ud800"]),
        "the choice '\\ud800' holds a lone surrogate, which is no text",
        "take it out",
    ),
    Mistake(
        "GBNF: file name",
        compiling("gbnf", "json.gbnf"),
        "'json.gbnf' looks like the name of a file, and a grammar is given as its text",
        "read it: Path('json.gbnf').read_text()",
    ),
    Mistake(
        "Lark: path",
        compiling("lark", Path("sql.lark")),
        "a grammar is a str, not a path",
        "give what is in the file: path.read_text()",
    ),
    Mistake(
        "Lark: lexer",
        compiling("lark", 'start: "a"', lexer="lalr"),
        'lexer is "greedy" or "exact", not \'lalr\'',
        "leave it out",
    ),
    Mistake(
        "Tools: reasoning of a family without one",
        compiling("tools", [{"name": "add"}], reasoning=True),
        "models of the family llama-3 write no reasoning section",
        "leave reasoning out",
    ),
    Mistake(
        "Tools: parallel a number",
        compiling("tools", [{"name": "add"}], parallel=1),
        "parallel is True or False, not 1",
        "leave it out",
    ),
    Mistake(
        "Response format: option unknown",
        compiling("response_format", {"type": "json_object"}, whitespaces="compact"),
        'json_schema has no option "whitespaces"',
        'leave it out, or did you mean "whitespace"?',
        error=LlmaskError,
    ),
]
