r"""What host names beyond ASCII ask of a character and its neighbours, as rules of machines.

    order       permitted code points (RFC 5892); marks in the order of their combining classes, as in Normalization
                Form C (RFC 5891, section 4.2.1)
    joiners     RFC 5892, appendix A.1 and A.2
    contexts    its other rules, A.3 to A.9
    direction   the Bidi rule (RFC 5893, section 2)
    hyphens     none at either end of a label or at its places 3 and 4 (RFC 5891, section 4.2.3.1)
    letters     no mark before a label (section 4.2.3.2), no capital in a label that goes beyond ASCII, no mark
                that composes with the starter or a mark before it (Normalization Form C, section 4.2.1)

The machines of four groups are small together, 185 states. With the others they would be thousands, and a lexer state
holds one state of each. Only that of the first group refuses what is not permitted.

RFC 5892, section 3, derives the code points from properties that Python's `unicodedata` has, so nothing is shipped and
the version of Unicode is Python's. Scripts and joining types it does not have: of the five scripts that matter the
letters are found by their names, and a letter joins as its presentation forms show (`<initial>`: with what follows too;
`<final>`: with what is before). Letters without such forms count as not joining; that refuses, and never allows.

`python -m tests.reference.idna_rules` writes the file that the package reads (`formats/idna_automata.py`): after a
change here, on purpose with a newer Unicode.

In: nothing. Out: machines, `CodePointSet`s, kept for the life of the process; the file. Cost: 0.5 s.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Hashable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import llmask
from llmask.frontends.json_schema.formats.idna_automata import ARRAYS, FILE
from llmask.regex import unicode_classes
from llmask.regex.code_points import MAX_CODE_POINT, NO_TEXT, CodePointSet
from tests.reference.json_machine import automaton
from tests.reference.machines import REFUSED, Kinds, Machine, Rule, machine_of

# RFC 5892, section 2.6: exceptions, in this order PVALID, CONTEXTO, DISALLOWED
ALLOWED = CodePointSet.of("\u00df\u03c2\u06fd\u06fe\u0f0b\u3007")
IN_CONTEXT = CodePointSet.of("\u00b7\u0375\u05f3\u05f4\u30fb")
DISALLOWED = CodePointSet.of("\u0640\u07fa\u302e\u302f\u3031\u3032\u3033\u3034\u3035\u303b")
JOINERS = CodePointSet.of("\u200c\u200d")
# Sections 2.4, 2.5, 2.9: the default ignorable code points that are letters or marks; blocks of symbols; old jamo
IGNORABLE = CodePointSet.from_ranges(
    [(0x34F, 0x34F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x3164, 0x3164), (0xFE00, 0xFE0F),
     (0xFFA0, 0xFFA0), (0xE0100, 0xE01EF), (0x20D0, 0x20FF), (0x1D100, 0x1D1FF), (0x1D200, 0x1D24F),
     (0x1100, 0x11FF), (0xA960, 0xA97F), (0xD7B0, 0xD7FF)]
)  # fmt: skip
LETTERS_AND_DIGITS = ("Ll", "Lu", "Lo", "Nd", "Lm", "Mn", "Mc")
IDEOGRAPHS = CodePointSet.from_ranges([(0x3400, 0x9FFF), (0x20000, 0x2F7FF), (0x30000, 0x3FFFF)])  # unified ones
SYLLABLES = CodePointSet.from_ranges([(0xAC00, 0xD7A3)])
PRESENTATION_FORMS = CodePointSet.from_ranges([(0xFB50, 0xFDFF), (0xFE70, 0xFEFF)])


@cache
def permitted() -> CodePointSet:
    """Code points beyond ASCII that are PVALID, CONTEXTJ or CONTEXTO (RFC 5892, section 3)."""
    members = NO_TEXT.union(*(unicode_classes.category(name) or NO_TEXT for name in LETTERS_AND_DIGITS))
    members = members.intersect(CodePointSet((0x80, MAX_CODE_POINT + 1))).subtract(IGNORABLE)
    letters = "\n".join(map(chr, members.subtract(IDEOGRAPHS).subtract(SYLLABLES)))  # those are stable
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", letters).casefold())
    unstable = {a for a, b in zip(letters.split("\n"), folded.split("\n"), strict=True) if a != b}
    allowed = members.subtract(CodePointSet.of("".join(unstable)))
    return allowed.union(ALLOWED, IN_CONTEXT, JOINERS).subtract(DISALLOWED)


def where(property_of: Callable[[str], object], *values: object) -> CodePointSet:
    """Permitted code points with one of the values of a property; no ideograph and no syllable is asked."""
    found = by_value(property_of)
    return CodePointSet.of("".join(found.get(value, "") for value in values))


@cache
def by_value(property_of: Callable[[str], object]) -> dict[object, str]:
    """Permitted characters by the value of a property, as `where`."""
    found: dict[object, list[str]] = {}
    for c in _told_apart():
        found.setdefault(property_of(c), []).append(c)
    return {value: "".join(members) for value, members in found.items()}


@cache
def _told_apart() -> str:
    return "".join(map(chr, permitted().subtract(IDEOGRAPHS).subtract(SYLLABLES)))


def letters_named(*prefixes: str) -> CodePointSet:
    """Permitted letters whose names begin so."""
    return CodePointSet.of(
        "".join(c for c in _told_apart() if c.isalpha() and unicodedata.name(c, "").startswith(prefixes))
    )


def joining() -> tuple[CodePointSet, CodePointSet]:
    """Letters that join on both sides, and all letters that join with what is before them."""
    forms: dict[str, set[str]] = {}
    for code_point in PRESENTATION_FORMS:
        form, *letters = unicodedata.decomposition(chr(code_point)).split() or [""]
        if len(letters) == 1:
            forms.setdefault(chr(int(letters[0], 16)), set()).add(form)
    both = CodePointSet.of("".join(letter for letter, found in forms.items() if "<initial>" in found))
    right = CodePointSet.of("".join(letter for letter, found in forms.items() if "<final>" in found))
    return both.intersect(permitted()), right.union(both).intersect(permitted())


@cache
def composing() -> dict[str, str]:
    """Permitted marks and letters that Normalization Form C makes one with the character before, and what that is."""
    found: dict[str, str] = {}
    candidates = NO_TEXT.union(*(unicode_classes.category(name) or NO_TEXT for name in LETTERS_AND_DIGITS))
    for composed in map(chr, candidates.subtract(IDEOGRAPHS).subtract(SYLLABLES)):
        parts = unicodedata.decomposition(composed).split()
        if len(parts) == 2 and parts[0][0] != "<" and int(parts[1], 16) in permitted():
            starter, mark = (chr(int(part, 16)) for part in parts)
            if unicodedata.normalize("NFC", starter + mark) == composed:
                found[mark] = found.get(mark, "") + starter
    return found


def composing_by_starter() -> dict[frozenset[str], CodePointSet]:
    """Characters that compose with marks after them, by these marks; letters of ASCII by the marks of all of them.

    Were each of those remembered by its own marks, masks inside a label of ASCII would take twice as long.
    """
    marks_of: dict[str, set[str]] = {}
    of_ascii: set[str] = set()
    for mark, starters in composing().items():
        for starter in starters:
            marks = marks_of.setdefault(starter, of_ascii if starter.isascii() else set())
            marks.add(mark)
    found: dict[frozenset[str], str] = {}
    for starter, marks in marks_of.items():
        found[frozenset(marks)] = found.get(frozenset(marks), "") + starter
    return {marks: CodePointSet.of(starters) for marks, starters in found.items()}


DOTS = CodePointSet.of(".\u3002\uff0e\uff61")
CAPITALS = CodePointSet.from_ranges([(0x41, 0x5A)])
ASCII = unicode_classes.ASCII_DIGITS.union(CAPITALS, CodePointSet.from_ranges([(0x61, 0x7A)]), CodePointSet.of("-"))


JOINED = (("order",), ("joiners", "contexts", "direction", "hyphens"), ("letters",))


def machines() -> list[Machine]:
    """The groups as machines, a few of them in one; a name is good when all accept it, by what this file is about."""
    return [machine(*names) for names in JOINED]


@cache
def machine(*names: str) -> Machine:
    """One machine for some groups, by their names above."""
    rules: list[Rule] = []
    sets: dict[Hashable, CodePointSet] = {}
    for name in names:
        more_rules, more_sets = GROUPS[name]()
        rules += more_rules
        sets |= more_sets  # a name that two groups share is the same set
    return machine_of(rules, sets, permitted().union(ASCII, DOTS), refuses_others="order" in names)


Group = tuple[list[Rule], dict[Hashable, CodePointSet]]


# --- the order of marks


def _order() -> Group:
    numbers = [number for number in by_value(unicodedata.combining) if isinstance(number, int) and number > 0]

    def step(last: int | None, kinds: Kinds) -> int | None:
        number: int = next(iter(kinds), 0)
        return REFUSED if number and (last is None or number < last) else number

    rule = Rule(None, step, lambda last: last is not None)
    return [rule], {number: where(unicodedata.combining, number) for number in numbers}


# --- contextual rules


class Joining(NamedTuple):
    """State of the third group; "transparent" marks may be between a letter and a joiner.

    may_start    no letter that joins is before the transparent marks at the end, or there is something else
    is_refused   a zero width non-joiner cannot follow without a virama
    is_virama    the last character is a virama
    must_join    a non-joiner waits for a letter that joins with it
    """

    may_start: bool
    is_refused: bool
    is_virama: bool
    must_join: bool


def _joiners() -> Group:
    both, right = joining()

    def step(state: Joining, kinds: Kinds) -> Joining | None:
        is_virama, is_transparent = "virama" in kinds, "transparent" in kinds
        must_join = state.must_join and is_transparent
        if state.must_join and not is_transparent and "right" not in kinds:
            return REFUSED
        if "joiner" in kinds and not state.is_virama:
            return REFUSED
        if "non-joiner" in kinds and not state.is_virama:
            if state.is_refused:
                return REFUSED
            must_join = True
        joins = is_virama or is_transparent or "left" in kinds
        may_start = not joins or (state.may_start and is_transparent)
        return Joining(may_start, not joins or (may_start and not is_virama), is_virama, must_join)

    sets: dict[Hashable, CodePointSet] = {
        "virama": where(unicodedata.combining, 9), "transparent": where(unicodedata.category, "Mn"), "left": both,
        "right": right, "non-joiner": CodePointSet.of("\u200c"), "joiner": CodePointSet.of("\u200d"),
    }  # fmt: skip
    return [Rule(Joining(True, True, False, False), step, lambda state: not state.must_join)], sets


def _neighbours(state: str, kinds: Kinds) -> str | None:
    """A.3 to A.6: the middle dot between two l, a keraia before Greek, geresh and gershayim after Hebrew."""
    wanted = {"middle dot": "l", "keraia": "greek"}.get(state)
    if wanted is not None and wanted not in kinds:
        return REFUSED
    behind = "l" if "middle dot" in kinds else "hebrew" if "geresh" in kinds else state
    if behind != state:
        return REFUSED
    return next((kind for kind in ("middle dot", "keraia", "l", "hebrew") if kind in kinds), "other")


def _katakana(state: tuple[str, bool], kinds: Kinds) -> tuple[str, bool] | None:
    """A.7: a label with a katakana middle dot has a Japanese letter.

    That the dot is after nothing that runs from right to left follows from this and the Bidi rule, but by a search
    of all states for what might make a label valid.
    """
    label, is_right_to_left = state
    if "dot" in kinds:
        return REFUSED if label == "dot" else ("plain", False)
    if "katakana dot" in kinds and is_right_to_left:
        return REFUSED
    if "japanese" in kinds:
        label = "japanese"
    elif "katakana dot" in kinds and label == "plain":
        label = "dot"
    return label, is_right_to_left or "right-to-left" in kinds


def _digits(state: str, kinds: Kinds) -> str | None:
    """A.8, A.9: Arabic-Indic digits and extended ones do not meet in a label."""
    if "dot" in kinds:
        return "none"
    found = "arabic" if "arabic" in kinds else "extended" if "extended" in kinds else state
    return found if state in ("none", found) else REFUSED


def _contexts() -> Group:
    kana = letters_named("HIRAGANA ", "KATAKANA ")
    rules = [
        Rule("other", _neighbours, lambda state: state not in ("middle dot", "keraia")),
        Rule(("plain", False), _katakana, lambda state: state[0] != "dot"),
        Rule("none", _digits),
    ]
    return rules, {
        "l": CodePointSet.of("l"),
        "middle dot": CodePointSet.of("\u00b7"),
        "keraia": CodePointSet.of("\u0375"),
        "greek": letters_named("GREEK "),
        "geresh": CodePointSet.of("\u05f3\u05f4"),
        "hebrew": letters_named("HEBREW "),
        "dot": DOTS,
        "katakana dot": CodePointSet.of("\u30fb"),
        "japanese": kana.union(permitted().intersect(IDEOGRAPHS)),
        "right-to-left": where(unicodedata.bidirectional, "R", "AL"),
        "arabic": CodePointSet.from_ranges([(0x660, 0x669)]),
        "extended": CodePointSet.from_ranges([(0x6F0, 0x6F9)]),
    }


# --- direction


class Direction(NamedTuple):
    """State of the Bidi rule.

    is_broken   a label breaks the rule: from now on, nothing may run from right to left
    was_used    something ran from right to left: no label may break the rule
    first       how the label begins: "", "left" or "right"
    is_weak     its last character is neither a letter nor a digit, marks aside
    digits      "", "european" or "arabic", where a label begins on the right
    """

    is_broken: bool = False
    was_used: bool = False
    first: str = ""
    is_weak: bool = False
    digits: str = ""


BROKEN = Direction(is_broken=True)


def _direction(state: Direction, kinds: Kinds) -> Direction | None:
    runs = not kinds.isdisjoint(("R", "AN"))
    if state.is_broken:
        return REFUSED if runs else BROKEN
    used = state.was_used or runs
    broken = REFUSED if used else BROKEN
    if "dot" in kinds:
        return broken if state.is_weak else Direction(was_used=used)  # conditions 3 and 6
    is_left = kinds.isdisjoint(("R", "AN", "EN", "NSM", "weak"))
    first, digits = state.first, state.digits
    if not first:
        if not is_left and "R" not in kinds:
            return broken  # 1
        first = "left" if is_left else "right"
    elif runs if first == "left" else is_left:
        return broken  # 5, 2
    if first == "right" and not kinds.isdisjoint(("EN", "AN")):
        found = "european" if "EN" in kinds else "arabic"
        if digits not in ("", found):
            return broken  # 4
        digits = found
    return Direction(False, used, first, "weak" in kinds or (state.is_weak and "NSM" in kinds), digits)


def _bidi() -> Group:
    weak = where(unicodedata.bidirectional, "ES", "CS", "ET", "ON", "BN")
    rule = Rule(Direction(), _direction, lambda state: not (state.is_weak and state.was_used))
    return [rule], {
        "R": where(unicodedata.bidirectional, "R", "AL"),
        "AN": where(unicodedata.bidirectional, "AN"),
        "EN": where(unicodedata.bidirectional, "EN").union(unicode_classes.ASCII_DIGITS),
        "NSM": where(unicodedata.bidirectional, "NSM"),
        "weak": weak.union(CodePointSet.of("-")),
        "dot": DOTS,
    }


class Place(NamedTuple):
    """Characters of the label before its third, at most 3, and whether the last one is a hyphen."""

    n: int = 0
    is_hyphen: bool = False


def _hyphen(state: Place, kinds: Kinds) -> Place | None:
    if "dot" in kinds:
        return REFUSED if state.is_hyphen else Place()
    is_hyphen = "hyphen" in kinds
    if is_hyphen and (state.n == 0 or state == Place(3, True)):
        return REFUSED
    return Place(min(state.n + 1, 4), is_hyphen)


def _hyphens() -> Group:
    rule = Rule(Place(), _hyphen, lambda state: not state.is_hyphen)
    return [rule], {"hyphen": CodePointSet.of("-"), "dot": DOTS}


# --- letters


class Letters(NamedTuple):
    """State of the last group.

    label       "" for one of ASCII without a capital, "capital", "beyond"
    composing   marks that compose with its last starter, or with a mark after that; None where it has none

    Where marks of two scripts would add up, no mark is left that composes with anything: unions of all sets are many.
    """

    label: str = ""
    composing: frozenset[str] | None = None


def block_of(character: str) -> int:
    """Number of its half of a page of 256 code points: what marks of one script share."""
    return ord(character) >> 7


def _letter(state: Letters, kinds: Kinds) -> Letters | None:
    if "dot" in kinds:
        return Letters()
    if state.label == "capital":
        return state if "ascii" in kinds else REFUSED
    if "capital" in kinds:
        return REFUSED if state.label else Letters("capital")
    marks = next((kind for kind in kinds if isinstance(kind, frozenset)), frozenset())
    if "mark" in kinds:
        if state.composing is None or not kinds.isdisjoint(state.composing):
            return REFUSED
        two = len({block_of(mark) for mark in state.composing | marks}) > 1
        marks = frozenset(composing()) if marks and two else marks | state.composing
        return Letters("beyond", marks)
    return Letters(state.label if "ascii" in kinds else "beyond", marks)


def _letters() -> Group:
    sets: dict[Hashable, CodePointSet] = {
        "dot": DOTS,
        "ascii": ASCII,
        "capital": CAPITALS,
        "mark": unicode_classes.category("M") or NO_TEXT,
    }
    sets.update((mark, CodePointSet.of(mark)) for mark in composing())
    sets.update(iter(composing_by_starter().items()))
    return [Rule(Letters(), _letter)], sets


GROUPS: dict[str, Callable[[], Group]] = {
    "order": _order, "joiners": _joiners, "contexts": _contexts, "direction": _bidi, "hyphens": _hyphens,
    "letters": _letters,
}  # fmt: skip


# --- the file


def make(file: Path = FILE) -> None:
    """Write the file anew, with the Unicode of this Python."""
    nodes = llmask.Compiler(llmask.Tokenizer.from_bytes([b"a", b"b"], eos=0)).json_schema(True)._loaded.store.nodes
    arrays: dict[str, Any] = {"unicode": np.array(unicodedata.unidata_version)}
    for number, machine in enumerate(machines()):
        for name, array in zip(ARRAYS, automaton(nodes, machine), strict=True):
            arrays[f"{name} {number}"] = array
    np.savez_compressed(file, **arrays)


if __name__ == "__main__":
    make()
