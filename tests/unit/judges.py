"""Trusted parsers of languages, beside which the ready grammars stand; see test_ready.py.

In: a text. Out: nothing, or an exception. Cost: that of the parser.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import re
import sys
import warnings
from collections.abc import Callable
from datetime import datetime
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest

SINCE_3_11 = {
    "toml": "tomllib comes with",
    "iso8601": "datetime reads more than it writes since",
    "regex": "re has possessive quantifiers and atomic groups since",
}


def judge_of(name: str) -> Callable[[str], object] | None:
    """The parser for a grammar; None where there is none in Python. Skips where it is not installed."""
    if name in SINCE_3_11 and sys.version_info < (3, 11):
        pytest.skip(f"{SINCE_3_11[name]} Python 3.11")
    package = NEEDED.get(name)
    if package is not None:
        pytest.importorskip(package, reason=f"{package} judges the grammar {name}")
    return JUDGES.get(name)


def _json_lines(text: str) -> None:
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if line or number + 1 < len(lines):
            json.loads(line)


def _json5(text: str) -> None:
    import json5

    json5.loads(text)


def _csv(text: str) -> None:
    list(csv.reader(io.StringIO(text, newline=""), strict=True))


def _toml(text: str) -> None:
    """Keys that are defined twice are beyond the grammar, which says so."""
    import tomllib

    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        if not re.match("Cannot (overwrite|declare|mutate)|Duplicate inline table key", str(error)):
            raise


def _yaml(text: str) -> None:
    import yaml

    yaml.safe_load(text)


def _html(text: str) -> None:
    import html5lib

    html5lib.HTMLParser(strict=True).parseFragment(text)


def _url(text: str) -> None:
    parts = urlsplit(text)
    assert parts.scheme in ("http", "https", "ftp")
    assert parts.hostname
    assert parts.port is None or 0 <= parts.port <= 65535


def _email(text: str) -> None:
    import email_validator

    email_validator.SPECIAL_USE_DOMAIN_NAMES.clear()
    email_validator.validate_email(text, check_deliverability=False)


def _iso8601(text: str) -> None:
    datetime.fromisoformat(text)


def _semver(text: str) -> None:
    import semver

    semver.Version.parse(text)


def _python(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ast.parse(text)


def _arithmetic(text: str) -> None:
    """Names may be key words in Python."""
    ast.parse(re.sub(r"\b[A-Za-z]\w*", "x", text.strip()).replace("^", "**"))


def _sql(text: str) -> None:
    import sqlglot

    assert isinstance(sqlglot.parse_one(text), sqlglot.exp.Query)


def _c(text: str) -> None:
    """The names of types that end with _t are declared first; lines for the preprocessor are taken out."""
    from pycparser import c_parser

    line = r"^[ \t]*#(?:\\\n|.)*$"
    either = rf"(\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*')|/\*[\s\S]*?\*/|//(?:\\\n|.)*|{line}"
    text = re.sub(either, lambda found: found[1] or " ", text, flags=re.M)
    text = re.sub(line, "", text, flags=re.M)  # one behind a comment
    types = sorted(set(re.findall(r"\b[a-z][a-z0-9_]*_t\b", text)))
    c_parser.CParser().parse("".join(f"typedef int {name};\n" for name in types) + text)


def _lua(text: str) -> None:
    from luaparser import ast as lua

    lua.parse(text)


def _regex(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        re.compile(text)


def _graphql(text: str) -> None:
    import graphql

    graphql.parse(text)


JUDGES: dict[str, Callable[[str], object]] = {
    "json": json.loads,
    "jsonl": _json_lines,
    "json5": _json5,
    "csv": _csv,
    "toml": _toml,
    "yaml": _yaml,
    "xml": ElementTree.fromstring,
    "html": _html,
    "url": _url,
    "email": _email,
    "iso8601": _iso8601,
    "semver": _semver,
    "python": _python,
    "arithmetic": _arithmetic,
    "sql": _sql,
    "c": _c,
    "lua": _lua,
    "regex": _regex,
    "graphql": _graphql,
}
NEEDED = {
    "json5": "json5",
    "yaml": "yaml",
    "html": "html5lib",
    "email": "email_validator",
    "semver": "semver",
    "sql": "sqlglot",
    "c": "pycparser",
    "lua": "luaparser",
    "graphql": "graphql",
}
