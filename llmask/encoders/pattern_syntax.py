r"""The regular expressions that split text into words, parsed into instructions of an ordered automaton.

The subset that tokenizers use: alternatives, groups, `(?i:...)`, classes with ranges, `\p{L}`, `\s`, `\d`,
`? * + {m,n}`, lazy and possessive marks, and looking ahead at *one* character: `(?!\S)`, `(?=\p{L})`, `$`. Alternatives
are ordered as in Perl: the first that matches wins, not the longest. Instructions are those of Pike's machine (R. Cox,
"Regular expression matching: the virtual machine approach", 2009):

    CHAR s    the next character must be in set s, and is taken
    LOOK s    the next character must be in set s (END: there is none), and stays
    SPLIT a b try a, then b
    MATCH

A possessive loop never gives back what it took. It equals the greedy loop, and is read as one, where what follows it
cannot begin with a character of the loop; elsewhere the pattern is refused.

In: a pattern. Out: instructions and sets, or `UnknownPattern`, and then the `regex` package runs it. Cost: 0.2 ms.
"""

from __future__ import annotations

from typing import NamedTuple

from .categories import CATEGORIES, HAN, N_CODE_POINTS, WHITE_SPACE, CharacterSet, one_character

CHAR, LOOK, SPLIT, MATCH = range(4)
MAX_REPEATS = 64
MAX_INSTRUCTIONS = 4096
MAX_DEPTH = 50
_PLAIN_ESCAPES = {"n": 10, "r": 13, "t": 9, "f": 12, "v": 11, "a": 7, "e": 27, "0": 0}
# letters beyond ASCII that equal an ASCII letter when case is ignored
_FOLDED = {"s": 0x17F, "k": 0x212A}


class UnknownPattern(ValueError):
    """A construct outside of the subset."""


class Instruction(NamedTuple):
    """One step: `first` and `second` are the next steps; `set` numbers a set; `or_end` lets LOOK accept the end."""

    code: int
    first: int = -1
    second: int = -1
    set: int = -1
    or_end: bool = False


class Node(NamedTuple):
    """Part of a parsed pattern: "set", "look", "sequence", "choice" or "repeat"."""

    kind: str
    set: CharacterSet | None = None
    or_end: bool = False
    parts: tuple[Node, ...] = ()
    low: int = 0
    high: int = 0  # -1: no limit
    mark: str = ""  # "", "?" lazy, "+" possessive


def parse(pattern: str) -> Node:
    """Tree of a pattern.

    Raises
    ------
    UnknownPattern : a construct outside of the subset, or a mistake in the pattern.
    """
    parser = _Parser(pattern)
    node = parser.choice(ignores_case=False, depth=0)
    if parser.position < len(pattern):
        raise UnknownPattern(f"{pattern[parser.position]!r} at {parser.position}")
    return node


