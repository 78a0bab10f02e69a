r"""Characters, escapes and classes of Python's pattern syntax.

interegular 0.3.3 spells classes out character by character, knows `\d \w \s` for ASCII only, refuses `\u0041` and
`\N{...}`, misreads `[]a]`, and says nowhere where an error is; so this part of its parser is replaced, and classes
are `CodePointSet`s. `\p{...}` is read as ECMA-262 has it; `re` has no such escape.
Source: Python documentation, `re`, "Regular Expression Syntax"; CPython Lib/re/_parser.py for what it leaves open.

In: the text of a pattern and the place in it. Out: code points and sets of them. Cost: about 2 us a character.
"""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from typing import NoReturn

from interegular.patterns import _ParsePattern

from llmask.errors import GrammarError
from llmask.regex import unicode_classes
from llmask.regex.code_points import MAX_CODE_POINT, NO_TEXT, CodePointSet
from llmask.regex.unicode_properties import script

NEWLINE = CodePointSet.of("\n")
DIGITS = frozenset("0123456789")
OCTAL = frozenset("01234567")
HEX = frozenset("0123456789abcdefABCDEF")
ASCII_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
CONTROLS = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
PROPERTY = re.compile(r"\{(?:(\w+)=)?(\w+)\}")
GENERAL_CATEGORY = ("gc", "General_Category", None)
SCRIPT = ("sc", "Script")
SCRIPT_EXTENSIONS = ("scx", "Script_Extensions")


class _NoExpectations(dict):  # type: ignore[type-arg]
    """interegular notes every alternative at every position for its messages; ours need none."""

    def __missing__(self, key: int) -> deque[str]:
        return deque(maxlen=0)


