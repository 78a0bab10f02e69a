r"""The text of a Lark grammar cut into tokens, the first step of reading it.

White space and comments (`//` and `#`) are left out. A new line ends a statement, unless the next one begins with `|`
or a parenthesis is open; the token NEWLINE is the end of each statement. JSON after `%json`, `%regex` and
`%llguidance` is one token, read by Python's JSON reader, which finds its end.
Parameters of rules are tokens, too: `::set_bit(2)` after a rule's name, `%if lt([0:3], 5)` after a row.
Source: lark 1.3, load_grammar.py, `TERMINALS`; llguidance, docs/syntax.md and docs/parametric.md.

In: a source. Out: tokens. Cost: about 2 us a token.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

from llmask.errors import LimitExceeded
from llmask.frontends.places import Source, Spot, similar
from llmask.grammar.expressions import ALL_BITS, COMPARED, N_BITS, Bits, Change, Condition
from llmask.work import spend

PART = re.compile(r"\s*(0[xX][0-9a-fA-F]+|[0-9]+|[A-Za-z_][A-Za-z0-9_]*|[()\[\]:,])")
WHOLE = Bits(0, N_BITS)
OF_BIT, OF_VALUE, OF_BITS, OF_COUNT, OF_BOTH, OF_CONDITIONS, OF_CONDITION, OF_NOTHING = range(8)
CHANGES = {
    "set_bit": OF_BIT,
    "clear_bit": OF_BIT,
    "bit_and": OF_VALUE,
    "bit_or": OF_VALUE,
    "incr": OF_BITS,
    "decr": OF_BITS,
}
CONDITIONS = {
    "true": OF_NOTHING,
    "bit_set": OF_BIT,
    "bit_clear": OF_BIT,
    "is_ones": OF_BITS,
    "is_zeros": OF_BITS,
    **dict.fromkeys(COMPARED, OF_BOTH),
    **{f"bit_count_{name}": OF_COUNT for name in COMPARED},
    "and": OF_CONDITIONS,
    "or": OF_CONDITIONS,
    "not": OF_CONDITION,
}
MAX_DIGITS = 20
MAX_CONDITIONS = 60
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
MODIFIERS = re.compile(r"!\??|\?!?")  # they come before the name of a rule that is defined
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
FREE_TOKENS = 1000  # few of them take little, compared with what they mean
TOKEN_WORK = 15  # units for each of the others: it is parsed, looked up and becomes a part of a rule
DIRECTIVES = ("ignore", "import", "declare", "override", "extend", "json", "regex", "lark", "llguidance", "if")
WITH_JSON = ("json", "regex", "llguidance")
BEFORE_NAMES = ("NEWLINE", "OVERRIDE", "EXTEND")
CLOSING = {"(": ")", "[": "]", "{": "}", "%lark {": "}"}
STATEMENT = re.compile(
    r"[?!]*_?[A-Za-z][\w-]*(?:\{[^{}\n]*\})?(?:\.\d+)?(?:\[[^\]\n]*\])?(?:::_)?[ \t]*:|%(?!json|regex|lark|if)"
)


def read_change(source: Source, at: int) -> tuple[Change, int]:
    """The parameter at a character, after `::`."""
    return _Reader(source, at).change()


def read_condition(source: Source, at: int) -> tuple[Condition, int]:
    """The condition at a character, after `%if`."""
    reader = _Reader(source, at)
    return reader.condition(0), reader.at


class _Reader:
    def __init__(self, source: Source, at: int) -> None:
        self.source = source
        self.at = at

    def change(self) -> tuple[Change, int]:
        begin = self._skip()
        name = self._next()
        number, bits, function = 0, WHOLE, name
        if name[:1].isdigit():
            number, function = self._value(name, begin), "value"
        elif name != "_":
            kind = CHANGES.get(name)
            if kind is None:
                self._refuse(
                    begin, f'"{name}" is nothing that a parameter can be', similar(name, CHANGES, "write set_bit(0)")
                )
            self._expect("(")
            if kind == OF_BITS:
                bits = self._bits()
            else:
                number = self._bit() if kind == OF_BIT else self._number()
            self._expect(")")
        return Change(function, number, bits, self._text(begin)), self.at

    def condition(self, depth: int) -> Condition:
        begin = self._skip()
        if depth > MAX_CONDITIONS:
            raise LimitExceeded(
                f"conditions nest deeper than {MAX_CONDITIONS}",
                Spot(self.source, begin, begin + 1).shown(),
                "shorten it",
            )
        name = self._next()
        kind = CONDITIONS.get(name)
        if kind is None:
            self._refuse(begin, f'"{name}" is no condition', similar(name, CONDITIONS, "write bit_set(0)"))
        number, bits = 0, WHOLE
        inner: list[Condition] = []
        if kind == OF_NOTHING:
            if self._peek() == "(":
                self._next()
                self._expect(")")
            return Condition(name, number, bits, (), self._text(begin))
        self._expect("(")
        if kind == OF_BIT:
            number = self._bit()
        elif kind in (OF_BITS, OF_BOTH, OF_COUNT):
            bits = self._bits()
            if kind != OF_BITS:
                self._expect(",")
                number = self._number()
        else:
            inner.append(self.condition(depth + 1))
            if kind == OF_CONDITIONS:
                self._expect(",")
                inner.append(self.condition(depth + 1))
        self._expect(")")
        return Condition(name, number, bits, tuple(inner), self._text(begin))

    # --- parts

    def _skip(self) -> int:
        while self.source.text[self.at : self.at + 1] in (" ", "\t"):
            self.at += 1
        return self.at

    def _peek(self) -> str:
        found = PART.match(self.source.text, self.at)
        return found[1] if found else ""

    def _next(self) -> str:
        found = PART.match(self.source.text, self.at)
        if found is None:
            here = self.source.text[self.at : self.at + 1]
            self._refuse(
                self.at, f"{here!r} cannot stand here" if here else "the grammar ends here", "for example set_bit(0)"
            )
        self.at = found.end()
        return found[1]

    def _expect(self, sign: str) -> None:
        begin = self._skip()
        found = self._next()
        if found != sign:
            self._refuse(begin, f'there is "{found}" where "{sign}" should be', f"write {sign}")

    def _number(self) -> int:
        begin = self._skip()
        return self._value(self._next(), begin)

    def _value(self, digits: str, begin: int) -> int:
        is_hex = digits[:2] in ("0x", "0X")
        if not digits[:1].isdigit() or len(digits) > MAX_DIGITS or int(digits, 16 if is_hex else 10) > ALL_BITS:
            self._refuse(begin, f'"{digits}" is no number of {N_BITS} bits', "write one, such as 5 or 0x1f")
        return int(digits, 16 if is_hex else 10)

    def _bit(self) -> int:
        begin = self._skip()
        found = self._number()
        if found >= N_BITS:
            self._refuse(begin, f"there is no bit {found}", f"bits count from 0 to {N_BITS - 1}")
        return found

    def _bits(self) -> Bits:
        begin = self._skip()
        if self._peek() == "_":
            self._next()
            return WHOLE
        self._expect("[")
        low = self._number()
        self._expect(":")
        high = self._number()
        self._expect("]")
        if not low < high <= N_BITS:
            self._refuse(begin, f"[{low}:{high}] are no bits", f"write [x:y] with x < y <= {N_BITS}, or _ for all")
        return Bits(low, high)

    def _text(self, begin: int) -> str:
        return self.source.text[begin : self.at]

    def _refuse(self, begin: int, message: str, help: str) -> NoReturn:
        Spot(self.source, begin, max(begin + 1, self.at)).refuse(message, help)


class Token(NamedTuple):
    """A token: its kind, its text, its place, and the value of the JSON there."""

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
            spot.refuse("%lark needs a grammar in braces after it", 'for example %lark { start: "a" }')
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
            f"the JSON after {word} cannot be read: {error.msg[:1].lower()}{error.msg[1:]}", "mend the JSON"
        )
    except (RecursionError, ValueError):
        spot.refuse(f"the JSON after {word} nests too deep or has too long a number", "make it simpler")
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
        spot.refuse('"-" is used in "->" only', "write -> before an alias, or quote the character")
    if character == ";":
        spot.refuse("';' has no meaning here", "take it out: the end of the line ends the rule")
    spot.refuse(f"{character!r} has no meaning here", f'quote it if it is meant as text: "{character}"')
