r"""EBNF, the grammars of XGrammar, read as XGrammar reads them.

    root ::= "[" item ("," item)* "]"             # a comment
    item ::= [0-9]{1,3} | "\"" [^"\\\n]* "\"" | ""

    name        letters, digits, _ - . and no digit first; a definition begins a line, else lines end anywhere
    "text"      its characters; escapes of C: \n \t \' \" \? \\ \a \b \f \r \v \e \0, \xHH..., \uXXXX, \UXXXXXXXX
    [a-z]       one character; [^a-z] any other; also \^ \$ \. \* \+ \? \( \) \[ \] \{ \} \| \/ \-
    x* x+ x? x{m} x{m,} x{m,n}      repetition, one for each element
    ""          nothing; an alternative cannot be left empty. () is nothing, too
    root        the rule to begin with

Look-ahead assertions, attributes of rules, and the macros TagDispatch, TokenTagDispatch, Token, ExcludeToken and Regex
are refused: some ask for tokens or captures, none is left out silently.
Source: XGrammar, docs "EBNF grammar" and cpp/grammar_parser.cc.

In: a text. Out: a `Grammar` whose lexemes are single characters and texts. Cost: about 2 us a character.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from llmask.frontends.bnf.elements import HEX_DIGITS, SETS, Reader
from llmask.grammar.expressions import EMPTY, Expression, Grammar, Repeat, sequence
from llmask.regex.code_points import CodePointSet

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes

NAME_START = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-.")
NAME = NAME_START | frozenset("0123456789")
NEWLINES = "\r\n"
ESCAPES = {
    "'": "'", '"': '"', "?": "?", "\\": "\\", "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t",
    "v": "\v", "0": "\0", "e": "\x1b",
}  # fmt: skip
CLASS_ESCAPES = {**ESCAPES, **{sign: sign for sign in "^$\\.*+?()[]{}|/-"}}
HEX_ESCAPES = {"u": 4, "U": 8}
SETS_OF_PATTERNS = "dDsSwW"
MACROS = ("TagDispatch", "TokenTagDispatch", "Token", "ExcludeToken", "Regex")
DEFINES = re.compile(r"(?:[ \t\r\n]|#[^\r\n]*(?![^\r\n]))*::=")  # a comment ends in one place: no search for others
ATTRIBUTES = re.compile(r'\[[ \t]*(?:max_tokens|capture)[^\]"\r\n]*(?:"[^"\r\n]*"[^\]"\r\n]*)*\][ \t]*::=')
PLAIN = re.compile(r'[^"\\\r\n]+')


def parse_ebnf(nodes: RegexNodes, text: str) -> tuple[Grammar, list[str]]:
    """The grammar of a text, and warnings.

    Raises
    ------
    GrammarError : the text is malformed, or uses what is refused (see the module's text).
    LimitExceeded : groups nest too deep.
    """
    return _Parser(nodes, text).parse()


class _Parser(Reader):
    """One text.

    Attributes
    ----------
    last_end : where the element or sign before this one ended.
    """

    plain = PLAIN
    line_ends = NEWLINES

    def __init__(self, nodes: RegexNodes, text: str) -> None:
        super().__init__(nodes, text)
        self.last_end = 0

    def skip_space(self, newline_ok: bool = True) -> None:
        self.last_end = self.at
        super().skip_space()

    def begins_rule(self) -> bool:
        """Whether there is a name here, followed by its definition."""
        if self.peek() not in NAME_START or not self.peek():
            return False
        end = self.at
        while self.text[end : end + 1] in NAME and end < len(self.text):
            end += 1
        if found := ATTRIBUTES.match(self.text, end):
            raise self.error("attributes of rules are not supported", f"leave {found[0][:-3].strip()} out", end)
        return DEFINES.match(self.text, end) is not None

    def rule(self) -> None:
        begin = self.at
        if not self.begins_rule():
            if self.peek() == ")":
                raise self.error("this parenthesis closes no group", "take it out, or open one")
            name = self.take_while(NAME) if self.peek() in NAME_START else ""
            self.skip_space()
            self.refuse_beginning(name)
        if begin and not set(NEWLINES) & set(self.text[self.last_end : begin]) and self.rules:
            raise self.error("a rule begins a line", "put a newline before its name")
        name = self.take_while(NAME)
        if name in self.rules:
            raise self.error(f'rule "{name}" is defined twice', "join the alternatives with |", begin)
        if name in ("true", "false"):
            raise self.error(f'"{name}" is no name', "choose another one", begin)
        self.skip_space()
        self.at += 3
        self.skip_space()
        self.define(name, self.alternatives(name, 0), begin)

    def alternatives(self, rule: str, depth: int) -> Expression:
        found = super().alternatives(rule, depth)
        if self.text[self.at : self.at + 2] == "(=":
            raise self.error("look-ahead assertions are not supported", "take it out: masks are exact without it")
        return found

    def row(self, rule: str, depth: int) -> Expression:
        parts: list[Expression] = []
        while not parts or not self.row_ends():
            part = self.element(rule, depth)
            self.skip_space()
            if self.peek() and self.peek() in "*+?{":
                low, high = self.bounds()
                part = Repeat(part, low, high) if high != 0 else EMPTY
            parts.append(part)
        return sequence(parts)

    def row_ends(self) -> bool:
        return self.peek() in "|)" or self.text[self.at : self.at + 2] == "(=" or self.begins_rule()

    def element(self, rule: str, depth: int) -> Expression:
        begin = self.at
        character = self.peek()
        if character == '"':
            return self.quoted(lambda: self.character(ESCAPES))
        if character == "[":
            return self.character_class()
        if character == "(" and self.peek(1) != "=":
            return self.group(rule, depth)
        if character and character in NAME_START and not self.begins_rule():
            name = self.take_while(NAME)
            if name in MACROS:
                raise self.error(f"{name}(...) is not supported", "write what it means as rules", begin)
            if name in ("true", "false"):
                raise self.error(f"{name} is no element", f'write "{name}" for the text', begin)
            return self.reference(name, begin, rule)
        if character and character in "*+?{":
            help = self.braces_help(begin, "put an element before it")
            raise self.error(f"there is nothing to repeat before {character!r}", help, begin)
        what = "a new rule" if character in NAME_START and character else self.here()
        raise self.error(f"there is {what} where an element should be", self.sign_help('write "" for nothing'), begin)

    def upper_bound(self, begin: int, newline_ok: bool) -> int | None:
        if self.text[self.at : self.at + 2] == "-1":
            self.at += 2
            self.skip_space()
            return None
        return None if self.peek() == "}" else self.number(begin, newline_ok)

    # --- characters

    def character_class(self) -> Expression:
        begin = self.at
        ranges, is_negated = self.ranges(lambda: self.character(CLASS_ESCAPES))
        members = CodePointSet.from_ranges(ranges)
        return self.one_of(members.complement() if is_negated else members, self.text[begin : self.at])

    def character(self, escapes: dict[str, str]) -> int:
        """Read a character or an escape."""
        begin = self.at
        letter = self.read_character(escapes, HEX_ESCAPES)
        if isinstance(letter, int):
            return self.checked(letter, begin)
        if letter == "x" and self.peek() and self.peek() in HEX_DIGITS:
            digits = self.take_while(HEX_DIGITS)
            return self.checked(int(digits[-8:], 16) if not digits[:-8].strip("0") else 2**32, begin)
        if letter and letter in SETS_OF_PATTERNS and escapes is CLASS_ESCAPES:
            help = f"write {SETS[letter]}" if letter in SETS else "write its characters"
            raise self.error(f"the class \\{letter} is not supported here", help, begin)
        raise self.error(
            f"there is no escape \\{letter}" if letter else "an escape is not complete",
            r"escapes are as in C: \n \t \" \\ \xHH \uXXXX \UXXXXXXXX and others; a backslash is \\",
            begin,
        )
