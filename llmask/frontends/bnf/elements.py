"""What the grammars of this folder are made of: single characters, texts, and names that are defined somewhere.

In: a parser's calls. Out: a `Grammar`, where every name is defined. Cost: about 10 us a class that is new to a store.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from llmask.errors import GrammarError, LimitExceeded
from llmask.frontends.bnf.scanner import Scanner
from llmask.frontends.places import similar
from llmask.grammar.expressions import EMPTY, Expression, Grammar, Lexeme, Reference
from llmask.grammar.token_ranges import read_tokens
from llmask.regex.utf8 import utf8_char, utf8_literal

if TYPE_CHECKING:
    from llmask.regex.code_points import CodePointSet
    from llmask.regex.nodes import RegexNodes

MAX_DEPTH = 100  # of groups: some ten Python frames a level, of the thousand that there are
MAX_COUNT = 10**9  # counters are 32-bit


QUOTED_CLASS = re.compile(r'\["[^"]+"\]')  # as EBNF of ISO 14977 writes what may be left out
COMMENTS = ("//", "/*", "(*", "--", ";")  # signs of other notations
SETS = {"d": "0-9", "w": "A-Za-z0-9_", "s": r" \t\r\n"}  # what \d, \w and \s of patterns stand for
BRACES = re.compile(r"\{[ \t]*([^\d,{}\s][^{}\n]{0,60}?)[ \t]*\}")  # around something that is no number


class Elements:
    """The rules of one text.

    Attributes
    ----------
    rules : what was defined, by name.
    warnings : what the author should know.
    """

    def __init__(self, nodes: RegexNodes, scanner: Scanner) -> None:
        self.nodes = nodes
        self.scanner = scanner
        self.rules: dict[str, Expression] = {}
        self.warnings: list[str] = []
        self._defined_at: dict[str, int] = {}
        self._uses: list[tuple[str, str, int]] = []  # the rule, the name that it uses, and where

    def text(self, text: str) -> Expression:
        """Exactly this text."""
        return Lexeme(utf8_literal(self.nodes, text), json.dumps(text, ensure_ascii=False)) if text else EMPTY

    def one_of(self, members: CodePointSet, written: str) -> Expression:
        """One character of a set, as `written` before the place of the scanner."""
        if QUOTED_CLASS.fullmatch(written):
            place = self.scanner.short_place(self.scanner.at - len(written))
            meant = f"what may be left out is ({written[1:-1]})?"
            self.warnings.append(f"{written} at {place} is one character, which may be a quote: {meant}")
        return Lexeme(utf8_char(self.nodes, members), "/" + written.replace("/", "\\/") + "/")

    def token(self, text: str, is_negated: bool, at: int) -> Expression:
        """A token, `<[42]>` or `<|eot_id|>`, or any other one."""
        table = self.nodes.table
        assert table is not None, "grammars are compiled for a vocabulary"
        try:
            found = read_tokens(table, text)
        except GrammarError as error:
            raise self.scanner.error(error.message, error.help or "name another one", at) from None
        return replace(found, text=f"!{text}", is_excluded=True) if is_negated else found

    def reference(self, name: str, at: int, rule: str) -> Expression:
        """A rule, which may be defined later."""
        self._uses.append((rule, name, at))
        return Reference(name)

    def define(self, name: str, expression: Expression, at: int) -> None:
        """Define a rule; the last definition counts."""
        if name in self.rules:
            places = (self.scanner.short_place(self._defined_at[name]), self.scanner.short_place(at))
            self.warnings.append(f'rule "{name}" is defined at {places[0]} and again at {places[1]}; the last counts')
        self.rules[name] = expression
        self._defined_at[name] = at

    def grammar(self, start: str) -> Grammar:
        """The whole grammar.

        Raises
        ------
        GrammarError : a name, or the start rule, is not defined.
        """
        for rule, name, at in self._uses:
            if name not in self.rules:
                raise self.scanner.error(
                    f'rule "{rule}" uses "{name}", which is not defined', similar(name, self.rules), at
                )
        if start not in self.rules:
            help = "name the first rule so" if self.rules else f'write one: {start} ::= "yes" | "no"'
            raise self.scanner.error(f'there is no rule "{start}" to begin with', help, 0)
        places = {name: self.scanner.short_place(at) for name, at in self._defined_at.items()}
        return Grammar(self.rules, start, places=places)

    def check_depth(self, depth: int, at: int) -> None:
        """Refuse a group inside too many others."""
        if depth >= MAX_DEPTH:
            raise LimitExceeded(
                f"groups nest deeper than {MAX_DEPTH}",
                self.scanner.place(at),
                "give some of them a name: make them rules",
            )

    def count(self, digits: str, at: int) -> int:
        """The number that bounds a repetition."""
        if len(digits) > len(str(MAX_COUNT)) or int(digits) > MAX_COUNT:
            raise self.scanner.error(f"a repetition has more than {MAX_COUNT} copies", "leave the bound out", at)
        return int(digits)

    def check_bounds(self, low: int, high: int | None, at: int) -> None:
        """Refuse a repetition that cannot be."""
        if high is not None and low > high:
            raise self.scanner.error(
                f"a repetition of at least {low} and at most {high} cannot be", f"write {{{high},{low}}}", at
            )


class Reader(Scanner, ABC):
    """A text that is read rule by rule.

    Attributes
    ----------
    elements : what has been read.
    """

    def __init__(self, nodes: RegexNodes, text: str) -> None:
        super().__init__(text)
        self.elements = Elements(nodes, self)

    def parse(self) -> tuple[Grammar, list[str]]:
        """The grammar, and warnings."""
        self.skip_space()
        while self.peek():
            self.rule()
        return self.elements.grammar("root"), self.elements.warnings

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
        """Refuse what stands here and does not begin a rule, or, after a name that is not empty, does not go on."""
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

    @abstractmethod
    def skip_space(self) -> None:
        """Read blanks, newlines and comments."""

    @abstractmethod
    def rule(self) -> None:
        """Read a rule, and what is blank behind it."""
