r"""The text of a Lark grammar cut into tokens, the first step of reading it.

White space and comments (`//` and `#`) are left out. A new line ends a statement, unless the next one begins with `|`
or a parenthesis is open; the token NEWLINE stands for the end of each statement. JSON behind `%json`, `%regex` and
`%llguidance` is one token, read by Python's JSON reader, which finds its end.
Source: lark 1.3, load_grammar.py, `TERMINALS`; llguidance, docs/syntax.md.

In: a source. Out: tokens. Cost: about 2 us a token.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from llmask.errors import LimitExceeded
from llmask.frontends.lark.parameters import read_change, read_condition
from llmask.frontends.places import Source, Spot, similar
from llmask.work import spend

MAX_NESTING = 60  # of parentheses: what follows takes some ten of Python's frames a level, of the thousand there are
PARTS = (
    ("BLANKS", r"[ \t\f\v\r]+|\\ *\r?\n|(?://|#)[^\n]*"),
    ("LINE", r"\n"),
    ("STRING", r'"(?:\\[^\n]|[^"\\\n])*"i?'),
    ("REGEXP", r"/(?:\\[^\n]|[^/\\\n])+/[a-zA-Z]*"),
    ("LONG_REGEXP", r"/(?:\\[\s\S]|[^/\\])+/[a-zA-Z]*x[a-zA-Z]*"),
    ("NAME", r"[A-Za-z_](?:[A-Za-z0-9_]|-(?=[A-Za-z0-9_]))*"),
    ("COUNTS", r"\{\s*(?:[0-9]+\s*(?:,\s*(?:[0-9]+\s*)?)?|,\s*[0-9]+\s*)\}|~\s*[+-]?[0-9]+(?:\s*\.\.\s*[+-]?[0-9]+)?"),
    ("NUMBER", r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"),
    ("DIRECTIVE", r"%[a-z]+"),
    ("SPECIAL", r"<[^<>\s]+>"),
    ("GRAMMAR", r"@[A-Za-z0-9_-]+"),
    ("ARROW", r"->"),
    ("DOTS", r"\.\."),
    ("TWO_COLONS", r"::"),
    ("SIGN", r"[:.,|()\[\]{}+*?~&=]"),
)
MODIFIERS = re.compile(r"!\??|\?!?")  # they stand before the name of a rule that is defined
BLANK = re.compile(r"\s*")
OPENING_BRACE = re.compile(r"\s*\{")
TOKEN = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in PARTS))
SIGNS = {
    ":": "COLON",
    ".": "DOT",
    ",": "COMMA",
    "|": "OR",
    "(": "OPEN",
    ")": "CLOSE",
    "[": "OPEN_MAYBE",
    "]": "CLOSE_MAYBE",
    "{": "OPEN_BRACE",
    "}": "CLOSE_BRACE",
    "+": "OPERATOR",
    "*": "OPERATOR",
    "?": "OPERATOR",
    "~": "NOT",
    "&": "AND",
    "=": "EQUALS",
}
FREE_TOKENS = 1000  # few of them take little beside what they mean
TOKEN_WORK = 15  # units for each of the others: it is parsed, looked up and becomes a part of a rule
DIRECTIVES = ("ignore", "import", "declare", "override", "extend", "json", "regex", "lark", "llguidance", "if")
WITH_JSON = ("json", "regex", "llguidance")
BEFORE_NAMES = ("NEWLINE", "OVERRIDE", "EXTEND")
CLOSING = {"(": ")", "[": "]", "{": "}", "%lark {": "}"}
STATEMENT = re.compile(
    r"[?!]*_?[A-Za-z][\w-]*(?:\{[^{}\n]*\})?(?:\.\d+)?(?:\[[^\]\n]*\])?(?:::_)?[ \t]*:|%(?!json|regex|lark|if)"
)


class Token(NamedTuple):
    """A token: what it is, its text, where it stands, and what JSON says there."""

    kind: str
    text: str
    spot: Spot
    value: object = None


def tokens_of(source: Source) -> Iterator[Token]:
    """Tokens of a grammar; the last one of each statement is NEWLINE.

    Raises
    ------
    GrammarError : a character, a string, an expression or JSON that cannot be read; a parenthesis without its partner.
    LimitExceeded : parentheses nest too deep.
    """
    text = source.text
    at = 0
    line_ended = False
    last = "NEWLINE"
    open_at: list[tuple[str, Spot]] = []
    n_read = 0
    while at < len(text):
        n_read += 1
        if n_read > FREE_TOKENS:
            spend(1)
        if (line_ended or last in BEFORE_NAMES) and (found := MODIFIERS.match(text, at)):
            at = found.end()
            continue
        token, at = _next(source, at)
        if token.kind == "BLANKS":
            continue
        if token.kind == "LINE":
            line_ended |= not open_at or open_at[-1][0] == "%lark {"
            if open_at and open_at[-1][0] != "%lark {" and STATEMENT.match(text, at):
                _refuse_open(*open_at[-1])
            continue
        if token.kind == "OR":
            line_ended = False
        is_end_of_nested = token.kind == "CLOSE_BRACE" and open_at and open_at[-1][0] == "%lark {"
        if (line_ended or is_end_of_nested) and last != "NEWLINE":
            yield Token("NEWLINE", "the end of the line", token.spot)
        line_ended = False
        if n_read > FREE_TOKENS:
            spend(TOKEN_WORK)
        yield token
        last = token.kind
        if token.kind == "LARK":
            last = "NEWLINE"
        _follow(token, open_at)
    if open_at:
        _refuse_open(*open_at[-1])
    if last != "NEWLINE":
        yield Token("NEWLINE", "the end of the grammar", Spot(source, len(text), len(text)))


def _follow(token: Token, open_at: list[tuple[str, Spot]]) -> None:
    """Note what a token opens or closes."""
    sign = "%lark {" if token.kind == "LARK" else token.text
    if token.kind in ("OPEN", "OPEN_MAYBE", "OPEN_BRACE", "LARK"):
        open_at.append((sign, token.spot))
        if len(open_at) > MAX_NESTING:
            raise LimitExceeded(
                f"parentheses nest deeper than {MAX_NESTING}",
                token.spot.shown(),
                "give some of them a name: make them rules",
            )
    elif token.kind in ("CLOSE", "CLOSE_MAYBE", "CLOSE_BRACE"):
        if not open_at:
            token.spot.refuse(f'there is nothing that this "{sign}" closes', "take it out, or open it before")
        opened, spot = open_at.pop()
        if CLOSING[opened] != sign:
            _refuse_open(opened, spot)


def _refuse_open(opened: str, spot: Spot) -> None:
    spot.refuse(f'this "{opened}" is not closed', f'add "{CLOSING[opened]}" where it ends')


def _next(source: Source, at: int) -> tuple[Token, int]:
    """The token that begins at a character, and where the next one does."""
    text = source.text
    found = TOKEN.match(text, at)
    if found is None or found.lastgroup is None:
        _refuse_character(source, at)
        raise AssertionError
    kind, word = found.lastgroup, found[0]
    spot = Spot(source, at, found.end())
    if kind == "SIGN":
        kind = SIGNS[word]
    elif kind == "LONG_REGEXP":
        kind = "REGEXP"
    elif kind == "NAME":
        kind = _kind_of_name(word, spot)
    elif kind == "TWO_COLONS" and text.startswith("=", found.end()):
        spot.refuse("::= is GBNF's sign", "a rule is written name: ...; for GBNF there is Compiler.gbnf")
    elif kind == "TWO_COLONS":
        change, end = read_change(source, found.end())
        return Token("PARAMETER", text[at:end], Spot(source, at, end), change), end
    elif kind == "DIRECTIVE":
        return _directive(word, spot)
    return Token(kind, word, spot), found.end()


def _kind_of_name(word: str, spot: Spot) -> str:
    letters = word.replace("-", "").replace("_", "")
    if not letters[:1].isalpha():
        spot.refuse(f'"{word}" is no name', "a name begins with a letter, or with one underscore and a letter")
    if letters.isupper():
        return "TERMINAL"
    if not letters.islower():
        spot.refuse(
            f'the name "{word}" has small and capital letters',
            f"rules are in small letters ({word.lower()}), terminals in capitals ({word.upper()})",
        )
    return "RULE"


def _directive(word: str, spot: Spot) -> tuple[Token, int]:
    name = word[1:]
    text = spot.source.text
    if name == "if":
        condition, end = read_condition(spot.source, spot.end)
        return Token("IF", text[spot.begin : end], Spot(spot.source, spot.begin, end), condition), end
    if name not in DIRECTIVES:
        spot.refuse(f"{word} is no directive", similar(name, DIRECTIVES, "known are %" + ", %".join(DIRECTIVES)))
    if name == "lark":
        brace = OPENING_BRACE.match(text, spot.end)
        if brace is None:
            spot.refuse("behind %lark stands a grammar in braces", 'for example %lark { start: "a" }')
        return Token("LARK", word, spot), brace.end()
    if name not in WITH_JSON:
        return Token(name.upper(), word, spot), spot.end
    blank = BLANK.match(text, spot.end)
    assert blank is not None
    begin = blank.end()
    try:
        value, end = json.JSONDecoder().raw_decode(text, begin)
    except json.JSONDecodeError as error:
        Spot(spot.source, min(error.pos, len(text)), error.pos + 1).refuse(
            f"the JSON behind {word} cannot be read: {error.msg[:1].lower()}{error.msg[1:]}", "mend the JSON"
        )
    except (RecursionError, ValueError):
        spot.refuse(f"the JSON behind {word} nests too deep or has too long a number", "make it simpler")
    return Token(name.upper(), text[begin:end], Spot(spot.source, spot.begin, end), value), end


def _refuse_character(source: Source, at: int) -> None:
    text = source.text
    character = text[at]
    spot = Spot(source, at, at + 1)
    if character == '"':
        spot.refuse("this string is not closed", 'add a quote at its end; inside it, write \\" for a quote')
    if character == "/":
        spot.refuse("this regular expression is not closed", "add a slash at its end; inside it, write \\/ for a slash")
    if character == "'":
        spot.refuse("strings stand in double quotes", 'write "..."')
    if character == "-":
        spot.refuse('"-" stands in "->" only', "write -> before an alias, or quote the character")
    if character == ";":
        spot.refuse("';' has no meaning here", "take it out: the end of the line ends the rule")
    spot.refuse(f"{character!r} has no meaning here", f'quote it if it is meant as text: "{character}"')
