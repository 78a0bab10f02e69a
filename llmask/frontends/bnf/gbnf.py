r"""GBNF, the grammars of llama.cpp, read as llama.cpp reads them.

    root  ::= "[" ws item ("," ws item)* "]"      # a comment
    item  ::= [0-9]{1,3} | "\"" [^"\\\n]* "\""
    ws    ::= [ \t\n]*

    name        letters, digits, hyphens (and underscores, as its guide says)
    "text"      its characters; escapes \n \t \r \\ \" \[ \] \- \xXX \uXXXX \UXXXXXXXX
    [a-z]       one character; [^a-z] any other; . any at all. An empty class is the empty text, as it is there
    x* x+ x? x{m} x{m,} x{m,n}      repetition of the element (a text, class, name or group) before it
    <[42]>      the token with this id; <|eot_id|> the one that is written so; !<[42]>, !<|eot_id|> any other one
    ( ... )     a group, in which a line may end anywhere; elsewhere only after ::= and |
    root        the rule to begin with

What is said of characters is said of code points; U+0000 is refused, as its texts end there. Where a rule is defined
twice the last one counts, with a warning. Departures: left recursion is accepted, bounds are kept as they are written
(llama.cpp refuses 2,000 copies, or takes an upper bound above as none), a range from a higher character to a lower one
is refused (llama.cpp drops it), and a class only has well-formed UTF-8 (llama.cpp takes bytes such as F5 for the
beginning of a character). A token with a text that is named by its id is
taken so, and not by its text where the grammar could read that, too (llama.cpp follows both); `!` leaves out the ends
of sequence, too.
Source: llama.cpp, grammars/README.md and src/llama-grammar.cpp.

In: a text. Out: a `Grammar` whose lexemes are single characters and texts. Cost: about 2 us a character.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from llmask.errors import GrammarError
from llmask.frontends.bnf.elements import DIGITS, SETS, Reader
from llmask.grammar.expressions import EMPTY, Expression, Grammar, Repeat, sequence
from llmask.grammar.token_ranges import read_tokens
from llmask.regex.code_points import TEXT, CodePointSet

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes

NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
NEWLINES = "\r\n"
SIMPLE_ESCAPES = {"t": "\t", "r": "\r", "n": "\n", "\\": "\\", '"': '"', "[": "[", "]": "]", "-": "-"}
HEX_ESCAPES = {"x": 2, "u": 4, "U": 8}
ANY = TEXT.subtract(CodePointSet.of("\0"))
TOKEN = re.compile(r"<[^>\n]*>")
ONE_ID = re.compile(r"<\[[0-9]+\]>")
PLAIN = re.compile(r'[^"\\]+')
BLANKS = re.compile(r"(?:[ \t]|#[^\r\n]*)*")


def parse_gbnf(nodes: RegexNodes, text: str) -> tuple[Grammar, list[str]]:
    """The grammar of a text, and warnings.

    Raises
    ------
    GrammarError : the text is malformed, or names a token that the vocabulary does not have.
    LimitExceeded : groups nest too deep.
    """
    return _Parser(nodes, text).parse()


class _Parser(Reader):
    """One text."""

    plain = PLAIN
    blanks = BLANKS

    def rule(self) -> None:
        begin = self.at
        name = self.take_while(NAME)
        if not name:
            if self.peek() == "|":
                raise self.error(
                    "an alternative begins a line", "end the line before with |, or put the alternatives into ( )"
                )
            self.refuse_beginning("")
        self.skip_space(False)
        if self.text[self.at : self.at + 3] != "::=":
            self.refuse_beginning(name)
        self.at += 3
        self.skip_space(True)
        self.define(name, self.alternatives(name, 0), begin)
        if self.peek() and self.peek() not in NEWLINES:
            closing = self.peek() == ")"
            raise self.error(
                "this parenthesis closes no group" if closing else f"{self.here()} is no element of a rule",
                "take it out, or open one" if closing else self.sign_help('end the line, or put text into "quotes"'),
            )
        self.skip_space(True)

    def row(self, rule: str, depth: int) -> Expression:
        parts: list[Expression] = []
        is_nested = depth > 0
        repeatable = False  # an empty text or class leaves nothing to repeat
        while self.peek():
            begin = self.at
            character = self.peek()
            if character == '"':
                parts.append(self.quoted(self.character_of_text))
            elif character == "[":
                parts.append(self.character_class())
            elif character == ".":
                self.at += 1
                parts.append(self.one_of(ANY, "."))
            elif character in NAME:
                parts.append(self.reference(self.take_while(NAME), begin, rule))
            elif character == "(":
                parts.append(self.group(rule, depth))
            elif character in "*+?{":
                low, high = self.bounds(is_nested)
                if not repeatable:
                    raise self.error("there is nothing to repeat", "put an element before it", begin)
                parts[-1] = Repeat(parts[-1], low, high) if high != 0 else EMPTY
                repeatable = high != 0
                continue
            elif character == "<" or (character == "!" and self.peek(1) == "<"):
                parts.append(self.token())
            else:
                break
            repeatable = parts[-1] != EMPTY or character == "("
            self.skip_space(is_nested)
        return sequence(parts)

    def token(self) -> Expression:
        """Read a token, or `!` and one."""
        begin = self.at
        is_negated = self.peek() == "!"
        self.at += is_negated
        first = self.at
        text = self.take(TOKEN)
        if not text:
            raise self.error("this token is not closed", "close it with >", begin)
        if text.startswith("<[") and not ONE_ID.fullmatch(text):
            raise self.error(f"{text} names no token", "a token is <[42]> or <|its name|>", first)
        table = self.nodes.table
        assert table is not None, "grammars are compiled for a vocabulary"
        try:
            found = read_tokens(table, text)
        except GrammarError as error:
            raise self.error(error.message, error.help or "name another one", first) from None
        return replace(found, text=f"!{text}", is_excluded=True) if is_negated else found

    def upper_bound(self, begin: int, newline_ok: bool) -> int | None:
        return self.number(begin, newline_ok) if self.peek() in DIGITS else None

    # --- characters

    def character_of_text(self) -> int:
        """Read an escape within a text in quotes."""
        at = self.at
        code_point = self.checked(self.character(), at)
        if code_point == 0:
            raise self.error("no text holds U+0000", "take it out", at)
        return code_point

    def character_class(self) -> Expression:
        begin = self.at
        ranges, is_negated = self.ranges(self.character)
        if not ranges:
            return EMPTY
        members = CodePointSet.from_ranges(ranges)
        members = ANY.subtract(members) if is_negated else ANY.intersect(members)
        return self.one_of(members, self.text[begin : self.at])

    def character(self) -> int:
        """Read a character or an escape."""
        begin = self.at
        letter = self.read_character(SIMPLE_ESCAPES, HEX_ESCAPES)
        if isinstance(letter, int):
            return letter
        raise self.error(
            f"there is no escape \\{letter}" if letter else "an escape is not complete",
            f"for these characters write the class [{SETS[letter]}]"
            if letter in SETS
            else r"escapes are \n \t \r \\ \" \[ \] \- \xXX \uXXXX \UXXXXXXXX; a backslash is \\",
            begin,
        )
