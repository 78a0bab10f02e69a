"""Which code points a label of a host name may hold, and what their neighbours must know of them (IDNA 2008).

RFC 5892, section 3, derives this from properties that Python's `unicodedata` has, so nothing is shipped and the version
of Unicode is Python's. Scripts and joining types it does not have: of the five scripts that matter the letters
are found by their names, and a letter joins as its presentation forms show (`<initial>`: with what follows too;
`<final>`: with what stands before). Letters without such forms count as not joining; that refuses, and never allows.

In: nothing. Out: `CodePointSet`s, kept for the life of the process. Cost: 0.2 s at the first question.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import cache

from llmask.regex import unicode_classes
from llmask.regex.code_points import MAX_CODE_POINT, NO_TEXT, CodePointSet

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
    """Letters that join on both sides, and all letters that join with what stands before them."""
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
    """Permitted marks and letters that Normalization Form C makes one with what stands before, and what that is."""
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
    """Characters that compose with marks behind them, by those marks; letters of ASCII by the marks of all of them.

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