class _Parser:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.position = 0

    def peek(self, n: int = 1) -> str:
        return self.pattern[self.position : self.position + n]

    def take(self, text: str) -> bool:
        if not self.pattern.startswith(text, self.position):
            return False
        self.position += len(text)
        return True

    def expect(self, text: str) -> None:
        if not self.take(text):
            raise UnknownPattern(f"{text!r} is missing at {self.position}")

    def choice(self, ignores_case: bool, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise UnknownPattern("too many groups inside each other")
        if depth == 0 and self.take("(?i)"):
            ignores_case = True
        alternatives = [self.sequence(ignores_case, depth)]
        while self.take("|"):
            alternatives.append(self.sequence(ignores_case, depth))
        return alternatives[0] if len(alternatives) == 1 else Node("choice", parts=tuple(alternatives))

    def sequence(self, ignores_case: bool, depth: int) -> Node:
        parts = []
        while self.position < len(self.pattern) and self.peek() not in "|)":
            parts.append(self.repeated(self.atom(ignores_case, depth)))
        return Node("sequence", parts=tuple(parts))

    def repeated(self, atom: Node) -> Node:
        bounds = {"?": (0, 1), "*": (0, -1), "+": (1, -1)}.get(self.peek())
        if bounds is not None:
            self.position += 1
        elif self.peek() == "{":
            end = self.pattern.find("}", self.position)
            low, comma, high = self.pattern[self.position + 1 : max(end, 0)].partition(",")
            if not low.isdecimal() or not (high == "" or high.isdecimal()) or len(low + high) > 6:
                raise UnknownPattern(f"braces at {self.position}")
            bounds = int(low), (int(high) if high else -1) if comma else int(low)
            self.position = end + 1
        else:
            return atom
        if atom.kind == "look" or max(bounds) > MAX_REPEATS or -1 < bounds[1] < bounds[0]:
            raise UnknownPattern(f"repetition before {self.position}")
        mark = self.peek() if self.peek() in ("?", "+") else ""
        self.position += len(mark)
        if self.peek() in ("*", "?", "+", "{") and self.peek():
            raise UnknownPattern(f"repetition of a repetition at {self.position}")
        return Node("repeat", parts=(atom,), low=bounds[0], high=bounds[1], mark=mark)

    def atom(self, ignores_case: bool, depth: int) -> Node:
        if self.take("(?="):
            return self.look(is_negated=False)
        if self.take("(?!"):
            return self.look(is_negated=True)
        if self.take("(?i:"):
            return self.group(True, depth)
        if self.take("(?:"):
            return self.group(ignores_case, depth)
        if self.peek(2) == "(?":
            raise UnknownPattern(f"group {self.peek(4)!r}")
        if self.take("("):
            return self.group(ignores_case, depth)
        if self.take("$"):
            return Node("look", set=CharacterSet(), or_end=True)
        return Node("set", set=self.character_set(ignores_case))

    def group(self, ignores_case: bool, depth: int) -> Node:
        node = self.choice(ignores_case, depth + 1)
        self.expect(")")
        return node

    def look(self, is_negated: bool) -> Node:
        entry = self.character_set(ignores_case=False)
        self.expect(")")
        return Node("look", set=CharacterSet(parts=(entry,), is_negated=is_negated), or_end=is_negated)

    def character_set(self, ignores_case: bool) -> CharacterSet:
        character = self.peek()
        if character == "[":
            return self.bracket(ignores_case)
        if character == "\\":
            return self.escape(ignores_case)
        if character == "" or character in "*+?{^)|":
            raise UnknownPattern(f"{character!r} at {self.position}")
        self.position += 1
        if character == ".":
            return CharacterSet(ranges=((10, 10),), is_negated=True)
        return _of_character(ord(character), ignores_case)

    def bracket(self, ignores_case: bool) -> CharacterSet:
        self.position += 1
        is_negated = self.take("^")
        ranges: list[tuple[int, int]] = []
        parts: list[CharacterSet] = []
        is_first = True
        while is_first or self.peek() != "]":
            is_first = False
            if self.peek() in ("", "[") or self.peek(2) in ("&&", "--", "~~", "||"):
                raise UnknownPattern(f"{self.peek()!r} inside of a class at {self.position}")
            low = self.class_item(ignores_case)
            if isinstance(low, CharacterSet):
                parts.append(low)
            elif self.peek() == "-" and self.peek(2) not in ("-]", "-"):
                self.position += 1
                high = self.class_item(ignores_case)
                if isinstance(high, CharacterSet) or high < low or ignores_case:
                    raise UnknownPattern(f"range before {self.position}")
                ranges.append((low, high))
            else:
                parts.append(_of_character(low, ignores_case))
        self.position += 1
        return CharacterSet(ranges=ranges, parts=parts, is_negated=is_negated)

    def class_item(self, ignores_case: bool) -> CharacterSet | int:
        if self.peek() == "\\":
            entry = self.escape(False)
            if not entry.is_negated and not entry.parts and not entry.categories and len(entry.ranges) == 1:
                low, high = entry.ranges[0]
                if low == high:
                    return low
            return entry
        character = self.peek()
        if character == "":
            raise UnknownPattern("a class without its end")
        self.position += 1
        return ord(character)

    def escape(self, ignores_case: bool) -> CharacterSet:
        self.position += 1
        character = self.peek()
        self.position += 1
        if character in ("p", "P"):
            name = self.pattern[self.position : self.pattern.find("}", self.position)].lstrip("{")
            self.position += len(name) + 2
            is_negated = (character == "P") != name.startswith("^")
            name = name.lstrip("^")
            if name == "Han":
                return CharacterSet(ranges=HAN, is_negated=is_negated)
            if name not in CATEGORIES and name not in "LMNPSZC":
                raise UnknownPattern(f"category {name!r}")
            return CharacterSet((name,), is_negated=is_negated)
        if character in ("s", "S"):
            return CharacterSet(ranges=WHITE_SPACE, is_negated=character == "S")
        if character in ("d", "D"):
            return CharacterSet(("Nd",), is_negated=character == "D")
        if character in _PLAIN_ESCAPES:
            return one_character(_PLAIN_ESCAPES[character])
        digits = {"x": 2, "u": 4, "U": 8}.get(character)
        if digits is not None:
            if self.take("{"):
                digits = max(self.pattern.find("}", self.position) - self.position, 0)
                text = self.peek(digits)
                self.position += digits + 1
            else:
                text = self.peek(digits)
                self.position += digits
            try:
                return one_character(min(int(text, 16), N_CODE_POINTS - 1))
            except ValueError:
                raise UnknownPattern(f"escape of {text!r}") from None
        if character == "" or character.isalnum():
            raise UnknownPattern(f"escape \\{character}")
        return _of_character(ord(character), ignores_case)


def _of_character(code_point: int, ignores_case: bool) -> CharacterSet:
    character = chr(code_point)
    if not ignores_case or not (character.isalpha()):
        return one_character(code_point)
    if code_point > 127:
        raise UnknownPattern(f"{character!r} where case is ignored")
    variants = {ord(character.lower()), ord(character.upper())} | {_FOLDED.get(character.lower(), code_point)}
    return CharacterSet(ranges=[(variant, variant) for variant in sorted(variants)])


class Program:
    """Instructions of a parsed pattern; the first is number 0.

    Attributes
    ----------
    instructions : in the order of emission.
    sets : the sets that CHAR and LOOK number.
    possessive : pairs (number of a set, instruction after the loop), for `pattern_automaton` to check.
    """

    def __init__(self, node: Node) -> None:
        self.instructions: list[Instruction] = []
        self.sets: list[CharacterSet] = []
        self.possessive: list[tuple[int, int]] = []
        self._emit(node)
        self._add(Instruction(MATCH))

    def _add(self, instruction: Instruction) -> int:
        if len(self.instructions) >= MAX_INSTRUCTIONS:
            raise UnknownPattern("too large")
        self.instructions.append(instruction)
        return len(self.instructions) - 1

    def _add_set(self, entry: CharacterSet) -> int:
        self.sets.append(entry)
        return len(self.sets) - 1

    def _emit(self, node: Node) -> None:
        """Append the instructions of a node; the one after them follows."""
        here = len(self.instructions)
        if node.set is not None:
            code = CHAR if node.kind == "set" else LOOK
            self._add(Instruction(code, here + 1, set=self._add_set(node.set), or_end=node.or_end))
        elif node.kind == "sequence":
            for part in node.parts:
                self._emit(part)
        elif node.kind == "choice":
            self._emit_choice(node.parts)
        else:
            self._emit_repeat(node)

    def _emit_choice(self, parts: tuple[Node, ...]) -> None:
        jumps = []
        for part in parts[:-1]:
            split = self._add(Instruction(SPLIT))
            self._emit(part)
            jumps.append(self._add(Instruction(SPLIT)))
            self.instructions[split] = Instruction(SPLIT, split + 1, len(self.instructions))
        self._emit(parts[-1])
        for jump in jumps:
            self.instructions[jump] = Instruction(SPLIT, len(self.instructions), -1)

    def _emit_repeat(self, node: Node) -> None:
        part = node.parts[0]
        for _ in range(node.low):
            self._emit(part)
        splits = []
        if node.high < 0:
            split = self._add(Instruction(SPLIT))
            self._emit(part)
            self._add(Instruction(SPLIT, split, -1))
            splits.append(split)
        for _ in range(node.high - node.low):
            splits.append(self._add(Instruction(SPLIT)))
            self._emit(part)
        after = len(self.instructions)
        for split in splits:
            inner, outer = (after, split + 1) if node.mark == "?" else (split + 1, after)
            self.instructions[split] = Instruction(SPLIT, inner, outer)
        if node.mark == "+":
            if part.set is None or part.kind != "set":
                raise UnknownPattern("a possessive group")
            self.possessive.append((self._add_set(part.set), after))
