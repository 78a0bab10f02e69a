r"""Reading a grammar character by character, and saying where it is wrong.

    rule "list" uses "item", which is not defined
      at line 2, column 13
        list ::= "[" item "]"
                     ^
      define it, or did you mean "items"?

In: the text of a grammar. Out: characters, and errors with their place. Cost: none to speak of.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from llmask.errors import GrammarError
from llmask.regex.code_points import FIRST_SURROGATE, LAST_SURROGATE, MAX_CODE_POINT

SHOWN = 100  # characters of a line that an error shows
NEWLINE = re.compile("\n")
HEX_DIGITS = frozenset("0123456789abcdefABCDEF")


class Scanner:
    """A place in a text.

    Attributes
    ----------
    text : the grammar.
    at : characters that have been read.

    Raises
    ------
    GrammarError : the text holds what no text may hold.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self._line_starts: list[int] | None = None
        for at in (text.find("\0"), next((n for n, c in enumerate(text) if "\ud800" <= c <= "\udfff"), -1)):
            if at >= 0:
                raise self.error(f"the grammar holds U+{ord(text[at]):04X}, which is no text", "take it out", at)

    def error(self, message: str, help: str, at: int | None = None) -> GrammarError:
        """An error that shows the place: this one, or `at`."""
        return GrammarError(message, self.place(self.at if at is None else at), help)

    def place(self, at: int) -> str:
        """Line and column of a character, the line, and a caret under it."""
        begin = self.text.rfind("\n", 0, at) + 1
        end = self.text.find("\n", at)
        line = self.text[begin : end if end >= 0 else len(self.text)].rstrip("\r")
        column = at - begin
        first = max(0, min(column - SHOWN // 2, len(line) - SHOWN))
        shown = line[first : first + SHOWN]
        blanks = "".join("\t" if character == "\t" else " " for character in shown[: column - first])
        return f"{self.short_place(at)}\n    {shown}\n    {blanks}^"

    def short_place(self, at: int) -> str:
        """Line and column of a character. Where lines begin is found out once: every rule asks for its place."""
        if self._line_starts is None:
            self._line_starts = [0, *(found.end() for found in NEWLINE.finditer(self.text))]
        line = bisect_right(self._line_starts, at)
        return f"line {line}, column {at - self._line_starts[line - 1] + 1}"

    def peek(self, offset: int = 0) -> str:
        """A character that is still to be read, the empty string behind the last one."""
        at = self.at + offset
        return self.text[at : at + 1]

    def here(self) -> str:
        """What stands here, for messages."""
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
