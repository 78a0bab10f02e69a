r"""From patterns to one table of transitions over classes of characters.

A state of the table is an *ordered* list of instructions that would all take the next character: the order is the
preference of the pattern, and what comes after a match is cut off (R. Cox, "Regular expression matching in the wild",
2010, "leftmost-first"). So one pass without backtracking gives what a backtracking engine gives. A match is seen one
character late, which is all that `(?!\S)` and `$` need: entry [state, class] says whether a match ended *before* that
character, and where to go with it.

    \s+(?!\S)|\s+     on "  x":    state     next     ended before it?
                                   start     blank    no
                                   1 blank   blank    yes (a match of one blank: the next is white space)
                                   2 blanks  x        no: (?!\S) fails, but the second alternative would end here ...

The second alternative would take two blanks. It is of lower preference than "one blank, and look": as in Perl, the run
of blanks gives one back. The states keep both alternatives in order, so the table knows.

Patterns are parsed into instructions first. The subset that tokenizers use: alternatives, groups, `(?i:...)`, classes
with ranges, `\p{L}`, `\s`, `\d`, `? * + {m,n}`, lazy and possessive marks, and looking ahead at *one* character:
`(?!\S)`, `(?=\p{L})`, `$`. Alternatives are ordered as in Perl: the first that matches wins, not the longest.
Instructions are as in Pike's machine (R. Cox, "Regular expression matching: the virtual machine approach", 2009):

    CHAR s    the next character must be in set s, and is taken
    LOOK s    the next character must be in set s (END: no character follows), and stays
    SPLIT a b try a, then b
    MATCH

A possessive loop never gives back what it took. It equals the greedy loop, and is read as one, where what follows it
cannot begin with a character of the loop; elsewhere the pattern is refused.

In: patterns, applied one after the other. Out: `Automaton`, or `UnknownPattern`, and then the `regex` package runs it.
Cost: 5 to 20 ms a pattern.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from llmask.encoders.categories import (
    CATEGORIES,
    HAN,
    N_CODE_POINTS,
    WHITE_SPACE,
    CharacterSet,
    Partition,
    one_character,
    two_level,
)

CHAR, LOOK, SPLIT, MATCH = range(4)
MAX_REPEATS = 64
MAX_INSTRUCTIONS = 4096
MAX_DEPTH = 50
_PLAIN_ESCAPES = {"n": 10, "r": 13, "t": 9, "f": 12, "v": 11, "a": 7, "e": 27, "0": 0}
# letters beyond ASCII that equal an ASCII letter when case is ignored
_FOLDED = {"s": 0x17F, "k": 0x212A}
MAX_STATES = 1000
MAX_STEPS = 2_000_000  # a second; the patterns of known models take 20,000
MAX_CLASSES = 120
DEAD = 0
START = 1


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


class Automaton(NamedTuple):
    """Tables that `llmask/kernels/encoders/pretokenize_scan.py` runs. All arrays are read-only.

    class_index   uint16[4352]               block of each 256 code points
    class_blocks  uint8[n_blocks * 256]      class of a character
    n_classes     classes; class n_classes is the end of the text
    transitions   one int32[n_states * width] a pattern, width = n_classes + 1: `next * width << 1 | ended`
    """

    class_index: np.ndarray
    class_blocks: np.ndarray
    n_classes: int
    transitions: tuple[np.ndarray, ...]


@cache
def compile_patterns(patterns: tuple[str, ...]) -> Automaton:
    """Tables of some patterns.

    Raises
    ------
    UnknownPattern : a pattern outside of the subset of `pattern_syntax`, or one that needs too many states.
    """
    programs = [Program(parse(pattern)) for pattern in patterns]
    partition = Partition([entry for program in programs for entry in program.sets])
    if partition.n_classes > MAX_CLASSES:
        raise UnknownPattern("too many classes of characters")
    tables, first_set = [], 0
    for program in programs:
        members = partition.members[first_set : first_set + len(program.sets)]
        first_set += len(program.sets)
        tables.append(_Determinizer(program, members, partition.n_classes).run())
    index, blocks = two_level(partition.class_of_code_point())
    for array in (index, blocks, *tables):
        array.flags.writeable = False
    return Automaton(index, blocks, partition.n_classes, tuple(tables))


class _Determinizer:
    def __init__(self, program: Program, members: list[int], n_classes: int) -> None:
        self.program = program.instructions
        self.members = members
        self.n_classes = n_classes
        self.everything = (1 << n_classes + 1) - 1
        for number, after in program.possessive:
            if any(mask & self._first(pc) & members[number] for mask, pc in self.follow(after)):
                raise UnknownPattern("a possessive loop before what it could take")

    def _first(self, pc: int) -> int:
        instruction = self.program[pc]
        return self.members[instruction.set] if instruction.code == CHAR else 0

    def follow(self, start: int) -> list[tuple[int, int]]:
        """CHAR and MATCH instructions reachable without a character, in order, with the classes that may follow."""
        found: list[tuple[int, int]] = []
        seen: dict[int, int] = {}
        waiting = [(self.everything, start)]
        while waiting:
            mask, pc = waiting.pop()
            mask &= ~seen.get(pc, 0)
            if not mask:
                continue
            seen[pc] = seen.get(pc, 0) | mask
            instruction = self.program[pc]
            if instruction.code == SPLIT:
                if instruction.second >= 0:
                    waiting.append((mask, instruction.second))
                waiting.append((mask, instruction.first))
            elif instruction.code == LOOK:
                allowed = self.members[instruction.set] | (instruction.or_end << self.n_classes)
                waiting.append((mask & allowed, instruction.first))
            else:
                found.append((mask, pc))
        return found

    def run(self) -> np.ndarray:
        width = self.n_classes + 1
        followed = {pc: self.follow(pc) for pc in {0, *(entry.first for entry in self.program if entry.code == CHAR)}}
        states: dict[tuple[int, ...], int] = {(): DEAD, (0,): START}
        order: list[tuple[int, ...]] = [(), (0,)]
        rows: list[list[int]] = []
        n_steps = 0
        while len(rows) < len(order):
            items = [item for pc in order[len(rows)] for item in followed[pc]]
            n_steps += len(items) * width
            if n_steps > MAX_STEPS:
                raise UnknownPattern("too many steps")
            row = []
            for number in range(width):
                ended, reached = self._step(items, number)
                if reached not in states:
                    if len(order) >= MAX_STATES:
                        raise UnknownPattern("too many states")
                    states[reached] = len(order)
                    order.append(reached)
                row.append(states[reached] * width << 1 | ended)
            rows.append(row)
        return np.array(rows, np.int32).reshape(-1)

    def _step(self, items: list[tuple[int, int]], number: int) -> tuple[bool, tuple[int, ...]]:
        """Whether a match ended before a character of class `number`, and the state after it."""
        reached: dict[int, None] = {}
        bit = 1 << number
        for mask, pc in items:
            if not mask & bit:
                continue
            instruction = self.program[pc]
            if instruction.code != CHAR:
                return True, tuple(reached)
            if self.members[instruction.set] & bit:
                reached[instruction.first] = None
        return False, tuple(reached)
