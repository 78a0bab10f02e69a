r"""Python's pattern syntax, parsed with interegular's parser.

interegular 0.3.3 gives the frame: alternatives, rows, and the reading primitives. The items of a row are replaced,
because it refuses `^`, `$`, `\b`, lookbehind and atomic groups, accepts `a**`, misreads `a{`, and its errors have no
place. So are characters: it spells classes out character by character, knows `\d \w \s` for ASCII only, refuses
`\u0041` and `\N{...}`, and misreads `[]a]`; here classes are `CodePointSet`s. `\p{...}` is read as ECMA-262 has it;
`re` has no such escape. Errors are raised where they are found; `nomatch`, the parser's own signal, only ends a row.
Source: Python documentation, `re`, "Regular Expression Syntax"; CPython Lib/re/_parser.py for what it leaves open.

In: the text of a pattern. Out: a `Tree`. Cost: about 2 us a character.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import deque
from collections.abc import Sequence as Items
from typing import NoReturn

from interegular.patterns import _ParsePattern
from interegular.utils.simple_parser import nomatch

from llmask.errors import GrammarError, LimitExceeded
from llmask.frontends.regex.meaning import has_empty_loop, has_one_way
from llmask.frontends.regex.shapes import (
    Alternatives,
    Atomic,
    Boundary,
    Chars,
    Edge,
    Lazy,
    Look,
    Repeated,
    Sequence,
    Tree,
)
from llmask.regex import unicode_classes
from llmask.regex.code_points import JOIN_SURROGATES, MAX_CODE_POINT, NO_TEXT, SURROGATE_PAIR, TEXT, CodePointSet

NEWLINE = CodePointSet.of("\n")
DIGITS = frozenset("0123456789")
OCTAL = frozenset("01234567")
HEX = frozenset("0123456789abcdefABCDEF")
ASCII_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
CONTROLS = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
PROPERTY = re.compile(r"\{(?:(\w+)=)?(\w+)\}")
GENERAL_CATEGORY = ("gc", "General_Category", None)
SCRIPT = ("sc", "Script")
SCRIPT_EXTENSIONS = ("scx", "Script_Extensions")
MAX_NESTING = 60  # the parser takes eight Python frames a level, of the thousand that there are
MAX_COUNT = 2**31 - 2  # counters are 32-bit
MAX_DIGITS = 10  # of it
GLOBAL_FLAGS = re.compile(r"\(\?([aiLmsux]+)\)")
FLAG_GROUP = re.compile(r"\(\?([aiLmsux]*)(?:-([aiLmsux]+))?:")
# As `re` reads them: a backslash in a comment takes the next character with it, even one that would end the comment.
GROUP_COMMENT = re.compile(r"\(\?#(?:\\.|[^)\\])*\)", re.DOTALL)
LINE_COMMENT = re.compile(r"#(?:\\.|[^\n\\])*(?:\n|\Z)", re.DOTALL)
QUANTIFIER = re.compile(r"\{([0-9]*)(?:(,)([0-9]*))?\}")


class _NoExpectations(dict):  # type: ignore[type-arg]
    """interegular notes every alternative at every position for its messages; ours need none."""

    def __missing__(self, key: int) -> deque[str]:
        return deque(maxlen=0)


class PythonParser(_ParsePattern):  # type: ignore[misc]
    """Parser of one pattern.

    Attributes
    ----------
    data, index : the pattern and the place in it (interegular's names).
    flags : letters in force here, of "aimsx".
    depth : groups open here.
    names : of the groups so far.
    controls : code points that a letter after a backslash means.
    """

    controls = CONTROLS

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)
        self.index: int = 0
        self._expected = _NoExpectations()
        self.flags: frozenset[str] = frozenset()
        self.depth = 0
        self.names: set[str] = set()

    def parse(self) -> Alternatives:
        """Parse the whole pattern.

        Raises
        ------
        GrammarError
            With the column, when the pattern is malformed or means what bytes-wise matching cannot do.
        LimitExceeded
            When groups nest deeper than MAX_NESTING.
        """
        pair = SURROGATE_PAIR.search(self.data)
        if pair is not None:
            self._refuse("two surrogates stand here for one character", pair.start(), JOIN_SURROGATES)
        self._skip_blanks()
        kinds = ""  # a and u, which must not both be written here
        while found := GLOBAL_FLAGS.match(self.data, self.index):
            kinds += "".join(set(found[1]) & set("au"))
            self.flags |= self._checked_flags(found[1], kinds) - {"u"}
            self.index = found.end()
            self._skip_blanks()
        tree = self.pattern()
        if self.index < len(self.data):
            self._refuse("this closing parenthesis has no opening one", self.index, r"Write \) for the character.")
        return tree

    # --- the frame: called by interegular's `pattern` and `conc`

    def conc(self) -> Sequence:
        """Parse a row of items."""
        self._skip_blanks()
        row: Sequence = super().conc()
        return row

    def obj(self) -> Tree:
        """Parse one item with its quantifier; at the end of a row, `nomatch`."""
        start = self.index
        character = self.data[start : start + 1]
        if character in ("", "|", ")"):
            raise nomatch
        if character == "(":
            return self._quantified(self._group(), start)
        if self._quantifier() is not None:
            self._refuse("there is nothing to repeat", start, "Put the quantifier after what it repeats.")
        self.index = start + 1
        if character == "[":
            return self._quantified(Chars(self._class()), start)
        if character == "\\":
            return self._quantified(self._escape(), start)
        if character == ".":
            return self._quantified(Chars(TEXT if "s" in self.flags else self._all_but_line_ends()), start)
        if character == "^":
            return self._quantified(Edge(False, self._line_ends()), start)
        if character == "$":
            return self._quantified(self._dollar(), start)
        return self._quantified(self._literal(ord(character)), start)

    def _skip_blanks(self) -> None:
        """Step over comments and, under the flag x, white space."""
        while self.index < len(self.data):
            if self.data.startswith("(?#", self.index):
                comment = GROUP_COMMENT.match(self.data, self.index)
                if comment is None:
                    self._refuse("this comment is not closed", self.index, "Add a closing parenthesis.")
                self.index = comment.end()
            elif "x" in self.flags and self.data[self.index] in " \t\n\r\v\f":
                self.index += 1
            elif "x" in self.flags and self.data[self.index] == "#":
                comment = LINE_COMMENT.match(self.data, self.index)
                if comment is None:
                    self._refuse("the pattern ends in a backslash", len(self.data) - 1, "Remove it.")
                self.index = comment.end()
            else:
                return

    # --- quantifiers

    def _quantified(self, item: Tree, start: int) -> Tree:
        self._skip_blanks()
        at = self.index
        bounds = self._quantifier()
        if bounds is None:
            return item
        if isinstance(item, (Edge, Boundary)):
            self._refuse("there is nothing to repeat: an anchor takes no character", at, "Remove the quantifier.")
        low, high = bounds
        if max(low, high or 0) > MAX_COUNT:
            self._refuse(f"the repetition count is larger than {MAX_COUNT}", at, "Leave the upper bound open: {n,}.")
        if high is not None and high < low:
            self._refuse(f"the repetition's lower bound {low} is above its upper bound {high}", at, "Swap them.")
        suffix = self.data[self.index : self.index + 1]
        if suffix in ("?", "+"):
            self.index += 1
        if suffix == "+":
            item = self._possessive(item, low, high, at)
        else:
            item = (Lazy if suffix == "?" else Repeated)(item, low, high)
        self._skip_blanks()
        at = self.index
        if self._quantifier() is not None:
            self._refuse("a quantifier cannot follow a quantifier", at, "Put what it repeats in a group: (?:...)*.")
        return item

    def _quantifier(self) -> tuple[int, int | None] | None:
        """Step over a quantifier, if there is one here, and return its bounds."""
        character = self.data[self.index : self.index + 1]
        if character == "{":
            return self._braces()
        bounds = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(character) if character else None
        self.index += bounds is not None
        return bounds

    def _braces(self) -> tuple[int, int | None] | None:
        """`{2}`, `{2,}`, `{2,5}` and, in Python, `{,5}`; anything else is the character `{`."""
        found = QUANTIFIER.match(self.data, self.index)
        if found is None or not (found[1] or found[2]):
            return None
        self.index = found.end()
        low = self._count(found[1] or "0")
        return (low, low) if found[2] is None else (low, self._count(found[3]) if found[3] else None)

    @staticmethod
    def _count(digits: str) -> int:
        """A bound; Python reads no more than 4,300 digits, and a number of that length is too large in any case."""
        significant = digits.lstrip("0")
        return int(significant or "0") if len(significant) <= MAX_DIGITS else MAX_COUNT + 1

    def _possessive(self, item: Tree, low: int, high: int | None, at: int) -> Tree:
        """Each round is a group that keeps its first match, and so is their row."""
        return self._atomic(Repeated(self._atomic(item, at), low, high), at)

    # --- groups

    def _group(self) -> Tree:
        start = self.index
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise LimitExceeded(
                f"the pattern nests groups deeper than {MAX_NESTING} levels",
                place(self.data, start),
                "Flatten the groups.",
            )
        flags = self.flags
        is_atomic = self.data.startswith("(?>", start)
        wrap = self._open_group(start)
        inner = self.pattern()
        if self.data[self.index : self.index + 1] != ")":
            self._refuse(
                "this group is not closed", start, r"Add a closing parenthesis, or write \( for the character."
            )
        self.index += 1
        self.flags = flags
        self.depth -= 1
        if is_atomic:
            return self._atomic(inner, start)
        return inner if wrap is None else Look(inner, *wrap)

    def _atomic(self, inner: Tree, start: int) -> Tree:
        if has_empty_loop(inner):
            self._refuse(
                "an atomic group or possessive quantifier cannot repeat what may be empty",
                start,
                "Write what is repeated so that it takes a character: (?>(?:ab?)*) for (?>(?:a?b?)*).",
            )
        return inner if has_one_way(inner) else Atomic(inner)

    def _open_group(self, start: int) -> tuple[bool, bool] | None:
        """Step over the opening of a group; for a look-around return (is a lookbehind, is negated)."""
        if not self.data.startswith("(?", start):
            self.index = start + 1
            return None
        for opening, is_lookbehind, is_negated in (
            ("(?=", False, False),
            ("(?!", False, True),
            ("(?<=", True, False),
            ("(?<!", True, True),
        ):
            if self.data.startswith(opening, start):
                self.index = start + len(opening)
                return is_lookbehind, is_negated
        found = FLAG_GROUP.match(self.data, start)
        if found:
            flags = self._checked_flags(found[1], found[1])
            self._check_flags_off(found[1], found[2] or "")
            kind = {"a"} if "u" in flags else set()  # a kind of characters takes the place of the other
            self.flags = (self.flags | flags) - {"u"} - kind - set(found[2] or "")
            self.index = found.end()
            return None
        self._open_special_group(start)
        return None

    def _open_special_group(self, start: int) -> None:
        if self.data.startswith("(?P<", start):
            self._group_name(start, start + 4)
        elif self.data.startswith("(?P=", start):
            self._refuse_reference(start)
        elif self.data.startswith("(?(", start):
            self._refuse("a conditional group depends on what another group matched", start, "Write both cases out.")
        elif self.data.startswith("(?>", start):
            self.index = start + 3
        elif GLOBAL_FLAGS.match(self.data, start):
            self._refuse("flags for the whole pattern stand at its start", start, "Move them, or write (?i:...).")
        else:
            is_named = self.data.startswith("(?<", start)
            help = "Write (?P<name>...) for a group with a name." if is_named else r"Write \( for the character."
            self._refuse("this group has an unknown extension", start, help)

    def _group_name(self, start: int, name_start: int) -> None:
        end = self.data.find(">", name_start)
        if end < 0 or not self._is_name(self.data[name_start:end]):
            self._refuse("this group's name is no identifier", start, "Write (?P<name>...).")
        if self.data[name_start:end] in self.names:
            self._refuse("this group's name is already taken", start, "Rename one of the groups, or write (?:...).")
        self.names.add(self.data[name_start:end])
        self.index = end + 1

    def _is_name(self, text: str) -> bool:
        return text.isidentifier()

    def _checked_flags(self, letters: str, kinds: str) -> frozenset[str]:
        if "L" in letters:
            self._refuse("the flag L is for byte patterns", self.index, "Remove it.")
        if "a" in kinds and "u" in kinds:
            self._refuse("the flags a and u exclude each other", self.index, "Keep one of them.")
        return frozenset(letters)

    def _check_flags_off(self, on: str, off: str) -> None:
        if set(off) & set("auL"):
            self._refuse("the flags a, u and L cannot be turned off", self.index, "Turn the other one on: (?u:...).")
        if set(on) & set(off):
            self._refuse("a flag is turned on and off at once", self.index, "Keep one of the two.")

    # --- anchors and characters

    def _escape(self) -> Tree:
        """What follows a backslash, outside a class."""
        start = self.index - 1
        letter = self.data[self.index : self.index + 1]
        if letter in ("A", "Z", "z") and letter:
            self.index += 1
            return Edge(letter != "A")
        if letter in ("b", "B") and letter:
            self.index += 1
            return self._boundary(letter == "B")
        if letter in DIGITS and letter != "0":
            octal = self.data[self.index : self.index + 3]
            if len(octal) < 3 or not OCTAL.issuperset(octal):
                self._refuse_reference(start)
        found = self._class_escape()
        return Chars(found) if isinstance(found, CodePointSet) else self._literal(found)

    def _literal(self, code_point: int) -> Chars:
        return Chars(self._any_case(CodePointSet.from_ranges([(code_point, code_point)])))

    def _dollar(self) -> Edge:
        """Python's `$` also holds before a newline that ends the text."""
        return Edge(True, self._line_ends(), NEWLINE)

    def _boundary(self, is_negated: bool) -> Boundary:
        return Boundary(self._named_class("w"), is_negated, sys.version_info >= (3, 14))

    # --- escapes

    def _class_escape(self) -> int | CodePointSet:
        """What follows a backslash, in a class: a code point or a set of them."""
        start = self.index - 1
        letter = self.data[self.index : self.index + 1]
        self.index += 1
        if letter in "dDwWsS" and letter:
            return self._named_class(letter)
        if letter in self.controls:
            return self.controls[letter]
        if letter in ("p", "P"):
            return self._property(start)
        return self._other_escape(start, letter)

    def _other_escape(self, start: int, letter: str) -> int | CodePointSet:
        """A code point that is named after a backslash."""
        lengths = {"x": 2, "u": 4, "U": 8}
        if letter in lengths:
            return self._hexadecimal(start, lengths[letter])
        if letter == "N":
            return self._named_character(start)
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
            members = unicode_classes.members(f"{'sc' if key in SCRIPT else 'scx'}={value}")
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
                for item in self._range_of_class(low, high, at):
                    self._add(item, ranges, named)
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

    def _range_of_class(self, low: int | CodePointSet, high: int | CodePointSet, at: int) -> Items[int | CodePointSet]:
        """What a range means if one of its ends is not a single character."""
        self._refuse("a range needs a single character at both ends", at, r"Write \- for the character.")

    # --- meanings that dialects change

    def _named_class(self, letter: str) -> CodePointSet:
        members = unicode_classes.named_class(letter.lower(), "a" in self.flags)
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

    def _refuse(self, message: str, index: int, help: str) -> NoReturn:
        raise GrammarError(message, place(self.data, index), help)


def place(pattern: str, index: int) -> str:
    """Where in a pattern: column from 1 and the pattern, shortened around it."""
    first = max(0, index - 40)
    shown = pattern[first : index + 40]
    before, after = "..." if first else "", "..." if index + 40 < len(pattern) else ""
    return f"column {index + 1} of the pattern {before}{shown}{after}"