class CharacterParser(_ParsePattern):  # type: ignore[misc]
    """The part of a pattern's parser that reads characters.

    Attributes
    ----------
    data, index : the pattern and the place in it (interegular's names).
    flags : letters in force here, of "aimsx".
    """

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)
        self.index: int = 0
        self._expected = _NoExpectations()
        self.flags: frozenset[str] = frozenset()

    # --- escapes

    def _class_escape(self) -> int | CodePointSet:
        """What stands behind a backslash, in a class: a code point or a set of them."""
        start = self.index - 1
        letter = self.data[self.index : self.index + 1]
        self.index += 1
        if letter in "dDwWsS" and letter:
            return self._named_class(letter)
        if letter in CONTROLS:
            return CONTROLS[letter]
        if letter == "b":
            return 8
        lengths = {"x": 2, "u": 4, "U": 8}
        if letter in lengths:
            return self._hexadecimal(start, lengths[letter])
        if letter == "N":
            return self._named_character(start)
        if letter in ("p", "P"):
            return self._property(start)
        if letter in OCTAL:
            return self._octal(start)
        if letter in ASCII_LETTERS or letter in DIGITS or not letter:
            self._refuse_escape(start)
        return ord(letter)

    def _hexadecimal(self, start: int, length: int) -> int:
        digits = self.data[self.index : self.index + length]
        if len(digits) < length or not HEX.issuperset(digits) or int(digits, 16) > MAX_CODE_POINT:
            self._refuse(f"this escape needs {length} hexadecimal digits of a code point", start, r"Example: \x41.")
        self.index += length
        return int(digits, 16)

    def _octal(self, start: int) -> int:
        end = self.index
        while end < min(start + 4, len(self.data)) and self.data[end] in OCTAL:
            end += 1
        value = int(self.data[start + 1 : end], 8)
        if value > 0o377:
            self._refuse("this octal escape is above 0o377", start, r"Write \u0100 for larger code points.")
        self.index = end
        return value

    def _named_character(self, start: int) -> int:
        end = self.data.find("}", self.index)
        try:
            if end < 0 or self.data[self.index] != "{":
                raise KeyError
            character = ord(unicodedata.lookup(self.data[self.index + 1 : end]))
        except (KeyError, TypeError, UnicodeError):  # a name may hold a lone surrogate
            self._refuse("this is no name of a character", start, r"Example: \N{EM DASH}.")
        self.index = end + 1
        return character

    def _property(self, start: int) -> CodePointSet:
        found = PROPERTY.match(self.data, self.index)
        if not found:
            self._refuse(f"the escape {self.data[start : start + 2]} needs a property", start, r"Example: \p{L}.")
        key, value = found.groups()
        self.index = found.end()
        members = unicode_classes.category(value) if key in GENERAL_CATEGORY else None
        if key in SCRIPT or key in SCRIPT_EXTENSIONS:
            members = script(value, key in SCRIPT_EXTENSIONS)
        elif members is None and key is None:
            members = unicode_classes.binary_property(value)
        if members is None:
            self._refuse(
                f"the Unicode property {found[0][1:-1]} is not supported",
                start,
                "Use a general category such as Lu, a common script such as Script=Greek, or ranges of code points.",
            )
        members = self._any_case(members)
        return members if self.data[start + 1] == "p" else members.complement()

    # --- classes of characters

    def _class(self) -> CodePointSet:
        """The rest of `[...]`."""
        start = self.index - 1
        is_negated = self.data[self.index : self.index + 1] == "^"
        self.index += is_negated
        first = self.index
        ranges: list[tuple[int, int]] = []
        named: list[CodePointSet] = []
        while not self._class_ends(start, first):
            low = self._class_item(start)
            at = self.index
            if self.data[at : at + 1] != "-" or self.data[at + 1 : at + 2] == "]":
                self._add(low, ranges, named)
                continue
            self.index = at + 1
            high = self._class_item(start)
            if isinstance(low, CodePointSet) or isinstance(high, CodePointSet):
                self._range_of_class(low, high, ranges, named, at)
            elif high < low:
                self._refuse("this range ends before it starts", at, "Swap its ends.")
            else:
                ranges.append((low, high))
        members = self._any_case(CodePointSet.from_ranges(ranges)).union(*named)
        return members.complement() if is_negated else members

    def _class_ends(self, start: int, first: int) -> bool:
        if self.index >= len(self.data):
            self._refuse("this class is not closed", start, r"Add a closing bracket, or write \[ for the character.")
        ends = self.data[self.index] == "]" and self.index > first
        self.index += ends
        return ends

    def _class_item(self, start: int) -> int | CodePointSet:
        if self.index >= len(self.data):
            self._refuse("this class is not closed", start, r"Add a closing bracket, or write \[ for the character.")
        self.index += 1
        character = self.data[self.index - 1]
        return self._class_escape() if character == "\\" else ord(character)

    @staticmethod
    def _add(item: int | CodePointSet, ranges: list[tuple[int, int]], named: list[CodePointSet]) -> None:
        if isinstance(item, CodePointSet):
            named.append(item)
        else:
            ranges.append((item, item))

    def _range_of_class(
        self,
        low: int | CodePointSet,
        high: int | CodePointSet,
        ranges: list[tuple[int, int]],
        named: list[CodePointSet],
        at: int,
    ) -> None:
        self._refuse("a range needs a single character at both ends", at, r"Write \- for the character.")

    # --- meanings that dialects change

    def _named_class(self, letter: str) -> CodePointSet:
        is_ascii = "a" in self.flags
        members = {
            "d": lambda: unicode_classes.ASCII_DIGITS if is_ascii else unicode_classes.digits(),
            "w": lambda: unicode_classes.ASCII_WORDS if is_ascii else unicode_classes.words(),
            "s": lambda: unicode_classes.ASCII_SPACES if is_ascii else unicode_classes.spaces(),
        }[letter.lower()]()
        return members if letter.islower() else members.complement()

    def _line_ends(self) -> CodePointSet:
        return NEWLINE if "m" in self.flags else NO_TEXT

    def _all_but_line_ends(self) -> CodePointSet:
        return NEWLINE.complement()

    # --- help

    def _any_case(self, members: CodePointSet) -> CodePointSet:
        if "i" not in self.flags:
            return members
        if "a" in self.flags:
            ascii_part = members.intersect(unicode_classes.ASCII)
            return members.union(unicode_classes.without_case(ascii_part).intersect(unicode_classes.ASCII))
        return unicode_classes.without_case(members)

    def _refuse_reference(self, start: int) -> NoReturn:
        self._refuse(
            "a backreference depends on what a group matched, which no regular language can",
            start,
            "Write the group's alternatives out, each with its repetition.",
        )

    def _refuse_escape(self, start: int) -> NoReturn:
        escape = self.data[start : start + 2]
        if len(escape) < 2:
            self._refuse("the pattern ends in a backslash", start, r"Write \\ for the character.")
        self._refuse(f"the escape {escape} has no meaning", start, "Remove the backslash for the character itself.")

    def _place(self, index: int) -> str:
        return place(self.data, index)

    def _refuse(self, message: str, index: int, help: str) -> NoReturn:
        raise GrammarError(message, place(self.data, index), help)


def place(pattern: str, index: int) -> str:
    """Where in a pattern: column from 1 and the pattern, shortened around it."""
    first = max(0, index - 40)
    shown = pattern[first : index + 40]
    before, after = "..." if first else "", "..." if index + 40 < len(pattern) else ""
    return f"column {index + 1} of the pattern {before}{shown}{after}"
