r"""ECMA-262 patterns as JSON Schema uses them: the flag u, and what real schemas write besides.

Read as the standard says under the flag u: `\d` and `\w` are ASCII, `$` holds at the very end only, `.` excludes four
line ends, `[]` matches nothing, a surrogate pair of escapes is one code point. Read although the flag u forbids it,
because only one meaning is possible: a lone `{`, `}` or `]`, a needless backslash before punctuation, `[\w-.]`; and
from other languages `(?P<name>...)`, `(?i)` at the start, `\A`, `\Z`, `\z`. Refused because readers differ: `{,3}`, a
needless backslash before a letter or digit, possessive quantifiers.
Source: ECMA-262, 15th edition, section 22.2 (RegExp) and annex B.1.2; JSON Schema 2020-12 core, section 6.4.

In: the text of a pattern. Out: a `Tree`. Cost: about 2 us a character.
"""

from __future__ import annotations

import re
from collections.abc import Sequence as Items

from llmask.frontends.regex.python_syntax import DIGITS, PythonParser
from llmask.frontends.regex.shapes import Boundary, Edge, Tree
from llmask.regex import unicode_classes
from llmask.regex.code_points import FIRST_SURROGATE, MAX_CODE_POINT, NO_TEXT, CodePointSet

CONTROLS = {"b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
BRACED = re.compile(r"\{([0-9a-fA-F]+)\}")
LOW_HALF = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")


class EcmaParser(PythonParser):
    """Parser of one pattern of the dialect "ecma"."""

    controls = CONTROLS

    # --- syntax

    def _braces(self) -> tuple[int, int | None] | None:
        start = self.index
        bounds = super()._braces()
        if bounds is not None and self.data[start + 1] == ",":
            self._refuse("the repetition has no lower bound", start, f"Write {{0{self.data[start + 1 : self.index]}.")
        return bounds

    def _possessive(self, item: Tree, low: int, high: int | None, at: int) -> Tree:
        self._refuse("a quantifier cannot follow a quantifier", at, "Remove the plus.")

    def _atomic(self, inner: Tree, start: int) -> Tree:
        self._refuse("this group has an unknown extension", start, "Write (?: instead of (?>.")

    def _open_special_group(self, start: int) -> None:
        if self.data.startswith("(?<", start):
            self._group_name(start, start + 3)
        else:
            super()._open_special_group(start)

    def _is_name(self, text: str) -> bool:
        return text.replace("$", "_").isidentifier()

    def _class_ends(self, start: int, first: int) -> bool:
        return super()._class_ends(start, -1)

    def _range_of_class(self, low: int | CodePointSet, high: int | CodePointSet, at: int) -> Items[int | CodePointSet]:
        r"""`[\w-.]`: the minus means itself (annex B.1.2.5)."""
        return low, ord("-"), high

    def _other_escape(self, start: int, letter: str) -> int | CodePointSet:
        if letter == "0" and self.data[self.index : self.index + 1] not in DIGITS:
            return 0
        if letter == "x":
            return self._hexadecimal(start, 2)
        if letter == "u":
            return self._code_point(start)
        if letter == "c":
            return self._control(start)
        if letter == "k":
            self._refuse_reference(start)
        if not letter or (letter.isalnum() and letter.isascii()):
            self._refuse_escape(start)
        return ord(letter)

    def _code_point(self, start: int) -> int:
        braced = BRACED.match(self.data, self.index)
        if braced and int(braced[1], 16) <= MAX_CODE_POINT:
            self.index = braced.end()
            return int(braced[1], 16)
        unit = self._hexadecimal(start, 4)
        low_half = LOW_HALF.match(self.data, self.index)
        if FIRST_SURROGATE <= unit < 0xDC00 and low_half:
            self.index = low_half.end()
            return 0x10000 + ((unit - FIRST_SURROGATE) << 10) + (int(low_half[1], 16) - 0xDC00)
        return unit

    def _control(self, start: int) -> int:
        letter = self.data[self.index : self.index + 1]
        if not (letter.isascii() and letter.isalpha()):
            self._refuse(r"the escape \c needs a letter", start, r"Example: \cJ.")
        self.index += 1
        return ord(letter) % 32

    # --- meanings

    def _named_class(self, letter: str) -> CodePointSet:
        members = {
            "d": unicode_classes.ASCII_DIGITS,
            "w": unicode_classes.ASCII_WORDS,
            "s": unicode_classes.ECMA_SPACES,
        }[letter.lower()]
        return members if letter.islower() else members.complement()

    def _line_ends(self) -> CodePointSet:
        return unicode_classes.ECMA_LINE_ENDS if "m" in self.flags else NO_TEXT

    def _all_but_line_ends(self) -> CodePointSet:
        return unicode_classes.ECMA_LINE_ENDS.complement()

    def _dollar(self) -> Edge:
        return Edge(True, self._line_ends())

    def _boundary(self, is_negated: bool) -> Boundary:
        return Boundary(unicode_classes.ASCII_WORDS, is_negated, True)
