"""Readers of grammars in Backus-Naur form: what their notations share, and saying where a text is wrong.

    rule "list" uses "item", which is not defined
      at line 2, column 13
        list ::= "[" item "]"
                     ^
      define it, or did you mean "items"?

Grammars are made of single characters, texts, and names that are defined somewhere.

In: the text of a grammar. Out: a `Grammar`, where every name is defined; errors with their place. Cost: about 10 us a
class that is new to a store.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NoReturn

from llmask.errors import GrammarError, LimitExceeded
from llmask.frontends.places import Source, Spot, similar
from llmask.grammar.expressions import EMPTY, Expression, Grammar, Lexeme, Reference, choice
from llmask.regex.code_points import FIRST_SURROGATE, LAST_SURROGATE, MAX_CODE_POINT
from llmask.regex.utf8 import utf8_char, utf8_literal

if TYPE_CHECKING:
    from llmask.regex.code_points import CodePointSet
    from llmask.regex.nodes import RegexNodes

NEWLINE = re.compile("\n")
DIGITS = frozenset("0123456789")
SIGNS = {"*": (0, None), "+": (1, None), "?": (0, 1)}
HEX_DIGITS = frozenset("0123456789abcdefABCDEF")
MAX_DEPTH = 100  # of groups: some ten Python frames a level, of the thousand that there are
MAX_COUNT = 10**9  # counters are 32-bit
START = "root"

QUOTED_CLASS = re.compile(r'\["[^"]+"\]')  # as EBNF of ISO 14977 writes what may be left out
COMMENTS = ("//", "/*", "(*", "--", ";")  # signs of other notations
SETS = {"d": "0-9", "w": "A-Za-z0-9_", "s": r" \t\r\n"}  # what \d, \w and \s mean in patterns
BRACES = re.compile(r"\{[ \t]*([^\d,{}\s][^{}\n]{0,60}?)[ \t]*\}")  # around something that is no number


class Reader(ABC):
    """A text that is read rule by rule, and what has been read of it.

    Attributes
    ----------
    text : the grammar.
    at : characters that have been read.
    rules : what was defined, by name.
    warnings : what the author should know.
    plain : characters that mean themselves in a text in quotes.
    line_ends : where texts and classes may not go on.
    blanks, lines : what is skipped within a line, and where lines may end.

    Raises
    ------
    GrammarError : the text holds what no text may hold.
    """

    plain: re.Pattern[str]
    line_ends = ""
    blanks: re.Pattern[str]
    lines = re.compile(r"(?:[ \t\r\n]|#[^\r\n]*)*")

    def __init__(self, nodes: RegexNodes, text: str) -> None:
        self.nodes = nodes
        self.text = text
        self.at = 0
        self.rules: dict[str, Expression] = {}
        self.warnings: list[str] = []
        self._defined_at: dict[str, int] = {}
        self._uses: list[tuple[str, str, int]] = []  # the rule, the name that it uses, and where
        self._line_starts: list[int] | None = None
        for at in (text.find("\0"), next((n for n, c in enumerate(text) if "\ud800" <= c <= "\udfff"), -1)):
            if at >= 0:
                raise self.error(f"the grammar holds U+{ord(text[at]):04X}, which is no text", "take it out", at)

    def parse(self) -> tuple[Grammar, list[str]]:
        """The grammar, and warnings.

        Raises
        ------
        GrammarError : the text is malformed; a name, or the rule to begin with, is not defined.
        """
        self.skip_space()
        while self.peek():
            self.rule()
        for rule, name, at in self._uses:
            if name not in self.rules:
                raise self.error(f'rule "{rule}" uses "{name}", which is not defined', similar(name, self.rules), at)
        if START not in self.rules:
            help = "name the first rule so" if self.rules else f'write one: {START} ::= "yes" | "no"'
            raise self.error(f'there is no rule "{START}" to begin with', help, 0)
        places = {name: self.short_place(at) for name, at in self._defined_at.items()}
        return Grammar(self.rules, START, places=places), self.warnings

    # --- characters

    def error(self, message: str, help: str, at: int | None = None) -> GrammarError:
        """An error that shows the place: this one, or `at`."""
        return GrammarError(message, self.place(self.at if at is None else at), help)

    def place(self, at: int) -> str:
        """Line and column of a character, the line, and a caret under it."""
        return Spot(Source(self.text), at, at + 1).shown()

    def short_place(self, at: int) -> str:
        """Line and column of a character. Where lines begin is found out once: every rule asks for its place."""
        if self._line_starts is None:
            self._line_starts = [0, *(found.end() for found in NEWLINE.finditer(self.text))]
        line = bisect_right(self._line_starts, at)
        return f"line {line}, column {at - self._line_starts[line - 1] + 1}"

    def peek(self, offset: int = 0) -> str:
        """A character that is still to be read, the empty string after the last one."""
        at = self.at + offset
        return self.text[at : at + 1]

    def here(self) -> str:
        """What is here, for messages."""
        return f"{self.peek()!r}" if self.peek() else "the end of the grammar"

    def take_while(self, characters: frozenset[str]) -> str:
        """Read as many of these characters as there are."""
        begin = self.at
        while self.peek() in characters and self.peek():
            self.at += 1
        return self.text[begin : self.at]

    def take(self, pattern: re.Pattern[str]) -> str:
        """Read what a pattern matches here."""
        found = pattern.match(self.text, self.at)
        self.at += len(found[0]) if found else 0
        return found[0] if found else ""

    def take_hex(self, n_digits: int, begin: int) -> int:
        """Read the code point of an escape that begins at `begin`, given by `n_digits` digits."""
        digits = self.text[self.at : self.at + n_digits]
        if len(digits) < n_digits or not HEX_DIGITS.issuperset(digits):
            raise self.error(
                f"the escape {self.text[begin : self.at]} takes {n_digits} hexadecimal digits",
                f'for example "{self.text[begin : self.at]}{"0041".zfill(n_digits)[-n_digits:]}"',
                begin,
            )
        self.at += n_digits
        return int(digits, 16)

    def checked(self, code_point: int, begin: int) -> int:
        """A code point that an escape names, if text may hold it."""
        if code_point > MAX_CODE_POINT or FIRST_SURROGATE <= code_point <= LAST_SURROGATE:
            what = "a surrogate" if code_point <= LAST_SURROGATE else "beyond the last code point, U+10FFFF"
            raise self.error(f"U+{code_point:04X} is {what}: no text holds it", "name another character", begin)
        return code_point

    def skip_space(self, newline_ok: bool = True) -> None:
        """Read blanks and comments, and newlines where they are allowed."""
        self.take(self.lines if newline_ok else self.blanks)

    # --- what has been read

    def string(self, text: str) -> Expression:
        """Exactly this text."""
        return Lexeme(utf8_literal(self.nodes, text), json.dumps(text, ensure_ascii=False)) if text else EMPTY

    def one_of(self, members: CodePointSet, written: str) -> Expression:
        """One character of a set, as `written` before this place."""
        if QUOTED_CLASS.fullmatch(written):
            place = self.short_place(self.at - len(written))
            meant = f"what may be left out is ({written[1:-1]})?"
            self.warnings.append(f"{written} at {place} is one character, which may be a quote: {meant}")
        return Lexeme(utf8_char(self.nodes, members), "/" + written.replace("/", "\\/") + "/")

    def reference(self, name: str, at: int, rule: str) -> Expression:
        """A rule, which may be defined later."""
        self._uses.append((rule, name, at))
        return Reference(name)

    def define(self, name: str, expression: Expression, at: int) -> None:
        """Define a rule; the last definition counts."""
        if name in self.rules:
            places = (self.short_place(self._defined_at[name]), self.short_place(at))
            self.warnings.append(f'rule "{name}" is defined at {places[0]} and again at {places[1]}; the last counts')
        self.rules[name] = expression
        self._defined_at[name] = at

    # --- expressions

    def alternatives(self, rule: str, depth: int) -> Expression:
        """Read alternatives, as part of a rule, inside of `depth` groups."""
        options = [self.row(rule, depth)]
        while self.peek() == "|":
            self.at += 1
            self.skip_space()
            options.append(self.row(rule, depth))
        return choice(options)

    def group(self, rule: str, depth: int) -> Expression:
        """Read a group in parentheses."""
        begin = self.at
        if depth >= MAX_DEPTH:
            raise LimitExceeded(
                f"groups nest deeper than {MAX_DEPTH}", self.place(begin), "give some of them a name: make them rules"
            )
        self.at += 1
        self.skip_space()
        inner = EMPTY if self.peek() == ")" else self.alternatives(rule, depth + 1)
        if self.peek() != ")":
            raise self.error(
                f"this group is not closed: there is {self.here()} where ) should be", "close it with )", begin
            )
        self.at += 1
        return inner

    def bounds(self, newline_ok: bool = True) -> tuple[int, int | None]:
        """Read a repetition."""
        begin = self.at
        sign = self.peek()
        self.at += 1
        self.skip_space(newline_ok)
        if sign in SIGNS:
            return SIGNS[sign]
        low = self.number(begin, newline_ok)
        high: int | None = low
        if self.peek() == ",":
            self.at += 1
            self.skip_space(newline_ok)
            high = self.upper_bound(begin, newline_ok)
        if self.peek() != "}":
            raise self.error(f"a repetition ends with }}, not with {self.here()}", "write {2}, {2,} or {2,5}", begin)
        self.at += 1
        self.skip_space(newline_ok)
        if high is not None and low > high:
            message = f"a repetition of at least {low} and at most {high} cannot be"
            raise self.error(message, f"write {{{high},{low}}}", begin)
        return low, high

    def number(self, begin: int, newline_ok: bool) -> int:
        """Read a number of the repetition that begins at `begin`, and what is blank after it."""
        digits = self.take_while(DIGITS)
        if not digits:
            help = self.braces_help(begin, "write {0,5}, {2}, {2,} or {2,5}")
            raise self.error(f"a repetition takes a number, not {self.here()}", help, begin)
        self.skip_space(newline_ok)
        if len(digits) > len(str(MAX_COUNT)) or int(digits) > MAX_COUNT:
            raise self.error(f"a repetition has more than {MAX_COUNT} copies", "leave the bound out", begin)
        return int(digits)

    # --- characters

    def quoted(self, read: Callable[[], int]) -> Expression:
        """Read a text in quotes; `read` reads an escape."""
        begin = self.at
        self.at += 1
        found = []
        while self.peek() != '"':
            if not self.peek() or self.peek() in self.line_ends:
                raise self.error("this text is not closed", f'close it with "{self._same_line()}', begin)
            found.append(self.take(self.plain))
            if self.peek() == "\\":
                found.append(chr(read()))
        self.at += 1
        return self.string("".join(found))

    def ranges(self, read: Callable[[], int]) -> tuple[list[tuple[int, int]], bool]:
        """Read a class, by `read` of its characters and escapes: its ranges, and whether it is of all others."""
        begin = self.at
        self.at += 1
        is_negated = self.peek() == "^"
        self.at += is_negated
        found = []
        while self.peek() != "]":
            if not self.peek() or self.peek() in self.line_ends:
                raise self.error("this class is not closed", f"close it with ]{self._same_line()}", begin)
            at = self.at
            low = high = read()
            if self.peek() == "-" and self.peek(1) not in ("]", "", *self.line_ends):
                self.at += 1
                high = read()
            if low > high:
                raise self.error("the bounds of this range are the wrong way round", "write the lower one first", at)
            found.append((low, min(high, MAX_CODE_POINT)))
        self.at += 1
        return found, is_negated

    def _same_line(self) -> str:
        return " on the same line; a newline is \\n" if self.line_ends else ""

    def read_character(self, escapes: Mapping[str, str], hex_escapes: Mapping[str, int]) -> int | str:
        """Read a character or an escape: its code point, or the letter of an escape in neither of the two tables."""
        begin = self.at
        self.at += 1
        if self.text[begin] != "\\":
            return ord(self.text[begin])
        letter = self.peek()
        self.at += 1
        if letter in escapes:
            return ord(escapes[letter])
        return self.take_hex(hex_escapes[letter], begin) if letter in hex_escapes else letter

    # --- help

    def sign_help(self, otherwise: str) -> str:
        """How to mend a character that is no element: signs of other notations, which are not written here."""
        if self.peek() == ";":
            return "take it out: the end of the line ends the rule"
        if self.peek() == ",":
            return "take it out: elements follow each other without a sign"
        if self.peek() == "'":
            return 'put texts into double quotes: "..."'
        if self.peek() == "/":
            return "there are no patterns here: write classes of characters, such as [a-z]+"
        if self.peek() == "\\":
            return "write a class of characters, such as [0-9], or put the text into quotes"
        return otherwise

    def refuse_beginning(self, name: str) -> NoReturn:
        """Refuse what is here: it does not begin a rule or, after a name that is not empty, does not go on with it."""
        if name:
            is_lark = self.peek() == ":" and self.peek(1) != "="
            help = f"write {name} ::= ..." + ("; Compiler.lark reads rules with a colon" if is_lark else "")
            raise self.error(f'"::=" has to follow the name "{name}", not {self.here()}', help)
        help = 'for example: root ::= "yes" | "no"'
        if self.peek() == "<":
            help = "write names without < and >"
        elif self.text.startswith(COMMENTS, self.at):
            help = "a comment begins with #"
        raise self.error(f"a rule begins with its name, not with {self.here()}", help)

    def braces_help(self, begin: int, otherwise: str) -> str:
        """How to mend braces that hold no number, as EBNF of ISO 14977 has them for what is repeated."""
        found = BRACES.match(self.text, begin)
        return otherwise if found is None else f"for any number of it write ({found[1]})*; a number of times is {{2,5}}"

    # --- what differs between notations

    @abstractmethod
    def rule(self) -> None:
        """Read a rule, and what is blank after it."""

    @abstractmethod
    def row(self, rule: str, depth: int) -> Expression:
        """Read elements in a row."""

    @abstractmethod
    def upper_bound(self, begin: int, newline_ok: bool) -> int | None:
        """Read the upper bound of a repetition, and what is blank after it; None where there is no upper bound."""
